//! Changes the order of a pipeline's checkpoints: a new definition version, whose runs count from 1.

use std::collections::BTreeSet;

use super::remove_checkpoint::check_order;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::PipelineEvent;
use crate::{CheckpointId, PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, order: &[CheckpointId]) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::live(draft, id, "reorder checkpoints")?;
    let wanted: BTreeSet<_> = order.iter().copied().collect();
    let present: BTreeSet<_> = pipeline.order.iter().copied().collect();
    if wanted != present || wanted.len() != order.len() {
        let message = "the order must name each checkpoint of the pipeline exactly once";
        return Err(Rejection::Invalid(vec![Fault::at("/checkpoint_order", message)]));
    }
    if pipeline.order.iter().eq(order.iter()) {
        return Ok(());
    }
    let pipeline = super::delete_pipeline::changeable(draft, id, "reorder checkpoints")?;
    check_order(pipeline, order)?;
    draft.on_pipeline(id, PipelineEvent::Reordered { order: order.to_vec() });
    Ok(())
}
