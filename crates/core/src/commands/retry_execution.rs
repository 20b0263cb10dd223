//! Tries a failed step once more, beyond its automatic attempts.

use super::{wrong_execution, wrong_run};
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::flow;
use crate::state::run::{ExecutionState, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    match execution.state {
        ExecutionState::Failed => {}
        ExecutionState::Working(_) => return Ok(()),
        ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed => return Err(wrong_execution(draft, run, x, "retry")?),
    }
    match draft.run(run)?.status {
        RunStatus::InProgress | RunStatus::Paused => {}
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "retry")?);
        }
    }
    flow::require_present_definition(draft, run)?;
    let exhausted = |failure: &crate::event::Failure| &*failure.error_type == "revisions_exhausted";
    let by_revision = execution.last_error.as_ref().is_some_and(|(_, failure)| exhausted(failure));
    draft.on_run(run, RunEvent::RetryGranted { x, revision: by_revision });
    go_on(draft, run)?;
    let policy = flow::policy_of(draft, run, x)?;
    let (revision, attempt) =
        if by_revision { (execution.revision + 1, 1) } else { (execution.revision, execution.attempt + 1) };
    flow::begin_attempt(draft, run, x, revision, attempt, &policy);
    Ok(())
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
            flow::start_waiting(draft, run)
        }
        (false, false) => flow::start_waiting(draft, run),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, outcome_failed, retry, script};

    #[test]
    fn a_person_grants_one_more_attempt() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionFailed x1 script_error
            run R1: Paused StepFailed
        "#]],
        );
        scene.check(
            retry(1, 1),
            expect![[r#"
            run R1: RetryGranted x1
            run R1: Resumed
            run R1: AttemptBegan x1 revision 0 attempt 2 work
        "#]],
        );
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionFailed x1 script_error
            run R1: Paused StepFailed
        "#]],
        );
    }
}
