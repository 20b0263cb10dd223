//! The rules of Holdpoint: commands are decided, events are folded, work is owed, rows are projected.
//!
//! Nothing in this crate waits, reads a clock, draws a random number or touches a file or a socket. Time
//! and new ids arrive inside a command; what a rule needs from outside arrives as facts.

pub mod actor;
pub mod chain;
pub mod digest;
pub mod ids;
pub mod rows;
pub mod stream;
pub mod time;

pub use actor::{Actor, ActorKind};
pub use digest::{Digest, canonical};
pub use ids::{
    AgentId, ArtifactId, ArtifactRecordId, BranchNo, CheckpointId, CommandId, ExecNo, ExecutionId, FieldId,
    GateId, Ids, NodeNo, PipelineId, RollbackId, RunId, SessionId, StepId, TokenId, UserId,
};
pub use stream::{Seq, StreamId, StreamKind, Version};
pub use time::Timestamp;
