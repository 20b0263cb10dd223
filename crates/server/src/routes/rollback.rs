//! Going back, looking first what that would take, and undoing it.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use holdpoint_core::commands::roll_back::{RollBack, Target};
use holdpoint_core::event::{Role, RollbackType};
use holdpoint_core::{CheckpointId, Command, PipelineId, RollbackId, RunId};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::{ImpactDocument, RollbackDocument};
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
use crate::paging::{Listed, bounds};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(roll_back, list)).routes(routes!(get)).routes(routes!(undo))
}

/// How far a rollback reaches.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    /// Within one run.
    CheckpointLevel,
    /// To an earlier run.
    RunLevel,
}

/// What to go back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRollback {
    /// How far it reaches.
    rollback_type: Level,
    /// The run from which it is asked for.
    source_run_id: RunId,
    /// The run to go back to; needed at run level.
    #[serde(default)]
    target_run_id: Option<RunId>,
    /// The checkpoint that stays completed, by its id.
    #[serde(default)]
    target_checkpoint_id: Option<CheckpointId>,
    /// Or by its position, from 0.
    #[serde(default)]
    target_checkpoint_position: Option<u32>,
    /// Why.
    #[serde(default)]
    user_reason: Option<String>,
    /// Only say what would go.
    #[serde(default)]
    dry_run: bool,
}

/// What a rollback would do.
#[derive(Debug, Serialize, ToSchema)]
struct Preview {
    /// What would go, and what stays.
    impact: ImpactDocument,
}

/// Which rollbacks are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct RollbackQuery {
    /// Of one pipeline.
    pipeline_id: Option<PipelineId>,
    /// Asked for from one run.
    source_run_id: Option<RunId>,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

fn wrong(pointer: &str, message: &str) -> Problem {
    Problem::new(Code::InvalidFields, "the target is not clear").field(pointer, message)
}

fn command(body: NewRollback) -> Result<RollBack, Problem> {
    let checkpoint = match (body.target_checkpoint_id, body.target_checkpoint_position) {
        (Some(id), None) => Target::Id(id),
        (None, Some(position)) => Target::Position(position),
        (None, None) => {
            return Err(wrong("/target_checkpoint_id", "an id or `target_checkpoint_position` is needed"));
        }
        (Some(_), Some(_)) => {
            return Err(wrong("/target_checkpoint_position", "give the id or the position, not both"));
        }
    };
    Ok(RollBack {
        level: match body.rollback_type {
            Level::CheckpointLevel => RollbackType::CheckpointLevel,
            Level::RunLevel => RollbackType::RunLevel,
        },
        source: body.source_run_id,
        target: body.target_run_id,
        checkpoint,
        reason: body.user_reason.map(Into::into),
    })
}

/// Roll back, or say what that would take
///
/// The target stays completed; the checkpoint after it becomes the current one and stands at `pending`. With
/// `dry_run` nothing changes and the answer is the impact.
#[utoipa::path(post, path = "/api/rollback", tag = "rollback", request_body = NewRollback,
    responses((status = 201, description = "The record", body = RollbackDocument),
        (status = 200, description = "With `dry_run`: what would go", body = Preview)))]
async fn roll_back(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Json(body): Json<NewRollback>,
) -> Result<Response, Problem> {
    let dry_run = body.dry_run;
    let command = command(body)?;
    if dry_run {
        caller.require(Role::Viewer)?;
        for run in [Some(command.source), command.target].into_iter().flatten() {
            caller.see_run(&app, run).await?;
        }
        let impact = app.engine()?.rollback_impact(caller.actor().clone(), command).await?;
        return Ok(axum::Json(Preview { impact }).into_response());
    }
    let told = |settled: &Settled<'_>| Settled::json(201, &settled.rollback()?);
    Ok(respond(caller.submit(&app, key, Command::RollBack(command), told).await?))
}

/// List rollbacks
#[utoipa::path(get, path = "/api/rollback", tag = "rollback", params(RollbackQuery),
    responses((status = 200, description = "A page of rollbacks", body = Listed<RollbackDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<RollbackQuery>,
) -> Result<axum::Json<Listed<RollbackDocument>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    let engine = app.engine()?;
    let mut page = engine.rollback_documents(query.pipeline_id, query.source_run_id, bounds).await?;
    page.items.retain(|rollback| caller.rights().sees(Some(rollback.pipeline_id)));
    Ok(axum::Json(page.into()))
}

/// Get a rollback
#[utoipa::path(get, path = "/api/rollback/{id}", tag = "rollback", params(("id" = RollbackId, Path)),
    responses((status = 200, description = "The record", body = RollbackDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<RollbackId>,
) -> Result<axum::Json<RollbackDocument>, Problem> {
    caller.look()?;
    let record = app.engine()?.rollback_document(id).await?;
    caller.see("rollback", id, Some(record.pipeline_id))?;
    Ok(axum::Json(record))
}

/// Undo a rollback
///
/// Puts back everything that it took out, as long as nothing newer stands in its place.
#[utoipa::path(post, path = "/api/rollback/{id}/undo", tag = "rollback", params(("id" = RollbackId, Path)),
    request_body(content = Option<Nothing>),
    responses((status = 200, description = "The record, undone", body = RollbackDocument)))]
async fn undo(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<RollbackId>,
    _: Maybe<Nothing>,
) -> Result<Response, Problem> {
    caller.require(Role::Approver)?;
    let record = app.engine()?.rollback_document(id).await?;
    caller.see("rollback", id, Some(record.pipeline_id))?;
    let command = Command::UndoRollback { pipeline: record.pipeline_id, rollback: id };
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.undone(record.clone()));
    Ok(respond(caller.submit(&app, key, command, told).await?))
}
