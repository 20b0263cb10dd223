//! Folding what happens to an execution: attempts, owed work, outputs, failures.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};

use super::{
    AckTo, EffectId, EffectKind, Execution, ExecutionState, ExecutionTimes, Handed, NodeKind, Output, Part,
    RunState, Stage, TimerId, TimerKind,
};
use crate::budget::Amounts;
use crate::event::{Failure, Made, Place, Text, Usage};
use crate::state::Stamp;
use crate::{BranchNo, Digest, ExecNo, Timestamp};

/// What the event says of a new execution.
pub(super) struct Fresh<'a> {
    pub x: ExecNo,
    pub branch: BranchNo,
    pub place: &'a Place,
    pub position: u32,
    pub name: Option<&'a Text>,
    pub body: Option<Digest>,
    pub max_attempts: u32,
    pub max_revisions: u32,
    pub held: bool,
    pub feedback: Option<&'a Text>,
    pub outside: bool,
}

impl RunState {
    pub(super) fn make_execution(&mut self, fresh: &Fresh<'_>, stamp: &Stamp<'_>) {
        let execution = Execution {
            id: self.id().execution(fresh.x),
            row: self.rows.events,
            branch: fresh.branch,
            place: fresh.place.clone(),
            node: None,
            rolled_back: None,
            position: fresh.position,
            name: fresh.name.cloned(),
            body: fresh.body,
            // A client need not be started: it asks what there is to do.
            state: if fresh.outside && !fresh.held {
                ExecutionState::Working(Stage::Client)
            } else {
                ExecutionState::Pending
            },
            gate: None,
            revision: 0,
            attempt: 1,
            max_attempts: fresh.max_attempts,
            granted: 0,
            max_revisions: fresh.max_revisions,
            check_retries: 0,
            restarts: 0,
            outside: fresh.outside,
            handed: None,
            handed_row: 0,
            blocks: 0,
            held_back: fresh.held,
            times: ExecutionTimes { created: stamp.at, ..ExecutionTimes::default() },
            artifacts: Vec::new(),
            verdict: None,
            feedback: fresh.feedback.cloned().into_iter().collect(),
            notes: Vec::new(),
            input: None,
            fields: serde_json::Map::new(),
            author: None,
            errors: 0,
            last_error: None,
            usage: Usage::default(),
            raised: Amounts::default(),
        };
        self.graph.add_execution(fresh.x, execution, stamp.command);
    }

    pub(super) fn edit(&mut self, x: ExecNo, change: impl FnOnce(&mut Execution)) {
        self.graph.edit(x, change);
    }

    pub(super) fn begin_attempt(
        &mut self,
        x: ExecNo,
        revision: u32,
        attempt: u32,
        deadline: Option<Timestamp>,
        at: Timestamp,
    ) {
        self.answer_begin(x);
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
            e.handed = None;
            e.fields.clear();
            e.author = None;
            e.times.started.get_or_insert(at);
        });
        if too_late {
            self.stop_work(x);
        }
        if self.execution(x).is_some_and(|e| e.outside) {
            self.edit(x, |e| e.state = ExecutionState::Working(Stage::Client));
            return;
        }
        self.owe(x, Part::Work, deadline);
    }

    pub(super) fn keep_output(&mut self, x: ExecNo, made: &Made, at: Timestamp) {
        let output = Output { n: self.rows.events, made: made.clone(), created_at: at, promoted_at: None };
        self.edit(x, |e| {
            // A later output of the same name stands in its place; the earlier one stays in the log.
            e.artifacts.retain(|other| other.made.name != output.made.name);
            e.artifacts.push(output);
        });
    }

    pub(super) fn work_done(
        &mut self,
        x: ExecNo,
        judge: bool,
        context: &serde_json::Map<String, serde_json::Value>,
        usage: Usage,
    ) {
        self.settle(x, Part::Work);
        self.spend(x, usage);
        if !context.is_empty() {
            let handed = Handed { call: None, output: None, context: context.clone() };
            self.edit(x, |e| e.handed = Some(Arc::new(handed)));
        }
        if judge {
            self.owe(x, Part::Check, None);
        }
    }

    pub(super) fn checked(&mut self, x: ExecNo, passed: bool, reasons: &[Text], usage: Usage) {
        self.settle(x, Part::Check);
        self.spend(x, usage);
        self.edit(x, |e| {
            e.verdict = Some((passed, reasons.to_vec()));
            if !passed {
                e.check_retries += 1;
                e.feedback.extend(reasons.iter().cloned());
            }
        });
    }

    pub(super) fn complete(&mut self, x: ExecNo, usage: Usage, stamp: &Stamp<'_>) {
        self.settle(x, Part::Work);
        self.spend(x, usage);
        let Some(execution) = self.execution(x) else { return };
        let (branch, call) = (execution.branch, execution.handed.as_ref().and_then(|handed| handed.call));
        self.completed += 1;
        let from = call.map(|call| call.at);
        let node = self.graph.add_node(branch, NodeKind::Step(x), from, stamp.command);
        self.acknowledge(x, AckTo::Node(node));
        self.edit(x, |e| {
            e.handed = None;
            e.state = ExecutionState::Completed;
            e.times.completed = Some(stamp.at);
            e.feedback.clear();
            e.node = Some(node);
        });
    }

    pub(super) fn fail_attempt(
        &mut self,
        x: ExecNo,
        failure: &Failure,
        retry_at: Timestamp,
        usage: Usage,
        at: Timestamp,
    ) {
        self.stop_work(x);
        self.spend(x, usage);
        self.edit(x, |e| {
            e.state = ExecutionState::Working(Stage::Retry);
            e.errors += 1;
            e.last_error = Some((at, failure.clone()));
        });
        self.set_timer(x, TimerKind::Retry, retry_at);
    }

    pub(super) fn fail(&mut self, x: ExecNo, failure: &Failure, usage: Usage, at: Timestamp) {
        self.close_of(x);
        self.stop_work(x);
        self.spend(x, usage);
        self.edit(x, |e| {
            e.state = ExecutionState::Failed;
            e.errors += 1;
            e.last_error = Some((at, failure.clone()));
            e.times.failed = Some(at);
        });
        self.failed += 1;
    }

    /// The run continues without the result of a failed step.
    pub(super) fn pass_over(&mut self, x: ExecNo, stamp: &Stamp<'_>) {
        let Some(branch) = self.execution(x).map(|e| e.branch) else { return };
        self.close_of(x);
        // Nobody has to decide about it any more: it does not keep the run from moving.
        self.failed = self.failed.saturating_sub(1);
        let node = self.graph.add_node(branch, NodeKind::Step(x), None, stamp.command);
        self.edit(x, |e| e.node = Some(node));
    }

    pub(super) fn grant_retry(&mut self, x: ExecNo, revision: bool) {
        self.failed = self.failed.saturating_sub(1);
        self.edit(x, |e| {
            e.times.failed = None;
            if revision {
                e.max_revisions = e.max_revisions.saturating_add(1);
            } else {
                let more = (e.used_attempts().saturating_add(1)).saturating_sub(e.max_attempts);
                e.max_attempts = e.max_attempts.saturating_add(more);
                e.granted = e.granted.saturating_add(more);
            }
        });
    }

    pub(super) fn owe(&mut self, x: ExecNo, part: Part, deadline: Option<Timestamp>) {
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
        self.timers.set(id, at);
    }

    /// A part of the present attempt is done: it is not owed any more.
    pub(super) fn settle(&mut self, x: ExecNo, part: Part) {
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

    pub(super) fn spend(&mut self, x: ExecNo, usage: Usage) {
        if !usage.is_zero() {
            self.usage = self.usage.plus(usage);
            self.edit(x, |e| e.usage = e.usage.plus(usage));
        }
    }
}
