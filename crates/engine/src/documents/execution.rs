//! One visit of a run to a checkpoint, with everything that was said and made there.

use holdpoint_core::definition::{Compiled, Mode};
use holdpoint_core::event::Usage;
use holdpoint_core::paths::temp_folder;
use holdpoint_core::places::output_folder;
use holdpoint_core::state::PipelineState;
use holdpoint_core::state::run::{Execution, ExecutionState, Stage};
use holdpoint_core::{CheckpointId, ExecNo, ExecutionId, PipelineId, Rejection, RunId, State, StreamId};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::artifact::ArtifactDocument;
use super::conversation::Message;
use super::inputs::InputsDocument;
use super::interactions::Interaction;
use super::logs::LogLine;
use super::sources::{RunSource, RunView, pinned};
use super::waiting::{WaitingFor, waiting_for};
use super::{Bounds, Cursor, Order, Time, UsageDocument, time};
use crate::{Engine, SubmitError};

/// How many of the last log lines, messages and interactions a document shows.
const SHOWN: Bounds = Bounds { after: None, limit: 20 };

/// An execution as the answer to an order about it: where it stands, what it has made and what it waits for.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ExecutionAnswer {
    /// Its id, the same across all attempts.
    pub execution_id: ExecutionId,
    /// The run.
    pub run_id: RunId,
    /// The run's version.
    pub run_version: Option<u32>,
    /// The pipeline.
    pub pipeline_id: Option<PipelineId>,
    /// The checkpoint.
    pub checkpoint_id: Option<CheckpointId>,
    /// What it is called.
    pub checkpoint_name: Option<String>,
    /// Its position when the execution was made.
    pub checkpoint_position: u32,
    /// Who does the work.
    pub mode: Option<Mode>,
    /// Where it stands.
    pub status: &'static str,
    /// What a working execution is at.
    pub stage: Option<&'static str>,
    /// When it was made.
    pub created_at: Time,
    /// When its first attempt began.
    pub started_at: Option<Time>,
    /// When it was done.
    pub completed_at: Option<Time>,
    /// When it failed for good.
    pub failed_at: Option<Time>,
    /// The attempt at this revision, from 1.
    pub attempt_number: u32,
    /// How many attempts it may have.
    pub max_attempts: u32,
    /// How often a person asked for changes.
    pub revision_iteration: u32,
    /// How often a person may.
    pub max_revision_iterations: u32,
    /// Where its work happens, inside the pipeline's folder.
    pub temp_workspace_path: String,
    /// Where its promoted outputs stand, inside the pipeline's folder.
    pub permanent_output_path: Option<String>,
    /// The SHA-256 of the definition that it pinned.
    pub definition_digest: Option<String>,
    /// The present outputs.
    pub artifacts_generated: Vec<ArtifactDocument>,
    /// What was filled in, by field, where it is a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub form_data: Option<Map<String, Value>>,
    /// What went wrong.
    pub error_details: ErrorDetails,
    /// What is waited for.
    pub waiting_for: Option<WaitingFor>,
}

/// An execution with everything about it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ExecutionDocument {
    /// Where it stands, what it has made and what it waits for.
    #[serde(flatten)]
    pub standing: ExecutionAnswer,
    /// The last 20 lines of its log, oldest first.
    pub execution_logs: Vec<LogLine>,
    /// Hand this in as `cursor` at `/api/executions/{id}/logs` to get the lines before these, newest first; null: there
    /// are none.
    #[schema(value_type = Option<String>)]
    pub execution_logs_cursor: Option<Cursor>,
    /// The last 20 messages that agents and the model said or were told, oldest first.
    pub agent_conversation: Vec<Message>,
    /// Hand this in as `cursor` at `/api/executions/{id}/conversation` to get the messages before these, newest first;
    /// null: there are none.
    #[schema(value_type = Option<String>)]
    pub agent_conversation_cursor: Option<Cursor>,
    /// The last 20 things that people said and decided, oldest first.
    pub human_interactions: Vec<Interaction>,
    /// Hand this in as `cursor` at `/api/executions/{id}/interactions` to get what came before these, newest first; null:
    /// there is nothing.
    #[schema(value_type = Option<String>)]
    pub human_interactions_cursor: Option<Cursor>,
    /// What a judge last said.
    pub check: Option<CheckResult>,
    /// What it is given.
    pub inputs: InputsDocument,
    /// What its work cost.
    pub usage: UsageDocument,
}

impl ExecutionAnswer {
    /// From the states of its run and of its pipeline, and from nothing else.
    pub(super) fn of(view: RunView<'_>, pipeline: Option<&PipelineState>, execution: &Execution) -> Self {
        let run = view.state;
        let compiled = pinned(pipeline, execution);
        let definition = compiled.map(Compiled::definition);
        let name = execution.name.as_deref().or(definition.map(|d| d.checkpoint_name.as_str()));
        let called = name.unwrap_or(&execution.place.step.0);
        let present = |output| ArtifactDocument::present(view, execution, output);
        Self {
            execution_id: execution.id,
            run_id: view.id,
            run_version: run.number().map(|(number, _)| number),
            pipeline_id: run.pipeline(),
            checkpoint_id: execution.place.step.checkpoint(),
            checkpoint_name: name.map(ToOwned::to_owned),
            checkpoint_position: execution.position,
            mode: definition.map(|definition| definition.execution.mode),
            status: execution.state.name(),
            stage: stage(execution.state),
            created_at: execution.times.created.into(),
            started_at: time(execution.times.started),
            completed_at: time(execution.times.completed),
            failed_at: time(execution.times.failed),
            attempt_number: execution.attempt,
            max_attempts: execution.max_attempts,
            revision_iteration: execution.revision,
            max_revision_iterations: execution.max_revisions,
            temp_workspace_path: format!("{}/", temp_folder(execution.id)),
            permanent_output_path: output_folder(run, execution).map(|folder| view.on_disk(folder)),
            definition_digest: execution.body.as_ref().map(holdpoint_core::Digest::checksum),
            artifacts_generated: execution.artifacts.iter().map(present).collect(),
            form_data: Some(&execution.fields).filter(|fields| !fields.is_empty()).cloned(),
            error_details: ErrorDetails {
                error_count: execution.errors,
                last_error: execution.last_error.as_ref().map(|(at, failure)| LastError {
                    timestamp: (*at).into(),
                    error_type: failure.kind.to_string(),
                    error_message: failure.message.to_string(),
                    stack_trace: failure.trace.as_ref().map(ToString::to_string),
                }),
            },
            waiting_for: waiting_for(run, execution, called, compiled.map(|compiled| &**compiled.body())),
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorDetails {
    /// Failed attempts so far.
    pub error_count: u32,
    /// Why the last one failed.
    pub last_error: Option<LastError>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastError {
    /// When.
    pub timestamp: Time,
    /// A stable word.
    pub error_type: String,
    /// One sentence.
    pub error_message: String,
    /// Where in somebody's code.
    pub stack_trace: Option<String>,
}

/// What a judge said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckResult {
    /// Whether the outputs are good.
    pub passed: bool,
    /// Why.
    pub reasons: Vec<String>,
}

impl Engine {
    pub(super) async fn execution_of(
        &self,
        source: &RunSource,
        x: ExecNo,
    ) -> Result<ExecutionDocument, SubmitError> {
        let (standing, spent) = self.standing_of(source, x).await?;
        let id = standing.execution_id;
        let logs = self.log_lines(id, Order::Newest, SHOWN).await?;
        let said = self.conversation(id, false, Order::Newest, SHOWN).await?;
        let interactions = self.interactions(id, SHOWN).await?;
        let execution = source.state().execution(x);
        Ok(ExecutionDocument {
            standing,
            execution_logs_cursor: logs.next.map(Cursor::back),
            execution_logs: oldest_first(logs.items),
            agent_conversation_cursor: said.next.map(Cursor::back),
            agent_conversation: oldest_first(said.items),
            human_interactions_cursor: interactions.next.map(Cursor::on),
            human_interactions: oldest_first(interactions.items),
            check: execution.and_then(|execution| execution.verdict.as_ref()).map(|(passed, reasons)| {
                let reasons = reasons.iter().map(ToString::to_string).collect();
                CheckResult { passed: *passed, reasons }
            }),
            inputs: self.inputs_of(source, x).await?,
            usage: spent.into(),
        })
    }

    /// Where an execution stands, and what it cost.
    pub(super) async fn standing_of(
        &self,
        source: &RunSource,
        x: ExecNo,
    ) -> Result<(ExecutionAnswer, Usage), SubmitError> {
        let missing = || Rejection::NotFound { what: "execution", id: format!("{x} of run {}", source.id) };
        let execution = source.state().execution(x).ok_or_else(missing)?;
        let pipeline = match source.state().pipeline() {
            Some(pipeline) => Some(self.pipeline_source(pipeline).await?),
            None => None,
        };
        let pipeline = pipeline.as_ref().map(super::sources::PipelineSource::state);
        let standing = ExecutionAnswer::of(source.view(), pipeline, execution);
        Ok((standing, self.spent_by(execution).await?))
    }

    /// What an execution cost, with what the attempt under way has cost so far. The journal knows more than the run
    /// only of an attempt that goes on or was cut off.
    async fn spent_by(&self, execution: &Execution) -> Result<Usage, SubmitError> {
        if execution.errors == 0 && !matches!(execution.state, ExecutionState::Working(_)) {
            return Ok(execution.usage);
        }
        let journal = self.view(StreamId::Journal(execution.id)).await?;
        Ok(match &journal.state {
            State::Journal(journal) if journal.usage.calls > execution.usage.calls => journal.usage,
            State::Journal(_) | State::Home(_) | State::Pipeline(_) | State::Run(_) => execution.usage,
        })
    }

    /// Refuses an execution that is not there or was rolled back.
    pub async fn require_execution(&self, id: ExecutionId) -> Result<(), SubmitError> {
        self.present_execution(id).await.map(drop)
    }

    /// What an execution that was not rolled back is given.
    pub async fn inputs_document(&self, id: ExecutionId) -> Result<InputsDocument, SubmitError> {
        let (source, x) = self.present_execution(id).await?;
        self.inputs_of(&source, x).await
    }

    /// An execution that was not rolled back.
    pub async fn execution_document(&self, id: ExecutionId) -> Result<ExecutionDocument, SubmitError> {
        let (source, x) = self.present_execution(id).await?;
        self.execution_of(&source, x).await
    }

    /// The run of an execution that was not rolled back, and its ordinal in it.
    pub(super) async fn present_execution(
        &self,
        id: ExecutionId,
    ) -> Result<(RunSource, ExecNo), SubmitError> {
        let (run, x) = self.locate_execution(id).await?;
        let source = self.run_source(run).await?;
        if source.state().execution(x).is_some() {
            return Ok((source, x));
        }
        let gone = |rollback| Rejection::Gone { what: "execution", id: id.to_string(), rollback };
        let by = source.state().graph.any_execution(x).and_then(|execution| execution.rolled_back);
        let missing = || Rejection::NotFound { what: "execution", id: id.to_string() };
        Err(by.map_or_else(missing, gone).into())
    }
}

fn oldest_first<T>(mut newest_first: Vec<T>) -> Vec<T> {
    newest_first.reverse();
    newest_first
}

fn stage(state: ExecutionState) -> Option<&'static str> {
    match state {
        ExecutionState::Working(at) => Some(match at {
            Stage::Form => "form",
            Stage::Input => "script_input",
            Stage::Work => "work",
            Stage::Client => "client",
            Stage::Check => "check",
            Stage::Guidance => "guidance",
            Stage::Budget => "budget",
            Stage::Retry => "retry",
        }),
        ExecutionState::Pending
        | ExecutionState::AwaitingStart
        | ExecutionState::AwaitingComplete
        | ExecutionState::Completed
        | ExecutionState::Failed => None,
    }
}
