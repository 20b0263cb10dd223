//! A home with 100,000 runs and 1,000,000 events: how soon the server answers on it, and how fast its lists are.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::server::Server;
use super::{BenchError, Figure, Goal, Report, home};

const RUNS: u32 = 100_000;
/// How often each list is read.
const TIMES: usize = 50;

/// Makes the home, then measures.
pub async fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let temp = tempfile::tempdir_in(folder)?;
    let path = temp.path().join("home");
    home::fill(&path, RUNS, true, Arc::new(|_| {})).await?;
    start(&path, report)?;
    inbox(&path, report)?;
    lists(&path, report)
}

/// From starting the server to its first answer.
pub fn start(path: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        let mut server = Server::start(path)?;
        server.get("/api/health")?;
        times.push(begin.elapsed());
    }
    let figure = Figure { per_s: None, ..Figure::from_times("start.full", &mut times) };
    let value = figure.p50_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(300_000.0)));
    Ok(())
}

/// The first page of the inbox, where one run in fifty waits for somebody.
pub fn inbox(path: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut server = Server::start(path)?;
    server.get("/api/inbox?limit=1")?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begin = Instant::now();
        server.get("/api/inbox?limit=50")?;
        times.push(begin.elapsed());
    }
    let figure = Figure::from_times("inbox.100k", &mut times);
    let value = figure.p99_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(20_000.0)));
    Ok(())
}

/// Lists and filters over everything, by their first, second and some later pages.
pub fn lists(path: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut server = Server::start(path)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let newest = server.get("/api/runs?status=completed&limit=1")?["items"][0].clone();
    let (run, pipeline) = (text(&newest["run_id"]), text(&newest["pipeline_id"]));
    let execution = server.get(&format!("/api/runs/{run}/checkpoints"))?["items"][0].clone();
    let execution = text(&execution["execution_id"]);
    let (from, to) = (text(&newest["started_at"]), text(&newest["completed_at"]));
    let events = [
        "limit=50".to_owned(),
        "event_type=execution.approved".to_owned(),
        "event_type=pipeline.created".to_owned(),
        "actor=ann".to_owned(),
        format!("pipeline_id={pipeline}"),
        format!("run_id={run}"),
        format!("execution_id={execution}"),
        format!("since={from}&until={to}"),
    ];
    let others = [
        "/api/runs?status=completed".to_owned(),
        "/api/runs?status=in_progress".to_owned(),
        format!("/api/runs?pipeline_id={pipeline}"),
        "/api/inbox?limit=50".to_owned(),
        format!("/api/inbox?pipeline_id={pipeline}"),
        format!("/api/artifacts/list?run_id={run}"),
    ];
    let paths = events.into_iter().map(|filter| format!("/api/events?{filter}")).chain(others);
    let mut times = Vec::new();
    for path in paths {
        let mut of_path = Vec::new();
        let mut next = String::new();
        for _ in 0..TIMES {
            let begin = Instant::now();
            let page = server.get(&format!("{path}{next}"))?;
            of_path.push(begin.elapsed());
            // Page by page into the past, and from the beginning where it ends.
            next = page["next_cursor"].as_str().map_or_else(String::new, |next| format!("&cursor={next}"));
        }
        let figure = Figure::from_times("list", &mut of_path);
        tracing::info!(path, p50_us = figure.p50_us, p99_us = figure.p99_us, "a list");
        times.extend(of_path);
    }
    let figure = Figure::from_times("list.events1m", &mut times);
    let value = figure.p99_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(20_000.0)));
    Ok(())
}
