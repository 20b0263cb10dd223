//! Ends a run. Work in flight is stopped; open questions are closed.

use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, RunEvent, Text, Usage};
use crate::state::run::{ExecutionState, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, reason: Option<&Text>) -> Result<(), Rejection> {
    match draft.run(run)?.status {
        RunStatus::NotStarted | RunStatus::InProgress | RunStatus::Paused => {}
        RunStatus::Aborted => return Ok(()),
        RunStatus::Completed | RunStatus::Failed => return Err(wrong_run(draft, run, "abort")?),
    }
    stop_steps(draft, run, &Failure::new(FailureKind::Aborted, "the run was aborted"))?;
    draft.on_run(run, RunEvent::Aborted { reason: reason.cloned() });
    advance::close_run(draft, run)
}

/// Fails every step that has begun and not ended.
pub(crate) fn stop_steps(draft: &mut Draft<'_>, run: RunId, failure: &Failure) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let begun: Vec<ExecNo> = (state.active())
        .filter(|(_, e)| match e.state {
            ExecutionState::Working(_) | ExecutionState::AwaitingComplete => true,
            ExecutionState::Pending
            | ExecutionState::AwaitingStart
            | ExecutionState::Completed
            | ExecutionState::Failed => false,
        })
        .map(|(x, _)| x)
        .collect();
    for x in begun {
        let failure = failure.clone();
        draft.on_run(run, RunEvent::ExecutionFailed { x, failure, usage: Usage::default() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, abort, form, human, reject_start};

    #[test]
    fn an_aborted_run_frees_its_pipeline() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.check(
            abort(1),
            expect![[r#"
            run R1: ExecutionFailed x1 aborted
            run R1: Aborted
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        scene.check(
            abort(1),
            expect![[r#"
            in effect already
        "#]],
        );
        assert!(scene.state(1).gates.is_empty());
    }

    #[test]
    fn what_has_not_begun_stands_at_pending_again() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            abort(1),
            expect![[r#"
            run R1: Aborted
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        assert_eq!(scene.status(1), "aborted: x1 pending");
        scene.check(reject_start(1, 1), expect![[r#"
            refused (wrong_state): cannot reject the start: execution 00000000-0000-7000-8000-000100001001 is pending
        "#]]);
    }
}
