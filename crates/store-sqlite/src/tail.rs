//! Whether `state.db` has everything by itself.
//!
//! The newest commits are in `state.db-wal` until they are moved, so a copy of `state.db` alone lacks them and reads as
//! an older log that is whole. A row in the file says whether it needs the WAL: a process that closes it in good order
//! moves everything and sets the row, and the next commit of any process takes it back. Where the row says that the WAL
//! is needed and there is none, the end of the log is missing.

use std::path::Path;

use holdpoint_store::StoreError;
use rusqlite::{Connection, OptionalExtension as _};

use crate::connect::failed;

/// The file that keeps in mind that the end is missing: opening the database makes a WAL, which was the only sign.
const INCOMPLETE: &str = "incomplete";

/// Whether the end is missing, by what was found now or earlier.
pub(crate) fn is_known_to_lack(dir: &Path, found: bool) -> bool {
    let mark = dir.join(INCOMPLETE);
    if found && let Err(error) = std::fs::write(&mark, "state.db was copied without state.db-wal\n") {
        tracing::warn!(%error, "that the end of the log is missing cannot be kept in mind");
    }
    found || mark.exists()
}

/// Sets the row. It counts once it is in the file itself.
pub(crate) fn set_whole(conn: &Connection, whole: bool) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO meta VALUES('whole', ?)")?.execute([whole]).map(drop)
}

/// Whether the file says that it has everything; none: it was made before there was such a row.
pub(crate) fn is_whole(conn: &Connection) -> rusqlite::Result<Option<bool>> {
    conn.prepare_cached("SELECT value FROM meta WHERE name = 'whole'")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Moves the whole WAL into the file, unless somebody reads from it.
pub(crate) fn move_all(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Moves what can be moved at once, and says how many pages the WAL has and how many of them are moved. A reader that
/// began before the last commit keeps that one in the WAL.
pub(crate) fn move_some(conn: &Connection) -> rusqlite::Result<(i64, i64)> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get(1)?, row.get(2)?)))
}

/// Copies a database into a file that has everything by itself.
pub(crate) fn copy(conn: &Connection, file: &Path) -> Result<(), StoreError> {
    let name = file.to_str().ok_or_else(|| StoreError::Io("the path is not UTF-8".to_owned()))?;
    let copied = conn.execute("VACUUM INTO ?", [name]).and_then(|_| {
        let copy = Connection::open(file)?;
        set_whole(&copy, true)?;
        copy.close().map_err(|(_, error)| error)
    });
    copied.map_err(|error| failed(&error))
}
