//! Begins a run that has not started, or the step that stands at pending.

use super::{wrong_execution, wrong_run};
use crate::decision::Draft;
use crate::flow;
use crate::state::run::{ExecutionState, RunStatus};
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    match state.status {
        RunStatus::NotStarted => {
            flow::require_present_definition(draft, run)?;
            return super::start_run::begin(draft, run);
        }
        RunStatus::InProgress => {}
        RunStatus::Paused | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "start a step")?);
        }
    }
    let pending = state.active().find(|(_, execution)| execution.state == ExecutionState::Pending);
    let current = pending.or_else(|| state.current()).map(|(x, e)| (x, e.id, e.state));
    let Some((x, id, standing)) = current else { return Err(wrong_run(draft, run, "start a step")?) };
    draft.reply.execution = Some(id);
    match standing {
        ExecutionState::Pending => {}
        // What was asked for is in effect.
        ExecutionState::AwaitingStart(_) | ExecutionState::Working(_) => return Ok(()),
        ExecutionState::AwaitingComplete(_) | ExecutionState::Completed | ExecutionState::Failed => {
            return Err(wrong_execution(draft, run, x, "start the step")?);
        }
    }
    require_dependencies(draft, run, x)?;
    let policy = flow::policy_of(draft, run, x)?;
    if policy.approve_start {
        return flow::ask_to_start(draft, run, x);
    }
    flow::begin_attempt(draft, run, x, 0, 1, &policy);
    Ok(())
}

/// Refuses to begin a step before what it depends on is completed.
pub(super) fn require_dependencies(draft: &Draft<'_>, run: RunId, x: crate::ExecNo) -> Result<(), Rejection> {
    let missing = flow::missing_dependencies(draft, run, x)?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Rejection::DependencyNotMet { step: flow::step_name(draft, run, x)?, missing })
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
            start_step(1),
            expect![[r#"
            run R1: Began
            run R1: ExecutionMade x1 A at 0
            run R1: AttemptBegan x1 revision 0 attempt 1 form
        "#]],
        );
        scene.check(
            start_step(1),
            expect![[r#"
            in effect already
        "#]],
        );
        approve_all(&mut scene, 1);
        scene.check(
            start_step(1),
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
            start_step(1),
            expect![[r#"
            run R1: AttemptBegan x2 revision 0 attempt 1 work
        "#]],
        );
        scene.run(auto_advance(true));
        scene.check(
            outcome_done(&scene, 1, 2),
            expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: ExecutionMade x3 C at 2
            run R1: AttemptBegan x3 revision 0 attempt 1 work
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
            start_step(1),
            expect![[r#"
            refused (dependency_not_met): A cannot start before B is completed
        "#]],
        );
        scene.run(edit(&scene, 0, form("A")));
        // What was made keeps the definition that it pinned.
        scene.check_code(start_step(1), "dependency_not_met");
        scene.run(abort(1));
        scene.run(start(2));
        approve_all(&mut scene, 2);
        assert_eq!(scene.status(2), "completed");
    }
}
