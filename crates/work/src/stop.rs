//! Why work ends without its result.

use holdpoint_core::commands::record_outcome::{Collected, Outcome};
use holdpoint_core::event::{Failure, FailureKind, Usage};

use holdpoint_engine::SubmitError;

/// Why work ended without its result.
#[derive(Debug)]
pub(crate) struct Stop {
    pub failure: Failure,
    /// What it had made.
    pub artifacts: Vec<Collected>,
    /// What it had cost.
    pub usage: Usage,
}

impl Stop {
    pub fn new(kind: impl Into<FailureKind>, message: impl AsRef<str>) -> Self {
        let failure = Failure::new(kind, message.as_ref());
        Self { failure, artifacts: Vec::new(), usage: Usage::default() }
    }

    #[must_use]
    pub fn traced(mut self, trace: &str) -> Self {
        self.failure.trace = (!trace.trim().is_empty()).then(|| trace.into());
        self
    }

    #[must_use]
    pub fn costing(mut self, usage: Usage) -> Self {
        self.usage = self.usage.plus(usage);
        self
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        Self::Failed { failure: stop.failure, artifacts: stop.artifacts, usage: stop.usage }
    }
}

/// The log refused: whoever holds the work now does it.
impl From<SubmitError> for Stop {
    fn from(cause: SubmitError) -> Self {
        Self::new(cause.code(), format!("what the work said could not be written down: {cause}"))
    }
}

impl From<std::io::Error> for Stop {
    fn from(cause: std::io::Error) -> Self {
        Self::new("workspace", format!("the folder of the work cannot be used: {cause}"))
    }
}
