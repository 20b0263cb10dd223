//! Statements over projection tables, made from their descriptions, and how cells go in and come out.
//!
//! Promises: names in statements come from [`Table::def`] only; values are always bound.

use std::collections::HashMap;
use std::fmt::Write as _;

use holdpoint_core::rows::{Cell, Cells, Kind, Op, Order, RowChange, Table, TableDef};
use holdpoint_store::Record;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, Statement, ToSql};

/// A cell as a bound value.
pub(crate) struct Bound<'a>(pub(crate) &'a Cell);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Cell::Null => ValueRef::Null,
            Cell::Int(number) => ValueRef::Integer(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            Cell::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Statements over the tables, each written once per table and set of columns.
#[derive(Default)]
pub(crate) struct Statements {
    puts: HashMap<(Table, u32), String>,
    patches: HashMap<(Table, u32), String>,
}

/// Cells by the place of their column. A table has fewer than 32 columns, so a set of them is one number.
struct Placed<'a> {
    columns: u32,
    cells: [&'a Cell; 32],
}

impl Statements {
    /// Applies one change that follows from the event at `seq` to the rows of a stream. `position` answers where the
    /// event with a version stands.
    pub(crate) fn apply(
        &mut self,
        conn: &Connection,
        stream: i64,
        seq: u64,
        change: &RowChange,
        position: impl Fn(u32) -> rusqlite::Result<Option<i64>>,
    ) -> rusqlite::Result<()> {
        let def = change.table.def();
        match &change.op {
            Op::Put(n, cells) => self.put(conn, def, (stream, *n, seq), &placed(def, cells)?),
            Op::Patch(n, cells) => {
                let key = match def.order {
                    Order::Stream => i64::from(*n),
                    Order::Position => match position(*n)? {
                        Some(seq) => seq,
                        None => return Ok(()),
                    },
                };
                let placed = placed(def, cells)?;
                let sql = self.patches.entry((def.table, placed.columns));
                let key_column = match def.order {
                    Order::Stream => "n=?",
                    Order::Position => "seq=?",
                };
                let sql = sql.or_insert_with(|| patch_text(def, placed.columns, key_column));
                patch(conn, sql, &placed, stream, &Cell::Int(key))
            }
            Op::PatchWhere(column, wanted, cells) => {
                let placed = placed(def, cells)?;
                let sql = patch_text(def, placed.columns, &format!("\"{column}\" IS ?"));
                patch(conn, &sql, &placed, stream, wanted)
            }
        }
    }

    /// Writes a row with all of its cells.
    pub(crate) fn put_record(
        &mut self,
        conn: &Connection,
        table: Table,
        stream: i64,
        record: &Record,
    ) -> rusqlite::Result<()> {
        let mut placed = Placed { columns: 0, cells: [&Cell::Null; 32] };
        for (at, cell) in record.cells.iter().enumerate() {
            placed.set(at, cell);
        }
        self.put(conn, table.def(), (stream, record.n, record.seq.0), &placed)
    }

    /// Writes a row that is not there; columns without a cell are null.
    fn put(
        &mut self,
        conn: &Connection,
        def: &TableDef,
        (stream, n, seq): (i64, u32, u64),
        placed: &Placed<'_>,
    ) -> rusqlite::Result<()> {
        let sql = self.puts.entry((def.table, placed.columns));
        let mut statement = conn.prepare_cached(sql.or_insert_with(|| put_text(def, placed.columns)))?;
        statement.raw_bind_parameter(1, stream)?;
        statement.raw_bind_parameter(2, n)?;
        statement.raw_bind_parameter(3, seq as i64)?;
        placed.bind(&mut statement, 4)?;
        statement.raw_execute().map(|_| ())
    }
}

impl<'a> Placed<'a> {
    fn set(&mut self, at: usize, cell: &'a Cell) {
        self.columns |= 1 << at;
        self.cells[at] = cell;
    }

    /// Binds the cells in the order of their columns; answers the number after the last one.
    fn bind(&self, statement: &mut Statement<'_>, first: usize) -> rusqlite::Result<usize> {
        let mut number = first;
        for at in places(self.columns) {
            statement.raw_bind_parameter(number, Bound(self.cells[at]))?;
            number += 1;
        }
        Ok(number)
    }
}

/// Puts cells at the places of their columns; of two for one column the last one counts.
fn placed<'a>(def: &TableDef, cells: &'a Cells) -> rusqlite::Result<Placed<'a>> {
    let mut placed = Placed { columns: 0, cells: [&Cell::Null; 32] };
    let mut next = 0;
    for (name, cell) in cells {
        // Projections name columns in the order of the table, so the search mostly ends where it begins.
        let from_next =
            def.columns.iter().enumerate().skip(next).chain(def.columns.iter().enumerate().take(next));
        let at = from_next.into_iter().find(|(_, (column, _))| column == name);
        let Some((at, _)) = at else { return Err(rusqlite::Error::InvalidColumnName((*name).to_owned())) };
        placed.set(at, cell);
        next = at + 1;
    }
    Ok(placed)
}

/// The places of a set of columns, in order.
fn places(columns: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |at| columns & (1 << at) != 0)
}

fn patch(
    conn: &Connection,
    sql: &str,
    placed: &Placed<'_>,
    stream: i64,
    wanted: &Cell,
) -> rusqlite::Result<()> {
    if placed.columns == 0 {
        return Ok(());
    }
    let mut statement = conn.prepare_cached(sql)?;
    let next = placed.bind(&mut statement, 1)?;
    statement.raw_bind_parameter(next, stream)?;
    statement.raw_bind_parameter(next + 1, Bound(wanted))?;
    statement.raw_execute().map(|_| ())
}

/// `stream, n, seq` and the table's own columns.
pub(crate) fn select(def: &TableDef) -> String {
    let mut sql = "SELECT t.stream, t.n, t.seq".to_owned();
    for (column, _) in def.columns {
        let _ = write!(sql, ", t.\"{column}\"");
    }
    let _ = write!(sql, " FROM \"{}\" t", def.name);
    sql
}

/// The rows of the stream `?1` after the ordinal `?2`, in the order of their ordinals, at most `?3`.
pub(crate) fn select_of(def: &TableDef) -> String {
    let select = select(def);
    match def.order {
        Order::Stream => format!("{select} WHERE stream=?1 AND n>?2 ORDER BY n LIMIT ?3"),
        // An ordinal is a version, and the log has an index of where versions stand.
        Order::Position => format!(
            "{} WHERE l.stream=?1 AND t.stream=?1 AND t.n>?2 AND l.version >= coalesce(
                 (SELECT version FROM log WHERE stream=?1 AND version<=?2 ORDER BY version DESC LIMIT 1), 0)
             ORDER BY l.version, t.seq LIMIT ?3",
            select.replacen(" FROM ", " FROM log l CROSS JOIN ", 1)
                + " ON t.seq BETWEEN l.seq AND l.seq + l.count - 1"
        ),
    }
}

/// The table's own columns of a row of [`select`].
pub(crate) fn cells(def: &TableDef, row: &Row<'_>) -> rusqlite::Result<Vec<Cell>> {
    def.columns.iter().enumerate().map(|(at, (_, kind))| cell(*kind, row.get_ref(at + 3)?)).collect()
}

pub(crate) fn cell(kind: Kind, value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    if value == ValueRef::Null {
        return Ok(Cell::Null);
    }
    Ok(match kind {
        Kind::Int | Kind::Time => Cell::Int(value.as_i64()?),
        Kind::Text | Kind::Json => Cell::Text(value.as_str()?.into()),
        Kind::Uuid | Kind::Digest => Cell::Bytes(value.as_blob()?.into()),
    })
}

fn put_text(def: &TableDef, columns: u32) -> String {
    let mut sql = format!("INSERT INTO \"{}\"(stream,n,seq", def.name);
    for at in places(columns) {
        let _ = write!(sql, ",\"{}\"", def.columns[at].0);
    }
    sql.push_str(") VALUES(?,?,?");
    sql.push_str(&",?".repeat(columns.count_ones() as usize));
    sql.push(')');
    sql
}

fn patch_text(def: &TableDef, columns: u32, condition: &str) -> String {
    let mut sql = format!("UPDATE \"{}\" SET ", def.name);
    for (nth, at) in places(columns).enumerate() {
        let _ = write!(sql, "{}\"{}\"=?", if nth > 0 { "," } else { "" }, def.columns[at].0);
    }
    let _ = write!(sql, " WHERE stream=? AND {condition}");
    sql
}
