//! Points in time as the rules see them: numbers that arrive inside a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This many whole seconds later; saturates.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Self {
        self.plus_micros(seconds.saturating_mul(1_000_000))
    }

    /// This many microseconds later; saturates.
    #[must_use]
    pub fn plus_micros(self, micros: u64) -> Self {
        Self(self.0.saturating_add_unsigned(micros))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}
