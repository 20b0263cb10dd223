//! Parts of a request as types, where everything that does not fit becomes a [`Problem`].
//!
//! Handlers use these and never the extractors of axum, whose refusals are plain text.

use axum::body::Bytes;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

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
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() { invalid_field(&pointer, &error) } else { malformed(&error) }
    })?;
    deserializer.end().map_err(|error| malformed(&error))?;
    Ok(Json(value))
}

/// Reads a value that was JSON before; what does not fit is named by its pointer.
pub(crate) fn from_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| invalid_field(&pointer(error.path()), &error.into_inner()))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::new(Code::MalformedJson, format!("the body is not JSON: {error}"))
}

fn invalid_field(pointer: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = suggestion(message).unwrap_or_else(|| message.to_owned());
    Problem::invalid_fields([(pointer.to_owned(), message)])
}

/// What an unknown field was probably meant to be. The names that are known stand only in the error's text.
fn suggestion(message: &str) -> Option<String> {
    let mut names = message.strip_prefix("unknown field `")?.split('`');
    let unknown = names.next()?;
    let known: Vec<&str> = names.skip(1).step_by(2).collect();
    let nearest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(name, unknown), *name))
        .min()
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(2));
    Some(match nearest {
        Some((_, nearest)) => format!("unknown field `{unknown}`; did you mean `{nearest}`?"),
        None if known.is_empty() => format!("unknown field `{unknown}`; there are no fields here"),
        None => format!("unknown field `{unknown}`; known are `{}`", known.join("`, `")),
    })
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
