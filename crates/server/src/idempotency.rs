//! `Idempotency-Key`: the same key and the same request are carried out once.
//!
//! A key belongs to its caller and to one route. The request is told apart by its method, path, query and body,
//! where the order of a JSON object's keys and its white space do not count. A form with files is told apart by
//! the digests of its parts, which the route gives with [`Idempotent::over`], since the text between the parts
//! differs from sending to sending.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, FromRequestParts, MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdpoint_core::Digest;
use holdpoint_engine::IdemKey;

use crate::extract::unreadable;
use crate::problem::{Code, Problem};
use crate::serve::Limits;

/// The header's name.
pub const HEADER: &str = "idempotency-key";
/// The longest key.
const LONGEST: usize = 255;

/// The key of a request, if it has one. Hand it to [`crate::Caller::submit`].
#[derive(Debug, Clone, Default)]
pub struct Idempotent(Option<Kept>);

#[derive(Debug, Clone)]
struct Kept {
    key: String,
    operation: String,
    /// The method and the whole path.
    target: String,
    body: Option<Digest>,
}

impl Idempotent {
    /// Says what a form with files held: the digests of its parts in their order.
    #[must_use]
    pub fn over(mut self, parts: &[Digest]) -> Self {
        if let Some(kept) = &mut self.0 {
            kept.body = Some(Digest::of_json(&parts));
        }
        self
    }

    pub(crate) fn into_key(self) -> Result<Option<IdemKey>, Problem> {
        let Some(Kept { key, operation, target, body }) = self.0 else { return Ok(None) };
        let Some(body) = body else {
            tracing::error!(operation, "a route does not say what its form held");
            return Err(Problem::internal());
        };
        let request = Digest::of_json(&(target, body));
        Ok(Some(IdemKey { key, request, operation: Cow::Owned(operation) }))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Idempotent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Notes the key of a POST before its route reads the body.
pub async fn note(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    match noted(limits, request).await {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

async fn noted(limits: Limits, request: Request) -> Result<Request, Problem> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    let Some(key) = key_of(request.headers())? else { return Ok(request) };
    let Some(matched) = request.extensions().get::<MatchedPath>() else { return Ok(request) };
    let operation = format!("POST {}", matched.as_str());
    let target = format!("POST {}", request.uri());
    let (mut parts, body) = request.into_parts();
    let (digest, body) = if is_form(&parts.headers) {
        (None, body)
    } else {
        let mut whole = Request::new(body);
        // The limit of bodies travels with the request.
        whole.extensions_mut().clone_from(&parts.extensions);
        let bytes = Bytes::from_request(whole, &()).await;
        let bytes = bytes.map_err(|error| unreadable(&error, limits.body_bytes))?;
        (Some(digest(&bytes)), Body::from(bytes))
    };
    parts.extensions.insert(Idempotent(Some(Kept { key, operation, target, body: digest })));
    Ok(Request::from_parts(parts, body))
}

fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let wrong = || Problem::new(Code::BadIdempotencyKey, "the idempotency key cannot be used");
    let key = value.to_str().map_err(|_| wrong())?;
    let printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if values.next().is_some() || key.trim().is_empty() || key.len() > LONGEST || !printable {
        return Err(wrong());
    }
    Ok(Some(key.to_owned()))
}

pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.trim_start().get(..10).is_some_and(|start| start.eq_ignore_ascii_case("multipart/"))
}

/// The digest of a body by its meaning where it is JSON, else by its bytes.
fn digest(bytes: &[u8]) -> Digest {
    match serde_json::from_slice::<serde_json::Value>(bytes) {
        Ok(mut value) => {
            value.sort_all_objects();
            Digest::of(value.to_string().as_bytes())
        }
        Err(_) => Digest::of(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_told_apart_by_its_meaning() {
        assert_eq!(digest(br#"{"a":1, "b":[true]}"#), digest(br#"{ "b":[true],"a":1}"#));
        assert_ne!(digest(br#"{"a":9007199254740993}"#), digest(br#"{"a":9007199254740992}"#));
        assert_ne!(digest(b""), digest(b"{}"));
    }

    #[test]
    fn keys_are_short_and_printable() {
        let told = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, axum::http::HeaderValue::from_bytes(value).expect("a value"));
            }
            key_of(&headers).map_err(|problem| problem.code())
        };
        assert_eq!(told(&[]), Ok(None));
        assert_eq!(told(&[b"k 1"]), Ok(Some("k 1".to_owned())));
        assert_eq!(told(&[&[b'k'; 255]]), Ok(Some("k".repeat(255))));
        for wrong in [&[&b""[..]][..], &[b" "], &[&[b'k'; 256]], &[b"a\xff"], &[b"a\tb"], &[b"a", b"a"]] {
            assert_eq!(told(wrong), Err("bad_idempotency_key"), "{wrong:?}");
        }
    }
}
