//! Parts of a request as types, where everything that does not fit becomes a [`Problem`].
//!
//! Handlers use these and never the extractors of axum, whose refusals are plain text.

use axum::body::Bytes;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use holdpoint_formats::{explain, objects};
use serde::de::DeserializeOwned;

use crate::problem::{Code, Problem};
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
            return Err(Problem::new(Code::UnsupportedMediaType, "the body must be JSON, and say so")
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
    let value = objects::read(&mut deserializer).map_err(|error| {
        if error.inner().is_data() { invalid_field(&error) } else { malformed(error.inner()) }
    })?;
    deserializer.end().map_err(|error| malformed(&error))?;
    Ok(Json(value))
}

/// Reads a value that was JSON before; what does not fit is named by its pointer.
pub(crate) fn from_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, Problem> {
    objects::read(value).map_err(|error| invalid_field(&error))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::new(Code::MalformedJson, format!("the body is not JSON: {error}"))
}

fn invalid_field(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let fault = explain(error);
    Problem::invalid_fields([(fault.pointer, fault.message)])
}

fn is_json(request: &Request) -> bool {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

pub(crate) fn unreadable(error: &BytesRejection, limit: usize) -> Problem {
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
    Problem::new(Code::BadQuery, why)
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
            Err(PathRejection::FailedToDeserializePathParams(error))
                if matches!(error.kind(), ErrorKind::InvalidUtf8InPathParam { .. }) =>
            {
                Err(Problem::new(Code::BadPath, "the path is not UTF-8"))
            }
            // What is no identifier names nothing.
            Err(_) => Err(Problem::not_found(parts.uri.path())),
        }
    }
}
