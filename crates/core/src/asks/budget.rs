//! A budget that is used up: raised, and the work goes on where it was, or the work ends.

use super::Answered;
use crate::advance::{body_of, fail_for_good};
use crate::budget::{Amounts, Reached, Scope};
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Failure, FailureKind, PipelineEvent, RunEvent, Text, Usage};
use crate::plan::body::OnFailure;
use crate::state::run::{Ask, AskKind, Part};
use crate::{ExecNo, Rejection, RunId};

/// Asks whether more may be spent.
pub fn ask(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    reached: Reached,
    part: Part,
) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Budget(reached, part))
}

/// Raises the budget by what the person adds, by as much again as it was where they add nothing, or stops the work.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let Ask::Budget(reached, part) = at.gate.ask else {
        return Err(Rejection::Stale { gate: at.id });
    };
    match &*at.answer.option {
        "raise" => raise(draft, at, &reached, part),
        "stop" => stop(draft, at, &reached),
        _ => Err(at.no_such_option()),
    }
}

fn raise(draft: &mut Draft<'_>, at: &Answered<'_>, reached: &Reached, part: Part) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let again = || Text::from(reached.measure.written(reached.limit).to_string());
    let amount = at.answer.feedback.clone().unwrap_or_else(again);
    let by = reached.measure.read(&amount).map_err(|fault| Rejection::Invalid(vec![fault]))?;
    if reached.limit.saturating_add(by) <= reached.spent {
        let least = reached.measure.words(reached.spent - reached.limit);
        let message = format!("more than {least}: so much more than the budget is spent already");
        return Err(Rejection::Invalid(vec![Fault::at("/user_input", message)]));
    }
    let timeout = body_of(draft, run, x)?.policy.timeout.filter(|_| part == Part::Work);
    let deadline = timeout.map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
    let (scope, by) = (reached.scope, Amounts::of(reached.measure, by));
    draft.on_run(run, RunEvent::BudgetRaised { x, gate, digest, assurance, scope, by, deadline });
    let pipeline = draft.run(run)?.pipeline();
    if let (Scope::Pipeline, Some(pipeline)) = (scope, pipeline) {
        draft.on_pipeline(pipeline, PipelineEvent::BudgetRaised { by });
    }
    Ok(())
}

fn stop(draft: &mut Draft<'_>, at: &Answered<'_>, reached: &Reached) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let message = format!(
        "the budget of the {} is used up: {} of {}, and it was not raised",
        reached.scope.name(),
        reached.measure.words(reached.spent),
        reached.measure.words(reached.limit),
    );
    let feedback = at.answer.feedback.clone();
    draft.on_run(run, RunEvent::Rejected { x, gate, digest, assurance, of: AskKind::Budget, feedback });
    let failure = Failure::new(FailureKind::BudgetReached, &message);
    fail_for_good(draft, run, x, failure, Usage::default(), OnFailure::Pause)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::budget::{Measure, Reached, Scope};
    use crate::commands::record_outcome::Outcome;
    use crate::definition::OnValidationFailure;
    use crate::testing::{
        Scene, When, budget, cancel, judged_by, note, outcome, outcome_done, pause, script, verdict,
    };

    fn over(scene: &Scene, scope: Scope) -> When {
        let reached = Reached { scope, measure: Measure::Cost, limit: 2_000_000, spent: 2_100_000 };
        outcome(scene, 1, 1, Outcome::OverBudget(reached))
    }

    fn answer(option: &str, feedback: Option<&str>) -> When {
        budget(1, 1, option, feedback)
    }

    #[test]
    fn what_is_used_up_is_raised_and_the_same_attempt_goes_on() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        let owed = scene.state(1).owed.clone();
        scene.check(
            over(&scene, Scope::Execution),
            expect![[r#"
                run R1: Asked x1 budget
            "#]],
        );
        assert!(scene.state(1).owed.is_empty() && scene.state(1).timers.is_empty());
        scene.check_faults(
            answer("raise", Some("0.05")),
            expect![[r#"
                /user_input: more than $0.10: so much more than the budget is spent already
            "#]],
        );
        scene.check_faults(
            answer("raise", Some("a lot")),
            expect![[r#"
                /user_input: how many dollars to add, more than 0; or `stop`
            "#]],
        );
        scene.check_faults(
            answer("maybe", None),
            expect![[r#"
                /option: one of: raise, stop
            "#]],
        );
        scene.check_code(note(1, 1, "quick"), "wrong_state");
        let raise = answer("raise", Some("$1.50"));
        scene.check(
            raise.clone(),
            expect![[r#"
                run R1: BudgetRaised x1
            "#]],
        );
        assert_eq!(scene.state(1).owed, owed);
        assert_eq!(scene.execution(1, 1).raised.cost, 1_500_000);
        scene.check_code(raise, "wrong_state");
        scene.run(outcome_done(&scene, 1, 1));
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn what_all_runs_may_spend_is_raised_in_the_pipeline() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(over(&scene, Scope::Pipeline));
        scene.check(
            answer("raise", None),
            expect![[r#"
                run R1: BudgetRaised x1
                pipeline: BudgetRaised { by: Amounts { tokens: 0, cost: 2000000, time: 0 } }
            "#]],
        );
        assert_eq!(scene.pipeline().raised.cost, 2_000_000);
    }

    #[test]
    fn a_check_goes_on_as_a_check() {
        let judged = judged_by(script("A", 0), OnValidationFailure::AskHuman, 1);
        let mut scene = Scene::new().with_pipeline(&[judged]).with_run();
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(over(&scene, Scope::Run));
        scene.run(answer("raise", None));
        assert_eq!(scene.state(1).raised.cost, 2_000_000);
        scene.run(verdict(&scene, 1, 1, true));
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn what_is_not_raised_ends_without_a_retry_and_pauses_the_run() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 3)]).with_run();
        scene.run(over(&scene, Scope::Run));
        scene.run(pause(1));
        let stop = answer("stop", None);
        scene.as_agent().check_code(stop, "not_a_person");
        scene.actor = crate::Actor::person("ann");
        scene.check(
            answer("stop", None),
            expect![[r#"
                run R1: Rejected x1
                run R1: ExecutionFailed x1 budget_reached
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        assert_eq!(scene.state(1).gates.len(), 1, "only the failure asks");
    }

    #[test]
    fn a_question_about_a_budget_can_be_cancelled() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 3)]).with_run();
        scene.run(over(&scene, Scope::Run));
        scene.run(cancel(1, 1));
        assert_eq!(scene.status(1), "paused: x1 failed");
    }
}
