//! The files of a snapshot were restored: the run continues from its node, and waits until somebody resumes it.

use super::wrong_run;
use crate::advance::{BranchCause, branch_from};
use crate::asks;
use crate::decision::Draft;
use crate::event::{PauseReason, RunEvent};
use crate::state::run::RunStatus;
use crate::{NodeNo, Rejection, RollbackId, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, node: NodeNo) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    if state.status == RunStatus::NotStarted || state.pipeline().is_some() {
        return Err(wrong_run(draft, run, "recover")?);
    }
    let rollback = RollbackId(draft.ids.mint());
    draft.reply.rollback = Some(rollback);
    branch_from(draft, run, node, BranchCause::Recover { rollback })?;
    draft.on_run(run, RunEvent::Paused { reason: PauseReason::Recovered });
    Ok(())
}

/// Undoes the newest recovery of a run that is not undone yet. Files were put back before.
pub fn undo(draft: &mut Draft<'_>, run: RunId, rollback: RollbackId) -> Result<(), Rejection> {
    draft.reply.rollback = Some(rollback);
    let graph = &draft.run(run)?.graph;
    let made = graph.branches().find(|(_, branch)| branch.cause.rollback() == Some(rollback));
    let Some((_, branch)) = made else {
        return Err(Rejection::NotFound { what: "recovery", id: rollback.to_string() });
    };
    if !branch.is_live() {
        return match branch.retired.as_ref().is_some_and(|retired| retired.by == rollback) {
            true => Ok(()),
            false => {
                let reason = "a later recovery must be undone first".to_owned();
                Err(Rejection::CannotUndo { rollback, reason })
            }
        };
    }
    draft.on_run(run, RunEvent::Undone { rollback });
    asks::failed::ask_all(draft, run)
}
