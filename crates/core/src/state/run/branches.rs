//! Folding branches: going back, undoing it, and runs that are removed as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdpoint_planted::{Bug, planted};

use super::{Branch, Cause, Execution, ExecutionState, Gone, Retired, RunState, RunStatus, Timers};
use crate::event::{Failure, FailureKind, PauseReason, Text};
use crate::{BranchNo, ExecNo, GateId, NodeNo, RollbackId, Timestamp};

impl RunState {
    /// A new branch continues from a node beside the others.
    pub(super) fn fork(&mut self, branch: BranchNo, from: NodeNo, cause: Cause) {
        self.graph.branch_from(branch, from, cause);
        self.graph.current = branch;
    }

    /// A new branch continues from a node in place of another one.
    pub(super) fn roll_back(
        &mut self,
        branch: BranchNo,
        from: NodeNo,
        retires: BranchNo,
        cause: Cause,
        archive: Option<&Text>,
    ) {
        let Some(rollback) = cause.rollback() else { return };
        self.retire(retires, from, rollback, archive);
        self.fork(branch, from, cause);
        self.status = RunStatus::InProgress;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = None;
    }

    /// Takes a branch out of the active views: its executions up to a node are marked, its gates are kept with it, and
    /// its owed work and timers end. Nodes that another live branch descends from stay.
    fn retire(&mut self, b: BranchNo, from: NodeNo, rollback: RollbackId, archive: Option<&Text>) {
        let Some(branch) = self.graph.branch(b).filter(|branch| branch.is_live()) else { return };
        let executions = self.executions_of(branch, from);
        let asking: Vec<GateId> = branch.asking.iter().copied().collect();
        let mut retired = Retired {
            by: rollback,
            archive: archive.cloned(),
            gates: Vec::new(),
            status: self.status,
            pause_reason: self.pause_reason,
            pause_requested: self.pause_requested,
            completed_at: self.times.completed,
        };
        for x in executions {
            self.stop_work(x);
            let Some(execution) = self.execution(x) else { continue };
            let (execution, asks) = (execution.clone(), execution.gate);
            let rows = 1 + execution.artifacts.len() as u32;
            if archive.is_some() {
                self.rows.archived += rows;
            }
            if let Some(id) = asks.filter(|_| !planted(Bug::RetiredGateOpen))
                && let Some(gate) = self.gates.remove(&id)
            {
                retired.gates.push((id, gate));
            }
            self.uncount(&execution);
            self.edit(x, |e| e.rolled_back = Some(rollback));
        }
        for id in asking {
            if let Some(gate) = self.gates.remove(&id) {
                retired.gates.push((id, gate));
            }
        }
        self.graph.edit_branch(b, |branch| branch.retired = Some(Arc::new(retired)));
    }

    /// Executions of a branch that are not done, and those between its head and a node, but for those that another
    /// live branch has in its past.
    fn executions_of(&self, branch: &Branch, from: NodeNo) -> Vec<ExecNo> {
        let way = self.graph.between(branch.head, from);
        let nodes: BTreeSet<NodeNo> = way.iter().map(|(n, _)| *n).collect();
        let others = self.live_branches().filter(|(_, other)| !std::ptr::eq(*other, branch));
        let shared = others.filter_map(|(_, other)| self.meets(other.head, from, &nodes)).max();
        let done = way.into_iter().filter(|(n, _)| shared.is_none_or(|shared| *n > shared));
        let mut executions: Vec<ExecNo> = done.filter_map(|(_, x)| x).collect();
        executions.reverse();
        executions.extend(&branch.active);
        executions
    }

    /// The first of some nodes on the way up from a head.
    fn meets(&self, head: NodeNo, from: NodeNo, nodes: &BTreeSet<NodeNo>) -> Option<NodeNo> {
        let mut at = Some(head);
        while let Some(n) = at.filter(|n| *n > from) {
            if nodes.contains(&n) {
                return Some(n);
            }
            at = self.graph.parent(n);
        }
        None
    }

    /// The branch that a rollback retired is live again, and the one that took its place is retired.
    pub(super) fn undo(&mut self, rollback: RollbackId, at: Timestamp) {
        let made = self.graph.branches().find(|(_, branch)| branch.cause.rollback() == Some(rollback));
        let Some((made, from)) = made.map(|(b, branch)| (b, branch.from)) else { return };
        let old = self.graph.branches().find_map(|(b, branch)| {
            let retired = branch.retired.as_ref().filter(|retired| retired.by == rollback)?;
            Some((b, retired.clone(), self.graph.between(branch.head, from), branch.active.clone()))
        });
        let Some((old, retired, way, active)) = old else { return };
        self.retire(made, from, rollback, None);
        for x in way.into_iter().filter_map(|(_, x)| x).chain(active.iter().copied()) {
            self.bring_back(x, rollback);
        }
        self.graph.edit_branch(old, |branch| branch.retired = None);
        self.graph.current = old;
        self.gates.extend(retired.gates.iter().cloned());
        // A pause that a person asked for after the rollback is not undone with it.
        let is_held = self.status == RunStatus::Paused && retired.status.is_active();
        if !is_held {
            self.status = retired.status;
            self.pause_reason = retired.pause_reason;
            self.pause_requested = retired.pause_requested;
        }
        self.times.completed = retired.completed_at;
        self.fail_cut_off(at);
    }

    fn bring_back(&mut self, x: ExecNo, rollback: RollbackId) {
        let Some(execution) = self.graph.any_execution(x).filter(|e| e.rolled_back == Some(rollback)) else {
            return;
        };
        let (state, passed) = (execution.state, execution.is_passed_over());
        self.edit(x, |e| e.rolled_back = None);
        match state {
            ExecutionState::Completed => self.completed += 1,
            ExecutionState::Failed if passed => {}
            ExecutionState::Failed => self.failed += 1,
            ExecutionState::Pending
            | ExecutionState::AwaitingStart
            | ExecutionState::Working(_)
            | ExecutionState::AwaitingComplete => {}
        }
    }

    fn uncount(&mut self, execution: &Execution) {
        match execution.state {
            ExecutionState::Completed => self.completed = self.completed.saturating_sub(1),
            ExecutionState::Failed if execution.is_passed_over() => {}
            ExecutionState::Failed => self.failed = self.failed.saturating_sub(1),
            ExecutionState::Pending
            | ExecutionState::AwaitingStart
            | ExecutionState::Working(_)
            | ExecutionState::AwaitingComplete => {}
        }
    }

    /// The whole run leaves the active views; its executions stay as they are.
    pub(super) fn remove(&mut self, rollback: RollbackId, archive: &Text) {
        let outputs: usize = self.executions().map(|(_, e)| 1 + e.artifacts.len()).sum();
        self.rows.archived += 1 + outputs as u32;
        self.owed = imbl::OrdMap::new();
        self.timers = Timers::default();
        self.gone = Some(Gone { rollback, archive: archive.clone() });
    }

    /// The run that a rollback removed is back.
    pub(super) fn restore(&mut self, rollback: RollbackId, at: Timestamp) {
        if self.gone.as_ref().is_none_or(|gone| gone.rollback != rollback) {
            return;
        }
        self.gone = None;
        self.fail_cut_off(at);
    }

    /// Work that was in flight when a rollback ended it comes back failed, in a paused run: it was killed, and must
    /// not start again by itself.
    fn fail_cut_off(&mut self, at: Timestamp) {
        let cut: Vec<ExecNo> = self.active().filter(|(_, e)| e.state.in_flight()).map(|(x, _)| x).collect();
        for x in &cut {
            self.stop_work(*x);
            self.edit(*x, |e| {
                e.state = ExecutionState::Failed;
                e.errors += 1;
                e.times.failed = Some(at);
                let message = "the work was stopped by a rollback that was undone";
                e.last_error = Some((at, Failure::new(FailureKind::RolledBack, message)));
            });
            self.failed += 1;
        }
        // A run that moves has no failed step.
        if !cut.is_empty() || (self.status == RunStatus::InProgress && self.failed > 0) {
            self.status = RunStatus::Paused;
            let reason = if cut.is_empty() { PauseReason::StepFailed } else { PauseReason::Restored };
            self.pause_reason = Some(reason);
            self.pause_requested = false;
            self.times.paused = Some(at);
        }
    }
}
