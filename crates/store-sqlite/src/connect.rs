//! Opening connections: one set of settings for all, read back where durability hangs on it.
//!
//! Promises: no connection leaves here that does not sync its commits, and a file of a newer schema is
//! refused before anything about it is changed.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_planted::{Bug, planted};
use holdpoint_store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use crate::{schema, tail};

/// How long a lock that some other program holds is waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// A WAL that grew because of a slow reader is cut back to this when it starts over.
const WAL_KEPT: u32 = 32 * 1024 * 1024;
/// The oldest SQLite that resets its WAL without a race.
const OLDEST: i32 = 3_051_003;
/// A release that was withdrawn.
const WITHDRAWN: i32 = 3_052_000;

/// Where the files of a store are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// Whether closing leaves the WAL as it is.
    pub(crate) short: bool,
    /// SQLite's way to files, if not its usual one.
    pub(crate) vfs: Option<String>,
    /// How long a statement waits for another program.
    pub(crate) patience: Duration,
}

impl Place {
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join("state.db")
    }

    pub(crate) fn wal(&self) -> PathBuf {
        self.dir.join("state.db-wal")
    }

    /// Creates the store, or brings it up to date, and gives the connection that will write.
    pub(crate) fn found(&self, turnstile: &Turnstile, existing: bool) -> Result<Connection, StoreError> {
        check_version(rusqlite::version_number())?;
        let _turn = turnstile.pass()?;
        if self.vfs.is_none() {
            // SQLite would let others read it; what it makes beside it has the same mode.
            private()
                .write(true)
                .open(self.file())
                .map_err(|error| StoreError::Io(format!("state.db: {error}")))?;
        }
        let mut conn = self.connect(OpenFlags::SQLITE_OPEN_CREATE)?;
        schema::refuse_other(&conn)?;
        if existing && schema::is_empty(&conn)? {
            let why = "state.db has no tables: it was copied without state.db-wal, or never used";
            return Err(StoreError::Corrupt(why.to_owned()));
        }
        set(&conn, "page_size", 4096)?;
        let mode = turn_wal_on(&conn).map_err(|error| failed(&error))?;
        if mode != "wal" {
            return Err(StoreError::Io(format!(
                "journal mode is {mode}, not wal: is the disk a network share?"
            )));
        }
        sync_always(&conn)?;
        if schema::prepare(&mut conn, &self.file())? {
            sync_folder(&self.dir)?;
            // From the first moment the file itself says that it needs its WAL.
            tail::move_all(&conn).map_err(|error| failed(&error))?;
        }
        set(&conn, "wal_autocheckpoint", 0)?;
        set(&conn, "journal_size_limit", WAL_KEPT)?;
        set(&conn, "cache_size", -16_384)?;
        Ok(conn)
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        let conn = self.connect(OpenFlags::empty())?;
        sync_always(&conn)?;
        set(&conn, "query_only", true)?;
        Ok(conn)
    }

    /// A connection that only moves the WAL into the file.
    pub(crate) fn checkpointer(&self) -> Result<Connection, StoreError> {
        let conn = self.connect(OpenFlags::empty())?;
        sync_always(&conn)?;
        Ok(conn)
    }

    fn connect(&self, more: OpenFlags) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let opened = match self.vfs.as_deref() {
            None => Connection::open_with_flags(self.file(), flags),
            Some(vfs) => Connection::open_with_flags_and_vfs(self.file(), flags, vfs),
        };
        let conn = opened.map_err(|error| failed(&error))?;
        // Else the last connection removes the WAL by its name, which may be the WAL of a home that replaced this one.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(|error| failed(&error))?;
        conn.busy_timeout(self.patience).map_err(|error| failed(&error))?;
        conn.set_prepared_statement_cache_capacity(256);
        set(&conn, "foreign_keys", false)?;
        set(&conn, "temp_store", 2)?;
        Ok(conn)
    }
}

/// For files that are made if they are missing, for their owner only.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.create(true).truncate(false).mode(0o600);
    options
}

/// The queue of writers of all processes. SQLite's own waiting sleeps and is unfair; this one does not.
pub(crate) struct Turnstile(File);

impl Turnstile {
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        let file = private().write(true).open(dir.join("turnstile"));
        file.map(Self).map_err(|error| StoreError::Io(format!("turnstile: {error}")))
    }

    /// Waits until it is our turn, which ends when the answer is dropped.
    pub(crate) fn pass(&self) -> Result<Turn<'_>, StoreError> {
        loop {
            match flock(&self.0, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Turn(&self.0)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(StoreError::Io(format!("turnstile: {error}"))),
            }
        }
    }

    /// Our turn, if nobody else has it now.
    pub(crate) fn try_pass(&self) -> Option<Turn<'_>> {
        flock(&self.0, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(Turn(&self.0))
    }
}

/// Our turn to write.
pub(crate) struct Turn<'a>(&'a File);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // The lock also ends with the file; an error here leaves nothing to do.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

/// What SQLite says, in the store's words.
pub(crate) fn failed(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            StoreError::Corrupt(error.to_string())
        }
        _ => StoreError::Io(error.to_string()),
    }
}

/// Answers the journal mode. SQLite answers before it changes the file: only the end of the statement tells
/// whether it did, and without a WAL a commit is not as durable.
fn turn_wal_on(conn: &Connection) -> rusqlite::Result<String> {
    let mut statement = conn.prepare("PRAGMA journal_mode=wal")?;
    let mut rows = statement.query([])?;
    let mut mode = String::new();
    while let Some(row) = rows.next()? {
        mode = row.get(0)?;
    }
    Ok(mode)
}

fn sync_always(conn: &Connection) -> Result<(), StoreError> {
    if planted(Bug::SkipFsync) {
        return set(conn, "synchronous", 0);
    }
    set(conn, "synchronous", 2)?;
    let level: i64 =
        conn.pragma_query_value(None, "synchronous", |row| row.get(0)).map_err(|error| failed(&error))?;
    if level == 2 { Ok(()) } else { Err(StoreError::Io(format!("synchronous is {level}, not 2"))) }
}

fn set(conn: &Connection, pragma: &str, value: impl rusqlite::ToSql) -> Result<(), StoreError> {
    conn.pragma_update(None, pragma, value).map_err(|error| failed(&error))
}

fn check_version(found: i32) -> Result<(), StoreError> {
    if found < OLDEST || found == WITHDRAWN {
        return Err(StoreError::Io(format!("SQLite {found} is not safe to write with; {OLDEST} is")));
    }
    Ok(())
}

/// Makes the names of new files durable.
fn sync_folder(dir: &Path) -> Result<(), StoreError> {
    let sync = |dir: &Path| File::open(dir).and_then(|dir| dir.sync_all());
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync(dir)
        .and_then(|()| parent.map_or(Ok(()), sync))
        .map_err(|error| StoreError::Io(format!("{}: {error}", dir.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_syncs_its_commits() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = Place { dir: dir.path().to_owned(), short: false, vfs: None, patience: PATIENCE };
        let turnstile = Turnstile::open(dir.path()).expect("a turnstile");
        let made = [place.found(&turnstile, false), place.reader(), place.checkpointer()];
        for conn in made {
            let conn = conn.expect("a connection");
            let level = conn.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0));
            assert_eq!(level, Ok(2));
        }
    }

    #[test]
    fn versions_that_can_lose_data_are_refused() {
        assert!(check_version(3_051_002).is_err());
        assert!(check_version(3_052_000).is_err());
        assert_eq!(check_version(3_051_003), Ok(()));
        assert_eq!(check_version(rusqlite::version_number()), Ok(()));
    }
}
