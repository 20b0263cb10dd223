//! The disk: what survives a crash, the clock that leases are measured by, and who is alive.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdpoint_core::{Digest, Seq, StreamId, Timestamp, Version};
use tokio::sync::watch;

use super::fault::{Fault, FaultHook, Step};
use super::files::Files;
use super::log::MemoryLog;
use super::work::Work;
use crate::{OwnerId, Picture, Row, SavedFold, StoreError, UsedKey};

/// How long a heartbeat keeps an owner alive, unless [`MemoryDisk::set_lease`] says otherwise.
pub const LEASE_MS: u64 = 30_000;

/// A home in memory that survives the simulated crashes of the processes that use it.
#[derive(Clone)]
pub struct MemoryDisk {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    hook: Mutex<Option<FaultHook>>,
    pub(super) head: watch::Sender<Seq>,
    /// How often the log was read.
    pub(super) reads: AtomicU64,
    /// How many rows of the log and of tables were handed out.
    pub(super) rows_read: AtomicU64,
}

/// Everything that is on the disk, and who uses it.
#[derive(Default)]
pub(super) struct State {
    pub(super) rows: Vec<Row>,
    pub(super) streams: BTreeMap<StreamId, Stream>,
    /// The streams in the order in which they began.
    pub(super) began: Vec<StreamId>,
    pub(super) keys: BTreeMap<Digest, UsedKey>,
    pub(super) folds: BTreeMap<StreamId, SavedFold>,
    pub(super) small: BTreeMap<Digest, Small>,
    pub(super) tables: Picture,
    pub(super) work: Work,
    pub(super) files: Files,
    /// Wall time: what files are stamped with.
    pub(super) wall: Timestamp,
    /// Whether syncs only pretend.
    pub(super) lying_sync: bool,
}

/// A small blob in the database.
pub(super) struct Small {
    pub(super) bytes: Arc<[u8]>,
    /// When an append last carried it.
    pub(super) at: Timestamp,
}

/// Where one stream stands.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) version: Version,
    /// Its rows, as places in [`State::rows`].
    pub(super) rows: Vec<usize>,
}

impl Default for MemoryDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryDisk {
    /// An empty home.
    pub fn new() -> Self {
        let (head, _) = watch::channel(Seq(0));
        let (state, hook) = (Mutex::default(), Mutex::default());
        let (reads, rows_read) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { shared: Arc::new(Shared { state, hook, head, reads, rows_read }) }
    }

    /// Starts a process on this home. It is an owner of its own and dies when it is dropped with its blobs.
    pub fn open(&self) -> MemoryLog {
        let owner = self.state().work.enter();
        MemoryLog::new(Process { shared: Arc::clone(&self.shared), owner })
    }

    /// Lets time pass, for leases and for the stamps of files.
    pub fn advance(&self, ms: u64) {
        let mut state = self.state();
        state.work.clock_ms = state.work.clock_ms.saturating_add(ms);
        state.wall = state.wall.plus_micros(ms.saturating_mul(1_000));
    }

    /// How often the log was read, by all processes.
    pub fn reads(&self) -> u64 {
        self.shared.reads.load(Ordering::Relaxed)
    }

    /// How many rows of the log and of tables were handed out, to all processes.
    pub fn rows_read(&self) -> u64 {
        self.shared.rows_read.load(Ordering::Relaxed)
    }

    /// Sets the wall clock, which leases do not follow.
    pub fn set_wall(&self, now: Timestamp) {
        self.state().wall = now;
    }

    /// Sets how long a heartbeat keeps an owner alive.
    pub fn set_lease(&self, ms: u64) {
        self.state().work.lease_ms = ms;
    }

    /// Plants faults, or ends them. The hook is asked at every [`Step`] and must not call the disk.
    pub fn set_fault(&self, hook: Option<FaultHook>) {
        *self.shared.hook.lock().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// Seeds the choice of what a power cut loses.
    pub fn set_seed(&self, seed: u64) {
        self.state().files.seed(seed);
    }

    /// Makes syncs of blob files only pretend, to prove that a test would notice.
    pub fn set_lying_sync(&self, lies: bool) {
        self.state().lying_sync = lies;
    }

    /// Ends all processes and loses or tears, by the seed, what was not synced.
    pub fn power_cut(&self) {
        self.state().power_cut();
    }

    /// Flips one bit of a large blob; answers whether there is one.
    pub fn damage_blob(&self, digest: Digest) -> bool {
        self.state().files.damage(digest)
    }

    /// Flips one bit of the events of a row; answers whether there is one that ends after a version.
    pub fn damage_row(&self, stream: StreamId, after: Version, bit: usize) -> bool {
        let mut state = self.state();
        let Some(row) = state.rows.iter_mut().find(|row| row.stream == stream && row.last() > after) else {
            return false;
        };
        let at = (bit / 8) % row.bytes.len().max(1);
        row.bytes[at] ^= 1 << (bit % 8);
        true
    }

    /// Makes a large blob look as if it was last put at a time; answers whether there is one.
    pub fn stamp_blob(&self, digest: Digest, at: Timestamp) -> bool {
        let mut state = self.state();
        let file = state.files.named.get_mut(&digest);
        file.map(|file| file.at = at).is_some()
    }

    /// The position of the last durable event.
    pub fn head(&self) -> Seq {
        *self.shared.head.borrow()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, step: Step) -> Fault {
        let mut hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        hook.as_mut().map_or(Fault::None, |hook| hook(step))
    }
}

impl State {
    fn power_cut(&mut self) {
        self.work.end_all();
        self.files.lose_unsynced();
    }
}

/// One simulated process: dead once it is dropped, crashed, or has met a fault that ends it.
pub(super) struct Process {
    pub(super) shared: Arc<Shared>,
    pub(super) owner: OwnerId,
}

impl Process {
    /// The disk, if this process still runs.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.shared.state();
        if state.work.runs(self.owner) { Ok(state) } else { Err(StoreError::Closed) }
    }

    /// Ends this process.
    pub(super) fn end(&self) {
        self.shared.state().work.end(self.owner);
    }

    /// Meets the fault that is planted at a step, if any.
    pub(super) fn meet(&self, step: Step) -> Result<(), StoreError> {
        match self.shared.ask(step) {
            Fault::None => Ok(()),
            Fault::Error => Err(StoreError::Io(format!("a planted fault at {step:?}"))),
            Fault::Crash => {
                self.end();
                Err(StoreError::Closed)
            }
            Fault::PowerCut => {
                self.shared.state().power_cut();
                Err(StoreError::Closed)
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
