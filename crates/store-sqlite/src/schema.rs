//! The tables behind the store, and how an older file becomes a current one.
//!
//! `log` holds one row per command and stream. `stream`, `session`, `actor` and `shape` give long names
//! short numbers, once and for ever. `marks` says in which blocks of the log a session, an actor or a shape
//! occurs: a list reads only those blocks, while a step seldom writes a mark (an index would cost a page of
//! every commit). The tables of [`Table::ALL`] are projections; documented names are views over them.
//!
//! Promises: a new file and every migration is one transaction; a newer file is left as it is.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use holdpoint_core::rows::{Kind, Order, Table, TableDef};
use holdpoint_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::connect::failed;
use crate::{keys, tail, views};

/// The newest schema that this code knows.
pub(crate) const SCHEMA: u32 = 6;

/// The oldest schema that can be brought up to date. Nothing was released before it, and there is no reader for the
/// events of then.
const OLDEST: u32 = 6;

/// The steps from each schema to the next; the first leads away from `OLDEST`.
const STEPS: &[&str] = &[];

const BASE: &str = "
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE stream(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, uuid BLOB NOT NULL, UNIQUE(uuid, kind));
CREATE TABLE session(id INTEGER PRIMARY KEY, uuid BLOB NOT NULL UNIQUE);
CREATE TABLE actor(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(name, kind));
CREATE TABLE shape(id INTEGER PRIMARY KEY, kinds TEXT NOT NULL UNIQUE);
CREATE TABLE log(
    seq INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    version INTEGER NOT NULL,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    shape INTEGER NOT NULL,
    session INTEGER NOT NULL,
    command BLOB NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
);
CREATE UNIQUE INDEX log_stream ON log(stream, version);
CREATE TABLE marks(what INTEGER, id INTEGER, block INTEGER, PRIMARY KEY(what, id, block)) WITHOUT ROWID;
CREATE TABLE work(run INTEGER PRIMARY KEY, due INTEGER, owner INTEGER, epoch INTEGER NOT NULL);
CREATE INDEX work_due ON work(due) WHERE due IS NOT NULL;
CREATE INDEX work_owner ON work(owner) WHERE owner IS NOT NULL;
CREATE TABLE owners(id INTEGER PRIMARY KEY, boot TEXT NOT NULL, beat INTEGER NOT NULL);
CREATE TABLE folds(
    stream INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    hash BLOB NOT NULL,
    code INTEGER NOT NULL,
    pieces INTEGER NOT NULL,
    bytes BLOB NOT NULL
);
CREATE TABLE fold_pieces(
    stream INTEGER NOT NULL,
    version INTEGER NOT NULL,
    n INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY(stream, version, n)
);
CREATE TABLE blobs(
    digest BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes BLOB NOT NULL
);
";

/// Refuses a file that a newer program has written, or one that is too old.
pub(crate) fn refuse_other(conn: &Connection) -> Result<(), StoreError> {
    match version(conn)? {
        found if found > SCHEMA => Err(StoreError::Newer { found, known: SCHEMA }),
        // Zero: a file without tables.
        found if (1..OLDEST).contains(&found) => Err(StoreError::Older { found, oldest: OLDEST }),
        _ => Ok(()),
    }
}

/// Creates the tables or brings them up to date; says whether the file is new.
pub(crate) fn prepare(conn: &mut Connection, file: &Path) -> Result<bool, StoreError> {
    refuse_other(conn)?;
    match version(conn)? {
        0 => create(conn).map(|()| true),
        SCHEMA => Ok(false),
        older => migrate(conn, file, older, STEPS).map(|()| false),
    }
}

/// Whether there are no tables yet.
pub(crate) fn is_empty(conn: &Connection) -> Result<bool, StoreError> {
    version(conn).map(|version| version == 0)
}

/// Whether tables are to be made anew from the log, because a migration has added some.
pub(crate) fn stale(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM meta WHERE name = 'stale'")?.exists([])
}

fn version(conn: &Connection) -> Result<u32, StoreError> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| failed(&error))
}

fn create(conn: &mut Connection) -> Result<(), StoreError> {
    let tables: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| failed(&error))?;
    if tables > 0 {
        return Err(StoreError::Corrupt("the file belongs to some other program".to_owned()));
    }
    let made = conn.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
        tx.execute_batch(BASE)?;
        tx.execute_batch(keys::TABLE)?;
        for table in Table::ALL {
            tx.execute_batch(&ddl(table.def()))?;
        }
        tx.execute_batch(&views::ddl())?;
        tx.execute("INSERT INTO meta VALUES('schema', ?)", [SCHEMA])?;
        tail::set_whole(&tx, false)?;
        tx.pragma_update(None, "user_version", SCHEMA)?;
        tx.commit()
    });
    made.map_err(|error| failed(&error))
}

/// Keeps a copy beside the file, then takes every step in one transaction.
fn migrate(conn: &mut Connection, file: &Path, from: u32, steps: &[&str]) -> Result<(), StoreError> {
    let backup = file.with_file_name(format!("state.db.backup-v{from}"));
    if !backup.exists() {
        let unfinished = backup.with_extension(format!("backup-v{from}.part"));
        let _ = std::fs::remove_file(&unfinished);
        conn.execute("VACUUM INTO ?", [unfinished.to_string_lossy()]).map_err(|error| failed(&error))?;
        std::fs::File::open(&unfinished)
            .and_then(|copy| {
                copy.set_permissions(std::fs::Permissions::from_mode(0o600))?;
                copy.sync_all()
            })
            .and_then(|()| std::fs::rename(&unfinished, &backup))
            .map_err(|error| StoreError::Io(format!("{}: {error}", backup.display())))?;
    }
    let moved = conn.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|tx| {
        tx.execute_batch(&views::drop())?;
        for step in &steps[(from - OLDEST) as usize..] {
            tx.execute_batch(step)?;
        }
        tx.execute_batch(&views::ddl())?;
        let reached = OLDEST + steps.len() as u32;
        tx.execute("INSERT OR REPLACE INTO meta VALUES('schema', ?)", [reached])?;
        tx.pragma_update(None, "user_version", reached)?;
        tx.commit()
    });
    moved.map_err(|error| failed(&error))
}

/// The table and the indexes of a description.
fn ddl(def: &TableDef) -> String {
    let name = def.name;
    let keys = match def.order {
        Order::Stream => "stream INTEGER, n INTEGER, seq INTEGER",
        Order::Position => "seq INTEGER PRIMARY KEY, stream INTEGER, n INTEGER",
    };
    let mut sql = format!("CREATE TABLE \"{name}\"({keys}");
    for (column, kind) in def.columns {
        let affinity = match kind {
            Kind::Int | Kind::Time => "INTEGER",
            Kind::Text | Kind::Json => "TEXT",
            Kind::Uuid | Kind::Digest => "BLOB",
        };
        let _ = write!(sql, ", \"{column}\" {affinity}");
    }
    sql.push_str(match def.order {
        Order::Stream => ", PRIMARY KEY(stream, n)) WITHOUT ROWID;\n",
        Order::Position => ");\n",
    });
    for column in def.unique {
        let _ = writeln!(sql, "CREATE UNIQUE INDEX \"{name}_{column}\" ON \"{name}\"(\"{column}\");");
    }
    for column in def.listed_by {
        let then = match def.order {
            Order::Stream => ", seq",
            // The key of the table stands in every index anyway.
            Order::Position => "",
        };
        let _ = writeln!(sql, "CREATE INDEX \"{name}_by_{column}\" ON \"{name}\"(\"{column}\"{then});");
    }
    if let Some((column, where_set)) = def.found_by {
        let _ = writeln!(
            sql,
            "CREATE INDEX \"{name}_of_stream\" ON \"{name}\"(stream, \"{column}\") WHERE \"{where_set}\" IS NOT NULL;"
        );
    }
    if def.order == Order::Stream && !def.listed_by.is_empty() {
        let _ = writeln!(sql, "CREATE INDEX \"{name}_by_seq\" ON \"{name}\"(seq);");
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_file_is_copied_and_then_moved_on_in_one_transaction() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("state.db");
        let mut conn = Connection::open(&file).expect("a file");
        assert_eq!(prepare(&mut conn, &file), Ok(true));
        conn.pragma_update(None, "user_version", OLDEST).expect("an older file");

        let broken = migrate(&mut conn, &file, OLDEST, &["CREATE TABLE more(a)", "NONSENSE"]);
        assert!(broken.is_err());
        assert_eq!(version(&conn), Ok(OLDEST));
        assert!(conn.prepare("SELECT * FROM more").is_err(), "a failed step leaves nothing");
        conn.prepare("SELECT * FROM pipelines").expect("the views are still there");

        migrate(&mut conn, &file, OLDEST, &["CREATE TABLE more(a)", "CREATE TABLE yet_more(a)"])
            .expect("moved on");
        assert_eq!(version(&conn), Ok(OLDEST + 2));
        assert!(matches!(refuse_other(&conn), Err(StoreError::Newer { .. })));
        let copy = dir.path().join(format!("state.db.backup-v{OLDEST}"));
        assert_eq!(version(&Connection::open(copy).expect("the copy")), Ok(OLDEST));
    }

    #[test]
    fn a_file_that_is_too_old_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("state.db");
        let mut conn = Connection::open(&file).expect("a file");
        conn.execute_batch("CREATE TABLE run(a); PRAGMA user_version = 2").expect("an older file");
        let before = std::fs::read(&file).expect("the file");
        assert_eq!(prepare(&mut conn, &file), Err(StoreError::Older { found: 2, oldest: OLDEST }));
        drop(conn);
        assert_eq!(std::fs::read(&file).expect("the file"), before);
    }

    #[test]
    fn a_file_of_another_program_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("state.db");
        let mut conn = Connection::open(&file).expect("a file");
        conn.execute_batch("CREATE TABLE theirs(a)").expect("a table");
        assert!(matches!(prepare(&mut conn, &file), Err(StoreError::Corrupt(_))));
    }
}
