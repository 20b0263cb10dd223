//! A JSON file as a tree, within its limits, and typed looks at its values that report what does not fit.

use serde_json::Value;

use super::finding::{Finding, Findings, Origin, Severity};
use crate::problem::Place;
use crate::tree::{Node as Tree, Plain, escaped, without_place};

/// The most bytes of a file.
pub const MAX_BYTES: usize = 256 << 20;

/// The members of an object, in the order of the file.
pub type Members = Vec<(String, Plain)>;

/// Reads a file that has to be an object.
pub fn read(text: &str) -> Result<Members, Finding> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} (256 MiB) are read", text.len());
        return Err(Finding::placed("too_large", message, None));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree: Plain = serde_json::from_str(text).map_err(|error| {
        let place = Place { line: error.line() as u32, column: error.column().max(1) as u32 };
        let message = without_place(&error.to_string());
        if message.starts_with("recursion limit") {
            let message = "values are nested more than 128 deep".to_owned();
            return Finding::placed("too_deep", message, Some(place));
        }
        let code = if message.ends_with("is given twice") { "duplicate_key" } else { "malformed_json" };
        Finding::placed(code, message, Some(place))
    })?;
    match tree.0 {
        Tree::Map(members) => Ok(members),
        Tree::Leaf(_) | Tree::List(_) => {
            let message = "the file is an object with `nodes`, not another value".to_owned();
            Err(Finding::placed("format_unknown", message, Some(Place { line: 1, column: 1 })))
        }
    }
}

/// A text as a value of the tree.
pub fn text(text: impl Into<String>) -> Plain {
    Plain(Tree::Leaf(Value::String(text.into())))
}

/// A truth value of the tree.
pub fn truth(value: bool) -> Plain {
    Plain(Tree::Leaf(Value::Bool(value)))
}

/// Texts as a list of the tree.
pub fn texts<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Plain {
    Plain(Tree::List(items.into_iter().map(text).collect()))
}

/// The member of this name.
pub fn member<'a>(members: &'a Members, name: &str) -> Option<&'a Plain> {
    members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The text of a value, if it is one.
pub fn as_text(value: &Plain) -> Option<&str> {
    match &value.0 {
        Tree::Leaf(Value::String(text)) => Some(text),
        Tree::Leaf(_) | Tree::List(_) | Tree::Map(_) => None,
    }
}

/// Looks at values of one file.
pub struct Look<'a> {
    pub findings: &'a mut Findings,
    pub origin: Origin,
}

impl Look<'_> {
    /// Says that something else is expected.
    pub fn wrong(&mut self, pointer: String, wanted: &str, value: &Plain) {
        let found = match &value.0 {
            Tree::Map(_) => "an object",
            Tree::List(_) => "a list",
            Tree::Leaf(Value::Null) => "null",
            Tree::Leaf(Value::Bool(_)) => "a truth value",
            Tree::Leaf(Value::Number(_)) => "a number",
            Tree::Leaf(_) => "a string",
        };
        self.error("wrong_type", pointer, format!("{wanted} is expected, not {found}"));
    }

    pub fn error(&mut self, code: &'static str, pointer: String, message: String) {
        self.findings.add(Severity::Error, self.origin, code, pointer, message);
    }

    pub fn warn(&mut self, code: &'static str, pointer: String, message: String) {
        self.findings.add(Severity::Warning, self.origin, code, pointer, message);
    }

    /// A text. `null` counts as absent.
    pub fn text(&mut self, value: &Plain, pointer: impl FnOnce() -> String) -> Option<String> {
        match &value.0 {
            Tree::Leaf(Value::String(text)) => Some(text.clone()),
            Tree::Leaf(Value::Null) => None,
            Tree::Leaf(_) | Tree::List(_) | Tree::Map(_) => {
                self.wrong(pointer(), "a string", value);
                None
            }
        }
    }

    /// A number. `null` counts as absent.
    pub fn number(&mut self, value: &Plain, pointer: impl FnOnce() -> String) -> Option<f64> {
        match &value.0 {
            Tree::Leaf(Value::Number(number)) => number.as_f64(),
            Tree::Leaf(Value::Null) => None,
            Tree::Leaf(_) | Tree::List(_) | Tree::Map(_) => {
                self.wrong(pointer(), "a number", value);
                None
            }
        }
    }

    /// A truth value. `null` counts as absent.
    pub fn truth(&mut self, value: &Plain, pointer: impl FnOnce() -> String) -> Option<bool> {
        match &value.0 {
            Tree::Leaf(Value::Bool(truth)) => Some(*truth),
            Tree::Leaf(Value::Null) => None,
            Tree::Leaf(_) | Tree::List(_) | Tree::Map(_) => {
                self.wrong(pointer(), "true or false", value);
                None
            }
        }
    }

    /// Texts. `null` counts as absent.
    pub fn texts(&mut self, value: &Plain, pointer: impl Fn() -> String) -> Option<Vec<String>> {
        let Tree::List(items) = &value.0 else {
            if !matches!(value.0, Tree::Leaf(Value::Null)) {
                self.wrong(pointer(), "a list of strings", value);
            }
            return None;
        };
        let mut all = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match as_text(item) {
                Some(text) => all.push(text.to_owned()),
                None => self.wrong(format!("{}/{i}", pointer()), "a string", item),
            }
        }
        Some(all)
    }

    /// The members of an object.
    pub fn members<'b>(&mut self, value: &'b Plain, pointer: impl FnOnce() -> String) -> Option<&'b Members> {
        match &value.0 {
            Tree::Map(members) => Some(members),
            Tree::Leaf(_) | Tree::List(_) => {
                self.wrong(pointer(), "an object", value);
                None
            }
        }
    }

    /// The elements of a list.
    pub fn list<'b>(&mut self, value: &'b Plain, pointer: &str) -> &'b [Plain] {
        match &value.0 {
            Tree::List(items) => items,
            Tree::Leaf(_) | Tree::Map(_) => {
                self.wrong(pointer.to_owned(), "a list", value);
                &[]
            }
        }
    }
}

/// A pointer to the member of an object.
pub fn below(base: &str, name: &str) -> String {
    format!("{base}/{}", escaped(name))
}
