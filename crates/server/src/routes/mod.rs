//! The routes, one file per area. Each file describes its routes where it writes them and lists them in a
//! function `routes`, which is named here.

mod artifacts;
mod audit;
mod checkpoints;
mod compare;
pub mod docs;
mod dry_runs;
mod events;
mod executions;
mod files;
pub mod health;
mod maybe;
mod metrics;
mod people;
mod pipelines;
mod rollback;
mod runs;
mod sections;
pub mod sign_in;
mod stream;
pub mod tokens;
mod usage;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use holdpoint_engine::{Answered, Reply};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// Adds all routes to a description.
pub fn all(described: OpenApiRouter<App>) -> OpenApiRouter<App> {
    described
        .merge(health::routes())
        .merge(docs::routes())
        .merge(sign_in::routes())
        .merge(tokens::routes())
        .merge(pipelines::routes())
        .merge(files::routes())
        .merge(audit::routes())
        .merge(dry_runs::routes())
        .merge(checkpoints::routes())
        .merge(runs::routes())
        .merge(executions::routes())
        .merge(rollback::routes())
        .merge(artifacts::routes())
        .merge(people::routes())
        .merge(compare::routes())
        .merge(events::routes())
        .merge(stream::routes())
        .merge(usage::routes())
        .merge(metrics::routes())
}

/// What the sender is told, as it goes out.
fn respond(answered: Answered) -> Response {
    let Reply { status, body } = answered.reply;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, "application/json")], body.to_vec()).into_response()
}
