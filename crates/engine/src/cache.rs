//! The folds of the streams at hand, and one lock per stream for those who write to it.
//!
//! The cache may be behind the log when other processes write: whoever decides on it appends at the
//! versions that it read, and whoever refuses on it looks again first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::StreamId;

use crate::load::{Loaded, Sizes};

/// How many streams are kept.
const CAPACITY: usize = 4_096;

/// The least tail that is worth a saved fold.
const MIN_TAIL: u64 = 64 * 1024;

/// A stream's place in the cache.
#[derive(Default)]
pub(crate) struct Slot {
    /// Held by whoever writes to the stream.
    pub gate: Arc<tokio::sync::Mutex<()>>,
    /// Whether the fold is being saved.
    pub saving: AtomicBool,
    held: Mutex<Option<Arc<Loaded>>>,
    used: AtomicU64,
    /// The bytes of the rows behind the saved fold.
    tail: AtomicU64,
    /// The bytes of the saved fold.
    fold: AtomicU64,
}

impl Slot {
    /// What is known of the stream.
    pub fn get(&self) -> Option<Arc<Loaded>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a newer state; an older one changes nothing.
    pub fn put(&self, loaded: Arc<Loaded>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_none_or(|known| known.version <= loaded.version) {
            *held = Some(loaded);
        }
    }

    /// Keeps what was read from the store, and remembers how much of it no fold covers.
    pub fn fill(&self, loaded: Arc<Loaded>, sizes: Sizes) {
        self.tail.store(sizes.tail, Ordering::Relaxed);
        self.fold.store(sizes.fold, Ordering::Relaxed);
        self.put(loaded);
    }

    /// Counts a row that was appended; says how long the tail is once a fold is due.
    pub fn grow(&self, bytes: u64) -> Option<u64> {
        let tail = self.tail.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (tail >= self.fold.load(Ordering::Relaxed).max(MIN_TAIL)).then_some(tail)
    }

    /// Remembers that a fold was saved which covers this much of the tail.
    pub fn saved(&self, bytes: u64, covered: u64) {
        self.fold.store(bytes, Ordering::Relaxed);
        let left = |tail: u64| Some(tail.saturating_sub(covered));
        let _ = self.tail.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
    }
}

/// All slots.
#[derive(Default)]
pub(crate) struct Cache {
    slots: Mutex<HashMap<StreamId, Arc<Slot>>>,
    tick: AtomicU64,
}

impl Cache {
    /// The place of a stream.
    pub fn slot(&self, stream: StreamId) -> Arc<Slot> {
        let tick = self.tick.fetch_add(1, Ordering::Relaxed);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(stream).or_default().clone();
        slot.used.store(tick, Ordering::Relaxed);
        if slots.len() > CAPACITY {
            make_room(&mut slots);
        }
        slot
    }
}

/// Forgets the half that was not used for longest; what somebody holds stays.
fn make_room(slots: &mut HashMap<StreamId, Arc<Slot>>) {
    let mut ages: Vec<u64> = slots.values().map(|slot| slot.used.load(Ordering::Relaxed)).collect();
    ages.sort_unstable();
    let middle = ages[ages.len() / 2];
    slots.retain(|_, slot| slot.used.load(Ordering::Relaxed) >= middle || Arc::strong_count(slot) > 1);
}
