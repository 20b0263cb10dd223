//! Says that work which was cut off starts again as the same attempt, so that people can see it. Work that is cut off
//! again and again fails: it may be what ends the process that does it.

use crate::advance;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, RunEvent, Usage};
use crate::state::run::EffectId;
use crate::{Rejection, RunId};

/// How often the work of one attempt is started again.
pub const MAX_RESTARTS: u32 = 3;

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, effect: EffectId) -> Result<(), Rejection> {
    if !draft.run(run)?.owed.contains_key(&effect) {
        return Err(Rejection::NotOwed);
    }
    let execution = draft.execution(run, effect.x)?;
    draft.reply.execution = Some(execution.id);
    if execution.restarts >= MAX_RESTARTS {
        let message = format!(
            "the process that did this work ended {} times before the work was done, so it is not started again; \
             the work itself may use up the machine's memory or end the process",
            execution.restarts + 1
        );
        let failure = Failure::new(FailureKind::RestartedTooOften, &message);
        return advance::fail_attempt(draft, run, effect.x, failure, Usage::default());
    }
    draft.on_run(run, RunEvent::AttemptRestarted { x: effect.x });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::MAX_RESTARTS;
    use crate::RunCommand;
    use crate::testing::{Scene, When, on_run, outcome_done, script};

    fn restart(scene: &Scene) -> When {
        let effect = *scene.state(1).owed.keys().next().expect("owed work");
        on_run(1, RunCommand::RestartAttempt(effect))
    }

    #[test]
    fn work_that_was_cut_off_goes_on_as_the_same_attempt() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 1)]).with_run();
        let again = restart(&scene);
        let owed = scene.state(1).owed.clone();
        scene.check(
            restart(&scene),
            expect![[r#"
            run R1: AttemptRestarted x1
        "#]],
        );
        assert_eq!(scene.state(1).owed, owed);
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            again,
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
    }

    #[test]
    fn work_that_is_cut_off_too_often_fails() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 1)]).with_run();
        for _ in 0..MAX_RESTARTS {
            scene.run(restart(&scene));
        }
        scene.check(
            restart(&scene),
            expect![[r#"
            run R1: AttemptFailed x1 restarted_too_often
        "#]],
        );
        // The next attempt is counted from the beginning.
        let due = scene.fire();
        scene.run(due);
        for _ in 0..MAX_RESTARTS {
            scene.run(restart(&scene));
        }
        scene.check(
            restart(&scene),
            expect![[r#"
                run R1: ExecutionFailed x1 restarted_too_often
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
    }
}
