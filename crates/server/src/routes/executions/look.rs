//! Looking at an execution: itself, its log, its conversation, its attempts and what it was given.

use axum::extract::State;
use holdpoint_core::ExecutionId;
use holdpoint_core::event::Role;
use holdpoint_engine::documents::attempts::AttemptDocument;
use holdpoint_engine::documents::context::ContextDocument;
use holdpoint_engine::documents::execution::{LogLine, Message};
use holdpoint_engine::documents::{ExecutionDocument, Position};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Path, Query};
use crate::paging::{Listed, bounds};
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
    let (run, _) = app.engine()?.locate_execution(id).await?;
    // Before the document, which says of what was rolled back that it was.
    caller.see_in(app, run, "execution", id).await?;
    Ok(app.engine()?.execution_document(id).await?)
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

/// Which part of a list that stands in its own order.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Part {
    /// How many at most; without it all of them come.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl Part {
    /// The part of a list. It only grows at its end, so a number is a place.
    fn of<T>(&self, mut all: Vec<T>) -> Result<Listed<T>, Problem> {
        let bounds = bounds(self.limit, self.cursor.as_deref())?;
        let from = bounds.after.map_or(0, |after| after.seq as usize).min(all.len());
        let to = self.limit.map_or(all.len(), |limit| all.len().min(from + limit as usize));
        let next = (to < all.len()).then_some(Position { seq: to as u64, n: 0 });
        all.truncate(to);
        Ok(Listed::new(all.split_off(from), next))
    }
}

/// Get an execution's log
#[utoipa::path(get, path = "/api/executions/{id}/logs", tag = "executions", 
    params(("id" = ExecutionId, Path), Part),
    responses((status = 200, description = "The lines, oldest first", body = Listed<LogLine>)))]
async fn logs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
    Query(part): Query<Part>,
) -> Result<axum::Json<Listed<LogLine>>, Problem> {
    seen(&app, &caller, id).await?;
    Ok(axum::Json(part.of(app.engine()?.log_lines(id, LINES).await?)?))
}

/// Get what was said in an execution
///
/// Where the definition says `show_conversation: false`, only an admin reads the words; others see who spoke, when, and
/// what it cost.
#[utoipa::path(get, path = "/api/executions/{id}/conversation", tag = "executions",
    params(("id" = ExecutionId, Path), Part),
    responses((status = 200, description = "The messages, oldest first", body = Listed<Message>)))]
async fn conversation(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ExecutionId>,
    Query(part): Query<Part>,
) -> Result<axum::Json<Listed<Message>>, Problem> {
    seen(&app, &caller, id).await?;
    let all = caller.require(Role::Admin).is_ok();
    Ok(axum::Json(part.of(app.engine()?.conversation(id, all).await?)?))
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
