//! Rollbacks happen whole or not at all, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_core::event::{PipelineEvent, RunEvent};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{Execution, ExecutionState};
use holdpoint_core::{CommandId, Digest, Event, ExecutionId, RollbackId, RunId, StreamId};

use super::{Entry, Found, Moment};

/// The runs that a rollback, or undoing it, touches.
type Touched = BTreeMap<(RollbackId, bool), BTreeSet<RunId>>;

/// I9: the pipeline's record of a rollback and the changes in its runs stand in one commit.
pub fn whole(entries: &[Entry]) -> Found {
    let mut commits: BTreeMap<CommandId, (Touched, Touched)> = BTreeMap::new();
    let mut records: BTreeMap<RollbackId, BTreeSet<RunId>> = BTreeMap::new();
    // A recovery is a matter of one run: no pipeline has a record of it.
    let mut recoveries: BTreeSet<RollbackId> = BTreeSet::new();
    for entry in entries {
        for event in &entry.events {
            let (said, done) = match (entry.row.stream, event) {
                (_, Event::Pipeline(PipelineEvent::RolledBack(record))) => {
                    let removed = record.removed_runs.iter().map(|(run, _)| *run);
                    let runs: BTreeSet<RunId> = removed.chain([record.target.0]).collect();
                    records.insert(record.rollback, runs.clone());
                    (Some(((record.rollback, false), runs)), None)
                }
                (_, Event::Pipeline(PipelineEvent::RollbackUndone { rollback })) => {
                    let runs = records.get(rollback).cloned().unwrap_or_default();
                    (Some(((*rollback, true), runs)), None)
                }
                (
                    StreamId::Run(run),
                    Event::Run(RunEvent::RolledBack { rollback, .. } | RunEvent::RunRemoved { rollback, .. }),
                ) => (None, Some(((*rollback, false), run))),
                (_, Event::Run(RunEvent::Recovered { rollback, .. })) => {
                    recoveries.insert(*rollback);
                    continue;
                }
                (_, Event::Run(RunEvent::Undone { rollback })) if recoveries.contains(rollback) => continue,
                (
                    StreamId::Run(run),
                    Event::Run(RunEvent::Undone { rollback } | RunEvent::RunRestored { rollback }),
                ) => (None, Some(((*rollback, true), run))),
                _ => continue,
            };
            let commit = commits.entry(entry.row.command).or_default();
            commit.0.extend(said);
            if let Some((rollback, run)) = done {
                commit.1.entry(rollback).or_default().insert(run);
            }
        }
    }
    let torn = commits.into_iter().filter(|(_, (said, done))| said != done);
    torn.map(|(_, (said, done))| format!("I9: rollbacks {said:?} come with changes {done:?}")).collect()
}

/// I10: what stood in a run before a rollback stands in it, or in its archive, afterwards.
pub fn nothing_lost(moment: &Moment<'_>, event: &RunEvent) -> Option<String> {
    let (RunEvent::RolledBack { .. }
    | RunEvent::RunRemoved { .. }
    | RunEvent::RunRestored { .. }
    | RunEvent::Undone { .. }) = event
    else {
        return None;
    };
    let (before, after) = (contents(moment.before), contents(moment.after));
    let lost: Vec<_> = before.difference(&after).collect();
    (!lost.is_empty()).then(|| format!("I10: run {} lost {lost:?} at {}", moment.run, moment.entry.row.seq.0))
}

/// All executions that have begun, kept or archived, with their outputs.
fn contents(run: &RunState) -> BTreeSet<(ExecutionId, Vec<Digest>)> {
    let archived = run.archived().map(|(_, _, _, e)| e);
    let begun = |e: &&std::sync::Arc<Execution>| e.state != ExecutionState::Pending;
    let outputs = |e: &Execution| e.artifacts.iter().map(|output| output.made.digest).collect();
    run.executions().map(|(_, e)| e).chain(archived).filter(begun).map(|e| (e.id, outputs(e))).collect()
}
