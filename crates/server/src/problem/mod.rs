//! Refusals and failures on the wire: `application/problem+json` (RFC 9457) with a stable code.
//!
//! A code is a promise to programs, the sentences are for people. Both name what failed and on what; the hint
//! says what to do.

mod codes;
mod refusal;

use std::collections::BTreeMap;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use holdpoint_core::Rejection;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use codes::{About, Code};

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    code: Code,
    /// Seconds after which it is worth asking again.
    retry_after: Option<u32>,
    document: ProblemDocument,
}

/// A refused or failed request, as `application/problem+json` (RFC 9457). Some codes have members of their own,
/// which the code's page names.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument {
    /// `urn:holdpoint:problem:<code>`.
    #[serde(rename = "type")]
    kind: String,
    /// The same sentence every time for one code.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// The stable word; each has a page in the reference.
    code: &'static str,
    /// What failed, and on what.
    detail: String,
    /// What to do about it.
    hint: String,
    /// The fields that are wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<FieldError>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: BTreeMap<&'static str, Value>,
}

/// What is wrong with one field of a request's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// Where, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Problem {
    /// A problem of a known kind; `detail` is about this request.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let about = code.about();
        let document = ProblemDocument {
            kind: format!("urn:holdpoint:problem:{}", about.code),
            title: about.title,
            status: about.status.as_u16(),
            code: about.code,
            detail: detail.into(),
            hint: about.remedy.to_owned(),
            errors: Vec::new(),
            more: BTreeMap::new(),
        };
        Self(Box::new(Inner { code, retry_after: None, document }))
    }

    /// Says what to do about it, better than the code alone can.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.document.hint = hint.into();
        self
    }

    /// Names a field that is wrong.
    #[must_use]
    pub fn field(mut self, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        self.0.document.errors.push(FieldError { pointer: pointer.into(), message: message.into() });
        self
    }

    /// Adds a member that the code's page names.
    #[must_use]
    pub fn with(mut self, member: &'static str, value: impl Into<Value>) -> Self {
        self.0.document.more.insert(member, value.into());
        self
    }

    /// Says after how many seconds it is worth asking again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.document.code
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.0.code.about().status
    }

    /// Fields of a body that are wrong.
    pub fn invalid_fields(errors: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut problem = Self::new(Code::InvalidFields, "the body does not have the fields it needs");
        for (pointer, message) in errors {
            problem = problem.field(pointer, message);
        }
        problem
    }

    /// There is no such thing, or the caller may not see it.
    pub fn missing(what: &'static str, id: impl std::fmt::Display) -> Self {
        // The words of the rules: ids outside a caller's scope answer like ids that do not exist.
        Rejection::NotFound { what, id: id.to_string() }.into()
    }

    pub(crate) fn not_found(path: &str) -> Self {
        Self::new(Code::NotFound, format!("there is nothing at `{path}`"))
            .hint("check the path for typing errors")
    }

    pub(crate) fn method_not_allowed(method: &str, path: &str) -> Self {
        Self::new(Code::MethodNotAllowed, format!("`{path}` does not answer to {method}"))
    }

    pub(crate) fn host_not_allowed(detail: impl Into<String>) -> Self {
        Self::new(Code::HostNotAllowed, detail)
    }

    pub(crate) fn origin_not_allowed(detail: impl Into<String>) -> Self {
        Self::new(Code::OriginNotAllowed, detail)
    }

    pub(crate) fn body_too_large(limit: usize) -> Self {
        Self::new(Code::BodyTooLarge, format!("the body is larger than {limit} bytes"))
    }

    pub(crate) fn body_unreadable(detail: impl Into<String>) -> Self {
        Self::new(Code::BodyUnreadable, detail)
    }

    pub(crate) fn not_ready(reason: impl Into<String>) -> Self {
        Self::new(Code::NotReady, reason).retry_after(1)
    }

    pub(crate) fn internal() -> Self {
        Self::new(Code::InternalError, "the server made a mistake while it worked on the request")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Inner { code, retry_after, document } = *self.0;
        let body = serde_json::to_vec(&document).expect("a problem has string keys and finite numbers");
        let content_type = HeaderValue::from_static("application/problem+json");
        let mut response = (code.about().status, [(CONTENT_TYPE, content_type)], body).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if code == Code::Unauthenticated {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_what_its_code_has_and_what_is_added() {
        let text = |problem: Problem| serde_json::to_string(&problem.0.document).expect("serializable");
        let bare = Problem::new(Code::WrongState, "the run is paused");
        expect_test::expect![[r#"{"type":"urn:holdpoint:problem:wrong_state","title":"Wrong state","status":409,"code":"wrong_state","detail":"the run is paused","hint":"Choose one of `possible`, or wait for another state."}"#]]
            .assert_eq(&text(bare.clone()));
        let whole = bare.hint("resume it").field("/name", "is empty").with("state", "paused");
        expect_test::expect![[r#"{"type":"urn:holdpoint:problem:wrong_state","title":"Wrong state","status":409,"code":"wrong_state","detail":"the run is paused","hint":"resume it","errors":[{"pointer":"/name","message":"is empty"}],"state":"paused"}"#]]
            .assert_eq(&text(whole));
    }
}
