//! Rollbacks: what one did, and what one would do.

use std::collections::BTreeMap;

use holdpoint_core::commands::roll_back::RollBack;
use holdpoint_core::event::{Event, PipelineEvent, RollbackType};
use holdpoint_core::rows::{Cell, Op, RowChange, Table};
use holdpoint_core::state::run::Execution;
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{
    Actor, ArtifactId, ArtifactRecordId, Assurance, CheckpointId, Command, Decision, Envelope, ExecutionId,
    PipelineId, Rejection, RollbackId, RunId, StreamId, Timestamp,
};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::rows::Named;
use super::sources::RunSource;
use super::{Bounds, Listed, Time, UsageDocument, lists, time};
use crate::{Engine, Settled, SubmitError, tree};

/// A rollback.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RollbackDocument {
    /// Its id, which never changes.
    pub rollback_id: RollbackId,
    /// The pipeline.
    pub pipeline_id: PipelineId,
    /// When.
    pub created_at: Time,
    /// `checkpoint_level` or `run_level`.
    pub rollback_type: String,
    /// The run from which it was asked for.
    pub source_run_id: Option<RunId>,
    /// Its version.
    pub source_run_version: u32,
    /// The run that goes on.
    pub target_run_id: Option<RunId>,
    /// Its version.
    pub target_run_version: u32,
    /// The checkpoint that stays completed.
    pub target_checkpoint_id: Option<CheckpointId>,
    /// Its position.
    pub target_checkpoint_position: Option<u32>,
    /// What went.
    pub rolled_back_items: RolledBackItems,
    /// The archive's folder, inside the pipeline's.
    pub archive_location: String,
    /// `user_request` or `checkpoint_failure`.
    pub triggered_by: String,
    /// Why.
    pub user_reason: Option<String>,
    /// When it was undone.
    pub undone_at: Option<Time>,
    /// Until when its archive is kept, and with it the way back; null: there is none any more.
    pub undo_until: Option<Time>,
}

/// What a rollback took out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct RolledBackItems {
    /// Whole runs.
    pub deleted_runs: Vec<DeletedRun>,
    /// Executions.
    pub deleted_checkpoint_executions: Vec<DeletedExecution>,
    /// Outputs.
    pub archived_artifacts: Vec<ArchivedArtifact>,
}

/// A run that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletedRun {
    /// The run.
    pub run_id: RunId,
    /// Its version.
    pub run_version: u32,
}

/// An execution that was taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletedExecution {
    /// The execution.
    pub execution_id: ExecutionId,
    /// Its checkpoint.
    pub checkpoint_id: Option<CheckpointId>,
    /// What that is called.
    pub checkpoint_name: String,
    /// The run.
    pub run_id: RunId,
    /// Its position there.
    pub checkpoint_position: Option<u32>,
}

/// An output that was moved to the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ArchivedArtifact {
    /// The declared artifact that it is.
    pub artifact_id: Option<ArtifactId>,
    /// Names this output of its attempt.
    pub artifact_record_id: ArtifactRecordId,
    /// Its name.
    pub artifact_name: String,
    /// Where it stood, inside the pipeline's folder.
    pub original_path: String,
    /// Where it stands now, inside the pipeline's folder.
    pub archived_path: String,
    /// How many bytes.
    pub size_bytes: u64,
}

/// What a rollback would do.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ImpactDocument {
    /// Executions that go.
    pub executions: Vec<DeletedExecution>,
    /// Runs that go whole.
    pub runs: Vec<DeletedRun>,
    /// Outputs that go.
    pub artifacts: Vec<ArchivedArtifact>,
    /// Decisions of people that go with them.
    pub approvals: u32,
    /// Bytes of the outputs that go.
    pub bytes: u64,
    /// What stays.
    pub kept: Kept,
    /// What doing it again is likely to cost.
    pub estimate: Estimate,
}

/// What stays of the run that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Kept {
    /// The run.
    pub run_id: RunId,
    /// Its version.
    pub run_version: Option<u32>,
    /// Its executions that stay.
    pub executions: Vec<DeletedExecution>,
}

/// What doing it again is likely to cost: what it cost the first time.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Estimate {
    /// Dollars.
    pub cost_usd: f64,
    /// Time between start and completion.
    pub seconds: f64,
}

/// One row of the archive's list.
struct Item {
    run: RunId,
    kind: String,
    id: Option<uuid::Uuid>,
    original: String,
    archived: String,
    size: u64,
}

impl Item {
    fn of(record: &Record) -> Option<Self> {
        let StreamId::Run(run) = record.stream else { return None };
        let row = Named::new(Table::ArchivedItem, record);
        Some(Self {
            run,
            kind: row.text("item_type")?,
            id: row.uuid("item"),
            original: row.text("original_path").unwrap_or_default(),
            archived: row.text("archived_path").unwrap_or_default(),
            size: row.size("size"),
        })
    }
}

/// The row that a change writes, where it writes a whole one.
fn put(stream: StreamId, change: &RowChange) -> Option<Record> {
    let Op::Put(n, cells) = &change.op else { return None };
    let columns = change.table.def().columns;
    let cell = |name: &str| cells.iter().find(|(other, _)| *other == name).map(|(_, cell)| cell.clone());
    let cells = columns.iter().map(|(name, _)| cell(name).unwrap_or(Cell::Null)).collect();
    Some(Record { stream, n: *n, seq: holdpoint_core::Seq(0), cells })
}

/// An execution of a run, taken out or not.
fn any_execution(run: &RunState, id: ExecutionId) -> Option<&Execution> {
    run.graph.any_execution(run.graph.find_execution(id)?).map(AsRef::as_ref)
}

fn deleted(run: RunId, execution: &Execution) -> DeletedExecution {
    DeletedExecution {
        execution_id: execution.id,
        checkpoint_id: execution.place.step.checkpoint(),
        checkpoint_name: execution.name.as_deref().unwrap_or(&execution.place.step.0).to_owned(),
        run_id: run,
        checkpoint_position: Some(execution.position),
    }
}

fn itemise<'a>(items: &[Item], run: impl Fn(RunId) -> Option<&'a RunState>) -> RolledBackItems {
    let mut all = RolledBackItems::default();
    for item in items {
        let Some(state) = run(item.run) else { continue };
        match (item.kind.as_str(), item.id) {
            ("run", _) => all.deleted_runs.push(DeletedRun {
                run_id: item.run,
                run_version: state.number().map_or(0, |(number, _)| number),
            }),
            ("execution", Some(id)) => {
                let found = any_execution(state, ExecutionId(id));
                all.deleted_checkpoint_executions.extend(found.map(|e| deleted(item.run, e)));
            }
            ("artifact", Some(id)) => {
                let record = ArtifactRecordId(id);
                let made = (state.graph.all_executions())
                    .flat_map(|(_, e)| &e.artifacts)
                    .map(|output| &output.made)
                    .find(|made| made.record == record);
                all.archived_artifacts.push(ArchivedArtifact {
                    artifact_id: made.map(|made| made.artifact),
                    artifact_record_id: record,
                    artifact_name: made.map_or_else(String::new, |made| made.name.to_string()),
                    original_path: item.original.clone(),
                    archived_path: item.archived.clone(),
                    size_bytes: item.size,
                });
            }
            _ => {}
        }
    }
    all
}

impl RollbackDocument {
    fn of(
        id: RollbackId,
        pipeline: PipelineId,
        row: &Named<'_>,
        taken: RolledBackItems,
        until: Option<Timestamp>,
    ) -> Self {
        Self {
            rollback_id: id,
            pipeline_id: pipeline,
            created_at: row.time("created_at").unwrap_or_default().into(),
            rollback_type: row.text("type").unwrap_or_default(),
            source_run_id: row.uuid("source_run").map(RunId),
            source_run_version: row.count("source_version"),
            target_run_id: row.uuid("target_run").map(RunId),
            target_run_version: row.count("target_version"),
            target_checkpoint_id: row.uuid("target_checkpoint").map(CheckpointId),
            target_checkpoint_position: row.int("target_position").and_then(|n| u32::try_from(n).ok()),
            rolled_back_items: taken,
            archive_location: row.text("archive").unwrap_or_default(),
            triggered_by: row.text("triggered_by").unwrap_or_default(),
            user_reason: row.text("reason"),
            undone_at: time(row.time("undone_at")),
            undo_until: time(until),
        }
    }
}

impl Settled<'_> {
    /// The rollback that the command was.
    pub fn rollback(&self) -> Result<RollbackDocument, SubmitError> {
        let row = self.decision.writes.iter().find_map(|write| match write.stream {
            StreamId::Pipeline(pipeline) => {
                let changes = write.changes.iter().flatten().filter(|c| c.table == Table::Rollback);
                changes.filter_map(|change| put(write.stream, change)).next().map(|row| (pipeline, row))
            }
            StreamId::Home | StreamId::Run(_) | StreamId::Journal(_) => None,
        });
        let missing = || Rejection::NotFound { what: "rollback", id: "of this command".to_owned() };
        let (id, (pipeline, record)) = self.names.rollback.zip(row).ok_or_else(missing)?;
        let taken = itemise(&items_of(self.decision), |run| self.run_state(run));
        let state = self.pipeline_state(pipeline);
        let until = state.and_then(|state| self.engine.archived_until(state, id));
        let row = Named::new(Table::Rollback, &record);
        Ok(RollbackDocument::of(id, pipeline, &row, taken, until))
    }

    /// A rollback that the command has undone; nothing else of it ever changes.
    pub fn undone(&self, mut rollback: RollbackDocument) -> RollbackDocument {
        let written = !self.decision.writes.is_empty();
        rollback.undone_at = rollback.undone_at.or(written.then_some(self.at.into()));
        let state = self.pipeline_state(rollback.pipeline_id);
        let until = state.and_then(|state| self.engine.archived_until(state, rollback.rollback_id));
        rollback.undo_until = time(until);
        rollback
    }
}

impl Engine {
    /// A rollback, undone or not.
    pub async fn rollback_document(&self, id: RollbackId) -> Result<RollbackDocument, SubmitError> {
        let missing = || SubmitError::from(Rejection::NotFound { what: "rollback", id: id.to_string() });
        let record = self.find(Table::Rollback, id.0).await?.ok_or_else(missing)?;
        self.rollback_of(&record).await?.ok_or_else(missing)
    }

    async fn rollback_of(&self, record: &Record) -> Result<Option<RollbackDocument>, SubmitError> {
        let StreamId::Pipeline(pipeline) = record.stream else { return Ok(None) };
        let row = Named::new(Table::Rollback, record);
        let Some(id) = row.uuid("id").map(RollbackId) else { return Ok(None) };
        let by = Some(("rollback", Cell::from(id.0)));
        let query = Query::List { table: Table::ArchivedItem, by, before: None, limit: u32::MAX };
        let mut items: Vec<Item> = self.query(query).await?.records.iter().filter_map(Item::of).collect();
        items.reverse();
        let runs = self.runs_of(items.iter().map(|item| item.run)).await?;
        let pipeline_state = self.pipeline_source(pipeline).await?;
        let until = self.archived_until(pipeline_state.state(), id);
        let taken = itemise(&items, |run| runs.get(&run).map(RunSource::state));
        Ok(Some(RollbackDocument::of(id, pipeline, &row, taken, until)))
    }

    /// Until when the archive of a rollback is kept; nothing, where there is none any more.
    fn archived_until(&self, pipeline: &PipelineState, id: RollbackId) -> Option<Timestamp> {
        let days = self.inner.parts.files.as_ref().map_or(tree::ARCHIVE_DAYS, |files| files.archive_days);
        let archive = pipeline.archives.get(&id);
        archive.map(|archive| archive.at.plus_seconds(days.saturating_mul(86_400)))
    }

    async fn runs_of(
        &self,
        ids: impl Iterator<Item = RunId>,
    ) -> Result<BTreeMap<RunId, RunSource>, SubmitError> {
        let mut runs = BTreeMap::new();
        for id in ids {
            if let std::collections::btree_map::Entry::Vacant(place) = runs.entry(id) {
                place.insert(self.any_run_source(id).await?);
            }
        }
        Ok(runs)
    }

    /// Rollbacks, newest first; those that were asked for from one run, where one is given.
    pub async fn rollback_documents(
        &self,
        pipeline: Option<PipelineId>,
        source: Option<RunId>,
        bounds: Bounds,
    ) -> Result<Listed<RollbackDocument>, SubmitError> {
        let by = source.map(|run| ("source_run", Cell::from(run.0)));
        let query = |before, limit| Query::List { table: Table::Rollback, by: by.clone(), before, limit };
        let wanted =
            |record: &Record| pipeline.is_none_or(|pipeline| record.stream == StreamId::Pipeline(pipeline));
        let page = lists::page(self, bounds, query, wanted).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for record in &page.items {
            items.extend(self.rollback_of(record).await?);
        }
        Ok(Listed { items, next: page.next })
    }

    /// What a rollback would do. Decides it, and writes nothing.
    pub async fn rollback_impact(
        &self,
        actor: Actor,
        command: RollBack,
    ) -> Result<ImpactDocument, SubmitError> {
        let level = command.level;
        let target = command.target.filter(|_| level == RollbackType::RunLevel).unwrap_or(command.source);
        let at = self.now();
        let id = self.inner.parts.ids.command(at);
        let assurance = Assurance::default();
        let envelope = Envelope { id, at, actor, assurance, command: Command::RollBack(command) };
        let decision = self.consider(&envelope).await?;
        let items = items_of(&decision);
        let ids = items.iter().map(|item| item.run).chain([target]);
        let runs = self.runs_of(ids).await?;
        let RolledBackItems { deleted_runs, deleted_checkpoint_executions, archived_artifacts } =
            itemise(&items, |run| runs.get(&run).map(RunSource::state));
        let mut usage = UsageDocument::default();
        let mut seconds = 0.0;
        let mut approvals = 0;
        for gone in &deleted_checkpoint_executions {
            let Some(run) = runs.get(&gone.run_id) else { continue };
            let Some(execution) = any_execution(run.state(), gone.execution_id) else { continue };
            usage.cost_usd += execution.usage.cost_micros as f64 / 1_000_000.0;
            if let (Some(from), Some(to)) = (execution.times.started, execution.times.completed) {
                seconds += (to.0 - from.0).max(0) as f64 / 1_000_000.0;
            }
            let by = Some(("execution", Cell::from(gone.execution_id.0)));
            let query = Query::List { table: Table::Interaction, by, before: None, limit: u32::MAX };
            approvals += self.query(query).await?.records.len() as u32;
        }
        let target_state = runs.get(&target).map(RunSource::state);
        let stays = |execution: &&Execution| {
            !deleted_checkpoint_executions.iter().any(|gone| gone.execution_id == execution.id)
        };
        let kept = Kept {
            run_id: target,
            run_version: target_state.and_then(RunState::number).map(|(number, _)| number),
            executions: target_state
                .map(|run| {
                    let all = run.executions().map(|(_, e)| e.as_ref());
                    all.filter(stays).map(|e| deleted(target, e)).collect()
                })
                .unwrap_or_default(),
        };
        Ok(ImpactDocument {
            bytes: archived_artifacts.iter().map(|artifact| artifact.size_bytes).sum(),
            executions: deleted_checkpoint_executions,
            runs: deleted_runs,
            artifacts: archived_artifacts,
            approvals,
            kept,
            estimate: Estimate { cost_usd: usage.cost_usd, seconds },
        })
    }
}

/// What a decision would write to the archive's list.
fn items_of(decision: &Decision) -> Vec<Item> {
    let of_run = |write: &holdpoint_core::Write| match write.stream {
        StreamId::Run(_) => {
            let changes = write.changes.iter().flatten().filter(|c| c.table == Table::ArchivedItem);
            changes.filter_map(|change| Item::of(&put(write.stream, change)?)).collect::<Vec<_>>()
        }
        StreamId::Home | StreamId::Pipeline(_) | StreamId::Journal(_) => Vec::new(),
    };
    debug_assert!(decision.writes.iter().flat_map(|write| &write.events).any(is_rollback));
    decision.writes.iter().flat_map(of_run).collect()
}

fn is_rollback(event: &Event) -> bool {
    matches!(event, Event::Pipeline(PipelineEvent::RolledBack(_)))
}
