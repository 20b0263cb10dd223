//! Documents: what the outside sees of pipelines, runs, executions and all that belongs to them.
//!
//! Field names are the contract of the main document. A document is made from states and rows and holds no
//! rule; the API, the commands and the files in the tree all show the same one.

pub mod artifact;
pub mod attempts;
pub mod checkpoint;
pub mod compare;
pub mod context;
pub mod conversation;
mod cursor;
pub mod event;
pub mod execution;
pub mod graph;
pub mod history;
pub mod inbox;
pub mod inputs;
pub mod interactions;
mod lists;
pub mod logs;
pub mod pipeline;
pub mod rollback;
mod rows;
pub mod run;
mod settled;
mod sources;
pub mod usage;
pub mod waiting;

pub use artifact::ArtifactDocument;
pub use checkpoint::CheckpointDocument;
pub use cursor::Cursor;
pub use execution::{ExecutionAnswer, ExecutionDocument};
pub use inbox::InboxItem;
pub use lists::{Bounds, Listed, Order, Position};
pub use pipeline::PipelineDocument;
pub use rollback::{ImpactDocument, RollbackDocument};
pub use run::{RunAnswer, RunDocument};
pub use waiting::WaitingFor;

use holdpoint_core::Timestamp;
use holdpoint_core::event::Usage;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// A point in time as the outside sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Time(pub Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.rfc3339())
    }
}

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

fn time(at: Option<Timestamp>) -> Option<Time> {
    at.map(Time)
}

/// What work cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct UsageDocument {
    /// Calls of models.
    pub calls: u64,
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens written to a cache.
    pub cache_write_tokens: u64,
    /// Dollars.
    pub cost_usd: f64,
}

impl From<Usage> for UsageDocument {
    fn from(usage: Usage) -> Self {
        Self {
            calls: usage.calls,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cost_usd: usage.cost_micros as f64 / 1_000_000.0,
        }
    }
}
