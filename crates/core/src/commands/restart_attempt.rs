//! Says that work which a crash cut off begins again as the same attempt, so that people can see it.

use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::EffectId;
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, effect: EffectId) -> Result<(), Rejection> {
    if !draft.run(run)?.owed.contains_key(&effect) {
        return Err(Rejection::NotOwed);
    }
    draft.reply.execution = Some(draft.execution(run, effect.x)?.id);
    draft.on_run(run, RunEvent::AttemptRestarted { x: effect.x });
    Ok(())
}
