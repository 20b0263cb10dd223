//! Events of a pipeline: its definitions, its runs' numbers, its rollbacks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Text;
use crate::budget::Amounts;
use crate::definition::{CheckpointDefinition, Fault, PipelineConfig};
use crate::{CheckpointId, RollbackId, RunId};

/// Events of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PipelineEvent {
    /// A pipeline was made.
    #[serde(rename = "pipe_made")]
    Made {
        /// What people call it.
        name: Text,
        /// What it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// Its settings.
        config: PipelineConfig,
    },
    /// Name, description or settings changed.
    #[serde(rename = "pipe_changed")]
    Changed {
        /// The name from now on.
        name: Text,
        /// The description from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// The settings from now on.
        config: PipelineConfig,
    },
    /// The pipeline was put away.
    #[serde(rename = "pipe_deleted")]
    Deleted {},
    /// It was brought back.
    #[serde(rename = "pipe_restored")]
    Restored {},
    /// A checkpoint was added to the order.
    #[serde(rename = "cp_added")]
    CheckpointAdded {
        /// Its id.
        checkpoint: CheckpointId,
        /// Its place in the order.
        position: u32,
        /// Its definition.
        definition: Arc<CheckpointDefinition>,
        /// What was found worth knowing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<Fault>,
    },
    /// A checkpoint's definition changed.
    #[serde(rename = "cp_changed")]
    CheckpointChanged {
        /// Its id.
        checkpoint: CheckpointId,
        /// Its definition from now on.
        definition: Arc<CheckpointDefinition>,
        /// What was found worth knowing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<Fault>,
    },
    /// A checkpoint was taken out of the order.
    #[serde(rename = "cp_removed")]
    CheckpointRemoved {
        /// Its id.
        checkpoint: CheckpointId,
    },
    /// The order changed.
    #[serde(rename = "cp_order")]
    Reordered {
        /// The order from now on.
        order: Vec<CheckpointId>,
    },
    /// A run was made and given a number.
    #[serde(rename = "run_opened")]
    RunOpened {
        /// The run.
        run: RunId,
        /// Its number.
        number: u32,
    },
    /// A run ended, in whatever way.
    #[serde(rename = "run_closed")]
    RunClosed {
        /// The run.
        run: RunId,
    },
    /// A run that had ended goes on.
    #[serde(rename = "run_reopened")]
    RunReopened {
        /// The run.
        run: RunId,
    },
    /// Everything behind a target was taken out of the active views.
    #[serde(rename = "rolled_back")]
    RolledBack(RollbackRecord),
    /// A person raised the budget of all runs together.
    #[serde(rename = "pipe_budget")]
    BudgetRaised {
        /// By how much.
        by: Amounts,
    },
    /// A rollback was undone.
    #[serde(rename = "rollback_undone")]
    RollbackUndone {
        /// Which.
        rollback: RollbackId,
    },
    /// The time of a rollback's archive was over: its files were removed, and it cannot be undone any more.
    #[serde(rename = "archive_ended")]
    ArchiveEnded {
        /// Of which rollback.
        rollback: RollbackId,
    },
    /// Files were not as the log says; they were written again, and what stood there was put aside.
    #[serde(rename = "drift")]
    DriftRepaired {
        /// Where what stood there was put, inside the pipeline's folder; none: nothing had to be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<Text>,
        /// The files, the first hundred.
        files: Vec<Drifted>,
        /// How many there were.
        count: u64,
    },
}

/// A file that was not as the log says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drifted {
    /// Where, inside the pipeline's folder.
    pub path: Text,
    /// What was wrong with it.
    pub how: Drift,
}

/// How a file can differ from what the log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// Other bytes stood there.
    Changed,
    /// Nothing stood there.
    Deleted,
    /// Something stood there that nothing in the log names.
    Extra,
    /// A link, a folder or something else stood in its place.
    Replaced,
}

kinds!(PipelineEvent {
    Made = "pipe_made" => Some("pipeline.created"),
    Changed = "pipe_changed" => Some("pipeline.updated"),
    Deleted = "pipe_deleted" => Some("pipeline.deleted"),
    Restored = "pipe_restored" => Some("pipeline.restored"),
    CheckpointAdded = "cp_added" => Some("checkpoint.created"),
    CheckpointChanged = "cp_changed" => Some("checkpoint.updated"),
    CheckpointRemoved = "cp_removed" => Some("checkpoint.deleted"),
    Reordered = "cp_order" => Some("checkpoint.reordered"),
    RunOpened = "run_opened" => None,
    RunClosed = "run_closed" => None,
    RunReopened = "run_reopened" => None,
    RolledBack = "rolled_back" => Some("rollback.completed"),
    BudgetRaised = "pipe_budget" => Some("pipeline.budget_raised"),
    RollbackUndone = "rollback_undone" => Some("rollback.undone"),
    ArchiveEnded = "archive_ended" => Some("archive.ended"),
    DriftRepaired = "drift" => Some("drift.repaired"),
});

/// How far a rollback reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RollbackType {
    /// Within one run.
    CheckpointLevel,
    /// To an earlier run.
    RunLevel,
}

/// Who or what asked for a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggeredBy {
    /// Somebody.
    UserRequest,
    /// A checkpoint whose failure policy says so.
    CheckpointFailure,
}

/// What a rollback did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RollbackRecord {
    /// Its id.
    pub rollback: RollbackId,
    /// How far it reached.
    pub level: RollbackType,
    /// The run from which it was asked for, with its number.
    pub source: (RunId, u32),
    /// The run that goes on, with its number.
    pub target: (RunId, u32),
    /// The checkpoint that stays completed, with its position; none: the run's very beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<(CheckpointId, u32)>,
    /// Runs that were removed whole, with their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_runs: Vec<(RunId, u32)>,
    /// The number that the next run would have got: runs from there on came later.
    pub next_number: u32,
    /// Who or what asked.
    pub triggered_by: TriggeredBy,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}
