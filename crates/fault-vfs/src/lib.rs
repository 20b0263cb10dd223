//! A disk in memory for SQLite that can lose, tear, refuse and forge what it is given.
//!
//! Each [`FaultDisk`] is one folder behind a VFS of its own, which any number of connections of this process
//! may share, in WAL mode too. What is written is visible at once and durable only after a sync, as on a
//! real disk; [`FaultDisk::power_cut`] decides by a seed what becomes of everything in between.
//!
//! Invariant: what a sync reported as done survives every cut, unless the disk was told to lie.
//!
//! Invariant: a cut only touches bytes that were written since the last sync; their neighbours in a sector
//! are safe, as SQLite assumes of the disks that it is used on.

mod disk;
mod file;
mod numbers;
mod shm;
mod vfs;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::disk::Disk;

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk cannot do it. A write may have been done in part; what a failed sync should have made durable
    /// is durable or forgotten, and no later sync comes back to it.
    Eio,
    /// No room. Only operations that take room fail: the creation of a file, writes, and new shared memory.
    Full,
}

/// What stands on a disk: its files by name, as they read.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Image(BTreeMap<String, Vec<u8>>);

impl Image {
    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The bytes of a file; empty when there is none.
    pub fn bytes(&self, name: &str) -> &[u8] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, bytes)| (name, bytes.len()))).finish()
    }
}

/// A simulated disk, registered with SQLite for as long as it lives.
pub struct FaultDisk {
    disk: Arc<Shared>,
    name: String,
}

/// The disk as its owner and all open files hold it.
#[derive(Default)]
pub(crate) struct Shared(Mutex<Disk>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultDisk {
    /// An empty disk. The seed decides in how far failing operations are carried out.
    pub fn new(seed: u64) -> Self {
        Self::holding(seed, &Image::default())
    }

    /// A disk on which an image is durable.
    pub fn holding(seed: u64, image: &Image) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("holdpoint-fault-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let disk = Arc::new(Shared(Mutex::new(Disk::holding(seed, &image.0))));
        vfs::register(&c_name(&name), &disk);
        Self { disk, name }
    }

    /// The name under which SQLite knows the disk. It has one folder: only the last part of a path counts.
    pub fn vfs_name(&self) -> &str {
        &self.name
    }

    /// Opens a file of the disk, creating it when it is missing.
    pub fn connect(&self, file: &str) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags_and_vfs(file, flags, self.name.as_str())
    }

    /// How many operations there were: everything that a real disk might refuse.
    pub fn ops(&self) -> u64 {
        self.disk.lock().ops()
    }

    /// Fails one operation: the `n`-th from now, the next one being the first.
    pub fn fail_at(&self, n: u64, fault: Fault) {
        self.disk.lock().plan(n, fault, false);
    }

    /// Fails the `n`-th operation from now and all after it, until [`FaultDisk::clear`].
    pub fn fail_from(&self, n: u64, fault: Fault) {
        self.disk.lock().plan(n, fault, true);
    }

    /// Ends the power with the `n`-th operation from now. Nothing works any more, until
    /// [`FaultDisk::power_cut`] has decided what is left.
    pub fn cut_at(&self, n: u64) {
        self.disk.lock().cut_at(n);
    }

    /// Ends the power instead of the `n`-th sync from now, when there is most to lose.
    pub fn cut_at_sync(&self, n: u64) {
        self.disk.lock().cut_at_sync(n);
    }

    /// Takes planned faults and a planned cut back.
    pub fn clear(&self) {
        self.disk.lock().clear();
    }

    /// Whether a planned fault or cut has happened since it was planned.
    pub fn struck(&self) -> bool {
        self.struck_at().is_some()
    }

    /// The number of the operation at which it happened first, as [`FaultDisk::ops`] counts.
    pub fn struck_at(&self) -> Option<u64> {
        self.disk.lock().struck()
    }

    /// Makes every sync report success and do nothing: a check of the tests that use the disk.
    pub fn lying_sync(&self, lies: bool) {
        self.disk.lock().lie(lies);
    }

    /// Ends the power, unless it has ended, and turns it on again. Of everything that was not synced, each
    /// write, truncation and change of names is kept, lost or torn on its own account, as the seed will have
    /// it. Files that are still open answer with errors from now on.
    pub fn power_cut(&self, seed: u64) {
        self.disk.lock().power_cut(seed);
    }

    /// Changes bits of one byte, also of what is durable. Says whether there is such a byte.
    pub fn flip(&self, file: &str, offset: u64, bits: u8) -> bool {
        self.disk.lock().flip(file, offset, bits)
    }

    /// What stands on the disk now, synced or not.
    pub fn snapshot(&self) -> Image {
        Image(self.disk.lock().image())
    }
}

impl Drop for FaultDisk {
    fn drop(&mut self) {
        vfs::unregister(&c_name(&self.name));
        *self.disk.lock() = Disk::default();
    }
}

fn c_name(name: &str) -> CString {
    CString::new(name).expect("names of disks have no zero byte")
}
