//! A client saves the state at a node. It hangs off the node and moves nothing; the same output makes one snapshot.

use serde_json::Value;

use super::{advance, wrong_run};
use crate::decision::Draft;
use crate::event::{RunEvent, Text};
use crate::state::run::{AckKey, RunStatus};
use crate::{Digest, NodeNo, Rejection, RunId, SnapshotId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct TakeSnapshot {
    /// The node.
    pub node: NodeNo,
    /// What the client says with it.
    pub output: Value,
    /// What it can be found by.
    pub tags: Vec<Text>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &TakeSnapshot) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    if state.graph.node(command.node).is_none() {
        return Err(Rejection::NotFound { what: "node", id: format!("{} of run {run}", command.node.0) });
    }
    let digest = Digest::of_json(&command.output);
    if state.acks.contains_key(&(command.node, AckKey::Checkpoint(digest))) {
        return Ok(());
    }
    match state.status {
        RunStatus::InProgress | RunStatus::Paused | RunStatus::Completed => {}
        RunStatus::NotStarted | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "save the state")?);
        }
    }
    let output = Some(advance::content(draft, &command.output)?);
    let snapshot = SnapshotId(draft.ids.mint());
    let (at, tags) = (command.node, command.tags.clone());
    draft.on_run(
        run,
        RunEvent::SnapshotTaken { at, snapshot, trigger: "manual".into(), tags, tree: None, output },
    );
    Ok(())
}
