//! Why an expression gave no answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why an expression gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum ExprError {
    /// It is no expression. Line and column count from 1, in characters.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The line.
        line: u32,
        /// The column.
        column: u32,
        /// What the engine says about it.
        message: String,
    },
    /// It threw something.
    #[error("it threw {0}")]
    Threw(String),
    /// It asked for more than it may have.
    #[error("{0}")]
    Limit(Limit),
    /// It came to something that is no answer.
    #[error("it came to {0}, which is no value")]
    NoValue(Cow<'static, str>),
    /// The process that should have evaluated it did not.
    #[error("its worker {0}")]
    Worker(String),
}

/// A limit that an expression ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Limit {
    /// Its text.
    #[error("it is longer than {0} bytes")]
    Source(usize),
    /// The values that it was given.
    #[error("the values that it sees are larger than {0} bytes")]
    Variables(usize),
    /// The memory that it used.
    #[error("it needs more memory than {0} bytes")]
    Memory(usize),
    /// The depth of its calls, or of its text.
    #[error("it goes too deep")]
    Stack,
    /// The steps that it took.
    #[error("it takes too many steps")]
    Steps,
    /// The time that it took.
    #[error("it takes too long")]
    Time,
    /// Its answer.
    #[error("its answer is larger than {0} bytes, or too deep")]
    Result(usize),
    /// Too many earlier ones still run that took too long.
    #[error("too many expressions that took too long are still running")]
    Busy,
}
