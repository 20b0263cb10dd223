//! The tables beside the log, drawn from row changes in the simplest way there is.

use std::collections::BTreeMap;

use crate::StreamId;
use crate::rows::{Cell, Op, RowChange, Table};

/// The cells of a row by column; a column that is missing is null.
pub(crate) type Drawn = BTreeMap<&'static str, Cell>;

/// Rows by table, stream and ordinal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Picture(pub BTreeMap<(Table, StreamId, u32), Drawn>);

impl Picture {
    /// Applies the changes that follow from one event. A patch of a row that is not there is a mistake.
    pub fn apply(&mut self, stream: StreamId, changes: &[RowChange]) {
        for RowChange { table, op } in changes {
            match op {
                Op::Put(n, cells) => {
                    let old = self.0.insert((*table, stream, *n), cells.iter().cloned().collect());
                    assert_eq!(old, None, "{table:?} {n} is put twice");
                }
                Op::Patch(n, cells) => {
                    let row = self.0.get_mut(&(*table, stream, *n));
                    row.unwrap_or_else(|| panic!("no {table:?} {n} to patch")).extend(cells.iter().cloned());
                }
                Op::PatchWhere(column, value, cells) => {
                    let rows = self.0.range_mut((*table, stream, 0)..=(*table, stream, u32::MAX));
                    for (_, row) in rows.filter(|(_, row)| row.get(column) == Some(value)) {
                        row.extend(cells.iter().cloned());
                    }
                }
            }
        }
    }

    /// One cell.
    pub fn cell(&self, table: Table, stream: StreamId, n: u32, column: &str) -> Cell {
        let row = self.0.get(&(table, stream, n)).unwrap_or_else(|| panic!("no {table:?} {n}"));
        row.get(column).cloned().unwrap_or(Cell::Null)
    }

    /// The rows of one table of one stream.
    pub fn rows(&self, table: Table, stream: StreamId) -> impl Iterator<Item = (u32, &Drawn)> {
        let rows = self.0.range((table, stream, 0)..=(table, stream, u32::MAX));
        rows.map(|((_, _, n), row)| (*n, row))
    }
}
