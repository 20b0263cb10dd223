//! The same work as the peers': trivial steps that the engine's own runner does, each durable before the
//! next begins.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use holdpoint_core::event::RunEvent;
use holdpoint_core::plan::Plan;
use holdpoint_core::plan::body::Approval;
use holdpoint_core::state::run::{AskKind, ExecutionState};
use holdpoint_core::{Actor, Answer, Command, Event, RunCommand, RunId, Seq, State, StepId, StreamId};
use holdpoint_engine::{Engine, Filter};

use super::steps::{chain, start};
use super::{Bench, BenchError, Figure, Goal, Report};

/// (a) to (d) and (f) of the peers' work.
pub async fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    alone(folder, report).await?;
    together(folder, report).await?;
    growth(folder, report).await?;
    approval(folder, report).await?;
    bytes(folder, report).await
}

/// Runs a plan to its end and gives the time at which each step was done.
async fn run_to_end(engine: &Engine, plan: Plan) -> Result<Vec<Instant>, BenchError> {
    let head = engine.log_head();
    let run = start(engine, plan).await?;
    let mut seen = engine.subscribe(head, Filter { stream: Some(StreamId::Run(run)), session: None });
    let mut done = Vec::new();
    while let Some(recorded) = seen.next().await {
        match recorded?.event {
            Event::Run(RunEvent::ExecutionCompleted { .. }) => done.push(Instant::now()),
            Event::Run(RunEvent::Completed {}) => break,
            Event::Run(_) | Event::Home(_) | Event::Pipeline(_) | Event::Journal(_) => {}
        }
    }
    Ok(done)
}

/// Has the runner itself fill the database's log.
async fn warm(bench: &Bench) -> Result<(), BenchError> {
    for _ in 0..2 {
        until_done(&bench.engine, start(&bench.engine, chain(1_000)).await?).await?;
    }
    Ok(())
}

async fn alone(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, true)?;
    warm(&bench).await?;
    let mut rates = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        until_done(&bench.engine, start(&bench.engine, chain(200)).await?).await?;
        rates.push(begin.elapsed());
    }
    rates.sort_unstable();
    let figure = Figure::from_rate("work.alone200", 200, rates[rates.len() / 2]);
    let ratio = figure.per_s.unwrap_or(f64::NAN) / report.per_s("raw.fdatasync");
    report.add(figure.beside("raw.fdatasync", ratio, Some(Goal::AtLeast(0.65))));
    Ok(())
}

async fn together(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, true)?;
    warm(&bench).await?;
    let begin = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let engine = bench.engine.clone();
        tasks.spawn(async move {
            let run = start(&engine, chain(50)).await?;
            until_done(&engine, run).await
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let figure = Figure::from_rate("work.runs32x50", 32 * 50, begin.elapsed());
    let ratio = figure.per_s.unwrap_or(f64::NAN) / report.per_s("work.alone200");
    report.add(figure.beside("work.alone200", ratio, None));
    Ok(())
}

/// Waits for the end of a run without reading its events one by one.
async fn until_done(engine: &Engine, run: RunId) -> Result<(), BenchError> {
    let mut head = engine.watch_head();
    loop {
        if let Some(loaded) = engine.peek(StreamId::Run(run))
            && let State::Run(state) = &loaded.state
            && !state.status.is_active()
        {
            return Ok(());
        }
        // The head moves a moment before the state that this process sees; the last move must not be missed.
        let _ = tokio::time::timeout(Duration::from_millis(2), head.changed()).await;
    }
}

/// The first hundred steps of two thousand against the last.
async fn growth(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, true)?;
    warm(&bench).await?;
    let done = run_to_end(&bench.engine, chain(2_000)).await?;
    let took = |from: usize| done[from + 99].duration_since(done[from]);
    let (first, last) = (took(0), took(done.len() - 100));
    let figure = Figure::from_rate("work.growth2000", 2_000, done[done.len() - 1].duration_since(done[0]));
    let ratio = last.as_secs_f64() / first.as_secs_f64().max(f64::EPSILON);
    report.add(figure.beside("work.first100", ratio, Some(Goal::AtMost(1.2))));
    Ok(())
}

/// From an approval arriving to the next step begun.
async fn approval(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let bench = Bench::new(folder, true)?;
    warm(&bench).await?;
    let mut times = Vec::new();
    for _ in 0..100 {
        times.push(one_approval(&bench.engine).await?);
    }
    let figure = Figure::from_times("work.approval", &mut times);
    let limit = 1_000.0 + report.p50("sqlite.commit");
    let value = figure.p50_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost((limit * 10.0).round() / 10.0)));
    Ok(())
}

async fn one_approval(engine: &Engine) -> Result<Duration, BenchError> {
    let mut plan = chain(2);
    let second = StepId::new("s2");
    if let Some(body) = plan.bodies.get_mut(&second) {
        std::sync::Arc::make_mut(body).policy.approve_start = Approval::when(true);
    }
    let run = start(engine, plan).await?;
    let x = wait_for(engine, run, |state| matches!(state, ExecutionState::AwaitingStart)).await?;
    let head = engine.log_head();
    let mut seen = engine.subscribe(head, Filter { stream: Some(StreamId::Run(run)), session: None });
    let begin = Instant::now();
    let decision = Command::Run(run, RunCommand::Answer(Answer::of(x, AskKind::Start, "approve")));
    engine.submit(Actor::person("bench"), None, decision).await?;
    while let Some(recorded) = seen.next().await {
        if matches!(recorded?.event, Event::Run(RunEvent::AttemptBegan { .. })) {
            return Ok(begin.elapsed());
        }
    }
    Err("the log ended".into())
}

async fn wait_for(
    engine: &Engine,
    run: RunId,
    wanted: impl Fn(ExecutionState) -> bool,
) -> Result<holdpoint_core::ExecNo, BenchError> {
    let mut seen = engine.subscribe(Seq(0), Filter { stream: Some(StreamId::Run(run)), session: None });
    loop {
        let loaded = engine.view(StreamId::Run(run)).await?;
        if let State::Run(state) = &loaded.state
            && let Some((x, execution)) = state.current()
            && wanted(execution.state)
        {
            return Ok(x);
        }
        seen.next().await.ok_or("the log ended")??;
    }
}

/// How much the home grows by a step.
async fn bytes(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    const STEPS: u32 = 10_000;
    let bench = Bench::new(folder, true)?;
    until_done(&bench.engine, start(&bench.engine, chain(10)).await?).await?;
    let before = bench.log.size().await?;
    until_done(&bench.engine, start(&bench.engine, chain(STEPS)).await?).await?;
    let grown = bench.log.size().await?.saturating_sub(before);
    let per_step = grown / u64::from(STEPS);
    let figure = Figure { bytes: Some(per_step), ..Figure::named("work.bytes") };
    report.add(figure.judged(per_step as f64, Goal::AtMost(600.0)));
    drop(bench.home);
    Ok(())
}
