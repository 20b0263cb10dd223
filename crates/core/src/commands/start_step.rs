//! Begins a run that has not started, or the step that stands at pending.

use super::{wrong_execution, wrong_run};
use crate::decision::Draft;
use crate::flow;
use crate::state::run::{ExecutionState, RunStatus};
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    match state.status {
        RunStatus::NotStarted => {
            flow::require_present_definition(draft, run)?;
            return super::start_run::begin(draft, run);
        }
        RunStatus::InProgress => {}
        RunStatus::Paused | RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "start a step")?);
        }
    }
    let active = state.branches.values().flat_map(|b| b.active.iter());
    let pending = active
        .filter_map(|x| Some((*x, state.execution(*x)?)))
        .find(|(_, execution)| execution.state == ExecutionState::Pending);
    let current = pending.or_else(|| state.current()).map(|(x, e)| (x, e.id, e.state));
    let Some((x, id, standing)) = current else { return Err(wrong_run(draft, run, "start a step")?) };
    draft.reply.execution = Some(id);
    match standing {
        ExecutionState::Pending => {}
        // What was asked for is in effect.
        ExecutionState::AwaitingStart(_) | ExecutionState::Working(_) => return Ok(()),
        ExecutionState::AwaitingComplete(_) | ExecutionState::Completed | ExecutionState::Failed => {
            return Err(wrong_execution(draft, run, x, "start the step")?);
        }
    }
    require_dependencies(draft, run, x)?;
    let policy = flow::policy_of(draft, run, x)?;
    if policy.approve_start {
        return flow::ask_to_start(draft, run, x);
    }
    flow::begin_attempt(draft, run, x, 0, 1, &policy);
    Ok(())
}

/// Refuses to begin a step before what it depends on is completed.
pub(super) fn require_dependencies(draft: &Draft<'_>, run: RunId, x: crate::ExecNo) -> Result<(), Rejection> {
    let missing = flow::missing_dependencies(draft, run, x)?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Rejection::DependencyNotMet { step: flow::step_name(draft, run, x)?, missing })
}
