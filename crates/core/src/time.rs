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

    /// As the API shows it: RFC 3339, UTC, to the microsecond.
    pub fn rfc3339(self) -> String {
        format!("{:.6}", self.civil())
    }

    /// A time as people and programs write it (RFC 3339).
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_microsecond()))
    }

    /// As folder names show it: `YYYYMMDDTHHMMSSZ`.
    pub fn compact(self) -> String {
        self.civil().strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// Reads what folder names show.
    pub fn from_compact(text: &str) -> Option<Self> {
        if text.len() != 16 {
            return None;
        }
        let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
        let at = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Self(at.timestamp().as_microsecond()))
    }

    fn civil(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc() {
        let at = Timestamp(1_700_000_000_123_456);
        assert_eq!(at.rfc3339(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(at.compact(), "20231114T221320Z");
        assert_eq!(Timestamp::from_compact("20231114T221320Z"), Some(Timestamp(1_700_000_000_000_000)));
        assert_eq!(Timestamp::from_compact("20231314T221320Z"), None);
        assert_eq!(Timestamp::from_compact("2023"), None);
        assert_eq!(Timestamp::parse("2023-11-14T23:13:20.123456+01:00"), Some(at));
        assert_eq!(Timestamp::parse("yesterday"), None);
        assert!(Timestamp(i64::MAX).rfc3339().starts_with("9999-"));
    }
}
