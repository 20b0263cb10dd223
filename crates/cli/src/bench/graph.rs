//! A long run as a graph: a client forks far back in it, and its points are read page by page.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_core::commands::advance::Advance;
use holdpoint_core::plan::body::{Task, Work};
use holdpoint_core::plan::{Body, Loop, Plan, PlanKind, PlanStep};
use holdpoint_core::{Actor, Command, NodeNo, RunCommand, RunId, StepId};
use holdpoint_engine::Engine;
use serde_json::{Map, json};

use super::server::Server;
use super::steps::{start, warm};
use super::{Bench, BenchError, Figure, Goal, Report};

/// How far back a fork begins.
const BACK: u32 = 100_000;
/// How many forks are measured, and how many pages.
const TIMES: u32 = 100;

/// Measures both on one run.
pub async fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, false)?;
    warm(&bench).await?;
    let run = start(&bench.engine, client_loop(BACK + 10 * TIMES)).await?;
    for n in 0..BACK + TIMES {
        advance(&bench.engine, run, n, 1).await?;
    }
    let mut times = Vec::new();
    for n in 0..TIMES {
        let begin = Instant::now();
        advance(&bench.engine, run, n, 2).await?;
        times.push(begin.elapsed());
    }
    let figure = Figure::from_times("fork.at100000", &mut times);
    let value = figure.p99_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(5_000.0)));
    pages(&bench, run, report)
}

/// A page of the run's graph over HTTP, from the first to the last.
fn pages(bench: &Bench, run: RunId, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut server = Server::start(bench.home.path())?;
    let (mut times, mut next): (Vec<Duration>, _) = (Vec::new(), String::new());
    // The first request loads the run.
    for n in 0..=TIMES {
        let begin = Instant::now();
        let page = server.get(&format!("/api/runs/{run}/graph?limit=500{next}"))?;
        if n > 0 {
            times.push(begin.elapsed());
        }
        next = page["next_cursor"].as_str().map_or_else(String::new, |next| format!("&cursor={next}"));
    }
    let figure = Figure::from_times("graph.page", &mut times);
    let value = figure.p99_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(20_000.0)));
    Ok(())
}

/// A plan of one step that a client does again and again.
fn client_loop(times: u32) -> Plan {
    let (around, inner) = (StepId::new("loop"), StepId::new("work"));
    let step = PlanStep::new(inner.clone(), Vec::new(), PlanKind::Step);
    let kind = PlanKind::Loop(Loop::times(vec![step], times));
    let steps = vec![PlanStep::new(around, Vec::new(), kind)];
    let body = Arc::new(Body::new(Work::Outside(Task { prompt: "Do the next part.".into() })));
    Plan { steps, bodies: BTreeMap::from([(inner, body)]), ..Plan::default() }
}

/// A client hands in a result at a node.
async fn advance(engine: &Engine, run: RunId, node: u32, attempt: u32) -> Result<(), BenchError> {
    let output = Some(json!({"notesMarkdown": format!("part {node} is done")}));
    let advance = Advance { node: NodeNo(node), attempt, output, context: Map::new() };
    let command = Command::Run(run, RunCommand::Advance(advance));
    engine.submit(Actor::agent("bench"), None, command).await?;
    Ok(())
}
