//! A JSON body that may be left out.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::extract::{Json, unreadable};
use crate::problem::Problem;
use crate::serve::Limits;

/// Nothing more needs to be said.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// A JSON body, or nothing (or null), which stands for an object without members.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Maybe<T>(pub T);

impl<S, T> FromRequest<S> for Maybe<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Default,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let limit = head.extensions.get::<Limits>().map_or(Limits::default().body_bytes, |l| l.body_bytes);
        let whole = Request::from_parts(head.clone(), body);
        let bytes = Bytes::from_request(whole, state).await.map_err(|error| unreadable(&error, limit))?;
        if matches!(bytes.trim_ascii(), b"" | b"null") {
            return Ok(Self(T::default()));
        }
        let Json(value) = Json::from_request(Request::from_parts(head, Body::from(bytes)), state).await?;
        Ok(Self(value))
    }
}
