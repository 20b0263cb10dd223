//! Questions that are answered by another process, which can be killed.
//!
//! Some of the engine's own functions work on for hours and cannot be stopped from outside, and a pattern may
//! be slow with a long text. A process always can be: it is this program, started again under a hidden
//! command. It stays for the next question, and gives way to a new one when it is late, dies or talks nonsense.

mod helper;
mod limits;
mod pool;
mod process;
mod wire;

pub use helper::helper_main;
pub use pool::Pool;
pub use wire::{Reply, Request, text};

/// The hidden command under which a program must call [`helper_main`].
pub const HELPER_COMMAND: &str = "__expressions";

/// Why a worker gave no answer.
#[derive(Debug)]
pub enum Lost {
    /// All are at work, and none became free.
    Busy,
    /// The time is over.
    Late,
    /// It could not be started, ended, or said something that is no answer.
    Gone(String),
}
