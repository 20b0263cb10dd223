//! HTTP: wire types, their translation to commands and answers, and the live stream.
//!
//! The server translates and holds no rule. What it promises itself is about the wire: every answer of the
//! application is JSON, every refusal is a problem document with a stable code, only requests that address
//! this machine by a name it knows are heard, and every wait, body and connection has a limit.

mod app;
mod body;
mod extract;
mod guard;
mod headers;
mod health;
mod listen;
mod problem;
mod serve;
#[cfg(test)]
mod tests;

pub use app::App;
pub use extract::{Json, Path, Query};
pub use health::{AlwaysReady, Health, NotReady};
pub use listen::{Listen, ListenError};
pub use problem::{FieldError, Problem};
pub use serve::{Limits, Server, Stopped};
