//! Checkpoints of a pipeline: adding, changing, taking out, looking.

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::update_checkpoint::UpdateCheckpoint;
use holdpoint_core::definition::CheckpointDefinition;
use holdpoint_core::event::Role;
use holdpoint_core::{CheckpointId, Command, PipelineCommand, PipelineId};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::{CheckpointDocument, PipelineDocument};
use serde_json::{Map, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{respond, sections};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path, from_value};
use crate::idempotency::Idempotent;
use crate::paging::Listed;
use crate::problem::Problem;

/// The sections of a definition.
const SECTIONS: [&str; 8] = [
    "checkpoint_name",
    "checkpoint_description",
    "dependencies",
    "inputs",
    "execution",
    "human_interaction",
    "output",
    "instructions",
];

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(create_in, list))
        .routes(routes!(get, update, remove))
}

async fn add(
    app: &App,
    caller: &Caller,
    key: Idempotent,
    pipeline: PipelineId,
    mut body: Map<String, Value>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let position = match body.remove("position") {
        None | Some(Value::Null) => None,
        Some(position) => Some(from_value(position).map_err(|_| {
            Problem::invalid_fields([("/position".to_owned(), "a whole number from 0".to_owned())])
        })?),
    };
    let definition: CheckpointDefinition = sections::read(body)?;
    let command = PipelineCommand::AddCheckpoint(AddCheckpoint { definition, position });
    let told = |settled: &Settled<'_>| {
        let id = settled.names.checkpoint.unwrap_or_default();
        Settled::json(201, &settled.checkpoint(pipeline, id)?)
    };
    Ok(respond(caller.submit(app, key, Command::Pipeline(pipeline, command), told).await?))
}

/// Add a checkpoint
///
/// The body is a definition with `pipeline_id`, and `position` where it should not stand at the end.
#[utoipa::path(post, path = "/api/checkpoints", tag = "checkpoints", request_body = CheckpointDefinition,
    responses((status = 201, description = "The checkpoint", body = CheckpointDocument)))]
async fn create(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Json(mut body): Json<Map<String, Value>>,
) -> Result<Response, Problem> {
    let missing = || Problem::invalid_fields([("/pipeline_id".to_owned(), "is required".to_owned())]);
    let pipeline = body.remove("pipeline_id").ok_or_else(missing)?;
    let wrong = |_| Problem::invalid_fields([("/pipeline_id".to_owned(), "is not an id".to_owned())]);
    let pipeline: PipelineId = from_value(pipeline).map_err(wrong)?;
    add(&app, &caller, key, pipeline, body).await
}

/// Add a checkpoint to a pipeline
#[utoipa::path(post, path = "/api/pipelines/{id}/checkpoints", tag = "checkpoints",
    params(("id" = PipelineId, Path)), request_body = CheckpointDefinition,
    responses((status = 201, description = "The checkpoint", body = CheckpointDocument)))]
async fn create_in(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<PipelineId>,
    Json(mut body): Json<Map<String, Value>>,
) -> Result<Response, Problem> {
    if let Some(named) = body.remove("pipeline_id")
        && named != id.to_string()
    {
        let message = "names another pipeline than the path".to_owned();
        return Err(Problem::invalid_fields([("/pipeline_id".to_owned(), message)]));
    }
    add(&app, &caller, key, id, body).await
}

/// List the checkpoints of a pipeline
#[utoipa::path(get, path = "/api/pipelines/{id}/checkpoints", tag = "checkpoints",
    params(("id" = PipelineId, Path)),
    responses((status = 200, description = "All of them, in their order", body = Listed<CheckpointDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
) -> Result<axum::Json<Listed<CheckpointDocument>>, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    Ok(axum::Json(Listed::new(app.engine()?.checkpoint_documents(id).await?, None)))
}

/// Get a checkpoint
#[utoipa::path(get, path = "/api/checkpoints/{id}", tag = "checkpoints", params(("id" = CheckpointId, Path)),
    responses((status = 200, description = "The checkpoint", body = CheckpointDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<CheckpointId>,
) -> Result<axum::Json<CheckpointDocument>, Problem> {
    caller.look()?;
    let document = app.engine()?.checkpoint_document(id).await?;
    caller.see("checkpoint", id, Some(document.pipeline_id))?;
    Ok(axum::Json(document))
}

/// Change a checkpoint
///
/// Sections that are given replace those that stand; what is left out stays. What has started keeps the definition
/// that it pinned.
#[utoipa::path(put, path = "/api/checkpoints/{id}", tag = "checkpoints", params(("id" = CheckpointId, Path)),
    request_body = CheckpointDefinition,
    responses((status = 200, description = "The checkpoint", body = CheckpointDocument)))]
async fn update(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<CheckpointId>,
    Json(body): Json<Map<String, Value>>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let standing = app.engine()?.checkpoint_document(id).await?;
    let pipeline = standing.pipeline_id;
    caller.see("checkpoint", id, Some(pipeline))?;
    let standing = serde_json::to_value(standing).map_err(|_| Problem::internal())?;
    let definition = sections::read(sections::replace(&standing, body, &SECTIONS)?)?;
    let command = PipelineCommand::UpdateCheckpoint(UpdateCheckpoint { checkpoint: id, definition });
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.checkpoint(pipeline, id)?);
    let command = Command::Pipeline(pipeline, command);
    Ok(respond(caller.submit(&app, Idempotent::default(), command, told).await?))
}

/// Take a checkpoint out of its pipeline
#[utoipa::path(delete, path = "/api/checkpoints/{id}", tag = "checkpoints", params(("id" = CheckpointId, Path)),
    responses((status = 200, description = "The pipeline without it", body = PipelineDocument)))]
async fn remove(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<CheckpointId>,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let pipeline = app.engine()?.checkpoint_document(id).await?.pipeline_id;
    caller.see("checkpoint", id, Some(pipeline))?;
    let command = Command::Pipeline(pipeline, PipelineCommand::RemoveCheckpoint(id));
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.pipeline(pipeline)?);
    Ok(respond(caller.submit(&app, Idempotent::default(), command, told).await?))
}
