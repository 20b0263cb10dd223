//! Runs scripts and agents' code so that they reach their own folders and nothing else, and says what this
//! machine can enforce.
//!
//! Invariant: nothing is claimed that was not tried. [`Sandbox::probe`] runs a hostile program inside and the
//! level is what that program could not break; without a level nothing runs.
//!
//! Three processes take part. The server starts the *watcher* (this program again), which starts the confined
//! program and ends all of it when the server says so, or is gone. Between the watcher and the program stand
//! `bwrap`, where it works, and the *entrance* (this program once more), which lays the limits, Landlock and
//! seccomp on itself and then becomes the program. A process that confines itself needs no `unsafe` and no code
//! between fork and exec.

mod bwrap;
mod capture;
mod error;
mod findings;
mod helper;
mod interpreter;
mod level;
mod order;
mod plan;
mod probe;
mod quota;
mod running;
mod sandbox;
mod system;
mod wire;

pub use error::SandboxError;
pub use findings::{Finding, Findings};
pub use helper::{HELPER_COMMAND, helper_main, keeper, restrict_worker};
pub use interpreter::Interpreter;
pub use level::{Choice, Level};
pub use order::{Limits, Order};
#[cfg(feature = "test-layers")]
pub use plan::Layers;
pub use running::{Ended, Line, Quota, Running, Status, Stream};
pub use sandbox::Sandbox;
