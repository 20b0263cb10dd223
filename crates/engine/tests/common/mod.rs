//! A home in memory with an engine on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::event::{Failure, Usage};
use holdpoint_core::plan::{Body, Plan};
use holdpoint_core::state::RunState;
use holdpoint_core::{Command, CommandId, RunId, Seq, State, StepId, StreamId, Timestamp};
use holdpoint_engine::clock::{Clock, IdSource};
use holdpoint_engine::executor::{BuiltIn, Executor, Job};
use holdpoint_engine::tree::Options;
use holdpoint_engine::{Engine, Filter, Parts, PlainEvaluator};
use holdpoint_store::BoxFuture;
use holdpoint_store::memory::{MemoryDisk, MemoryLog};
use uuid::Uuid;

/// A home in memory.
pub struct Home {
    pub disk: MemoryDisk,
    clock: Arc<PausedClock>,
    ids: Arc<CountedIds>,
    logs: Mutex<Vec<Arc<MemoryLog>>>,
    /// How many pieces of work an engine does at once.
    pub max_parallel: AtomicUsize,
}

/// Tokio's paused clock, as microseconds.
pub struct PausedClock {
    start: tokio::time::Instant,
    behind_seconds: AtomicU64,
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let behind = self.behind_seconds.load(Ordering::Relaxed) as i64 * 1_000_000;
        Timestamp(1_700_000_000_000_000 + self.start.elapsed().as_micros() as i64 - behind)
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let wait = (at.0 - self.now().0).max(0).unsigned_abs();
        // tidy: sleep, because the paused clock moves on by itself
        // tidy: sleep, because this is the paused clock itself, which waits for nothing
        Box::pin(tokio::time::sleep(std::time::Duration::from_micros(wait)))
    }
}

#[derive(Default)]
pub struct CountedIds(AtomicU64);

impl IdSource for CountedIds {
    fn command(&self, _now: Timestamp) -> CommandId {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        CommandId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(n)))
    }
}

/// Never comes to an end.
pub struct Never;

impl Executor for Never {
    fn run(&self, _job: Job) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::pending())
    }
}

/// Holds its work until it is stopped.
#[derive(Default)]
pub struct Held(Mutex<Option<tokio_util::sync::CancellationToken>>);

impl Held {
    pub fn is_held(&self) -> bool {
        self.0.lock().expect("no panic").is_some()
    }

    /// Comes back when the work was stopped.
    pub async fn stopped(&self) {
        let cancel = self.0.lock().expect("no panic").clone();
        cancel.expect("work was begun").cancelled().await;
    }
}

impl Executor for Held {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        *self.0.lock().expect("no panic") = Some(job.cancel);
        Box::pin(std::future::pending())
    }
}

/// Fails once, then works.
#[derive(Default)]
pub struct FailsFirst(AtomicBool);

impl Executor for FailsFirst {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        if self.0.swap(true, Ordering::Relaxed) {
            return BuiltIn.run(job);
        }
        let failure = Failure::new("broken", "the first time it breaks");
        Box::pin(std::future::ready(Outcome::Failed {
            failure,
            artifacts: Vec::new(),
            usage: Usage::default(),
        }))
    }
}

impl Home {
    pub fn new() -> Self {
        Self {
            disk: MemoryDisk::new(),
            clock: Arc::new(PausedClock {
                start: tokio::time::Instant::now(),
                behind_seconds: AtomicU64::new(0),
            }),
            ids: Arc::default(),
            logs: Mutex::default(),
            max_parallel: AtomicUsize::new(64),
        }
    }

    pub fn open(&self) -> Arc<MemoryLog> {
        Arc::new(self.disk.open())
    }

    pub fn engine(&self) -> Engine {
        self.engine_with(Arc::new(BuiltIn))
    }

    pub fn engine_with(&self, executor: Arc<dyn Executor>) -> Engine {
        self.make(executor, true)
    }

    /// An engine that takes on no work.
    pub fn idle_engine(&self) -> Engine {
        self.make(Arc::new(BuiltIn), false)
    }

    /// An engine that keeps files in a folder.
    pub fn engine_with_files(&self, folder: &std::path::Path, executor: Arc<dyn Executor>) -> Engine {
        self.make_with(executor, true, Some(Options::new(folder.to_owned())))
    }

    fn make(&self, executor: Arc<dyn Executor>, works: bool) -> Engine {
        self.make_with(executor, works, None)
    }

    fn make_with(&self, executor: Arc<dyn Executor>, works: bool, files: Option<Options>) -> Engine {
        let log = self.open();
        self.logs.lock().expect("no panic").push(log.clone());
        Engine::new(Parts {
            blobs: Arc::new(log.blobs()),
            log,
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            evaluator: Arc::new(PlainEvaluator),
            offers: Arc::new(holdpoint_core::facts::NothingKnown),
            executor,
            works: works.into(),
            max_parallel: self.max_parallel.load(Ordering::Relaxed),
            files,
        })
    }

    /// Sets the wall clock back.
    pub fn set_back(&self, seconds: u64) {
        self.clock.behind_seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Ends the newest engine as a crash would.
    pub fn kill(&self, engine: &Engine) {
        engine.abandon();
        self.logs.lock().expect("no panic").pop().expect("a log").crash();
    }

    /// Waits until a run's state is as wanted.
    pub async fn until(&self, engine: &Engine, run: RunId, wanted: impl Fn(&RunState) -> bool) {
        let mut events = engine.subscribe(Seq(0), Filter { stream: Some(StreamId::Run(run)), session: None });
        loop {
            let loaded = engine.view(StreamId::Run(run)).await.expect("readable");
            if matches!(&loaded.state, State::Run(state) if wanted(state)) {
                return;
            }
            events.next().await.expect("goes on").expect("readable");
        }
    }
}

/// A plan of notes, one after another.
pub fn chain(steps: u32) -> Plan {
    plan(steps, 0)
}

/// The same, each tried again once after five seconds.
pub fn retried(steps: u32) -> Plan {
    plan(steps, 1)
}

fn plan(steps: u32, retries: u32) -> Plan {
    let ids = (1..=steps).map(|n| StepId::new(&format!("s{n}")));
    let mut plan = Plan::linear(ids.clone().map(|id| (id.clone(), id.0)));
    let mut body = Body::command(["note", "x"]);
    (body.policy.max_attempts, body.policy.retry_delay_seconds) = (1 + retries, 5);
    let body = Arc::new(body);
    plan.bodies = ids.map(|id| (id, body.clone())).collect::<BTreeMap<_, _>>();
    plan
}

/// A command that starts a plan as a run of its own.
pub fn start_plan(plan: Plan) -> (Command, RunId) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let run =
        RunId(Uuid::from_u128((0x7000_8000_0000 + u128::from(NEXT.fetch_add(1, Ordering::Relaxed))) << 32));
    let source = Source::Plan { plan: Arc::new(plan), title: "notes".into(), session: None };
    (Command::StartRun(StartRun { run, source, start: true }), run)
}
