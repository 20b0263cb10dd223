//! The rules of Holdpoint: commands are decided, events are folded, work is owed, rows are projected.
//!
//! Nothing in this crate waits, reads a clock, draws a random number or touches a file or a socket. Time
//! and new ids arrive inside a command; what a rule needs from outside arrives as facts.

#![deny(clippy::wildcard_enum_match_arm)]
// Snapshots are written by their tool, which always uses raw strings; tests match on what matters to them.
#![cfg_attr(test, allow(clippy::needless_raw_string_hashes, clippy::wildcard_enum_match_arm))]

pub mod actor;
mod advance;
pub mod asks;
pub mod assurance;
pub mod budget;
pub mod chain;
pub mod command;
pub mod commands;
pub mod context;
mod counter;
pub mod decision;
pub mod definition;
pub mod digest;
pub mod event;
pub mod facts;
pub mod ids;
pub mod inputs;
pub mod owed;
pub mod paths;
pub mod permission;
pub mod places;
pub mod plan;
pub mod project;
pub mod rejection;
pub mod rows;
pub mod state;
pub mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod time;
pub mod tree;

pub use actor::{Actor, ActorKind};
pub use assurance::{Assurance, Level};
pub use command::{Answer, Command, Envelope, HomeCommand, PipelineCommand, RunCommand, Target};
pub use commands::{decide, needs};
pub use decision::{Decision, Names, World, Write};
pub use digest::{Digest, canonical};
pub use event::Event;
pub use ids::{
    AgentId, ArtifactId, ArtifactRecordId, BranchNo, CheckpointId, CommandId, ExecNo, ExecutionId, FieldId,
    GateId, Ids, NodeNo, PipelineId, RollbackId, RunId, SessionId, SnapshotId, StepId, TokenId, UserId,
};
pub use owed::{Owed, OwedChange, due, next_timer, owed};
pub use plan::{Body, LoadedPlan, Plan};
pub use project::project;
pub use rejection::Rejection;
pub use state::{FOLD_CODE, Stamp, State, evolve};
pub use stream::{Seq, StreamId, StreamKind, Version};
pub use time::Timestamp;
