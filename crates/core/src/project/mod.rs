//! Projections: the rows that follow from events, as a pure function of the states before and after the
//! events of one row of the log.
//!
//! Rebuilding the tables means calling this again for every row of the log; there is no second way to
//! write them.

mod archive;
mod executions;
mod pipeline;
mod questions;
mod run;
mod spending;

pub use questions::about;
#[cfg(test)]
pub(crate) use run::execution_of;

use crate::event::{Entry, Event};
use crate::rows::{Cell, Cells, Op, RowChange, Table};
use crate::state::{JournalState, Stamp, State};
use crate::{Ids, StreamId};

/// Per event, the changes of tables that follow from it.
pub fn project(
    stream: StreamId,
    before: &State,
    after: &State,
    stamp: &Stamp<'_>,
    events: &[Event],
) -> Vec<Vec<RowChange>> {
    let mut changes: Vec<Vec<RowChange>> = vec![Vec::new(); events.len()];
    match (stream, before, after) {
        (StreamId::Pipeline(id), State::Pipeline(before), State::Pipeline(after)) => {
            pipeline::project(id, before, after, stamp, events, &mut changes);
        }
        (StreamId::Run(id), State::Run(before), State::Run(after)) => {
            run::project(id, before, after, stamp, events, &mut changes);
        }
        (StreamId::Journal(_), State::Journal(before), State::Journal(after)) => {
            journal(stream, before, stamp, events, &mut changes);
            spending::project(stream, before, after, stamp, events, &mut changes);
        }
        // A home has no tables: tokens are few and live in its state.
        (_, _, _) => {}
    }
    changes
}

fn journal(
    stream: StreamId,
    before: &JournalState,
    stamp: &Stamp<'_>,
    events: &[Event],
    changes: &mut [Vec<RowChange>],
) {
    let mut ids = Ids::beside(stamp.command);
    let mut n = before.lines;
    for (event, changes) in events.iter().zip(changes) {
        let Event::Journal(Entry::Log { level, text, details }) = event else { continue };
        let level = match level {
            crate::event::Level::Info => "info",
            crate::event::Level::Warning => "warning",
            crate::event::Level::Error => "error",
        };
        let cells = vec![
            ("id", ids.mint().into()),
            ("execution", stream.uuid().into()),
            ("at", stamp.at.into()),
            ("level", level.into()),
            ("message", Cell::Text(text.clone())),
            ("details", details.as_ref().map_or(Cell::Null, Cell::from)),
        ];
        changes.push(RowChange { table: Table::LogLine, op: Op::Put(n, cells) });
        n += 1;
    }
}

/// Collects the columns of a row: all of them when it is new, else those that changed.
struct Columns {
    fresh: bool,
    cells: Cells,
}

impl Columns {
    fn new(fresh: bool) -> Self {
        Self { fresh, cells: Cells::new() }
    }

    fn set<T: Into<Cell>>(&mut self, name: &'static str, changed: bool, value: impl FnOnce() -> T) {
        if self.fresh || changed {
            self.cells.push((name, value().into()));
        }
    }

    fn into_change(self, table: Table, n: u32) -> Option<RowChange> {
        if self.cells.is_empty() {
            return None;
        }
        let op = if self.fresh { Op::Put(n, self.cells) } else { Op::Patch(n, self.cells) };
        Some(RowChange { table, op })
    }
}
