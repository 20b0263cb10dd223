//! What happened: listed and filtered, or followed as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use holdpoint_core::{ExecutionId, PipelineId, RunId, Seq, StreamId, Timestamp};
use holdpoint_engine::Filter;
use holdpoint_engine::documents::event::{EventDocument, EventsWanted, Known, is_event_type};
use serde::Deserialize;
use tokio::sync::Mutex;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::Query;
use crate::paging::{Listed, Paging};
use crate::problem::{Code, Problem};

/// How often a stream without events says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(follow))
}

/// Which events are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EventQuery {
    /// Of one type, or of several with commas between them.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
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

/// What is followed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct StreamQuery {
    /// Of one pipeline and its runs.
    pipeline_id: Option<PipelineId>,
    /// Of one run.
    run_id: Option<RunId>,
    /// Of one execution.
    execution_id: Option<ExecutionId>,
    /// Begin behind this position, where no `Last-Event-ID` is sent; without both: with what happens from now on.
    after: Option<u64>,
}

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
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
    let paging = Paging::new(query.limit, query.cursor.as_deref())?;
    let wanted = EventsWanted {
        types: types(query.kind.as_deref())?,
        since: instant("since", query.since.as_deref())?,
        until: instant("until", query.until.as_deref())?,
        pipeline: query.pipeline_id,
        run: query.run_id,
        execution: query.execution_id,
        actor: query.actor,
    };
    let mut page = app.engine()?.event_documents(&wanted, paging.into()).await?;
    page.items.retain(|event| caller.rights().sees(event.pipeline_id));
    Ok(axum::Json(page.into()))
}

/// Where a client left off.
fn left_off(headers: &HeaderMap, after: Option<u64>) -> Result<Option<u64>, Problem> {
    let Some(header) = headers.get("last-event-id") else { return Ok(after) };
    let position = header.to_str().ok().and_then(|text| text.trim().parse().ok());
    let wrong = || Problem::new(Code::BadQuery, "`Last-Event-ID` is not a position that this server sent");
    position.map(Some).ok_or_else(wrong)
}

/// Follow events as they happen
///
/// Server-sent events: ids are positions in the log, so `Last-Event-ID` goes on without a gap.
#[utoipa::path(get, path = "/api/stream", tag = "events", params(StreamQuery),
    responses((status = 200, description = "Events without an end", content_type = "text/event-stream",
        body = String)))]
async fn follow(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Query(query): Query<StreamQuery>,
) -> Result<Response, Problem> {
    caller.look()?;
    let engine = app.engine()?.clone();
    let after = left_off(&headers, query.after)?.filter(|after| *after < i64::MAX as u64);
    let after = after.map_or_else(|| engine.log_head(), Seq);
    let run = match query.execution_id {
        Some(execution) => Some(engine.locate_execution(execution).await?.0),
        None => query.run_id,
    };
    let room = app.stream_room()?;
    let filter = Filter { session: query.pipeline_id.map(Into::into), stream: run.map(StreamId::Run) };
    let events = engine.subscribe(after, filter);
    let known = Arc::new(Mutex::new(Known::default()));
    let stopping = app.stopping().clone();
    let shown = events.filter_map(move |recorded| {
        // Given back when the stream is dropped.
        let _held = &room;
        let (engine, known, caller) = (engine.clone(), known.clone(), caller.clone());
        async move {
            let recorded = recorded.ok()?;
            let mut known = known.lock().await;
            // What is remembered is only right for as long as the run does not move.
            *known = Known::default();
            let document = engine.event_document(&recorded, &mut known).await.ok()??;
            let wanted = query.execution_id.is_none_or(|id| document.execution_id == Some(id));
            (wanted && caller.rights().sees(document.pipeline_id)).then(|| told(&document))
        }
    });
    let all = shown.take_until(stopping.cancelled_owned()).map(Ok::<_, Infallible>);
    let alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
    Ok(Sse::new(all).keep_alive(alive).into_response())
}

fn told(document: &EventDocument) -> Event {
    let data = serde_json::to_string(document).unwrap_or_default();
    Event::default().id(document.seq.to_string()).event(document.event_type).data(data)
}
