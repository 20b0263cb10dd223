//! Looking at an execution: itself, its log, its conversation, its decisions, its attempts and what it was given.

use axum::extract::State;
use holdpoint_core::ExecutionId;
use holdpoint_core::event::Role;
use holdpoint_engine::Engine;
use holdpoint_engine::documents::ExecutionDocument;
use holdpoint_engine::documents::attempts::AttemptDocument;
use holdpoint_engine::documents::context::ContextDocument;
use holdpoint_engine::documents::conversation::Message;
use holdpoint_engine::documents::inputs::InputsDocument;
use holdpoint_engine::documents::interactions::Interaction;
use holdpoint_engine::documents::logs::LogLine;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Path, Query};
use crate::paging::{Listed, Part, bounds};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get))
        .routes(routes!(logs))
        .routes(routes!(conversation))
        .routes(routes!(interactions))
        .routes(routes!(inputs))
        .routes(routes!(context))
        .routes(routes!(attempts))
}

/// Refuses a caller who may not look at an execution, and one that was rolled back.
async fn seen(app: &App, caller: &Caller, id: ExecutionId) -> Result<Engine, Problem> {
    caller.look()?;
    let engine = app.engine()?;
    let (run, _) = engine.locate_execution(id).await?;
    // First, because what was rolled back is said to have been.
    caller.see_in(app, run, "execution", id).await?;
    engine.require_execution(id).await?;
    Ok(engine.clone())
}

/// Get an execution
///
/// The last 20 log lines, messages and interactions stand in it, with cursors for the earlier ones.
#[utoipa::path(get, path = "/api/executions/{id}", tag = "executions", params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "The execution", body = ExecutionDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<ExecutionDocument>, Problem> {
    Ok(axum::Json(seen(&app, &caller, id).await?.execution_document(id).await?))
}

/// Get an execution's log
///
/// From its first line on, or from its last line back with `order=newest`.
#[utoipa::path(get, path = "/api/executions/{id}/logs", tag = "executions",
    params(("id" = ExecutionId, Path), Part),
    responses((status = 200, description = "The lines, in the order that was asked for", body = Listed<LogLine>)))]
async fn logs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
    Query(part): Query<Part>,
) -> Result<axum::Json<Listed<LogLine>>, Problem> {
    let engine = seen(&app, &caller, id).await?;
    let (order, bounds) = part.bounds()?;
    Ok(axum::Json(Listed::part(engine.log_lines(id, order, bounds).await?, order)))
}

/// Get what was said in an execution
///
/// From its first message on, or from its last message back with `order=newest`. Where the definition says
/// `show_conversation: false`, only an admin reads the words; others see who spoke, when, and
/// what it cost.
#[utoipa::path(get, path = "/api/executions/{id}/conversation", tag = "executions",
    params(("id" = ExecutionId, Path), Part),
    responses((status = 200, description = "The messages, in the order that was asked for", body = Listed<Message>)))]
async fn conversation(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
    Query(part): Query<Part>,
) -> Result<axum::Json<Listed<Message>>, Problem> {
    let engine = seen(&app, &caller, id).await?;
    let all = caller.require(Role::Admin).is_ok();
    let (order, bounds) = part.bounds()?;
    Ok(axum::Json(Listed::part(engine.conversation(id, all, order, bounds).await?, order)))
}

/// Which part of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Page {
    /// How many at most: 50 when it is not given.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the page before, or `human_interactions_cursor` of the execution.
    cursor: Option<String>,
}

/// List what people said and decided about an execution
///
/// Newest first.
#[utoipa::path(get, path = "/api/executions/{id}/interactions", tag = "executions",
    params(("id" = ExecutionId, Path), Page),
    responses((status = 200, description = "What people said and decided", body = Listed<Interaction>)))]
async fn interactions(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
    Query(page): Query<Page>,
) -> Result<axum::Json<Listed<Interaction>>, Problem> {
    let engine = seen(&app, &caller, id).await?;
    let bounds = bounds(page.limit, page.cursor.as_deref())?;
    Ok(axum::Json(engine.interactions(id, bounds).await?.into()))
}

/// Get what an execution is given
#[utoipa::path(get, path = "/api/executions/{id}/inputs", tag = "executions", params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "What it is given", body = InputsDocument)))]
async fn inputs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<InputsDocument>, Problem> {
    Ok(axum::Json(seen(&app, &caller, id).await?.inputs_document(id).await?))
}

/// Get what an execution is given, and what its agents are told
///
/// Before the work this is a preview; afterwards it is what was sent.
#[utoipa::path(get, path = "/api/executions/{id}/context", tag = "executions", params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "What it is given and what its agents are told", body = ContextDocument)))]
async fn context(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<ContextDocument>, Problem> {
    Ok(axum::Json(seen(&app, &caller, id).await?.context_document(id).await?))
}

/// List all attempts of an execution
#[utoipa::path(get, path = "/api/executions/{id}/attempts", tag = "executions",
    params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "All attempts at all revisions", body = Listed<AttemptDocument>)))]
async fn attempts(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<Listed<AttemptDocument>>, Problem> {
    let attempts = seen(&app, &caller, id).await?.attempt_documents(id).await?;
    Ok(axum::Json(Listed::new(attempts, None)))
}
