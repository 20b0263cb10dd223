//! One attempt at a step: how it begins, what its end leads to.

use serde_json::Value;

use super::walk::start_if_free;
use super::{body_of, settle, step_done};
use crate::asks;
use crate::commands::roll_back;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, PauseReason, RunEvent, Usage};
use crate::plan::body::{Body, OnFailure, Work};
use crate::state::run::{Execution, ExecutionState, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// A fresh execution: asks a person, begins, or stays pending.
pub fn start_or_hold(draft: &mut Draft<'_>, run: RunId, x: ExecNo, first: bool) -> Result<(), Rejection> {
    if body_of(draft, run, x)?.policy.approve_start.is_needed() {
        return asks::start::ask(draft, run, x);
    }
    let automatic = first || advances_by_itself(draft, run)?;
    start_if_free(draft, run, x, automatic)
}

fn advances_by_itself(draft: &Draft<'_>, run: RunId) -> Result<bool, Rejection> {
    match draft.run(run)?.pipeline() {
        // A change at this very moment takes effect from the next step on.
        Some(pipeline) => Ok(draft.peek_pipeline(pipeline)?.config.auto_advance),
        None => Ok(true),
    }
}

/// Begins an attempt. One that needs a person first asks, and its work is owed after the answer.
pub fn begin_attempt(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    revision: u32,
    attempt: u32,
    body: &Body,
) -> Result<(), Rejection> {
    let answered = is_answered(draft, run, x, revision);
    let asks = match &body.work {
        Work::Form(_) => true,
        Work::Script(script) => script.asks && !answered,
        Work::Agents(_) | Work::Command(_) | Work::Outside(_) => false,
    };
    let timeout = body.policy.timeout.filter(|_| !asks);
    let deadline = timeout.map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
    draft.on_run(run, RunEvent::AttemptBegan { x, revision, attempt, deadline });
    match &body.work {
        Work::Form(_) => asks::form::ask(draft, run, x),
        Work::Script(_) if asks => asks::input::ask(draft, run, x),
        Work::Script(_) | Work::Agents(_) | Work::Command(_) | Work::Outside(_) => Ok(()),
    }
}

/// Whether a script's question was answered in an attempt before this one. An attempt that follows by itself
/// uses that answer; one that a person asked for asks anew.
fn is_answered(draft: &Draft<'_>, run: RunId, x: ExecNo, revision: u32) -> bool {
    draft.execution(run, x).is_ok_and(|execution| {
        execution.input.is_some()
            && execution.revision == revision
            && execution.state != ExecutionState::Failed
    })
}

/// The work of an attempt is done and its outputs are written down: checks, asks, or completes.
pub fn finish_work(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    output: Option<Value>,
    usage: Usage,
) -> Result<(), Rejection> {
    let body = body_of(draft, run, x)?;
    let missing = missing_artifacts(&body, &*draft.execution(run, x)?);
    if !missing.is_empty() {
        let message = format!("declared artifacts were not made: {}", missing.join(", "));
        return fail_attempt(draft, run, x, Failure::new(FailureKind::MissingArtifacts, &message), usage);
    }
    if body.judge().is_some() {
        draft.on_run(run, RunEvent::WorkDone { x, judge: true, output, usage });
        return Ok(());
    }
    if body.policy.approve_complete.is_needed() {
        if output.is_some() || !usage.is_zero() {
            draft.on_run(run, RunEvent::WorkDone { x, judge: false, output, usage });
        }
        return asks::result::ask(draft, run, x);
    }
    complete(draft, run, x, output, usage)
}

fn missing_artifacts(body: &Body, execution: &Execution) -> Vec<String> {
    let made = |name: &str| execution.artifacts.iter().any(|output| &*output.made.name == name);
    body.outputs.iter().filter(|output| !made(&output.name)).map(|output| output.name.to_string()).collect()
}

/// Completes an execution and goes on behind it.
pub fn complete(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    output: Option<Value>,
    usage: Usage,
) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    let (branch, place) = (execution.branch, execution.place.clone());
    let records: Vec<_> = execution.artifacts.iter().map(|output| output.made.record).collect();
    for record in records {
        draft.on_run(run, RunEvent::ArtifactPromoted { x, record });
    }
    draft.on_run(run, RunEvent::ExecutionCompleted { x, output, usage });
    step_done(draft, run, branch, &place)
}

/// An attempt failed: another one follows, or the step has failed for good.
pub fn fail_attempt(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    failure: Failure,
    usage: Usage,
) -> Result<(), Rejection> {
    let body = body_of(draft, run, x)?;
    let execution = draft.execution(run, x)?;
    if execution.used_attempts() < execution.max_attempts {
        let delay = u64::from(body.policy.retry_delay_seconds) * 1_000_000;
        let retry_at = draft.envelope.at.plus_micros(delay + draft.ids.jitter(delay / 5));
        draft.on_run(run, RunEvent::AttemptFailed { x, failure, retry_at, usage });
        return Ok(());
    }
    fail_for_good(draft, run, x, failure, usage, body.policy.on_failure)
}

/// A step has failed for good: the run pauses, or goes back to before the step.
pub fn fail_for_good(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    failure: Failure,
    usage: Usage,
    then: OnFailure,
) -> Result<(), Rejection> {
    draft.on_run(run, RunEvent::ExecutionFailed { x, failure, usage });
    match then {
        OnFailure::Rollback if draft.run(run)?.pipeline().is_some() => {
            roll_back::after_failure(draft, run, x)
        }
        OnFailure::Rollback | OnFailure::Pause | OnFailure::Fail | OnFailure::Skip => {
            pause_after_failure(draft, run, x)
        }
    }
}

fn pause_after_failure(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    asks::failed::ask(draft, run, x)?;
    let state = draft.run(run)?;
    if state.status != RunStatus::InProgress {
        return Ok(());
    }
    let others_work =
        !state.owed.is_empty() || state.active().any(|(_, e)| e.state.in_flight() || e.state.asks());
    if !others_work {
        draft.on_run(run, RunEvent::Paused { reason: PauseReason::StepFailed });
        return Ok(());
    }
    if !state.pause_requested {
        draft.on_run(run, RunEvent::PauseAsked {});
    }
    settle(draft, run)
}
