//! The documents of the tree: what the API answers, as bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdpoint_core::state::RunState;
use holdpoint_core::state::run::Execution;
use holdpoint_core::tree::{Document, Entry, Wanted};
use holdpoint_core::{CheckpointId, ExecutionId, PipelineId, RunId};
use serde::Serialize;

use crate::documents::execution::{ErrorDetails, LastError};
use crate::documents::{Bounds, Order, Time};
use crate::{Engine, SubmitError};

/// How many of the last lines of a failed execution's log are kept beside it.
const LOG_LINES: Bounds = Bounds { after: None, limit: 1_000 };

/// Why an execution has failed for good.
#[derive(Serialize)]
struct ErrorInfo {
    execution_id: ExecutionId,
    run_id: RunId,
    run_version: Option<u32>,
    checkpoint_id: Option<CheckpointId>,
    checkpoint_name: Option<String>,
    checkpoint_position: u32,
    attempt_number: u32,
    max_attempts: u32,
    revision_iteration: u32,
    failed_at: Option<Time>,
    error_details: ErrorDetails,
    failed_artifacts: Vec<String>,
}

impl ErrorInfo {
    fn of(run: RunId, state: &RunState, execution: &Execution) -> Self {
        let last_error = execution.last_error.as_ref().map(|(at, failure)| LastError {
            timestamp: (*at).into(),
            error_type: failure.kind.to_string(),
            error_message: failure.message.to_string(),
            stack_trace: failure.trace.as_ref().map(ToString::to_string),
        });
        let unpromoted = execution.artifacts.iter().filter(|output| output.promoted_at.is_none());
        Self {
            execution_id: execution.id,
            run_id: run,
            run_version: state.number().map(|(number, _)| number),
            checkpoint_id: execution.place.step.checkpoint(),
            checkpoint_name: execution.name.as_ref().map(ToString::to_string),
            checkpoint_position: execution.position,
            attempt_number: execution.attempt,
            max_attempts: execution.max_attempts,
            revision_iteration: execution.revision,
            failed_at: execution.times.failed.map(Into::into),
            error_details: ErrorDetails { error_count: execution.errors, last_error },
            failed_artifacts: unpromoted.map(holdpoint_core::places::staged_file).collect(),
        }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("documents have string keys and finite numbers");
    bytes.push(b'\n');
    bytes
}

impl Engine {
    /// The documents of a pipeline, by their paths; of a rollback only where `needed` says so, because what it
    /// did does not change.
    pub(super) async fn pipeline_files(
        &self,
        id: PipelineId,
        wanted: &Wanted,
        needed: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Vec<u8>>, SubmitError> {
        let pipeline = self.pipeline_document(id).await?;
        let mut files = BTreeMap::new();
        for (path, entry) in &wanted.entries {
            let bytes = match entry {
                Entry::Document(Document::Pipeline) => json(&pipeline),
                Entry::Document(Document::Checkpoint(id)) => {
                    let found =
                        pipeline.checkpoints.iter().find(|checkpoint| checkpoint.checkpoint_id == *id);
                    let Some(checkpoint) = found else { continue };
                    json(checkpoint)
                }
                Entry::Document(Document::Rollback(id)) if needed(path) => {
                    json(&self.rollback_document(*id).await?)
                }
                Entry::Document(_)
                | Entry::Folder
                | Entry::OwnFolder
                | Entry::Output { .. }
                | Entry::Link(_) => continue,
            };
            files.insert(path.clone(), bytes);
        }
        Ok(files)
    }

    /// The documents of a run, by their paths.
    pub(super) async fn run_files(
        &self,
        id: RunId,
        state: &RunState,
        wanted: &Wanted,
    ) -> Result<BTreeMap<String, Vec<u8>>, SubmitError> {
        let mut files = BTreeMap::new();
        for (path, entry) in &wanted.entries {
            let Entry::Document(document) = entry else { continue };
            let bytes = match document {
                Document::Run => json(&self.run_file(id).await?),
                Document::Error(x) => {
                    let Some(execution) = state.graph.any_execution(*x) else { continue };
                    json(&ErrorInfo::of(id, state, execution))
                }
                Document::ErrorLog(execution) => {
                    let x = state.graph.find_execution(*execution);
                    let failed = x.and_then(|x| state.graph.any_execution(x)).map(AsRef::as_ref);
                    self.error_log(*execution, failed).await?
                }
                Document::Pipeline | Document::Checkpoint(_) | Document::Rollback(_) => continue,
            };
            files.insert(path.clone(), bytes);
        }
        Ok(files)
    }

    /// The last lines of the log, and why it failed where those do not say it: a time that was up, for one.
    async fn error_log(
        &self,
        execution: ExecutionId,
        failed: Option<&Execution>,
    ) -> Result<Vec<u8>, SubmitError> {
        let mut text = String::new();
        let lines = self.log_lines(execution, Order::Newest, LOG_LINES).await?.items;
        for line in lines.iter().rev() {
            let message = super::lines::one_line(&line.message);
            let _ = writeln!(text, "{} {} {message}", line.timestamp.0.rfc3339(), line.level);
        }
        if let Some((at, failure)) = failed.and_then(|failed| failed.last_error.as_ref()) {
            let message = super::lines::one_line(&failure.message);
            if !text.contains(&*message) {
                let _ = writeln!(text, "{} error {message}", at.rfc3339());
            }
        }
        Ok(text.into_bytes())
    }
}
