//! What an execution is given: outputs of the version before and of earlier checkpoints.

use holdpoint_core::definition::OutputReference;
use holdpoint_core::event::Origin;
use holdpoint_core::state::run::{Execution, ExecutionState, RunState};
use holdpoint_core::{CheckpointId, RunId};
use serde::Serialize;
use utoipa::ToSchema;

use super::artifact::ArtifactDocument;
use super::sources::{RunSource, pinned};
use crate::{Engine, SubmitError};

/// What an execution is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct InputsDocument {
    /// The outputs of the same checkpoint in the run before, where the definition asks for them.
    pub previous_version: Option<GivenOutput>,
    /// The outputs of earlier checkpoints of this run that the definition refers to.
    pub referenced_outputs: Vec<GivenOutput>,
}

/// Outputs of one checkpoint of one run.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GivenOutput {
    /// The checkpoint.
    pub checkpoint_id: CheckpointId,
    /// What it is called.
    pub checkpoint_name: Option<String>,
    /// Its position.
    pub checkpoint_position: Option<u32>,
    /// The run.
    pub run_id: Option<RunId>,
    /// The run's version.
    pub run_version: Option<u32>,
    /// Whether there is nothing to be given, and why.
    pub missing: Option<String>,
    /// Whether a summary is asked for.
    pub use_summarization: bool,
    /// The outputs.
    pub artifacts: Vec<ArtifactDocument>,
}

/// The completed execution of a checkpoint in a run, the latest if there are several.
fn completed(run: &RunState, checkpoint: CheckpointId) -> Option<&Execution> {
    let mut all = run.executions().rev().map(|(_, e)| e.as_ref());
    all.find(|e| e.place.step.checkpoint() == Some(checkpoint) && e.state == ExecutionState::Completed)
}

impl Engine {
    pub(super) async fn inputs_of(
        &self,
        source: &RunSource,
        execution: &Execution,
    ) -> Result<InputsDocument, SubmitError> {
        let mut inputs = InputsDocument::default();
        let Some(pipeline) = source.state().pipeline() else { return Ok(inputs) };
        let pipeline = self.pipeline_source(pipeline).await?;
        let Some(definition) = pinned(Some(pipeline.state()), execution) else { return Ok(inputs) };
        let Some(checkpoint) = execution.place.step.checkpoint() else { return Ok(inputs) };
        if definition.inputs.include_previous_version
            && let Some(Origin::Pipeline { previous: Some((run, _)), .. }) = source.state().origin
        {
            let previous = self.any_run_source(run).await?;
            let reference =
                OutputReference { checkpoint_id: checkpoint, artifact_ids: None, use_summarization: false };
            inputs.previous_version = Some(self.given(&previous, &reference).await?);
        }
        for reference in &definition.inputs.include_checkpoint_outputs {
            inputs.referenced_outputs.push(self.given(source, reference).await?);
        }
        Ok(inputs)
    }

    async fn given(
        &self,
        source: &RunSource,
        reference: &OutputReference,
    ) -> Result<GivenOutput, SubmitError> {
        let run = source.state();
        let version = run.number().map(|(number, _)| number);
        let mut given = GivenOutput {
            checkpoint_id: reference.checkpoint_id,
            checkpoint_name: None,
            checkpoint_position: None,
            run_id: Some(source.id),
            run_version: version,
            missing: None,
            use_summarization: reference.use_summarization,
            artifacts: Vec::new(),
        };
        let Some(execution) = completed(run, reference.checkpoint_id) else {
            let version = version.map_or_else(String::new, |version| format!(" v{version}"));
            given.missing = Some(format!("run{version} has no completed output of this checkpoint"));
            return Ok(given);
        };
        given.checkpoint_name = execution.name.as_ref().map(ToString::to_string);
        given.checkpoint_position = Some(execution.position);
        let all = self.artifacts_of(source, execution.id).await?;
        let wanted = |artifact: &ArtifactDocument| {
            artifact.current
                && reference.artifact_ids.as_ref().is_none_or(|ids| ids.contains(&artifact.artifact_id))
        };
        given.artifacts = all.into_iter().filter(wanted).collect();
        Ok(given)
    }
}
