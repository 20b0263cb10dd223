//! Everything that waits for a person.

use holdpoint_core::event::PauseReason;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{CheckpointId, ExecNo, ExecutionId, PipelineId, RunId, StreamId};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::sources::{PipelineSource, RunSource, pinned};
use super::waiting::{About, WaitingFor, waiting_for};
use super::{Bounds, Listed, lists};
use crate::{Engine, SubmitError};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct InboxItem {
    /// The pipeline.
    pub pipeline_id: Option<PipelineId>,
    /// What it is called.
    pub pipeline_name: Option<String>,
    /// The run.
    pub run_id: RunId,
    /// Its version.
    pub run_version: Option<u32>,
    /// The execution that asks.
    pub execution_id: Option<ExecutionId>,
    /// Its checkpoint.
    pub checkpoint_id: Option<CheckpointId>,
    /// What that is called.
    pub checkpoint_name: Option<String>,
    /// Its position.
    pub checkpoint_position: Option<u32>,
    /// What is asked.
    pub waiting_for: WaitingFor,
}

impl Engine {
    /// Open questions, newest first, and before them the steps that have failed for good.
    pub async fn inbox(
        &self,
        pipeline: Option<PipelineId>,
        bounds: Bounds,
    ) -> Result<Listed<InboxItem>, SubmitError> {
        let mut items = Vec::new();
        if bounds.after.is_none() {
            items.extend(self.failed_steps(pipeline).await?);
        }
        let query = |before, limit| Query::List {
            table: Table::Gate,
            by: Some(("open", Cell::from(true))),
            before,
            limit,
        };
        let mut after = bounds.after;
        loop {
            let left = bounds.limit.saturating_sub(items.len() as u32).max(1);
            let page = lists::page(self, Bounds { after, limit: left }, query, |_| true).await?;
            for record in &page.items {
                items.extend(self.asked(record, pipeline).await?);
            }
            if page.next.is_none() || items.len() >= bounds.limit as usize {
                return Ok(Listed { items, next: page.next });
            }
            after = page.next;
        }
    }

    /// The question behind a row.
    async fn asked(
        &self,
        record: &Record,
        pipeline: Option<PipelineId>,
    ) -> Result<Option<InboxItem>, SubmitError> {
        let StreamId::Run(run) = record.stream else { return Ok(None) };
        let source = self.any_run_source(run).await?;
        let gate = source.state().gates.values().find(|gate| gate.n == record.n).cloned();
        match gate.and_then(|gate| gate.x) {
            Some(x) => self.item(&source, x, pipeline).await,
            None => Ok(None),
        }
    }

    async fn failed_steps(&self, pipeline: Option<PipelineId>) -> Result<Vec<InboxItem>, SubmitError> {
        let by = Some(("status", Cell::from(RunStatus::Paused.name())));
        let query = Query::List { table: Table::Run, by, before: None, limit: 500 };
        let mut items = Vec::new();
        for record in self.query(query).await?.records {
            let StreamId::Run(run) = record.stream else { continue };
            let source = self.any_run_source(run).await?;
            let state = source.state();
            if state.pause_reason != Some(PauseReason::StepFailed) || state.gone.is_some() {
                continue;
            }
            if let Some((x, _)) = state.current() {
                items.extend(self.item(&source, x, pipeline).await?);
            }
        }
        Ok(items)
    }

    async fn item(
        &self,
        source: &RunSource,
        x: ExecNo,
        wanted: Option<PipelineId>,
    ) -> Result<Option<InboxItem>, SubmitError> {
        let run = source.state();
        let Some(execution) = run.execution(x) else { return Ok(None) };
        if wanted.is_some() && run.pipeline() != wanted {
            return Ok(None);
        }
        let pipeline = match run.pipeline() {
            Some(pipeline) => Some(self.pipeline_source(pipeline).await?),
            None => None,
        };
        let definition = pinned(pipeline.as_ref().map(PipelineSource::state), execution);
        let name = execution.name.as_deref().unwrap_or(&execution.place.step.0);
        let Some(waiting_for) = waiting_for(run, execution, &About { name, definition }) else {
            return Ok(None);
        };
        Ok(Some(InboxItem {
            pipeline_id: run.pipeline(),
            pipeline_name: pipeline.as_ref().map(|pipeline| pipeline.state().name.to_string()),
            run_id: source.id,
            run_version: run.number().map(|(number, _)| number),
            execution_id: Some(execution.id),
            checkpoint_id: execution.place.step.checkpoint(),
            checkpoint_name: Some(name.to_owned()),
            checkpoint_position: Some(execution.position),
            waiting_for,
        }))
    }
}
