//! Whether the server lives, and whether it can take work.
//!
//! `/livez` answers as long as the process can answer at all. `/readyz` asks what stands behind the server;
//! while the server drains it is not ready, so that nobody sends it more.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use futures_util::future::{BoxFuture, ready as at_once};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::problem::Problem;

/// How long `/readyz` waits for what stands behind the server.
const PATIENCE: Duration = Duration::from_secs(2);

/// What stands behind the server and may not be able to take work yet, or any more.
///
/// It is asked on every call of `/readyz`, so it does no more than a small read. No answer within two seconds
/// counts as not ready.
pub trait Health: Send + Sync + 'static {
    /// Why it cannot take work, if it cannot.
    fn ready(&self) -> BoxFuture<'_, Result<(), NotReady>>;

    /// What foreign code is confined by, once that was tried.
    fn sandbox(&self) -> Option<&'static str> {
        None
    }

    /// How many streams were found damaged: nothing is served from them.
    fn damaged(&self) -> usize {
        0
    }

    /// How many blobs were found damaged: they are not served, and nothing that has them is approved.
    fn damaged_blobs(&self) -> usize {
        0
    }
}

/// Why no work can be taken, in a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotReady {
    /// What is missing.
    pub reason: String,
}

/// Nothing stands behind the server that could be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysReady;

impl Health for AlwaysReady {
    fn ready(&self) -> BoxFuture<'_, Result<(), NotReady>> {
        Box::pin(at_once(Ok(())))
    }
}

impl<F> Health for F
where
    F: Fn() -> Result<(), NotReady> + Send + Sync + 'static,
{
    fn ready(&self) -> BoxFuture<'_, Result<(), NotReady>> {
        Box::pin(at_once(self()))
    }
}

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(status)).routes(routes!(alive)).routes(routes!(ready))
}

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Alive {
    /// Always `ok`.
    status: &'static str,
}

/// Whether the server takes work.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    /// Always `ready`.
    status: &'static str,
    /// What foreign code is confined by: `full`, `restricted`, `external` or `none`; nothing while that is being
    /// tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'static str>,
    /// How many pipelines, runs and journals this server found damaged (`log_corrupt`), if any. Everything else works.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged_streams: Option<usize>,
    /// How many outputs and other contents this server found damaged (`blob_corrupt`), if any. Everything else works.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged_blobs: Option<usize>,
}

/// How the server is, and which.
#[derive(Debug, Serialize, ToSchema)]
pub struct Status {
    /// Always `ok`.
    status: &'static str,
    /// The version of Holdpoint.
    version: &'static str,
}

/// Says that the server answers, and its version.
#[utoipa::path(get, path = "/api/health", tag = "health", responses((status = 200, body = Status)))]
pub async fn status() -> Json<Status> {
    Json(Status { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Says that the process lives.
#[utoipa::path(get, path = "/livez", tag = "health", responses((status = 200, body = Alive)))]
pub async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok" })
}

/// Says whether the server can take work; 503 while it cannot.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, body = Ready)))]
pub async fn ready(State(app): State<App>) -> Result<Json<Ready>, Problem> {
    if app.stopping().is_cancelled() {
        let problem = Problem::not_ready("the server is shutting down");
        return Err(problem.hint("send the request to another server, or again after the restart"));
    }
    let answer = timeout(PATIENCE, app.health().ready()).await;
    let answer = answer.unwrap_or_else(|_| {
        Err(NotReady { reason: "what stands behind the server does not answer".to_owned() })
    });
    answer.map_err(|missing| Problem::not_ready(missing.reason))?;
    let health = app.health();
    let damaged_streams = Some(health.damaged()).filter(|damaged| *damaged > 0);
    let damaged_blobs = Some(health.damaged_blobs()).filter(|damaged| *damaged > 0);
    Ok(Json(Ready { status: "ready", sandbox: health.sandbox(), damaged_streams, damaged_blobs }))
}
