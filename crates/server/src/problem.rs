//! Refusals and failures on the wire: `application/problem+json` (RFC 9457) with a stable code.
//!
//! A code is a promise to programs, the sentences are for people. Both name what failed and on what; the hint
//! says what to do.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem(Box<Document>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Document {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
}

/// What is wrong with one field of a request's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Where, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Problem {
    /// A problem with its stable code; `title` is the same sentence every time, `detail` is about this request.
    pub fn new(
        status: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self(Box::new(Document {
            kind: format!("urn:holdpoint:problem:{code}"),
            title,
            status: status.as_u16(),
            code,
            detail: detail.into(),
            hint: None,
            errors: Vec::new(),
        }))
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Names a field that is wrong.
    #[must_use]
    pub fn field(mut self, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        self.0.errors.push(FieldError { pointer: pointer.into(), message: message.into() });
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).expect("made from a status")
    }

    pub(crate) fn not_found(path: &str) -> Self {
        let detail = format!("there is nothing at `{path}`");
        Self::new(StatusCode::NOT_FOUND, "not_found", "Not found", detail)
            .hint("check the path for typing errors")
    }

    pub(crate) fn method_not_allowed(method: &str, path: &str) -> Self {
        let detail = format!("`{path}` does not answer to {method}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed", detail)
            .hint("the `Allow` header names what it answers to")
    }

    pub(crate) fn host_not_allowed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "host_not_allowed", "Host not allowed", detail)
            .hint("use the address that the server printed when it started")
    }

    pub(crate) fn origin_not_allowed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "origin_not_allowed", "Origin not allowed", detail)
            .hint("only pages of this server may call it from a browser")
    }

    pub(crate) fn body_too_large(limit: usize) -> Self {
        let detail = format!("the body is larger than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "Body too large", detail)
            .hint("send less at once")
    }

    pub(crate) fn body_unreadable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "body_unreadable", "Body unreadable", detail)
            .hint("send the whole body without long pauses, as its headers announce it")
    }

    pub(crate) fn not_ready(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", "Not ready", reason)
            .hint("ask again in a moment")
    }

    pub(crate) fn internal() -> Self {
        let detail = "the server made a mistake while it worked on the request";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "Internal error", detail)
            .hint("the server's log on stderr tells more")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).expect("a problem holds only strings and numbers");
        let content_type = HeaderValue::from_static("application/problem+json");
        (self.status(), [(CONTENT_TYPE, content_type)], body).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_leaves_out_what_it_does_not_know() {
        let bare = Problem::new(StatusCode::CONFLICT, "wrong_state", "Wrong state", "the run is paused");
        expect_test::expect![[r#"{"type":"urn:holdpoint:problem:wrong_state","title":"Wrong state","status":409,"code":"wrong_state","detail":"the run is paused"}"#]]
            .assert_eq(&serde_json::to_string(&bare).expect("serializable"));
        let whole = bare.hint("resume it").field("/name", "is empty");
        expect_test::expect![[r#"{"type":"urn:holdpoint:problem:wrong_state","title":"Wrong state","status":409,"code":"wrong_state","detail":"the run is paused","hint":"resume it","errors":[{"pointer":"/name","message":"is empty"}]}"#]]
            .assert_eq(&serde_json::to_string(&whole).expect("serializable"));
    }
}
