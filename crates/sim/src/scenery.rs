//! What everything in one simulated world shares: chance, time, the trace, and what went wrong.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdpoint_core::state::run::EffectId;
use holdpoint_core::{ExecutionId, RunId, Seq};
use holdpoint_store::memory::MemoryDisk;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::clock::{SimClock, SimIds};
use crate::ledger::{Ledger, Pid};
use crate::rng::Rng;

/// How many actions of the past a failure shows.
const SHOWN: usize = 50;

/// The shared parts of one world.
pub struct Scenery {
    /// The home.
    pub disk: MemoryDisk,
    /// Time.
    pub clock: Arc<SimClock>,
    /// Ids.
    pub ids: Arc<SimIds>,
    /// Who owns which work, as seen from outside the store.
    pub ledger: Mutex<Ledger>,
    /// Chance for how long things take.
    delays: Mutex<Rng>,
    /// Chance for what executors do.
    habits: Mutex<Rng>,
    /// One channel per process, in the order in which they were started.
    heads: Mutex<Vec<watch::Sender<Seq>>>,
    /// Work that executors are at.
    working: Mutex<BTreeMap<u64, Working>>,
    /// What work wrote into its journal, as far as it was acknowledged.
    said: Mutex<Vec<Said>>,
    healed: AtomicBool,
    trace: Mutex<VecDeque<String>>,
    keeps_all: bool,
    wrong: Mutex<Vec<String>>,
}

/// Some work that an executor is at.
pub struct Working {
    /// In which process.
    pub pid: Pid,
    /// For which run.
    pub run: RunId,
    /// Which work.
    pub effect: EffectId,
    /// The way to stop it.
    pub cancel: CancellationToken,
}

/// A line that work wrote into its journal.
#[derive(Clone, Debug)]
pub struct Said {
    /// Whose journal.
    pub execution: ExecutionId,
    /// Names one start of the work.
    pub token: u64,
    /// The line.
    pub text: String,
}

/// A piece of work in short.
pub fn show(effect: EffectId) -> String {
    format!("{}/{}/{}/{:?}", effect.x, effect.revision, effect.attempt, effect.part)
}

/// A lock that nothing can break: a panic elsewhere is reported by itself.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scenery {
    /// An empty home from a generator. With `keeps_all` the whole trace is kept.
    pub fn new(rng: &mut Rng, keeps_all: bool) -> Self {
        let disk = MemoryDisk::new();
        disk.set_seed(rng.next());
        Self {
            disk,
            clock: Arc::default(),
            ids: Arc::default(),
            ledger: Mutex::default(),
            delays: Mutex::new(rng.fork()),
            habits: Mutex::new(rng.fork()),
            heads: Mutex::default(),
            working: Mutex::default(),
            said: Mutex::default(),
            healed: AtomicBool::new(false),
            trace: Mutex::default(),
            keeps_all,
            wrong: Mutex::default(),
        }
    }

    /// Chance for how long things take.
    pub fn delays(&self) -> MutexGuard<'_, Rng> {
        lock(&self.delays)
    }

    /// Chance for what executors do.
    pub fn habits(&self) -> MutexGuard<'_, Rng> {
        lock(&self.habits)
    }

    /// Follows the head of the log.
    pub fn follow(&self) -> watch::Receiver<Seq> {
        let (sender, receiver) = watch::channel(self.disk.head());
        lock(&self.heads).push(sender);
        receiver
    }

    /// Notes a line of a journal that is durable.
    pub fn said(&self, said: Said) {
        lock(&self.said).push(said);
    }

    /// All lines of journals that were acknowledged.
    pub fn all_said(&self) -> Vec<Said> {
        lock(&self.said).clone()
    }

    /// Tells everybody that the log has moved.
    pub fn moved(&self, head: Seq) {
        lock(&self.heads).retain(|sender| sender.send(head).is_ok());
    }

    /// Notes that an executor is at some work; the number says when it is not any more.
    pub fn at_work(&self, work: Working) -> u64 {
        let mut working = lock(&self.working);
        let no = working.last_key_value().map_or(0, |(no, _)| *no) + 1;
        working.insert(no, work);
        no
    }

    /// Notes that an executor is not at some work any more.
    pub fn work_ends(&self, no: u64) {
        lock(&self.working).remove(&no);
    }

    /// The work that executors are at and that nobody has stopped.
    pub fn working(&self) -> Vec<(RunId, EffectId)> {
        let working = lock(&self.working);
        let wanted = working.values().filter(|work| !work.cancel.is_cancelled());
        wanted.map(|work| (work.run, work.effect)).collect()
    }

    /// A process that is at some work.
    pub fn busy(&self) -> Option<Pid> {
        lock(&self.working).values().next().map(|work| work.pid)
    }

    /// Whether faults are over.
    pub fn is_healed(&self) -> bool {
        self.healed.load(Ordering::Relaxed)
    }

    /// Ends all faults; the clock may stay wrong.
    pub fn heal(&self, clock: bool) {
        self.healed.store(true, Ordering::Relaxed);
        self.disk.set_fault(None);
        if clock {
            self.clock.heal();
        }
    }

    /// Notes what happened.
    pub fn note(&self, what: &str) {
        let at = self.clock.age();
        let mut trace = lock(&self.trace);
        trace.push_back(format!("{:>8.3}s @{:<4} {what}", at.as_secs_f64(), self.disk.head().0));
        if !self.keeps_all && trace.len() > SHOWN {
            trace.pop_front();
        }
    }

    /// Notes that something is wrong.
    pub fn wrong(&self, what: String) {
        self.note(&format!("WRONG: {what}"));
        lock(&self.wrong).push(what);
    }

    /// What is wrong so far.
    pub fn all_wrong(&self) -> Vec<String> {
        lock(&self.wrong).clone()
    }

    /// The trace so far.
    pub fn trace(&self) -> Vec<String> {
        lock(&self.trace).iter().cloned().collect()
    }
}
