//! Reading rows of the log, and answering lists and look-ups from the tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use holdpoint_core::event::Usage;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Digest, Seq, StreamId, Timestamp, Version};

use super::disk::State;
use crate::picture::column_at;
use crate::{DAY, EventFilter, KeptBody, Page, Query, Record, Row, Spent, SpentBy, SpentFilter};

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
            Query::Spent(filter) => Page { spent: self.spent(&filter), ..Page::default() },
            Query::Reply(scope) => Page { reply: self.keys.get(&scope).cloned(), ..Page::default() },
            Query::ReplyBlobs(since) => Page { blobs: self.reply_blobs(since), ..Page::default() },
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

    fn spent(&self, filter: &SpentFilter) -> Vec<Spent> {
        let column = |name| column_at(Table::Spending, name);
        let (Some(pipeline), Some(run), Some(at)) = (column("pipeline"), column("run"), column("at")) else {
            return Vec::new();
        };
        let mut groups: BTreeMap<Cell, Spent> = BTreeMap::new();
        for (.., cells) in self.tables.rows_in(Table::Spending) {
            let when = match &cells[at] {
                Cell::Int(at) => *at,
                Cell::Null | Cell::Text(_) | Cell::Bytes(_) => 0,
            };
            let wanted = filter.pipeline.is_none_or(|id| cells[pipeline] == id.0.into())
                && filter.run.is_none_or(|id| cells[run] == id.0.into())
                && filter.since.is_none_or(|since| when >= since.0)
                && filter.until.is_none_or(|until| when < until.0);
            if !wanted {
                continue;
            }
            let group = match filter.by {
                SpentBy::All => Cell::Null,
                SpentBy::Column(name) => column(name).map_or(Cell::Null, |at| cells[at].clone()),
                SpentBy::Day => Cell::Int(when - when.rem_euclid(DAY)),
            };
            let number = |name| match column(name).map(|at| &cells[at]) {
                Some(Cell::Int(number)) => u64::try_from(*number).unwrap_or(0),
                Some(Cell::Null | Cell::Text(_) | Cell::Bytes(_)) | None => 0,
            };
            let usage = Usage {
                calls: number("calls"),
                input_tokens: number("input_tokens"),
                output_tokens: number("output_tokens"),
                cache_read_tokens: number("cache_read_tokens"),
                cache_write_tokens: number("cache_write_tokens"),
                cost_micros: number("cost_micros"),
            };
            let nothing = Spent { group: group.clone(), usage: Usage::default(), took_ms: 0 };
            let sum = groups.entry(group).or_insert(nothing);
            sum.usage = sum.usage.plus(usage);
            sum.took_ms = sum.took_ms.saturating_add(number("took_ms"));
        }
        let mut spent: Vec<Spent> = groups.into_values().collect();
        spent.sort_by_key(|spent| Reverse((spent.usage.cost_micros, spent.usage.calls, spent.took_ms)));
        spent.truncate(filter.limit as usize);
        spent
    }

    fn reply_blobs(&self, since: Timestamp) -> Vec<Digest> {
        let kept = self.keys.values().filter(|used| used.at > since);
        kept.filter_map(|used| match used.reply.body {
            KeptBody::Blob(digest) => Some(digest),
            KeptBody::Inline(_) => None,
        })
        .collect()
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
