//! A step that has failed for good: a retry tries it once more, beyond its automatic attempts. Outside pipelines a run
//! can also continue without it, or end.

use serde_json::Map;

use super::Answered;
use crate::advance;
use crate::commands::abort_run;
use crate::decision::Draft;
use crate::event::{FailureKind, RunEvent};
use crate::state::run::{Ask, ExecutionState, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// Asks what is to be done about a step that has failed for good.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Failed)
}

/// Asks about every failed step that does not ask yet: work that a rollback cut off and an undo brought back.
pub fn ask_all(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    if !state.status.is_active() {
        return Ok(());
    }
    let silent = state.active().filter(|(_, e)| e.state == ExecutionState::Failed && e.gate.is_none());
    let silent: Vec<ExecNo> = silent.map(|(x, _)| x).collect();
    for x in silent {
        ask(draft, run, x)?;
    }
    Ok(())
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    match &*at.answer.option {
        "retry" => {}
        "skip" if !at.in_pipeline => return skip(draft, at),
        "abort" if !at.in_pipeline => {
            say(draft, at);
            return abort_run::decide(draft, at.run, at.answer.feedback.as_ref());
        }
        _ => return Err(at.no_such_option()),
    }
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    advance::require_present_definition(draft, run)?;
    let execution = draft.execution(run, x)?;
    let exhausted = |failure: &crate::event::Failure| failure.kind == FailureKind::RevisionsExhausted;
    let revision = execution.last_error.as_ref().is_some_and(|(_, failure)| exhausted(failure));
    draft.on_run(run, RunEvent::RetryGranted { x, gate, digest, assurance, revision });
    go_on(draft, run)?;
    let body = advance::body_of(draft, run, x)?;
    let (revision, attempt) =
        if revision { (execution.revision + 1, 1) } else { (execution.revision, execution.attempt + 1) };
    advance::begin_attempt(draft, run, x, revision, attempt, &body)?;
    resume_loops(draft, run)
}

/// The run continues without the result of the step.
fn skip(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x) = (at.run, at.x()?);
    say(draft, at);
    let execution = draft.execution(run, x)?;
    draft.on_run(run, RunEvent::PassedOver { x });
    go_on(draft, run)?;
    advance::step_done(draft, run, execution.branch, &execution.place, &Map::new())?;
    resume_loops(draft, run)
}

/// Continues with loops that stopped between two passes. One at its limit asks for its pause again, which the answer has
/// dropped: without this the run would wait at the limit without saying so.
fn resume_loops(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    if state.status == RunStatus::InProgress && !state.pause_requested {
        advance::resume_loops(draft, run, None)?;
    }
    Ok(())
}

fn say(draft: &mut Draft<'_>, at: &Answered<'_>) {
    let (gate, digest, assurance) = (at.id, at.gate.digest, at.assurance);
    let (option, feedback) = (at.answer.option.clone(), at.answer.feedback.clone());
    draft.on_run(at.run, RunEvent::GateAnswered { gate, digest, assurance, option, feedback });
}

/// The run moves again. While other steps stand at failed it pauses when nothing works any more.
fn go_on(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let (paused, pausing, others_failed) =
        (state.status == RunStatus::Paused, state.pause_requested, state.failed > 0);
    if paused {
        draft.on_run(run, RunEvent::Resumed {});
    }
    match (others_failed, pausing) {
        (true, true) => Ok(()),
        (true, false) => {
            draft.on_run(run, RunEvent::PauseAsked {});
            Ok(())
        }
        (false, true) => {
            draft.on_run(run, RunEvent::PauseDropped {});
            advance::start_waiting(draft, run, false)
        }
        (false, false) => advance::start_waiting(draft, run, false),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{
        Scene, abort, approve_start, approved, form, human, outcome_done, outcome_failed, resume, retry,
        revise, script, start_plan, start_step, submit,
    };
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn a_person_grants_one_more_attempt() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: Resumed
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
    }

    #[test]
    fn after_the_last_revision_a_retry_grants_one_more() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        for _ in 0..3 {
            scene.run(submit(1, 1, json!({"answer": "no"})));
            scene.run(revise(1, 1, "again"));
        }
        assert_eq!(scene.status(1), "paused: x1 failed");
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: Resumed
                run R1: AttemptBegan x1 revision 3 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.run(submit(1, 1, json!({"answer": "no"})));
        scene.run(revise(1, 1, "again"));
        assert_eq!(scene.status(1), "paused: x1 failed");
    }

    #[test]
    fn a_granted_attempt_does_not_outlive_its_revision() {
        let mut scene = Scene::new().with_pipeline(&[approved(script("A", 0), false, true)]).with_run();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.run(retry(1, 1));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(revise(1, 1, "shorter"));
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
    }

    #[test]
    fn only_what_has_failed_is_retried() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(retry(1, 1), expect![[r#"
            refused (wrong_state): cannot retry: execution 00000000-0000-7000-8000-000100001001 is waiting_approval_to_start
        "#]]);
        scene.run(approve_start(1, 1));
        scene.check(
            retry(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.run(abort(1));
        scene.check(
            retry(1, 1),
            expect![[r#"
                refused (wrong_state): cannot retry: execution 00000000-0000-7000-8000-000100001001 is failed
            "#]],
        );
    }

    /// Two steps side by side, and one behind the second.
    fn side_by_side() -> Scene {
        let plan = json!({
            "steps": [
                {"id": "a", "name": "A"},
                {"id": "b", "name": "B"},
                {"id": "c", "name": "C", "after": ["b"]}
            ],
            "bodies": {
                "a": {"work": {"command": {"argv": ["any"]}}},
                "b": {"work": {"command": {"argv": ["any"]}}},
                "c": {"work": {"command": {"argv": ["any"]}}}
            }
        });
        let mut scene = Scene::new();
        scene.run(start_plan(1, &Arc::new(serde_json::from_value(plan).expect("a plan"))));
        scene
    }

    #[test]
    fn what_a_pause_kept_back_begins_with_the_retry() {
        let mut scene = side_by_side();
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: PauseAsked
            "#]],
        );
        scene.check_code(resume(1), "wrong_state");
        scene.check(
            outcome_done(&scene, 1, 2),
            expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: ExecutionMade x3 c at 2
            run R1: Paused StepFailed
        "#]],
        );
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: Resumed
                run R1: AttemptBegan x3 revision 0 attempt 1
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
    }

    #[test]
    fn while_another_step_stands_at_failed_the_run_pauses_again() {
        let mut scene = side_by_side();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.run(outcome_failed(&scene, 1, 2));
        assert_eq!(scene.status(1), "paused: x1 failed");
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: Resumed
                run R1: PauseAsked
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
        scene.check(
            outcome_done(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionCompleted x1
            run R1: Paused StepFailed
        "#]],
        );
        scene.check(
            retry(1, 2),
            expect![[r#"
                run R1: RetryGranted x2
                run R1: Resumed
                run R1: AttemptBegan x2 revision 0 attempt 2
            "#]],
        );
    }

    #[test]
    fn a_retry_in_time_drops_the_pause() {
        let mut scene = side_by_side();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: PauseDropped
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
    }

    #[test]
    fn an_agent_may_start_and_try_again_and_nothing_else() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0), script("B", 0), form("C")]).with_run();
        scene.as_agent();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.run(retry(1, 1));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        scene.run(outcome_done(&scene, 1, 2));
        scene.run(start_step(&scene, 1));
        scene.check_code(submit(1, 3, json!({"answer": "yes"})), "not_a_person");
    }
}
