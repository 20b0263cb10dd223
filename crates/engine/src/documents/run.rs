//! A run as people see it.

use holdpoint_core::event::{Origin, PauseReason};
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::PipelineState;
use holdpoint_core::state::run::{RunState, RunStatus};
use holdpoint_core::{CheckpointId, ExecutionId, PipelineId, RollbackId, RunId, StreamId};
use holdpoint_store::Query;
use serde::Serialize;
use utoipa::ToSchema;

use super::execution::ExecutionAnswer;
use super::rows::Named;
use super::sources::{RunSource, RunView};
use super::{Bounds, ExecutionDocument, Listed, Time, UsageDocument, lists, time};
use crate::{Engine, SubmitError};

/// A run without what grows with it: its own fields, counts and costs.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunStanding {
    /// Its id, which never changes.
    pub run_id: RunId,
    /// The pipeline that it runs.
    pub pipeline_id: Option<PipelineId>,
    /// What that is called.
    pub pipeline_name: Option<String>,
    /// The definition version that it runs under.
    pub pipeline_definition_version: Option<u32>,
    /// Its version: 1, 2, 3, …
    pub run_version: Option<u32>,
    /// Where it stands.
    pub status: &'static str,
    /// Whether it will pause when the present step ends.
    pub pause_requested: bool,
    /// Why it is paused.
    pub pause_reason: Option<&'static str>,
    /// The checkpoint that it is at.
    pub current_checkpoint_id: Option<CheckpointId>,
    /// The position of that checkpoint, from 0.
    pub current_checkpoint_position: Option<u32>,
    /// When it was made.
    pub created_at: Time,
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub completed_at: Option<Time>,
    /// When it last paused.
    pub paused_at: Option<Time>,
    /// When it last went on.
    pub last_resumed_at: Option<Time>,
    /// The run that it extends.
    pub previous_run_id: Option<RunId>,
    /// That run's version.
    pub extends_from_run_version: Option<u32>,
    /// Counts.
    pub metadata: RunCounts,
    /// What its work cost.
    pub usage: UsageDocument,
}

/// A run as the answer to an order about it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunAnswer {
    /// Where it stands.
    #[serde(flatten)]
    pub standing: RunStanding,
    /// The execution that it is at.
    pub current_execution: Option<ExecutionAnswer>,
}

/// A run with everything about it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunDocument {
    /// Where it stands.
    #[serde(flatten)]
    pub standing: RunStanding,
    /// Its executions, oldest first.
    pub checkpoint_execution_history: Vec<ExecutionId>,
    /// Rollbacks that reached into it, oldest first.
    pub rollback_history: Vec<RollbackId>,
    /// The execution that it is at; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_execution: Option<Box<ExecutionDocument>>,
}

/// Counts of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunCounts {
    /// Checkpoints of its plan.
    pub total_checkpoints: u32,
    /// How many are completed.
    pub completed_checkpoints: u32,
    /// How many stand at failed.
    pub failed_checkpoints: u32,
    /// Where it is paused.
    pub paused_checkpoint_position: Option<u32>,
}

/// Which runs are wanted; all given conditions hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFilter {
    /// Of one pipeline.
    pub pipeline: Option<PipelineId>,
    /// With one status.
    pub status: Option<RunStatus>,
}

impl RunStanding {
    fn of(id: RunId, run: &RunState, pipeline_name: Option<String>) -> Self {
        let current = run.current().map(|(_, execution)| execution);
        let previous = match &run.origin {
            Some(Origin::Pipeline { previous, .. }) => *previous,
            Some(Origin::File { .. }) | None => None,
        };
        let paused_at_position =
            (run.status == RunStatus::Paused).then(|| current.map(|e| e.position)).flatten();
        Self {
            run_id: id,
            pipeline_id: run.pipeline(),
            pipeline_name,
            pipeline_definition_version: run.number().map(|(_, version)| version),
            run_version: run.number().map(|(number, _)| number),
            status: run.status.name(),
            pause_requested: run.pause_requested,
            pause_reason: (run.status == RunStatus::Paused)
                .then(|| run.pause_reason.map(pause_reason))
                .flatten(),
            current_checkpoint_id: current.and_then(|e| e.place.step.checkpoint()),
            current_checkpoint_position: current.map(|e| e.position),
            created_at: run.times.created.into(),
            started_at: time(run.times.started),
            completed_at: time(run.times.completed),
            paused_at: time(run.times.paused),
            last_resumed_at: time(run.times.resumed),
            previous_run_id: previous.map(|(id, _)| id),
            extends_from_run_version: previous.map(|(_, number)| number),
            metadata: RunCounts {
                total_checkpoints: run.total,
                completed_checkpoints: run.completed,
                failed_checkpoints: run.failed,
                paused_checkpoint_position: paused_at_position,
            },
            usage: run.usage.into(),
        }
    }
}

impl RunAnswer {
    /// From the states of the run and of its pipeline, and from nothing else.
    pub(super) fn of(view: RunView<'_>, pipeline: Option<&PipelineState>) -> Self {
        let name = pipeline.map(|pipeline| pipeline.name.to_string());
        let current = view.state.current();
        Self {
            standing: RunStanding::of(view.id, view.state, name),
            current_execution: current.map(|(_, x)| ExecutionAnswer::of(view, pipeline, x)),
        }
    }
}

fn rollbacks(run: &RunState) -> Vec<RollbackId> {
    let retired = run.graph.branches().filter_map(|(_, branch)| branch.retired.as_deref());
    let archived = retired.filter(|retired| retired.archive.is_some()).map(|retired| retired.by);
    let mut all: Vec<RollbackId> = archived.chain(run.gone.as_ref().map(|gone| gone.rollback)).collect();
    // Ids carry their time, so this is the order in which they happened.
    all.sort_unstable();
    all
}

fn pause_reason(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Asked => "asked",
        PauseReason::StepFailed => "checkpoint_failed",
        PauseReason::Restored => "restored",
        PauseReason::LimitReached => "limit_reached",
        PauseReason::Recovered => "recovered",
    }
}

impl Engine {
    /// A run that was not rolled back, with the execution that it is at.
    pub async fn run_document(&self, id: RunId) -> Result<RunDocument, SubmitError> {
        let source = self.run_source(id).await?;
        let mut document = self.run_of(&source).await?;
        if let Some((x, _)) = source.state().current() {
            document.current_execution = Some(Box::new(self.execution_of(&source, x).await?));
        }
        Ok(document)
    }

    /// A run, rolled back or not, as its file in the tree tells it: without the execution that it is at, which
    /// says more than the run's own events do.
    pub(crate) async fn run_file(&self, id: RunId) -> Result<RunDocument, SubmitError> {
        let source = self.any_run_source(id).await?;
        self.run_of(&source).await
    }

    async fn run_of(&self, source: &RunSource) -> Result<RunDocument, SubmitError> {
        let name = match source.state().pipeline() {
            Some(pipeline) => Some(self.pipeline_source(pipeline).await?.state().name.to_string()),
            None => None,
        };
        let run = source.state();
        Ok(RunDocument {
            standing: RunStanding::of(source.id, run, name),
            checkpoint_execution_history: run.executions().map(|(_, e)| e.id).collect(),
            rollback_history: rollbacks(run),
            current_execution: None,
        })
    }

    /// Runs that were not rolled back, newest first.
    pub async fn run_documents(
        &self,
        filter: RunFilter,
        bounds: Bounds,
    ) -> Result<Listed<RunDocument>, SubmitError> {
        if let Some(pipeline) = filter.pipeline {
            self.pipeline_source(pipeline).await?;
        }
        // The narrower condition is listed by; the other one is looked at row by row.
        let by = match (filter.pipeline, filter.status) {
            (Some(pipeline), _) => Some(("pipeline", Cell::from(pipeline.0))),
            (None, Some(status)) => Some(("status", Cell::from(status.name()))),
            (None, None) => None,
        };
        let query = |before, limit| Query::List { table: Table::Run, by: by.clone(), before, limit };
        let wanted = |record: &holdpoint_store::Record| {
            let row = Named::new(Table::Run, record);
            row.uuid("rollback").is_none()
                && filter.status.is_none_or(|status| row.text("status").as_deref() == Some(status.name()))
        };
        let page = lists::page(self, bounds, query, wanted).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for record in &page.items {
            if let StreamId::Run(id) = record.stream {
                let source = self.any_run_source(id).await?;
                items.push(self.run_of(&source).await?);
            }
        }
        Ok(Listed { items, next: page.next })
    }

    /// All executions of a run that were not rolled back, oldest first.
    pub async fn execution_documents(&self, run: RunId) -> Result<Vec<ExecutionDocument>, SubmitError> {
        let source = self.run_source(run).await?;
        let mut all = Vec::new();
        for (x, _) in source.state().executions() {
            all.push(self.execution_of(&source, x).await?);
        }
        Ok(all)
    }
}
