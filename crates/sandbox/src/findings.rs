//! What was tried and what held, as plain data for `doctor`, `/readyz` and each execution.

use serde::{Deserialize, Serialize};

use crate::{Choice, Level};

/// Everything that the probe found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// What holds.
    pub level: Level,
    /// What was asked for.
    pub choice: Choice,
    /// Who confined programs are.
    pub user: String,
    /// What was tried, best level first.
    pub checks: Vec<Finding>,
}

impl Findings {
    /// What did not hold, at any level that was tried.
    pub fn missing(&self) -> impl Iterator<Item = &Finding> {
        self.checks.iter().filter(|check| !check.held)
    }
}

/// One thing that was tried inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The level at which it was tried.
    pub level: Level,
    /// What was tried, such as `read_outside`.
    pub check: String,
    /// Whether the sandbox held.
    pub held: bool,
    /// What was seen.
    pub detail: String,
    /// What to do about it, when it did not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}
