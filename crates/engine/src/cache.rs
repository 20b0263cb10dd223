//! The folds of the streams at hand, and one lock per stream for those who write to it.
//!
//! The cache may be behind the log when other processes write: whoever decides on it appends at the
//! versions that it read, and whoever refuses on it looks again first.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::StreamId;

use crate::load::{Loaded, Sizes};

/// How many bytes the folds may take together.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// What a stream costs beside its fold.
const SLOT_BYTES: u64 = 1024;

/// How much larger a fold counts in memory than the JSON that it was made from: maps and shared pointers take room.
const IN_MEMORY: u64 = 2;

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
    /// What this stream counts among all.
    weight: AtomicU64,
    /// What all streams count together.
    total: Arc<AtomicU64>,
}

impl Slot {
    fn new(total: Arc<AtomicU64>) -> Self {
        let mut slot = Self::default();
        slot.total = total;
        slot.weigh();
        slot
    }

    /// Counts the stream by the bytes of its saved fold and of the rows behind it: to look at the state itself would
    /// take longer the larger it is.
    fn weigh(&self) {
        let json = self.fold.load(Ordering::Relaxed).saturating_add(self.tail.load(Ordering::Relaxed));
        let weight = SLOT_BYTES.saturating_add(json.saturating_mul(IN_MEMORY));
        let before = self.weight.swap(weight, Ordering::Relaxed);
        self.total.fetch_add(weight.wrapping_sub(before), Ordering::Relaxed);
    }

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
        self.weigh();
        self.put(loaded);
    }

    /// Counts a row that was appended; says how long the tail is once a fold is due.
    pub fn grow(&self, bytes: u64) -> Option<u64> {
        let tail = self.tail.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.weigh();
        (tail >= self.fold.load(Ordering::Relaxed).max(MIN_TAIL)).then_some(tail)
    }

    /// Remembers that a fold was saved which covers this much of the tail.
    pub fn saved(&self, bytes: u64, covered: u64) {
        self.fold.store(bytes, Ordering::Relaxed);
        let left = |tail: u64| Some(tail.saturating_sub(covered));
        let _ = self.tail.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        self.weigh();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.total.fetch_sub(*self.weight.get_mut(), Ordering::Relaxed);
    }
}

/// All slots.
pub(crate) struct Cache {
    slots: Mutex<HashMap<StreamId, Arc<Slot>>>,
    tick: AtomicU64,
    /// What all slots count together.
    total: Arc<AtomicU64>,
    most: u64,
    /// Above this, room is made: more than `most` while what is in use takes more than that.
    limit: AtomicU64,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(MOST_BYTES)
    }
}

impl Cache {
    fn new(most: u64) -> Self {
        Self {
            slots: Mutex::default(),
            tick: AtomicU64::new(0),
            total: Arc::default(),
            most,
            limit: AtomicU64::new(most),
        }
    }

    /// The place of a stream.
    pub fn slot(&self, stream: StreamId) -> Arc<Slot> {
        let tick = self.tick.fetch_add(1, Ordering::Relaxed);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(stream).or_insert_with(|| Arc::new(Slot::new(self.total.clone()))).clone();
        slot.used.store(tick, Ordering::Relaxed);
        if self.total.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed) {
            self.make_room(&mut slots);
        }
        slot
    }

    /// Forgets what was not used for longest until a quarter is free; what somebody holds stays.
    fn make_room(&self, slots: &mut HashMap<StreamId, Arc<Slot>>) {
        let free = |slot: &Arc<Slot>| Arc::strong_count(slot) == 1;
        let mut ages: Vec<(u64, StreamId)> = slots
            .iter()
            .filter(|(_, slot)| free(slot))
            .map(|(stream, slot)| (slot.used.load(Ordering::Relaxed), *stream))
            .collect();
        ages.sort_unstable();
        for (_, stream) in ages {
            if self.total.load(Ordering::Relaxed) <= self.most / 4 * 3 {
                break;
            }
            slots.remove(&stream);
        }
        // Where everything is in use there is nothing to forget: to look again at once would only take time.
        let left = self.total.load(Ordering::Relaxed);
        self.limit.store(self.most.max(left.saturating_add(left / 8)), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_core::RunId;
    use uuid::Uuid;

    use super::*;

    fn run(n: u128) -> StreamId {
        StreamId::Run(RunId(Uuid::from_u128(n)))
    }

    fn fill(cache: &Cache, n: u128, bytes: u64) -> Arc<Slot> {
        let slot = cache.slot(run(n));
        slot.fill(Arc::new(Loaded::empty(run(n))), Sizes { tail: bytes, fold: 0 });
        slot
    }

    #[test]
    fn folds_are_kept_by_their_bytes() {
        let cache = Cache::new(1024 * 1024);
        let total = || cache.total.load(Ordering::Relaxed);
        let held = fill(&cache, 0, 1024);
        for n in 1..=1_000 {
            fill(&cache, n, 16 * 1024);
            assert!(total() <= 1024 * 1024 + 2 * 17 * 1024, "{}", total());
        }
        assert!(cache.slot(run(1_000)).get().is_some(), "the newest stays");
        assert!(cache.slot(run(1)).get().is_none(), "the oldest is forgotten");
        assert!(Arc::ptr_eq(&held, &cache.slot(run(0))), "what somebody holds stays");
        // One that grows counts with what it has become.
        held.grow(8 * 1024 * 1024);
        drop(held);
        cache.slot(run(2_000));
        assert!(total() < 1024 * 1024, "{}", total());
    }

    #[test]
    fn what_is_in_use_stays_however_large_it_is() {
        let cache = Cache::new(1024);
        let held: Vec<_> = (0..100).map(|n| fill(&cache, n, 1024)).collect();
        for (n, slot) in (0..).zip(&held) {
            assert!(Arc::ptr_eq(slot, &cache.slot(run(n))));
        }
        drop(held);
        fill(&cache, 1_000, 1_000_000);
        cache.slot(run(1_001));
        assert_eq!(cache.slots.lock().expect("no panic").len(), 1);
    }
}
