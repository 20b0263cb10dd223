//! Brings a pipeline back that was put away.

use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::{PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId) -> Result<(), Rejection> {
    if draft.pipeline(id)?.deleted_at.is_some() {
        draft.on_pipeline(id, PipelineEvent::Restored {});
    }
    Ok(())
}
