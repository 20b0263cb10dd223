//! What SQLite itself does on a disk: the yardsticks that this store is measured by.
//!
//! The same library and the same settings, without anything of ours around them.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use holdpoint_store::StoreError;

/// The bytes of one bare row: about what one step of a run stores.
const ROW: usize = 250;

/// The times of commits of one row into a table without an index, WAL and FULL.
pub fn commits(file: &Path, count: usize) -> Result<Vec<Duration>, StoreError> {
    let mut db =
        open(file, "CREATE TABLE bare(seq INTEGER PRIMARY KEY, bytes BLOB)").map_err(|cause| io(&cause))?;
    let row = vec![b'x'; ROW];
    // The first commits stretch the log file; afterwards it is overwritten in place.
    for _ in 0..count / 4 {
        one(&mut db, &row).map_err(|cause| io(&cause))?;
    }
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        one(&mut db, &row).map_err(|cause| io(&cause))?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn one(db: &mut Connection, row: &[u8]) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO bare(bytes) VALUES (?)")?.execute([row]).map(drop)
}

/// The times of commits of `rows` rows each into a log with a unique index over stream and version.
pub fn groups(file: &Path, count: usize, rows: u32) -> Result<Vec<Duration>, StoreError> {
    let mut db = open(
        file,
        "CREATE TABLE log(seq INTEGER PRIMARY KEY, stream INT, version INT, bytes BLOB);
         CREATE UNIQUE INDEX log_stream ON log(stream, version)",
    )
    .map_err(|cause| io(&cause))?;
    let row = vec![b'x'; ROW];
    let mut times = Vec::with_capacity(count);
    let warm = count / 4;
    for version in 0..warm {
        group(&mut db, version, rows, &row).map_err(|cause| io(&cause))?;
    }
    for version in warm..warm + count {
        let start = Instant::now();
        group(&mut db, version, rows, &row).map_err(|cause| io(&cause))?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn group(db: &mut Connection, version: usize, rows: u32, row: &[u8]) -> rusqlite::Result<()> {
    let commit = db.transaction()?;
    {
        let mut insert = commit.prepare_cached("INSERT INTO log(stream, version, bytes) VALUES (?, ?, ?)")?;
        for stream in 0..rows {
            insert.execute(params![stream, version as i64, row])?;
        }
    }
    commit.commit()
}

fn open(file: &Path, schema: &str) -> rusqlite::Result<Connection> {
    let db = Connection::open(file)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(schema)?;
    Ok(db)
}

fn io(cause: &rusqlite::Error) -> StoreError {
    StoreError::Io(cause.to_string())
}
