//! Stops a step's work: the attempt has failed, without another one, and the run pauses.

use super::wrong_execution;
use crate::decision::Draft;
use crate::definition::OnFailure;
use crate::event::{Failure, Usage};
use crate::flow;
use crate::state::run::ExecutionState;
use crate::{ExecNo, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    match execution.state {
        ExecutionState::Working(_) => {}
        ExecutionState::Failed if was_cancelled(&execution) => return Ok(()),
        ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "cancel")?),
    }
    let failure = Failure::new("cancelled", "the work was cancelled");
    flow::fail_for_good(draft, run, x, failure, Usage::default(), OnFailure::PausePipeline)
}

fn was_cancelled(execution: &crate::state::run::Execution) -> bool {
    execution.last_error.as_ref().is_some_and(|(_, failure)| &*failure.error_type == "cancelled")
}
