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
        ExecutionState::Working(Stage::Form(_) | Stage::Work | Stage::Check | Stage::Retry)
        | ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "answer")?),
    }
    Ok(())
}
