//! Declares a run failed, where nobody wants to retry or roll back.

use super::abort_run::stop_steps;
use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, RunEvent, Text};
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, reason: Option<&Text>) -> Result<(), Rejection> {
    match draft.run(run)?.status {
        RunStatus::InProgress | RunStatus::Paused => {}
        RunStatus::Failed => return Ok(()),
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "fail")?);
        }
    }
    stop_steps(draft, run, &Failure::new(FailureKind::RunFailed, "the run was declared failed"))?;
    draft.on_run(run, RunEvent::Failed { reason: reason.cloned() });
    advance::close_run(draft, run)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, abort, fail_run, outcome_failed, retry, script, start_later};

    #[test]
    fn a_run_is_declared_failed_where_nobody_retries() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.check(
            fail_run(1),
            expect![[r#"
            run R1: Failed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        scene.check(
            fail_run(1),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check_code(retry(1, 1), "wrong_state");
        scene.check_code(abort(1), "wrong_state");
        assert!(scene.pipeline().active.is_empty());
    }

    #[test]
    fn a_run_that_has_not_started_can_only_be_aborted() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]);
        scene.run(start_later(1));
        scene.check(
            fail_run(1),
            expect![[r#"
                refused (wrong_state): cannot fail: run 00000000-0000-7000-8000-000100001000 is not_started
            "#]],
        );
        scene.check(
            abort(1),
            expect![[r#"
            run R1: Aborted
            pipeline: RunClosed { run: R1 }
        "#]],
        );
    }
}
