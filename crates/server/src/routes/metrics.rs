//! Figures about the server and its log, for machines that watch it.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Get figures in the text format of Prometheus
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, description = "The figures", content_type = "text/plain", body = String)))]
async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response, Problem> {
    caller.look()?;
    let engine = app.engine()?;
    let (commits, events) = engine.counts();
    let mut text = String::new();
    let mut put = |name: &str, kind: &str, help: &str, value: u64| {
        // A string takes everything.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    };
    put("holdpoint_commits_total", "counter", "Commits of this process.", commits);
    put("holdpoint_events_total", "counter", "Events that this process wrote.", events);
    put("holdpoint_log_head", "gauge", "The position of the last event in the log.", engine.log_head().0);
    put("holdpoint_streams_open", "gauge", "Live streams that are open.", app.open_streams() as u64);
    text.push_str("# HELP holdpoint_http_requests_total Requests that were answered.\n");
    text.push_str("# TYPE holdpoint_http_requests_total counter\n");
    for ((method, route, status), count) in app.counts().all() {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
        let _ = writeln!(text, "holdpoint_http_requests_total{{{labels}}} {count}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        text,
        "# HELP holdpoint_build_info What runs here.\n# TYPE holdpoint_build_info gauge\n\
         holdpoint_build_info{{version=\"{version}\"}} 1"
    );
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
