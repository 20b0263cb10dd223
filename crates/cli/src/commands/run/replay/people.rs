//! What people said in a recorded run, in its order, for each visit to a checkpoint.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use holdpoint_core::Actor;
use serde_json::{Map, Value};

use super::super::walk::Players;
use crate::answering::Said;
use crate::client::{Api, Body};
use crate::problem::Problem;
use crate::table::text_of;

/// The answers that are not used up.
pub struct People {
    /// By the checkpoint's name; the visits of a run to one checkpoint follow each other.
    left: BTreeMap<String, VecDeque<(String, Said)>>,
}

const TYPES: &str = "execution.approved,execution.approval_given,execution.rejected,execution.submitted,\
                     execution.revision_requested,execution.retried,execution.started,artifact.created,run.started,\
                     run.resumed,execution.waiting";

impl People {
    /// Reads a run's events; files that people had handed in are put into a folder.
    pub fn read(api: &Api, run: &str, folder: &Path) -> Result<Self, Problem> {
        let executions = api.get(&format!("/api/runs/{run}/checkpoints"))?;
        let names: BTreeMap<String, String> = executions["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|each| (text_of(&each["execution_id"]), text_of(&each["checkpoint_name"])))
            .collect();
        let mut events = api.list(&format!("/api/events?run_id={run}&event_type={TYPES}"), 1_000_000)?;
        events.reverse();
        let mut left: BTreeMap<String, VecDeque<(String, Said)>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            let Some(name) = names.get(&text_of(&event["execution_id"])) else { continue };
            if event["actor"]["kind"] != "person" {
                continue;
            }
            if let Some(said) = said(api, &events, at, folder)? {
                left.entry(name.clone()).or_default().push_back((text_of(&event["actor"]["name"]), said));
            }
        }
        Ok(Self { left })
    }
}

impl Players for People {
    /// The answer that comes next, if it fits.
    fn next(&mut self, execution: &Value) -> Result<Option<(Actor, Said)>, Problem> {
        let Some(left) = self.left.get_mut(&text_of(&execution["checkpoint_name"])) else { return Ok(None) };
        let kind = text_of(&execution["waiting_for"]["kind"]);
        let fits = left.front().is_some_and(|(_, said)| match said {
            Said::Yes => matches!(kind.as_str(), "approve_start" | "approve_complete" | "start" | "retry"),
            Said::No(_) => matches!(kind.as_str(), "approve_start" | "approve_complete"),
            Said::Changed(_) => kind == "approve_complete",
            Said::Fields(..) => kind == "form",
            Said::Text(_) => matches!(kind.as_str(), "script_input" | "guidance" | "budget"),
            Said::Option(_) => kind == "choice",
        });
        let next = if fits { left.pop_front() } else { None };
        Ok(next.map(|(name, said)| (Actor::person(&format!("{name} (replay)")), said)))
    }
}

fn said(api: &Api, events: &[Value], at: usize, folder: &Path) -> Result<Option<Said>, Problem> {
    let event = &events[at];
    let about = &event["metadata"];
    Ok(match text_of(&event["event_type"]).as_str() {
        "execution.approved" if about["edited"] == true => Some(Said::Changed(edits(api, events, at)?)),
        "execution.approved" | "execution.approval_given" if !is_last_of_several(events, at) => {
            Some(Said::Yes)
        }
        "execution.retried" => Some(Said::Yes),
        // A person began it, or asked for it again; what comes by an answer has that answer's event before it in the
        // same moment.
        "execution.started" | "execution.waiting" if is_alone(events, at) => Some(Said::Yes),
        "execution.rejected" | "execution.revision_requested" => Some(Said::No(text_of(&about["feedback"]))),
        "execution.submitted" => match &about["fields"] {
            Value::Object(fields) => Some(filled(api, event, fields, folder)?),
            _ => Some(Said::Text(text_of(&about["text"]))),
        },
        _ => None,
    })
}

/// Where several must approve, the last approval and the decision are one act.
fn is_last_of_several(events: &[Value], at: usize) -> bool {
    events[at]["event_type"] == "execution.approval_given"
        && events.get(at + 1).is_some_and(|next| {
            next["event_type"] == "execution.approved" && next["hash"] == events[at]["hash"]
        })
}

/// Whether an attempt began without another event of the same act that says why.
fn is_alone(events: &[Value], at: usize) -> bool {
    let same = |other: Option<&Value>| other.is_some_and(|other| other["hash"] == events[at]["hash"]);
    !same(at.checked_sub(1).and_then(|before| events.get(before)))
}

/// The outputs that a person changed in approving: they follow the approval.
fn edits(api: &Api, events: &[Value], at: usize) -> Result<Vec<(String, String)>, Problem> {
    let made = events[at + 1..].iter().take_while(|event| event["hash"] == events[at]["hash"]);
    let made = made.filter(|event| event["event_type"] == "artifact.created");
    let mut edits = Vec::new();
    for event in made {
        let made = &event["metadata"]["made"];
        let id = text_of(&made["record"]);
        let bytes = api.send("GET", &format!("/api/artifacts/{id}/download"), Body::None)?.bytes;
        edits.push((text_of(&made["name"]), String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(edits)
}

/// A form as it was filled in, its files put where they can be read again.
fn filled(api: &Api, event: &Value, fields: &Map<String, Value>, folder: &Path) -> Result<Said, Problem> {
    let mut plain = Map::new();
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for (name, value) in fields {
        let (Some(filename), Some(checksum)) = (value["filename"].as_str(), value["checksum"].as_str())
        else {
            plain.insert(name.clone(), value.clone());
            continue;
        };
        let id = text_of(&event["execution_id"]);
        let list = api.list(&format!("/api/artifacts/list?execution_id={id}"), 10_000)?;
        let Some(file) = list.iter().find(|each| each["checksum"] == checksum) else { continue };
        let record = text_of(&file["artifact_record_id"]);
        let bytes = api.send("GET", &format!("/api/artifacts/{record}/download"), Body::None)?.bytes;
        let own = folder.join("handed-in").join(name);
        let safe = Path::new(filename).file_name().unwrap_or_else(|| std::ffi::OsStr::new("file"));
        let path = own.join(safe);
        let written = std::fs::create_dir_all(&own).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(super::unreadable)?;
        files.push((name.clone(), path));
    }
    Ok(Said::Fields(plain, files))
}
