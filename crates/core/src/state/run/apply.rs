//! Folding the events of a run: one line per event, the work is done beside.

use std::sync::Arc;

use super::attempts::Fresh;
use super::{Cause, ExecutionState, GateKind, Part, RunState, RunStatus, Stage, Timers};
use crate::event::{RunEvent, Text};
use crate::state::Stamp;
use crate::{ActorKind, BranchNo, GateId, Timestamp};

/// The name of the person who did it.
pub(super) fn person(stamp: &Stamp<'_>) -> Option<Text> {
    (stamp.actor.kind == ActorKind::Person).then(|| stamp.actor.name.clone())
}

impl RunState {
    /// Folds one event in.
    pub fn apply(&mut self, stamp: &Stamp<'_>, event: &RunEvent) {
        let at = stamp.at;
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
                },
                stamp,
            ),
            RunEvent::FrontMoved { branch, delta } => self.graph.moved(*branch, delta, stamp.command),
            RunEvent::StartAsked { x, gate, digest } => {
                self.open(*gate, GateKind::ApproveStart, Some(*x), Some(*digest), at);
                self.edit(*x, |e| e.state = ExecutionState::AwaitingStart(*gate));
            }
            RunEvent::StartApproved { gate, .. } | RunEvent::CompletionApproved { gate, .. } => {
                self.answered(gate);
            }
            RunEvent::StartRejected { x, gate, .. } => {
                self.answered(gate);
                self.edit(*x, |e| {
                    e.state = ExecutionState::Pending;
                    e.held_back = true;
                });
            }
            RunEvent::AttemptBegan { x, revision, attempt, opening, deadline } => {
                self.begin_attempt(*x, *revision, *attempt, *opening, *deadline, at);
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
            RunEvent::FormSubmitted { x, gate, .. } => {
                self.close(gate);
                self.edit(*x, |e| e.author = person(stamp));
            }
            RunEvent::InputGiven { x, gate, text, deadline } => {
                self.answered(gate);
                self.edit(*x, |e| e.input = Some(text.clone()));
                self.owe(*x, Part::Work, *deadline);
            }
            RunEvent::ArtifactMade { x, made } => self.keep_output(*x, made, at),
            RunEvent::WorkDone { x, judge, usage, .. } => self.work_done(*x, *judge, *usage),
            RunEvent::Checked { x, passed, reasons, usage } => self.checked(*x, *passed, reasons, *usage),
            RunEvent::GuidanceAsked { x, gate } => {
                self.open(*gate, GateKind::Guidance, Some(*x), None, at);
                self.edit(*x, |e| e.state = ExecutionState::Working(Stage::Guidance(*gate)));
            }
            RunEvent::GuidanceGiven { x, gate, text } => {
                self.answered(gate);
                self.edit(*x, |e| e.feedback.push(text.clone()));
            }
            RunEvent::BudgetAsked { x, gate, reached, check } => {
                self.ask_about_budget(*x, *gate, *reached, *check, at);
            }
            RunEvent::BudgetRaised { x, gate, scope, by, check, deadline } => {
                self.raise_budget(*x, *gate, *scope, *by, *check, *deadline);
            }
            RunEvent::CompletionAsked { x, gate, digest } => {
                self.settle(*x, Part::Work);
                self.open(*gate, GateKind::ApproveComplete, Some(*x), Some(*digest), at);
                self.edit(*x, |e| e.state = ExecutionState::AwaitingComplete(*gate));
            }
            RunEvent::RevisionAsked { x, gate, feedback } => {
                self.answered(gate);
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
            RunEvent::RetryGranted { x, revision } => self.grant_retry(*x, *revision),
            RunEvent::GateAsked { gate, branch, place, choice } => {
                self.ask_choice(*gate, *branch, place, choice, stamp);
            }
            RunEvent::GateAnswered { gate, .. } => self.answer_choice(*gate, stamp),
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
            RunEvent::Completed {} => self.end(RunStatus::Completed, at),
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
            RunEvent::StepSkipped { .. } | RunEvent::LoopEnded { .. } => {}
        }
    }

    fn answered(&mut self, gate: &GateId) {
        self.close(gate);
        self.rows.interactions += 1;
    }

    fn end(&mut self, status: RunStatus, at: Timestamp) {
        self.status = status;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = Some(at);
        self.owed = imbl::OrdMap::new();
        self.timers = Timers::default();
        let gates = std::mem::take(&mut self.gates);
        for x in gates.values().filter(|gate| gate.kind == GateKind::ApproveStart).filter_map(|gate| gate.x) {
            self.edit(x, |e| e.state = ExecutionState::Pending);
        }
        let asking: Vec<BranchNo> =
            self.live_branches().filter(|(_, b)| !b.asking.is_empty()).map(|(no, _)| no).collect();
        for branch in asking {
            self.graph.edit_branch(branch, |b| b.asking = imbl::OrdSet::new());
        }
    }
}
