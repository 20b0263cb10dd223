//! What work cost, what it takes on the disk, and what would go.

use axum::extract::State;
use holdpoint_core::event::Role;
use holdpoint_core::{PipelineId, RunId};
use holdpoint_engine::documents::usage::{DiskUsage, GroupBy, RetentionPreview, UsageSummary, UsageWanted};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::instant;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::Query;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(usage)).routes(routes!(disk)).routes(routes!(retention))
}

/// Which usage is added up.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct UsageQuery {
    /// By what: `pipeline`, `run`, `checkpoint`, `model`, `agent` or `day`.
    #[serde(default)]
    #[param(inline)]
    group_by: GroupBy,
    /// Of one pipeline.
    pipeline_id: Option<PipelineId>,
    /// Of one run.
    run_id: Option<RunId>,
    /// Not before this time (RFC 3339).
    since: Option<String>,
    /// Before this time (RFC 3339).
    until: Option<String>,
}

/// Add up what work cost
///
/// Every call of a model counts, also those of attempts that failed and of runs that were rolled back: they were paid.
#[utoipa::path(get, path = "/api/usage", tag = "usage", params(UsageQuery),
    responses((status = 200, description = "The sums", body = UsageSummary)))]
async fn usage(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<UsageQuery>,
) -> Result<axum::Json<UsageSummary>, Problem> {
    caller.look()?;
    let allowed = &caller.rights().pipelines;
    let pipelines = match query.pipeline_id {
        Some(pipeline) => {
            caller.see("pipeline", pipeline, Some(pipeline))?;
            vec![pipeline]
        }
        None => allowed.clone(),
    };
    let wanted = UsageWanted {
        pipelines,
        run: query.run_id,
        since: instant("since", query.since.as_deref())?,
        until: instant("until", query.until.as_deref())?,
        by: query.group_by,
    };
    Ok(axum::Json(app.engine()?.usage(&wanted).await?))
}

/// Say what pipelines take on the disk
#[utoipa::path(get, path = "/api/usage/disk", tag = "usage",
    responses((status = 200, description = "By pipeline", body = DiskUsage)))]
async fn disk(State(app): State<App>, caller: Caller) -> Result<axum::Json<DiskUsage>, Problem> {
    caller.look()?;
    let mut found = app.engine()?.disk_usage().await?;
    found.items.retain(|item| caller.rights().sees(Some(item.pipeline_id)));
    found.bytes = found.items.iter().map(|item| item.bytes).sum();
    Ok(axum::Json(found))
}

/// Say what would go if everything went that need not be kept any longer
///
/// `holdpoint gc` removes it.
#[utoipa::path(get, path = "/api/usage/retention", tag = "usage",
    responses((status = 200, description = "What would go", body = RetentionPreview)))]
async fn retention(State(app): State<App>, caller: Caller) -> Result<axum::Json<RetentionPreview>, Problem> {
    caller.require(Role::Operator)?;
    let mut found = app.engine()?.retention_preview().await?;
    found.folders.retain(|folder| caller.rights().sees(Some(folder.pipeline_id)));
    Ok(axum::Json(found))
}
