//! Runs: starting them, steering them, looking at them.

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{Command, PipelineId, RunCommand, RunId};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::Position;
use holdpoint_engine::documents::graph::{GraphDocument, Points};
use holdpoint_engine::documents::run::RunFilter;
use holdpoint_engine::documents::{ExecutionDocument, RunAnswer, RunDocument};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::maybe::{Maybe, Nothing};
use super::respond;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path, Query};
use crate::idempotency::Idempotent;
use crate::paging::{Listed, bounds, cursor};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start, list))
        .routes(routes!(get))
        .routes(routes!(checkpoints))
        .routes(routes!(graph))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(abort))
        .routes(routes!(fail))
}

/// What a new run is made from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRun {
    /// The pipeline to run.
    pipeline_id: PipelineId,
    /// Whether it begins at once.
    #[serde(default = "yes")]
    start: bool,
}

fn yes() -> bool {
    true
}

/// Why a run is ended.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Ending {
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

/// Which runs are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct RunQuery {
    /// Of one pipeline.
    pipeline_id: Option<PipelineId>,
    /// With one status.
    status: Option<RunStatus>,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

/// Start a run
///
/// The run begins at once, and its first checkpoint with it; `start: false` leaves it `not_started`.
#[utoipa::path(post, path = "/api/runs", tag = "runs", request_body = NewRun,
    responses((status = 201, description = "The run", body = RunAnswer)))]
async fn start(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Json(NewRun { pipeline_id, start }): Json<NewRun>,
) -> Result<Response, Problem> {
    let run = RunId(uuid::Uuid::now_v7());
    let command = Command::StartRun(StartRun { run, source: Source::Pipeline(pipeline_id), start });
    let told = |settled: &Settled<'_>| Settled::json(201, &settled.run(settled.names.run.unwrap_or(run))?);
    Ok(respond(caller.submit(&app, key, command, told).await?))
}

/// List runs
///
/// Newest first, without those that were rolled back.
#[utoipa::path(get, path = "/api/runs", tag = "runs", params(RunQuery),
    responses((status = 200, description = "A page of runs", body = Listed<RunDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<RunQuery>,
) -> Result<axum::Json<Listed<RunDocument>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    if let Some(pipeline) = query.pipeline_id {
        caller.see("pipeline", pipeline, Some(pipeline))?;
    }
    let filter = RunFilter { pipeline: query.pipeline_id, status: query.status };
    let mut page = app.engine()?.run_documents(filter, bounds).await?;
    page.items.retain(|run| caller.rights().sees(run.standing.pipeline_id));
    Ok(axum::Json(page.into()))
}

/// Get a run
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, description = "The run, with the execution that it is at", body = RunDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<RunId>,
) -> Result<axum::Json<RunDocument>, Problem> {
    caller.look()?;
    caller.see_run(&app, id).await?;
    Ok(axum::Json(app.engine()?.run_document(id).await?))
}

/// List the executions of a run
///
/// All of them, in the order of the run.
#[utoipa::path(get, path = "/api/runs/{id}/checkpoints", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, description = "The executions", body = Listed<ExecutionDocument>)))]
async fn checkpoints(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<RunId>,
) -> Result<axum::Json<Listed<ExecutionDocument>>, Problem> {
    caller.look()?;
    caller.see_run(&app, id).await?;
    let items = app.engine()?.execution_documents(id).await?;
    Ok(axum::Json(Listed::new(items, None)))
}

/// How many points a page of a graph has when nothing is said.
const POINTS: u32 = 500;

/// Which points of a graph are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct GraphQuery {
    /// How many points at most: 1 to 500, 500 when it is not given.
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of a run's graph.
#[derive(Debug, Serialize, ToSchema)]
struct GraphPage {
    #[serde(flatten)]
    graph: GraphDocument,
    /// Hand this in as `cursor` to get the next points; null: these are the last.
    next_cursor: Option<String>,
}

/// Get a run as a graph
///
/// Steps, edges and branches come with the first page; every page has points, oldest first.
#[utoipa::path(get, path = "/api/runs/{id}/graph", tag = "runs", params(("id" = RunId, Path), GraphQuery),
    responses((status = 200, description = "Steps, edges, branches and durable points", body = GraphPage)))]
async fn graph(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<RunId>,
    Query(query): Query<GraphQuery>,
) -> Result<axum::Json<GraphPage>, Problem> {
    caller.look()?;
    caller.see_run(&app, id).await?;
    let bounds = bounds(Some(query.limit.unwrap_or(POINTS)), query.cursor.as_deref())?;
    let points = Points { from: bounds.after.map_or(0, |place| place.n), limit: bounds.limit };
    let graph = app.engine()?.graph_document(id, points).await?;
    let next_cursor = graph.next.map(|n| cursor(Position { seq: 0, n }));
    Ok(axum::Json(GraphPage { graph, next_cursor }))
}

async fn steer(
    app: &App,
    caller: &Caller,
    key: Idempotent,
    id: RunId,
    command: RunCommand,
) -> Result<Response, Problem> {
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.run(id)?);
    Ok(respond(caller.submit(app, key, Command::Run(id, command), told).await?))
}

/// Pause a run
///
/// A run pauses between checkpoints only: while a step works, `pause_requested` is set and the run pauses when it
/// ends.
#[utoipa::path(post, path = "/api/runs/{id}/pause", tag = "runs", params(("id" = RunId, Path)),
    request_body(content = Option<Nothing>), responses((status = 200, description = "The run", body = RunAnswer)))]
async fn pause(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<RunId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    steer(&app, &caller, key, id, RunCommand::Pause).await
}

/// Resume a paused run
#[utoipa::path(post, path = "/api/runs/{id}/resume", tag = "runs", params(("id" = RunId, Path)),
    request_body(content = Option<Nothing>), responses((status = 200, description = "The run", body = RunAnswer)))]
async fn resume(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<RunId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    // Who may decide passes a gate at which the run was paused.
    let decides = caller.require(holdpoint_core::event::Role::Approver).is_ok();
    steer(&app, &caller, key, id, RunCommand::Resume { decides, max: None }).await
}

/// End a run
#[utoipa::path(post, path = "/api/runs/{id}/abort", tag = "runs", params(("id" = RunId, Path)),
    request_body(content = Option<Ending>), responses((status = 200, description = "The run", body = RunAnswer)))]
async fn abort(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<RunId>,
    Maybe(Ending { reason }): Maybe<Ending>,
) -> Result<Response, Problem> {
    steer(&app, &caller, key, id, RunCommand::Abort(reason.map(Into::into))).await
}

/// Declare a run failed
#[utoipa::path(post, path = "/api/runs/{id}/fail", tag = "runs", params(("id" = RunId, Path)),
    request_body(content = Option<Ending>), responses((status = 200, description = "The run", body = RunAnswer)))]
async fn fail(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<RunId>,
    Maybe(Ending { reason }): Maybe<Ending>,
) -> Result<Response, Problem> {
    steer(&app, &caller, key, id, RunCommand::Fail(reason.map(Into::into))).await
}
