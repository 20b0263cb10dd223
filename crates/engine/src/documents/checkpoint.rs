//! A checkpoint's definition with what is kept beside it.

use holdpoint_core::definition::{
    CheckpointDefinition, Dependencies, ExecutionConfig, Fault, HumanInteraction, Inputs, Instructions,
    Output,
};
use holdpoint_core::state::PipelineState;
use holdpoint_core::{CheckpointId, PipelineId, Rejection};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Time, time};
use crate::{Engine, SubmitError};

/// A checkpoint of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CheckpointDocument {
    /// Its id, which never changes.
    pub checkpoint_id: CheckpointId,
    /// The pipeline that it belongs to.
    pub pipeline_id: PipelineId,
    /// Its place in the order, from 0; none: it was taken out.
    pub checkpoint_position: Option<u32>,
    /// What people call it.
    pub checkpoint_name: String,
    /// What it is for.
    pub checkpoint_description: String,
    /// When it was added.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// When it was taken out of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<Time>,
    /// What must be completed before it starts.
    pub dependencies: Dependencies,
    /// What its work is given.
    pub inputs: Inputs,
    /// How the work is done.
    pub execution: ExecutionConfig,
    /// Where people decide.
    pub human_interaction: HumanInteraction,
    /// What must come out, and how it is checked.
    pub output: Output,
    /// What the work is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// The SHA-256 of the definition: what an execution pins.
    pub definition_digest: String,
    /// What was found worth knowing.
    pub warnings: Vec<Fault>,
}

impl CheckpointDocument {
    pub(super) fn of(pipeline: PipelineId, state: &PipelineState, id: CheckpointId) -> Option<Self> {
        let known = state.checkpoints.get(&id)?;
        let definition = CheckpointDefinition::clone(state.bodies.get(&known.body)?.definition());
        Some(Self {
            checkpoint_id: id,
            pipeline_id: pipeline,
            checkpoint_position: state.position(id),
            checkpoint_name: definition.checkpoint_name,
            checkpoint_description: definition.checkpoint_description,
            created_at: known.created_at.into(),
            updated_at: known.updated_at.into(),
            removed_at: time(known.removed_at),
            dependencies: definition.dependencies,
            inputs: definition.inputs,
            execution: definition.execution,
            human_interaction: definition.human_interaction,
            output: definition.output,
            instructions: definition.instructions,
            definition_digest: known.body.checksum(),
            warnings: known.warnings.clone(),
        })
    }
}

impl Engine {
    /// A checkpoint; one that was taken out of the order is not found.
    pub async fn checkpoint_document(&self, id: CheckpointId) -> Result<CheckpointDocument, SubmitError> {
        let pipeline = self.locate_checkpoint(id).await?;
        let source = self.pipeline_source(pipeline).await?;
        CheckpointDocument::of(pipeline, source.state(), id)
            .filter(|checkpoint| checkpoint.checkpoint_position.is_some())
            .ok_or_else(|| Rejection::NotFound { what: "checkpoint", id: id.to_string() }.into())
    }

    /// All checkpoints of a pipeline, in order.
    pub async fn checkpoint_documents(
        &self,
        pipeline: PipelineId,
    ) -> Result<Vec<CheckpointDocument>, SubmitError> {
        let source = self.pipeline_source(pipeline).await?;
        let state = source.state();
        Ok(state.order.iter().filter_map(|id| CheckpointDocument::of(pipeline, state, *id)).collect())
    }
}
