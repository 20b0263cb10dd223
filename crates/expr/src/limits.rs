//! What an expression may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What an expression may use. Steps come before time, so that the same expression ends the same way on a
/// fast and on a slow machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of text.
    pub source: usize,
    /// Bytes of the given values, as JSON.
    pub variables: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// Steps, in units of ten thousand: loops, calls, and what a regular expression tries.
    pub steps: u32,
    /// Time, for what the engine does not count as steps.
    pub time: Duration,
    /// Bytes of the answer, as JSON.
    pub result: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 4 << 10,
            variables: 1 << 20,
            memory: 8 << 20,
            stack: 256 << 10,
            steps: 500,
            time: Duration::from_secs(2),
            result: 64 << 10,
        }
    }
}
