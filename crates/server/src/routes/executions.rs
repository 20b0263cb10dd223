//! Executions: starting, deciding, trying again, and looking at what happened.

mod decide;
mod look;
mod submit;

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::event::Role;
use holdpoint_core::state::run::{AskKind, RunStatus};
use holdpoint_core::{Answer, Command, ExecNo, ExecutionId, RunCommand, RunId, State as Fold};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::ExecutionAnswer;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) use decide::shown;

use super::maybe::{Maybe, Nothing};
use super::respond;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path};
use crate::idempotency::Idempotent;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start))
        .routes(routes!(retry))
        .routes(routes!(cancel))
        .routes(routes!(note))
        .merge(decide::routes())
        .merge(look::routes())
        .merge(submit::routes())
}

/// Which run goes on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// The run whose current checkpoint is to start.
    run_id: RunId,
}

/// A note for a running agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The note.
    text: String,
}

/// The execution behind an id, for a caller who may give an order about it.
async fn find(app: &App, caller: &Caller, role: Role, id: ExecutionId) -> Result<(RunId, ExecNo), Problem> {
    caller.require(role)?;
    let found = app.engine()?.locate_execution(id).await?;
    caller.see_in(app, found.0, "execution", id).await?;
    Ok(found)
}

/// Gives an order about an execution, and answers where it stands then.
async fn order(
    app: &App,
    caller: &Caller,
    key: Idempotent,
    id: ExecutionId,
    run: RunId,
    command: RunCommand,
) -> Result<Response, Problem> {
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.execution(run, id)?);
    Ok(respond(caller.submit(app, key, Command::Run(run, command), told).await?))
}

/// Start the current checkpoint of a run
///
/// Begins a run that was made without starting, starts a checkpoint that stands at `pending`, and asks again for
/// approval where the start was rejected.
#[utoipa::path(post, path = "/api/executions/start", tag = "executions", request_body = Start,
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn start(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Json(Start { run_id }): Json<Start>,
) -> Result<Response, Problem> {
    let loaded = app.engine()?.run(run_id).await?;
    let pending = loaded.and_then(|loaded| match &loaded.state {
        Fold::Run(run) if run.status == RunStatus::InProgress => run.to_start(),
        Fold::Run(_) | Fold::Home(_) | Fold::Pipeline(_) | Fold::Journal(_) => None,
    });
    let command = match pending {
        Some(x) => RunCommand::Answer(Answer::of(x, AskKind::Begin, "start")),
        None => RunCommand::Begin,
    };
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.touched_execution(run_id)?);
    Ok(respond(caller.submit(&app, key, Command::Run(run_id, command), told).await?))
}

/// Try a failed execution once more
#[utoipa::path(post, path = "/api/executions/{id}/retry", tag = "executions", params(("id" = ExecutionId, Path)),
    request_body(content = Option<Nothing>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn retry(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Operator, id).await?;
    order(&app, &caller, key, id, run, RunCommand::Answer(Answer::of(x, AskKind::Failed, "retry"))).await
}

/// Stop an execution's work
///
/// The attempt fails as `cancelled` and the run pauses.
#[utoipa::path(post, path = "/api/executions/{id}/cancel", tag = "executions", params(("id" = ExecutionId, Path)),
    request_body(content = Option<Nothing>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn cancel(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Operator, id).await?;
    order(&app, &caller, key, id, run, RunCommand::Cancel(x)).await
}

/// Leave a note for a running agent
#[utoipa::path(post, path = "/api/executions/{id}/note", tag = "executions", params(("id" = ExecutionId, Path)),
    request_body = Note, responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn note(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Json(Note { text }): Json<Note>,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Operator, id).await?;
    order(&app, &caller, key, id, run, RunCommand::QueueNote { x, text: text.into() }).await
}
