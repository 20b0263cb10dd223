//! Lets a paused run go on.

use super::wrong_run;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::flow;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule. A run that is paused because a step failed goes on by retrying, not by resuming.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    match state.status {
        RunStatus::Paused => {}
        RunStatus::InProgress if state.pause_requested && state.failed == 0 => {
            draft.on_run(run, RunEvent::PauseDropped {});
            return flow::start_waiting(draft, run);
        }
        // It pauses because a step failed while others still work.
        RunStatus::InProgress if state.pause_requested => return Err(wrong_run(draft, run, "resume")?),
        RunStatus::InProgress => return Ok(()),
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "resume")?);
        }
    }
    if state.failed > 0 {
        return Err(wrong_run(draft, run, "resume")?);
    }
    flow::require_present_definition(draft, run)?;
    draft.on_run(run, RunEvent::Resumed {});
    flow::start_waiting(draft, run)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, approve_start, human, pause, resume};

    #[test]
    fn a_resumed_run_takes_approvals_again() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.run(pause(1));
        scene.check_code(approve_start(1, 1), "wrong_state");
        scene.check(
            resume(1),
            expect![[r#"
            run R1: Resumed
        "#]],
        );
        scene.run(approve_start(1, 1));
        assert_eq!(scene.status(1), "in_progress: x1 in_progress");
    }
}
