//! The fields of checkpoints.

use serde_json::Value;

use super::file::{self, Members};
use super::node::Node;
use super::rules::{self, Rule, Verdict};
use crate::tree::Node as Tree;

/// What a checkpoint saves unless it says otherwise.
const SAVED: [&str; 3] = ["session_id", "artifacts", "output_path"];

/// What a work node has and a checkpoint has not.
const OF_WORK: [&str; 6] =
    ["executor", "args_template", "input_ports", "output_ports", "parallel_group", "on_fail"];

/// An injected checkpoint. Its id comes when all are there.
pub fn injected(verdict: &Verdict, sources: &[&Node]) -> Members {
    let name = format!("Checkpoint: {}", verdict.title);
    fields(name, rules::completed(sources), !verdict.pauses, true, &verdict.rules)
}

fn fields(name: String, description: String, auto_continue: bool, injected: bool, rules: &[Rule]) -> Members {
    let fields = [
        ("id", file::text("")),
        ("name", file::text(name)),
        ("type", file::text("checkpoint")),
        ("description", file::text(description)),
        ("auto_continue", file::truth(auto_continue)),
        ("save_fields", file::texts(SAVED)),
        ("injected", file::truth(injected)),
        ("rules", file::texts(rules.iter().map(|rule| rule.name()))),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// How a checkpoint was asked for.
pub struct Asked<'a> {
    /// The text of the step that asks for it.
    pub text: Option<&'a str>,
    /// Whether it goes on without a person.
    pub auto_continue: bool,
}

/// A checkpoint that somebody asked for, between some nodes and others: its name and its fields. What it was
/// `given` stays; the rules that ask for a checkpoint there as well are named in it.
pub fn explicit(
    mut given: Members,
    asked: &Asked<'_>,
    sources: &[&Node],
    targets: &[&Node],
    exact: bool,
) -> (String, Members) {
    let mut take = |key: &str| {
        let at = given.iter().position(|(name, _)| name == key)?;
        Some(given.remove(at).1)
    };
    let mut take_text = |key: &str| {
        take(key).as_ref().and_then(file::as_text).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (own, description) = (take_text("name"), take_text("description"));
    let saved =
        take("save_fields").filter(|saved| matches!(&saved.0, Tree::List(items) if !items.is_empty()));
    for key in ["id", "type", "auto_continue", "injected", "rules"].iter().chain(&OF_WORK) {
        take(key);
    }
    let verdict = rules::judge(sources, targets, exact);
    let mut rules = verdict.as_ref().map(|verdict| verdict.rules.clone()).unwrap_or_default();
    rules.push(Rule::UserDefined);
    rules.sort();
    let text = asked.text.filter(|text| !text.trim().is_empty());
    let name = match (text, own, verdict) {
        (Some(text), _, _) => format!("Checkpoint: {text}"),
        (None, Some(own), _) => own,
        (None, None, Some(verdict)) => format!("Checkpoint: {}", verdict.title),
        (None, None, None) => "Checkpoint".to_owned(),
    };
    let description = description.unwrap_or_else(|| rules::completed(sources));
    let mut all = fields(name.clone(), description, asked.auto_continue, false, &rules);
    if let (Some(saved), Some((_, value))) = (saved, all.iter_mut().find(|(key, _)| key == "save_fields")) {
        *value = saved;
    }
    all.extend(given);
    (name, all)
}

/// The fields of a checkpoint, without its id.
pub fn shown(fields: &Members) -> Value {
    let fields = fields.iter().filter(|(key, _)| key != "id");
    fields.map(|(key, value)| (key.clone(), serde_json::to_value(value).unwrap_or_default())).collect()
}
