//! Reading cells of rows by their columns' names.

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Digest, Timestamp};
use holdpoint_store::Record;
use uuid::Uuid;

/// A row with its table's names.
pub(super) struct Named<'a> {
    table: Table,
    record: &'a Record,
}

impl<'a> Named<'a> {
    pub(super) fn new(table: Table, record: &'a Record) -> Self {
        Self { table, record }
    }

    fn cell(&self, column: &str) -> Option<&'a Cell> {
        let at = self.table.def().columns.iter().position(|(name, _)| *name == column)?;
        self.record.cells.get(at)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.cell(column)? {
            Cell::Text(text) => Some(text.to_string()),
            Cell::Null | Cell::Int(_) | Cell::Bytes(_) => None,
        }
    }

    pub(super) fn int(&self, column: &str) -> Option<i64> {
        match self.cell(column)? {
            Cell::Int(number) => Some(*number),
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) => None,
        }
    }

    pub(super) fn count(&self, column: &str) -> u32 {
        self.int(column).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
    }

    pub(super) fn size(&self, column: &str) -> u64 {
        self.int(column).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    }

    pub(super) fn flag(&self, column: &str) -> bool {
        self.int(column) == Some(1)
    }

    pub(super) fn time(&self, column: &str) -> Option<Timestamp> {
        self.int(column).map(Timestamp)
    }

    pub(super) fn uuid(&self, column: &str) -> Option<Uuid> {
        match self.cell(column)? {
            Cell::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
            Cell::Null | Cell::Int(_) | Cell::Text(_) => None,
        }
    }

    pub(super) fn digest(&self, column: &str) -> Option<Digest> {
        match self.cell(column)? {
            Cell::Bytes(bytes) => <[u8; 32]>::try_from(&**bytes).ok().map(Digest),
            Cell::Null | Cell::Int(_) | Cell::Text(_) => None,
        }
    }
}
