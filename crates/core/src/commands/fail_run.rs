//! Declares a run failed, where nobody wants to retry or roll back.

use super::abort_run::stop_steps;
use super::wrong_run;
use crate::decision::Draft;
use crate::event::{Failure, RunEvent, Text};
use crate::flow;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, reason: Option<&Text>) -> Result<(), Rejection> {
    match draft.run(run)?.status {
        RunStatus::InProgress | RunStatus::Paused => {}
        RunStatus::Failed => return Ok(()),
        RunStatus::NotStarted | RunStatus::Completed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "fail")?);
        }
    }
    stop_steps(draft, run, &Failure::new("run_failed", "the run was declared failed"))?;
    draft.on_run(run, RunEvent::Failed { reason: reason.cloned() });
    flow::close_run(draft, run)
}
