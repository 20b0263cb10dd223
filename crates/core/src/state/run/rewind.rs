//! Going back and undoing it: what a rollback takes out of a run's state, and how it comes back.

use std::sync::Arc;

use imbl::OrdMap;

use super::{ExecutionState, NodeKind, Removed, RunState, RunStatus};
use crate::event::{Failure, PauseReason, Text};
use crate::{BranchNo, ExecNo, RollbackId, Timestamp};

impl RunState {
    /// Takes out the executions behind a position; the run goes on from there.
    pub(super) fn rewind(&mut self, rollback: RollbackId, keep: Option<u32>, archive: &Text) {
        let goes = |position: u32| keep.is_none_or(|kept| position > kept);
        let gone: Vec<ExecNo> =
            self.executions.iter().filter(|(_, e)| goes(e.position)).map(|(x, _)| *x).collect();
        self.take_out(rollback, &gone, archive);
        let last = self.nodes.iter().rev().find(|(_, node)| match &node.kind {
            NodeKind::Step(x) => self.executions.contains_key(x),
            NodeKind::Checkpoint | NodeKind::BlockedAttempt => false,
        });
        let head = last.map(|(no, _)| *no);
        self.branch(BranchNo(0), |b| {
            b.head = head;
            for x in &gone {
                b.active.remove(x);
            }
        });
        self.status = RunStatus::InProgress;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = None;
        self.count();
    }

    /// Takes out the whole run; its executions stay with it.
    pub(super) fn remove(&mut self, rollback: RollbackId, archive: &Text) {
        self.take_out(rollback, &[], archive);
        let outputs: usize = self.executions.values().map(|e| 1 + e.artifacts.len()).sum();
        self.rows.archived += 1 + outputs as u32;
        self.owed = OrdMap::new();
        self.timers = OrdMap::new();
        self.gone = Some(rollback);
    }

    /// Puts back what a rollback took out. What was at work then comes back failed in a paused run.
    pub(super) fn unwind(&mut self, rollback: RollbackId, at: Timestamp) {
        let Some(removed) = self.removed.remove(&rollback) else { return };
        if self.gone == Some(rollback) {
            self.gone = None;
        } else {
            let fresh: Vec<ExecNo> =
                self.executions.keys().copied().filter(|x| x.0 > removed.visits).collect();
            for x in fresh {
                self.close_of(x);
                self.executions.remove(&x);
            }
        }
        self.executions.extend(removed.executions.iter().cloned());
        self.gates.extend(removed.gates.iter().cloned());
        self.branches.insert(BranchNo(0), removed.branch.clone());
        self.status = removed.status;
        self.pause_reason = removed.pause_reason;
        self.pause_requested = removed.pause_requested;
        self.times.completed = removed.completed_at;
        let cut: Vec<ExecNo> =
            self.executions.iter().filter(|(_, e)| e.state.in_flight()).map(|(x, _)| *x).collect();
        for x in &cut {
            self.stop_work(*x);
            self.edit(*x, |e| {
                e.state = ExecutionState::Failed;
                e.errors += 1;
                e.times.failed = Some(at);
                let failure =
                    Failure::new("rolled_back", "the work was stopped by a rollback that was undone");
                e.last_error = Some((at, failure));
            });
        }
        self.count();
        // A run that moves does not stand at a failed step.
        if !cut.is_empty() || (self.status == RunStatus::InProgress && self.failed > 0) {
            self.status = RunStatus::Paused;
            let reason = if cut.is_empty() { PauseReason::StepFailed } else { PauseReason::Restored };
            self.pause_reason = Some(reason);
            self.pause_requested = false;
            self.times.paused = Some(at);
        }
    }

    fn take_out(&mut self, rollback: RollbackId, gone: &[ExecNo], archive: &Text) {
        let branch = self.branches.get(&BranchNo(0)).cloned().unwrap_or_default();
        let mut removed = Removed {
            executions: Vec::with_capacity(gone.len()),
            gates: Vec::new(),
            branch,
            status: self.status,
            pause_reason: self.pause_reason,
            pause_requested: self.pause_requested,
            completed_at: self.times.completed,
            visits: self.visits,
            archive: archive.clone(),
        };
        for x in gone {
            self.stop_work(*x);
            let Some(execution) = self.executions.remove(x) else { continue };
            self.rows.archived += 1 + execution.artifacts.len() as u32;
            if let Some(id) = execution.state.gate()
                && let Some(gate) = self.gates.remove(&id)
            {
                removed.gates.push((id, gate));
            }
            removed.executions.push((*x, execution));
        }
        self.removed.insert(rollback, Arc::new(removed));
    }

    fn count(&mut self) {
        let standing =
            |state: ExecutionState| self.executions.values().filter(|e| e.state == state).count() as u32;
        self.completed = standing(ExecutionState::Completed);
        self.failed = standing(ExecutionState::Failed);
    }
}
