//! What events of a run are made of.

use serde::{Deserialize, Serialize};

use super::Text;
use crate::{ArtifactId, ArtifactRecordId, BranchNo, Digest, PipelineId, RunId, SessionId, StepId};

/// Where a run comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A numbered run of a pipeline.
    Pipeline {
        /// The pipeline.
        pipeline: PipelineId,
        /// The definition version that it runs under.
        definition_version: u32,
        /// Its number.
        number: u32,
        /// The run that it extends, with its number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous: Option<(RunId, u32)>,
    },
    /// A plan made from a file.
    File {
        /// What people call it.
        title: Text,
        /// The workstream that it belongs to.
        session: SessionId,
    },
}

/// Where in a plan a visit is, without the branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The step.
    #[serde(rename = "s")]
    pub step: StepId,
    /// The groups and loops around it, outermost first, with their iterations from 1.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<(StepId, u32)>,
    /// 1-based number of the visit to this step, counting repeats that people asked for.
    #[serde(rename = "v", default = "one", skip_serializing_if = "is_one")]
    pub visit: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
pub(crate) fn is_zero(branch: &BranchNo) -> bool {
    branch.0 == 0
}

pub(crate) fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
pub(crate) fn is_one(n: &u32) -> bool {
    *n == 1
}

/// An output as it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Names this output of this execution.
    pub record: ArtifactRecordId,
    /// The declared artifact that it is.
    pub artifact: ArtifactId,
    /// Its name.
    pub name: Text,
    /// Its format, or an uploaded file's extension.
    pub format: Text,
    /// Its bytes.
    pub digest: Digest,
    /// How many.
    pub size: u64,
}

/// What work cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls of models.
    #[serde(default)]
    pub calls: u64,
    /// Tokens in.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens out.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens read from a cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Tokens written to a cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Millionths of a dollar.
    #[serde(default)]
    pub cost_micros: u64,
}

impl Usage {
    /// Whether nothing was used.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }
}

/// Why a step was skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// A person chose to skip it at a gate.
    #[default]
    Choice,
    /// Its condition is false.
    Condition,
}

/// What a person should know of a run that continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// A condition cannot be evaluated.
    Condition(Text),
    /// A loop over a list has no list.
    NoItems(Text),
    /// A loop made as many passes as it may.
    LimitReached(u32),
    /// A step's output is too large for the context.
    OutputTooLarge(u64),
}

/// What ended a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopEnd {
    /// It made as many passes as it should.
    Count,
    /// Its condition.
    Condition,
    /// There is no further item.
    Items,
    /// The limit on passes.
    Limit,
}

/// Why a run is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// Somebody asked.
    Asked,
    /// A step has failed for good.
    StepFailed,
    /// A rollback was undone that had caught work in flight.
    Restored,
    /// A loop has made as many passes as it may.
    LimitReached,
    /// The files of a snapshot were restored.
    Recovered,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
pub(crate) fn is_none_u32(n: &u32) -> bool {
    *n == 0
}
