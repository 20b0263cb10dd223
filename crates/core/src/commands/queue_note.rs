//! Leaves a note for a running agent, which reads it at its next turn.

use super::wrong_execution;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{RunEvent, Text};
use crate::state::run::{ExecutionState, Stage};
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, x: ExecNo, text: &Text) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    match execution.state {
        ExecutionState::Working(Stage::Work | Stage::Check | Stage::Retry) => {}
        ExecutionState::Working(
            Stage::Client | Stage::Form | Stage::Input | Stage::Guidance | Stage::Budget,
        )
        | ExecutionState::Pending
        | ExecutionState::AwaitingStart
        | ExecutionState::AwaitingComplete
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "leave a note")?),
    }
    if text.trim().is_empty() {
        return Err(Rejection::Invalid(vec![Fault::at("/text", "a note has text")]));
    }
    draft.on_run(run, RunEvent::NoteQueued { x, text: text.clone() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, form, note, outcome_done, script};

    #[test]
    fn a_note_is_left_while_work_goes_on() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0), form("B")]).with_run();
        scene.check(
            note(1, 1, "mind the gap"),
            expect![[r#"
            run R1: NoteQueued x1
        "#]],
        );
        scene.check_code(note(1, 1, " "), "invalid_fields");
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(note(1, 1, "too late"), expect![[r#"
            refused (wrong_state): cannot leave a note: execution 00000000-0000-7000-8000-000100001001 is completed
        "#]]);
    }
}
