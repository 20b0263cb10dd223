//! Continuing from an older node: the one operation behind going back.

use super::walk::{Fresh, make_execution};
use crate::asks;
use crate::decision::Draft;
use crate::event::{Place, RunEvent, Text};
use crate::plan::NodeShape;
use crate::state::run::FrontDelta;
use crate::{BranchNo, NodeNo, Rejection, RollbackId, RunId};

/// Why a run continues from an older node.
#[derive(Clone, Debug)]
pub enum BranchCause {
    /// The run goes back: the current branch is retired, and nothing starts by itself.
    Rollback {
        /// The rollback.
        rollback: RollbackId,
        /// The archive's folder.
        archive: Text,
    },
    /// Files were restored: the current branch is retired, and nothing starts by itself.
    Recover {
        /// The recovery.
        rollback: RollbackId,
    },
    /// A client continues beside the branches that there are.
    Fork,
}

/// Makes a branch that continues from a node, and enters what there was to do at it, in plan order.
pub fn branch_from(
    draft: &mut Draft<'_>,
    run: RunId,
    node: NodeNo,
    cause: BranchCause,
) -> Result<BranchNo, Rejection> {
    let missing = || Rejection::NotFound { what: "node", id: format!("{} of run {run}", node.0) };
    let graph = &draft.run(run)?.graph;
    let (branch, retires) = (graph.next_branch(), graph.current());
    let from = graph.anchor(node).ok_or_else(missing)?;
    let plan = draft.plan(run)?;
    let front = graph.front_at(from).ok_or_else(missing)?;
    let mut todo: Vec<(usize, Place)> =
        front.todo.iter().filter_map(|place| Some((plan.find(&place.step)?, place.clone()))).collect();
    todo.sort();
    let held = match cause {
        BranchCause::Rollback { rollback, archive } => {
            draft.on_run(run, RunEvent::RolledBack { branch, from, retires, rollback, archive });
            true
        }
        BranchCause::Recover { rollback } => {
            draft.on_run(run, RunEvent::Recovered { branch, from, retires, rollback });
            true
        }
        BranchCause::Fork => {
            draft.on_run(run, RunEvent::Forked { branch, from });
            false
        }
    };
    let mut queued = FrontDelta::default();
    for (node, place) in todo {
        let info = &plan.nodes[node];
        match &info.kind {
            NodeShape::Step if !held && draft.run(run)?.owed.len() >= plan.parallel as usize => {
                queued.reached.push(place);
            }
            NodeShape::Step => {
                let feedback = front.returns.get(&place.step).and_then(|way| way.feedback.clone());
                let fresh = Fresh { branch, place, position: info.position, held, feedback };
                let x = make_execution(draft, run, fresh)?;
                if held {
                    asks::begin::ask(draft, run, x)?;
                } else {
                    super::start_or_hold(draft, run, x, true)?;
                }
            }
            NodeShape::Gate(choice) => {
                asks::choice::ask(draft, run, branch, place, choice)?;
            }
            // What is inside is reached, never the group itself.
            NodeShape::Container { .. } => {}
        }
    }
    if !queued.is_empty() {
        draft.on_run(run, RunEvent::FrontMoved { branch, delta: queued });
    }
    Ok(branch)
}
