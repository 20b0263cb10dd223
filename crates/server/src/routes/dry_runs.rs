//! Walking a definition with made-up answers, before anything is done in earnest.

use axum::extract::State;
use holdpoint_core::PipelineId;
use holdpoint_core::event::Role;
use holdpoint_formats::{Syntax, parse, plan_changes};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::files::{refused, wrong};
use crate::app::App;
use crate::caller::Caller;
use crate::dry_runs::{DryRun, DryRunReport, NotWalked};
use crate::extract::Json;
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(walk))
}

/// A definition to be walked.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Walk {
    /// The definition, as `POST /api/pipelines/apply` takes it; it need not be saved.
    #[schema(value_type = Object)]
    definition: Map<String, Value>,
    /// The pipeline whose scripts are looked for.
    #[serde(default)]
    pipeline_id: Option<PipelineId>,
    /// The name of the last checkpoint that is walked; else all are.
    #[serde(default)]
    until: Option<String>,
    /// What checkpoints make, by their names: `{artifacts, says, error, verdict, tokens}`, or a list with one per
    /// attempt. What is not said is made up.
    #[serde(default)]
    #[schema(value_type = Object)]
    stubs: Map<String, Value>,
    /// What people say, by the names of checkpoints, as in a file of answers; without files.
    #[serde(default)]
    #[schema(value_type = Object)]
    answers: Map<String, Value>,
}

/// Walk a definition with made-up answers
///
/// Routing, gates, what agents are told, checks and budgets are real. No model is asked, no script is run, and nothing
/// is kept. Where the definition is wrong, the places are told within it.
#[utoipa::path(post, path = "/api/dry-runs", tag = "pipelines", request_body = Walk,
    responses((status = 200, description = "What was found", body = DryRunReport)))]
async fn walk(
    State(app): State<App>,
    caller: Caller,
    Json(body): Json<Walk>,
) -> Result<axum::Json<DryRunReport>, Problem> {
    caller.require(Role::Admin)?;
    let mut definition = Value::Object(body.definition);
    if let Some(last) = &body.until {
        until(&mut definition, last)?;
    }
    let file = parse(&definition.to_string(), Syntax::Json).map_err(wrong)?;
    let engine = app.engine()?;
    plan_changes(&file, None, engine.evaluator(), engine.offers())
        .map_err(|rejection| refused(&file, rejection.into()))?;
    if body.answers.values().any(hands_in_files) {
        // A file is named by a path of this machine, which is nobody's business from outside.
        let fault = Problem::new(Code::InvalidFields, "answers of a dry run cannot hand in files");
        return Err(fault.field("/answers", "leave `files` out: a file is made up"));
    }
    if let Some(id) = body.pipeline_id {
        caller.see("pipeline", id, Some(id))?;
        engine.pipeline_document(id).await?;
    }
    let asked = DryRun { definition, pipeline: body.pipeline_id, stubs: body.stubs, answers: body.answers };
    let walked = app.dry_runs()?.walk(asked).await.map_err(|cause| match cause {
        NotWalked::Refused(detail, hint) => Problem::new(Code::DryRunRefused, detail).hint(hint),
        NotWalked::Late(detail) => Problem::new(Code::DryRunLate, detail),
        NotWalked::Failed(detail) => Problem::not_ready(detail),
    })?;
    Ok(axum::Json(walked))
}

/// Drops the checkpoints after one; nothing before them refers to them.
fn until(definition: &mut Value, last: &str) -> Result<(), Problem> {
    let checkpoints = definition.get_mut("checkpoints").and_then(Value::as_array_mut);
    let at = checkpoints.as_ref().and_then(|all| all.iter().position(|each| each["checkpoint_name"] == last));
    let (Some(checkpoints), Some(at)) = (checkpoints, at) else {
        let fault = Problem::new(Code::InvalidFields, "the definition has no checkpoint of that name");
        return Err(fault.field("/until", "name a checkpoint of the definition"));
    };
    checkpoints.truncate(at + 1);
    Ok(())
}

fn hands_in_files(answer: &Value) -> bool {
    match answer {
        Value::Array(all) => all.iter().any(hands_in_files),
        one => one.get("files").is_some(),
    }
}
