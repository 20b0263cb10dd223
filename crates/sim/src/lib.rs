//! Whole homes from a seed: engines on the in-memory store, people, executors, clocks and crashes, and what
//! must hold through all of it.
//!
//! One seed is one world, and always the same one: a single thread with a paused clock, one generator for
//! every choice, nothing from outside. [`run_seed`] lives through a world and checks it; a [`Failure`] says
//! how to see the same again.
//!
//! Invariant: nothing here is used outside tests.

pub mod check;
mod client;
mod clock;
mod executor;
mod faults;
mod ledger;
mod mirror;
mod panics;
mod people;
mod process;
mod rng;
mod scenery;
mod stock;
mod world;

use std::fmt;

use holdpoint_store::Row;
use rng::Rng;
use world::World;

/// What happened in a world in which everything held.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The rows of its log.
    pub rows: Vec<Row>,
    /// What happened, the last actions or all.
    pub trace: Vec<String>,
    /// Commands that were acknowledged.
    pub acknowledged: u64,
    /// Commands that were refused.
    pub refused: u64,
    /// Late commits that were refused.
    pub fenced: u64,
    /// Folds that stand saved.
    pub folds: u64,
}

/// What is wrong in a world, and how to see it again.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// What is wrong.
    pub wrong: Vec<String>,
    /// What happened before.
    pub trace: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: the last actions were", self.seed)?;
        for line in &self.trace {
            writeln!(f, "  {line}")?;
        }
        for wrong in &self.wrong {
            writeln!(f, "wrong: {wrong}")?;
        }
        write!(
            f,
            "again: HOLDPOINT_SEED={} cargo nextest run -p holdpoint-sim crash_seeds --no-capture",
            self.seed
        )
    }
}

/// Lives through the world of a seed and checks it. With `keeps_all` the whole trace is kept.
pub fn run_seed(seed: u64, keeps_all: bool) -> Result<Summary, Failure> {
    panics::watch();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O can always be made");
    runtime.block_on(async {
        let mut world = World::begin(Rng::new(seed), keeps_all).await;
        world.live().await;
        world.rest().await;
        let town = world.town.clone();
        let mut wrong = town.scenery.all_wrong();
        match check::all(&town).await {
            Ok(found) => wrong.extend(found),
            Err(cause) => wrong.push(format!("I3: the log cannot be read: {cause}")),
        }
        wrong.extend(panics::take().map(|said| format!("a panic: {said}")));
        let trace = town.scenery.trace();
        if wrong.is_empty() { Ok(world.summary(trace).await) } else { Err(Failure { seed, wrong, trace }) }
    })
}
