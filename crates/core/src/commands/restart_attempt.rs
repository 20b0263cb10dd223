//! Says that work which a crash cut off begins again as the same attempt, so that people can see it.

use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::EffectId;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, effect: EffectId) -> Result<(), Rejection> {
    if !draft.run(run)?.owed.contains_key(&effect) {
        return Err(Rejection::NotOwed);
    }
    draft.reply.execution = Some(draft.execution(run, effect.x)?.id);
    draft.on_run(run, RunEvent::AttemptRestarted { x: effect.x });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::RunCommand;
    use crate::testing::{Scene, on_run, outcome_done, script};

    #[test]
    fn work_that_was_cut_off_goes_on_as_the_same_attempt() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 1)]).with_run();
        let effect = *scene.state(1).owed.keys().next().expect("owed work");
        let restart = || on_run(1, RunCommand::RestartAttempt(effect));
        let before = scene.state(1).clone();
        scene.check(
            restart(),
            expect![[r#"
            run R1: AttemptRestarted x1
        "#]],
        );
        assert_eq!(*scene.state(1), before);
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            restart(),
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
    }
}
