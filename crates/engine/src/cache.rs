//! The folds of the streams at hand, and one lock per stream for those who write to it.
//!
//! The cache may be behind the log when other processes write: whoever decides on it appends at the
//! versions that it read, and whoever refuses on it looks again first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::StreamId;

use crate::load::Loaded;

/// How many streams are kept.
const CAPACITY: usize = 4_096;

/// A stream's place in the cache.
#[derive(Default)]
pub(crate) struct Slot {
    /// Held by whoever writes to the stream.
    pub gate: Arc<tokio::sync::Mutex<()>>,
    /// Whether the fold is being saved.
    pub saving: AtomicBool,
    held: Mutex<Option<Arc<Loaded>>>,
    used: AtomicU64,
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

    /// Remembers that the fold was saved at a version.
    pub fn saved(&self, version: holdpoint_core::Version, bytes: u64, tail_bytes: u64) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = held.as_mut().filter(|known| known.version >= version) {
            let known = Arc::make_mut(known);
            known.fold_bytes = bytes;
            known.tail_bytes = known.tail_bytes.saturating_sub(tail_bytes);
        }
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
