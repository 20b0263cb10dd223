//! How a database is: whether it is whole, how it is set up, what it holds, and who holds its work.
//!
//! Everything here only reads, so that it can be asked of a home that others work on.

use std::path::Path;

use holdpoint_core::Timestamp;
use holdpoint_store::OwnerId;
use rusqlite::Connection;

use crate::log::Options;
use crate::owners::Owner;
use crate::schema::SCHEMA;

/// How many faults are told.
const MAX_FAULTS: u32 = 100;

/// A database, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity {
    /// What SQLite's own check found; empty when nothing is wrong.
    pub faults: Vec<String>,
    /// The version of SQLite that is built in.
    pub sqlite: &'static str,
    /// The schema of the file.
    pub schema: u32,
    /// The newest schema that this program knows.
    pub newest_schema: u32,
    /// How SQLite keeps its journal; `wal` is right.
    pub journal: String,
    /// Whether commits are synced: 2 (full) is right.
    pub synchronous: u32,
    /// The bytes of a page.
    pub page_bytes: u64,
    /// Pages of the file.
    pub pages: u64,
    /// Pages among them that are free.
    pub free_pages: u64,
    /// The bytes of the WAL beside the file.
    pub wal_bytes: u64,
    /// Rows of the log.
    pub rows: u64,
    /// Streams that have a number.
    pub streams: u64,
    /// Blobs that stand in the database.
    pub blobs: u64,
    /// Their bytes, as they are stored.
    pub blob_bytes: u64,
}

/// One holder of runs with work due, or nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Who; `None`: nobody holds these runs.
    pub owner: Option<OwnerId>,
    /// Whether the owner lives, so that its runs are not free to take.
    pub lives: bool,
    /// How many runs.
    pub runs: u64,
    /// When the first of them wants attention.
    pub first_due: Timestamp,
}

/// Checks the file, with its indexes against their tables, and counts what is in it.
pub(crate) fn look(conn: &Connection, wal: &Path) -> rusqlite::Result<Integrity> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(Integrity {
        faults: faults(conn)?,
        sqlite: rusqlite::version(),
        schema: number("user_version")? as u32,
        newest_schema: SCHEMA,
        journal: conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?,
        synchronous: number("synchronous")? as u32,
        page_bytes: number("page_size")? as u64,
        pages: number("page_count")? as u64,
        free_pages: number("freelist_count")? as u64,
        wal_bytes: std::fs::metadata(wal).map_or(0, |file| file.len()),
        rows: count("SELECT count(*) FROM log")? as u64,
        streams: count("SELECT count(*) FROM stream")? as u64,
        blobs: count("SELECT count(*) FROM blobs")? as u64,
        blob_bytes: count("SELECT coalesce(sum(length(bytes)), 0) FROM blobs")? as u64,
    })
}

fn faults(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut found: Vec<String> = lines.collect::<Result<_, _>>()?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// Who holds the runs that have work due, those that nobody holds first.
pub(crate) fn holders(conn: &Connection, dir: &Path) -> rusqlite::Result<Vec<Holder>> {
    let me = Owner::new(dir, Options::default().lease);
    let mut statement = conn.prepare_cached(
        "SELECT owner, count(*), min(due) FROM work WHERE due IS NOT NULL GROUP BY owner ORDER BY owner",
    )?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let owner: Option<i64> = row.get(0)?;
        let lives = owner.map_or(Ok(false), |owner| me.witness.lives(conn, owner))?;
        found.push(Holder {
            owner: owner.map(|owner| OwnerId(owner as u64)),
            lives,
            runs: row.get::<_, i64>(1)? as u64,
            first_due: Timestamp(row.get(2)?),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use holdpoint_store::EventLog as _;
    use holdpoint_store::conformance::kit::{one, owing, run, write};
    use rusqlite::config::DbConfig;

    use super::*;
    use crate::SqliteLog;

    fn open(dir: &Path) -> SqliteLog {
        SqliteLog::open(dir, Options::default()).expect("the store opens")
    }

    #[tokio::test]
    async fn a_store_is_counted_and_found_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = open(dir.path());
        write(&log, one(run(1), 0)).await;
        write(&log, one(run(1), 1)).await;
        write(&log, one(run(2), 0)).await;
        let found = log.integrity().await.expect("an answer");
        assert_eq!((found.rows, found.streams, found.blobs, found.blob_bytes), (3, 2, 0, 0));
        assert_eq!((found.journal.as_str(), found.synchronous), ("wal", 2));
        assert_eq!((found.schema, found.newest_schema), (SCHEMA, SCHEMA));
        assert_eq!((found.faults.as_slice(), found.page_bytes), ([].as_slice(), 4096));
        assert!(found.wal_bytes > 0 && found.pages > found.free_pages, "{found:?}");
    }

    #[tokio::test]
    async fn an_index_that_differs_from_its_table_is_a_fault() {
        let dir = tempfile::tempdir().expect("a folder");
        write(&open(dir.path()), one(run(1), 0)).await;
        let conn = Connection::open(dir.path().join("state.db")).expect("the file opens");
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).expect("set");
        conn.pragma_update(None, "writable_schema", true).expect("set");
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, 'log(stream, version)', 'log(stream, count)')
                   WHERE name = 'log_stream'";
        assert_eq!(conn.execute(sql, []), Ok(1));
        drop(conn);
        let conn = Connection::open(dir.path().join("state.db")).expect("the file opens");
        conn.execute("UPDATE log SET count = 7", []).expect("the wrong index is kept");
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, 'log(stream, count)', 'log(stream, version)')
                   WHERE name = 'log_stream'";
        conn.pragma_update(None, "writable_schema", true).expect("set");
        assert_eq!(conn.execute(sql, []), Ok(1));
        drop(conn);
        let found = open(dir.path()).integrity().await.expect("an answer");
        assert_eq!(found.faults, ["row 1 missing from index log_stream"]);
    }

    #[tokio::test]
    async fn work_is_told_by_its_holder_and_whether_that_lives() {
        let dir = tempfile::tempdir().expect("a folder");
        let (first, second) = (open(dir.path()), open(dir.path()));
        assert_eq!(second.holders().await, Ok(vec![]));
        write(&first, owing(1, Some(10), true)).await;
        write(&first, owing(2, Some(5), true)).await;
        write(&second, owing(3, Some(7), false)).await;
        let nobody = Holder { owner: None, lives: false, runs: 1, first_due: Timestamp(7) };
        let owner = Some(first.owner());
        let held = Holder { owner, lives: true, runs: 2, first_due: Timestamp(5) };
        assert_eq!(second.holders().await, Ok(vec![nobody, held]));
        drop(first);
        assert_eq!(second.holders().await, Ok(vec![nobody, Holder { lives: false, ..held }]));
        assert_eq!(second.claim(Timestamp(10), 9, None).await.map(|leases| leases.len()), Ok(3));
    }
}
