//! A file as a tree of values, read within limits and with the place of each value.
//!
//! Keys are never given twice, and YAML means what its version 1.2 says: `no` is text.

use std::fmt;

use holdpoint_core::definition::Fault;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use crate::problem::{Place, Places, Problem};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// YAML 1.2.
    Yaml,
    /// JSON.
    Json,
}

/// The most bytes of a file.
pub const MAX_BYTES: usize = 2 << 20;

/// Reads a file.
pub fn read(text: &str, syntax: Syntax) -> Result<(Value, Places), Problem> {
    if text.len() > MAX_BYTES {
        let message = format!("a file has at most {MAX_BYTES} bytes");
        return Err(Places::default().locate(Fault::at("", message)));
    }
    match syntax {
        Syntax::Json => {
            let tree: Plain = serde_json::from_str(text).map_err(|error| {
                let (line, column) = (error.line() as u32, error.column() as u32);
                broken(&without_place(&error.to_string()), Some(Place { line, column }))
            })?;
            Ok((tree.into_value(), Places::default()))
        }
        Syntax::Yaml => {
            let tree: Placed = serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
                let place =
                    error.location().map(|at| Place { line: at.line() as u32, column: at.column() as u32 });
                broken(&without_place(&error.without_snippet().to_string()), place)
            })?;
            let mut places = Places::default();
            Ok((tree.into_value(&mut String::new(), None, &mut places), places))
        }
    }
}

/// What a YAML file may contain. A pipeline has a thousand checkpoints at most.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
        merge_keys: serde_saphyr::MergeKeyPolicy::Error,
        budget: serde_saphyr::budget! {
            max_depth: 64,
            max_documents: 1,
            max_nodes: 200_000,
            max_events: 500_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_total_scalar_bytes: 2 * MAX_BYTES,
        },
    }
}

fn broken(message: &str, place: Option<Place>) -> Problem {
    Problem {
        pointer: String::new(),
        message: message.to_owned(),
        line: place.map(|place| place.line).filter(|line| *line > 0),
        column: place.map(|place| place.column).filter(|_| place.is_some_and(|place| place.line > 0)),
    }
}

/// Readers put the place behind or before what they say; here it has fields of its own.
pub fn without_place(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let end = [" at line ", " (line "].iter().filter_map(|mark| message.find(mark)).min();
    let message = message[..end.unwrap_or(message.len())].trim_start_matches("error: ");
    let rest = message.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    in_words(rest.map_or(message, |(_, rest)| rest))
}

/// What the reader says about its own settings, in words for those who write files.
fn in_words(message: &str) -> String {
    if let Some(key) = message.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return format!("`{key}` is given twice");
    }
    if message.contains("merge keys are not allowed") {
        return "merge keys (`<<`) are not supported; an alias (`*name`) is".to_owned();
    }
    match message.strip_prefix("budget breached: ") {
        Some(limit) if limit.starts_with("Documents") => "a file is one document".to_owned(),
        Some(limit) => format!("more than a file may have: {limit}"),
        None => message.to_owned(),
    }
}

/// One value; `C` is what stands inside it.
#[derive(Debug)]
pub enum Node<C: Child> {
    /// Anything without inside.
    Leaf(Value),
    /// A list.
    List(Vec<C>),
    /// An object, in the order of the file.
    Map(Vec<(C::Key, C)>),
}

/// What stands inside a value.
pub trait Child: Sized {
    /// The name of a member.
    type Key: AsRef<str> + fmt::Debug;
}

/// A value without its place.
#[derive(Debug)]
pub struct Plain(pub Node<Plain>);

impl Child for Plain {
    type Key = String;
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Node::deserialize(deserializer).map(Self)
    }
}

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Node::Leaf(value) => value.serialize(serializer),
            Node::List(items) => serializer.collect_seq(items),
            Node::Map(members) => serializer.collect_map(members.iter().map(|(key, member)| (key, member))),
        }
    }
}

impl Plain {
    fn into_value(self) -> Value {
        match self.0 {
            Node::Leaf(value) => value,
            Node::List(items) => items.into_iter().map(Self::into_value).collect(),
            Node::Map(members) => members
                .into_iter()
                .map(|(key, member)| (key, member.into_value()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// A value with its place.
struct Placed(Spanned<Node<Placed>>);

/// A name with its place.
#[derive(Debug)]
struct PlacedKey(Spanned<String>);

impl AsRef<str> for PlacedKey {
    fn as_ref(&self) -> &str {
        &self.0.value
    }
}

impl Child for Placed {
    type Key = PlacedKey;
}

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for PlacedKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Self)
    }
}

fn place<T>(spanned: &Spanned<T>) -> Option<Place> {
    let at = spanned.referenced;
    (at.line() > 0).then(|| Place { line: at.line() as u32, column: at.column() as u32 })
}

impl Placed {
    /// The value, with its place written down: that of its name, where it has one.
    fn into_value(self, pointer: &mut String, name: Option<Place>, places: &mut Places) -> Value {
        if let Some(place) = name.or(place(&self.0)) {
            places.0.insert(pointer.clone(), place);
        }
        let length = pointer.len();
        let mut inside = |segment: &str, name: Option<Place>, child: Self| {
            pointer.push('/');
            pointer.push_str(&escaped(segment));
            let value = child.into_value(pointer, name, places);
            pointer.truncate(length);
            value
        };
        match self.0.value {
            Node::Leaf(value) => value,
            Node::List(items) => {
                items.into_iter().enumerate().map(|(i, item)| inside(&i.to_string(), None, item)).collect()
            }
            Node::Map(members) => {
                let members = members.into_iter().map(|(key, member)| {
                    let value = inside(&key.0.value, place(&key.0), member);
                    (key.0.value, value)
                });
                members.collect::<Map<_, _>>().into()
            }
        }
    }
}

/// A name as a part of a pointer.
pub fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

impl<'de, C> Deserialize<'de> for Node<C>
where
    C: Child + Deserialize<'de>,
    C::Key: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor(std::marker::PhantomData))
    }
}

struct NodeVisitor<C>(std::marker::PhantomData<C>);

impl<'de, C> Visitor<'de> for NodeVisitor<C>
where
    C: Child + Deserialize<'de>,
    C::Key: Deserialize<'de>,
{
    type Value = Node<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Node::Leaf(number.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(C::Key, C)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<C::Key>()? {
            if is_known(key.as_ref(), &members, &mut names) {
                return Err(de::Error::custom(format!("`{}` is given twice", key.as_ref())));
            }
            members.push((key, map.next_value()?));
        }
        Ok(Node::Map(members))
    }
}

/// Up to this many members a look at each of them is faster than a set.
const FEW: usize = 16;

/// Whether an object has a member of this name already. `names` is filled once there are more than a few.
fn is_known<C: Child>(
    key: &str,
    members: &[(C::Key, C)],
    names: &mut std::collections::HashSet<String>,
) -> bool {
    if members.len() < FEW {
        return members.iter().any(|(name, _)| name.as_ref() == key);
    }
    if names.is_empty() {
        names.extend(members.iter().map(|(name, _)| name.as_ref().to_owned()));
    }
    !names.insert(key.to_owned())
}
