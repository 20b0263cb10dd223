//! Lets a paused run go on.

use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::RunEvent;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule. A run that is paused because a step failed goes on by retrying, not by resuming.
pub fn decide(draft: &mut Draft<'_>, run: RunId, decides: bool, max: Option<u32>) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let failed = state.failed;
    match state.status {
        RunStatus::Paused => {}
        RunStatus::InProgress if state.pause_requested && failed == 0 => {
            check_max(draft, run, max)?;
            draft.on_run(run, RunEvent::PauseDropped {});
            return go_on(draft, run, decides, max);
        }
        // It pauses because a step failed while others still work.
        RunStatus::InProgress if state.pause_requested => return Err(wrong_run(draft, run, "resume")?),
        // Nothing to resume, but a limit can still be raised.
        RunStatus::InProgress if max.is_some() => {
            check_max(draft, run, max)?;
            return advance::resume_loops(draft, run, max);
        }
        RunStatus::InProgress => return Ok(()),
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "resume")?);
        }
    }
    if failed > 0 {
        return Err(wrong_run(draft, run, "resume")?);
    }
    advance::require_present_definition(draft, run)?;
    let at_limit = advance::limit_reached(draft, run)?;
    if let Some(limit) = at_limit.filter(|limit| max.is_none_or(|max| max <= *limit)) {
        let message = format!("a loop has made {limit} passes, which is its limit: give a higher one");
        return Err(Rejection::Invalid(vec![Fault::at("/max_iterations", message)]));
    }
    check_max(draft, run, max)?;
    draft.on_run(run, RunEvent::Resumed {});
    go_on(draft, run, decides, max)
}

fn go_on(draft: &mut Draft<'_>, run: RunId, decides: bool, max: Option<u32>) -> Result<(), Rejection> {
    advance::start_waiting(draft, run, decides)?;
    advance::resume_loops(draft, run, max)?;
    // A recovery can lead to the last node of a run. Without this the run would be in progress forever.
    advance::settle(draft, run)
}

/// A limit that would change nothing is a mistake of the caller, who believes that the loop now makes more passes.
fn check_max(draft: &Draft<'_>, run: RunId, max: Option<u32>) -> Result<(), Rejection> {
    let Some(max) = max else { return Ok(()) };
    if advance::raised(draft, run, max)?.is_empty() {
        let message = format!("no open loop of this run has a limit below {max} that can be raised");
        return Err(Rejection::Invalid(vec![Fault::at("/max_iterations", message)]));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{
        Scene, abort, approve_start, auto_advance, human, outcome_done, outcome_failed, pause, reject_start,
        resume, script, start,
    };

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

    #[test]
    fn with_auto_advance_the_next_checkpoint_begins_with_the_resumption() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0), script("B", 0)]);
        scene.run(auto_advance(true));
        scene.run(start(1));
        scene.run(pause(1));
        scene.check(
            outcome_done(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 B at 1
            run R1: Paused Asked
        "#]],
        );
        scene.check(
            resume(1),
            expect![[r#"
                run R1: Resumed
                run R1: AttemptBegan x2 revision 0 attempt 1
            "#]],
        );
        scene.check(
            resume(1),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn a_run_at_a_failed_checkpoint_is_not_resumed() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.check(
            resume(1),
            expect![[r#"
                refused (wrong_state): cannot resume: run 00000000-0000-7000-8000-000100001000 is paused
            "#]],
        );
        scene.run(abort(1));
        scene.check(
            resume(1),
            expect![[r#"
                refused (wrong_state): cannot resume: run 00000000-0000-7000-8000-000100001000 is aborted
            "#]],
        );
    }

    #[test]
    fn a_rejected_start_stays_rejected() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.run(reject_start(1, 1));
        scene.run(pause(1));
        scene.run(resume(1));
        assert_eq!(scene.status(1), "in_progress: x1 pending");
    }
}
