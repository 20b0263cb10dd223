//! Pipelines: making, changing, putting away, bringing back, looking.

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::update_pipeline::UpdatePipeline;
use holdpoint_core::definition::PipelineConfig;
use holdpoint_core::event::Role;
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{CheckpointId, Command, PipelineCommand, PipelineId};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::history::{DefinitionDiff, RevisionDocument};
use holdpoint_engine::documents::run::RunFilter;
use holdpoint_engine::documents::{PipelineDocument, RunDocument};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::maybe::{Maybe, Nothing};
use super::{respond, sections};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path, Query};
use crate::idempotency::Idempotent;
use crate::paging::{Listed, bounds};
use crate::problem::{Code, Problem};

/// The sections of a pipeline that can be written.
const SECTIONS: [&str; 3] = ["pipeline_name", "pipeline_description", "config"];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(get, update, delete))
        .routes(routes!(reorder))
        .routes(routes!(restore))
        .routes(routes!(runs))
        .routes(routes!(history))
        .routes(routes!(diff))
}

/// A pipeline to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPipeline {
    /// What people call it.
    pipeline_name: String,
    /// What it is for.
    #[serde(default)]
    pipeline_description: Option<String>,
    /// Its settings.
    #[serde(default)]
    config: PipelineConfig,
}

/// What changes; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Changes {
    /// What people call it.
    #[serde(default)]
    pipeline_name: Option<String>,
    /// What it is for; null takes it away.
    #[serde(default)]
    pipeline_description: Option<String>,
    /// Its settings.
    #[serde(default)]
    config: Option<PipelineConfig>,
}

/// An order of checkpoints.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewOrder {
    /// All checkpoints of the pipeline, each once.
    checkpoint_order: Vec<CheckpointId>,
}

/// Which pipelines are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PipelineQuery {
    /// Those that were put away, instead of those in use.
    #[serde(default)]
    deleted: bool,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

/// What is shown.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Also {
    /// Also a pipeline that was put away.
    #[serde(default)]
    deleted: bool,
}

/// Which runs are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct RunsQuery {
    /// With one status.
    status: Option<RunStatus>,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

/// Two revisions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Between {
    /// The earlier one.
    from: u64,
    /// The later one.
    to: u64,
}

/// Make a pipeline
#[utoipa::path(post, path = "/api/pipelines", tag = "pipelines", request_body = NewPipeline,
    responses((status = 201, description = "The pipeline", body = PipelineDocument)))]
async fn create(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Json(body): Json<NewPipeline>,
) -> Result<Response, Problem> {
    let id = PipelineId(uuid::Uuid::now_v7());
    let command = CreatePipeline {
        name: body.pipeline_name.into(),
        description: body.pipeline_description.map(Into::into),
        config: body.config,
    };
    let command = Command::Pipeline(id, PipelineCommand::Create(command));
    let told =
        |settled: &Settled<'_>| Settled::json(201, &settled.pipeline(settled.names.pipeline.unwrap_or(id))?);
    Ok(respond(caller.submit(&app, key, command, told).await?))
}

/// List pipelines
#[utoipa::path(get, path = "/api/pipelines", tag = "pipelines", params(PipelineQuery),
    responses((status = 200, description = "A page of pipelines, newest first", body = Listed<PipelineDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<PipelineQuery>,
) -> Result<axum::Json<Listed<PipelineDocument>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    let mut page = app.engine()?.pipeline_documents(query.deleted, bounds).await?;
    page.items.retain(|pipeline| caller.rights().sees(Some(pipeline.pipeline_id)));
    Ok(axum::Json(page.into()))
}

/// Get a pipeline with its checkpoints
#[utoipa::path(get, path = "/api/pipelines/{id}", tag = "pipelines", params(("id" = PipelineId, Path), Also),
    responses((status = 200, description = "The pipeline", body = PipelineDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
    Query(Also { deleted }): Query<Also>,
) -> Result<axum::Json<PipelineDocument>, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    let document = app.engine()?.pipeline_document(id).await?;
    if document.deleted_at.is_some() && !deleted {
        let hint = format!("It was put away: POST /api/pipelines/{id}/restore brings it back.");
        return Err(Problem::missing("pipeline", id).hint(hint));
    }
    Ok(axum::Json(document))
}

async fn change(
    app: &App,
    caller: &Caller,
    key: Idempotent,
    id: PipelineId,
    command: PipelineCommand,
) -> Result<Response, Problem> {
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.pipeline(id)?);
    Ok(respond(caller.submit(app, key, Command::Pipeline(id, command), told).await?))
}

/// Change a pipeline's name, description or settings
///
/// What is left out stays. Runs go on as they are.
#[utoipa::path(put, path = "/api/pipelines/{id}", tag = "pipelines", params(("id" = PipelineId, Path)),
    request_body = Changes, responses((status = 200, description = "The pipeline", body = PipelineDocument)))]
async fn update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
    Json(body): Json<Map<String, Value>>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    caller.see("pipeline", id, Some(id))?;
    let standing = app.engine()?.pipeline_document(id).await?;
    let standing = serde_json::to_value(standing).map_err(|_| Problem::internal())?;
    let changes: Changes = sections::read(sections::replace(&standing, body, &SECTIONS)?)?;
    let command = UpdatePipeline {
        name: changes.pipeline_name.map(Into::into),
        description: Some(changes.pipeline_description.map(Into::into)),
        config: changes.config,
    };
    change(&app, &caller, Idempotent::default(), id, PipelineCommand::Update(command)).await
}

/// Put a pipeline away
///
/// It moves to the archive and can be brought back.
#[utoipa::path(delete, path = "/api/pipelines/{id}", tag = "pipelines", params(("id" = PipelineId, Path)),
    responses((status = 200, description = "The pipeline as it was put away", body = PipelineDocument)))]
async fn delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
) -> Result<Response, Problem> {
    change(&app, &caller, Idempotent::default(), id, PipelineCommand::Delete).await
}

/// Bring a pipeline back
#[utoipa::path(post, path = "/api/pipelines/{id}/restore", tag = "pipelines", params(("id" = PipelineId, Path)),
    request_body(content = Option<Nothing>),
    responses((status = 200, description = "The pipeline", body = PipelineDocument)))]
async fn restore(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<PipelineId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    change(&app, &caller, key, id, PipelineCommand::Restore).await
}

/// Change the order of a pipeline's checkpoints
///
/// The definition version goes up and runs count from v1 again. Refused while a run is active.
#[utoipa::path(put, path = "/api/pipelines/{id}/checkpoint-order", tag = "pipelines",
    params(("id" = PipelineId, Path)), request_body = NewOrder,
    responses((status = 200, description = "The pipeline", body = PipelineDocument)))]
async fn reorder(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
    Json(NewOrder { checkpoint_order }): Json<NewOrder>,
) -> Result<Response, Problem> {
    change(&app, &caller, Idempotent::default(), id, PipelineCommand::Reorder(checkpoint_order)).await
}

/// List the runs of a pipeline
///
/// Newest first, without those that were rolled back.
#[utoipa::path(get, path = "/api/pipelines/{id}/runs", tag = "pipelines",
    params(("id" = PipelineId, Path), RunsQuery),
    responses((status = 200, description = "A page of runs", body = Listed<RunDocument>)))]
async fn runs(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
    Query(query): Query<RunsQuery>,
) -> Result<axum::Json<Listed<RunDocument>>, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    let filter = RunFilter { pipeline: Some(id), status: query.status };
    Ok(axum::Json(app.engine()?.run_documents(filter, bounds).await?.into()))
}

/// List the revisions of a pipeline's definition
///
/// Newest first: what changed, when, by whom.
#[utoipa::path(get, path = "/api/pipelines/{id}/history", tag = "pipelines", params(("id" = PipelineId, Path)),
    responses((status = 200, description = "The revisions", body = Listed<RevisionDocument>)))]
async fn history(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
) -> Result<axum::Json<Listed<RevisionDocument>>, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    Ok(axum::Json(Listed::new(app.engine()?.definition_history(id).await?, None)))
}

/// Compare two revisions of a pipeline's definition
#[utoipa::path(get, path = "/api/pipelines/{id}/history/diff", tag = "pipelines",
    params(("id" = PipelineId, Path), Between),
    responses((status = 200, description = "How they differ", body = DefinitionDiff)))]
async fn diff(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
    Query(Between { from, to }): Query<Between>,
) -> Result<axum::Json<DefinitionDiff>, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    let compared = app.engine()?.definition_diff(id, from, to).await?;
    let missing = || Problem::new(Code::NotFound, format!("pipeline {id} has no revision {from} or {to}"));
    Ok(axum::Json(compared.ok_or_else(missing)?))
}
