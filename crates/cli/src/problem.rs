//! What goes wrong, as people and programs are told: a stable code, what failed on what, what to do, and how the
//! process ends.

use std::borrow::Cow;
use std::{fmt, io};

use holdpoint_formats::dag::Finding;
use serde::Serialize;

/// Why a command did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// For programs; never changes its meaning.
    pub code: Cow<'static, str>,
    /// What failed, and on what.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// How the process ends.
    pub exit: Exit,
    /// The fields that were refused, by their pointers; the message names them too.
    pub fields: Vec<(String, String)>,
    /// What is wrong with a file, each with its place; they are told instead of the message.
    pub findings: Vec<Found>,
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The file, as it was named.
    pub file: String,
    #[serde(flatten)]
    pub finding: Finding,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, finding } = self;
        match (finding.line, finding.column) {
            (Some(line), Some(column)) => write!(f, "{file}:{line}:{column}: {}", finding.message),
            (_, _) => write!(f, "{file}: {}", finding.message),
        }
    }
}

/// How the process ends. Each number means one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    /// Somebody broke it off.
    Aborted,
    /// It goes on when a person has answered.
    Waiting,
    Usage,
    BadInput,
    /// The process cannot go on and must be started again.
    Restart,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Aborted => 2,
            Self::Waiting => 3,
            Self::Usage => 64,
            Self::BadInput => 65,
            Self::Restart => 70,
        }
    }
}

impl Problem {
    pub fn failed(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            hint: hint.into(),
            exit: Exit::Failed,
            fields: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub fn usage(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { exit: Exit::Usage, ..Self::failed(code, message, hint) }
    }

    pub fn bad_input(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { exit: Exit::BadInput, ..Self::failed(code, message, hint) }
    }
}

/// What ends a command early.
#[derive(Debug)]
pub enum Failure {
    Problem(Problem),
    /// Nobody reads the output any more, so there is nobody to tell anything.
    PipeClosed,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Of writing to stdout or stderr.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::PipeClosed;
        }
        let message = format!("the output cannot be written: {error}");
        Self::Problem(Problem::failed(
            "output_failed",
            message,
            "look where stdout leads, and at the space there",
        ))
    }
}
