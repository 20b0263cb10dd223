//! Takes a checkpoint out of a pipeline's order.

use super::add_checkpoint::check;
use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{CheckpointId, PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, checkpoint: CheckpointId) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::changeable(draft, id, "remove a checkpoint")?;
    if pipeline.position(checkpoint).is_none() {
        return Err(Rejection::NotFound { what: "checkpoint", id: checkpoint.to_string() });
    }
    let order: Vec<_> = pipeline.order.iter().copied().filter(|other| *other != checkpoint).collect();
    check_order(pipeline, &order)?;
    draft.on_pipeline(id, PipelineEvent::CheckpointRemoved { checkpoint });
    draft.reply.checkpoint = Some(checkpoint);
    Ok(())
}

/// Refuses an order in which some definition could not stand.
pub(super) fn check_order(pipeline: &PipelineState, order: &[CheckpointId]) -> Result<(), Rejection> {
    let mut reordered = pipeline.clone();
    reordered.order = order.iter().copied().collect();
    let mut faults = Vec::new();
    for (position, (id, definition)) in reordered.ordered().enumerate() {
        if let Err(Rejection::Invalid(found)) = check(&reordered, definition, position, Some(id)) {
            faults.extend(found.into_iter().map(|mut fault| {
                fault.pointer = format!("/checkpoints/{id}{}", fault.pointer);
                fault
            }));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}
