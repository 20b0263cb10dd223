//! Does not let a step begin: it stands at pending until somebody asks again.

use super::{check_decision, wrong_execution};
use crate::command::Decide;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::flow;
use crate::state::run::{ExecutionState, GateKind};
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, decision: &Decide) -> Result<(), Rejection> {
    draft.require_person()?;
    let x = decision.x;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    let gate = match execution.state {
        ExecutionState::AwaitingStart(gate) => gate,
        ExecutionState::Pending if execution.held_back => return Ok(()),
        ExecutionState::Pending
        | ExecutionState::Working(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "reject the start")?),
    };
    check_decision(draft, run, decision, gate, GateKind::ApproveStart)?;
    flow::require_approver(draft, run, x)?;
    draft.on_run(run, RunEvent::StartRejected { x, gate, feedback: decision.feedback.clone() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, human, reject_start, start_step};

    #[test]
    fn a_rejected_start_can_be_asked_for_again() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            reject_start(1, 1),
            expect![[r#"
            run R1: StartRejected x1
        "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 pending");
        scene.check(
            start_step(1),
            expect![[r#"
            run R1: StartAsked x1
        "#]],
        );
    }
}
