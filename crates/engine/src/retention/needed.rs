//! Which blobs are still needed: those that an event keeps for good, the trees of work that has not ended, and replies
//! that may be asked for again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use holdpoint_core::event::{BlobKind, Keep};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::ExecutionState;
use holdpoint_core::{Digest, ExecNo, RunId, Seq, State, StreamId, Timestamp};
use holdpoint_planted::{Bug, planted};
use holdpoint_snapshot::{Reference, references};
use holdpoint_store::{BlobError, BlobStore, EventLog, Query, StoreError, kept_since};
use tokio::io::AsyncReadExt as _;

use crate::live::recorded;
use crate::load;

/// How many rows are read at once.
const PAGE: u32 = 1_000;

/// All blobs that must not be removed. A row that cannot be read ends this in an error: it may name anything.
/// So does a tree that cannot be read, unless it is missing: nobody can continue from that one.
pub async fn needed(
    log: &dyn EventLog,
    blobs: &dyn BlobStore,
    now: Timestamp,
) -> Result<HashSet<Digest>, StoreError> {
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
    let Named { mut needed, mut trees, owners, working } = named;
    for (run, named) in by_run(working, &owners) {
        let state = load::load(log, StreamId::Run(run)).await?.0.state;
        for (x, digest, kind) in named {
            if matches!(&state, State::Run(run) if !still_works(run, x)) {
                continue;
            }
            needed.insert(digest);
            if kind == BlobKind::Tree {
                trees.push(digest);
            }
        }
    }
    descend(blobs, trees, &mut needed).await?;
    // A reply that is a blob is served again until its key expires.
    needed.extend(log.query(Query::ReplyBlobs(kept_since(now))).await?.blobs);
    Ok(needed)
}

/// What the events of a log name.
#[derive(Default)]
struct Named {
    needed: HashSet<Digest>,
    /// Those of them that name further blobs.
    trees: Vec<Digest>,
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
                    // No event ends a snapshot yet, so each is kept.
                    Keep::Always | Keep::Snapshot(_) => {
                        self.needed.insert(blob.digest);
                        if blob.kind == BlobKind::Tree {
                            self.trees.push(blob.digest);
                        }
                    }
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
    let Some(execution) = run.graph.any_execution(x) else { return true };
    let ended = match execution.state {
        ExecutionState::Completed | ExecutionState::Failed => true,
        ExecutionState::Pending
        | ExecutionState::AwaitingStart
        | ExecutionState::Working(_)
        | ExecutionState::AwaitingComplete => false,
    };
    let over = execution.rolled_back.is_none() && run.gone.is_none() && !run.status.is_active();
    !ended && !over
}

/// Adds everything that trees name, at any depth; folders that trees share are read once.
async fn descend(
    blobs: &dyn BlobStore,
    mut trees: Vec<Digest>,
    needed: &mut HashSet<Digest>,
) -> Result<(), StoreError> {
    let mut seen = HashSet::new();
    while let Some(tree) = trees.pop() {
        if !seen.insert(tree) {
            continue;
        }
        let damaged = |cause: &dyn std::fmt::Display| StoreError::Corrupt(format!("tree {tree}: {cause}"));
        let mut bytes = Vec::new();
        match blobs.get(tree).await {
            Ok(mut content) => content.read_to_end(&mut bytes).await.map_err(|cause| damaged(&cause))?,
            Err(BlobError::Missing(_)) => continue,
            Err(cause) => return Err(damaged(&cause)),
        };
        for reference in references(&bytes).map_err(|cause| damaged(&cause))? {
            needed.insert(reference.digest());
            if let Reference::Tree(inside) = reference {
                trees.push(inside);
            }
        }
    }
    Ok(())
}
