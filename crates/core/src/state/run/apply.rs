//! Folding the events of a run: one line per event, the work is done beside.

use std::sync::Arc;

use super::attempts::Fresh;
use super::gates::Opened;
use super::{Ask, Cause, ExecutionState, RunState, RunStatus, Snapshot, Timers};
use crate::event::{RunEvent, Text};
use crate::state::Stamp;
use crate::{ActorKind, BranchNo, Timestamp};

/// The name of the person who did it.
pub(super) fn person(stamp: &Stamp<'_>) -> Option<Text> {
    (stamp.actor.kind == ActorKind::Person).then(|| stamp.actor.name.clone())
}

impl RunState {
    /// Folds one event in.
    pub fn apply(&mut self, stamp: &Stamp<'_>, event: &RunEvent) {
        let at = stamp.at;
        self.rows.events += 1;
        match event {
            RunEvent::Made { origin, plan, total } => {
                self.origin = Some(origin.clone());
                self.plan = Some(*plan);
                self.total = *total;
                self.times.created = at;
            }
            RunEvent::Began {} => {
                self.status = RunStatus::InProgress;
                self.times.started = Some(at);
                self.started_by = person(stamp);
                self.graph.start(stamp.command);
            }
            RunEvent::ExecutionMade {
                x,
                branch,
                place,
                position,
                name,
                body,
                max_attempts,
                max_revisions,
                held,
                feedback,
                outside,
            } => self.make_execution(
                &Fresh {
                    x: *x,
                    branch: *branch,
                    place,
                    position: *position,
                    name: name.as_ref(),
                    body: *body,
                    max_attempts: *max_attempts,
                    max_revisions: *max_revisions,
                    held: *held,
                    feedback: feedback.as_ref(),
                    outside: *outside,
                },
                stamp,
            ),
            RunEvent::FrontMoved { branch, delta } => self.graph.moved(*branch, delta, stamp.command),
            RunEvent::Asked { x, gate, ask, digest, minimum, expires } => {
                let (digest, minimum, expires) = (*digest, *minimum, *expires);
                self.ask(*x, &Opened { gate: *gate, ask, digest, minimum, expires }, at);
            }
            RunEvent::Approved { gate, .. } => self.answered(*gate),
            RunEvent::Rejected { x, gate, .. } => self.rejected(*x, *gate),
            RunEvent::Submitted { x, gate, fields, text, deadline, .. } => {
                self.submitted(*x, *gate, fields, text.as_ref(), *deadline, person(stamp));
            }
            RunEvent::AttemptBegan { x, revision, attempt, deadline } => {
                self.begin_attempt(*x, *revision, *attempt, *deadline, at);
            }
            // The attempt is the same one. How often it was started is limited.
            RunEvent::AttemptRestarted { x } => self.edit(*x, |e| e.restarts += 1),
            RunEvent::NoteQueued { x, text } => self.edit(*x, |e| e.notes.push(text.clone())),
            RunEvent::ApprovalGiven { gate, .. } => {
                self.rows.interactions += 1;
                if let Some(gate) = self.gates.get_mut(gate) {
                    Arc::make_mut(gate).approvals.extend(person(stamp));
                }
            }
            RunEvent::ArtifactMade { x, made } => self.keep_output(*x, made, at),
            RunEvent::WorkDone { x, judge, context, usage, .. } => {
                self.work_done(*x, *judge, context, *usage)
            }
            RunEvent::Checked { x, passed, reasons, usage } => self.checked(*x, *passed, reasons, *usage),
            RunEvent::BudgetRaised { x, gate, scope, by, deadline, .. } => {
                self.raise_budget(*x, *gate, *scope, *by, *deadline);
            }
            RunEvent::RevisionAsked { x, gate, feedback, .. } => {
                self.answered(*gate);
                self.edit(*x, |e| e.feedback = vec![feedback.clone()]);
            }
            RunEvent::ArtifactPromoted { x, record } => self.edit(*x, |e| {
                for output in e.artifacts.iter_mut().filter(|output| output.made.record == *record) {
                    output.promoted_at = Some(at);
                }
            }),
            RunEvent::ExecutionCompleted { x, usage, .. } => self.complete(*x, *usage, stamp),
            RunEvent::AttemptFailed { x, failure, retry_at, usage } => {
                self.fail_attempt(*x, failure, *retry_at, *usage, at);
            }
            RunEvent::ExecutionFailed { x, failure, usage } => self.fail(*x, failure, *usage, at),
            RunEvent::PassedOver { x } => self.pass_over(*x, stamp),
            RunEvent::RetryGranted { x, gate, revision, .. } => {
                self.answered(*gate);
                self.grant_retry(*x, *revision);
            }
            RunEvent::GateAsked { gate, branch, place, choice, digest, minimum, expires } => {
                let (ask, digest, minimum, expires) =
                    (&Ask::Choice(choice.clone()), *digest, *minimum, *expires);
                let opened = Opened { gate: *gate, ask, digest, minimum, expires };
                self.ask_choice(&opened, *branch, place, stamp);
            }
            RunEvent::GateAnswered { gate, option, .. } => self.answer_choice(*gate, option, stamp),
            RunEvent::PauseAsked {} => self.pause_requested = true,
            RunEvent::PauseDropped {} => self.pause_requested = false,
            RunEvent::Paused { reason } => {
                self.status = RunStatus::Paused;
                self.pause_requested = false;
                self.pause_reason = Some(*reason);
                self.times.paused = Some(at);
            }
            RunEvent::Resumed {} => {
                self.status = RunStatus::InProgress;
                self.pause_reason = None;
                self.times.resumed = Some(at);
            }
            RunEvent::HandedIn { x, at, attempt, output, context } => {
                self.hand_in(*x, *at, *attempt, output.as_ref(), context);
                let row = self.rows.events;
                self.edit(*x, |e| e.handed_row = row);
            }
            RunEvent::Blocked { x, at, attempt, why, changes } => {
                self.block(*x, *at, *attempt, why, *changes, stamp);
            }
            RunEvent::SnapshotTaken { at: node, snapshot, trigger, tags, tree, output } => {
                let (id, trigger, tags, output) = (*snapshot, trigger.clone(), tags.clone(), output.clone());
                self.take_snapshot(*node, Snapshot { id, at, trigger, tags, tree: *tree, output });
            }
            RunEvent::Reopened {} => {
                self.status = RunStatus::InProgress;
                self.times.completed = None;
            }
            RunEvent::Completed {} => self.complete_run(at),
            RunEvent::Failed { .. } => self.end(RunStatus::Failed, at),
            RunEvent::Aborted { .. } => self.end(RunStatus::Aborted, at),
            RunEvent::Forked { branch, from } => self.fork(*branch, *from, Cause::Fork),
            RunEvent::RolledBack { branch, from, retires, rollback, archive } => {
                self.roll_back(*branch, *from, *retires, Cause::Rollback(*rollback), Some(archive));
            }
            RunEvent::Recovered { branch, from, retires, rollback } => {
                self.roll_back(*branch, *from, *retires, Cause::Recover(*rollback), None);
            }
            RunEvent::Undone { rollback } => self.undo(*rollback, at),
            RunEvent::RunRemoved { rollback, archive } => self.remove(*rollback, archive),
            RunEvent::RunRestored { rollback } => self.restore(*rollback, at),
            // For people to see: the front of a skipped step or an ended loop moves by `FrontMoved`.
            RunEvent::StepSkipped { .. } | RunEvent::LoopEnded { .. } | RunEvent::Warned { .. } => {}
        }
    }

    /// All is done on the current branch. Gates of other branches stay open: an answer there opens the run again.
    fn complete_run(&mut self, at: Timestamp) {
        self.status = RunStatus::Completed;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = Some(at);
    }

    fn end(&mut self, status: RunStatus, at: Timestamp) {
        self.status = status;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = Some(at);
        self.owed = imbl::OrdMap::new();
        self.timers = Timers::default();
        let gates = std::mem::take(&mut self.gates);
        for x in gates.values().filter_map(|gate| gate.x) {
            self.edit(x, |e| {
                e.gate = None;
                if e.state == ExecutionState::AwaitingStart {
                    e.state = ExecutionState::Pending;
                }
            });
        }
        let asking: Vec<BranchNo> =
            self.live_branches().filter(|(_, b)| !b.asking.is_empty()).map(|(no, _)| no).collect();
        for branch in asking {
            self.graph.edit_branch(branch, |b| b.asking = imbl::OrdSet::new());
        }
    }
}
