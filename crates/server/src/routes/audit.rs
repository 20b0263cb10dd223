//! Checking the log from outside.

use axum::extract::State;
use holdpoint_core::event::Role;
use holdpoint_engine::SubmitError;
use holdpoint_engine::audit::Report;
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// The whole log is read each time, so one after the other.
static TURN: Semaphore = Semaphore::const_new(1);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(verify))
}

/// What was found in the log.
#[derive(Debug, Serialize, ToSchema)]
struct AuditReport {
    /// Whether it is what was written.
    ok: bool,
    /// Events looked at.
    events: u64,
    /// Rows looked at.
    rows: u64,
    /// Streams seen.
    streams: u64,
    /// Seals checked.
    seals: u64,
    /// The position up to which seals cover it.
    sealed: u64,
    /// Rows behind the last seal that the next one will cover.
    unsealed: u64,
    /// What is wrong, the first hundred.
    wrong: Vec<String>,
}

/// Check that nothing in the log was changed, removed or put in
///
/// Reads the whole log: every row's hash, every link, every number and every seal. Writes nothing.
#[utoipa::path(get, path = "/api/audit/verify", tag = "events",
    responses((status = 200, description = "What was found", body = AuditReport)))]
async fn verify(State(app): State<App>, caller: Caller) -> Result<axum::Json<AuditReport>, Problem> {
    caller.require(Role::Admin)?;
    caller.see("log", "outside the caller's pipelines", None)?;
    let _turn = TURN.acquire().await.map_err(|_| Problem::internal())?;
    let report = app.engine()?.verify().await.map_err(SubmitError::from)?;
    let Report { events, rows, streams, seals, sealed, unsealed, wrong } = report;
    let (ok, sealed) = (wrong.is_empty(), sealed.0);
    Ok(axum::Json(AuditReport { ok, events, rows, streams, seals, sealed, unsealed, wrong }))
}
