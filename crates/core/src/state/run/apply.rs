//! Folding the events of a run.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};

use super::{
    Branch, EffectId, EffectKind, Execution, ExecutionState, ExecutionTimes, Gate, GateKind, Node, NodeKind,
    Output, Part, Round, RunState, RunStatus, Stage, TimerId, TimerKind, Way,
};
use crate::budget::{Amounts, Scope};
use crate::event::{Made, Opening, Place, RunEvent, Text, Usage};
use crate::state::Stamp;
use crate::{ActorKind, BranchNo, Digest, ExecNo, GateId, NodeNo, StepId, Timestamp};

/// The name of the person who did it.
fn person(stamp: &Stamp<'_>) -> Option<Text> {
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
                self.branches.insert(BranchNo(0), Arc::default());
            }
            RunEvent::Began {} => {
                self.status = RunStatus::InProgress;
                self.times.started = Some(at);
                self.started_by = person(stamp);
            }
            RunEvent::ExecutionMade {
                x,
                id,
                place,
                position,
                name,
                body,
                max_attempts,
                max_revisions,
                held,
            } => {
                let made = Execution {
                    id: *id,
                    place: place.clone(),
                    position: *position,
                    name: name.clone(),
                    body: *body,
                    state: ExecutionState::Pending,
                    revision: 0,
                    attempt: 1,
                    max_attempts: *max_attempts,
                    granted: 0,
                    max_revisions: *max_revisions,
                    check_retries: 0,
                    restarts: 0,
                    held_back: *held,
                    times: ExecutionTimes { created: at, ..ExecutionTimes::default() },
                    artifacts: Vec::new(),
                    verdict: None,
                    feedback: Vec::new(),
                    notes: Vec::new(),
                    input: None,
                    author: None,
                    errors: 0,
                    last_error: None,
                    usage: Usage::default(),
                    raised: Amounts::default(),
                };
                self.make_execution(*x, made);
            }
            RunEvent::StepSkipped { place } => {
                self.back_at(place);
                self.node_done(place);
            }
            RunEvent::StartAsked { x, gate, digest } => {
                self.open(*gate, GateKind::ApproveStart, Some(*x), Some(*digest), at);
                self.edit(*x, |e| e.state = ExecutionState::AwaitingStart(*gate));
            }
            RunEvent::StartApproved { gate, .. } | RunEvent::CompletionApproved { gate, .. } => {
                self.close(gate);
                self.rows.interactions += 1;
            }
            RunEvent::StartRejected { x, gate, .. } => {
                self.close(gate);
                self.rows.interactions += 1;
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
                self.close(gate);
                self.rows.interactions += 1;
                self.edit(*x, |e| e.input = Some(text.clone()));
                self.owe(*x, Part::Work, *deadline);
            }
            RunEvent::ArtifactMade { x, made } => self.keep_output(*x, made, at),
            RunEvent::WorkDone { x, judge, usage, .. } => {
                self.settle(*x, Part::Work);
                self.spend(*x, *usage);
                if *judge {
                    self.owe(*x, Part::Check, None);
                }
            }
            RunEvent::Checked { x, passed, reasons, usage } => {
                self.settle(*x, Part::Check);
                self.spend(*x, *usage);
                self.edit(*x, |e| {
                    e.verdict = Some((*passed, reasons.clone()));
                    if !*passed {
                        e.check_retries += 1;
                        e.feedback.extend(reasons.iter().cloned());
                    }
                });
            }
            RunEvent::GuidanceAsked { x, gate } => {
                self.open(*gate, GateKind::Guidance, Some(*x), None, at);
                self.edit(*x, |e| e.state = ExecutionState::Working(Stage::Guidance(*gate)));
            }
            RunEvent::GuidanceGiven { x, gate, text } => {
                self.close(gate);
                self.rows.interactions += 1;
                self.edit(*x, |e| e.feedback.push(text.clone()));
            }
            RunEvent::BudgetAsked { x, gate, reached, check } => {
                self.stop_work(*x);
                self.open(*gate, GateKind::Budget, Some(*x), None, at);
                if let Some(gate) = self.gates.get_mut(gate) {
                    Arc::make_mut(gate).budget = Some((*reached, *check));
                }
                self.edit(*x, |e| e.state = ExecutionState::Working(Stage::Budget(*gate)));
            }
            RunEvent::BudgetRaised { x, gate, scope, by, check, deadline } => {
                self.close(gate);
                self.rows.interactions += 1;
                match scope {
                    Scope::Execution => self.edit(*x, |e| e.raised = e.raised.plus(*by)),
                    Scope::Run => self.raised = self.raised.plus(*by),
                    // What all runs may spend together is the pipeline's to know.
                    Scope::Pipeline => {}
                }
                self.owe(*x, if *check { Part::Check } else { Part::Work }, *deadline);
            }
            RunEvent::CompletionAsked { x, gate, digest } => {
                self.settle(*x, Part::Work);
                self.open(*gate, GateKind::ApproveComplete, Some(*x), Some(*digest), at);
                self.edit(*x, |e| e.state = ExecutionState::AwaitingComplete(*gate));
            }
            RunEvent::RevisionAsked { x, gate, feedback } => {
                self.close(gate);
                self.rows.interactions += 1;
                self.edit(*x, |e| e.feedback = vec![feedback.clone()]);
            }
            RunEvent::ArtifactPromoted { x, record } => self.edit(*x, |e| {
                for output in e.artifacts.iter_mut().filter(|output| output.made.record == *record) {
                    output.promoted_at = Some(at);
                }
            }),
            RunEvent::ExecutionCompleted { x, usage, .. } => {
                self.settle(*x, Part::Work);
                self.spend(*x, *usage);
                self.complete(*x, at);
            }
            RunEvent::AttemptFailed { x, failure, retry_at, usage } => {
                self.stop_work(*x);
                self.spend(*x, *usage);
                self.edit(*x, |e| {
                    e.state = ExecutionState::Working(Stage::Retry);
                    e.errors += 1;
                    e.last_error = Some((at, failure.clone()));
                });
                self.set_timer(*x, TimerKind::Retry, *retry_at);
            }
            RunEvent::ExecutionFailed { x, failure, usage } => {
                self.close_of(*x);
                self.stop_work(*x);
                self.spend(*x, *usage);
                self.edit(*x, |e| {
                    e.state = ExecutionState::Failed;
                    e.errors += 1;
                    e.last_error = Some((at, failure.clone()));
                    e.times.failed = Some(at);
                });
                self.failed += 1;
            }
            RunEvent::RetryGranted { x, revision } => {
                self.failed = self.failed.saturating_sub(1);
                self.edit(*x, |e| {
                    e.times.failed = None;
                    if *revision {
                        e.max_revisions = e.max_revisions.saturating_add(1);
                    } else {
                        let more = (e.used_attempts().saturating_add(1)).saturating_sub(e.max_attempts);
                        e.max_attempts = e.max_attempts.saturating_add(more);
                        e.granted = e.granted.saturating_add(more);
                    }
                });
            }
            RunEvent::GateAsked { gate, place, choice } => {
                let asked = Gate {
                    n: self.rows.gates,
                    kind: GateKind::Choice,
                    x: None,
                    revision: 0,
                    digest: None,
                    opened_at: at,
                    budget: None,
                    approvals: Vec::new(),
                    choice: Some((place.clone(), choice.clone())),
                };
                self.rows.gates += 1;
                self.gates.insert(*gate, Arc::new(asked));
                self.back_at(place);
                self.branch(place.branch, |b| {
                    b.asking.insert(*gate);
                });
            }
            RunEvent::GateAnswered { gate, .. } => self.answer_choice(gate),
            RunEvent::Repeated { place, steps } => self.branch(place.branch, |b| {
                for step in steps {
                    *b.repeats.entry(step.clone()).or_insert(1) += 1;
                    b.joins.remove(step);
                    if *step != place.step {
                        let way = Way { gate: place.step.clone(), done: false };
                        b.ways.insert(step.clone(), way);
                    } else if let Some(way) = b.ways.get_mut(step) {
                        // The gate itself is on the way back to another one.
                        way.done = false;
                    }
                }
                // The steps on the way count as children that are not done, once more.
                if let Some(round) = place.path.last().and_then(|(around, _)| b.rounds.get_mut(around)) {
                    round.left = round.left.saturating_add(steps.len() as u32);
                }
            }),
            RunEvent::SkipsAdded { branch, steps } => {
                self.branch(*branch, |b| b.skips.extend(steps.iter().cloned()));
            }
            RunEvent::Joined { branch, step, arrived } => self.branch(*branch, |b| {
                if *arrived == 0 {
                    b.joins.remove(step);
                } else {
                    b.joins.insert(step.clone(), *arrived);
                }
            }),
            RunEvent::RoundBegan { branch, step, iteration, children } => self.branch(*branch, |b| {
                b.rounds.insert(step.clone(), Round { iteration: *iteration, left: *children });
            }),
            RunEvent::RoundsEnded { place } => {
                self.branch(place.branch, |b| {
                    b.rounds.remove(&place.step);
                });
                self.node_done(place);
            }
            RunEvent::Forked { branch, from } => {
                let forked = Branch { head: Some(*from), ..Branch::default() };
                self.branches.insert(*branch, Arc::new(forked));
            }
            RunEvent::Checkpointed { branch, .. } => self.add_node(*branch, NodeKind::Checkpoint, true),
            RunEvent::AttemptBlocked { branch, .. } => {
                self.add_node(*branch, NodeKind::BlockedAttempt, false);
            }
            RunEvent::ContextMerged { branch, delta } => self.branch(*branch, |b| {
                for (key, value) in delta {
                    b.context.insert(key.as_str().into(), value.clone());
                }
            }),
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
            RunEvent::Rewound { rollback, keep, archive } => self.rewind(*rollback, *keep, archive),
            RunEvent::Removed { rollback, archive } => self.remove(*rollback, archive),
            RunEvent::Unwound { rollback } => self.unwind(*rollback, at),
        }
    }

    pub(super) fn edit(&mut self, x: ExecNo, change: impl FnOnce(&mut Execution)) {
        if let Some(execution) = self.executions.get_mut(&x) {
            change(Arc::make_mut(execution));
        }
    }

    pub(super) fn branch(&mut self, branch: BranchNo, change: impl FnOnce(&mut Branch)) {
        if let Some(branch) = self.branches.get_mut(&branch) {
            change(Arc::make_mut(branch));
        }
    }

    fn make_execution(&mut self, x: ExecNo, execution: Execution) {
        let place = execution.place.clone();
        self.executions.insert(x, Arc::new(execution));
        self.visits = self.visits.max(x.0);
        self.branch(place.branch, |b| {
            b.active.insert(x);
        });
    }

    fn begin_attempt(
        &mut self,
        x: ExecNo,
        revision: u32,
        attempt: u32,
        opening: Opening,
        deadline: Option<Timestamp>,
        at: Timestamp,
    ) {
        // What is owed is named after its attempt, so the old attempt's goes before the new one is numbered.
        let too_late = planted(Bug::WrongFoldOrder);
        if !too_late {
            self.stop_work(x);
        }
        self.edit(x, |e| {
            if revision > e.revision {
                e.check_retries = 0;
                e.max_attempts = e.max_attempts.saturating_sub(e.granted);
                e.granted = 0;
            }
            e.revision = revision;
            e.attempt = attempt;
            e.restarts = 0;
            e.held_back = false;
            e.artifacts.clear();
            e.verdict = None;
            e.author = None;
            e.times.started.get_or_insert(at);
        });
        if too_late {
            self.stop_work(x);
        }
        match opening {
            Opening::Work => self.owe(x, Part::Work, deadline),
            Opening::Form(gate) => {
                self.open(gate, GateKind::Form, Some(x), None, at);
                self.edit(x, |e| e.state = ExecutionState::Working(Stage::Form(gate)));
            }
            Opening::Input(gate) => {
                self.open(gate, GateKind::Input, Some(x), None, at);
                self.edit(x, |e| {
                    e.state = ExecutionState::Working(Stage::Input(gate));
                    e.input = None;
                });
            }
        }
    }

    fn keep_output(&mut self, x: ExecNo, made: &Made, at: Timestamp) {
        let output = Output { n: self.rows.artifacts, made: made.clone(), created_at: at, promoted_at: None };
        self.rows.artifacts += 1;
        self.edit(x, |e| {
            // A later output of the same name stands in its place; the earlier one stays in the log.
            e.artifacts.retain(|other| other.made.name != output.made.name);
            e.artifacts.push(output);
        });
    }

    fn owe(&mut self, x: ExecNo, part: Part, deadline: Option<Timestamp>) {
        let Some(execution) = self.execution(x) else { return };
        let id = EffectId { x, revision: execution.revision, attempt: execution.attempt, part };
        let (kind, stage) = match part {
            Part::Work => (EffectKind::DoWork, Stage::Work),
            Part::Check => (EffectKind::Judge, Stage::Check),
        };
        self.owed.insert(id, kind);
        self.edit(x, |e| e.state = ExecutionState::Working(stage));
        if let Some(deadline) = deadline {
            self.set_timer(x, TimerKind::Timeout, deadline);
        }
    }

    fn set_timer(&mut self, x: ExecNo, kind: TimerKind, at: Timestamp) {
        let Some(execution) = self.execution(x) else { return };
        let id = TimerId { x, revision: execution.revision, attempt: execution.attempt, kind };
        self.timers.insert(id, at);
    }

    /// A part of the present attempt is done: it is not owed any more.
    fn settle(&mut self, x: ExecNo, part: Part) {
        let Some(execution) = self.execution(x) else { return };
        let id = EffectId { x, revision: execution.revision, attempt: execution.attempt, part };
        self.owed.remove(&id);
        self.clear_timers(x);
    }

    fn clear_timers(&mut self, x: ExecNo) {
        let Some(execution) = self.execution(x).filter(|_| !self.timers.is_empty()) else { return };
        let (revision, attempt) = (execution.revision, execution.attempt);
        for kind in [TimerKind::Retry, TimerKind::Timeout] {
            self.timers.remove(&TimerId { x, revision, attempt, kind });
        }
    }

    /// Nothing of an execution is owed any more.
    pub(super) fn stop_work(&mut self, x: ExecNo) {
        self.settle(x, Part::Work);
        self.settle(x, Part::Check);
    }

    fn spend(&mut self, x: ExecNo, usage: Usage) {
        if !usage.is_zero() {
            self.usage = self.usage.plus(usage);
            self.edit(x, |e| e.usage = e.usage.plus(usage));
        }
    }

    fn open(&mut self, id: GateId, kind: GateKind, x: Option<ExecNo>, digest: Option<Digest>, at: Timestamp) {
        let revision = x.and_then(|x| self.execution(x)).map_or(0, |e| e.revision);
        let gate = Gate {
            n: self.rows.gates,
            kind,
            x,
            revision,
            digest,
            opened_at: at,
            budget: None,
            approvals: Vec::new(),
            choice: None,
        };
        self.rows.gates += 1;
        self.gates.insert(id, Arc::new(gate));
    }

    fn close(&mut self, gate: &GateId) {
        self.gates.remove(gate);
    }

    /// Closes all questions of an execution.
    pub(super) fn close_of(&mut self, x: ExecNo) {
        if let Some(gate) = self.execution(x).and_then(|e| e.state.gate()) {
            self.gates.remove(&gate);
        }
    }

    fn answer_choice(&mut self, gate: &GateId) {
        let Some(asked) = self.gates.remove(gate) else { return };
        self.rows.interactions += 1;
        if let Some((place, _)) = &asked.choice {
            self.branch(place.branch, |b| {
                b.asking.remove(gate);
            });
            // Answered in any way, the gate itself is a child that is done; repeating it opens it anew.
            self.node_done(place);
        }
    }

    fn complete(&mut self, x: ExecNo, at: Timestamp) {
        self.edit(x, |e| {
            e.state = ExecutionState::Completed;
            e.times.completed = Some(at);
            e.feedback.clear();
        });
        self.completed += 1;
        let Some(place) = self.execution(x).map(|e| e.place.clone()) else { return };
        self.branch(place.branch, |b| {
            b.active.remove(&x);
        });
        self.add_node(place.branch, NodeKind::Step(x), true);
        self.node_done(&place);
    }

    /// A step, gate or container is done: one child less for what is around it, and its way back is gone.
    fn node_done(&mut self, place: &Place) {
        self.branch(place.branch, |b| {
            if let Some(round) = place.path.last().and_then(|(around, _)| b.rounds.get_mut(around)) {
                round.left = round.left.saturating_sub(1);
            }
            if let Some(way) = b.ways.get_mut(&place.step) {
                way.done = true;
            }
        });
    }

    /// A gate is reached (or left out): who was on the way back to it has arrived.
    fn back_at(&mut self, place: &Place) {
        self.branch(place.branch, |b| {
            let arrived = b.ways.iter().filter(|(_, way)| way.gate == place.step);
            let arrived: Vec<StepId> = arrived.map(|(step, _)| step.clone()).collect();
            for step in arrived {
                b.ways.remove(&step);
            }
        });
    }

    fn add_node(&mut self, branch: BranchNo, kind: NodeKind, moves_head: bool) {
        let no = NodeNo(self.nodes.get_max().map_or(0, |(no, _)| no.0).saturating_add(1));
        let parent = self.branches.get(&branch).and_then(|b| b.head);
        self.nodes.insert(no, Arc::new(Node { parent, kind, branch }));
        if moves_head {
            self.branch(branch, |b| b.head = Some(no));
        }
    }

    fn end(&mut self, status: RunStatus, at: Timestamp) {
        self.status = status;
        self.pause_requested = false;
        self.pause_reason = None;
        self.times.completed = Some(at);
        self.owed = imbl::OrdMap::new();
        self.timers = imbl::OrdMap::new();
        let gates = std::mem::take(&mut self.gates);
        for x in gates.values().filter(|gate| gate.kind == GateKind::ApproveStart).filter_map(|gate| gate.x) {
            self.edit(x, |e| e.state = ExecutionState::Pending);
        }
        let asking: Vec<BranchNo> =
            self.branches.iter().filter(|(_, b)| !b.asking.is_empty()).map(|(no, _)| *no).collect();
        for branch in asking {
            self.branch(branch, |b| b.asking = imbl::OrdSet::new());
        }
    }
}
