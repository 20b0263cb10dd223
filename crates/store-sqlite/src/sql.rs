//! Statements over projection tables, made from their descriptions, and how cells go in and come out.
//!
//! Promises: names in statements come from [`Table::def`] only; values are always bound.

use std::fmt::Write as _;

use holdpoint_core::rows::{Cell, Cells, Kind, Op, RowChange, Table, TableDef};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};

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

/// Statements that are made once per table.
pub(crate) struct Statements {
    put: Vec<String>,
    text: String,
}

impl Statements {
    pub(crate) fn new() -> Self {
        Self { put: Table::ALL.into_iter().map(|table| put_text(table.def())).collect(), text: String::new() }
    }

    /// Applies one change that follows from the event at `seq` to the rows of a stream.
    pub(crate) fn apply(
        &mut self,
        conn: &Connection,
        stream: i64,
        seq: u64,
        change: &RowChange,
    ) -> rusqlite::Result<()> {
        let def = change.table.def();
        match &change.op {
            Op::Put(n, cells) => self.put(conn, change.table, stream, *n, seq, |column| value(cells, column)),
            Op::Patch(n, cells) => {
                self.update(def, cells, "n=?");
                self.patch(conn, cells, stream, &Cell::Int(i64::from(*n)))
            }
            Op::PatchWhere(column, wanted, cells) => {
                self.update(def, cells, "");
                let _ = write!(self.text, "\"{column}\" IS ?");
                self.patch(conn, cells, stream, wanted)
            }
        }
    }

    /// Writes a whole row; one that is there keeps its position.
    pub(crate) fn put<'a>(
        &self,
        conn: &Connection,
        table: Table,
        stream: i64,
        n: u32,
        seq: u64,
        cell: impl Fn(&str) -> Option<&'a Cell>,
    ) -> rusqlite::Result<()> {
        let mut statement = conn.prepare_cached(&self.put[table as usize])?;
        statement.raw_bind_parameter(1, stream)?;
        statement.raw_bind_parameter(2, n)?;
        statement.raw_bind_parameter(3, seq as i64)?;
        for (at, (column, _)) in table.def().columns.iter().enumerate() {
            statement.raw_bind_parameter(at + 4, Bound(cell(column).unwrap_or(&Cell::Null)))?;
        }
        statement.raw_execute().map(|_| ())
    }

    fn update(&mut self, def: &TableDef, cells: &Cells, condition: &str) {
        self.text.clear();
        let _ = write!(self.text, "UPDATE \"{}\" SET ", def.name);
        for (at, (column, _)) in cells.iter().enumerate() {
            let _ = write!(self.text, "{}\"{column}\"=?", if at > 0 { "," } else { "" });
        }
        let _ = write!(self.text, " WHERE stream=? AND {condition}");
    }

    fn patch(&self, conn: &Connection, cells: &Cells, stream: i64, wanted: &Cell) -> rusqlite::Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let mut statement = conn.prepare_cached(&self.text)?;
        for (at, (_, cell)) in cells.iter().enumerate() {
            statement.raw_bind_parameter(at + 1, Bound(cell))?;
        }
        statement.raw_bind_parameter(cells.len() + 1, stream)?;
        statement.raw_bind_parameter(cells.len() + 2, Bound(wanted))?;
        statement.raw_execute().map(|_| ())
    }
}

/// `stream, n, seq` and the table's own columns.
pub(crate) fn select(def: &TableDef) -> String {
    let mut sql = "SELECT stream, n, seq".to_owned();
    for (column, _) in def.columns {
        let _ = write!(sql, ", \"{column}\"");
    }
    let _ = write!(sql, " FROM \"{}\"", def.name);
    sql
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

fn value<'a>(cells: &'a Cells, column: &str) -> Option<&'a Cell> {
    // The last one counts, as if they were set one after the other.
    cells.iter().rev().find(|(name, _)| *name == column).map(|(_, cell)| cell)
}

fn put_text(def: &TableDef) -> String {
    let mut sql = format!("INSERT INTO \"{}\" VALUES(?,?,?", def.name);
    sql.push_str(&",?".repeat(def.columns.len()));
    sql.push_str(") ON CONFLICT(stream, n) DO UPDATE SET ");
    for (at, (column, _)) in def.columns.iter().enumerate() {
        let _ = write!(sql, "{}\"{column}\"=excluded.\"{column}\"", if at > 0 { "," } else { "" });
    }
    sql
}
