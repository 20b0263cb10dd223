//! Comparing a stream's rows with what the log says they should be, and putting them right.

use holdpoint_core::rows::{RowChange, Table};
use holdpoint_core::{Seq, StreamId};
use holdpoint_store::{Diff, Picture, Record};
use rusqlite::Connection;

use crate::batch::Books;
use crate::names::stream_number;
use crate::sql;

/// Compares the rows of a stream with what changes make of empty tables.
pub(crate) fn compare(
    conn: &Connection,
    stream: StreamId,
    changes: &[(Seq, Vec<RowChange>)],
) -> rusqlite::Result<Diff> {
    Ok(Picture::of(stream, changes).diff(stored(conn, stream)?))
}

/// Compares, and writes the rows anew.
pub(crate) fn replace(
    conn: &Connection,
    books: &mut Books,
    stream: StreamId,
    changes: &[(Seq, Vec<RowChange>)],
) -> rusqlite::Result<Diff> {
    let right = Picture::of(stream, changes);
    let diff = right.diff(stored(conn, stream)?);
    let id = books.stream_id(conn, stream)?;
    for table in Table::ALL {
        let sql = format!("DELETE FROM \"{}\" WHERE stream=?", table.def().name);
        conn.prepare_cached(&sql)?.execute([id])?;
    }
    for (table, record) in right.rows_of(stream) {
        let at = |column: &str| table.def().columns.iter().position(|(name, _)| *name == column);
        let cell = |column: &str| record.cells.get(at(column)?);
        books.statements.put(conn, table, id, record.n, record.seq.0, cell)?;
    }
    Ok(diff)
}

fn stored(conn: &Connection, stream: StreamId) -> rusqlite::Result<Vec<(Table, Record)>> {
    let Some(id) = stream_number(conn, stream)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for table in Table::ALL {
        let def = table.def();
        let mut statement =
            conn.prepare_cached(&format!("{} WHERE stream=? ORDER BY n", sql::select(def)))?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let seq = Seq(row.get::<_, i64>(2)? as u64);
            found.push((table, Record { stream, n: row.get(1)?, seq, cells: sql::cells(def, row)? }));
        }
    }
    Ok(found)
}
