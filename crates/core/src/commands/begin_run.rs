//! Begins a run that was made without starting.

use super::wrong_run;
use crate::advance;
use crate::decision::Draft;
use crate::state::run::RunStatus;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    match draft.run(run)?.status {
        RunStatus::NotStarted => {
            advance::require_present_definition(draft, run)?;
            super::start_run::begin(draft, run)
        }
        RunStatus::InProgress
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Aborted => Err(wrong_run(draft, run, "start a step")?),
    }
}
