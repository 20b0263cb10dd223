//! The event log in one SQLite file (`state.db`), shared by any number of processes on one machine.
//!
//! One thread of each handle writes: it commits everything that waits with one sync, and answers only
//! after the commit. Small threads read; none keeps a read transaction open between two questions.
//! Documented tables are views; `schema` says what stands behind them.
//!
//! Invariant: nothing is acknowledged that a power cut could take back, and a refusal writes nothing.

mod batch;
pub mod blobs;
mod checkpoint;
mod connect;
mod folds;
mod follow;
mod identity;
mod integrity;
mod keys;
mod log;
mod names;
mod owners;
mod query;
mod queue;
mod reader;
mod rebuild;
mod schema;
mod spent;
mod sql;
mod tail;
mod views;
mod work;
mod writer;
pub mod yardstick;

pub use integrity::{Holder, Integrity};
pub use log::{Options, SqliteLog};
