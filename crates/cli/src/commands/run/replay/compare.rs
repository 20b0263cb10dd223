//! Comparing a recorded run with what came of it again: what agents were told, what was made, how it was judged, and
//! where it stands.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use crate::client::{Api, Body};
use crate::problem::Problem;
use crate::table::text_of;

/// The largest text whose difference is shown.
const LARGEST: usize = 1024 * 1024;

/// What was found.
pub struct Found {
    pub checkpoints: Vec<Checkpoint>,
    /// In the order of the run.
    pub differences: Vec<Difference>,
}

impl Found {
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }
}

/// One visit to a checkpoint.
#[derive(Serialize)]
pub struct Checkpoint {
    pub name: String,
    pub artifacts: usize,
    pub messages: usize,
    pub differences: usize,
}

/// Something that is not the same.
#[derive(Serialize)]
pub struct Difference {
    pub checkpoint: String,
    /// `question`, `artifact`, `check`, `attempts`, `status` or `reached`.
    pub kind: &'static str,
    pub what: String,
    pub diff: String,
}

/// Compares two runs on two homes. `unanswered` is where the second one stands with a question.
pub fn compare(
    then: &Api,
    recorded: &str,
    now: &Api,
    replayed: &str,
    unanswered: Option<Value>,
) -> Result<Found, Problem> {
    let before = executions(then, recorded)?;
    let after = executions(now, replayed)?;
    let mut found = Found { checkpoints: Vec::new(), differences: Vec::new() };
    for at in 0..before.len().max(after.len()) {
        let earlier = found.differences.len();
        let (one, other) = (before.get(at), after.get(at));
        let name = text_of(&one.or(other).unwrap_or(&Value::Null)["checkpoint_name"]);
        match (one, other) {
            (Some(one), Some(other)) => both(then, one, now, other, &mut found.differences)?,
            (one, _) => {
                let what = if one.is_some() {
                    format!("“{name}” was reached then, and is not now")
                } else {
                    format!("“{name}” is reached now, and was not then")
                };
                found.differences.push(Difference {
                    checkpoint: name.clone(),
                    kind: "reached",
                    what,
                    diff: String::new(),
                });
            }
        }
        let count = |value: Option<&Value>, field: &str| {
            value.and_then(|value| value[field].as_array()).map_or(0, Vec::len)
        };
        found.checkpoints.push(Checkpoint {
            name,
            artifacts: count(other.or(one), "artifacts_generated"),
            messages: count(other.or(one), "agent_conversation"),
            differences: found.differences.len() - earlier,
        });
    }
    if let Some(execution) = unanswered {
        note_unanswered(&before, &execution, &mut found.differences);
    }
    Ok(found)
}

/// A question that nobody had answered is a difference, unless the recorded run stands at the same one.
fn note_unanswered(before: &[Value], execution: &Value, differences: &mut Vec<Difference>) {
    let name = text_of(&execution["checkpoint_name"]);
    let kind = &execution["waiting_for"]["kind"];
    let stood = before.last().is_some_and(|last| {
        last["checkpoint_name"] == execution["checkpoint_name"] && last["waiting_for"]["kind"] == *kind
    });
    let told = differences.iter().any(|difference| difference.checkpoint == name);
    if !stood && !told {
        let question = text_of(&execution["waiting_for"]["question"]);
        let what = format!("the recording has no answer for “{name}”: {question}");
        differences.push(Difference { checkpoint: name, kind: "question", what, diff: String::new() });
    }
}

fn executions(api: &Api, run: &str) -> Result<Vec<Value>, Problem> {
    let mut all = api.get(&format!("/api/runs/{run}/checkpoints"))?;
    let mut all = all["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    for execution in all.iter_mut().filter(|execution| execution["mode"] == "agentic") {
        // The document has the last messages only.
        let path = format!("/api/executions/{}/conversation", text_of(&execution["execution_id"]));
        execution["agent_conversation"] = Value::Array(api.list(&path, usize::MAX)?);
    }
    Ok(all)
}

fn both(
    then: &Api,
    one: &Value,
    now: &Api,
    other: &Value,
    differences: &mut Vec<Difference>,
) -> Result<(), Problem> {
    let name = text_of(&one["checkpoint_name"]);
    if one["checkpoint_name"] != other["checkpoint_name"] {
        let what = format!("“{name}” came then, and “{}” comes now", text_of(&other["checkpoint_name"]));
        differences.push(Difference { checkpoint: name, kind: "reached", what, diff: String::new() });
        failure(&Value::Null, other, "its last attempt", differences);
        return Ok(());
    }
    messages(&name, one, other, differences);
    let attempts = |execution: &Value| {
        format!("revision {}, attempt {}", execution["revision_iteration"], execution["attempt_number"])
    };
    failure(one, other, &attempts(other), differences);
    artifacts(then, one, now, other, &name, differences)?;
    let passed = |execution: &Value| execution["check"]["passed"].clone();
    if passed(one) != passed(other) {
        let said = |execution: &Value| text_of(&execution["check"]["reasons"]);
        let what =
            format!("the check of “{name}” says something else: {} then, {} now", passed(one), passed(other));
        let diff = lines(&said(one), &said(other));
        differences.push(Difference { checkpoint: name.clone(), kind: "check", what, diff });
    }
    if attempts(one) != attempts(other) {
        let what = format!("“{name}” took {} then, {} now", attempts(one), attempts(other));
        differences.push(Difference {
            checkpoint: name.clone(),
            kind: "attempts",
            what,
            diff: String::new(),
        });
    }
    if one["status"] != other["status"] {
        let what =
            format!("“{name}” was {} then, is {} now", text_of(&one["status"]), text_of(&other["status"]));
        differences.push(Difference { checkpoint: name, kind: "status", what, diff: String::new() });
    }
    Ok(())
}

/// A step that fails now, and did not then; a question without an answer is why, most of the time.
fn failure(one: &Value, other: &Value, attempt: &str, differences: &mut Vec<Difference>) {
    let error = other["error_details"]["last_error"]["error_message"].as_str();
    let Some(error) = error.filter(|_| other["status"] == "failed" && one["status"] != "failed") else {
        return;
    };
    let checkpoint = text_of(&other["checkpoint_name"]);
    let what = format!("“{checkpoint}” failed in {attempt}: {error}");
    let unknown = other["error_details"]["last_error"]["error_type"] == "not_recorded";
    let kind = if unknown { "question" } else { "status" };
    differences.push(Difference { checkpoint, kind, what, diff: String::new() });
}

/// What each agent was told; agents that speak at once have no order between them.
fn messages(name: &str, one: &Value, other: &Value, differences: &mut Vec<Difference>) {
    let (before, after) = (by_agent(one), by_agent(other));
    for (agent, told) in &before {
        let again = after.get(agent).map(Vec::as_slice).unwrap_or_default();
        let at = (0..told.len().max(again.len())).find(|at| told.get(*at) != again.get(*at));
        if let Some(at) = at {
            let (was, is) =
                (told.get(at).map_or("", String::as_str), again.get(at).map_or("", String::as_str));
            let what = format!("message {} to {agent} at “{name}” is another", at + 1);
            differences.push(Difference {
                checkpoint: name.to_owned(),
                kind: "question",
                what,
                diff: lines(was, is),
            });
            return;
        }
    }
    if let Some(agent) = after.keys().find(|agent| !before.contains_key(*agent)) {
        let what = format!("{agent} speaks at “{name}”, and did not then");
        differences.push(Difference {
            checkpoint: name.to_owned(),
            kind: "question",
            what,
            diff: String::new(),
        });
    }
}

fn by_agent(execution: &Value) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for message in execution["agent_conversation"].as_array().into_iter().flatten() {
        if message["role"] != "assistant" {
            all.entry(text_of(&message["agent_name"])).or_default().push(text_of(&message["content"]));
        }
    }
    all
}

fn artifacts(
    then: &Api,
    one: &Value,
    now: &Api,
    other: &Value,
    name: &str,
    differences: &mut Vec<Difference>,
) -> Result<(), Problem> {
    let by_name = |execution: &Value| -> BTreeMap<String, Value> {
        let all = execution["artifacts_generated"].as_array().cloned().unwrap_or_default();
        all.into_iter().map(|artifact| (text_of(&artifact["artifact_name"]), artifact)).collect()
    };
    let (before, after) = (by_name(one), by_name(other));
    let mut differ = |what: String, diff: String| {
        differences.push(Difference { checkpoint: name.to_owned(), kind: "artifact", what, diff });
    };
    for (artifact, was) in &before {
        match after.get(artifact) {
            None => differ(format!("“{name}” made `{artifact}` then, and does not now"), String::new()),
            Some(is) if is["checksum"] != was["checksum"] => {
                let diff = lines(&content(then, was)?, &content(now, is)?);
                differ(format!("`{artifact}` of “{name}” is another"), diff);
            }
            Some(_) => {}
        }
    }
    for artifact in after.keys().filter(|artifact| !before.contains_key(*artifact)) {
        differ(format!("“{name}” makes `{artifact}` now, and did not then"), String::new());
    }
    Ok(())
}

fn content(api: &Api, artifact: &Value) -> Result<String, Problem> {
    let id = text_of(&artifact["artifact_record_id"]);
    let bytes = api.send("GET", &format!("/api/artifacts/{id}/download"), Body::None)?.bytes;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Both texts as the lines that differ.
fn lines(was: &str, is: &str) -> String {
    if was.len().max(is.len()) > LARGEST {
        return "both are too large to be shown".to_owned();
    }
    TextDiff::from_lines(was, is).unified_diff().context_radius(2).header("then", "now").to_string()
}
