//! Ends a run of a plan without steps, which has snapshots only: nothing else says that it is complete.

use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    if !draft.plan(run)?.nodes.is_empty() {
        return Err(wrong_run(draft, run, "complete")?);
    }
    match draft.run(run)?.status {
        RunStatus::InProgress => {}
        RunStatus::Paused => draft.on_run(run, RunEvent::Resumed {}),
        RunStatus::Completed => return Ok(()),
        RunStatus::NotStarted | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "complete")?);
        }
    }
    draft.on_run(run, RunEvent::Completed {});
    advance::close_run(draft, run)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use crate::testing::{Scene, on_run, pause, plan_of, resume, snapshot, start_plan, step};
    use crate::{NodeNo, Plan, RunCommand};

    #[test]
    fn a_run_without_steps_ends_by_command_only() {
        let mut scene = Scene::new();
        scene.run(start_plan(1, &Arc::new(Plan::default())));
        assert_eq!(scene.status(1), "in_progress");
        scene.run(snapshot(1, 0, "first"));
        scene.run(on_run(1, RunCommand::Recover(NodeNo(1))));
        scene.run(resume(1));
        assert_eq!(scene.status(1), "in_progress");
        scene.run(pause(1));
        assert_eq!(scene.status(1), "paused");
        scene.check(
            on_run(1, RunCommand::Complete),
            expect![[r#"
                run R1: Resumed
                run R1: Completed
            "#]],
        );
        scene.check(
            on_run(1, RunCommand::Complete),
            expect![[r#"
                in effect already
            "#]],
        );
    }

    #[test]
    fn a_run_with_steps_is_complete_when_they_are() {
        let mut scene = Scene::new();
        let body = crate::testing::outside();
        scene.run(start_plan(1, &Arc::new(plan_of(vec![step("a", &[])], &body))));
        scene.check_code(on_run(1, RunCommand::Complete), "wrong_state");
    }
}
