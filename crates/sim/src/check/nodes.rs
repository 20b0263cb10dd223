//! The graph of a run: every node has a parent, every head is an anchor, and the front at a node never changes.

use std::collections::BTreeMap;

use holdpoint_core::state::run::{Front, RunState};
use holdpoint_core::{NodeNo, RunId, Seq, State, StreamId};

use super::Found;

/// The fronts of nodes, as they were when the command that made each of them was done.
#[derive(Default)]
pub struct Fronts(BTreeMap<(RunId, NodeNo), Front>);

impl Fronts {
    /// Looks at a run after a row. Some rows are also folded from what would be saved.
    pub fn see(&mut self, run: RunId, before: &RunState, after: &RunState, seq: Seq) -> Found {
        let mut found = shape(run, after, seq);
        let made = before.graph.node_count()..after.graph.node_count();
        for n in made.map(NodeNo) {
            self.0.extend(after.graph.front_at(n).map(|front| ((run, n), front)));
        }
        for (b, branch) in after.live_branches().filter(|(_, branch)| branch.pending.is_empty()) {
            if after.graph.front_at(branch.head).as_ref() != Some(&branch.front) {
                found.push(format!(
                    "I31: the front of branch {} of run {run} is not that of its head at {}",
                    b.0, seq.0
                ));
            }
        }
        if seq.0.is_multiple_of(SAVED_EVERY) && !survives(after) {
            found.push(format!("I31: run {run} is another one when it was saved and loaded, at {}", seq.0));
        }
        found
    }

    /// Compares with what the whole log comes to.
    pub fn at_last(&self, states: &BTreeMap<StreamId, State>) -> Found {
        let changed = self.0.iter().filter(|((run, n), front)| match states.get(&StreamId::Run(*run)) {
            Some(State::Run(state)) => state.graph.front_at(*n).as_ref() != Some(*front),
            _ => true,
        });
        changed
            .map(|((run, n), _)| format!("I31: the front at node {} of run {run} has changed", n.0))
            .collect()
    }
}

/// How many rows there are to one whose state is saved and loaded.
const SAVED_EVERY: u64 = 5;

fn survives(state: &RunState) -> bool {
    let saved = serde_json::to_vec(state).ok();
    let loaded: Option<RunState> = saved.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    loaded.as_ref() == Some(state)
}

/// I31: nodes have parents that were there before them, and only a node that moved a head is one.
fn shape(run: RunId, state: &RunState, seq: Seq) -> Found {
    let graph = &state.graph;
    let mut found = Vec::new();
    for n in (1..graph.node_count()).map(NodeNo) {
        if graph.parent(n).is_none_or(|parent| parent >= n) {
            found.push(format!("I31: node {} of run {run} has no parent before it at {}", n.0, seq.0));
        }
    }
    for (b, branch) in graph.branches() {
        if graph.node_count() > 0 && graph.anchor(branch.head) != Some(branch.head) {
            let head = branch.head.0;
            found.push(format!(
                "I31: branch {} of run {run} has head {head}, which moved nothing, at {}",
                b.0, seq.0
            ));
        }
    }
    found
}
