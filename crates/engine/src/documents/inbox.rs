//! Everything that waits for a person.

use std::cmp::Reverse;

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::run::{Execution, RunStatus};
use holdpoint_core::{CheckpointId, ExecutionId, PipelineId, RunId, StreamId};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::sources::{PipelineSource, RunSource, pinned};
use super::waiting::{About, WaitingFor, asked, waiting_for};
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

/// How many rows are looked through for one page at most; behind that the caller asks again from there.
const LOOKED_THROUGH: usize = 2_000;

/// A table, and the value that a column of it has where something waits.
type Place = (Table, &'static str, fn() -> Cell);

/// Where something may wait: open questions, and the runs whose present step may need somebody without asking.
const PLACES: [Place; 3] = [
    (Table::Gate, "open", || Cell::from(true)),
    (Table::Run, "status", || Cell::from(RunStatus::Paused.name())),
    (Table::Run, "status", || Cell::from(RunStatus::InProgress.name())),
];

impl Engine {
    /// What waits for somebody, newest first: open questions, steps to start by hand, steps that have failed
    /// for good. A step stands where its run does.
    pub async fn inbox(
        &self,
        pipeline: Option<PipelineId>,
        bounds: Bounds,
    ) -> Result<Listed<InboxItem>, SubmitError> {
        let limit = bounds.limit as usize;
        if let Some(pipeline) = pipeline {
            return self.inbox_of(pipeline, bounds).await;
        }
        let (mut items, mut after, mut looked) = (Vec::new(), bounds.after, 0);
        loop {
            let mut found: Vec<(Table, Record)> = Vec::new();
            let mut floor = None;
            for (table, column, value) in PLACES {
                let by = Some((column, value()));
                let query = |before, limit| Query::List { table, by: by.clone(), before, limit };
                let page = lists::page(self, Bounds { after, limit: bounds.limit }, query, |_| true).await?;
                found.extend(page.items.into_iter().map(|record| (table, record)));
                floor = floor.max(page.next);
            }
            looked += found.len();
            found.sort_by_key(|(_, record)| Reverse(lists::place(record)));
            // Below the floor one of the lists was not read yet.
            for (table, record) in &found {
                let place = lists::place(record);
                if floor.is_some_and(|floor| place < floor) {
                    break;
                }
                if items.len() == limit {
                    return Ok(Listed { items, next: after });
                }
                items.extend(self.waits(*table, record).await?);
                after = Some(place);
            }
            match floor {
                None => return Ok(Listed { items, next: None }),
                Some(_) if looked >= LOOKED_THROUGH => return Ok(Listed { items, next: floor }),
                Some(_) => after = floor,
            }
        }
    }

    /// What waits in the runs of one pipeline that have not ended.
    async fn inbox_of(&self, pipeline: PipelineId, bounds: Bounds) -> Result<Listed<InboxItem>, SubmitError> {
        let source = self.pipeline_source(pipeline).await?;
        let mut rows = Vec::new();
        for run in &source.state().active {
            rows.extend(self.find(Table::Run, run.0).await?.map(|record| (Table::Run, record)));
            let stream = StreamId::Run(*run);
            let query = Query::Of { table: Table::Gate, stream, after: None, limit: u32::MAX };
            let gates = self.query(query).await?.records;
            rows.extend(gates.into_iter().map(|record| (Table::Gate, record)));
        }
        rows.retain(|(_, record)| bounds.after.is_none_or(|after| lists::place(record) < after));
        rows.sort_by_key(|(_, record)| Reverse(lists::place(record)));
        let (mut items, mut last) = (Vec::new(), None);
        for (table, record) in &rows {
            let Some(item) = self.waits(*table, record).await? else { continue };
            if items.len() == bounds.limit as usize {
                return Ok(Listed { items, next: last });
            }
            items.push(item);
            last = Some(lists::place(record));
        }
        Ok(Listed { items, next: None })
    }

    /// What waits behind a row.
    async fn waits(&self, table: Table, record: &Record) -> Result<Option<InboxItem>, SubmitError> {
        let StreamId::Run(run) = record.stream else { return Ok(None) };
        let source = self.any_run_source(run).await?;
        let state = source.state();
        if state.gone.is_some() {
            return Ok(None);
        }
        if table == Table::Gate {
            let Some((id, gate)) = state.gates.iter().find(|(_, gate)| gate.n == record.n) else {
                return Ok(None);
            };
            let execution = gate.x.and_then(|x| state.execution(x)).map(AsRef::as_ref);
            let ask = |about: &About<'_>| state.status.is_active().then(|| asked(state, *id, gate, about));
            return self.item(&source, execution, ask).await;
        }
        let Some((_, execution)) = state.current() else { return Ok(None) };
        let ask = |about: &About<'_>| waiting_for(state, execution, about).filter(|w| w.gate_id.is_none());
        self.item(&source, Some(execution), ask).await
    }

    async fn item(
        &self,
        source: &RunSource,
        execution: Option<&Execution>,
        ask: impl FnOnce(&About<'_>) -> Option<WaitingFor>,
    ) -> Result<Option<InboxItem>, SubmitError> {
        let run = source.state();
        let pipeline = match run.pipeline() {
            Some(pipeline) => Some(self.pipeline_source(pipeline).await?),
            None => None,
        };
        let definition = execution.and_then(|e| pinned(pipeline.as_ref().map(PipelineSource::state), e));
        let name = execution.map(|e| e.name.as_deref().unwrap_or(&e.place.step.0));
        let about = About { name: name.unwrap_or_default(), definition };
        Ok(ask(&about).map(|waiting_for| InboxItem {
            pipeline_id: run.pipeline(),
            pipeline_name: pipeline.as_ref().map(|pipeline| pipeline.state().name.to_string()),
            run_id: source.id,
            run_version: run.number().map(|(number, _)| number),
            execution_id: execution.map(|e| e.id),
            checkpoint_id: execution.and_then(|e| e.place.step.checkpoint()),
            checkpoint_name: name.map(str::to_owned),
            checkpoint_position: execution.map(|e| e.position),
            waiting_for,
        }))
    }
}
