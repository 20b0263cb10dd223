//! Lets a run stand still: at once between steps, else when the present step ends.

use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    match state.status {
        RunStatus::InProgress => {}
        RunStatus::Paused => return Ok(()),
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "pause")?);
        }
    }
    if !state.pause_requested {
        draft.on_run(run, RunEvent::PauseAsked {});
        advance::settle(draft, run)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use crate::testing::{
        Scene, abort, approve, approve_start, form, human, pause, reject_start, resume, start_step, submit,
    };

    #[test]
    fn between_checkpoints_a_run_pauses_at_once() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            pause(1),
            expect![[r#"
            run R1: PauseAsked
            run R1: Paused Asked
        "#]],
        );
        scene.check(
            pause(1),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check_code(start_step(&scene, 1), "wrong_state");
    }

    #[test]
    fn inside_a_checkpoint_it_pauses_when_the_checkpoint_ends() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.check(
            pause(1),
            expect![[r#"
            run R1: PauseAsked
        "#]],
        );
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: ExecutionMade x2 B at 1
                run R1: Paused Asked
            "#]],
        );
    }

    #[test]
    fn resuming_in_time_drops_the_request() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(pause(1));
        scene.check(
            resume(1),
            expect![[r#"
            run R1: PauseDropped
        "#]],
        );
    }

    #[test]
    fn a_paused_run_refuses_to_go_on() {
        let mut scene = Scene::new().with_pipeline(&[human("A"), form("B")]).with_run();
        scene.run(pause(1));
        scene.check(approve_start(1, 1), expect![[r#"
            refused (wrong_state): cannot approve the start: run 00000000-0000-7000-8000-000100001000 is paused
        "#]]);
        scene.check(
            reject_start(1, 1),
            expect![[r#"
                run R1: Rejected x1
            "#]],
        );
        scene.run(abort(1));
        scene.check(
            pause(1),
            expect![[r#"
                refused (wrong_state): cannot pause: run 00000000-0000-7000-8000-000100001000 is aborted
            "#]],
        );
    }
}
