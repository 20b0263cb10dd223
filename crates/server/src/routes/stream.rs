//! What happens, as it happens: server-sent events whose ids are positions in the log.
//!
//! Everything comes from the log, so a client that names the last position it has seen goes on without a gap,
//! and a slow one holds nobody up. A stream ends when the server stops and soon after its token was withdrawn.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use holdpoint_core::{ExecutionId, PipelineId, RunId, Seq, SessionId, StreamId};
use holdpoint_engine::documents::event::EventDocument;
use holdpoint_engine::{Engine, Filter, Followed, LiveText, Recorded};
use holdpoint_store::StoreError;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Find, holder};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::Query;
use crate::problem::{Code, Problem};

/// How often a stream without events says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often it is looked whether the caller may still listen.
const LOOK: Duration = Duration::from_secs(3);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(follow))
}

/// What is followed.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Of one pipeline and its runs.
    pipeline_id: Option<PipelineId>,
    /// Of one run.
    run_id: Option<RunId>,
    /// Of one execution.
    execution_id: Option<ExecutionId>,
    /// Begin behind this position, where no `Last-Event-ID` is sent; without both: with what happens from now on.
    after: Option<u64>,
}

impl Wanted {
    /// Whether an event may be wanted, before it is looked at closely.
    fn may_be(&self, recorded: &Recorded) -> bool {
        let journal = matches!(recorded.stream, StreamId::Journal(_));
        let session = |id: SessionId| recorded.session == id;
        // A journal belongs to its run, and only its run knows the pipeline.
        self.pipeline_id.is_none_or(|id| journal || session(id.into()))
            && self
                .run_id
                .is_none_or(|id| recorded.stream == StreamId::Run(id) || journal && session(id.into()))
            && self.execution_id.is_none_or(|id| !journal || recorded.stream == StreamId::Journal(id))
    }

    fn is(&self, document: &EventDocument) -> bool {
        self.pipeline_id.is_none_or(|id| document.pipeline_id == Some(id))
            && self.run_id.is_none_or(|id| document.run_id == Some(id))
            && self.execution_id.is_none_or(|id| document.execution_id == Some(id))
    }
}

/// One open stream.
struct Following {
    listener: Listener,
    events: BoxStream<'static, Result<Arc<Followed>, StoreError>>,
    live_texts: Receiver<LiveText>,
    looks: Interval,
}

/// Who listens, and to what.
struct Listener {
    app: App,
    engine: Engine,
    caller: Caller,
    wanted: Wanted,
    /// Given back when the stream is dropped.
    _room: OwnedSemaphorePermit,
}

impl Following {
    /// The next event for this caller; nothing, when the stream is over.
    async fn next(mut self) -> Option<(Event, Self)> {
        let stopping = self.listener.app.stopping().clone();
        loop {
            tokio::select! {
                biased;
                () = stopping.cancelled() => return None,
                _ = self.looks.tick() => {
                    if !self.listener.may_listen().await {
                        return None;
                    }
                }
                heard = self.live_texts.recv() => match heard {
                    Ok(text) if self.listener.hears(&text) => return Some((delta_event(&text), self)),
                    // What was missed comes as a whole message.
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
                followed = self.events.next() => {
                    let followed = followed?.ok()?;
                    if let Some(event) = self.listener.show(&followed).await? {
                        return Some((event, self));
                    }
                }
            }
        }
    }
}

impl Listener {
    fn hears(&self, text: &LiveText) -> bool {
        self.wanted.pipeline_id.is_none_or(|id| text.pipeline == Some(id))
            && self.wanted.run_id.is_none_or(|id| text.run == id)
            && self.wanted.execution_id.is_none_or(|id| text.execution == id)
            && self.caller.rights().sees(text.pipeline)
    }

    async fn may_listen(&self) -> bool {
        match self.caller.token() {
            None => true,
            // A home that cannot be read now says nothing about the token.
            Some(token) => holder(&self.app, Find::Token(token)).await.map_or(true, |known| known.is_some()),
        }
    }

    /// An event as it is sent, if the caller wants and may see it; nothing at all, if the log cannot be read.
    #[allow(clippy::option_option)] // the two absences mean "go on" and "end"
    async fn show(&self, followed: &Followed) -> Option<Option<Event>> {
        if !self.wanted.may_be(&followed.recorded) {
            return Some(None);
        }
        let document = followed.document(&self.engine).await.ok()?;
        let shown = document
            .filter(|document| self.wanted.is(document) && self.caller.rights().sees(document.pipeline_id));
        Some(shown.map(sent))
    }
}

fn sent(document: &EventDocument) -> Event {
    let data = serde_json::to_string(document).unwrap_or_default();
    Event::default().id(document.seq.to_string()).event(document.event_type).data(data)
}

/// A piece of what an agent is saying. It has no position: whoever comes back gets the whole message instead.
fn delta_event(text: &LiveText) -> Event {
    let data = json!({
        "run_id": text.run,
        "execution_id": text.execution,
        "agent_name": &*text.agent,
        "text": &*text.text,
        "thinking": text.thinking,
        "again": text.again,
    });
    Event::default().event("execution.delta").data(data.to_string())
}

/// Where a client left off.
fn left_off(headers: &HeaderMap, after: Option<u64>) -> Result<Option<Seq>, Problem> {
    let position = match headers.get("last-event-id") {
        None => after,
        Some(header) => {
            let position = header.to_str().ok().and_then(|text| text.trim().parse().ok());
            let wrong =
                || Problem::new(Code::BadQuery, "`Last-Event-ID` is not a position that this server sent");
            Some(position.ok_or_else(wrong)?)
        }
    };
    Ok(position.map(|position: u64| Seq(position.min(i64::MAX as u64))))
}

/// Follow events as they happen
///
/// Server-sent events: ids are positions in the log, so `Last-Event-ID` goes on without a gap.
#[utoipa::path(get, path = "/api/stream", tag = "events",
    params(Wanted, ("Last-Event-ID" = Option<u64>, Header, description = "The last position that was seen.")),
    responses((status = 200, description = "Events without an end", content_type = "text/event-stream",
        body = String)))]
async fn follow(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    caller.look()?;
    let engine = app.engine()?.clone();
    let after = left_off(&headers, wanted.after)?.unwrap_or_else(|| engine.log_head());
    let mut looks = interval_at(Instant::now() + LOOK, LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let room = app.stream_room()?;
    let events = engine.follow(after, Filter::default());
    let live_texts = engine.live_texts();
    let listener = Listener { app, engine, caller, wanted, _room: room };
    let following = Following { listener, events, live_texts, looks };
    let events = stream::unfold(following, Following::next).map(Ok::<_, Infallible>);
    let alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
    Ok(Sse::new(events).keep_alive(alive).into_response())
}
