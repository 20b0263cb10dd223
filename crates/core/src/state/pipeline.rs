//! The state of a pipeline: its definitions, its order, its runs and its rollbacks.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use super::Stamp;
use crate::budget::Amounts;
use crate::definition::{CheckpointDefinition, Compiled, Fault, PipelineConfig};
use crate::event::{PipelineEvent, RollbackRecord, Text};
use crate::{CheckpointId, Digest, RollbackId, RunId, Timestamp};

/// The state of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineState {
    /// When it was made; none before.
    pub created_at: Option<Timestamp>,
    /// When its definition last changed.
    pub updated_at: Timestamp,
    /// When it was put away.
    pub deleted_at: Option<Timestamp>,
    /// What people call it.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// Its settings.
    pub config: PipelineConfig,
    /// Goes up whenever the order changes.
    pub definition_version: u32,
    /// The order in which checkpoints are visited.
    pub order: Vector<CheckpointId>,
    /// All checkpoints that ever were in the order.
    pub checkpoints: OrdMap<CheckpointId, Checkpoint>,
    /// All definitions that ever were, by their digests: executions pin them.
    pub bodies: OrdMap<Digest, Compiled>,
    /// The runs of the present definition version, by number.
    pub runs: OrdMap<u32, RunEntry>,
    /// Runs that have not ended.
    pub active: OrdSet<RunId>,
    /// The number that the next run gets.
    pub next_number: u32,
    /// Rollbacks of the present definition version that were not undone, oldest first.
    pub rollbacks: Vector<Arc<RollbackRecord>>,
    /// How many rollbacks there ever were.
    pub rollback_count: u32,
    /// All rollbacks that ever were, by their ids.
    pub rollback_rows: OrdMap<RollbackId, RollbackRow>,
    /// Runs of earlier definition versions, oldest version first; versions without runs are left out.
    pub earlier: Vector<Arc<Earlier>>,
    /// What the budget of all runs together was raised by.
    #[serde(default, skip_serializing_if = "Amounts::is_zero")]
    pub raised: Amounts,
    /// Archives that are on the disk, whatever their definition version. One that was removed or undone leaves.
    pub archives: OrdMap<RollbackId, Arc<Archive>>,
}

/// The runs of an earlier definition version: they can be read and compared, nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// The version.
    pub version: u32,
    /// When the next one took its place.
    pub until: Timestamp,
    /// Its runs, by number.
    pub runs: OrdMap<u32, RunEntry>,
}

/// The archive of a rollback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    /// What the rollback did.
    pub record: Arc<RollbackRecord>,
    /// When.
    pub at: Timestamp,
}

/// What stays of a rollback in the state of its pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackRow {
    /// Its row.
    pub n: u32,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RollbackEnd>,
}

/// How a rollback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RollbackEnd {
    /// It was undone.
    #[serde(rename = "u")]
    Undone,
    /// The files of its archive were removed for good at this time, and it cannot be undone any more.
    #[serde(rename = "a")]
    ArchiveEnded(Timestamp),
}

/// A checkpoint of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its ordinal among all checkpoints of the pipeline.
    pub n: u32,
    /// The digest of its present definition.
    pub body: Digest,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was taken out of the order.
    pub removed_at: Option<Timestamp>,
    /// What was found worth knowing.
    pub warnings: Vec<Fault>,
}

/// A run as its pipeline knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEntry {
    /// The run.
    pub run: RunId,
    /// The rollback that removed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<RollbackId>,
}

impl PipelineState {
    /// Whether the pipeline was made and not put away.
    pub fn is_live(&self) -> bool {
        self.created_at.is_some() && self.deleted_at.is_none()
    }

    /// All runs that ever were, also those of earlier definition versions.
    pub fn every_run(&self) -> impl Iterator<Item = RunId> {
        let earlier = self.earlier.iter().flat_map(|earlier| earlier.runs.values());
        self.runs.values().chain(earlier).map(|entry| entry.run)
    }

    /// A checkpoint in the order, with its position.
    pub fn position(&self, checkpoint: CheckpointId) -> Option<u32> {
        self.order.iter().position(|id| *id == checkpoint).map(|i| i as u32)
    }

    /// The present definition of a checkpoint.
    pub fn definition(&self, checkpoint: CheckpointId) -> Option<&Arc<CheckpointDefinition>> {
        self.bodies.get(&self.checkpoints.get(&checkpoint)?.body).map(Compiled::definition)
    }

    /// The present definitions in order.
    pub fn ordered(&self) -> impl Iterator<Item = (CheckpointId, &Arc<CheckpointDefinition>)> {
        self.order.iter().filter_map(|id| Some((*id, self.definition(*id)?)))
    }

    /// The run with the highest number that was not rolled back.
    pub fn latest(&self) -> Option<(u32, RunId)> {
        self.runs.iter().rev().find(|(_, entry)| entry.removed.is_none()).map(|(n, entry)| (*n, entry.run))
    }

    /// The number of a run of the present definition version.
    pub fn number_of(&self, run: RunId) -> Option<u32> {
        self.runs.iter().rev().find(|(_, entry)| entry.run == run).map(|(n, _)| *n)
    }

    /// Folds one event in.
    pub fn apply(&mut self, stamp: &Stamp<'_>, event: &PipelineEvent) {
        match event {
            PipelineEvent::Made { name, description, config } => {
                self.created_at = Some(stamp.at);
                self.definition_version = 1;
                self.next_number = 1;
                self.describe(stamp, name, description.as_ref(), config);
            }
            PipelineEvent::Changed { name, description, config } => {
                self.describe(stamp, name, description.as_ref(), config);
            }
            PipelineEvent::Deleted {} => self.deleted_at = Some(stamp.at),
            PipelineEvent::Restored {} => self.deleted_at = None,
            PipelineEvent::CheckpointAdded { checkpoint, position, definition, warnings } => {
                let n = self.checkpoints.len() as u32;
                let at = (*position as usize).min(self.order.len());
                self.order.insert(at, *checkpoint);
                let added = Checkpoint {
                    n,
                    body: self.keep(definition),
                    created_at: stamp.at,
                    updated_at: stamp.at,
                    removed_at: None,
                    warnings: warnings.clone(),
                };
                self.checkpoints.insert(*checkpoint, added);
                self.new_version(stamp);
            }
            PipelineEvent::CheckpointChanged { checkpoint, definition, warnings } => {
                let body = self.keep(definition);
                if let Some(known) = self.checkpoints.get_mut(checkpoint) {
                    known.body = body;
                    known.updated_at = stamp.at;
                    known.warnings.clone_from(warnings);
                }
                self.updated_at = stamp.at;
            }
            PipelineEvent::CheckpointRemoved { checkpoint } => {
                self.order.retain(|id| id != checkpoint);
                if let Some(known) = self.checkpoints.get_mut(checkpoint) {
                    known.removed_at = Some(stamp.at);
                }
                self.new_version(stamp);
            }
            PipelineEvent::Reordered { order } => {
                self.order = order.iter().copied().collect();
                self.new_version(stamp);
            }
            PipelineEvent::RunOpened { run, number } => {
                self.runs.insert(*number, RunEntry { run: *run, removed: None });
                self.active.insert(*run);
                self.next_number = self.next_number.max(number.saturating_add(1));
            }
            PipelineEvent::RunClosed { run } => {
                self.active.remove(run);
            }
            PipelineEvent::RunReopened { run } => {
                self.active.insert(*run);
            }
            PipelineEvent::RolledBack(record) => self.rolled_back(stamp, record),
            PipelineEvent::RollbackUndone { rollback } => self.undone(*rollback),
            PipelineEvent::ArchiveEnded { rollback } => {
                if self.archives.remove(rollback).is_some() {
                    self.end_rollback(*rollback, RollbackEnd::ArchiveEnded(stamp.at));
                }
            }
            PipelineEvent::BudgetRaised { by } => self.raised = self.raised.plus(*by),
            // The files are as they should be again; that they were not is for people to see.
            PipelineEvent::DriftRepaired { .. } => {}
        }
    }

    fn describe(
        &mut self,
        stamp: &Stamp<'_>,
        name: &Text,
        description: Option<&Text>,
        config: &PipelineConfig,
    ) {
        self.name = name.clone();
        self.description = description.cloned();
        self.config = config.clone();
        self.updated_at = stamp.at;
    }

    fn keep(&mut self, definition: &Arc<CheckpointDefinition>) -> Digest {
        let digest = definition.digest();
        // A definition that was used before is compiled already.
        self.bodies.entry(digest).or_insert_with(|| Compiled::new(definition.clone()));
        digest
    }

    /// The order changed: runs count from 1 again. While nothing ever ran, building a pipeline up is not a
    /// new version of anything, but the number goes up all the same: people see that it changed.
    fn new_version(&mut self, stamp: &Stamp<'_>) {
        let runs = std::mem::take(&mut self.runs);
        if !runs.is_empty() {
            let earlier = Earlier { version: self.definition_version, until: stamp.at, runs };
            self.earlier.push_back(Arc::new(earlier));
        }
        self.definition_version = self.definition_version.saturating_add(1);
        self.next_number = 1;
        self.rollbacks = Vector::new();
        self.updated_at = stamp.at;
    }

    fn rolled_back(&mut self, stamp: &Stamp<'_>, record: &RollbackRecord) {
        for (run, number) in &record.removed_runs {
            if let Some(entry) = self.runs.get_mut(number) {
                entry.removed = Some(record.rollback);
            }
            self.active.remove(run);
        }
        let kept = Arc::new(record.clone());
        let archive = Archive { record: kept.clone(), at: stamp.at };
        self.archives.insert(record.rollback, Arc::new(archive));
        self.rollbacks.push_back(kept);
        self.rollback_rows.insert(record.rollback, RollbackRow { n: self.rollback_count, end: None });
        self.rollback_count += 1;
    }

    fn end_rollback(&mut self, rollback: RollbackId, end: RollbackEnd) {
        if let Some(row) = self.rollback_rows.get_mut(&rollback) {
            row.end = Some(end);
        }
    }

    /// When the archive of a rollback was removed for good.
    pub fn archive_ended(&self, rollback: RollbackId) -> Option<Timestamp> {
        match self.rollback_rows.get(&rollback)?.end? {
            RollbackEnd::ArchiveEnded(at) => Some(at),
            RollbackEnd::Undone => None,
        }
    }

    fn undone(&mut self, rollback: RollbackId) {
        let Some(at) = self.rollbacks.iter().position(|record| record.rollback == rollback) else {
            return;
        };
        let record = self.rollbacks.remove(at);
        self.archives.remove(&rollback);
        self.end_rollback(rollback, RollbackEnd::Undone);
        for (_, number) in &record.removed_runs {
            if let Some(entry) = self.runs.get_mut(number) {
                entry.removed = None;
            }
        }
    }
}
