//! Why an attempt failed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Text;

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What rules and retries look at; people and programs see it as `error_type`.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// One sentence.
    pub message: Text,
    /// Stack trace of a script or tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Text>,
}

impl Failure {
    /// A failure without a trace.
    pub fn new(kind: impl Into<FailureKind>, message: &str) -> Self {
        Self { kind: kind.into(), message: message.into(), trace: None }
    }
}

macro_rules! failure_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of a failure. Rules match on it and never compare its text.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum FailureKind {
            $($(#[$doc])* $variant,)*
            /// Named by an executor; no rule depends on it.
            Other(Text),
        }

        impl FailureKind {
            /// The documented `error_type`.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for FailureKind {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    other => Self::Other(other.into()),
                }
            }
        }
    };
}

failure_kinds! {
    /// The run was aborted while the step worked.
    Aborted = "aborted",
    /// A person declined to raise a used-up budget.
    BudgetReached = "budget_reached",
    /// A person cancelled the work.
    Cancelled = "cancelled",
    /// Declared outputs are missing.
    MissingArtifacts = "missing_artifacts",
    /// The rules refused the outcome that the work reported.
    OutcomeRefused = "outcome_refused",
    /// The work stopped because a budget is used up; it resumes when a person raises it.
    OverBudget = "over_budget",
    /// The process that did the work died too often.
    RestartedTooOften = "restarted_too_often",
    /// All revisions that a person may ask for are used up.
    RevisionsExhausted = "revisions_exhausted",
    /// A rollback stopped the work, and that rollback was undone.
    RolledBack = "rolled_back",
    /// A person declared the run failed while the step worked.
    RunFailed = "run_failed",
    /// The attempt took longer than its limit.
    Timeout = "timeout",
    /// The outputs did not pass their checks.
    ValidationFailed = "validation_failed",
    /// The model provider refused the key.
    ModelKey = "model_key",
    /// The model provider refused the request.
    ModelRefused = "model_refused",
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(&*Text::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_stored_as_its_name() {
        for name in ["timeout", "rolled_back", "script_error"] {
            let failure = Failure::new(name, "it broke");
            let stored = serde_json::to_value(&failure).expect("a failure can be stored");
            assert_eq!(stored["type"], name);
            assert_eq!(serde_json::from_value::<Failure>(stored).expect("a failure"), failure);
        }
        assert_eq!(FailureKind::from("timeout"), FailureKind::Timeout);
        assert_eq!(FailureKind::from("script_error"), FailureKind::Other("script_error".into()));
    }
}
