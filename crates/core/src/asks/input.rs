//! What a script asks for before it runs.

use super::Answered;
use crate::advance;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{RunEvent, Text};
use crate::state::run::Ask;
use crate::{ExecNo, Rejection, RunId};

/// Asks the script's question.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Input)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    if &*at.answer.option != "submit" {
        return Err(at.no_such_option());
    }
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let text = Some(given(at)?);
    let timeout = advance::body_of(draft, run, x)?.policy.timeout;
    let deadline = timeout.map(|(seconds, _)| draft.envelope.at.plus_seconds(seconds));
    let fields = crate::command::Fields::new();
    draft.on_run(run, RunEvent::Submitted { x, gate, digest, assurance, fields, text, deadline });
    Ok(())
}

/// The text that was given.
pub(super) fn given(at: &Answered<'_>) -> Result<Text, Rejection> {
    let text = at.answer.feedback.clone().filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| Rejection::Invalid(vec![Fault::at("/user_input", "an answer is required")]))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, asking, input, outcome_failed, retry};

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
                run R1: Submitted x1 this one
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
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
        scene.run(outcome_failed(&scene, 1, 1));
        scene.check(
            retry(1, 1),
            expect![[r#"
                run R1: RetryGranted x1
                run R1: Resumed
                run R1: AttemptBegan x1 revision 0 attempt 3
                run R1: Asked x1 script_input
            "#]],
        );
    }
}
