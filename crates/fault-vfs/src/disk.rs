//! The disk: names, files, and the faults that are planned for them.
//!
//! Everything that a real disk might refuse passes [`Disk::gate`], which counts it and says how it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::ffi;

use crate::Fault;
use crate::file::{File, Mood};
use crate::numbers::Numbers;
use crate::shm::Shm;

/// A code of SQLite.
pub(crate) type Code = i32;

/// The levels of a file's lock, in SQLite's order.
const SHARED: i32 = ffi::SQLITE_LOCK_SHARED;
const RESERVED: i32 = ffi::SQLITE_LOCK_RESERVED;
const PENDING: i32 = ffi::SQLITE_LOCK_PENDING;
const EXCLUSIVE: i32 = ffi::SQLITE_LOCK_EXCLUSIVE;

/// An open file, as SQLite's handles name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The handle.
    pub(crate) handle: u64,
    file: u64,
    life: u64,
}

/// A change of names that is not synced.
#[derive(Clone, Debug)]
enum NameChange {
    Create(String, u64),
    Delete(String),
}

/// What is planned to go wrong.
#[derive(Clone, Copy, Debug)]
struct Plan {
    at: u64,
    fault: Fault,
    lasting: bool,
}

/// How an operation ends that does not go well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// The power ends with it.
    Cut,
    /// The power has ended, or the file is of a time before a cut.
    Dead,
    Eio,
    Full,
}

/// A disk with one folder.
#[derive(Default)]
pub(crate) struct Disk {
    files: BTreeMap<u64, File>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    unsynced: Vec<NameChange>,
    numbers: Numbers,
    /// The last number given to a file or a handle.
    last: u64,
    /// How often the power came back.
    life: u64,
    dark: bool,
    ops: u64,
    plan: Option<Plan>,
    cut_at: Option<u64>,
    /// So many more syncs until a cut.
    cut_at_sync: Option<u64>,
    struck: Option<u64>,
    lies: bool,
}

impl Disk {
    pub(crate) fn holding(seed: u64, image: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut disk = Self { numbers: Numbers(seed), ..Self::default() };
        for (name, bytes) in image {
            let file = disk.number();
            disk.files.insert(file, File::holding(bytes.clone()));
            disk.names.insert(name.clone(), file);
        }
        disk.durable_names = disk.names.clone();
        disk
    }

    pub(crate) fn image(&self) -> BTreeMap<String, Vec<u8>> {
        let bytes = |file| self.files.get(file).map(|file| file.bytes().to_vec()).unwrap_or_default();
        self.names.iter().map(|(name, file)| (name.clone(), bytes(file))).collect()
    }

    pub(crate) fn ops(&self) -> u64 {
        self.ops
    }

    pub(crate) fn plan(&mut self, n: u64, fault: Fault, lasting: bool) {
        self.struck = None;
        self.plan = Some(Plan { at: self.ops + n, fault, lasting });
    }

    pub(crate) fn cut_at(&mut self, n: u64) {
        self.struck = None;
        self.cut_at = Some(self.ops + n);
    }

    pub(crate) fn cut_at_sync(&mut self, n: u64) {
        self.struck = None;
        self.cut_at_sync = Some(n);
    }

    pub(crate) fn clear(&mut self) {
        self.plan = None;
        self.cut_at = None;
        self.cut_at_sync = None;
    }

    pub(crate) fn struck(&self) -> Option<u64> {
        self.struck
    }

    pub(crate) fn lie(&mut self, lies: bool) {
        self.lies = lies;
    }

    pub(crate) fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    pub(crate) fn flip(&mut self, name: &str, offset: u64, bits: u8) -> bool {
        let file = self.names.get(name).and_then(|file| self.files.get_mut(file));
        file.is_some_and(|file| file.flip(offset as usize, bits))
    }

    pub(crate) fn power_cut(&mut self, seed: u64) {
        let mut numbers = Numbers(seed);
        let mood = Mood::of(&mut numbers);
        let mut names = std::mem::take(&mut self.durable_names);
        let reached = numbers.below(self.unsynced.len() as u64 + 1) as usize;
        for (at, change) in self.unsynced.drain(..).enumerate() {
            let kept = match mood {
                Mood::Lost => false,
                Mood::Kept => true,
                Mood::InOrder => at < reached,
                Mood::AnyOrder => numbers.below(2) == 0,
            };
            if kept {
                change.apply(&mut names);
            }
        }
        let left: BTreeSet<u64> = names.values().copied().collect();
        let files = std::mem::take(&mut self.files).into_iter().filter(|(number, _)| left.contains(number));
        self.files = files.map(|(number, file)| (number, file.after_cut(mood, &mut numbers))).collect();
        self.names.clone_from(&names);
        self.durable_names = names;
        self.life += 1;
        self.dark = false;
        self.clear();
    }

    /// Opens a file; without a name, one that no name leads to.
    pub(crate) fn open(&mut self, name: Option<&str>, flags: i32) -> Result<Key, Code> {
        let known = name.and_then(|name| self.names.get(name).copied());
        let create = flags & ffi::SQLITE_OPEN_CREATE != 0;
        let trouble = self.gate(known.is_none() && create).err();
        let cut = trouble == Some(Trouble::Cut);
        let file = match known {
            Some(_) if create && flags & ffi::SQLITE_OPEN_EXCLUSIVE != 0 => {
                return Err(ffi::SQLITE_CANTOPEN);
            }
            Some(file) => file,
            None if create && (trouble.is_none() || cut) => self.create(name),
            None => return Err(ffi::SQLITE_CANTOPEN),
        };
        if trouble.is_some() {
            return Err(ffi::SQLITE_CANTOPEN);
        }
        Ok(Key { handle: self.number(), file, life: self.life })
    }

    fn create(&mut self, name: Option<&str>) -> u64 {
        let file = self.number();
        self.files.insert(file, File::default());
        if let Some(name) = name {
            self.names.insert(name.to_owned(), file);
            self.unsynced.push(NameChange::Create(name.to_owned(), file));
        }
        file
    }

    pub(crate) fn close(&mut self, key: Key) {
        if let Ok(file) = self.file(key) {
            file.locks.remove(&key.handle);
        }
    }

    /// Removes a name; open handles keep the file.
    pub(crate) fn delete(&mut self, name: &str, sync: bool) -> Result<(), Code> {
        let trouble = self.gate(false).err();
        if matches!(trouble, Some(Trouble::Dead | Trouble::Eio | Trouble::Full)) {
            return Err(ffi::SQLITE_IOERR_DELETE);
        }
        if self.names.remove(name).is_none() {
            return Err(ffi::SQLITE_IOERR_DELETE_NOENT);
        }
        self.unsynced.push(NameChange::Delete(name.to_owned()));
        if trouble.is_some() {
            return Err(ffi::SQLITE_IOERR_DELETE);
        }
        if sync {
            // A sync of the folder is an operation of its own.
            self.gate(false).map_err(|_| ffi::SQLITE_IOERR_DIR_FSYNC)?;
            self.sync_names();
        }
        Ok(())
    }

    /// The length of the file of this name.
    pub(crate) fn length(&self, name: &str) -> Option<usize> {
        let file = self.names.get(name).and_then(|file| self.files.get(file))?;
        Some(file.bytes().len())
    }

    /// Fills a buffer with what stands at an offset, and with zeros where nothing does.
    pub(crate) fn read(&mut self, key: Key, to: &mut [u8], offset: usize) -> Result<(), Code> {
        self.gate_for(key, false).map_err(|_| ffi::SQLITE_IOERR_READ)?;
        let bytes = self.file(key)?.bytes();
        let from = bytes.get(offset..).unwrap_or_default();
        let length = from.len().min(to.len());
        to[..length].copy_from_slice(&from[..length]);
        to[length..].fill(0);
        if length < to.len() { Err(ffi::SQLITE_IOERR_SHORT_READ) } else { Ok(()) }
    }

    pub(crate) fn write(&mut self, key: Key, bytes: &[u8], offset: usize) -> Result<(), Code> {
        let trouble = self.gate_for(key, true).err();
        let done = match trouble {
            None | Some(Trouble::Cut) => bytes.len(),
            Some(Trouble::Dead) => return Err(ffi::SQLITE_IOERR_WRITE),
            Some(Trouble::Eio | Trouble::Full) => self.numbers.below(bytes.len() as u64) as usize,
        };
        if done > 0 {
            self.file(key)?.write(offset, &bytes[..done]);
        }
        match trouble {
            None => Ok(()),
            Some(Trouble::Full) => Err(ffi::SQLITE_FULL),
            Some(_) => Err(ffi::SQLITE_IOERR_WRITE),
        }
    }

    pub(crate) fn truncate(&mut self, key: Key, length: usize) -> Result<(), Code> {
        let trouble = self.gate_for(key, false).err();
        if matches!(trouble, None | Some(Trouble::Cut)) {
            self.file(key)?.truncate(length);
        }
        trouble.map_or(Ok(()), |_| Err(ffi::SQLITE_IOERR_TRUNCATE))
    }

    /// Syncs a file, and then its name when `names` asks for it, as SQLite does for a journal that is new.
    pub(crate) fn sync(&mut self, key: Key, names: bool) -> Result<(), Code> {
        self.cut_at_sync = self.cut_at_sync.map(|left| left.saturating_sub(1));
        if self.cut_at_sync == Some(0) {
            self.cut_at = Some(self.ops + 1);
        }
        match self.gate_for(key, false) {
            Ok(()) => {}
            Err(Trouble::Eio) => {
                let mut numbers = std::mem::take(&mut self.numbers);
                self.file(key)?.fail_sync(&mut numbers);
                self.numbers = numbers;
                return Err(ffi::SQLITE_IOERR_FSYNC);
            }
            Err(_) => return Err(ffi::SQLITE_IOERR_FSYNC),
        }
        if !self.lies {
            self.file(key)?.sync();
        }
        if names {
            self.gate(false).map_err(|_| ffi::SQLITE_IOERR_DIR_FSYNC)?;
            self.sync_names();
        }
        Ok(())
    }

    pub(crate) fn size(&mut self, key: Key) -> Result<usize, Code> {
        self.gate_for(key, false).map_err(|_| ffi::SQLITE_IOERR_FSTAT)?;
        Ok(self.file(key)?.bytes().len())
    }

    /// Raises a handle's lock.
    pub(crate) fn lock(&mut self, key: Key, level: i32) -> Result<(), Code> {
        if self.dark {
            return Err(ffi::SQLITE_IOERR_LOCK);
        }
        let locks = &mut self.file(key)?.locks;
        let own = locks.get(&key.handle).copied().unwrap_or(0);
        if own >= level {
            return Ok(());
        }
        let others = locks.iter().filter(|(handle, _)| **handle != key.handle).map(|(_, level)| *level);
        let highest = others.max().unwrap_or(0);
        let (reached, answer) = match level {
            SHARED if highest >= PENDING => (own, Err(ffi::SQLITE_BUSY)),
            RESERVED if highest >= RESERVED => (own, Err(ffi::SQLITE_BUSY)),
            SHARED | RESERVED => (level, Ok(())),
            _ if highest >= RESERVED => (own, Err(ffi::SQLITE_BUSY)),
            // A writer that waits for readers keeps new ones out.
            _ if highest >= SHARED => (PENDING, Err(ffi::SQLITE_BUSY)),
            _ => (EXCLUSIVE, Ok(())),
        };
        locks.insert(key.handle, reached);
        answer
    }

    /// Lowers a handle's lock.
    pub(crate) fn unlock(&mut self, key: Key, level: i32) {
        if let Ok(file) = self.file(key)
            && let Some(held) = file.locks.get_mut(&key.handle)
        {
            *held = level.min(*held);
        }
    }

    /// Whether any handle has said that it will write.
    pub(crate) fn reserved(&mut self, key: Key) -> Result<bool, Code> {
        Ok(self.file(key)?.locks.values().any(|level| *level >= RESERVED))
    }

    /// The shared memory of a file.
    pub(crate) fn shm(&mut self, key: Key) -> Result<Arc<Shm>, Code> {
        if self.dark {
            return Err(ffi::SQLITE_IOERR_SHMMAP);
        }
        let file = self.file(key)?;
        let shm = file.shm.upgrade().unwrap_or_default();
        file.shm = Arc::downgrade(&shm);
        Ok(shm)
    }

    /// Asks whether shared memory may grow.
    pub(crate) fn grow_shm(&mut self, key: Key) -> Result<(), Code> {
        self.gate_for(key, true).map_err(|_| ffi::SQLITE_IOERR_SHMSIZE)
    }

    /// Whether locks on shared memory can still be taken.
    pub(crate) fn is_alive(&self, key: Key) -> bool {
        !self.dark && key.life == self.life
    }

    fn sync_names(&mut self) {
        if !self.lies {
            for change in self.unsynced.drain(..) {
                change.apply(&mut self.durable_names);
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn file(&mut self, key: Key) -> Result<&mut File, Code> {
        let alive = key.life == self.life;
        self.files.get_mut(&key.file).filter(|_| alive).ok_or(ffi::SQLITE_IOERR)
    }

    fn gate_for(&mut self, key: Key, takes_room: bool) -> Result<(), Trouble> {
        if key.life == self.life { self.gate(takes_room) } else { Err(Trouble::Dead) }
    }

    fn gate(&mut self, takes_room: bool) -> Result<(), Trouble> {
        if self.dark {
            return Err(Trouble::Dead);
        }
        self.ops += 1;
        if self.cut_at == Some(self.ops) {
            self.dark = true;
            self.struck.get_or_insert(self.ops);
            return Err(Trouble::Cut);
        }
        let planned = self.plan.filter(|plan| self.ops == plan.at || plan.lasting && self.ops > plan.at);
        let trouble = match planned.map(|plan| plan.fault) {
            Some(Fault::Eio) => Trouble::Eio,
            Some(Fault::Full) if takes_room => Trouble::Full,
            _ => return Ok(()),
        };
        self.struck.get_or_insert(self.ops);
        Err(trouble)
    }
}

impl NameChange {
    fn apply(self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Create(name, file) => names.insert(name, file),
            Self::Delete(name) => names.remove(&name),
        };
    }
}
