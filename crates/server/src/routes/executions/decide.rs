//! A person's decisions, each about exactly what was shown.

use axum::extract::State;
use axum::response::Response;
use holdpoint_core::command::Edit;
use holdpoint_core::event::Role;
use holdpoint_core::state::run::{AskKind, ExecutionState};
use holdpoint_core::{Answer, Digest, ExecNo, ExecutionId, RunCommand, RunId, State as Fold};
use holdpoint_engine::documents::ExecutionAnswer;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{find, order};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::Path;
use crate::idempotency::Idempotent;
use crate::problem::{Code, Problem};
use crate::routes::maybe::Maybe;

/// The largest output that a person can write in approving.
const LARGEST_EDIT: u64 = 1024 * 1024;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(approve_start))
        .routes(routes!(approve_complete))
        .routes(routes!(approve))
        .routes(routes!(reject))
}

/// A yes.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Approval {
    /// What was shown, from `waiting_for.digest`; needed to approve a result.
    #[serde(default)]
    digest: Option<String>,
    /// What the person adds.
    #[serde(default)]
    feedback: Option<String>,
    /// Outputs that the person changes in approving; both versions are kept.
    #[serde(default)]
    edits: Vec<NewContent>,
}

/// An output that a person changes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewContent {
    /// Which.
    artifact_name: String,
    /// Its text from now on.
    content: String,
}

/// A no.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Refusal {
    /// Why; needed for a result, which is done again with it.
    #[serde(default)]
    feedback: Option<String>,
    /// What was shown, from `waiting_for.digest`.
    #[serde(default)]
    digest: Option<String>,
}

/// Reads the name of what was shown.
pub fn shown(text: Option<&str>) -> Result<Option<Digest>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        Problem::new(Code::InvalidFields, "the digest cannot be read")
            .field("/digest", "`sha256:` and 64 hex digits, as in `waiting_for.digest`")
    };
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    hex.parse().map(Some).map_err(|_| wrong())
}

fn answer(x: ExecNo, kind: AskKind, option: &str, digest: Option<Digest>, said: Option<String>) -> Answer {
    Answer { digest, feedback: said.map(Into::into), ..Answer::of(x, kind, option) }
}

/// Where an execution stands now.
async fn standing(app: &App, run: RunId, x: ExecNo) -> Result<Option<ExecutionState>, Problem> {
    let loaded = app.engine()?.run(run).await?;
    Ok(loaded.and_then(|loaded| match &loaded.state {
        Fold::Run(run) => run.execution(x).map(|execution| execution.state),
        Fold::Home(_) | Fold::Pipeline(_) | Fold::Journal(_) => None,
    }))
}

async fn complete(app: &App, x: ExecNo, approval: Approval) -> Result<RunCommand, Problem> {
    let mut edits = Vec::with_capacity(approval.edits.len());
    for NewContent { artifact_name, content } in approval.edits {
        let bytes = Box::new(std::io::Cursor::new(content.into_bytes()));
        let (digest, size) = app.engine()?.keep(bytes, LARGEST_EDIT).await?;
        edits.push(Edit { name: artifact_name.into(), digest, size });
    }
    let seen = shown(approval.digest.as_deref())?;
    let answer = answer(x, AskKind::Result, "approve", seen, approval.feedback);
    Ok(RunCommand::Answer(Answer { edits, ..answer }))
}

fn no_edits(approval: &Approval) -> Result<(), Problem> {
    if approval.edits.is_empty() {
        return Ok(());
    }
    let problem = Problem::new(Code::InvalidFields, "there is no result yet that could be changed");
    Err(problem.field("/edits", "only a result can be changed in approving it"))
}

/// Let an execution begin
#[utoipa::path(post, path = "/api/executions/{id}/approve-start", tag = "executions",
    params(("id" = ExecutionId, Path)), request_body(content = Option<Approval>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn approve_start(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Maybe(approval): Maybe<Approval>,
) -> Result<Response, Problem> {
    no_edits(&approval)?;
    let seen = shown(approval.digest.as_deref())?;
    let (run, x) = find(&app, &caller, Role::Approver, id).await?;
    let command = RunCommand::Answer(answer(x, AskKind::Start, "approve", seen, approval.feedback));
    order(&app, &caller, key, id, run, command).await
}

/// Find a result good
///
/// With `edits` the outputs are changed in approving, and both versions are kept.
#[utoipa::path(post, path = "/api/executions/{id}/approve-complete", tag = "executions",
    params(("id" = ExecutionId, Path)), request_body(content = Option<Approval>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn approve_complete(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Maybe(approval): Maybe<Approval>,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Approver, id).await?;
    let command = complete(&app, x, approval).await?;
    order(&app, &caller, key, id, run, command).await
}

/// Approve whichever is waiting: the start or the result
#[utoipa::path(post, path = "/api/executions/{id}/approve", tag = "executions",
    params(("id" = ExecutionId, Path)), request_body(content = Option<Approval>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn approve(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Maybe(approval): Maybe<Approval>,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Approver, id).await?;
    let command = match standing(&app, run, x).await? {
        Some(ExecutionState::AwaitingStart) => {
            no_edits(&approval)?;
            let seen = shown(approval.digest.as_deref())?;
            RunCommand::Answer(answer(x, AskKind::Start, "approve", seen, approval.feedback))
        }
        _ => complete(&app, x, approval).await?,
    };
    order(&app, &caller, key, id, run, command).await
}

/// Reject a start, or ask for a change of a result
#[utoipa::path(post, path = "/api/executions/{id}/reject", tag = "executions",
    params(("id" = ExecutionId, Path)), request_body(content = Option<Refusal>),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn reject(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Maybe(refusal): Maybe<Refusal>,
) -> Result<Response, Problem> {
    let seen = shown(refusal.digest.as_deref())?;
    let (run, x) = find(&app, &caller, Role::Approver, id).await?;
    let (kind, option) = match standing(&app, run, x).await? {
        Some(ExecutionState::AwaitingStart | ExecutionState::Pending) => (AskKind::Start, "reject"),
        _ => (AskKind::Result, "revise"),
    };
    let command = RunCommand::Answer(answer(x, kind, option, seen, refusal.feedback));
    order(&app, &caller, key, id, run, command).await
}
