//! Attempts: each is begun once and comes to one outcome, within its bounds, and nothing happens early.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_core::event::{FailureKind, RunEvent};
use holdpoint_core::state::run::{Ask, ExecutionState, Part, Stage};
use holdpoint_core::{ActorKind, ExecNo, RunId, Timestamp};

use super::{Found, Moment};

/// The books on attempts.
#[derive(Default)]
pub struct Attempts {
    tried: BTreeMap<(RunId, ExecNo), Tried>,
    /// Executions that the present row has an outcome for.
    settled: BTreeSet<ExecNo>,
    /// Executions that the present row has a failed check for.
    checked: BTreeSet<ExecNo>,
}

/// One execution.
#[derive(Default)]
struct Tried {
    /// The last attempt, after the first.
    last: Option<(u32, u32)>,
    /// The part of it that is owed.
    open: Option<Part>,
    /// The part that goes on after an answer.
    waits: Option<Part>,
    retry_at: Option<Timestamp>,
    deadline: Option<Timestamp>,
    begun: u32,
    allowed: u32,
    more: u32,
    revisions: u32,
}

impl Attempts {
    /// Another row begins.
    pub fn begin_row(&mut self) {
        self.settled.clear();
        self.checked.clear();
    }

    /// Looks at one event.
    pub fn see(&mut self, moment: &Moment<'_>, event: &RunEvent) -> Found {
        let run = moment.run;
        let row = &moment.entry.row;
        let by_itself = row.actor.kind == ActorKind::System;
        let mut found = Vec::new();
        let mut wrong = |what: String| found.push(format!("{what} in run {run} at {}", row.seq.0));
        if let Some(x) = outcome_of(event)
            && by_itself
            && !ends_with_its_run(event)
            && self.settled.insert(x)
            && self.tried.get(&(run, x)).is_none_or(|tried| tried.open.is_none())
        {
            wrong(format!("I12: {} of {x} records an outcome of work that is not owed", event.kind()));
        }
        let checked = matches!(event, RunEvent::AttemptBegan { x, .. } if self.checked.contains(x));
        let Some(x) = execution_of(event) else {
            self.see_run(moment, event);
            return found;
        };
        let tried = self.tried.entry((run, x)).or_default();
        match event {
            RunEvent::ExecutionMade { max_attempts, max_revisions, .. } => {
                tried.allowed = *max_attempts;
                tried.revisions = *max_revisions;
                // A client may be at it as soon as it is made.
                if moment
                    .after
                    .execution(x)
                    .is_some_and(|e| e.state == ExecutionState::Working(Stage::Client))
                {
                    (tried.last, tried.begun) = (Some((0, 1)), 1);
                }
            }
            RunEvent::AttemptBegan { revision, attempt, deadline, .. } => {
                if let Some(what) = tried.begin(*revision, *attempt) {
                    wrong(format!("{what} of {x}"));
                }
                if by_itself && *attempt > 1 && !checked && tried.retry_at.is_none_or(|due| due > row.at) {
                    wrong(format!("I20: attempt {attempt} of {x} began before its time"));
                }
                tried.open = Some(Part::Work);
                (tried.retry_at, tried.deadline) = (None, *deadline);
            }
            // Only a script's question goes on with the work of the same attempt.
            RunEvent::Submitted { text: Some(_), deadline, .. } if tried.waits.is_some() => {
                tried.open = tried.waits.take();
                tried.deadline = *deadline;
            }
            RunEvent::Asked { ask, .. } => match ask {
                Ask::Form => (tried.open, tried.deadline) = (None, None),
                Ask::Input => (tried.open, tried.deadline, tried.waits) = (None, None, Some(Part::Work)),
                Ask::Budget(_, part) => (tried.open, tried.deadline, tried.waits) = (None, None, Some(*part)),
                Ask::Result => tried.open = None,
                // It begins when somebody has agreed, also where a client works.
                Ask::Start => (tried.last, tried.begun) = (None, 0),
                Ask::Begin | Ask::Guidance | Ask::Choice(_) | Ask::Failed | Ask::Blocked => {}
            },
            RunEvent::BudgetRaised { deadline, .. } => {
                tried.open = tried.waits.take();
                tried.deadline = *deadline;
            }
            RunEvent::WorkDone { judge, .. } => tried.open = judge.then_some(Part::Check),
            RunEvent::Checked { passed, .. } => {
                tried.open = None;
                if !passed {
                    tried.more += 1;
                    self.checked.insert(x);
                }
            }
            RunEvent::AttemptFailed { retry_at, .. } => {
                tried.open = None;
                tried.retry_at = Some(*retry_at);
            }
            RunEvent::ExecutionFailed { failure, .. } => {
                if failure.kind == FailureKind::Timeout && tried.deadline.is_none_or(|due| due > row.at) {
                    wrong(format!("I20: {x} ran out of time before its time"));
                }
                (tried.open, tried.waits) = (None, None);
            }
            RunEvent::ExecutionCompleted { .. } => tried.open = None,
            RunEvent::RetryGranted { revision, .. } => {
                if *revision {
                    tried.revisions += 1;
                } else {
                    tried.more += 1;
                }
            }
            _ => {}
        }
        found
    }

    /// Events that touch all executions of a run: what is gone or over owes nothing.
    fn see_run(&mut self, moment: &Moment<'_>, event: &RunEvent) {
        let over = match event {
            RunEvent::Completed {}
            | RunEvent::Failed { .. }
            | RunEvent::Aborted { .. }
            | RunEvent::RunRemoved { .. }
            | RunEvent::RunRestored { .. }
            | RunEvent::Undone { .. } => true,
            RunEvent::RolledBack { .. } => false,
            _ => return,
        };
        let of_run = self.tried.iter_mut().filter(|((run, _), _)| *run == moment.run);
        for ((_, x), tried) in of_run {
            if over || moment.after.execution(*x).is_none() {
                tried.open = None;
            }
        }
    }
}

impl Tried {
    /// I12, I15: an attempt begins once, in order, and within its bounds.
    fn begin(&mut self, revision: u32, attempt: u32) -> Option<String> {
        let next = match self.last {
            None => (revision, attempt) == (0, 1),
            Some((r, a)) => (revision, attempt) == (r, a + 1) || (revision, attempt) == (r + 1, 1),
        };
        if self.last.is_none_or(|(r, _)| revision > r) && self.last.is_some() {
            (self.begun, self.more) = (0, 0);
        }
        let before = self.last.replace((revision, attempt));
        self.begun += 1;
        if !next {
            return Some(format!("I12: revision {revision} attempt {attempt} follows {before:?}"));
        }
        if self.begun > self.allowed + self.more {
            return Some(format!("I15: attempt {} of at most {} + {}", self.begun, self.allowed, self.more));
        }
        (revision > self.revisions).then(|| format!("I15: revision {revision} of at most {}", self.revisions))
    }
}

/// Whether a step ends because another one that must not fail has failed. It may wait for a person or its next
/// attempt then, and nothing is an outcome of its work.
fn ends_with_its_run(event: &RunEvent) -> bool {
    matches!(event, RunEvent::ExecutionFailed { failure, .. } if failure.kind == FailureKind::RunFailed)
}

/// The execution whose work an event ends, or makes something for.
fn outcome_of(event: &RunEvent) -> Option<ExecNo> {
    match event {
        RunEvent::WorkDone { x, .. }
        | RunEvent::Asked { x, ask: Ask::Budget(..) | Ask::Result, .. }
        | RunEvent::Checked { x, .. }
        | RunEvent::ArtifactMade { x, .. }
        | RunEvent::ExecutionCompleted { x, .. }
        | RunEvent::AttemptFailed { x, .. }
        | RunEvent::ExecutionFailed { x, .. } => Some(*x),
        _ => None,
    }
}

fn execution_of(event: &RunEvent) -> Option<ExecNo> {
    match event {
        RunEvent::ExecutionMade { x, .. }
        | RunEvent::AttemptBegan { x, .. }
        | RunEvent::Asked { x, .. }
        | RunEvent::Submitted { x, .. }
        | RunEvent::BudgetRaised { x, .. }
        | RunEvent::RetryGranted { x, .. } => Some(*x),
        _ => outcome_of(event),
    }
}
