//! Two runs, executions or attempts side by side.

use axum::extract::State;
use holdpoint_core::{ExecutionId, RunId};
use holdpoint_engine::documents::compare::{ComparisonDocument, Side};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::Query;
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(compare))
}

/// What is compared.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Sides {
    /// A run, an execution, or `{execution}@{revision}.{attempt}`.
    a: String,
    /// The other one.
    b: String,
}

fn side(text: &str) -> Result<Side, Problem> {
    let wrong = || {
        let shown = text.escape_debug();
        Problem::new(Code::BadQuery, format!("`{shown}` is no run, execution or attempt"))
    };
    let (id, attempt) = match text.split_once('@') {
        None => (text, None),
        Some((id, attempt)) => {
            let (revision, number) = attempt.split_once('.').ok_or_else(wrong)?;
            let number = (revision.parse().map_err(|_| wrong())?, number.parse().map_err(|_| wrong())?);
            (id, Some(number))
        }
    };
    Ok(Side { id: id.parse().map_err(|_| wrong())?, attempt })
}

/// Compare two runs, executions or attempts
///
/// Outputs as text diffs, definitions, decisions, cost and time.
#[utoipa::path(get, path = "/api/compare", tag = "runs", params(Sides),
    responses((status = 200, description = "How they differ", body = ComparisonDocument)))]
async fn compare(
    State(app): State<App>,
    caller: Caller,
    Query(Sides { a, b }): Query<Sides>,
) -> Result<axum::Json<ComparisonDocument>, Problem> {
    caller.look()?;
    let (a, b) = (side(&a)?, side(&b)?);
    for id in [a.id, b.id] {
        let engine = app.engine()?;
        let run = match engine.run(RunId(id)).await? {
            Some(_) => RunId(id),
            None => engine.locate_execution(ExecutionId(id)).await?.0,
        };
        // An id that is neither answers like an execution that does not exist.
        caller.see_in(&app, run, "execution", id).await?;
    }
    Ok(axum::Json(app.engine()?.compare(a, b).await?))
}
