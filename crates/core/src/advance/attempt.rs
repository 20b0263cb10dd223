//! One attempt at a step: how it begins, what its end leads to.

use serde_json::{Map, Value};

use super::walk::start_if_free;
use super::{body_of, fail_run, settle, step_done, step_name};
use crate::asks;
use crate::commands::roll_back;
use crate::context::{self, OUTPUT_SIZE, Scope, output_key};
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, PauseReason, RunEvent, Usage, Warning};
use crate::plan::body::{Approval, Body, OnFailure, Work};
use crate::state::run::{Execution, ExecutionState, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// What the work of an attempt came to.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// What it said.
    pub output: Option<Value>,
    /// What it leaves in the context; null deletes.
    pub context: Map<String, Value>,
    /// What it cost.
    pub usage: Usage,
}

/// A fresh execution: asks a person, begins, or stays pending.
pub fn start_or_hold(draft: &mut Draft<'_>, run: RunId, x: ExecNo, first: bool) -> Result<(), Rejection> {
    let body = body_of(draft, run, x)?;
    if is_approval_needed(draft, run, x, &body.policy.approve_start, &Map::new())? {
        return asks::start::ask(draft, run, x);
    }
    // A client asks what there is to do: nothing is begun for it.
    if body.is_outside() && !draft.execution(run, x)?.held_back {
        return Ok(());
    }
    let automatic = first || advances_by_itself(draft, run)?;
    start_if_free(draft, run, x, automatic)
}

/// Whether a person must agree now. A condition sees the context with what the step leaves in it; one that cannot be
/// evaluated asks.
pub fn is_approval_needed(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    approval: &Approval,
    context: &Map<String, Value>,
) -> Result<bool, Rejection> {
    let mut failed = None;
    let execution = draft.execution(run, x)?;
    let (branch, place) = (execution.branch, execution.place.clone());
    let needed = {
        let (state, plan) = (draft.run(run)?, draft.plan(run)?);
        let mut front = state.graph.branch(branch).map(|branch| branch.front.clone()).unwrap_or_default();
        if approval.when.expression().is_some() {
            context::changes(&front, &plan, context)?.iter().for_each(|change| front.apply(change));
        }
        let scope = Scope::at(&front, &plan, &place.path);
        approval.is_needed(|expr| match expr.evaluate(draft.facts.evaluator, &scope) {
            Ok(found) => found.holds,
            Err(why) => {
                failed = Some(why);
                true
            }
        })
    };
    if let Some(why) = failed {
        draft.on_run(run, RunEvent::Warned { branch, place, what: Warning::Condition(why.into()) });
    }
    Ok(needed)
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
        Work::Agents(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => false,
    };
    let timeout = body.policy.timeout.filter(|_| !asks);
    let deadline = timeout.map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
    draft.on_run(run, RunEvent::AttemptBegan { x, revision, attempt, deadline });
    match &body.work {
        Work::Form(_) => asks::form::ask(draft, run, x),
        Work::Script(_) if asks => asks::input::ask(draft, run, x),
        Work::Script(_) | Work::Agents(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => Ok(()),
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
    finished: Finished,
) -> Result<(), Rejection> {
    let body = body_of(draft, run, x)?;
    let usage = finished.usage;
    let missing = missing_artifacts(&body, &*draft.execution(run, x)?);
    if !missing.is_empty() {
        let message = format!("declared artifacts were not made: {}", missing.join(", "));
        return fail_attempt(draft, run, x, Failure::new(FailureKind::MissingArtifacts, &message), usage);
    }
    let context = left_behind(draft, run, x, finished.output.as_ref(), finished.context)?;
    let output = finished.output;
    if body.owes_check() {
        draft.on_run(run, RunEvent::WorkDone { x, judge: true, output, usage, context });
        return Ok(());
    }
    if is_approval_needed(draft, run, x, &body.policy.approve_complete, &context)? {
        if output.is_some() || !usage.is_zero() || !context.is_empty() {
            draft.on_run(run, RunEvent::WorkDone { x, judge: false, output, usage, context });
        }
        return asks::result::ask(draft, run, x);
    }
    complete(draft, run, x, Finished { output, context, usage })
}

/// What a step leaves in the context: what it says itself, and its output where an expression of the plan reads it.
pub fn left_behind(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    output: Option<&Value>,
    mut context: Map<String, Value>,
) -> Result<Map<String, Value>, Rejection> {
    context::check_delta(&context)?;
    let execution = draft.execution(run, x)?;
    let (branch, place) = (execution.branch, execution.place.clone());
    let Some(output) = output.filter(|_| draft.plan(run).is_ok_and(|plan| plan.reads_output(&place.step)))
    else {
        return Ok(context);
    };
    let size = output.to_string().len();
    if size > OUTPUT_SIZE {
        let what = Warning::OutputTooLarge(size as u64);
        draft.on_run(run, RunEvent::Warned { branch, place, what });
    } else {
        context.insert(output_key(&place.step).to_string(), output.clone());
    }
    Ok(context)
}

fn missing_artifacts(body: &Body, execution: &Execution) -> Vec<String> {
    let made = |name: &str| execution.artifacts.iter().any(|output| &*output.made.name == name);
    body.outputs.iter().filter(|output| !made(&output.name)).map(|output| output.name.to_string()).collect()
}

/// Completes an execution and continues behind it, with what its work left before a person looked.
pub fn complete(draft: &mut Draft<'_>, run: RunId, x: ExecNo, finished: Finished) -> Result<(), Rejection> {
    let Finished { output, mut context, usage } = finished;
    let execution = draft.execution(run, x)?;
    let (branch, place) = (execution.branch, execution.place.clone());
    if let Some(handed) = &execution.handed {
        context.extend(handed.context.clone());
    }
    let records: Vec<_> = execution.artifacts.iter().map(|output| output.made.record).collect();
    for record in records {
        draft.on_run(run, RunEvent::ArtifactPromoted { x, record });
    }
    draft.on_run(run, RunEvent::ExecutionCompleted { x, output, usage });
    step_done(draft, run, branch, &place, &context)
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

/// A step has failed for good: the run pauses, ends, continues without its result, or goes back to before the step.
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
        OnFailure::Rollback | OnFailure::Pause => pause_after_failure(draft, run, x),
        OnFailure::Fail => {
            let reason = format!("“{}” failed", step_name(draft, run, x)?);
            fail_run(draft, run, &reason)
        }
        OnFailure::Skip => pass_over(draft, run, x),
    }
}

/// Continues without the result of a step that has failed for good.
fn pass_over(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    draft.on_run(run, RunEvent::PassedOver { x });
    step_done(draft, run, execution.branch, &execution.place, &Map::new())
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use crate::plan::body::OnFailure;
    use crate::plan::{Body, Plan, PlanKind, PlanStep};
    use crate::state::run::RunStatus;
    use crate::testing::{Scene, outcome_done, outcome_failed, start_plan};
    use crate::{ExecNo, StepId};

    /// A step that fails in its own way, one beside it, and one behind both.
    fn beside(on_failure: OnFailure) -> Arc<Plan> {
        let step = |id: &str, after: &[&str]| {
            let after = after.iter().map(|id| StepId::new(id)).collect();
            PlanStep::new(StepId::new(id), after, PlanKind::Step)
        };
        let mut fails = Body::command(["any"]);
        fails.policy.on_failure = on_failure;
        let plain = Arc::new(Body::command(["any"]));
        let bodies = [("fails", Arc::new(fails)), ("beside", plain.clone()), ("end", plain)];
        let bodies = bodies.into_iter().map(|(id, body)| (StepId::new(id), body)).collect();
        let steps = vec![step("fails", &[]), step("beside", &[]), step("end", &["fails", "beside"])];
        Arc::new(Plan { steps, bodies, ..Plan::default() })
    }

    #[test]
    fn a_run_continues_without_the_result_of_a_step_that_may_fail() {
        let mut scene = Scene::new();
        scene.run(start_plan(1, &beside(OnFailure::Skip)));
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: PassedOver x1
                run R1: FrontMoved
            "#]],
        );
        assert_eq!((scene.state(1).status, scene.state(1).failed), (RunStatus::InProgress, 0));
        scene.check(
            outcome_done(&scene, 1, 2),
            expect![[r#"
                run R1: ExecutionCompleted x2
                run R1: ExecutionMade x3 end at 2
                run R1: AttemptBegan x3 revision 0 attempt 1
                run R1: FrontMoved
            "#]],
        );
        scene.run(outcome_done(&scene, 1, 3));
        let state = scene.state(1);
        assert_eq!((state.status, state.completed), (RunStatus::Completed, 2));
        assert!(state.execution(ExecNo(1)).is_some_and(|e| e.is_passed_over()));
    }

    #[test]
    fn a_run_ends_with_the_step_that_must_not_fail() {
        let mut scene = Scene::new();
        scene.run(start_plan(1, &beside(OnFailure::Fail)));
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: ExecutionFailed x2 run_failed
                run R1: Failed
            "#]],
        );
        assert!(scene.state(1).owed.is_empty());
    }
}
