//! HTTP: wire types, their translation to commands and answers, and the live stream.
//!
//! The server translates and holds no rule. What it promises itself is about the wire: every answer of the
//! application is JSON, every refusal is a problem document with a stable code, only requests that address
//! this machine by a name it knows are heard, and every wait, body and connection has a limit.

mod access;
mod api;
mod app;
mod body;
mod caller;
mod console;
mod counts;
mod crowd;
mod dry_runs;
mod extract;
mod guard;
mod headers;
mod html;
mod idempotency;
mod listen;
mod paging;
mod problem;
mod routes;
mod serve;
#[cfg(test)]
mod tests;

pub use access::Secret;
pub use api::document as openapi;
pub use app::App;
pub use caller::Caller;
pub use dry_runs::{
    DryCheckpoint, DryEstimate, DryFinding, DryGate, DryModel, DryOutput, DryRun, DryRunReport, DryRuns,
    DryTold, NotWalked,
};
pub use extract::{Json, Path, Query};
pub use idempotency::Idempotent;
pub use listen::{Listen, ListenError};
pub use paging::Listed;
pub use problem::{About, Code, FieldError, Problem};
pub use routes::health::{AlwaysReady, Health, NotReady};
pub use serve::{Limits, Server, Stopped};
