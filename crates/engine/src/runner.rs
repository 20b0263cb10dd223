//! The runner: claims runs with work due, does the work, records what came of it, and fires timers.
//!
//! One driver per run looks at what the run owes and does all of it at once. It ends when nothing is owed,
//! and is started again by the commit that owes something new. Whatever it records carries the epoch of
//! its lease: a driver that was thought dead cannot record anything.

mod driver;
mod effect;
mod slots;

pub(crate) use effect::{Backoff, is_transient};

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdpoint_core::state::run::EffectId;
use holdpoint_core::{RunId, StreamId};
use holdpoint_store::{Claimed, Lease};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Engine, Works};

/// How long a drain waits for work in flight.
const DRAIN: Duration = Duration::from_secs(8);
/// How often the owner says that it is alive.
const BEAT: Duration = Duration::from_secs(5);
/// How often unowned work is looked for when nothing else wakes the runner.
const LOOK: Duration = Duration::from_millis(250);
/// How many runs are claimed at once.
const CLAIM: u32 = 256;

/// What became of the work when the runner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Whether all work in flight came to its end.
    pub clean: bool,
}

/// The drivers of one engine.
pub(crate) struct Runner {
    /// One permit per piece of work that is being done.
    slots: Arc<Semaphore>,
    drivers: Mutex<HashMap<RunId, Arc<Driver>>>,
    /// The runs that this engine was told to take on.
    own: Mutex<BTreeSet<RunId>>,
    /// Owed work that this process has started: starting it again is a restart.
    started: Mutex<HashMap<RunId, BTreeSet<EffectId>>>,
    tasks: TaskTracker,
    /// No new work is begun.
    stopping: CancellationToken,
    /// Work in flight is given up.
    abandoned: CancellationToken,
}

/// One run's driver, as others see it.
pub(crate) struct Driver {
    /// Told when the run's state has changed.
    pub changed: Notify,
    /// The lease under which it works.
    pub lease: Lease,
    /// Whether the run was taken from an owner that died and may have started its work.
    pub abandoned: bool,
    /// The version of the run that it last looked at.
    pub seen: AtomicU64,
    /// Says that the lease belongs to somebody else by now.
    pub lost: CancellationToken,
}

impl Runner {
    /// A runner that does at most so many pieces of work at once.
    pub fn new(max_parallel: usize) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(max_parallel)),
            drivers: Mutex::default(),
            own: Mutex::default(),
            started: Mutex::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            abandoned: CancellationToken::new(),
        }
    }

    /// How many more runs are worth claiming: what this process has no slot for, another may do. A driver that has not
    /// looked at its run yet is about to take a slot.
    fn room(&self) -> u32 {
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        let new = drivers.values().filter(|driver| driver.seen.load(Ordering::Relaxed) == 0).count();
        let free = self.slots.available_permits().saturating_sub(new);
        u32::try_from(free).unwrap_or(u32::MAX).min(CLAIM)
    }

    /// After a commit: runs that are held now get a driver, and drivers look again.
    pub fn committed(&self, engine: &Engine, leases: &[Lease], written: impl Iterator<Item = StreamId>) {
        for lease in leases {
            self.drive(engine, *lease, false);
        }
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in written {
            if let StreamId::Run(run) = stream
                && let Some(driver) = drivers.get(&run)
            {
                driver.changed.notify_one();
            }
        }
    }

    /// Starts the driver of a run, unless it has one under this lease.
    fn drive(&self, engine: &Engine, lease: Lease, abandoned: bool) {
        if self.stopping.is_cancelled() {
            return;
        }
        let driver = Arc::new(Driver {
            changed: Notify::new(),
            lease,
            abandoned,
            seen: AtomicU64::new(0),
            lost: CancellationToken::new(),
        });
        {
            let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            if drivers.get(&lease.run).is_some_and(|known| known.lease.epoch >= lease.epoch) {
                return;
            }
            // Whoever drives it under an earlier lease could not record anything any more.
            if let Some(earlier) = drivers.insert(lease.run, driver.clone()) {
                earlier.lost.cancel();
            }
        }
        self.tasks.spawn(driver::drive(engine.clone(), driver));
    }

    /// Whether no new work is begun.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Takes a driver off the list.
    fn leave(&self, driver: &Arc<Driver>) {
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        if drivers.get(&driver.lease.run).is_some_and(|known| Arc::ptr_eq(known, driver)) {
            drivers.remove(&driver.lease.run);
        }
    }

    /// Remembers that work was started; false: it had been before.
    fn start(&self, run: RunId, effect: EffectId) -> bool {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.entry(run).or_default().insert(effect)
    }

    /// Whether this process has started a piece of work.
    fn has_started(&self, run: RunId, effect: &EffectId) -> bool {
        let started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.get(&run).is_some_and(|effects| effects.contains(effect))
    }

    /// Forgets a piece of work that is over.
    fn forget(&self, run: RunId, effect: &EffectId) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(effects) = started.get_mut(&run)
            && effects.remove(effect)
            && effects.is_empty()
        {
            started.remove(&run);
        }
    }

    /// Forgets all work of a run that is over.
    fn keep_started(&self, run: RunId, is_owed: impl Fn(&EffectId) -> bool) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(effects) = started.get_mut(&run) {
            effects.retain(is_owed);
            if effects.is_empty() {
                started.remove(&run);
            }
        }
    }

    /// All drivers, always in the same order.
    fn all(&self) -> Vec<Arc<Driver>> {
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<Driver>> = drivers.values().cloned().collect();
        all.sort_unstable_by_key(|driver| driver.lease);
        all
    }

    /// Whether this engine drives a run.
    fn drives(&self, run: RunId) -> bool {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&run)
    }
}

impl Engine {
    /// Claims and does work until told to stop; then lets work in flight end, and gives up the rest.
    pub async fn run_until(&self, stop: CancellationToken) -> Drained {
        let runner = &self.inner.runner;
        let files = CancellationToken::new();
        let keeping = tokio::spawn({
            let (engine, files) = (self.clone(), files.clone());
            async move { engine.keep_files(files).await }
        });
        let mut head = self.log().head();
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut others = 0;
        let mut looked = tokio::time::Instant::now();
        while !self.is_halted() {
            match self.inner.parts.works {
                Works::Nothing => {}
                Works::Own => self.claim_own().await,
                Works::All => self.claim_all().await,
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = beat.tick() => {
                    self.say_alive().await;
                    self.look_around().await;
                }
                _ = head.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            // Positions that this engine did not write, but for those whose answer is on its way.
            let now_others = head.borrow().0.saturating_sub(self.inner.written.load(Ordering::Relaxed));
            if now_others != others && looked.elapsed() >= LOOK {
                (others, looked) = (now_others, tokio::time::Instant::now());
                self.look_around().await;
            }
        }
        runner.stopping.cancel();
        runner.tasks.close();
        let clean = tokio::time::timeout(DRAIN, runner.tasks.wait()).await.is_ok();
        runner.abandoned.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(1), runner.tasks.wait()).await;
        files.cancel();
        let _ = keeping.await;
        Drained { clean }
    }

    /// Stops at once and records nothing more, as a crash would.
    pub fn abandon(&self) {
        self.inner.runner.stopping.cancel();
        self.inner.runner.abandoned.cancel();
    }

    /// Takes on the work of a run as soon as nobody else does it. For engines that work on their own runs only.
    pub fn take_on(&self, run: RunId) {
        self.inner.runner.own.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
    }

    async fn claim_own(&self) {
        let own = self.inner.runner.own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for run in own {
            if self.inner.runner.room() == 0 {
                return;
            }
            match self.log().claim(self.now(), 1, Some(run)).await {
                Ok(claimed) => claimed.iter().for_each(|claimed| self.take(claimed)),
                Err(cause) => tracing::warn!(%run, %cause, "work could not be claimed"),
            }
        }
    }

    fn take(&self, claimed: &Claimed) {
        self.inner.runner.drive(self, claimed.lease, claimed.abandoned);
    }

    async fn claim_all(&self) {
        loop {
            let room = self.inner.runner.room();
            if room == 0 {
                return;
            }
            match self.log().claim(self.now(), room, None).await {
                Ok(claimed) => {
                    claimed.iter().for_each(|claimed| self.take(claimed));
                    if claimed.len() < room as usize {
                        return;
                    }
                }
                Err(cause) => {
                    tracing::warn!(%cause, "work could not be claimed");
                    return;
                }
            }
        }
    }

    /// Other processes may have written to runs that are driven here: work that they ended is stopped, work
    /// that they made is begun.
    async fn look_around(&self) {
        for driver in self.inner.runner.all() {
            let stream = StreamId::Run(driver.lease.run);
            match self.view(stream).await {
                Ok(loaded) if loaded.version.0 != driver.seen.load(Ordering::Relaxed) => {
                    driver.changed.notify_one();
                }
                Ok(_) => {}
                Err(cause) => tracing::warn!(%stream, %cause, "a run could not be looked at"),
            }
        }
    }

    /// Leases that the store says are ours but that nobody drives get a driver again; drivers whose lease is
    /// not ours any more stop what they do.
    async fn say_alive(&self) {
        let driving = self.inner.runner.all();
        match self.log().beat().await {
            Ok(held) => {
                for driver in driving.iter().filter(|driver| !held.contains(&driver.lease)) {
                    driver.lost.cancel();
                }
                for lease in held.into_iter().filter(|lease| !self.inner.runner.drives(lease.run)) {
                    self.inner.runner.drive(self, lease, false);
                }
            }
            Err(cause) => tracing::warn!(%cause, "the heartbeat could not be written"),
        }
    }
}
