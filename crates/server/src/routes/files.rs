//! Pipelines as files: applying one, and writing one out.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use holdpoint_core::event::Role;
use holdpoint_core::{Command, PipelineCommand, PipelineId, Rejection, State as Fold, StreamId};
use holdpoint_engine::documents::PipelineDocument;
use holdpoint_engine::{Settled, SubmitError};
use holdpoint_formats::{Change, PipelineFile, Syntax, export as to_yaml, parse, plan_changes};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::respond;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Path, Query};
use crate::idempotency::Idempotent;
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(apply)).routes(routes!(export))
}

/// How a file is applied.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct How {
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

/// What applying a file did.
#[derive(Debug, Serialize, ToSchema)]
struct Applied {
    /// The pipeline; none where it would only be made.
    pipeline: Option<PipelineDocument>,
    /// What changed; nothing, if it was as the file says already.
    #[schema(value_type = Vec<Object>)]
    changes: Vec<Value>,
}

fn syntax(headers: &HeaderMap) -> Result<Syntax, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Ok(Syntax::Json),
        "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => Ok(Syntax::Yaml),
        _ => Err(Problem::new(Code::UnsupportedMediaType, "the body must be YAML or JSON, and say so")
            .hint("send the header `Content-Type: application/yaml`")),
    }
}

/// What is wrong with a file, place by place.
pub(super) fn wrong(problems: impl IntoIterator<Item = holdpoint_formats::Problem>) -> Problem {
    let mut all = Problem::new(Code::InvalidFields, "the file does not describe a pipeline");
    for problem in problems {
        let message = match (problem.line, problem.column) {
            (Some(line), Some(column)) => format!("{} (line {line}, column {column})", problem.message),
            _ => problem.message,
        };
        all = all.field(problem.pointer, message);
    }
    all
}

/// A refusal of the rules, with the places in the file.
pub(super) fn refused(file: &PipelineFile, error: SubmitError) -> Problem {
    match error {
        SubmitError::Rejected(Rejection::Invalid(faults)) => {
            wrong(faults.into_iter().map(|fault| file.locate(fault)))
        }
        other => other.into(),
    }
}

/// A change with a sentence for people.
fn told(change: &Change) -> Value {
    let mut told = serde_json::to_value(change).unwrap_or_default();
    told["description"] = change.to_string().into();
    told
}

/// The pipeline that a file describes, if there is one.
async fn described(app: &App, caller: &Caller, file: &PipelineFile) -> Result<Option<PipelineId>, Problem> {
    if let Some(id) = file.pipeline_id {
        caller.see("pipeline", id, Some(id))?;
        return Ok(Some(id));
    }
    let mut named = app.engine()?.pipelines_named(&file.content.name).await?;
    named.retain(|id| caller.rights().sees(Some(*id)));
    match named[..] {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        _ => {
            let detail = format!("several pipelines are called `{}`", file.content.name);
            Err(Problem::new(Code::AmbiguousName, detail))
        }
    }
}

/// Make a pipeline as a file says, or change it
///
/// The file is YAML or JSON, with names instead of ids in references. Applying the same file twice changes nothing.
#[utoipa::path(post, path = "/api/pipelines/apply", tag = "pipelines", params(How),
    request_body(content((String = "application/yaml"), (Object = "application/json"))),
    responses((status = 200, description = "What changed", body = Applied),
        (status = 201, description = "The pipeline was made", body = Applied)))]
async fn apply(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Query(How { dry_run }): Query<How>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    caller.require(Role::Admin)?;
    let syntax = syntax(&headers)?;
    let text = std::str::from_utf8(&body)
        .map_err(|_| Problem::new(Code::BodyUnreadable, "the file is not UTF-8 text"))?;
    let file = parse(text, syntax).map_err(wrong)?;
    // What would change is worked out from what stands now, and nothing may be wrong with it any more.
    if let Some(answered) = caller.told_before(&app, &key).await? {
        return Ok(respond(answered));
    }
    let known = described(&app, &caller, &file).await?;
    let loaded = match known {
        Some(id) => Some(app.engine()?.view(StreamId::Pipeline(id)).await?),
        None => None,
    };
    let present = loaded.as_ref().and_then(|loaded| match &loaded.state {
        Fold::Pipeline(state) if state.created_at.is_some() => Some(state),
        Fold::Home(_) | Fold::Pipeline(_) | Fold::Run(_) | Fold::Journal(_) => None,
    });
    let changes = plan_changes(&file, present, app.engine()?.evaluator(), app.engine()?.offers())
        .map_err(|rejection| refused(&file, rejection.into()))?;
    let fresh = present.is_none();
    let changes: Vec<Value> = changes.iter().map(told).collect();
    let id = known.unwrap_or_else(|| PipelineId(uuid::Uuid::now_v7()));
    if dry_run {
        let pipeline = if fresh { None } else { Some(app.engine()?.pipeline_document(id).await?) };
        return Ok(axum::Json(Applied { pipeline, changes }).into_response());
    }
    let command = Command::Pipeline(id, PipelineCommand::Apply(file.content.clone()));
    let told = |settled: &Settled<'_>| {
        let pipeline = Some(settled.pipeline(settled.names.pipeline.unwrap_or(id))?);
        let status = if fresh { StatusCode::CREATED } else { StatusCode::OK };
        Settled::json(status.as_u16(), &Applied { pipeline, changes: changes.clone() })
    };
    Ok(respond(caller.submit(&app, key, command, told).await?))
}

/// Write a pipeline out as a file
#[utoipa::path(get, path = "/api/pipelines/{id}/export", tag = "pipelines", params(("id" = PipelineId, Path)),
    responses((status = 200, description = "The file", content_type = "application/yaml", body = String)))]
async fn export(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<PipelineId>,
) -> Result<Response, Problem> {
    caller.look()?;
    caller.see("pipeline", id, Some(id))?;
    let loaded = app.engine()?.view(StreamId::Pipeline(id)).await?;
    let state = match &loaded.state {
        Fold::Pipeline(state) if state.created_at.is_some() => state,
        Fold::Home(_) | Fold::Pipeline(_) | Fold::Run(_) | Fold::Journal(_) => {
            return Err(Problem::missing("pipeline", id));
        }
    };
    let name = holdpoint_core::paths::slug(&state.name);
    let name: String = name.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let headers = [
        (CONTENT_TYPE, "application/yaml".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.yaml\"")),
    ];
    Ok((headers, to_yaml(state)).into_response())
}
