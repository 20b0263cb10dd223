//! Outcomes of work on a store that refuses, and what counts as a restart.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{Home, chain, start_plan};
use holdpoint_core::commands::record_outcome::{Collected, Outcome};
use holdpoint_core::commands::restart_attempt::MAX_RESTARTS;
use holdpoint_core::event::{Entry, Level, RunEvent, Usage};
use holdpoint_core::plan::body::When;
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{AskKind, RunStatus};
use holdpoint_core::{
    Actor, Answer, Body, Command, Digest, Event, ExecNo, Plan, RunCommand, RunId, Seq, State, StreamId,
    Version, event,
};
use holdpoint_engine::Engine;
use holdpoint_engine::executor::{BuiltIn, Executor, Job};
use holdpoint_store::memory::{Fault, Step};
use holdpoint_store::{BoxFuture, EventLog, Row};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

fn ann() -> Actor {
    Actor::person("ann")
}

/// Counts how often work was started, and does it.
#[derive(Default)]
struct Counted {
    calls: AtomicU32,
    restarted: AtomicU32,
}

impl Counted {
    fn seen(&self) -> (u32, u32) {
        (self.calls.load(Ordering::Relaxed), self.restarted.load(Ordering::Relaxed))
    }
}

impl Executor for Counted {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.restarted.fetch_add(job.restarted.into(), Ordering::Relaxed);
        BuiltIn.run(job)
    }
}

fn run(engine: &Engine) -> (CancellationToken, JoinHandle<()>) {
    let (engine, stop) = (engine.clone(), CancellationToken::new());
    let until = stop.clone();
    let running = tokio::spawn(async move {
        engine.run_until(until).await;
    });
    (stop, running)
}

async fn completed(home: &Home, engine: &Engine, run: RunId) {
    let done = home.until(engine, run, |state| state.status == RunStatus::Completed);
    tokio::time::timeout(Duration::from_mins(1), done).await.expect("done");
}

/// Why the run's first step failed for good.
async fn failure(home: &Home, engine: &Engine, run: RunId) -> (String, String) {
    let failed = home.until(engine, run, |state| state.failed == 1);
    tokio::time::timeout(Duration::from_mins(1), failed).await.expect("failed");
    let loaded = engine.run(run).await.expect("read").expect("a run");
    let State::Run(state) = &loaded.state else { panic!("a run") };
    let (_, failure) = state.executions().next().and_then(|(_, e)| e.last_error.clone()).expect("failed");
    (failure.kind.to_string(), failure.message.to_string())
}

async fn restarts(home: &Home, run: RunId) -> usize {
    let rows = home.open().read(StreamId::Run(run), Version(0), 10_000).await.expect("read");
    let events = rows.iter().flat_map(|row| event::decode(row.stream.kind(), &row.bytes).expect("events"));
    events.filter(|event| matches!(event, Event::Run(RunEvent::AttemptRestarted { .. }))).count()
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_recorded_when_the_store_takes_it_again() {
    let home = Home::new();
    let executor = Arc::new(Counted::default());
    let engine = home.engine_with(executor.clone());
    let (_stop, running) = run(&engine);
    // The first append is the start; the two after it would record the outcome of the work.
    let mut appends = 0;
    home.disk.set_fault(Some(Box::new(move |step| {
        if step != Step::BeforeCommit {
            return Fault::None;
        }
        appends += 1;
        if (2..=3).contains(&appends) { Fault::Error } else { Fault::None }
    })));
    let (command, run) = start_plan(chain(1));
    engine.submit(ann(), None, command).await.expect("started");
    completed(&home, &engine, run).await;
    assert_eq!(executor.seen(), (1, 0));
    assert_eq!(restarts(&home, run).await, 0);
    running.abort();
}

/// Says something last, and hands in a small output.
struct LastWords;

impl Executor for LastWords {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            let line = |text: &str| Entry::Log { level: Level::Info, text: text.into(), details: None };
            job.desk.say_last([line("first of the last")]);
            job.desk.log(Level::Info, "in between", None).await.expect("written");
            job.desk.say_last([line("last of the last")]);
            let bytes: Arc<[u8]> = Arc::from(&b"small"[..]);
            let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
            let (name, format) = ("small".into(), "txt".into());
            let artifacts = vec![Collected { name, format, digest, size, bytes: Some(bytes) }];
            Outcome::done(None, artifacts, Usage::default())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn one_commit_ends_an_attempt() {
    let home = Home::new();
    let engine = home.engine_with(Arc::new(LastWords));
    let (_stop, running) = run(&engine);
    let (command, run) = start_plan(chain(1));
    engine.submit(ann(), None, command).await.expect("started");
    completed(&home, &engine, run).await;
    let rows = home.open().read_all(Seq(0), 100).await.expect("read");
    let texts = |row: &Row| -> Vec<String> {
        let events = event::decode(row.stream.kind(), &row.bytes).expect("events");
        let text = |event| match event {
            Event::Journal(Entry::Log { text, .. }) => Some(text.to_string()),
            _ => None,
        };
        events.into_iter().filter_map(text).collect()
    };
    let journal: Vec<_> = rows.iter().filter(|row| !texts(row).is_empty()).collect();
    let said: Vec<Vec<String>> = journal.iter().map(|row| texts(row)).collect();
    assert_eq!(said, [vec!["first of the last", "in between"], vec!["last of the last"]]);
    let ended = rows.iter().rfind(|row| row.stream == StreamId::Run(run)).expect("a run");
    assert_eq!(journal[1].command, ended.command, "the last words are committed with the outcome");
    let mut bytes = String::new();
    let mut small = engine.blob(Digest::of(b"small")).await.expect("kept with the outcome");
    small.read_to_string(&mut bytes).await.expect("read");
    assert_eq!(bytes, "small");
    running.abort();
}

/// Gives a verdict where work was asked for.
struct Mistaken;

impl Executor for Mistaken {
    fn run(&self, _job: Job) -> BoxFuture<'static, Outcome> {
        let judged = Outcome::Judged { passed: true, reasons: Vec::new(), usage: Usage::default() };
        Box::pin(std::future::ready(judged))
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_the_rules_refuse_fails_the_attempt() {
    let home = Home::new();
    let engine = home.engine_with(Arc::new(Mistaken));
    let (_stop, running) = run(&engine);
    let (command, run_id) = start_plan(chain(1));
    engine.submit(ann(), None, command).await.expect("started");
    assert_eq!(failure(&home, &engine, run_id).await.0, "outcome_refused");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn work_that_nobody_held_is_not_restarted() {
    let home = Home::new();
    let executor = Arc::new(Counted::default());
    let worker = home.engine_with(executor.clone());
    let (_stop, running) = run(&worker);
    // Another process makes the work owed and takes none, as `holdpoint answer` does.
    let (command, run) = start_plan(chain(2));
    home.idle_engine().submit(ann(), None, command).await.expect("started");
    completed(&home, &worker, run).await;
    assert_eq!(executor.seen(), (2, 0));
    assert_eq!(restarts(&home, run).await, 0);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn work_owed_by_a_process_that_ends_is_not_restarted() {
    let home = Home::new();
    let first = home.engine_with(Arc::new(Counted::default()));
    let (stop, running) = run(&first);
    stop.cancel();
    running.await.expect("ended");
    // The process has stopped working and takes the run with its commit all the same.
    let (command, run_id) = start_plan(chain(1));
    first.submit(ann(), None, command).await.expect("started");
    home.kill(&first);
    let executor = Arc::new(Counted::default());
    let second = home.engine_with(executor.clone());
    let (_stop, running) = run(&second);
    completed(&home, &second, run_id).await;
    assert_eq!(executor.seen(), (1, 0));
    running.abort();
}

/// Ends its process while it works.
struct Stopping(CancellationToken);

impl Executor for Stopping {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        self.0.cancel();
        Box::pin(async move {
            // tidy: sleep, because the paused clock moves on only when the process has noticed its end
            tokio::time::sleep(Duration::from_secs(1)).await;
            BuiltIn.run(job).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_comes_while_the_process_ends_is_not_restarted() {
    let home = Home::new();
    let stop = CancellationToken::new();
    let first = home.engine_with(Arc::new(Stopping(stop.clone())));
    let (command, run_id) = start_plan(chain(2));
    let running = tokio::spawn({
        let first = first.clone();
        async move { first.run_until(stop).await }
    });
    first.submit(ann(), None, command).await.expect("started");
    assert!(running.await.expect("ended").clean);
    home.kill(&first);
    let executor = Arc::new(Counted::default());
    let second = home.engine_with(executor.clone());
    let (_stop, running) = run(&second);
    completed(&home, &second, run_id).await;
    assert_eq!((executor.seen(), restarts(&home, run_id).await), ((1, 0), 0));
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn work_of_a_killed_process_is_restarted_and_not_for_ever() {
    let home = Home::new();
    let (command, run_id) = start_plan(chain(1));
    let mut command = Some(command);
    for n in 0..=MAX_RESTARTS {
        let executor = Arc::new(common::Held::default());
        let engine = home.engine_with(executor.clone());
        let (_stop, running) = run(&engine);
        if let Some(command) = command.take() {
            engine.submit(ann(), None, command).await.expect("started");
        }
        let begun = async {
            while !executor.is_held() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), begun).await.expect("begun");
        assert_eq!(restarts(&home, run_id).await, n as usize);
        home.kill(&engine);
        running.abort();
    }
    let executor = Arc::new(Counted::default());
    let engine = home.engine_with(executor.clone());
    let (_stop, running) = run(&engine);
    let (error_type, message) = failure(&home, &engine, run_id).await;
    assert_eq!((executor.seen(), error_type.as_str()), ((0, 0), "restarted_too_often"));
    assert!(message.contains("ended 4 times"), "{message}");
    running.abort();
}

/// Two steps beside each other: one always fails and is tried again, one needs an approval to start.
fn beside_a_question() -> Plan {
    let mut plan = common::retried(2);
    plan.steps[1].after.clear();
    let question = &plan.steps[1].id;
    let mut body = Body::clone(&plan.bodies[question]);
    body.policy.approve_start.when = When::Always;
    plan.bodies.insert(question.clone(), Arc::new(body));
    plan
}

/// Fails.
struct Fails;

impl Executor for Fails {
    fn run(&self, _job: Job) -> BoxFuture<'static, Outcome> {
        let failure = event::Failure::new("broken", "it breaks");
        Box::pin(std::future::ready(Outcome::Failed {
            failure,
            artifacts: Vec::new(),
            usage: Usage::default(),
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_does_not_hide_work_that_another_one_made() {
    let home = Home::new();
    let (command, run_id) = start_plan(beside_a_question());
    let (ending, other) = (home.engine_with(Arc::new(Fails)), home.idle_engine());
    let (stop, running) = run(&ending);
    ending.submit(ann(), None, command).await.expect("started");
    let waits = |state: &RunState| state.owed.is_empty() && !state.timers.is_empty();
    home.until(&ending, run_id, waits).await;
    let loaded = other.run(run_id).await.expect("read").expect("a run");
    let State::Run(state) = &loaded.state else { panic!("a run") };
    let digest = state.gates.values().next().map(|gate| gate.digest);
    let approve = Answer { digest, ..Answer::of(ExecNo(2), AskKind::Start, "approve") };
    let approve = Command::Run(run_id, RunCommand::Answer(approve));
    other.submit(ann(), None, approve).await.expect("approved");
    // It has not seen the answer: it looks at what others write a few times a second.
    stop.cancel();
    running.await.expect("ended");
    let due = home.open().claim(other.now(), 1, Some(run_id)).await.expect("claimed");
    assert_eq!(due.len(), 1, "the approved step is due, and does not wait for the retry of the other");
}
