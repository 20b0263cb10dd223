//! What waits for people, and answering a choice.

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::command::Fields;
use holdpoint_core::event::Role;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{Answer, Command, GateId, PipelineId, RunCommand, Target, permission};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::{InboxItem, RunAnswer};
use serde::Deserialize;
use serde_json::json;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::executions::shown;
use super::respond;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path, Query};
use crate::idempotency::Idempotent;
use crate::paging::{Listed, bounds};
use crate::problem::{Code, Problem};

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

/// An answer to a gate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GateAnswer {
    /// The label of what is picked; what a script or a check asks for has none.
    #[serde(default)]
    option: Option<String>,
    /// What the person adds; for `raise` of a budget, by how much.
    #[serde(default)]
    feedback: Option<String>,
    /// The answer to what a script or a check asks for.
    #[serde(default)]
    user_input: Option<String>,
    /// The values of a form.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    fields: Option<Fields>,
    /// What was shown, from `waiting_for.digest`.
    #[serde(default)]
    digest: Option<String>,
}

/// List what waits for a person
///
/// Open gates, newest first: also steps to start by hand, and steps that have failed for good.
#[utoipa::path(get, path = "/api/inbox", tag = "people", params(InboxQuery),
    responses((status = 200, description = "A page of questions", body = Listed<InboxItem>)))]
async fn inbox(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
) -> Result<axum::Json<Listed<InboxItem>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    caller.see_filter(&app, query.pipeline_id, None, None).await?;
    let mut page = app.engine()?.inbox(query.pipeline_id, bounds).await?;
    page.items.retain(|item| caller.rights().sees(item.pipeline_id));
    Ok(axum::Json(page.into()))
}

/// Answer a gate
///
/// Any gate: a choice, a start, a result, a form, a question inside a step, a budget that is used up, or a step that
/// has failed. `digest` says what was shown.
#[utoipa::path(post, path = "/api/gates/{id}/answer", tag = "people", params(("id" = GateId, Path)),
    request_body = GateAnswer, responses((status = 200, description = "The run", body = RunAnswer)))]
async fn answer(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<GateId>,
    Json(GateAnswer { option, feedback, user_input, fields, digest }): Json<GateAnswer>,
) -> Result<Response, Problem> {
    caller.require(Role::Operator)?;
    let gate = app.engine()?.locate_gate(id).await?;
    caller.see_in(&app, gate.run, "gate", id).await?;
    caller.require(permission::answers(gate.kind))?;
    let (feedback, digest) = (user_input.or(feedback).map(Into::into), shown(digest.as_deref())?);
    let option = option.unwrap_or_else(|| usual(gate.kind).to_owned());
    let answer = Answer::new(Target::Gate(id), gate.kind, option);
    let answer = Answer { feedback, digest, fields: fields.unwrap_or_default(), ..answer };
    let run = gate.run;
    let told = |settled: &Settled<'_>| Settled::json(200, &settled.run(run)?);
    let command = Command::Run(run, RunCommand::Answer(answer));
    match caller.submit(&app, key, command, told).await {
        Err(problem) if problem.code() == Code::GateAnswered.about().code => {
            // What was decided is in the row; it may have been answered since it was looked up.
            let decided = app.engine()?.locate_gate(id).await?.answered;
            Err(match decided {
                Some(decided) => problem.with("decision", json!(decided)),
                None => problem,
            })
        }
        answered => answered.map(respond),
    }
}

/// The option that is meant where none is named: what a script or a check asks for is a text.
fn usual(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Begin => "start",
        AskKind::Form | AskKind::Input => "submit",
        AskKind::Guidance | AskKind::Failed => "retry",
        AskKind::Start | AskKind::Budget | AskKind::Result | AskKind::Choice | AskKind::Blocked => "",
    }
}
