//! Stops a step's work: the attempt has failed, without another one, and the run pauses.

use super::wrong_execution;
use crate::advance;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, Usage};
use crate::plan::body::OnFailure;
use crate::state::run::ExecutionState;
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    match execution.state {
        ExecutionState::Working(_) => {}
        ExecutionState::Failed if was_cancelled(&execution) => return Ok(()),
        ExecutionState::Pending
        | ExecutionState::AwaitingStart
        | ExecutionState::AwaitingComplete
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "cancel")?),
    }
    let failure = Failure::new(FailureKind::Cancelled, "the work was cancelled");
    advance::fail_for_good(draft, run, x, failure, Usage::default(), OnFailure::Pause)
}

fn was_cancelled(execution: &crate::state::run::Execution) -> bool {
    execution.last_error.as_ref().is_some_and(|(_, failure)| failure.kind == FailureKind::Cancelled)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::definition::OnFailure;
    use crate::testing::{Scene, cancel, failing, form, outcome_done, retry, script};

    #[test]
    fn cancelling_fails_the_attempt_and_pauses_without_a_retry() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 3)]).with_run();
        scene.check(
            cancel(1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 cancelled
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        scene.check(
            cancel(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
        assert!(scene.state(1).owed.is_empty());
        scene.run(retry(1, 1));
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            cancel(1, 1),
            expect![[r#"
                refused (wrong_state): cannot cancel: execution 00000000-0000-7000-8000-000100001001 is completed
            "#]],
        );
    }

    #[test]
    fn a_failure_policy_does_not_apply_to_what_a_person_stops() {
        let back = failing(script("A", 0), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[back]).with_run();
        scene.run(cancel(1, 1));
        assert_eq!(scene.status(1), "paused: x1 failed");
    }

    #[test]
    fn a_form_can_be_cancelled_and_its_question_is_closed() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.check(
            cancel(1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 cancelled
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        assert_eq!(scene.state(1).gates.len(), 1, "only the failure asks");
    }
}
