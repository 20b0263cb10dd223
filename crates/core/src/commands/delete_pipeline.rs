//! Puts a pipeline away. It can be brought back.

use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId) -> Result<(), Rejection> {
    let pipeline = draft.pipeline(id)?;
    if pipeline.deleted_at.is_some() {
        return Ok(());
    }
    if !pipeline.active.is_empty() {
        return Err(Rejection::RunsActive(pipeline.active.iter().copied().collect()));
    }
    draft.on_pipeline(id, PipelineEvent::Deleted {});
    Ok(())
}

/// A pipeline that was not put away.
pub(super) fn live<'d>(
    draft: &'d Draft<'_>,
    id: PipelineId,
    action: &'static str,
) -> Result<&'d PipelineState, Rejection> {
    let pipeline = draft.pipeline(id)?;
    if pipeline.is_live() {
        return Ok(pipeline);
    }
    let (id, state, possible) = (id.to_string(), "deleted", vec!["restore"]);
    Err(Rejection::WrongState { action, what: "pipeline", id, state, possible })
}

/// A pipeline whose order may change: not put away, and without active runs.
pub(super) fn changeable<'d>(
    draft: &'d Draft<'_>,
    id: PipelineId,
    action: &'static str,
) -> Result<&'d PipelineState, Rejection> {
    let pipeline = live(draft, id, action)?;
    if pipeline.active.is_empty() {
        return Ok(pipeline);
    }
    Err(Rejection::RunsActive(pipeline.active.iter().copied().collect()))
}
