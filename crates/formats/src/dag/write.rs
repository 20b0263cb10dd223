//! A compiled graph as a DAG or as a template, in the order and layout that never change.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::compile::Compiled;
use super::file::Members;
use super::finding::Finding;
use super::node::Node;
use super::rules;
use super::source::Format;
use crate::tree::Plain;

/// What a template is called.
#[derive(Clone, Debug, Default)]
pub struct TemplateOptions {
    /// Its name.
    pub name: Option<String>,
    /// When it was made (RFC 3339).
    pub created_at: Option<String>,
}

impl Compiled {
    /// The graph as `dag.json`.
    pub fn to_dag(&self) -> String {
        let dag = Dag {
            session_id: self.session_id(),
            nodes: Nodes(&self.nodes),
            edges: self.edges(),
            checkpoints: self.checkpoints(),
            checkpoint_policy: self.opted_out.then_some("none"),
            parallel_groups: Groups(self),
            context_schema: Fields(&self.schema),
            topological_order: self.nodes.iter().map(|node| node.id.as_str()).collect(),
            rest: Fields(&self.source.rest),
            warnings: self.warnings(),
        };
        printed(&dag)
    }

    /// The graph as a template. It has no time of its own making, since the same input gives the same bytes.
    pub fn to_template(&self, options: &TemplateOptions) -> String {
        let old = &self.source.template;
        let session = Session::of(self.session_id());
        let name = options.name.clone().unwrap_or_else(|| self.name());
        let given = options.created_at.clone().or_else(|| self.intent.created_at.clone());
        let created_at = given.or_else(|| old.created_at.clone()).or_else(|| session.midnight());
        let id = match (&old.id, &options.name) {
            (Some(id), None) => id.clone(),
            (_, _) => template_id(&name, &session, created_at.as_deref()),
        };
        let request =
            self.intent.request.as_ref().map(|request| request.chars().take(120).collect::<String>());
        let asked = [&self.intent.task_type, &self.intent.complexity].into_iter().flatten().cloned();
        let tags: Vec<String> = asked.collect();
        let template = Template {
            id,
            name,
            description: request.or_else(|| old.description.clone()).unwrap_or_default(),
            version: old.version.as_deref().unwrap_or("1.0"),
            created_at,
            source_session: self.session_id(),
            tags: if tags.is_empty() { old.tags.clone().unwrap_or_default() } else { tags },
            context_schema: Fields(&self.schema),
            nodes: Nodes(&self.nodes),
            edges: self.edges(),
            checkpoints: self.checkpoints(),
            checkpoint_policy: self.opted_out.then_some("none"),
            atomic_groups: self.atomic_groups(),
            execution_mode: old.execution_mode.as_deref().unwrap_or("serial"),
            metadata: self.metadata(),
            rest: Fields(&self.source.rest),
            warnings: self.warnings(),
        };
        printed(&template)
    }

    /// The session that the graph was designed in; empty, if nobody says.
    pub fn session_id(&self) -> &str {
        let given = self.source.session_id.as_ref().or(self.intent.session_id.as_ref());
        given.map_or("", String::as_str)
    }

    /// What the file is.
    pub fn format(&self) -> Format {
        self.source.format
    }

    /// What the graph is called: the name of a template, else its session.
    pub fn name(&self) -> String {
        let session = Session::of(self.session_id());
        self.source.template.name.clone().unwrap_or_else(|| rules::title_case(session.slug))
    }

    /// The ids of checkpoints, in topological order.
    pub fn checkpoints(&self) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.is_checkpoint()).map(|node| node.id.as_str()).collect()
    }

    fn edges(&self) -> Vec<Edge<'_>> {
        let id = |place: u32| self.nodes[place as usize].id.as_str();
        self.edges.iter().map(|(from, to)| Edge { from: id(*from), to: id(*to) }).collect()
    }

    /// Units that restart together, with the new ids of checkpoints.
    fn atomic_groups(&self) -> Value {
        let given = self.source.template.atomic_groups.as_ref();
        let given = given.and_then(|groups| serde_json::to_value(groups).ok());
        let mut groups = given.filter(Value::is_array).unwrap_or_else(|| json!([]));
        for group in groups.as_array_mut().into_iter().flatten() {
            for id in group.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(new) = id.as_str().and_then(|id| self.renamed.get(id)) {
                    *id = Value::String(new.clone());
                }
            }
        }
        groups
    }

    fn metadata(&self) -> Value {
        let checkpoints = self.nodes.iter().filter(|node| node.is_checkpoint()).count();
        let mut metadata = Map::new();
        metadata.insert("node_count".to_owned(), json!(self.nodes.len() - checkpoints));
        metadata.insert("checkpoint_count".to_owned(), json!(checkpoints));
        for (key, value) in &self.source.template.metadata {
            let value = serde_json::to_value(value).unwrap_or_default();
            metadata.entry(key.clone()).or_insert(value);
        }
        Value::Object(metadata)
    }

    fn warnings(&self) -> Vec<Warning<'_>> {
        self.warnings.iter().map(Warning::of).collect()
    }
}

/// `wft-<name>-<date>`. The date is that of the session, else of the making.
fn template_id(name: &str, session: &Session<'_>, created_at: Option<&str>) -> String {
    let created: Option<String> = created_at
        .and_then(|at| at.get(..10))
        .map(|day| day.chars().filter(char::is_ascii_digit).collect())
        .filter(|day: &String| day.len() == 8);
    let day = session.date.map(str::to_owned).or(created);
    let slug = slug(name);
    [Some("wft".to_owned()), Some(slug).filter(|slug| !slug.is_empty()), day]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("-")
}

/// Letters and digits in lower case, with hyphens between them.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// `WFD-<slug>-<YYYYMMDD>`, in its parts.
struct Session<'a> {
    slug: &'a str,
    date: Option<&'a str>,
}

impl<'a> Session<'a> {
    fn of(id: &'a str) -> Self {
        let rest = id.strip_prefix("WFD-").unwrap_or(id);
        let is_date = |part: &str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit());
        match rest.rsplit_once('-') {
            Some((slug, date)) if is_date(date) => Self { slug, date: Some(date) },
            Some(_) | None => Self { slug: rest, date: None },
        }
    }

    fn midnight(&self) -> Option<String> {
        let date = self.date?;
        Some(format!("{}-{}-{}T00:00:00Z", &date[..4], &date[4..6], &date[6..]))
    }
}

fn printed(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("texts, numbers and lists are always JSON");
    text.push('\n');
    text
}

#[derive(serde::Serialize)]
struct Dag<'a> {
    session_id: &'a str,
    nodes: Nodes<'a>,
    edges: Vec<Edge<'a>>,
    checkpoints: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_policy: Option<&'a str>,
    parallel_groups: Groups<'a>,
    context_schema: Fields<'a>,
    topological_order: Vec<&'a str>,
    #[serde(flatten)]
    rest: Fields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning<'a>>,
}

#[derive(serde::Serialize)]
struct Template<'a> {
    #[serde(rename = "template_id")]
    id: String,
    name: String,
    description: String,
    version: &'a str,
    created_at: Option<String>,
    source_session: &'a str,
    tags: Vec<String>,
    context_schema: Fields<'a>,
    nodes: Nodes<'a>,
    edges: Vec<Edge<'a>>,
    checkpoints: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_policy: Option<&'a str>,
    atomic_groups: Value,
    execution_mode: &'a str,
    metadata: Value,
    #[serde(flatten)]
    rest: Fields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning<'a>>,
}

#[derive(serde::Serialize)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
}

#[derive(serde::Serialize)]
struct Warning<'a> {
    code: &'a str,
    message: &'a str,
    pointer: &'a str,
}

impl<'a> Warning<'a> {
    fn of(finding: &'a Finding) -> Self {
        let Finding { code, message, pointer, .. } = finding;
        Self { code, message, pointer }
    }
}

struct Fields<'a>(&'a Members);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.0.iter().map(|(key, value): &(String, Plain)| (key, value));
        serializer.collect_map(members)
    }
}

struct Nodes<'a>(&'a [Node]);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|node| Fields(&node.fields)))
    }
}

struct Groups<'a>(&'a Compiled);

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.groups.len()))?;
        for (name, members) in &self.0.groups {
            let ids: Vec<&str> =
                members.iter().map(|place| self.0.nodes[*place as usize].id.as_str()).collect();
            map.serialize_entry(name, &ids)?;
        }
        map.end()
    }
}
