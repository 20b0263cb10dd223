//! The intent file: the steps and variables that somebody asked for.

use super::file::{self, Look, Members, below};
use super::finding::{Finding, Findings, Origin};
use crate::tree::{Node as Tree, Plain};

/// What the compiler needs of an intent.
#[derive(Debug, Default)]
pub struct Intent {
    pub session_id: Option<String>,
    /// The request, in its own words.
    pub request: Option<String>,
    pub task_type: Option<String>,
    pub complexity: Option<String>,
    pub created_at: Option<String>,
    /// The steps that ask for a checkpoint, in their order.
    pub checkpoints: Vec<Step>,
    /// The variables, as the schema has them.
    pub variables: Members,
}

/// A step that asks for a checkpoint.
#[derive(Debug)]
pub struct Step {
    pub seq: f64,
    pub text: String,
    pub pointer: String,
}

/// Reads an intent.
pub fn read(text: &str, findings: &mut Findings) -> Intent {
    let members = match file::read(text) {
        Ok(members) => members,
        Err(finding) => {
            findings.push(Finding { origin: Origin::Intent, ..finding });
            return Intent::default();
        }
    };
    let look = &mut Look { findings, origin: Origin::Intent };
    let mut intent = Intent::default();
    let known = ["steps", "variables"].iter().any(|key| file::member(&members, key).is_some());
    if !known {
        let message = "an intent is an object with `steps` or `variables`".to_owned();
        look.error("format_unknown", String::new(), message);
    }
    for (key, value) in members {
        let at = || below("", &key);
        match key.as_str() {
            "session_id" => intent.session_id = look.text(&value, at),
            "raw_description" => intent.request = look.text(&value, at),
            "task_type" => intent.task_type = look.text(&value, at),
            "complexity" => intent.complexity = look.text(&value, at),
            "created_at" => intent.created_at = look.text(&value, at),
            "steps" => intent.checkpoints = steps(&value, look),
            "variables" => intent.variables = variables(value, "/variables", look),
            _ => {}
        }
    }
    intent
}

fn steps(value: &Plain, look: &mut Look<'_>) -> Vec<Step> {
    let mut all = Vec::new();
    for (i, step) in look.list(value, "/steps").iter().enumerate() {
        let base = format!("/steps/{i}");
        let Some(members) = look.members(step, || base.clone()) else { continue };
        let hint = file::member(members, "type_hint")
            .and_then(|value| look.text(value, || below(&base, "type_hint")));
        if hint.as_deref() != Some("checkpoint") {
            continue;
        }
        let seq = file::member(members, "seq").and_then(|value| look.number(value, || below(&base, "seq")));
        let text = file::member(members, "description")
            .and_then(|value| look.text(value, || below(&base, "description")));
        // Without a number a step takes its place in the list, as a node does.
        let seq = seq.unwrap_or(i as f64 + 1.0);
        all.push(Step { seq, text: text.unwrap_or_default(), pointer: base });
    }
    all.sort_by(|a, b| a.seq.total_cmp(&b.seq));
    all
}

/// Variables as a schema has them: each with type, whether it is required, and a description.
pub fn variables(value: Plain, pointer: &str, look: &mut Look<'_>) -> Members {
    let Tree::Map(members) = value.0 else {
        look.wrong(pointer.to_owned(), "an object", &value);
        return Vec::new();
    };
    let read = members.into_iter().filter_map(|(name, value)| {
        let base = below(pointer, &name);
        let Tree::Map(mut given) = value.0 else {
            look.wrong(base, "an object", &value);
            return None;
        };
        let mut take = |key: &str| {
            let at = given.iter().position(|(name, _)| name == key)?;
            Some(given.remove(at).1)
        };
        let (kind, required, description) = (take("type"), take("required"), take("description"));
        let kind = kind.and_then(|value| look.text(&value, || below(&base, "type")));
        let required = required.and_then(|value| look.truth(&value, || below(&base, "required")));
        let description = description.and_then(|value| look.text(&value, || below(&base, "description")));
        let mut variable = inferred();
        for (slot, value) in
            [(0, kind.map(file::text)), (1, required.map(file::truth)), (2, description.map(file::text))]
        {
            if let Some(value) = value {
                variable[slot].1 = value;
            }
        }
        variable.extend(given);
        Some((name, Plain(Tree::Map(variable))))
    });
    read.collect()
}

/// What a variable is that nobody declared.
pub fn inferred() -> Members {
    vec![
        ("type".to_owned(), file::text("string")),
        ("required".to_owned(), file::truth(true)),
        ("description".to_owned(), file::text("")),
    ]
}
