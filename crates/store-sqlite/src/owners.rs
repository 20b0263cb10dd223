//! Who is alive among the handles that share a home.
//!
//! Every handle that holds work keeps a lock on a file of its own for as long as it lives: a lock that is
//! free means that its work can be taken over at once. A process that is stopped keeps its lock, so its
//! heartbeat counts too, in time since boot, which no change of the wall clock moves.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_store::OwnerId;
use rusqlite::{Connection, Error, OptionalExtension as _, params};
use rustix::fs::{FlockOperation, flock};
use rustix::time::{ClockId, clock_gettime};

/// Tells which owners of a home are alive.
#[derive(Clone)]
pub(crate) struct Witness {
    boot: String,
    lease: Duration,
    dir: PathBuf,
}

impl Witness {
    fn new(dir: &Path, lease: Duration) -> Self {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self { boot: boot.trim().to_owned(), lease, dir: dir.join("owners") }
    }

    /// Whether an owner's leases hold against a claim.
    pub(crate) fn lives(&self, conn: &Connection, other: i64) -> rusqlite::Result<bool> {
        let known = conn
            .prepare_cached("SELECT boot, beat FROM owners WHERE id=?")?
            .query_row([other], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        let lease = i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX);
        Ok(known.is_some_and(|(boot, beat)| {
            boot == self.boot && since_boot().saturating_sub(beat) <= lease && !self.lock_is_free(other)
        }))
    }

    /// Whether no process holds an owner's lock. Closing the file ends the try.
    fn lock_is_free(&self, other: i64) -> bool {
        match File::options().write(true).open(self.lock_path(other)) {
            Ok(file) => flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    fn lock_path(&self, id: i64) -> PathBuf {
        self.dir.join(format!("{:016x}.lock", id as u64))
    }
}

/// This handle as an owner of work.
pub(crate) struct Owner {
    pub(crate) id: OwnerId,
    pub(crate) witness: Witness,
    lock: Option<File>,
    registered: bool,
}

impl Owner {
    /// An owner that nobody knows of yet.
    pub(crate) fn new(dir: &Path, lease: Duration) -> Self {
        Self { id: OwnerId(random()), witness: Witness::new(dir, lease), lock: None, registered: false }
    }

    /// The number under which the owner stands in tables.
    pub(crate) fn number(&self) -> i64 {
        self.id.0 as i64
    }

    /// Locks the owner's file and enters it in the table, unless both was done before.
    pub(crate) fn register(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if self.registered {
            return Ok(());
        }
        if self.lock.is_none() {
            self.lock = Some(self.hold_lock().map_err(|error| Error::ToSqlConversionFailure(error.into()))?);
            self.forget_the_dead(conn)?;
        }
        self.beat(conn)
    }

    /// Says that the owner is alive.
    pub(crate) fn beat(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if self.lock.is_none() {
            return self.register(conn);
        }
        conn.prepare_cached("INSERT OR REPLACE INTO owners VALUES(?, ?, ?)")?.execute(params![
            self.number(),
            self.witness.boot,
            since_boot()
        ])?;
        self.registered = true;
        Ok(())
    }

    /// What was written is taken back.
    pub(crate) fn rolled_back(&mut self) {
        self.registered = false;
    }

    fn hold_lock(&self) -> std::io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.witness.dir)?;
        let file = File::options()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(self.witness.lock_path(self.number()))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    /// Removes owners that ended without cleaning up; an unknown owner counts as dead.
    fn forget_the_dead(&self, conn: &Connection) -> rusqlite::Result<()> {
        let mut statement = conn.prepare_cached("SELECT id FROM owners")?;
        let ids: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for id in ids.into_iter().filter(|id| *id != self.number() && self.witness.lock_is_free(*id)) {
            conn.prepare_cached("DELETE FROM owners WHERE id=?")?.execute([id])?;
            let _ = std::fs::remove_file(self.witness.lock_path(id));
        }
        Ok(())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // Removed while still locked, so that nobody can find it free and in use by turns.
            let _ = std::fs::remove_file(self.witness.lock_path(self.number()));
        }
    }
}

/// Answers of [`Witness::lives`] within one claim.
#[derive(Default)]
pub(crate) struct Living(HashMap<i64, bool>);

impl Living {
    pub(crate) fn knows(&mut self, conn: &Connection, owner: &Owner, other: i64) -> rusqlite::Result<bool> {
        if let Some(lives) = self.0.get(&other) {
            return Ok(*lives);
        }
        let lives = owner.witness.lives(conn, other)?;
        self.0.insert(other, lives);
        Ok(lives)
    }
}

/// Milliseconds since boot, with time asleep.
fn since_boot() -> i64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec * 1_000 + now.tv_nsec / 1_000_000
}

/// Every new hasher has a key of its own; the process id and the time guard against a poor source.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_i64(clock_gettime(ClockId::Boottime).tv_nsec);
    hasher.finish()
}
