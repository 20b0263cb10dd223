//! The durable step: a command in, its events on disk, the answer out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_core::commands::record_outcome::{Outcome, RecordOutcome};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::event::Usage;
use holdpoint_core::plan::{Body, Loop, Plan, PlanKind, PlanStep};
use holdpoint_core::state::run::{EffectId, Part};
use holdpoint_core::{Actor, Command, ExecNo, RunCommand, RunId, StepId};
use holdpoint_engine::Engine;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Bench, BenchError, Figure, Goal, Report};

/// Sixty-four characters, as the peers' work has them.
const NOTE: &str = "sixty-four characters of a note that stands for a step's result.";

/// Enough steps to fill the database's log, and some more.
const WARM: u32 = 2_000;

/// A plan of `steps` notes, one after another.
pub fn chain(steps: u32) -> Plan {
    let ids = (1..=steps).map(|n| StepId::new(&format!("s{n}")));
    let mut plan = Plan::linear(ids.clone().map(|id| (id.clone(), id.0)));
    let body = note();
    plan.bodies = ids.map(|id| (id, body.clone())).collect();
    plan
}

/// A plan of one note that is repeated.
fn round(times: u32) -> Plan {
    let (around, inner) = (StepId::new("loop"), StepId::new("note"));
    let step = PlanStep::new(inner.clone(), Vec::new(), PlanKind::Step);
    let kind = PlanKind::Loop(Loop::times(vec![step], times));
    let steps = vec![PlanStep::new(around, Vec::new(), kind)];
    Plan { steps, bodies: BTreeMap::from([(inner, note())]), ..Plan::default() }
}

fn note() -> Arc<Body> {
    Arc::new(Body::command(["note", NOTE]))
}

/// Starts a plan as a run of its own.
pub async fn start(engine: &Engine, plan: Plan) -> Result<RunId, BenchError> {
    let run = RunId(Uuid::now_v7());
    let source = Source::Plan { plan: Arc::new(plan), title: "bench".into(), session: None };
    engine.submit(Actor::system(), None, Command::StartRun(StartRun { run, source, start: true })).await?;
    Ok(run)
}

/// Records the outcome of the n-th execution, which begins the next one.
async fn step(engine: &Engine, run: RunId, n: u32) -> Result<(), BenchError> {
    let output: Value = json!({"i": n, "note": NOTE});
    let outcome = Outcome::done(Some(output), Vec::new(), Usage::default());
    let effect = EffectId { x: ExecNo(n), revision: 0, attempt: 1, part: Part::Work };
    let command = RunCommand::RecordOutcome(RecordOutcome { effect, outcome, entries: Vec::new() });
    engine.submit(Actor::system(), None, Command::Run(run, command)).await?;
    Ok(())
}

async fn timed(
    engine: &Engine,
    run: RunId,
    steps: std::ops::Range<u32>,
) -> Result<Vec<Duration>, BenchError> {
    let mut times = Vec::with_capacity(steps.len());
    for n in steps {
        let start = Instant::now();
        step(engine, run, n).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Writes until the database's log has its usual length and is overwritten in place: a home that was just made
/// measures how a file grows.
pub async fn warm(bench: &Bench) -> Result<(), BenchError> {
    let run = start(&bench.engine, round(WARM + 10)).await?;
    timed(&bench.engine, run, 1..WARM).await.map(drop)
}

/// One run alone.
pub async fn alone(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, false)?;
    warm(&bench).await?;
    let run = start(&bench.engine, round(20_000)).await?;
    timed(&bench.engine, run, 1..500).await?;
    let mut times = timed(&bench.engine, run, 500..4_500).await?;
    let figure = Figure::from_times("step.alone", &mut times);
    let ratio = figure.p50_us.unwrap_or(f64::NAN) / report.p50("sqlite.commit");
    report.add(figure.beside("sqlite.commit", ratio, Some(Goal::AtMost(1.5))));
    Ok(())
}

/// Sixty-four runs at once.
pub async fn runs64(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let took = at_once(folder, 64, 400).await?;
    let figure = Figure::from_rate("step.runs64", 64 * 400, took);
    let ratio = figure.per_s.unwrap_or(f64::NAN) / report.per_s("step.alone");
    report.add(figure.beside("step.alone", ratio, Some(Goal::AtLeast(5.0))));
    Ok(())
}

/// The same for longer, to see what checkpoints of the database do to it.
pub async fn runs64_long(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let took = at_once(folder, 64, 4_000).await?;
    let figure = Figure::from_rate("step.runs64.long", 64 * 4_000, took);
    let ratio = figure.per_s.unwrap_or(f64::NAN) / report.per_s("step.alone");
    report.add(figure.beside("step.alone", ratio, Some(Goal::AtLeast(5.0))));
    Ok(())
}

async fn at_once(folder: &Path, runs: u32, steps: u32) -> Result<Duration, BenchError> {
    let bench = Bench::new(folder, false)?;
    warm(&bench).await?;
    let mut ids = Vec::new();
    for _ in 0..runs {
        let run = start(&bench.engine, round(steps + 100)).await?;
        timed(&bench.engine, run, 1..20).await?;
        ids.push(run);
    }
    let begin = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for run in ids {
        let engine = bench.engine.clone();
        tasks.spawn(async move { timed(&engine, run, 20..20 + steps).await.map(drop) });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(begin.elapsed())
}

/// One run from its first step to its `last`: an advance must not cost more there.
pub async fn growth(folder: &Path, report: &mut Report<'_>, last: u32) -> Result<(), BenchError> {
    let bench = Bench::new(folder, false)?;
    warm(&bench).await?;
    let run = start(&bench.engine, round(last + 5_000)).await?;
    // The first thousand steps stand for the tenth: a handful of steps would measure only noise.
    let mut early = timed(&bench.engine, run, 1..1_001).await?;
    for n in 1_001..last {
        step(&bench.engine, run, n).await?;
    }
    let mut late = timed(&bench.engine, run, last..last + 1_000).await?;
    report.add(Figure::from_times("step.at10", &mut early));
    let figure = Figure::from_times("step.at100000", &mut late);
    let ratio = figure.p50_us.unwrap_or(f64::NAN) / report.p50("step.at10");
    report.add(figure.beside("step.at10", ratio, Some(Goal::AtMost(1.2))));
    audit(&bench, report).await
}

/// How fast the log is verified; the run above has left enough of it.
async fn audit(bench: &Bench, report: &mut Report<'_>) -> Result<(), BenchError> {
    bench.engine.seal().await?;
    let begin = Instant::now();
    let found = holdpoint_engine::audit::verify(&*bench.log, &|_| {}).await?;
    let figure = Figure::from_rate("audit.verify", found.events, begin.elapsed());
    if let Some(first) = found.wrong.first() {
        return Err(format!("the log of the bench does not verify: {first}").into());
    }
    let rate = figure.per_s.unwrap_or(f64::NAN);
    report.add(figure.judged(rate, Goal::AtLeast(200_000.0)));
    Ok(())
}
