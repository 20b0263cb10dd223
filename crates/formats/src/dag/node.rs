//! Nodes: what the compiler reads of them, beside everything that the file says.

use std::collections::BTreeMap;

use serde_json::Value;

use super::file::{Look, Members, below};
use crate::explain::unknown_key;
use crate::tree::{Node as Tree, Plain};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A skill of an agent.
    Skill,
    /// A command of an agent.
    Command,
    /// A program.
    Cli,
    /// An agent of its own.
    Agent,
    /// A place where the state is saved, and perhaps a person asked.
    Checkpoint,
}

impl Kind {
    const NAMES: [&str; 5] = ["skill", "command", "cli", "agent", "checkpoint"];

    fn from_name(name: &str) -> Option<Self> {
        let kinds = [Self::Skill, Self::Command, Self::Cli, Self::Agent, Self::Checkpoint];
        kinds.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Command => "command",
            Self::Cli => "cli",
            Self::Agent => "agent",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// Where a checkpoint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The file has it, and it is left as it is.
    Given,
    /// The file or the intent asks for it; its fields are completed.
    Explicit,
    /// A rule injects it.
    Injected,
}

/// One node.
#[derive(Debug)]
pub struct Node {
    /// Its id.
    pub id: String,
    /// Its name; the id, if it has none.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its place in the order.
    pub seq: Option<f64>,
    /// Who does it; empty if nobody is named.
    pub executor: String,
    /// What the executor is told, with placeholders.
    pub args: String,
    /// What comes out.
    pub ports: Vec<String>,
    /// The nodes of one group run together.
    pub group: Option<String>,
    /// Whether an agent runs in the background.
    pub background: bool,
    /// Of a checkpoint: goes on without a person.
    pub auto_continue: bool,
    /// Of a checkpoint: the file says that a rule injected it.
    pub injected: bool,
    /// Of a checkpoint: where it comes from.
    pub made: Made,
    /// All fields, in the order of the file.
    pub(crate) fields: Members,
    /// Its place in the file's list.
    pub(crate) index: Option<u32>,
}

impl Node {
    /// Whether it is a checkpoint.
    pub fn is_checkpoint(&self) -> bool {
        self.kind == Kind::Checkpoint
    }

    /// A checkpoint that is not in the file.
    pub(super) fn new_checkpoint(made: Made, name: String, seq: Option<f64>) -> Self {
        Self {
            id: String::new(),
            name,
            kind: Kind::Checkpoint,
            seq,
            executor: String::new(),
            args: String::new(),
            ports: Vec::new(),
            group: None,
            background: false,
            auto_continue: made == Made::Injected,
            injected: made == Made::Injected,
            made,
            fields: Vec::new(),
            index: None,
        }
    }

    /// A pointer to it, or to one of its fields.
    pub(super) fn pointer(&self, field: &str) -> String {
        let Some(index) = self.index else { return String::new() };
        if field.is_empty() { format!("/nodes/{index}") } else { format!("/nodes/{index}/{field}") }
    }
}

const KNOWN: [&str; 20] = [
    "id",
    "seq",
    "name",
    "type",
    "executor",
    "args_template",
    "input_ports",
    "output_ports",
    "parallel_group",
    "on_fail",
    "description",
    "cli_tool",
    "cli_mode",
    "cli_rule",
    "run_in_background",
    "auto_continue",
    "save_fields",
    "injected",
    "rules",
    "assurance",
];

const FAILURES: [&str; 3] = ["abort", "skip", "retry"];

/// Unknown keys: where each was first seen, and how often.
pub type Unknown = BTreeMap<String, (u32, usize)>;

/// Reads one node, or says what is wrong with it.
pub fn read(value: Plain, index: u32, look: &mut Look<'_>, unknown: &mut Unknown) -> Option<Node> {
    let base = format!("/nodes/{index}");
    let Tree::Map(fields) = value.0 else {
        look.wrong(base, "an object", &value);
        return None;
    };
    let mut node = Node::new_checkpoint(Made::Given, String::new(), None);
    node.index = Some(index);
    let (mut id, mut kind, mut kind_given) = (None, None, false);
    for (key, value) in &fields {
        let at = || below(&base, key);
        match key.as_str() {
            "id" => id = look.text(value, at),
            "seq" => node.seq = look.number(value, at),
            "name" => node.name = look.text(value, at).unwrap_or_default(),
            "type" => {
                kind_given = true;
                kind = look.text(value, at).and_then(|name| kind_of(&name, at(), look));
            }
            "executor" => node.executor = look.text(value, at).unwrap_or_default(),
            "args_template" => node.args = look.text(value, at).unwrap_or_default(),
            "output_ports" => node.ports = look.texts(value, at).unwrap_or_default(),
            "parallel_group" => node.group = look.text(value, at).filter(|group| !group.is_empty()),
            "on_fail" => on_fail(value, at(), look),
            "run_in_background" => node.background = look.truth(value, at).unwrap_or(false),
            "auto_continue" => node.auto_continue = look.truth(value, at).unwrap_or(false),
            "injected" => node.injected = look.truth(value, at).unwrap_or(false),
            "input_ports" | "save_fields" | "rules" => drop(look.texts(value, at)),
            "description" | "cli_tool" | "cli_mode" | "cli_rule" => drop(look.text(value, at)),
            "assurance" => {}
            _ => unknown.entry(key.clone()).or_insert((index, 0)).1 += 1,
        }
    }
    let mut missing = |field: &str, what: &str| {
        look.error("missing_key", below(&base, field), format!("`{field}` is required: {what}"));
    };
    match &id {
        None if !fields.iter().any(|(key, value)| key == "id" && !is_null(value)) => {
            missing("id", "a name that no other node has");
        }
        Some(id) if id.trim().is_empty() => missing("id", "a name that is not empty"),
        Some(_) | None => {}
    }
    if !kind_given {
        missing("type", "one of `skill`, `command`, `cli`, `agent`, `checkpoint`");
    }
    // A node of an unknown type stays, so that nothing else is said of edges to it.
    node.kind = kind.unwrap_or(Kind::Skill);
    node.id = id.filter(|id| !id.trim().is_empty())?;
    if node.name.is_empty() {
        node.name.clone_from(&node.id);
    }
    node.fields = fields;
    Some(node)
}

fn is_null(value: &Plain) -> bool {
    matches!(value.0, Tree::Leaf(Value::Null))
}

fn kind_of(name: &str, pointer: String, look: &mut Look<'_>) -> Option<Kind> {
    let kind = Kind::from_name(name);
    if kind.is_none() {
        look.error("wrong_type", pointer, none_of("type", name, &Kind::NAMES));
    }
    kind
}

fn on_fail(value: &Plain, pointer: String, look: &mut Look<'_>) {
    let Some(name) = look.text(value, || pointer.clone()) else { return };
    if !FAILURES.contains(&name.as_str()) {
        look.error("unknown_action", pointer, none_of("on_fail", &name, &FAILURES));
    }
}

fn none_of(key: &str, name: &str, known: &[&str]) -> String {
    let listed: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let told = crate::explain::suggest_unknown_keys(&format!(
        "unknown variant `{}`, expected {}",
        name.replace('`', "'"),
        listed.join(", ")
    ));
    format!("`{key}`: {told}")
}

/// One warning for each unknown key, however many nodes have it.
pub fn tell_unknown(unknown: Unknown, look: &mut Look<'_>) {
    for (key, (index, count)) in unknown {
        let kept = match count {
            1 => "kept".to_owned(),
            2 => "kept (one more node has it)".to_owned(),
            _ => format!("kept ({} more nodes have it)", count - 1),
        };
        let message = unknown_is(&key, &KNOWN, &kept);
        look.warn("unknown_key", below(&format!("/nodes/{index}"), &key), message);
    }
}

/// What is said of an unknown key that is no error, with the nearest known one.
pub fn unknown_is(key: &str, known: &[&str], what: &str) -> String {
    let told = unknown_key(key, known);
    let guess = told.find("; did you mean ").map_or("", |at| &told[at..]);
    format!("unknown key `{key}` is {what}{guess}")
}
