//! A budget that is used up: raised, and the work goes on where it stands, or the work ends.

use super::{fail_for_good, policy_of};
use crate::budget::{Amounts, Scope};
use crate::decision::Draft;
use crate::definition::{Fault, OnFailure};
use crate::event::{Failure, FailureKind, PipelineEvent, RunEvent, Text, Usage};
use crate::{ExecNo, GateId, Rejection, RunId};

/// The answer is an amount to add, or `stop`.
pub fn answer_budget(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    gate: GateId,
    answer: &Text,
) -> Result<(), Rejection> {
    draft.require_person()?;
    draft.reply.execution = Some(draft.execution(run, x)?.id);
    let missing = || Rejection::NotFound { what: "open gate", id: gate.to_string() };
    let state = draft.run(run)?;
    let (reached, check) = state.gates.get(&gate).and_then(|gate| gate.budget).ok_or_else(missing)?;
    let pipeline = state.pipeline();
    if answer.trim().eq_ignore_ascii_case("stop") {
        let message = format!(
            "the budget of the {} is used up: {} of {}, and it was not raised",
            reached.scope.name(),
            reached.measure.words(reached.spent),
            reached.measure.words(reached.limit),
        );
        let failure = Failure::new(FailureKind::BudgetReached, &message);
        return fail_for_good(draft, run, x, failure, Usage::default(), OnFailure::PausePipeline);
    }
    let by = reached.measure.read(answer).map_err(|fault| Rejection::Invalid(vec![fault]))?;
    let limit = reached.limit.saturating_add(by);
    if limit <= reached.spent {
        let least = reached.measure.words(reached.spent - reached.limit);
        let message = format!("more than {least}: so much more than the budget is spent already");
        return Err(Rejection::Invalid(vec![Fault::at("/user_input", message)]));
    }
    let policy = policy_of(draft, run, x)?;
    let deadline =
        policy.timeout.filter(|_| !check).map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
    let (scope, by) = (reached.scope, Amounts::of(reached.measure, by));
    draft.on_run(run, RunEvent::BudgetRaised { x, gate, scope, by, check, deadline });
    if let (Scope::Pipeline, Some(pipeline)) = (scope, pipeline) {
        draft.on_pipeline(pipeline, PipelineEvent::BudgetRaised { by });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::RunCommand;
    use crate::budget::{Measure, Reached, Scope};
    use crate::commands::answer_gate::AnswerGate;
    use crate::commands::record_outcome::Outcome;
    use crate::definition::OnValidationFailure;
    use crate::event::Text;
    use crate::testing::{
        Scene, When, cancel, judged_by, note, on_run, outcome, outcome_done, pause, script, verdict,
    };

    fn over(scene: &Scene, scope: Scope) -> When {
        let reached = Reached { scope, measure: Measure::Cost, limit: 2_000_000, spent: 2_100_000 };
        outcome(scene, 1, 1, Outcome::OverBudget(reached))
    }

    fn answer(scene: &Scene, option: &str, feedback: Option<&str>) -> When {
        let gate = scene.state(1).gates.keys().next().copied().expect("an open gate");
        let feedback = feedback.map(Text::from);
        on_run(1, RunCommand::AnswerGate(AnswerGate { gate, option: option.into(), feedback, digest: None }))
    }

    #[test]
    fn what_is_used_up_is_raised_and_the_same_attempt_goes_on() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        let owed = scene.state(1).owed.clone();
        scene.check(
            over(&scene, Scope::Execution),
            expect![[r#"
                run R1: BudgetAsked x1
            "#]],
        );
        assert!(scene.state(1).owed.is_empty() && scene.state(1).timers.is_empty());
        scene.check_faults(
            answer(&scene, "raise", Some("0.05")),
            expect![[r#"
                /user_input: more than $0.10: so much more than the budget is spent already
            "#]],
        );
        scene.check_faults(
            answer(&scene, "raise", Some("a lot")),
            expect![[r#"
                /user_input: how many dollars to add, more than 0; or `stop`
            "#]],
        );
        scene.check_faults(
            answer(&scene, "maybe", None),
            expect![[r#"
                /option: one of: raise, stop
            "#]],
        );
        scene.check_code(note(1, 1, "quick"), "wrong_state");
        let raise = answer(&scene, "raise", Some("$1.50"));
        scene.check(
            raise.clone(),
            expect![[r#"
                run R1: BudgetRaised x1
            "#]],
        );
        assert_eq!(scene.state(1).owed, owed);
        assert_eq!(scene.execution(1, 1).raised.cost, 1_500_000);
        scene.check_code(raise, "not_found");
        scene.run(outcome_done(&scene, 1, 1));
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn what_all_runs_may_spend_is_raised_in_the_pipeline() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(over(&scene, Scope::Pipeline));
        scene.check(
            answer(&scene, "raise", None),
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
        scene.run(answer(&scene, "raise", None));
        assert_eq!(scene.state(1).raised.cost, 2_000_000);
        scene.run(verdict(&scene, 1, 1, true));
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn what_is_not_raised_ends_without_a_retry_and_pauses_the_run() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 3)]).with_run();
        scene.run(over(&scene, Scope::Run));
        scene.run(pause(1));
        let stop = answer(&scene, "stop", None);
        scene.as_agent().check_code(stop, "not_a_person");
        scene.actor = crate::Actor::person("ann");
        scene.check(
            answer(&scene, "stop", None),
            expect![[r#"
                run R1: ExecutionFailed x1 budget_reached
                run R1: Paused StepFailed
            "#]],
        );
        assert!(scene.state(1).gates.is_empty());
    }

    #[test]
    fn a_question_about_a_budget_can_be_cancelled() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 3)]).with_run();
        scene.run(over(&scene, Scope::Run));
        scene.run(cancel(1, 1));
        assert_eq!(scene.status(1), "paused: x1 failed");
    }
}
