//! Runs move along the declared graphs only, and their numbers go up.

use std::collections::BTreeMap;

use holdpoint_core::event::{PipelineEvent, RunEvent};
use holdpoint_core::state::run::{Ask, ExecutionState as At, RunStatus as Is, Stage};
use holdpoint_core::{ExecNo, PipelineId};

use super::{Found, Moment};

/// I16: a run and its executions move along the graph; only a rollback, or undoing one, moves backwards.
pub fn transitions(moment: &Moment<'_>, event: &RunEvent) -> Found {
    if let RunEvent::RolledBack { .. }
    | RunEvent::Recovered { .. }
    | RunEvent::Undone { .. }
    | RunEvent::RunRemoved { .. }
    | RunEvent::RunRestored { .. } = event
    {
        return Vec::new();
    }
    let (run, seq) = (moment.run, moment.entry.row.seq.0);
    let mut found = Vec::new();
    let (from, to) = (moment.before.status, moment.after.status);
    let reopened = matches!(event, RunEvent::Reopened {}) && (from, to) == (Is::Completed, Is::InProgress);
    if from != to && !reopened && !run_may(from, to) {
        found.push(format!("I16: run {run} goes from {from:?} to {to:?} at {seq}"));
    }
    for (x, after) in moment.after.executions() {
        match moment.before.execution(x) {
            Some(before)
                if before.state == after.state || execution_may(before.state, after.state, event, x) => {}
            Some(before) => {
                let (from, to) = (before.state, after.state);
                found.push(format!("I16: {x} of run {run} goes from {from:?} to {to:?} at {seq}"));
            }
            // A client asks for its work: nobody starts it.
            None if after.state == At::Pending
                || after.outside && after.state == At::Working(Stage::Client) => {}
            None => found.push(format!("I16: {x} of run {run} begins at {:?} at {seq}", after.state)),
        }
    }
    found
}

fn run_may(from: Is, to: Is) -> bool {
    match from {
        Is::NotStarted => matches!(to, Is::InProgress | Is::Aborted | Is::Failed),
        Is::InProgress => matches!(to, Is::Paused | Is::Completed | Is::Failed | Is::Aborted),
        Is::Paused => matches!(to, Is::InProgress | Is::Failed | Is::Aborted),
        Is::Completed | Is::Failed | Is::Aborted => false,
    }
}

fn execution_may(from: At, to: At, event: &RunEvent, x: ExecNo) -> bool {
    match from {
        At::Pending => matches!(to, At::AwaitingStart | At::Working(_)),
        At::AwaitingStart => matches!(to, At::Pending | At::Working(_)),
        // Made and held back by one command: no client has seen it.
        At::Working(Stage::Client) if to == At::AwaitingStart => {
            matches!(event, RunEvent::Asked { x: of, ask: Ask::Start, .. } if *of == x)
        }
        At::Working(_) => {
            matches!(to, At::Working(_) | At::AwaitingComplete | At::Completed | At::Failed)
        }
        At::AwaitingComplete => matches!(to, At::Completed | At::Working(_) | At::Failed),
        // Only by an attempt that somebody granted; the bounds of attempts are counted elsewhere.
        At::Failed => {
            matches!((to, event), (At::Working(_), RunEvent::AttemptBegan { x: of, .. }) if *of == x)
        }
        At::Completed => false,
    }
}

/// I19: the numbers of a pipeline's runs.
#[derive(Default)]
pub struct Numbers(BTreeMap<PipelineId, u32>);

impl Numbers {
    /// Looks at one event: numbers strictly increase, and begin anew with each definition version.
    pub fn see(&mut self, pipeline: PipelineId, event: &PipelineEvent) -> Option<String> {
        match event {
            PipelineEvent::CheckpointAdded { .. }
            | PipelineEvent::CheckpointRemoved { .. }
            | PipelineEvent::Reordered { .. } => {
                self.0.remove(&pipeline);
                None
            }
            PipelineEvent::RunOpened { run, number } => {
                let before = self.0.insert(pipeline, *number).unwrap_or(0);
                (*number <= before).then(|| format!("I19: run {run} has number {number} after {before}"))
            }
            _ => None,
        }
    }
}
