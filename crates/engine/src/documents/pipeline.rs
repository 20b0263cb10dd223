//! A pipeline with its checkpoints, and what its next run will be.

use holdpoint_core::definition::{Fault, PipelineConfig};
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::PipelineState;
use holdpoint_core::{CheckpointId, PipelineId, RunId, StreamId};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Bounds, CheckpointDocument, Listed, Time, lists, time};
use crate::{Engine, SubmitError};

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PipelineDocument {
    /// Its id, which never changes.
    pub pipeline_id: PipelineId,
    /// What people call it.
    pub pipeline_name: String,
    /// What it is for.
    pub pipeline_description: Option<String>,
    /// Goes up when a checkpoint is added, removed or moved.
    pub pipeline_definition_version: u32,
    /// When it was made.
    pub created_at: Time,
    /// When its definition last changed.
    pub updated_at: Time,
    /// When it was put away.
    pub deleted_at: Option<Time>,
    /// The order in which checkpoints are visited.
    pub checkpoint_order: Vec<CheckpointId>,
    /// Its settings.
    pub config: PipelineConfig,
    /// The checkpoints in that order.
    pub checkpoints: Vec<CheckpointDocument>,
    /// Its runs under the present definition version.
    pub runs: RunsSummary,
    /// What the next run will be.
    pub next_run: NextRun,
    /// What was found worth knowing, with pointers into `checkpoints`.
    pub warnings: Vec<Fault>,
}

/// Runs of a pipeline under its present definition version.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunsSummary {
    /// How many that were not rolled back.
    pub total: u32,
    /// Those that have not ended.
    pub active_run_ids: Vec<RunId>,
    /// The one with the highest version that was not rolled back.
    pub latest_run_id: Option<RunId>,
    /// Its version.
    pub latest_run_version: Option<u32>,
}

/// What the next run will be.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct NextRun {
    /// Its version.
    pub run_version: u32,
    /// The run that it will extend.
    pub previous_run_id: Option<RunId>,
    /// That run's version.
    pub extends_from_run_version: Option<u32>,
}

impl PipelineDocument {
    pub(super) fn of(id: PipelineId, state: &PipelineState) -> Self {
        let checkpoints: Vec<CheckpointDocument> =
            state.order.iter().filter_map(|each| CheckpointDocument::of(id, state, *each)).collect();
        let warnings = checkpoints
            .iter()
            .zip(0..)
            .flat_map(|(checkpoint, i): (_, usize)| {
                checkpoint.warnings.iter().map(move |fault| {
                    Fault::at(format!("/checkpoints/{i}{}", fault.pointer), fault.message.clone())
                })
            })
            .collect();
        let latest = state.latest();
        Self {
            pipeline_id: id,
            pipeline_name: state.name.to_string(),
            pipeline_description: state.description.as_ref().map(ToString::to_string),
            pipeline_definition_version: state.definition_version,
            created_at: state.created_at.unwrap_or_default().into(),
            updated_at: state.updated_at.into(),
            deleted_at: time(state.deleted_at),
            checkpoint_order: state.order.iter().copied().collect(),
            config: state.config.clone(),
            checkpoints,
            runs: RunsSummary {
                total: state.runs.values().filter(|run| run.removed.is_none()).count() as u32,
                active_run_ids: state.active.iter().copied().collect(),
                latest_run_id: latest.map(|(_, run)| run),
                latest_run_version: latest.map(|(number, _)| number),
            },
            next_run: NextRun {
                run_version: state.next_number,
                previous_run_id: latest.map(|(_, run)| run),
                extends_from_run_version: latest.map(|(number, _)| number),
            },
            warnings,
        }
    }
}

impl Engine {
    /// A pipeline, put away or not.
    pub async fn pipeline_document(&self, id: PipelineId) -> Result<PipelineDocument, SubmitError> {
        Ok(PipelineDocument::of(id, self.pipeline_source(id).await?.state()))
    }

    /// Pipelines, newest first: those that are in use, or those that were put away.
    pub async fn pipeline_documents(
        &self,
        deleted: bool,
        bounds: Bounds,
    ) -> Result<Listed<PipelineDocument>, SubmitError> {
        let query = |before, limit| Query::List {
            table: Table::Pipeline,
            by: Some(("deleted", Cell::from(deleted))),
            before,
            limit,
        };
        let page = lists::page(self, bounds, query, |_| true).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for record in &page.items {
            if let Some(id) = pipeline_of(record) {
                items.push(self.pipeline_document(id).await?);
            }
        }
        Ok(Listed { items, next: page.next })
    }
}

impl Engine {
    /// The pipelines in use that have this name.
    pub async fn pipelines_named(&self, name: &str) -> Result<Vec<PipelineId>, SubmitError> {
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let by = Some(("deleted", Cell::from(false)));
            let query = Query::List { table: Table::Pipeline, by, before, limit: 500 };
            let records = self.query(query).await?.records;
            let named = |record: &&Record| {
                super::rows::Named::new(Table::Pipeline, record).text("name").as_deref() == Some(name)
            };
            found.extend(records.iter().filter(named).filter_map(pipeline_of));
            match records.last() {
                Some(last) if records.len() >= 500 => before = Some(last.seq),
                _ => return Ok(found),
            }
        }
    }
}

fn pipeline_of(record: &Record) -> Option<PipelineId> {
    match record.stream {
        StreamId::Pipeline(id) => Some(id),
        StreamId::Home | StreamId::Run(_) | StreamId::Journal(_) => None,
    }
}
