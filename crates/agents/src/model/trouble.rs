//! What went wrong with a call, from what the library says to an error that people can read.
//!
//! No sentence made here contains a key, whatever a provider echoes.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::settings::Secret;
use super::{ErrorKind, ModelError};

/// A failed try.
#[derive(Debug)]
pub(super) struct Failed {
    /// What went wrong.
    pub error: ModelError,
    /// Whether another try may help.
    pub again: bool,
}

impl Failed {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let error = ModelError { kind, message: message.into(), status: None, retry_after: None };
        Self { error, again: kind.passes() }
    }

    /// Makes sure that a key does not show.
    pub(super) fn without(mut self, key: Option<&Secret>) -> Self {
        if let Some(key) = key.map(Secret::expose).filter(|key| !key.is_empty()) {
            self.error.message = self.error.message.replace(key, "…");
            // A message that was cut may end in the middle of it.
            let parts = (4..key.len()).rev().filter(|end| key.is_char_boundary(*end));
            for part in parts.map(|end| format!("{}…", &key[..end])) {
                self.error.message = self.error.message.replace(&part, "…");
            }
        }
        self
    }
}

/// What an error of the library means. `begun` says whether some of the answer had arrived.
pub(super) fn of(error: &genai::Error, provider: &str, begun: bool) -> Failed {
    use genai::Error as E;
    match error {
        E::HttpError { status, body, headers, .. } => {
            let told = headers.get("retry-after").and_then(|value| value.to_str().ok());
            by_status(provider, status.as_u16(), body, told)
        }
        E::WebStream { error, .. } => of_transport(error.as_ref(), provider, begun),
        E::ChatResponse { body, .. } => by_event(provider, body),
        E::StreamParse { serde_error, .. } | E::SerdeJson(serde_error) => {
            not_understood(provider, serde_error)
        }
        E::JsonValueExt(error) => not_understood(provider, error),
        other => {
            Failed::new(ErrorKind::Refused, format!("the question could not be put to {provider}: {other}"))
        }
    }
}

/// What came was not what the protocol says.
pub(super) fn not_understood(provider: &str, why: impl std::fmt::Display) -> Failed {
    Failed::new(ErrorKind::Garbled, format!("{provider} sent something that is not understood: {why}"))
}

/// What an error that came as part of an answer means.
pub(super) fn by_event(provider: &str, body: &Value) -> Failed {
    let error = body.get("error").unwrap_or(body);
    let said = words_of(body);
    if let Some(status) = error.get("code").and_then(Value::as_u64).filter(|code| (400..600).contains(code)) {
        return by_status(provider, status as u16, &body.to_string(), None);
    }
    let word = error.get("type").or_else(|| error.get("code")).and_then(Value::as_str).unwrap_or_default();
    let kind = match word {
        "overloaded_error" | "rate_limit_error" | "rate_limit_exceeded" => ErrorKind::Overloaded,
        "authentication_error" | "permission_error" => ErrorKind::Key,
        "invalid_request_error" | "not_found_error" | "request_too_large" => ErrorKind::Refused,
        _ => ErrorKind::Provider,
    };
    Failed::new(kind, format!("{provider} broke off its answer: {said}"))
}

/// What a status that is no success means, from what came with it.
pub(super) fn by_status(provider: &str, status: u16, body: &str, told: Option<&str>) -> Failed {
    let said = serde_json::from_str(body).map_or_else(|_| short(body), |body: Value| words_of(&body));
    let (kind, what) = match status {
        429 | 503 | 529 => (ErrorKind::Overloaded, "has too much to do"),
        401 | 403 => (ErrorKind::Key, "refused the key"),
        408 => (ErrorKind::Unreachable, "waited too long for the question"),
        400..=499 => (ErrorKind::Refused, "refused the question"),
        500..=599 => (ErrorKind::Provider, "failed"),
        300..=399 => return moved(provider, status),
        _ => (ErrorKind::Garbled, "answered with an unusual status"),
    };
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let mut failed = Failed::new(kind, format!("{provider} {what} (HTTP {status}){said}"));
    failed.error.status = Some(status);
    failed.error.retry_after = told.and_then(|told| wait_of(told, SystemTime::now()));
    failed
}

/// To follow would be to show the key, and what is asked, to whoever is named there.
fn moved(provider: &str, status: u16) -> Failed {
    let message = format!(
        "{provider} points to another address (HTTP {status}), which is not followed, as the key would go there too: set `base_url` to the right one"
    );
    let mut failed = Failed::new(ErrorKind::Refused, message);
    failed.error.status = Some(status);
    failed
}

/// What trouble with the connection means. `begun` says whether some of the answer had arrived.
pub(super) fn of_transport(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    provider: &str,
    begun: bool,
) -> Failed {
    if let Some(inner) = error.downcast_ref::<genai::Error>() {
        return of(inner, provider, begun);
    }
    if error.is::<std::string::FromUtf8Error>() || error.is::<std::str::Utf8Error>() {
        return not_understood(provider, "it is not text");
    }
    // The outer errors name the address, which may hold a key; the innermost says what happened.
    let mut cause = error.source();
    while let Some(next) = cause.and_then(std::error::Error::source) {
        cause = Some(next);
    }
    let why = cause.map_or_else(|| "the connection failed".to_owned(), |cause| short(&cause.to_string()));
    if begun {
        Failed::new(ErrorKind::CutOff, format!("the answer of {provider} broke off: {why}"))
    } else {
        Failed::new(ErrorKind::Unreachable, format!("{provider} could not be reached: {why}"))
    }
}

/// What a provider says about an error, without the form around it.
fn words_of(body: &Value) -> String {
    let places = ["/error/message", "/message", "/error", "/detail"];
    let words = places.iter().find_map(|place| body.pointer(place).and_then(Value::as_str));
    short(words.unwrap_or(&body.to_string()))
}

/// Providers answer with whole pages at times.
fn short(text: &str) -> String {
    const MOST: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// How long to wait, from what a `retry-after` header says: seconds, or a date.
fn wait_of(told: &str, now: SystemTime) -> Option<Duration> {
    let told = told.trim();
    if let Ok(seconds) = told.parse::<f64>() {
        return (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds_of_date(told)?);
    Some(until.duration_since(now).unwrap_or_default())
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that servers may send.
fn seconds_of_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let clock: Vec<u64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = clock[..] else { return None };
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days since 1970, counting years from March so that the leap day comes last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_seconds_or_dates() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        assert_eq!(wait_of("7", now), Some(Duration::from_secs(7)));
        assert_eq!(wait_of("0.5", now), Some(Duration::from_millis(500)));
        assert_eq!(wait_of("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(7)));
        assert_eq!(wait_of("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(wait_of("-1", now), None);
        assert_eq!(wait_of("soon", now), None);
        assert_eq!(seconds_of_date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(seconds_of_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }

    #[test]
    fn an_echoed_key_does_not_show() {
        let key = Secret::new("sk-hidden");
        let failed = by_status("anthropic", 401, r#"{"error":{"message":"bad key sk-hidden"}}"#, None);
        let said = failed.without(Some(&key)).error.message;
        assert_eq!(said, "anthropic refused the key (HTTP 401): bad key …");
    }

    #[test]
    fn errors_within_an_answer_have_a_kind() {
        let kind = |body: &str| by_event("x", &serde_json::from_str(body).expect("JSON")).error.kind;
        assert_eq!(kind(r#"{"error":{"type":"overloaded_error"}}"#), ErrorKind::Overloaded);
        assert_eq!(kind(r#"{"error":{"code":503,"status":"UNAVAILABLE"}}"#), ErrorKind::Overloaded);
        assert_eq!(kind(r#"{"error":"model runner has stopped"}"#), ErrorKind::Provider);
    }
}
