//! What work cost, added up; and what it takes on the disk.

use std::collections::BTreeMap;

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{CheckpointId, PipelineId, RunId, State, StreamId, Timestamp};
use holdpoint_store::{Query, Spent, SpentBy, SpentFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Time, UsageDocument};
use crate::tree::TreeError;
use crate::{Engine, SubmitError};

/// How many groups are told at most.
pub const GROUPS: u32 = 500;
/// How many rows are read at once.
const PAGE: u32 = 1_000;

/// By what usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// By pipeline.
    #[default]
    Pipeline,
    /// By run.
    Run,
    /// By checkpoint.
    Checkpoint,
    /// By model.
    Model,
    /// By agent.
    Agent,
    /// By day, in UTC.
    Day,
}

/// Which usage is added up.
#[derive(Clone, Debug, Default)]
pub struct UsageWanted {
    /// Only in these pipelines; empty: everywhere.
    pub pipelines: Vec<PipelineId>,
    /// Only of one run.
    pub run: Option<RunId>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// By what.
    pub by: GroupBy,
}

/// What work cost, in groups.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct UsageSummary {
    /// All of it.
    pub total: UsageDocument,
    /// How long work took, waiting for people aside.
    pub seconds: f64,
    /// The groups, the dearest first; at most 500.
    pub items: Vec<UsageGroup>,
}

/// What one group cost.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct UsageGroup {
    /// What the group is named by: an id, a model's or an agent's name, a day; null where nothing names it.
    pub key: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    /// What it cost.
    pub usage: UsageDocument,
    /// How long its work took.
    pub seconds: f64,
}

/// What pipelines take on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DiskUsage {
    /// By pipeline, the largest first.
    pub items: Vec<PipelineDisk>,
    /// All of it.
    pub bytes: u64,
}

/// What one pipeline takes on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PipelineDisk {
    /// The pipeline.
    pub pipeline_id: PipelineId,
    /// What it is called.
    pub pipeline_name: String,
    /// All files in its folder.
    pub bytes: u64,
    /// Those that rollbacks and earlier definitions moved away.
    pub archived_bytes: u64,
    /// Those of failed executions.
    pub errored_bytes: u64,
}

/// What would go if everything went that need not be kept any longer.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RetentionPreview {
    /// Folders.
    pub folders: Vec<RetentionFolder>,
    /// Bytes that nothing names, and how many of them.
    pub blobs: u64,
    /// What would be freed.
    pub bytes: u64,
}

/// A folder that would go.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RetentionFolder {
    /// `archive`, whose rollback could not be undone any more, or `error`.
    pub kind: &'static str,
    /// The pipeline.
    pub pipeline_id: PipelineId,
    /// Where, inside the pipeline's folder.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Since when it stands there.
    pub since: Time,
}

impl Engine {
    /// What work cost.
    pub async fn usage(&self, wanted: &UsageWanted) -> Result<UsageSummary, SubmitError> {
        let by = match wanted.by {
            GroupBy::Pipeline => SpentBy::Column("pipeline"),
            GroupBy::Run => SpentBy::Column("run"),
            GroupBy::Checkpoint => SpentBy::Column("step"),
            GroupBy::Model => SpentBy::Column("model"),
            GroupBy::Agent => SpentBy::Column("agent"),
            GroupBy::Day => SpentBy::Day,
        };
        let mut groups: BTreeMap<Cell, Spent> = BTreeMap::new();
        let mut total = EMPTY;
        let places: Vec<Option<PipelineId>> = match wanted.pipelines.as_slice() {
            [] => vec![None],
            some => some.iter().copied().map(Some).collect(),
        };
        for pipeline in places {
            let UsageWanted { run, since, until, .. } = *wanted;
            let filter = |by, limit| SpentFilter { pipeline, run, since, until, by, limit };
            for sum in self.query(Query::Spent(filter(SpentBy::All, 1))).await?.spent {
                add(&mut total, &sum);
            }
            for sum in self.query(Query::Spent(filter(by, GROUPS))).await?.spent {
                let nothing = Spent { group: sum.group.clone(), ..EMPTY };
                add(groups.entry(sum.group.clone()).or_insert(nothing), &sum);
            }
        }
        let mut groups: Vec<Spent> = groups.into_values().collect();
        // How long work took is written beside the calls, without a model or an agent.
        if matches!(wanted.by, GroupBy::Model | GroupBy::Agent) {
            groups.retain(|sum| sum.group != Cell::Null || sum.usage.calls > 0);
        }
        groups.sort_by_key(|sum| std::cmp::Reverse((sum.usage.cost_micros, sum.usage.calls, sum.took_ms)));
        groups.truncate(GROUPS as usize);
        let mut items = Vec::with_capacity(groups.len());
        for sum in groups {
            let (key, name) = self.named(wanted.by, &sum.group).await?;
            items.push(UsageGroup { key, name, usage: sum.usage.into(), seconds: seconds(sum.took_ms) });
        }
        Ok(UsageSummary { total: total.usage.into(), seconds: seconds(total.took_ms), items })
    }

    async fn named(
        &self,
        by: GroupBy,
        group: &Cell,
    ) -> Result<(Option<String>, Option<String>), SubmitError> {
        Ok(match (by, group) {
            (GroupBy::Day, Cell::Int(at)) => {
                let day: String = Timestamp(*at).rfc3339().chars().take(10).collect();
                (Some(day), None)
            }
            (GroupBy::Pipeline, Cell::Bytes(bytes)) => {
                let id = PipelineId(Uuid::from_slice(bytes).unwrap_or_default());
                let loaded = self.view(StreamId::Pipeline(id)).await?;
                let State::Pipeline(pipeline) = &loaded.state else {
                    return Ok((Some(id.to_string()), None));
                };
                (Some(id.to_string()), Some(pipeline.name.to_string()))
            }
            (GroupBy::Run, Cell::Bytes(bytes)) => {
                let id = RunId(Uuid::from_slice(bytes).unwrap_or_default());
                let loaded = self.view(StreamId::Run(id)).await?;
                let State::Run(run) = &loaded.state else { return Ok((Some(id.to_string()), None)) };
                (Some(id.to_string()), run.number().map(|(number, _)| format!("v{number}")))
            }
            (GroupBy::Checkpoint, Cell::Text(step)) => (Some(step.to_string()), self.step_name(step).await?),
            (_, Cell::Text(text)) => (Some(text.to_string()), None),
            (_, Cell::Null | Cell::Int(_) | Cell::Bytes(_)) => (None, None),
        })
    }

    /// The present name of a checkpoint, where a step is one.
    async fn step_name(&self, step: &str) -> Result<Option<String>, SubmitError> {
        let Ok(id) = Uuid::parse_str(step) else { return Ok(None) };
        let Ok(pipeline) = self.locate_checkpoint(CheckpointId(id)).await else { return Ok(None) };
        let loaded = self.view(StreamId::Pipeline(pipeline)).await?;
        let State::Pipeline(state) = &loaded.state else { return Ok(None) };
        Ok(state.definition(CheckpointId(id)).map(|definition| definition.checkpoint_name.clone()))
    }

    /// What pipelines take on the disk, as far as their folders show.
    pub async fn disk_usage(&self) -> Result<DiskUsage, TreeError> {
        let mut items = Vec::new();
        let mut before = None;
        loop {
            let query = Query::List { table: Table::Pipeline, by: None, before, limit: PAGE };
            let records = self.query(query).await?.records;
            let Some(last) = records.last() else { break };
            before = Some(last.seq);
            for record in &records {
                let StreamId::Pipeline(id) = record.stream else { continue };
                let loaded = self.view(record.stream).await?;
                let State::Pipeline(state) = &loaded.state else { continue };
                let Some(place) = self.place_of(id, state.deleted_at.is_some()).await? else { continue };
                items.push(PipelineDisk {
                    pipeline_id: id,
                    pipeline_name: state.name.to_string(),
                    bytes: place.size("").await?.unwrap_or(0),
                    archived_bytes: place.size(".archived").await?.unwrap_or(0),
                    errored_bytes: place.size(".errored").await?.unwrap_or(0),
                });
            }
        }
        items.sort_by_key(|item| std::cmp::Reverse(item.bytes));
        let bytes = items.iter().map(|item| item.bytes).sum();
        Ok(DiskUsage { items, bytes })
    }

    /// What would go if everything went that need not be kept any longer.
    pub async fn retention_preview(&self) -> Result<RetentionPreview, TreeError> {
        let report = self.gc(true).await?;
        let bytes = report.folders.iter().map(|folder| folder.bytes).sum::<u64>();
        let folders = report.folders.into_iter().map(|folder| RetentionFolder {
            kind: folder.kind.name(),
            pipeline_id: folder.pipeline,
            path: folder.path,
            bytes: folder.bytes,
            since: folder.since.into(),
        });
        let (folders, blobs) = (folders.collect(), report.blobs.blobs);
        Ok(RetentionPreview { folders, blobs, bytes: bytes.saturating_add(report.blobs.bytes) })
    }
}

const EMPTY: Spent = Spent {
    group: Cell::Null,
    usage: holdpoint_core::event::Usage {
        calls: 0,
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        cost_micros: 0,
    },
    took_ms: 0,
};

fn add(sum: &mut Spent, more: &Spent) {
    sum.usage = sum.usage.plus(more.usage);
    sum.took_ms = sum.took_ms.saturating_add(more.took_ms);
}

#[allow(clippy::cast_precision_loss)] // far below what a number can hold
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
