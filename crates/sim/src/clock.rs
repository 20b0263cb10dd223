//! Simulated time and ids: the wall clock jumps when it is told to, and ids count.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use holdpoint_core::{CommandId, Timestamp};
use holdpoint_engine::clock::{Clock, IdSource};
use holdpoint_store::BoxFuture;
use tokio::time::Instant;
use uuid::Uuid;

/// When every world begins.
const START: i64 = 1_700_000_000_000_000;

/// The longest wait before the clock is looked at again, as on a real machine.
const LONGEST: Duration = Duration::from_mins(1);

/// A wall clock over the runtime's paused one.
pub struct SimClock {
    start: Instant,
    offset: AtomicI64,
    latest: AtomicI64,
}

impl SimClock {
    /// A clock that begins now.
    pub fn new() -> Self {
        Self { start: Instant::now(), offset: AtomicI64::new(0), latest: AtomicI64::new(START) }
    }

    /// Sets the clock forward or back.
    pub fn jump(&self, micros: i64) {
        self.now();
        self.offset.fetch_add(micros, Ordering::Relaxed);
    }

    /// Sets the clock to the latest time that it ever showed, if it shows an earlier one.
    pub fn heal(&self) {
        let behind = self.latest.load(Ordering::Relaxed) - self.now().0;
        self.offset.fetch_add(behind.max(0), Ordering::Relaxed);
    }

    /// How long the world has existed, which no jump changes.
    pub fn age(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Default for SimClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let now = START + self.age().as_micros() as i64 + self.offset.load(Ordering::Relaxed);
        self.latest.fetch_max(now, Ordering::Relaxed);
        Timestamp(now)
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let wait = at.0.saturating_sub(self.now().0).max(0).unsigned_abs();
        Box::pin(tokio::time::sleep(Duration::from_micros(wait).min(LONGEST)))
    }
}

/// Ids that count up.
#[derive(Default)]
pub struct SimIds(AtomicU64);

impl SimIds {
    /// The next id of anything.
    pub fn mint(&self) -> Uuid {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        // Ids of executions are those of their run with a number added, so ids are far apart.
        Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + (u128::from(n) << 32))
    }
}

impl IdSource for SimIds {
    fn command(&self, _now: Timestamp) -> CommandId {
        CommandId(self.mint())
    }
}
