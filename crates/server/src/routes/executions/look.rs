//! Looking at an execution: itself, its log, its conversation, its attempts and what it was given.

use axum::extract::State;
use holdpoint_core::ExecutionId;
use holdpoint_core::event::Role;
use holdpoint_engine::documents::ExecutionDocument;
use holdpoint_engine::documents::attempts::AttemptDocument;
use holdpoint_engine::documents::context::ContextDocument;
use holdpoint_engine::documents::execution::{LogLine, Message};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::Path;
use crate::paging::Listed;
use crate::problem::Problem;

/// How many lines of a log are shown at most: the last ones.
const LINES: u32 = 100_000;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get))
        .routes(routes!(logs))
        .routes(routes!(conversation))
        .routes(routes!(context))
        .routes(routes!(attempts))
}

/// The execution, for a caller who may look at it.
async fn seen(app: &App, caller: &Caller, id: ExecutionId) -> Result<ExecutionDocument, Problem> {
    caller.look()?;
    let document = app.engine()?.execution_document(id).await?;
    caller.see("execution", id, document.pipeline_id)?;
    Ok(document)
}

/// Get an execution
#[utoipa::path(get, path = "/api/executions/{id}", tag = "executions", params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "The execution", body = ExecutionDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<ExecutionDocument>, Problem> {
    Ok(axum::Json(seen(&app, &caller, id).await?))
}

/// Get an execution's log
#[utoipa::path(get, path = "/api/executions/{id}/logs", tag = "executions", params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "The lines, oldest first", body = Listed<LogLine>)))]
async fn logs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<Listed<LogLine>>, Problem> {
    seen(&app, &caller, id).await?;
    Ok(axum::Json(Listed::new(app.engine()?.log_lines(id, LINES).await?, None)))
}

/// Get what was said in an execution
///
/// Where the definition says `show_conversation: false`, only an admin reads the words; others see who spoke, when, and
/// what it cost.
#[utoipa::path(get, path = "/api/executions/{id}/conversation", tag = "executions",
    params(("id" = ExecutionId, Path)),
    responses((status = 200, description = "The messages, oldest first", body = Listed<Message>)))]
async fn conversation(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
) -> Result<axum::Json<Listed<Message>>, Problem> {
    seen(&app, &caller, id).await?;
    let all = caller.require(Role::Admin).is_ok();
    Ok(axum::Json(Listed::new(app.engine()?.conversation(id, all).await?, None)))
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
    seen(&app, &caller, id).await?;
    Ok(axum::Json(app.engine()?.context_document(id).await?))
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
    seen(&app, &caller, id).await?;
    Ok(axum::Json(Listed::new(app.engine()?.attempt_documents(id).await?, None)))
}
