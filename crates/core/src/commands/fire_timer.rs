//! Says that a time has come: the next attempt begins, or the present one has taken too long.

use crate::advance;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, Usage};
use crate::plan::body::OnFailure;
use crate::state::run::{TimerId, TimerKind};
use crate::{Rejection, RunId};

/// The rule. A timer that is not set any more, or not due yet, is refused: it fires once, and not early.
pub fn decide(draft: &mut Draft<'_>, run: RunId, timer: TimerId) -> Result<(), Rejection> {
    let set = draft.run(run)?.timers.get(&timer);
    if set.is_none_or(|due| due > draft.envelope.at) {
        return Err(Rejection::NotOwed);
    }
    let body = advance::body_of(draft, run, timer.x)?;
    draft.reply.execution = Some(draft.execution(run, timer.x)?.id);
    match timer.kind {
        TimerKind::Retry => {
            advance::begin_attempt(draft, run, timer.x, timer.revision, timer.attempt + 1, &body)
        }
        TimerKind::Timeout => {
            let (seconds, then) = body.policy.timeout.unwrap_or((0, OnFailure::Pause));
            let message = format!("the attempt took longer than {seconds} seconds");
            let failure = Failure::new(FailureKind::Timeout, &message);
            advance::fail_for_good(draft, run, timer.x, failure, Usage::default(), then)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::definition::OnFailure;
    use crate::testing::{
        Scene, approve_all, asking, fire, form, input, outcome_done, outcome_failed, script, start_step,
        timed,
    };

    #[test]
    fn an_attempt_that_takes_too_long_fails_at_once() {
        let late = timed(script("A", 3), OnFailure::PausePipeline);
        let mut scene = Scene::new().with_pipeline(&[late]).with_run();
        let (timer, _) = scene.state(1).next_timer().expect("a timer");
        scene.check(
            fire(1, timer),
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
        let due = scene.fire();
        scene.check(
            due.clone(),
            expect![[r#"
                run R1: ExecutionFailed x1 timeout
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        scene.check_code(due, "not_owed");
        assert!(scene.state(1).owed.is_empty() && scene.state(1).timers.is_empty());
    }

    #[test]
    fn being_late_can_put_the_checkpoint_back() {
        let late = timed(script("B", 3), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[form("A"), late]).with_run();
        approve_all(&mut scene, 1);
        scene.run(start_step(&scene, 1));
        let due = scene.fire();
        scene.check(
            due,
            expect![[r#"
                run R1: ExecutionFailed x2 timeout
                run R1: RolledBack to node 1
                run R1: ExecutionMade x3 B at 1
                run R1: Asked x3 start
                pipeline: RolledBack to R1 keeping 0, by CheckpointFailure
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x3 pending");
    }

    #[test]
    fn time_spent_waiting_for_a_person_does_not_count() {
        let late = timed(asking("A", 0), OnFailure::PausePipeline);
        let mut scene = Scene::new().with_pipeline(&[late]).with_run();
        assert_eq!(scene.state(1).next_timer(), None);
        scene.run(input(1, 1, "this one"));
        assert!(scene.state(1).next_timer().is_some());
        scene.run(outcome_done(&scene, 1, 1));
        assert_eq!(scene.state(1).next_timer(), None);
        let form = timed(form("A"), OnFailure::PausePipeline);
        assert_eq!(Scene::new().with_pipeline(&[form]).with_run().state(1).next_timer(), None);
    }

    #[test]
    fn a_timer_is_used_up_when_it_fires() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 2)]).with_run();
        scene.run(outcome_failed(&scene, 1, 1));
        let due = scene.fire();
        scene.run(due.clone());
        scene.check_code(due, "not_owed");
        assert!(scene.state(1).timers.is_empty());
    }
}
