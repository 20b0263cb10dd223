//! What an execution is given: outputs of the version before and of earlier checkpoints.

use holdpoint_core::inputs::GivenFrom;
use holdpoint_core::{CheckpointId, ExecNo, RunId};
use serde::Serialize;
use utoipa::ToSchema;

use super::artifact::ArtifactDocument;
use super::sources::RunSource;
use crate::given::GivenSource;
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

impl Engine {
    pub(super) async fn inputs_of(
        &self,
        source: &RunSource,
        x: ExecNo,
    ) -> Result<InputsDocument, SubmitError> {
        let mut inputs = InputsDocument::default();
        for given in self.given(source.id, x).await? {
            let Some(checkpoint) = given.step.checkpoint() else { continue };
            let document = self.given_output(&given, checkpoint).await?;
            match given.from {
                GivenFrom::PreviousRun => inputs.previous_version = Some(document),
                GivenFrom::ThisRun => inputs.referenced_outputs.push(document),
            }
        }
        Ok(inputs)
    }

    async fn given_output(
        &self,
        given: &GivenSource,
        checkpoint: CheckpointId,
    ) -> Result<GivenOutput, SubmitError> {
        let mut artifacts = Vec::new();
        if let (Some(found), Some(run), Some(execution)) =
            (&given.found, given.run_id(), given.execution_id())
        {
            artifacts = self.artifacts_of(&self.any_run_source(run).await?, execution).await?;
            artifacts.retain(|artifact| {
                found.outputs.iter().any(|output| output.made.record == artifact.artifact_record_id)
            });
        }
        Ok(GivenOutput {
            checkpoint_id: checkpoint,
            checkpoint_name: given.name(),
            checkpoint_position: given.position(),
            run_id: given.run_id(),
            run_version: given.version(),
            missing: given.found.is_none().then(|| given.why_missing()),
            use_summarization: given.summarise,
            artifacts,
        })
    }
}
