//! Parts of a request as types, where everything that does not fit becomes a [`Problem`].
//!
//! Handlers use these and never the extractors of axum, whose refusals are plain text.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use crate::problem::Problem;
use crate::serve::Limits;

/// A JSON body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json<T>(pub T);

impl<S, T> FromRequest<S> for Json<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_json(&request) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let detail = "the body must be JSON, and say so";
            return Err(Problem::new(status, "unsupported_media_type", "Unsupported media type", detail)
                .hint("send the header `Content-Type: application/json`"));
        }
        let limit =
            request.extensions().get::<Limits>().map_or(Limits::default().body_bytes, |l| l.body_bytes);
        let bytes = Bytes::from_request(request, state).await.map_err(|error| unreadable(&error, limit))?;
        parse(&bytes)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<Json<T>, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() { invalid_field(&pointer, &error) } else { malformed(&error) }
    })?;
    deserializer.end().map_err(|error| malformed(&error))?;
    Ok(Json(value))
}

fn malformed(error: &serde_json::Error) -> Problem {
    let detail = format!("the body is not JSON: {error}");
    Problem::new(StatusCode::BAD_REQUEST, "malformed_json", "Malformed JSON", detail)
        .hint("look at the line and column that are named")
}

fn invalid_field(pointer: &str, error: &serde_json::Error) -> Problem {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    Problem::new(status, "invalid_fields", "Invalid fields", "the body does not have the fields it needs")
        .hint("`errors` names each field that is wrong")
        .field(pointer, message)
}

/// The place of an error as RFC 6901 writes it.
fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } => format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { variant } => format!("{pointer}/{variant}"),
        Segment::Unknown => pointer,
    })
}

fn is_json(request: &Request) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn unreadable(error: &BytesRejection, limit: usize) -> Problem {
    match error {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            Problem::body_too_large(limit)
        }
        other => Problem::body_unreadable(format!("the body could not be read: {}", innermost(other))),
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The query of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<T>(pub T);

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(QueryRejection::FailedToDeserializeQueryString(error)) => Err(bad_query(innermost(&error))),
            Err(other) => Err(bad_query(other.body_text())),
        }
    }
}

fn bad_query(why: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_query", "Bad query", why)
        .hint("check the names and values after the `?`")
}

/// The variable parts of a request's path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path<T>(pub T);

impl<S, T> FromRequestParts<S> for Path<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => Err(bad_path(error.body_text())),
            Err(other) => Err(bad_path(other.body_text())),
        }
    }
}

fn bad_path(why: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_path", "Bad path", why)
        .hint("check the identifiers in the path")
}
