//! A step that starts by hand.

use serde_json::Map;

use super::Answered;
use crate::advance;
use crate::decision::Draft;
use crate::state::run::{Ask, RunStatus};
use crate::{ExecNo, Rejection, RunId};

/// Asks for somebody to start a step, unless the run is paused: resuming asks then.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let moving = state.status == RunStatus::InProgress && !state.pause_requested;
    if !moving || draft.execution(run, x)?.gate.is_some() {
        return Ok(());
    }
    super::open(draft, run, x, Ask::Begin)
}

/// Starts the step. A start is no approval: where the definition asks for one, it is asked for now.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x) = (at.run, at.x()?);
    if &*at.answer.option != "start" {
        return Err(at.no_such_option());
    }
    require_dependencies(draft, run, x)?;
    let body = advance::body_of(draft, run, x)?;
    if advance::is_approval_needed(draft, run, x, &body.policy.approve_start, &Map::new())? {
        return super::start::ask(draft, run, x);
    }
    advance::begin_attempt(draft, run, x, 0, 1, &body)
}

/// Refuses to begin a step before what it depends on is completed.
pub(super) fn require_dependencies(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let missing = advance::missing_dependencies(draft, run, x)?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Rejection::DependencyNotMet { step: advance::step_name(draft, run, x)?, missing })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{
        Scene, abort, approve_all, auto_advance, checkpoint, edit, form, outcome_done, pause, script, start,
        start_later, start_step,
    };

    #[test]
    fn a_run_that_was_only_made_begins() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        scene.run(start_later(1));
        scene.check_code(pause(1), "wrong_state");
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
                run R1: Began
                run R1: ExecutionMade x1 A at 0
                run R1: AttemptBegan x1 revision 0 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
            in effect already
        "#]],
        );
        approve_all(&mut scene, 1);
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
                refused (wrong_state): cannot start a step: run 00000000-0000-7000-8000-000100001000 is completed
            "#]],
        );
    }

    #[test]
    fn without_auto_advance_the_next_checkpoint_waits_for_somebody() {
        let mut scene =
            Scene::new().with_pipeline(&[script("A", 0), script("B", 0), script("C", 0)]).with_run();
        scene.run(outcome_done(&scene, 1, 1));
        assert_eq!(scene.status(1), "in_progress: x2 pending");
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
                run R1: AttemptBegan x2 revision 0 attempt 1
            "#]],
        );
        scene.run(auto_advance(true));
        scene.check(
            outcome_done(&scene, 1, 2),
            expect![[r#"
                run R1: ExecutionCompleted x2
                run R1: ExecutionMade x3 C at 2
                run R1: AttemptBegan x3 revision 0 attempt 1
            "#]],
        );
    }

    #[test]
    fn a_step_does_not_begin_before_what_it_depends_on() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
        let mut early = form("A");
        early.dependencies.required_checkpoint_ids = vec![checkpoint(&scene, 1)];
        scene.run(edit(&scene, 0, early));
        let mut late = form("B");
        late.dependencies.required_checkpoint_ids = vec![checkpoint(&scene, 0)];
        scene.run(edit(&scene, 1, late));
        scene.run(start(1));
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
            refused (dependency_not_met): A cannot start before B is completed
        "#]],
        );
        scene.run(edit(&scene, 0, form("A")));
        // What was made keeps the definition that it pinned.
        scene.check_code(start_step(&scene, 1), "dependency_not_met");
        scene.run(abort(1));
        scene.run(start(2));
        approve_all(&mut scene, 2);
        assert_eq!(scene.status(2), "completed");
    }
}
