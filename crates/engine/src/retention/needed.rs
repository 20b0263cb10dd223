//! Which blobs are still needed: those that an event keeps for good, and the trees of work that has not ended.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use holdpoint_core::event::{BlobKind, Keep};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::ExecutionState;
use holdpoint_core::{Digest, ExecNo, RunId, Seq, State, StreamId};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{EventLog, StoreError};

use crate::live::recorded;
use crate::load;

/// How many rows are read at once.
const PAGE: u32 = 1_000;

/// All blobs that must not be removed. A row that cannot be read ends this in an error: it may name anything.
pub async fn needed(log: &dyn EventLog) -> Result<HashSet<Digest>, StoreError> {
    let mut named = Named::default();
    let mut after = Seq(0);
    loop {
        let rows = log.read_all(after, PAGE).await?;
        let Some(last) = rows.last() else { break };
        after = last.last_seq();
        for row in &rows {
            named.add(row.stream, recorded(row)?.iter().map(|recorded| &recorded.event));
        }
    }
    let Named { mut needed, owners, working } = named;
    for (run, trees) in by_run(working, &owners) {
        let state = load::load(log, StreamId::Run(run)).await?.0.state;
        for (x, digest, kind) in trees {
            if matches!(&state, State::Run(run) if !still_works(run, x)) {
                continue;
            }
            keep(digest, kind, &mut needed);
        }
    }
    Ok(needed)
}

/// What the events of a log name.
#[derive(Default)]
struct Named {
    needed: HashSet<Digest>,
    /// The execution that each journal belongs to.
    owners: HashMap<StreamId, (RunId, ExecNo)>,
    /// What is kept while work goes on, by journal.
    working: BTreeMap<StreamId, BTreeSet<(Digest, BlobKind)>>,
}

impl Named {
    fn add<'a>(&mut self, stream: StreamId, events: impl Iterator<Item = &'a holdpoint_core::Event>) {
        for event in events {
            if let Some(owner) = event.opens_journal() {
                self.owners.insert(stream, owner);
            }
            for blob in event.blobs() {
                match blob.keep {
                    Keep::Always => keep(blob.digest, blob.kind, &mut self.needed),
                    Keep::WhileWorking => {
                        self.working.entry(stream).or_default().insert((blob.digest, blob.kind));
                    }
                }
            }
        }
    }
}

type Trees = Vec<(ExecNo, Digest, BlobKind)>;

/// The trees by run, so that each run is loaded once. Those of a journal without an owner are nobody's work.
fn by_run(
    working: BTreeMap<StreamId, BTreeSet<(Digest, BlobKind)>>,
    owners: &HashMap<StreamId, (RunId, ExecNo)>,
) -> BTreeMap<RunId, Trees> {
    let mut runs: BTreeMap<RunId, Trees> = BTreeMap::new();
    for (journal, trees) in working {
        let Some((run, x)) = owners.get(&journal) else { continue };
        let trees = trees.into_iter().map(|(digest, kind)| (*x, digest, kind));
        runs.entry(*run).or_default().extend(trees);
    }
    runs
}

/// Whether an execution may still continue from its files. One that a rollback removed may: undoing the rollback
/// brings it back as it was.
fn still_works(run: &RunState, x: ExecNo) -> bool {
    if planted(Bug::SweepLiveTree) {
        return false;
    }
    let present = run.executions.get(&x);
    let removed = || run.removed.values().flat_map(|removed| &removed.executions).find(|(no, _)| *no == x);
    let Some(execution) = present.or_else(|| removed().map(|(_, execution)| execution)) else {
        return true;
    };
    let ended = match execution.state {
        ExecutionState::Completed | ExecutionState::Failed => true,
        ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::Working(_)
        | ExecutionState::AwaitingComplete(_) => false,
    };
    let over = present.is_some() && run.gone.is_none() && !run.status.is_active();
    !ended && !over
}

/// Keeps a blob and everything inside of it. A tree is one packed piece, so nothing is inside; `crates/snapshot`
/// makes trees that name further blobs, and its `references` belongs here.
fn keep(digest: Digest, _kind: BlobKind, needed: &mut HashSet<Digest>) {
    needed.insert(digest);
}
