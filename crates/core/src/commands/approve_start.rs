//! Lets a step begin.

use super::{check_decision, wrong_execution, wrong_run};
use crate::command::Decide;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::flow;
use crate::state::run::{ExecutionState, GateKind, RunStatus};
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, decision: &Decide) -> Result<(), Rejection> {
    draft.require_person()?;
    let x = decision.x;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    let gate = match execution.state {
        ExecutionState::AwaitingStart(gate) => gate,
        // What was asked for is in effect.
        ExecutionState::Working(_) => return Ok(()),
        ExecutionState::Pending
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "approve the start")?),
    };
    match draft.run(run)?.status {
        RunStatus::InProgress => {}
        RunStatus::NotStarted
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Aborted => return Err(wrong_run(draft, run, "approve the start")?),
    }
    check_decision(draft, run, decision, gate, GateKind::ApproveStart)?;
    super::start_step::require_dependencies(draft, run, x)?;
    if !flow::approve(draft, run, x, gate, GateKind::ApproveStart)? {
        return Ok(());
    }
    draft.on_run(run, RunEvent::StartApproved { x, gate });
    let policy = flow::policy_of(draft, run, x)?;
    flow::begin_attempt(draft, run, x, 0, 1, &policy);
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, approve_start, human};

    #[test]
    fn approval_begins_the_first_attempt() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            approve_start(1, 1),
            expect![[r#"
            run R1: StartApproved x1
            run R1: AttemptBegan x1 revision 0 attempt 1 form
        "#]],
        );
        scene.check(
            approve_start(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn an_agent_cannot_approve() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.as_agent().check(
            approve_start(1, 1),
            expect![[r#"
            refused (not_a_person): only a person can decide here
        "#]],
        );
    }

    #[test]
    fn a_stale_digest_is_refused() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        let mut command = approve_start(1, 1);
        command.decision().digest = Some(crate::Digest::of(b"something else"));
        scene.check_code(command, "stale_decision");
    }
}
