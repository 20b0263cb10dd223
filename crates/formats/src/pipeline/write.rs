//! Writes a pipeline as a file that says the same when it is read again.

use std::collections::BTreeMap;

use holdpoint_core::CheckpointId;
use holdpoint_core::definition::{
    CheckpointDefinition, ExecutionConfig, HumanInteraction, Instructions, Output, OutputReference,
    PipelineConfig,
};
use holdpoint_core::state::PipelineState;
use serde::Serialize;

use crate::tree::Plain;
use crate::yaml;

#[derive(Serialize)]
struct Outside<'p> {
    pipeline_name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pipeline_description: Option<&'p str>,
    config: &'p PipelineConfig,
    checkpoints: Vec<Written<'p>>,
}

#[derive(Serialize)]
struct Written<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_id: Option<CheckpointId>,
    checkpoint_name: &'p str,
    checkpoint_description: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<Dependencies>,
    inputs: Inputs,
    execution: ExecutionConfig,
    human_interaction: &'p HumanInteraction,
    output: Output,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'p Instructions>,
}

#[derive(Serialize)]
struct Dependencies {
    required_checkpoint_ids: Vec<String>,
}

#[derive(Serialize)]
struct Inputs {
    include_previous_version: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include_checkpoint_outputs: Vec<Reference>,
}

#[derive(Serialize)]
struct Reference {
    checkpoint_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_ids: Option<Vec<String>>,
    use_summarization: bool,
}

/// The pipeline as YAML. Ids are left out wherever a name says the same.
pub fn export(pipeline: &PipelineState) -> String {
    let names = Names::of(pipeline);
    let checkpoints = pipeline.ordered().map(|(id, definition)| checkpoint(&names, id, definition));
    let outside = Outside {
        pipeline_name: &pipeline.name,
        pipeline_description: pipeline.description.as_deref(),
        config: &pipeline.config,
        checkpoints: checkpoints.collect(),
    };
    // Through JSON text, which keeps the order in which the document has its fields.
    let text = serde_json::to_string(&outside).expect("definitions have string keys and finite numbers");
    match serde_json::from_str::<Plain>(&text) {
        Ok(tree) => yaml::write(&tree),
        // Deeper than any reader goes. JSON is YAML, too.
        Err(_) => text,
    }
}

/// What checkpoints are called in the file: by their names, or by ids where several have the same.
struct Names<'p> {
    pipeline: &'p PipelineState,
    counts: BTreeMap<&'p str, usize>,
}

impl<'p> Names<'p> {
    fn of(pipeline: &'p PipelineState) -> Self {
        let mut counts = BTreeMap::new();
        for (_, definition) in pipeline.ordered() {
            *counts.entry(definition.checkpoint_name.as_str()).or_default() += 1;
        }
        Self { pipeline, counts }
    }

    fn is_unique(&self, name: &str) -> bool {
        self.counts.get(name) == Some(&1)
    }

    fn checkpoint(&self, id: CheckpointId) -> String {
        let name = self.pipeline.definition(id).map(|definition| definition.checkpoint_name.clone());
        name.filter(|name| self.is_unique(name)).unwrap_or_else(|| id.to_string())
    }

    fn reference(&self, reference: &OutputReference) -> Reference {
        let target = self.pipeline.definition(reference.checkpoint_id);
        let artifact = |id: &holdpoint_core::ArtifactId| {
            let declared =
                target.and_then(|d| d.output.artifacts.iter().find(|a| a.artifact_id == Some(*id)));
            declared.map_or_else(|| id.to_string(), |artifact| artifact.name.clone())
        };
        Reference {
            checkpoint_id: self.checkpoint(reference.checkpoint_id),
            artifact_ids: reference.artifact_ids.as_ref().map(|ids| ids.iter().map(artifact).collect()),
            use_summarization: reference.use_summarization,
        }
    }
}

fn checkpoint<'p>(names: &Names<'_>, id: CheckpointId, definition: &'p CheckpointDefinition) -> Written<'p> {
    let required = &definition.dependencies.required_checkpoint_ids;
    let dependencies = (!required.is_empty()).then(|| Dependencies {
        required_checkpoint_ids: required.iter().map(|id| names.checkpoint(*id)).collect(),
    });
    let outputs = &definition.inputs.include_checkpoint_outputs;
    let mut execution = definition.execution.clone();
    let mut output = definition.output.clone();
    output.artifacts.iter_mut().for_each(|artifact| artifact.artifact_id = None);
    if let Some(form) = &mut execution.human_only_config {
        form.input_fields.iter_mut().for_each(|field| field.field_id = None);
    }
    if let Some(agents) = execution.agent_config.as_mut().and_then(|config| config.agents.as_mut()) {
        for agent in agents {
            agent.agent_id = None;
        }
    }
    let name = definition.checkpoint_name.as_str();
    Written {
        checkpoint_id: (!names.is_unique(name)).then_some(id),
        checkpoint_name: name,
        checkpoint_description: &definition.checkpoint_description,
        dependencies,
        inputs: Inputs {
            include_previous_version: definition.inputs.include_previous_version,
            include_checkpoint_outputs: outputs.iter().map(|output| names.reference(output)).collect(),
        },
        execution,
        human_interaction: &definition.human_interaction,
        output,
        instructions: definition.instructions.as_ref(),
    }
}
