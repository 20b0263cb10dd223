//! The load that crash tests put on the real binary: many clients that submit a seeded mix of everything, on
//! a home whose work this process does as well.
//!
//! Every command is announced before it is sent and its answer told after it came, one line each, so that
//! whoever kills the process knows exactly what was acknowledged. Promises that a process can check itself
//! are checked here: an answer can be read at once, and a request that is sent again is carried out once.

mod choose;
mod client;
mod form;
mod names;
mod numbers;
mod plans;
mod told;
mod work;

use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::{Seq, StreamId};
use holdpoint_engine::{SubmitError, Works};
use holdpoint_store::{EventLog as _, StoreError};
use holdpoint_store_sqlite::Options;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::Files;
use crate::wiring::{self, HomeOptions};
use client::{Client, Ended, Shared};
use names::TaggedIds;
use work::Worker;

/// How often the log is sealed, which is far more often than in earnest.
const SEAL: Duration = Duration::from_millis(15);
/// How many rows are looked at when a process begins, to know some runs.
const LOOK_BACK: u64 = 400;

/// What load to put on a home.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Gives the choices; no two processes on a home may have the same.
    pub seed: u64,
    /// How many clients.
    pub clients: u32,
    /// After so many commands the clients are silent, and the process only works.
    pub requests: Option<u64>,
    /// When to stop, if not at a signal.
    pub time: Option<Duration>,
    /// How long a stopped owner keeps its work.
    pub lease: Duration,
    /// How long a nap takes.
    pub nap: Duration,
    /// Whether only pipelines are run.
    pub pipelines: bool,
    /// After so many answers the process kills itself.
    pub die_after: Option<u64>,
}

/// Puts the load on a home until the time is over or a signal comes, then lets work in flight end.
pub async fn run(home: &Home, plan: Plan) -> Result<Exit, Failure> {
    let ids = Arc::new(TaggedIds::new(plan.seed as u32));
    let options = HomeOptions {
        log: Options { lease: plan.lease, ..Options::default() },
        works: Works::All,
        executor: Arc::new(Worker { nap: plan.nap }),
        ids: ids.clone(),
        files: Files::default(),
        ..HomeOptions::default()
    };
    let home = wiring::open_home(home, options).await?;
    let shared = Arc::new(Shared {
        home,
        ids,
        known: choose::Known::default(),
        stop: CancellationToken::new(),
        seed: plan.seed,
        sent: 0.into(),
        answered: 0.into(),
        requests: plan.requests,
        pipelines: plan.pipelines,
        die_after: plan.die_after,
    });
    look_back(&shared)
        .await
        .map_err(|error| Problem::failed("storage", error.to_string(), "look at the disk"))?;
    let mut tasks = JoinSet::new();
    for n in 0..plan.clients {
        tasks.spawn(Client::new(shared.clone(), u64::from(n)).work());
    }
    tasks.spawn(beat(shared.clone(), plan.lease / 3));
    tasks.spawn(seal(shared.clone()));
    tasks.spawn(until_told(shared.stop.clone(), plan.time));
    let runner = {
        let shared = shared.clone();
        tokio::spawn(async move { shared.home.engine.run_until(shared.stop.clone()).await })
    };
    while let Some(ended) = tasks.join_next().await {
        match ended.unwrap_or_else(|error| Err(Ended(Some(format!("a task broke: {error}"))))) {
            Ok(()) => {}
            Err(Ended(None)) => shared.stop.cancel(),
            Err(Ended(Some(what))) => {
                told::violation(&what)?;
                return Ok(Exit::Failed);
            }
        }
    }
    let drained = runner.await.is_ok_and(|drained| drained.clean);
    tracing::info!(drained, "the load has ended");
    Ok(Exit::Done)
}

/// Some runs and pipelines that earlier processes left.
async fn look_back(shared: &Shared) -> Result<(), StoreError> {
    let head = *shared.home.log.head().borrow();
    let rows = shared.home.log.read_all(Seq(head.0.saturating_sub(LOOK_BACK)), LOOK_BACK as u32).await?;
    for row in rows {
        match row.stream {
            StreamId::Run(run) => shared.known.run(run),
            StreamId::Pipeline(pipeline) => shared.known.pipeline(pipeline),
            StreamId::Home | StreamId::Journal(_) => {}
        }
    }
    Ok(())
}

/// Leases of the load are short, and so are the pauses between its heartbeats.
async fn beat(shared: Arc<Shared>, every: Duration) -> Result<(), Ended> {
    let mut ticks = tokio::time::interval(every);
    while shared.stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match shared.home.log.beat().await {
            Ok(_) => {}
            Err(error) => return Err(Ended(Some(format!("the heartbeat cannot be written: {error}")))),
        }
    }
    Ok(())
}

async fn seal(shared: Arc<Shared>) -> Result<(), Ended> {
    let mut ticks = tokio::time::interval(SEAL);
    while shared.stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match shared.home.engine.seal().await {
            Ok(_) | Err(SubmitError::Contended) => {}
            Err(error) => return Err(Ended(Some(format!("the log cannot be sealed: {error}")))),
        }
    }
    Ok(())
}

/// The first signal stops, the second ends at once.
async fn until_told(stop: CancellationToken, time: Option<Duration>) -> Result<(), Ended> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let over = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = over => {}
        () = stop.cancelled() => {}
    }
    stop.cancel();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        std::process::exit(i32::from(Exit::Failed.code()));
    });
    Ok(())
}
