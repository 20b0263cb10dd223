//! The memory that the connections of one file share in WAL mode, and its locks.

use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Shared memory of one file.
#[derive(Default)]
pub(crate) struct Shm(Mutex<State>);

#[derive(Default)]
struct State {
    regions: Vec<Vec<UnsafeCell<u64>>>,
    /// Per handle: the locks that it shares with others, and those that it has alone, one bit each.
    held: BTreeMap<u64, (u32, u32)>,
}

// SAFETY: the cells are only ever handed out as pointers to SQLite, which orders its uses of the memory by the
// locks below and by barriers, exactly as it does with memory that is shared between processes.
unsafe impl Send for State {}

impl Shm {
    /// The address of a region, which is made when it is missing and `make` allows it. It stays valid for as
    /// long as the shared memory lives.
    pub(crate) fn region(
        &self,
        index: usize,
        bytes: usize,
        make: impl FnOnce() -> Result<bool, i32>,
    ) -> Result<*mut u64, i32> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.regions.len() <= index {
            if !make()? {
                return Ok(std::ptr::null_mut());
            }
            let words = bytes.div_ceil(size_of::<u64>());
            state.regions.resize_with(index + 1, || (0..words).map(|_| UnsafeCell::new(0)).collect());
        }
        Ok(state.regions[index].as_ptr().cast_mut().cast())
    }

    /// Takes locks for a handle, or says that another handle is in the way.
    pub(crate) fn lock(&self, handle: u64, mask: u32, alone: bool) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let in_the_way = state.held.iter().filter(|(other, _)| **other != handle).any(|(_, held)| {
            let (shared, single) = held;
            mask & (single | if alone { *shared } else { 0 }) != 0
        });
        if in_the_way {
            return false;
        }
        let held = state.held.entry(handle).or_default();
        if alone {
            held.1 |= mask;
        } else {
            held.0 |= mask;
        }
        true
    }

    /// Gives locks of a handle back.
    pub(crate) fn unlock(&self, handle: u64, mask: u32) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((shared, single)) = state.held.get_mut(&handle) {
            *shared &= !mask;
            *single &= !mask;
        }
    }

    /// Everything before this happens before everything after it, for all who call it.
    pub(crate) fn barrier(&self) {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        drop(self.0.lock());
    }

    /// Forgets a handle.
    pub(crate) fn leave(&self, handle: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).held.remove(&handle);
    }
}
