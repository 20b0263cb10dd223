//! Comparing a stream's rows with what the log says they should be, and putting them right.

use holdpoint_core::rows::{Order, RowChange, Table};
use holdpoint_core::{Seq, StreamId};
use holdpoint_store::{Diff, Picture, Record};
use rusqlite::{Connection, params};

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
        let name = table.def().name;
        let sql = match table.def().order {
            Order::Stream => format!("DELETE FROM \"{name}\" WHERE stream=?"),
            Order::Position => format!(
                "DELETE FROM \"{name}\" WHERE seq IN (SELECT t.seq FROM log l CROSS JOIN \"{name}\" t
                     ON t.seq BETWEEN l.seq AND l.seq + l.count - 1 WHERE l.stream=?)"
            ),
        };
        conn.prepare_cached(&sql)?.execute([id])?;
    }
    for (table, record) in right.rows_of(stream) {
        books.statements.put_record(conn, table, id, &record)?;
    }
    Ok(diff)
}

fn stored(conn: &Connection, stream: StreamId) -> rusqlite::Result<Vec<(Table, Record)>> {
    let Some(id) = stream_number(conn, stream)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for table in Table::ALL {
        let def = table.def();
        let mut statement = conn.prepare_cached(&sql::select_of(def))?;
        let mut rows = statement.query(params![id, -1, i64::from(u32::MAX)])?;
        while let Some(row) = rows.next()? {
            let seq = Seq(row.get::<_, i64>(2)? as u64);
            found.push((table, Record { stream, n: row.get(1)?, seq, cells: sql::cells(def, row)? }));
        }
    }
    Ok(found)
}
