//! Everything that waits for a person.

use std::collections::HashMap;
use std::sync::Arc;

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{
    Body, CheckpointId, Digest, ExecutionId, GateId, Level, PipelineId, RunId, StepId, StreamId,
};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::rows::Named;
use super::waiting::{Question, WaitingFor, asked, is_answerable};
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
const LOOKED_THROUGH: u32 = 2_000;

impl Engine {
    /// What waits for somebody, newest first: open gates, also of steps to start by hand and of steps that have failed
    /// for good. Everything comes from rows: no run is folded.
    pub async fn inbox(
        &self,
        pipeline: Option<PipelineId>,
        bounds: Bounds,
    ) -> Result<Listed<InboxItem>, SubmitError> {
        let by = match pipeline {
            Some(pipeline) => {
                self.pipeline_source(pipeline).await?;
                ("open_in", Cell::from(pipeline.0))
            }
            None => ("open", Cell::from(true)),
        };
        let query = |before, limit| Query::List { table: Table::Gate, by: Some(by.clone()), before, limit };
        let (mut items, mut after, mut looked) = (Vec::new(), bounds.after, 0);
        let mut known = Seen::default();
        loop {
            let page = lists::page(self, Bounds { after, limit: bounds.limit }, query, |_| true).await?;
            for record in &page.items {
                if items.len() == bounds.limit as usize {
                    return Ok(Listed { items, next: after });
                }
                items.extend(self.inbox_item(record, &mut known).await?);
                after = Some(lists::place(record));
            }
            looked += bounds.limit;
            match page.next {
                None => return Ok(Listed { items, next: None }),
                Some(next) if looked >= LOOKED_THROUGH => return Ok(Listed { items, next: Some(next) }),
                Some(next) => after = Some(next),
            }
        }
    }

    /// What an open gate's row says; nothing where it cannot be answered now.
    async fn inbox_item(&self, record: &Record, known: &mut Seen) -> Result<Option<InboxItem>, SubmitError> {
        let StreamId::Run(run) = record.stream else { return Ok(None) };
        let record = Named::new(Table::Gate, record);
        let Some(about) = known.run(self, run).await? else { return Ok(None) };
        let Some(question) = question(&record) else { return Ok(None) };
        if !is_answerable(question.kind, &about.status) {
            return Ok(None);
        }
        let pipeline = record.uuid("pipeline").map(PipelineId);
        let pipeline_name = match pipeline {
            Some(pipeline) => known.pipeline(self, pipeline).await?,
            None => None,
        };
        let checkpoint_id = record.text("step").and_then(|step| StepId::new(&step).checkpoint());
        let body = match (pipeline, record.digest("body")) {
            (Some(pipeline), Some(body)) => known.body(self, pipeline, body).await?,
            (Some(_), None) | (None, _) => None,
        };
        let of_step = record.uuid("execution").is_some();
        Ok(Some(InboxItem {
            pipeline_id: pipeline,
            pipeline_name,
            run_id: run,
            run_version: about.number,
            execution_id: record.uuid("execution").map(ExecutionId),
            checkpoint_id: checkpoint_id.filter(|_| of_step),
            checkpoint_name: of_step.then(|| question.name.clone()),
            checkpoint_position: record.int("position").and_then(|n| u32::try_from(n).ok()),
            waiting_for: asked(question, body.as_deref()),
        }))
    }
}

/// What the row of an open gate asks.
fn question(record: &Named<'_>) -> Option<Question> {
    let about = record.text("about").and_then(|about| serde_json::from_str(&about).ok()).unwrap_or_default();
    Some(Question {
        kind: AskKind::named(&record.text("kind")?)?,
        gate: GateId(record.uuid("id")?),
        since: record.time("opened_at")?,
        digest: record.digest("digest")?,
        minimum: record.text("minimum").and_then(|name| Level::named(&name)).unwrap_or_default(),
        name: record.text("name").unwrap_or_default(),
        about,
    })
}

/// What a page needs to know of runs and pipelines, looked up once each.
#[derive(Default)]
struct Seen {
    runs: HashMap<RunId, Option<AboutRun>>,
    pipelines: HashMap<PipelineId, Option<String>>,
    bodies: HashMap<Digest, Option<Arc<Body>>>,
}

#[derive(Clone)]
struct AboutRun {
    status: String,
    number: Option<u32>,
}

impl Seen {
    async fn run(&mut self, engine: &Engine, run: RunId) -> Result<Option<AboutRun>, SubmitError> {
        if let Some(known) = self.runs.get(&run) {
            return Ok(known.clone());
        }
        let record = engine.find(Table::Run, run.0).await?;
        let named = record.as_ref().map(|record| Named::new(Table::Run, record));
        let about = named.filter(|named| named.uuid("rollback").is_none()).map(|named| AboutRun {
            status: named.text("status").unwrap_or_default(),
            number: named.int("number").and_then(|n| u32::try_from(n).ok()),
        });
        self.runs.insert(run, about.clone());
        Ok(about)
    }

    async fn pipeline(&mut self, engine: &Engine, id: PipelineId) -> Result<Option<String>, SubmitError> {
        if let Some(known) = self.pipelines.get(&id) {
            return Ok(known.clone());
        }
        let record = engine.find(Table::Pipeline, id.0).await?;
        let name = record.and_then(|record| Named::new(Table::Pipeline, &record).text("name"));
        self.pipelines.insert(id, name.clone());
        Ok(name)
    }

    /// The body that an execution pinned. A pipeline's state has all that its runs pin.
    async fn body(
        &mut self,
        engine: &Engine,
        pipeline: PipelineId,
        body: Digest,
    ) -> Result<Option<Arc<Body>>, SubmitError> {
        if let Some(known) = self.bodies.get(&body) {
            return Ok(known.clone());
        }
        let source = engine.pipeline_source(pipeline).await?;
        let found = source.state().bodies.get(&body).map(|compiled| compiled.body().clone());
        self.bodies.insert(body, found.clone());
        Ok(found)
    }
}
