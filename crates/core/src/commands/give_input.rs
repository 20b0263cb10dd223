//! Answers a question inside a step: what a script needs, or guidance after a failed check.

use super::{wrong_execution, wrong_run};
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{RunEvent, Text};
use crate::flow;
use crate::state::run::{ExecutionState, RunStatus, Stage};
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, x: ExecNo, text: &Text) -> Result<(), Rejection> {
    draft.require_person()?;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    if draft.run(run)?.status != RunStatus::InProgress {
        return Err(wrong_run(draft, run, "answer")?);
    }
    if text.trim().is_empty() {
        return Err(Rejection::Invalid(vec![Fault::at("/user_input", "an answer is required")]));
    }
    let policy = flow::policy_of(draft, run, x)?;
    match execution.state {
        ExecutionState::Working(Stage::Input(gate)) => {
            let deadline = policy.timeout.map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
            draft.on_run(run, RunEvent::InputGiven { x, gate, text: text.clone(), deadline });
        }
        ExecutionState::Working(Stage::Guidance(gate)) => {
            let (revision, attempt) = (execution.revision, execution.attempt + 1);
            draft.on_run(run, RunEvent::GuidanceGiven { x, gate, text: text.clone() });
            flow::begin_attempt(draft, run, x, revision, attempt, &policy);
        }
        ExecutionState::Working(
            Stage::Form(_) | Stage::Budget(_) | Stage::Work | Stage::Check | Stage::Retry,
        )
        | ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "answer")?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::definition::OnValidationFailure;
    use crate::testing::{
        Scene, asking, input, judged_by, outcome_done, outcome_failed, retry, script, verdict,
    };

    #[test]
    fn a_script_runs_after_its_question_is_answered() {
        let mut scene = Scene::new().with_pipeline(&[asking("A", 0)]).with_run();
        scene.check_faults(
            input(1, 1, " "),
            expect![[r#"
            /user_input: an answer is required
        "#]],
        );
        scene.check(
            input(1, 1, "this one"),
            expect![[r#"
            run R1: InputGiven x1
        "#]],
        );
        scene.check(input(1, 1, "that one"), expect![[r#"
            refused (wrong_state): cannot answer: execution 00000000-0000-7000-8000-000100001001 is in_progress
        "#]]);
        assert_eq!(scene.state(1).owed.len(), 1);
    }

    #[test]
    fn an_automatic_attempt_uses_the_answer_and_a_persons_asks_anew() {
        let mut scene = Scene::new().with_pipeline(&[asking("A", 1)]).with_run();
        scene.run(input(1, 1, "this one"));
        scene.run(outcome_failed(&scene, 1, 1));
        let due = scene.fire();
        scene.check(
            due,
            expect![[r#"
            run R1: AttemptBegan x1 revision 0 attempt 2 work
        "#]],
        );
        scene.run(outcome_failed(&scene, 1, 1));
        scene.check(
            retry(1, 1),
            expect![[r#"
            run R1: RetryGranted x1
            run R1: Resumed
            run R1: AttemptBegan x1 revision 0 attempt 3 input
        "#]],
        );
    }

    #[test]
    fn guidance_after_a_failed_check_begins_the_next_attempt() {
        let judged = judged_by(script("A", 0), OnValidationFailure::AskHuman, 1);
        let mut scene = Scene::new().with_pipeline(&[judged]).with_run();
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            verdict(&scene, 1, 1, false),
            expect![[r#"
            run R1: Checked x1
            run R1: GuidanceAsked x1
        "#]],
        );
        scene.as_agent().check_code(input(1, 1, "look again"), "not_a_person");
        scene.actor = crate::Actor::person("ann");
        scene.check(
            input(1, 1, "look again"),
            expect![[r#"
            run R1: GuidanceGiven x1
            run R1: AttemptBegan x1 revision 0 attempt 2 work
        "#]],
        );
        let feedback = &scene.execution(1, 1).feedback;
        assert_eq!(feedback.iter().map(|text| &**text).collect::<Vec<_>>(), ["too short", "look again"]);
    }
}
