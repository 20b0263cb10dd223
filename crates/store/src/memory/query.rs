//! Reading rows of the log, and answering lists and look-ups from the tables.

use std::cmp::Reverse;

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Seq, StreamId, Version};

use super::disk::State;
use crate::picture::column_at;
use crate::{EventFilter, Page, Query, Record, Row};

impl State {
    pub(super) fn read(&self, stream: StreamId, after: Version, limit: u32) -> Vec<Row> {
        let Some(stream) = self.streams.get(&stream) else { return Vec::new() };
        let start = stream.rows.partition_point(|at| self.rows[*at].last() <= after);
        stream.rows[start..].iter().take(limit as usize).map(|at| self.rows[*at].clone()).collect()
    }

    pub(super) fn read_all(&self, after: Seq, limit: u32) -> Vec<Row> {
        let start = self.rows.partition_point(|row| row.last_seq() <= after);
        self.rows[start..].iter().take(limit as usize).cloned().collect()
    }

    pub(super) fn query(&self, query: Query) -> Page {
        match query {
            Query::Find(table, column, value) => records(self.find(table, column, &value)),
            Query::Of { table, stream, after, limit } => records(self.of(table, stream, after, limit)),
            Query::List { table, by, before, limit } => records(self.list(table, by, before, limit)),
            Query::Events { filter, before, limit } => {
                Page { rows: self.events(&filter, before, limit), ..Page::default() }
            }
            Query::Streams { after, limit } => Page { streams: self.began(after, limit), ..Page::default() },
        }
    }

    fn find(&self, table: Table, column: &str, value: &Cell) -> Vec<Record> {
        debug_assert!(table.def().unique.contains(&column), "{column} is not unique");
        self.tables.find(table, column, value).into_iter().collect()
    }

    fn of(&self, table: Table, stream: StreamId, after: Option<u32>, limit: u32) -> Vec<Record> {
        self.tables
            .rows_of(stream)
            .filter(|(of, record)| *of == table && after.is_none_or(|after| record.n > after))
            .take(limit as usize)
            .map(|(_, record)| record)
            .collect()
    }

    fn list(
        &self,
        table: Table,
        by: Option<(&'static str, Cell)>,
        before: Option<Seq>,
        limit: u32,
    ) -> Vec<Record> {
        let by = by.and_then(|(column, value)| {
            debug_assert!(table.def().listed_by.contains(&column), "{column} is not listed by");
            Some((column_at(table, column)?, value))
        });
        let mut found: Vec<_> = self
            .tables
            .rows_in(table)
            .filter(|(.., seq, _)| before.is_none_or(|before| *seq < before))
            .filter(|(.., cells)| by.as_ref().is_none_or(|(at, value)| cells.get(*at) == Some(value)))
            .collect();
        found.sort_by_key(|(_, n, seq, _)| Reverse((*seq, *n)));
        let end = match limit as usize {
            0 => 0,
            limit => found
                .get(limit - 1)
                .map_or(found.len(), |(.., last, _)| found.partition_point(|(.., seq, _)| seq >= last)),
        };
        found.truncate(end);
        found.into_iter().map(record).collect()
    }

    fn events(&self, filter: &EventFilter, before: Option<Seq>, limit: u32) -> Vec<Row> {
        let end = before.map_or(self.rows.len(), |before| self.rows.partition_point(|row| row.seq < before));
        let wanted = self.rows[..end].iter().rev().filter(|row| wants(filter, row));
        wanted.take(limit as usize).cloned().collect()
    }

    fn began(&self, after: Option<StreamId>, limit: u32) -> Vec<StreamId> {
        let start = match after {
            None => 0,
            Some(after) => {
                self.began.iter().position(|stream| *stream == after).map_or(self.began.len(), |at| at + 1)
            }
        };
        self.began[start..].iter().take(limit as usize).copied().collect()
    }
}

fn wants(filter: &EventFilter, row: &Row) -> bool {
    (filter.kinds.is_empty() || row.shape.split(',').any(|kind| filter.kinds.contains(&kind)))
        && filter.session.is_none_or(|session| row.session == session)
        && filter.stream.is_none_or(|stream| row.stream == stream)
        && filter.since.is_none_or(|since| row.at >= since)
        && filter.until.is_none_or(|until| row.at < until)
        && row.seq > filter.after
        && filter.actor.as_ref().is_none_or(|actor| *row.actor.name == **actor)
}

fn record((stream, n, seq, cells): (StreamId, u32, Seq, &[Cell])) -> Record {
    Record { stream, n, seq, cells: cells.to_vec() }
}

fn records(records: Vec<Record>) -> Page {
    Page { records, ..Page::default() }
}
