//! What happened, listed and filtered.

use axum::extract::State;
use holdpoint_core::{ExecutionId, PipelineId, RunId, Timestamp};
use holdpoint_engine::documents::event::{EventDocument, EventsWanted, is_event_type};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::Query;
use crate::paging::{Listed, bounds};
use crate::problem::{Code, Problem};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which events are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EventQuery {
    /// Of one type, or of several with commas between them.
    #[serde(alias = "type")]
    event_type: Option<String>,
    /// Not before this time (RFC 3339).
    since: Option<String>,
    /// Before this time (RFC 3339).
    until: Option<String>,
    /// Of one pipeline and its runs.
    pipeline_id: Option<PipelineId>,
    /// Of one run.
    run_id: Option<RunId>,
    /// Of one execution.
    execution_id: Option<ExecutionId>,
    /// By the actor with this name.
    actor: Option<String>,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

pub(super) fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        let detail =
            format!("`{name}` is `{}`, and must be a time like 2026-01-31T12:00:00Z", text.escape_debug());
        Problem::new(Code::BadQuery, detail)
    };
    Timestamp::parse(text).map(Some).ok_or_else(wrong)
}

fn types(text: Option<&str>) -> Result<Vec<String>, Problem> {
    let mut types = Vec::new();
    for name in text.into_iter().flat_map(|text| text.split(',')).map(str::trim) {
        if !is_event_type(name) {
            let detail = format!("there is no event type `{}`", name.escape_debug());
            return Err(Problem::new(Code::BadQuery, detail));
        }
        types.push(name.to_owned());
    }
    Ok(types)
}

/// List events
///
/// Newest first.
#[utoipa::path(get, path = "/api/events", tag = "events", params(EventQuery),
    responses((status = 200, description = "A page of events", body = Listed<EventDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<EventQuery>,
) -> Result<axum::Json<Listed<EventDocument>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    caller.see_filter(&app, query.pipeline_id, query.run_id, query.execution_id).await?;
    let wanted = EventsWanted {
        types: types(query.event_type.as_deref())?,
        since: instant("since", query.since.as_deref())?,
        until: instant("until", query.until.as_deref())?,
        pipeline: query.pipeline_id,
        run: query.run_id,
        execution: query.execution_id,
        actor: query.actor,
    };
    let mut page = app.engine()?.event_documents(&wanted, bounds).await?;
    page.items.retain(|event| caller.rights().sees(event.pipeline_id));
    Ok(axum::Json(page.into()))
}
