//! How the time of an attempt is counted while work waits for a slot of its process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdpoint_core::Timestamp;

/// The time of one attempt that has a limit, shared by its driver and its work.
#[derive(Clone, Default)]
pub(super) struct AttemptTime(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    /// How long it may take, in microseconds.
    limit: u64,
    begun: Option<Timestamp>,
    /// Since when a part of it waits for a slot.
    waiting: Option<Timestamp>,
    /// How long later parts waited, in microseconds.
    waited: u64,
}

impl AttemptTime {
    fn lock(&self) -> MutexGuard<'_, Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part of the attempt waits for a slot from now on.
    pub fn wait(&self, seconds: u64, now: Timestamp) {
        let mut time = self.lock();
        time.limit = seconds.saturating_mul(1_000_000);
        time.waiting = Some(now);
    }

    /// A part has its slot.
    pub fn begin(&self, now: Timestamp) {
        let mut time = self.lock();
        let since = time.waiting.take();
        match time.begun {
            None => time.begun = Some(now),
            Some(_) => {
                time.waited += since.map_or(0, |since| now.0.saturating_sub(since.0).max(0).unsigned_abs());
            }
        }
    }

    /// When the time is up: at the deadline, but never before the attempt had its whole time here.
    pub fn up(&self, deadline: Timestamp) -> Option<Timestamp> {
        let time = self.lock();
        if time.waiting.is_some() {
            return None;
        }
        let whole = time.begun.map(|begun| begun.plus_micros(time.limit.saturating_add(time.waited)));
        Some(whole.map_or(deadline, |whole| whole.max(deadline)))
    }
}
