//! Changes a checkpoint's definition. What has started keeps the one that it pinned; what has not started
//! yet gets the new one.

use std::sync::Arc;

use super::add_checkpoint::{check, fill_ids};
use super::remove_checkpoint::check_order;
use crate::decision::Draft;
use crate::definition::CheckpointDefinition;
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{CheckpointId, PipelineId, Rejection};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct UpdateCheckpoint {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// Its whole definition from now on; ids inside it are kept when left out.
    pub definition: CheckpointDefinition,
}

/// Refuses a change that later checkpoints could not stand: they refer to what it takes away.
fn check_later(
    pipeline: &PipelineState,
    checkpoint: CheckpointId,
    definition: &CheckpointDefinition,
) -> Result<(), Rejection> {
    let mut changed = pipeline.clone();
    let body = definition.digest();
    changed.bodies.insert(body, Arc::new(definition.clone()));
    if let Some(known) = changed.checkpoints.get_mut(&checkpoint) {
        known.body = body;
    }
    let order: Vec<_> = changed.order.iter().copied().collect();
    check_order(&changed, &order)
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &UpdateCheckpoint) -> Result<(), Rejection> {
    let checkpoint = command.checkpoint;
    let pipeline = super::delete_pipeline::live(draft, id, "change a checkpoint")?.clone();
    let missing = || Rejection::NotFound { what: "checkpoint", id: checkpoint.to_string() };
    let position = pipeline.position(checkpoint).ok_or_else(missing)?;
    let before = pipeline.definition(checkpoint).cloned().ok_or_else(missing)?;
    let warnings = check(&pipeline, &command.definition, position as usize, Some(checkpoint))?;
    let mut definition = command.definition.clone();
    fill_ids(&mut draft.ids, &mut definition, Some(&before));
    if definition != *before {
        check_later(&pipeline, checkpoint, &definition)?;
        let definition = Arc::new(definition);
        draft.on_pipeline(id, PipelineEvent::CheckpointChanged { checkpoint, definition, warnings });
    }
    draft.reply.checkpoint = Some(checkpoint);
    Ok(())
}
