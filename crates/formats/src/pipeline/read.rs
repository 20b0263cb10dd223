//! Reads a pipeline file.

use holdpoint_core::commands::apply_pipeline::{ApplyCheckpoint, ApplyOutput, ApplyPipeline};
use holdpoint_core::definition::{CheckpointDefinition, Fault, PipelineConfig};
use holdpoint_core::{CheckpointId, PipelineId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::explain::explain;
use crate::objects;
use crate::problem::{Places, Problem};
use crate::tree::{self, Syntax};

/// A pipeline file that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineFile {
    /// The pipeline that it describes; else the one of its name.
    pub pipeline_id: Option<PipelineId>,
    /// What it says.
    pub content: ApplyPipeline,
    places: Places,
}

impl PipelineFile {
    /// A fault of the content with its place in the file.
    pub fn locate(&self, fault: Fault) -> Problem {
        self.places.locate(fault)
    }
}

/// Reads a file, or says everything that is wrong with it.
pub fn parse(text: &str, syntax: Syntax) -> Result<PipelineFile, Vec<Problem>> {
    let (value, places) = tree::read(text, syntax).map_err(|problem| vec![problem])?;
    let mut faults = Vec::new();
    match read(value, &mut faults) {
        Some((pipeline_id, content)) if faults.is_empty() => {
            Ok(PipelineFile { pipeline_id, content, places })
        }
        Some(_) | None => Err(faults.into_iter().map(|fault| places.locate(fault)).collect()),
    }
}

/// The file, with its checkpoints not read yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outside {
    #[serde(default)]
    pipeline_id: Option<PipelineId>,
    pipeline_name: String,
    #[serde(default)]
    pipeline_description: Option<String>,
    #[serde(default)]
    config: PipelineConfig,
    #[serde(default)]
    checkpoints: Vec<Map<String, Value>>,
}

fn read(value: Value, faults: &mut Vec<Fault>) -> Option<(Option<PipelineId>, ApplyPipeline)> {
    if !value.is_object() {
        faults.push(Fault::at("", "a pipeline file is an object with `pipeline_name` and `checkpoints`"));
        return None;
    }
    let outside: Outside = take(value, "", faults)?;
    let checkpoints = outside.checkpoints.into_iter().enumerate();
    let checkpoints: Vec<_> =
        checkpoints.map(|(i, value)| checkpoint(value, &format!("/checkpoints/{i}"), faults)).collect();
    let content = ApplyPipeline {
        name: outside.pipeline_name.into(),
        description: outside.pipeline_description.map(Into::into),
        config: outside.config,
        checkpoints: checkpoints.into_iter().collect::<Option<_>>()?,
    };
    Some((outside.pipeline_id, content))
}

/// What refers to other checkpoints, by names.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedDependencies {
    #[serde(default)]
    required_checkpoint_ids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedOutput {
    checkpoint_id: String,
    #[serde(default)]
    artifact_ids: Option<Vec<String>>,
    #[serde(default)]
    use_summarization: bool,
}

/// Reads a checkpoint: what refers to others apart, the rest as a definition is always read.
fn checkpoint(mut value: Map<String, Value>, base: &str, faults: &mut Vec<Fault>) -> Option<ApplyCheckpoint> {
    let id = value.remove("checkpoint_id").filter(|id| !id.is_null());
    let id: Option<CheckpointId> =
        id.map(|id| take(id, &format!("{base}/checkpoint_id"), faults)).unwrap_or_default();
    let dependencies = value.remove("dependencies").filter(|given| !given.is_null());
    let dependencies: Option<NamedDependencies> = dependencies.map_or_else(
        || Some(NamedDependencies::default()),
        |given| take(given, &format!("{base}/dependencies"), faults),
    );
    let outputs = value
        .get_mut("inputs")
        .and_then(|inputs| inputs.as_object_mut()?.remove("include_checkpoint_outputs"));
    let outputs: Option<Vec<NamedOutput>> = outputs.filter(|given| !given.is_null()).map_or_else(
        || Some(Vec::new()),
        |given| take(given, &format!("{base}/inputs/include_checkpoint_outputs"), faults),
    );
    let definition: Option<CheckpointDefinition> = take(Value::Object(value), base, faults);
    let outputs = outputs?.into_iter().map(|output| ApplyOutput {
        checkpoint: output.checkpoint_id.into(),
        artifacts: output.artifact_ids.map(|names| names.into_iter().map(Into::into).collect()),
        use_summarization: output.use_summarization,
    });
    Some(ApplyCheckpoint {
        checkpoint: id,
        definition: definition?,
        required: dependencies?.required_checkpoint_ids.into_iter().map(Into::into).collect(),
        outputs: outputs.collect(),
    })
}

/// The most unknown keys that are named at once.
const MAX_UNKNOWN: usize = 20;

/// Reads a typed value. A reader stops at the first fault; an unknown key is taken out and reading begins
/// again, so that all of them are named.
fn take<T: DeserializeOwned>(mut value: Value, base: &str, faults: &mut Vec<Fault>) -> Option<T> {
    for _ in 0..MAX_UNKNOWN {
        let error = match objects::read(&value) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let unknown = error.inner().to_string().starts_with("unknown field ");
        let Fault { pointer, message } = explain(&error);
        faults.push(Fault::at(format!("{base}{pointer}"), message));
        if !unknown || !remove(&mut value, &pointer) {
            return None;
        }
    }
    None
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    value
        .pointer_mut(parent)
        .and_then(Value::as_object_mut)
        .is_some_and(|object| object.remove(&name).is_some())
}
