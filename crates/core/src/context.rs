//! The context of a branch: values that steps and clients leave for later steps.
//!
//! All of it is in the front, so that conditions read it while a command is decided and every branch has its own. A
//! change is a delta: a key with its new value, null to delete it.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::definition::Fault;
use crate::event::Text;
use crate::plan::{LoadedPlan, NodeShape};
use crate::state::run::{Front, FrontChange, Layer, Var};
use crate::{Rejection, StepId};

/// What the keys of steps' outputs begin with.
pub const NODES: &str = "nodes.";

/// How much a context may hold, as JSON.
pub const CONTEXT_SIZE: usize = 256 * 1024;
/// How large an output may be that a step leaves in the context.
pub const OUTPUT_SIZE: usize = 16 * 1024;
/// How deep a value may be nested.
const DEPTH: usize = 64;
/// How long a key may be.
const KEY: usize = 200;

/// The pass of one of the loops around a place.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPass {
    /// The loop.
    pub step: StepId,
    /// The pass, from 1.
    pub iteration: u32,
}

/// What an expression sees: the context of a branch, and the passes of the loops around the place.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    front: &'a Front,
    /// The loops around the place, outermost first.
    loops: Vec<LoopPass>,
}

impl<'a> Scope<'a> {
    /// The scope of a place with these loops around it.
    pub fn of(front: &'a Front, loops: Vec<LoopPass>) -> Self {
        Self { front, loops }
    }

    /// The scope of a path through a plan's groups and loops.
    pub fn at(front: &'a Front, plan: &LoadedPlan, path: &[(StepId, u32)]) -> Self {
        let is_loop = |step: &StepId| {
            let node = plan.find(step).map(|node| &plan.nodes[node].kind);
            matches!(node, Some(NodeShape::Container { repeat: Some(_), .. }))
        };
        let loops = path.iter().filter(|(step, _)| is_loop(step));
        let loops = loops.map(|(step, iteration)| LoopPass { step: step.clone(), iteration: *iteration });
        Self { front, loops: loops.collect() }
    }

    /// The value at a path with dots; none: nothing is there.
    pub fn get(&self, path: &str) -> Option<Value> {
        if let Some(var) = self.front.context.get(path) {
            return Some(Value::clone(&var.value));
        }
        // Ids of steps and keys of agents may have dots themselves, so the longest key wins.
        let mut ends: Vec<usize> = path.match_indices('.').map(|(at, _)| at).collect();
        ends.reverse();
        for end in ends {
            let (key, rest) = (&path[..end], &path[end + 1..]);
            if let Some(var) = self.front.context.get(key) {
                return inside(&var.value, rest).cloned();
            }
            if let Some(value) = self.of_loop(key) {
                return inside(&value, rest).cloned();
            }
        }
        self.of_loop(path)
    }

    /// What the innermost loop adds: its pass and its item.
    fn of_loop(&self, key: &str) -> Option<Value> {
        let inner = self.loops.last()?;
        match key {
            "currentIteration" => Some(inner.iteration.into()),
            "currentIndex" => Some((inner.iteration - 1).into()),
            "currentItem" => self.item(inner),
            _ => None,
        }
    }

    fn item(&self, pass: &LoopPass) -> Option<Value> {
        let items = self.front.items.get(&pass.step)?.as_array()?;
        items.get(pass.iteration as usize - 1).cloned()
    }

    /// The variables of a script: `context` with what the innermost loop adds, `nodes` and `loop`.
    pub fn variables(&self) -> [(&'static str, Value); 3] {
        let (mut context, mut nodes) = (Map::new(), Map::new());
        for (key, var) in &self.front.context {
            match key.strip_prefix(NODES) {
                Some(step) => nodes.insert(step.to_owned(), Value::clone(&var.value)),
                None => context.insert(key.to_string(), Value::clone(&var.value)),
            };
        }
        for key in ["currentIteration", "currentIndex", "currentItem"] {
            if let Some(value) = self.of_loop(key) {
                context.insert(key.to_owned(), value);
            }
        }
        let pass = self.loops.last().map_or(Value::Null, |inner| {
            let item = self.item(inner).unwrap_or_default();
            serde_json::json!({"iteration": inner.iteration, "index": inner.iteration - 1, "item": item})
        });
        [("context", Value::Object(context)), ("nodes", Value::Object(nodes)), ("loop", pass)]
    }
}

fn inside<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Refuses a delta that no context may hold.
pub fn check_delta(delta: &Map<String, Value>) -> Result<(), Rejection> {
    let mut faults = Vec::new();
    for (key, value) in delta {
        let pointer = format!("/context/{}", key.replace('~', "~0").replace('/', "~1"));
        if key.is_empty() || key.chars().count() > KEY {
            faults.push(Fault::at(&pointer, format!("a key has 1 to {KEY} characters")));
        } else if key.starts_with(NODES) || matches!(&**key, "__proto__" | "constructor" | "prototype") {
            faults.push(Fault::at(&pointer, "this key is reserved"));
        } else if let Some(fault) = unfit(value, 1) {
            faults.push(Fault::at(&pointer, fault));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}

fn unfit(value: &Value, depth: usize) -> Option<String> {
    if depth > DEPTH {
        return Some(format!("nested more than {DEPTH} deep"));
    }
    match value {
        Value::Object(fields) => fields.iter().find_map(|(key, field)| match &**key {
            "__proto__" | "constructor" | "prototype" => Some(format!("the key `{key}` is reserved")),
            _ => unfit(field, depth + 1),
        }),
        Value::Array(items) => items.iter().find_map(|item| unfit(item, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The changes of a front that a delta makes, or a refusal where the context would become too large.
pub fn changes(
    front: &Front,
    plan: &LoadedPlan,
    delta: &Map<String, Value>,
) -> Result<Vec<FrontChange>, Rejection> {
    // Most steps leave nothing, and adding up a large context for each of them would show.
    if delta.is_empty() {
        return Ok(Vec::new());
    }
    let mut size = front.context.iter().map(|(key, var)| bytes(key, &var.value)).sum::<usize>();
    let mut changes = Vec::with_capacity(delta.len());
    for (key, value) in delta {
        let before = front.context.get(&**key);
        size -= before.map_or(0, |var| bytes(key, &var.value));
        let var = (!value.is_null()).then(|| Var {
            value: Arc::new(value.clone()),
            // Somebody who has marked a key means the key, whatever its value becomes.
            layer: before.map_or_else(|| plan.layer(key), |var| var.layer),
        });
        size += var.as_ref().map_or(0, |var| bytes(key, &var.value));
        changes.push(FrontChange::Context(key.as_str().into(), var));
    }
    if size > CONTEXT_SIZE {
        return Err(Rejection::ContextTooLarge { bytes: size as u64, limit: CONTEXT_SIZE as u64 });
    }
    Ok(changes)
}

fn bytes(key: &str, value: &Value) -> usize {
    // Written as JSON: two quotes, a colon and a comma beside the key and the value.
    key.len() + value.to_string().len() + 4
}

/// The layer that a key has by its name alone. It decides what is shown when not everything fits, and removes nothing.
pub fn layer_of(key: &str) -> Layer {
    let name = key.strip_prefix(NODES).unwrap_or(key).to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["goal", "requirement", "decision", "acceptance", "final", "deliverable"]) {
        Layer::Critical
    } else if has(&["debug", "trace", "timestamp", "tmp", "temp", "scratch"]) || name.ends_with("log") {
        Layer::Ephemeral
    } else if has(&["plan", "reason", "summary", "finding", "hypothes", "analysis", "risk"]) {
        Layer::Important
    } else {
        Layer::Useful
    }
}

/// Whether a name matches a pattern in which `*` stands for any characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// The key that a step's output has in the context.
pub fn output_key(step: &StepId) -> Text {
    format!("{NODES}{step}").into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_into_values() {
        let mut front = Front::default();
        front.set_context("a.b", json!({"c": 1}));
        front.set_context("list", json!([{"x": true}]));
        front.items.insert(StepId::new("each"), Arc::new(json!(["one", {"name": "two"}])));
        let pass = LoopPass { step: StepId::new("each"), iteration: 2 };
        let scope = Scope::of(&front, vec![pass]);
        assert_eq!(scope.get("a.b.c"), Some(json!(1)));
        assert_eq!(scope.get("list.0.x"), Some(json!(true)));
        assert_eq!(scope.get("currentItem.name"), Some(json!("two")));
        assert_eq!(
            (scope.get("currentIteration"), scope.get("currentIndex")),
            (Some(json!(2)), Some(json!(1)))
        );
        assert_eq!(scope.get("a.x"), None);
    }

    #[test]
    fn keys_that_a_script_could_be_fooled_with_are_refused() {
        let delta = |value: Value| value.as_object().expect("an object").clone();
        assert!(check_delta(&delta(json!({"ok": {"a": [1]}, "gone": null}))).is_ok());
        for bad in [
            json!({"__proto__": 1}),
            json!({"nodes.check": 1}),
            json!({"a": {"constructor": 1}}),
            json!({"": 1}),
            (0..70).fold(json!(1), |inner, _| json!({ "a": inner })),
        ] {
            assert!(check_delta(&delta(bad.clone())).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_match_patterns() {
        for (pattern, name, found) in [
            ("plan", "plan", true),
            ("plan", "plans", false),
            ("*_log", "build_log", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxc", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), found, "{pattern} {name}");
        }
        assert_eq!(layer_of("userGoal"), Layer::Critical);
        assert_eq!(layer_of("implementation_plan"), Layer::Important);
        assert_eq!(layer_of("debugOutput"), Layer::Ephemeral);
        assert_eq!(layer_of("snippet"), Layer::Useful);
    }
}
