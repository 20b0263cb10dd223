//! What waits for people, and answering a choice.

use axum::extract::State;
use holdpoint_core::commands::answer_gate::AnswerGate;
use holdpoint_core::event::Role;
use holdpoint_core::{Command, GateId, PipelineId, RunCommand};
use holdpoint_engine::documents::{InboxItem, RunDocument};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::executions::shown;
use super::settled;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path, Query};
use crate::idempotency::Idempotent;
use crate::paging::{Listed, bounds};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(inbox)).routes(routes!(answer))
}

/// What is listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct InboxQuery {
    /// Of one pipeline.
    pipeline_id: Option<PipelineId>,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

/// A choice.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// The label of what is picked; what a script or a check asks for has none.
    #[serde(default)]
    option: Option<String>,
    /// What the person adds; for `raise` of a budget, by how much.
    #[serde(default)]
    feedback: Option<String>,
    /// The answer to what a script or a check asks for.
    #[serde(default)]
    user_input: Option<String>,
    /// What was shown, where `waiting_for.digest` is set.
    #[serde(default)]
    digest: Option<String>,
}

/// List what waits for a person
///
/// Open questions, newest first; steps that have failed for good stand before them.
#[utoipa::path(get, path = "/api/inbox", tag = "people", params(InboxQuery),
    responses((status = 200, description = "A page of questions", body = Listed<InboxItem>)))]
async fn inbox(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
) -> Result<axum::Json<Listed<InboxItem>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    let mut page = app.engine()?.inbox(query.pipeline_id, bounds).await?;
    page.items.retain(|item| caller.rights().sees(item.pipeline_id));
    Ok(axum::Json(page.into()))
}

/// Answer a choice or a question inside a step, or raise a budget that is used up
#[utoipa::path(post, path = "/api/gates/{id}/answer", tag = "people", params(("id" = GateId, Path)),
    request_body = Choice, responses((status = 200, description = "The run", body = RunDocument)))]
async fn answer(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<GateId>,
    Json(Choice { option, feedback, user_input, digest }): Json<Choice>,
) -> Result<axum::Json<RunDocument>, Problem> {
    caller.require(Role::Approver)?;
    let run = app.engine()?.locate_gate(id).await?;
    let (feedback, digest) = (user_input.or(feedback).map(Into::into), shown(digest.as_deref())?);
    let answer = AnswerGate { gate: id, option: option.unwrap_or_default().into(), feedback, digest };
    let done = caller.submit(&app, key, Command::Run(run, RunCommand::AnswerGate(answer))).await?;
    settled(&app, &done).await?;
    Ok(axum::Json(app.engine()?.run_document(run).await?))
}
