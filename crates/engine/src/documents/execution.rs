//! One visit of a run to a checkpoint, with everything that was said and made there.

use holdpoint_core::definition::{Compiled, Mode};
use holdpoint_core::event::{Entry, Event, MessageRole, Usage};
use holdpoint_core::paths::temp_folder;
use holdpoint_core::places::output_folder;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::PipelineState;
use holdpoint_core::state::run::{Execution, ExecutionState, Stage};
use holdpoint_core::{
    CheckpointId, ExecNo, ExecutionId, PipelineId, Rejection, RunId, State, StreamId, Version,
};
use holdpoint_store::Query;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::artifact::ArtifactDocument;
use super::event::event_id;
use super::inputs::InputsDocument;
use super::rows::Named;
use super::sources::{RunSource, RunView, pinned};
use super::waiting::{WaitingFor, waiting_for};
use super::{Time, UsageDocument, time};
use crate::{Engine, SubmitError};

/// How many of the last log lines and messages a document shows.
const SHOWN: u32 = 500;

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
    /// What its work said; the last lines, if there are many.
    pub execution_logs: Vec<LogLine>,
    /// What agents and the model said; the last messages, if there are many.
    pub agent_conversation: Vec<Message>,
    /// What people said and decided.
    pub human_interactions: Vec<Interaction>,
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

/// A line of an execution's log.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LogLine {
    /// Its id.
    pub log_id: Uuid,
    /// When.
    pub timestamp: Time,
    /// `info`, `warning` or `error`.
    pub level: String,
    /// The text.
    pub message: String,
    /// More.
    pub details: Option<Value>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Message {
    /// Its id, which is also that of its event.
    pub message_id: String,
    /// When.
    pub timestamp: Time,
    /// Who speaks, where several do.
    pub agent_name: Option<String>,
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// The text; empty where it is not shown.
    pub content: String,
    /// The parts as the provider has them; null where they are not shown.
    pub parts: Value,
    /// What came of the tools that it calls; empty where they are not shown.
    pub tool_results: Vec<ToolResult>,
    /// Whether the conversation is shown (`show_conversation`). One that is not is kept all the same, and an admin reads
    /// it with `/conversation`.
    pub shown: bool,
    /// What it cost.
    pub usage: UsageDocument,
    /// The model that said it; none for what agents are told.
    pub model: Option<String>,
    /// Whether it was played from a file or a recording, and no model was asked.
    pub scripted: bool,
}

/// What came of the call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ToolResult {
    /// The call, as the message's parts name it.
    pub tool_use_id: String,
    /// The tool.
    pub tool: Option<String>,
    /// What the agent was told.
    pub content: String,
    /// Whether it failed or was refused.
    pub is_error: bool,
}

/// Something that a person said or decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Interaction {
    /// Its id.
    pub interaction_id: Uuid,
    /// When.
    pub timestamp: Time,
    /// What kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the person said.
    pub user_input: String,
    /// What the system did about it.
    pub system_response: String,
    /// Who.
    pub actor: Option<String>,
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
        let missing = || Rejection::NotFound { what: "execution", id: format!("{x} of run {}", source.id) };
        let execution = source.state().execution(x).ok_or_else(missing)?;
        let pipeline = match source.state().pipeline() {
            Some(pipeline) => Some(self.pipeline_source(pipeline).await?),
            None => None,
        };
        let pipeline = pipeline.as_ref().map(super::sources::PipelineSource::state);
        Ok(ExecutionDocument {
            standing: ExecutionAnswer::of(source.view(), pipeline, execution),
            execution_logs: self.log_lines(execution.id, SHOWN).await?,
            agent_conversation: self.conversation(execution.id, false).await?,
            human_interactions: self.interactions(execution.id).await?,
            check: execution.verdict.as_ref().map(|(passed, reasons)| CheckResult {
                passed: *passed,
                reasons: reasons.iter().map(ToString::to_string).collect(),
            }),
            inputs: self.inputs_of(source, x).await?,
            usage: self.spent_by(execution).await?.into(),
        })
    }

    /// What an execution cost, with what the attempt under way has cost so far.
    async fn spent_by(&self, execution: &Execution) -> Result<Usage, SubmitError> {
        let journal = self.view(StreamId::Journal(execution.id)).await?;
        Ok(match &journal.state {
            State::Journal(journal) if journal.usage.calls > execution.usage.calls => journal.usage,
            State::Journal(_) | State::Home(_) | State::Pipeline(_) | State::Run(_) => execution.usage,
        })
    }

    /// The last lines of an execution's log, oldest first.
    pub async fn log_lines(&self, id: ExecutionId, limit: u32) -> Result<Vec<LogLine>, SubmitError> {
        let records = self.rows_about(Table::LogLine, id, limit).await?;
        let line = |record: &holdpoint_store::Record| {
            let row = Named::new(Table::LogLine, record);
            Some(LogLine {
                log_id: row.uuid("id")?,
                timestamp: row.time("at")?.into(),
                level: row.text("level")?,
                message: row.text("message")?,
                details: row.text("details").and_then(|text| serde_json::from_str(&text).ok()),
            })
        };
        Ok(records.iter().filter_map(line).collect())
    }

    async fn interactions(&self, id: ExecutionId) -> Result<Vec<Interaction>, SubmitError> {
        let records = self.rows_about(Table::Interaction, id, u32::MAX).await?;
        let interaction = |record: &holdpoint_store::Record| {
            let row = Named::new(Table::Interaction, record);
            Some(Interaction {
                interaction_id: row.uuid("id")?,
                timestamp: row.time("at")?.into(),
                kind: row.text("type")?,
                user_input: row.text("user_input").unwrap_or_default(),
                system_response: row.text("system_response").unwrap_or_default(),
                actor: row.text("actor"),
            })
        };
        Ok(records.iter().filter_map(interaction).collect())
    }

    /// Rows about an execution, oldest first.
    async fn rows_about(
        &self,
        table: Table,
        id: ExecutionId,
        limit: u32,
    ) -> Result<Vec<holdpoint_store::Record>, SubmitError> {
        let by = Some(("execution", Cell::from(id.0)));
        let mut records = self.query(Query::List { table, by, before: None, limit }).await?.records;
        records.reverse();
        Ok(records)
    }

    /// Everything that was said in an execution, oldest first. What its definition does not show has its words only where
    /// `all` is wanted.
    pub async fn conversation(&self, id: ExecutionId, all: bool) -> Result<Vec<Message>, SubmitError> {
        let stream = StreamId::Journal(id);
        let mut messages = Vec::new();
        let mut after = Version(0);
        loop {
            let rows = self.log().read(stream, after, SHOWN).await?;
            for row in &rows {
                after = row.last();
                for recorded in crate::live::recorded(row)? {
                    let message_id = event_id(&recorded);
                    let (agent, role, content, usage, more, about, hidden) = match recorded.event {
                        Event::Journal(Entry::Message {
                            agent,
                            role,
                            content,
                            usage,
                            more,
                            about,
                            hidden,
                            ..
                        }) => (agent, role, content, usage, more, about, hidden),
                        Event::Journal(Entry::ToolResult {
                            call,
                            content,
                            tool,
                            error,
                            more,
                            hidden,
                            ..
                        }) if all || !hidden => {
                            let content = plain(&self.whole(content, more).await?);
                            let tool = tool.map(|tool| tool.to_string());
                            let result =
                                ToolResult { tool_use_id: call.to_string(), tool, content, is_error: error };
                            answer_call(&mut messages, result);
                            continue;
                        }
                        _ => continue,
                    };
                    let open = all || !hidden;
                    let content = if open { self.whole(content, more).await? } else { Value::Null };
                    let about = about.unwrap_or_default();
                    messages.push(Message {
                        message_id,
                        scripted: about["scripted"] == true,
                        model: about["model"].as_str().map(str::to_owned),
                        timestamp: recorded.at.into(),
                        agent_name: agent.map(|agent| agent.to_string()),
                        role: match role {
                            MessageRole::User => "user",
                            MessageRole::Assistant => "assistant",
                            MessageRole::System => "system",
                        },
                        content: if open { plain(&content) } else { String::new() },
                        parts: content,
                        tool_results: Vec::new(),
                        shown: !hidden,
                        usage: usage.into(),
                    });
                }
            }
            if rows.len() < SHOWN as usize {
                return Ok(messages);
            }
        }
    }
}

/// Puts a result to the last message that has its call; ids of calls may come again.
fn answer_call(messages: &mut [Message], result: ToolResult) {
    let calls = |message: &&mut Message| {
        let parts = message.parts.as_array().into_iter().flatten();
        let mut calls = parts.filter(|part| part["type"] == "tool_use");
        calls.any(|part| part["id"] == *result.tool_use_id)
    };
    if let Some(message) = messages.iter_mut().rev().find(calls) {
        message.tool_results.push(result);
    }
}

/// The text among the parts of a message.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => content.to_string(),
    }
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
