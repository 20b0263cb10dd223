//! Answers to lists and look-ups.
//!
//! Every list walks an index, or the blocks of the log that are marked with everything that is asked for.

use std::collections::HashSet;
use std::sync::PoisonError;

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Seq, StreamId};
use holdpoint_store::{EventFilter, Page, Query, Record, Row};
use rusqlite::{Error, OptionalExtension as _, params};

use crate::batch::last_seq;
use crate::keys;
use crate::names::{BLOCK, Mark, stream_number};
use crate::reader::{COLUMNS, Reader};
use crate::spent::spent;
use crate::sql::{self, Bound};

impl Reader {
    /// Answers a question.
    pub(crate) fn query(&mut self, query: &Query) -> rusqlite::Result<Page> {
        Ok(match query {
            Query::Find(table, column, value) => records(self.find(*table, column, value)?),
            Query::Of { table, stream, after, limit } => records(self.of(*table, *stream, *after, *limit)?),
            Query::List { table, by, before, limit } => {
                records(self.list(*table, by.as_ref(), *before, *limit)?)
            }
            Query::Events { filter, before, limit } => {
                Page { rows: self.events(filter, *before, *limit)?, ..Page::default() }
            }
            Query::Spent(filter) => Page { spent: spent(&self.conn, filter)?, ..Page::default() },
            Query::Reply(scope) => Page { reply: keys::reply(&self.conn, *scope)?, ..Page::default() },
            Query::ReplyBlobs(since) => {
                Page { blobs: keys::reply_blobs(&self.conn, *since)?, ..Page::default() }
            }
            Query::Streams { after, limit } => {
                Page { streams: self.streams(*after, *limit)?, ..Page::default() }
            }
        })
    }

    fn find(&mut self, table: Table, column: &str, value: &Cell) -> rusqlite::Result<Vec<Record>> {
        if !table.def().unique.contains(&column) {
            return Err(Error::InvalidColumnName(column.to_owned()));
        }
        // `=` never finds null, which is not unique.
        let sql = format!("{} WHERE \"{column}\" = ?", sql::select(table.def()));
        self.records(table, &sql, params![Bound(value)], 1)
    }

    fn of(
        &mut self,
        table: Table,
        stream: StreamId,
        after: Option<u32>,
        limit: u32,
    ) -> rusqlite::Result<Vec<Record>> {
        let Some(id) = stream_number(&self.conn, stream)? else { return Ok(Vec::new()) };
        let values = params![id, after.map_or(-1, i64::from), limit];
        self.records(table, &sql::select_of(table.def()), values, u32::MAX)
    }

    fn list(
        &mut self,
        table: Table,
        by: Option<&(&'static str, Cell)>,
        before: Option<Seq>,
        limit: u32,
    ) -> rusqlite::Result<Vec<Record>> {
        let before = before.map_or(i64::MAX, |before| before.0 as i64);
        let order = "seq < ?1 ORDER BY seq DESC, stream DESC, n DESC";
        let select = sql::select(table.def());
        let Some((column, value)) = by else {
            return self.records(table, &format!("{select} WHERE {order}"), params![before], limit);
        };
        if !table.def().listed_by.contains(column) {
            return Err(Error::InvalidColumnName((*column).to_owned()));
        }
        let sql = format!("{select} WHERE \"{column}\" IS ?2 AND {order}");
        self.records(table, &sql, params![before, Bound(value)], limit)
    }

    /// At least `limit` records, if there are so many; rows of one event are never torn apart, since a
    /// cursor could not name the place between them.
    fn records(
        &mut self,
        table: Table,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
        limit: u32,
    ) -> rusqlite::Result<Vec<Record>> {
        let mut found: Vec<Record> = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            let seq = Seq(row.get::<_, i64>(2)? as u64);
            if found.len() >= limit as usize && found.last().is_some_and(|last| last.seq != seq) {
                break;
            }
            found.push(Record {
                stream: self.meanings.stream(&self.conn, row.get(0)?)?,
                n: row.get(1)?,
                seq,
                cells: sql::cells(table.def(), row)?,
            });
        }
        Ok(found)
    }

    fn streams(&mut self, after: Option<StreamId>, limit: u32) -> rusqlite::Result<Vec<StreamId>> {
        let after = match after {
            None => 0,
            Some(after) => stream_number(&self.conn, after)?.unwrap_or(i64::MAX),
        };
        // A stream may have a number before it has an event.
        let ids: Vec<i64> = self
            .conn
            .prepare_cached(
                "SELECT id FROM stream s WHERE id > ? AND EXISTS (SELECT 1 FROM log WHERE stream = s.id)
                 ORDER BY id LIMIT ?",
            )?
            .query_map(params![after, limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        ids.into_iter().map(|id| self.meanings.stream(&self.conn, id)).collect()
    }

    fn events(
        &mut self,
        filter: &EventFilter,
        before: Option<Seq>,
        limit: u32,
    ) -> rusqlite::Result<Vec<Row>> {
        let Some(wanted) = self.wanted(filter)? else { return Ok(Vec::new()) };
        let before = before.map_or(i64::MAX as u64, |before| before.0);
        let after = i64::try_from(filter.after.0).unwrap_or(i64::MAX);
        let mut found = Vec::new();
        if let Some(stream) = wanted.stream {
            let sql = format!(
                "SELECT {COLUMNS} FROM log WHERE stream = ?1 AND seq < ?2 AND seq > ?3 ORDER BY version DESC"
            );
            self.scan(&sql, params![stream, before as i64, after], &wanted, limit, &mut found)?;
        } else if wanted.marks.is_empty() && !wanted.has_times() {
            let sql = format!("SELECT {COLUMNS} FROM log WHERE seq < ?1 AND seq > ?2 ORDER BY seq DESC");
            self.scan(&sql, params![before as i64, after], &wanted, limit, &mut found)?;
        } else {
            let sql = format!("SELECT {COLUMNS} FROM log WHERE seq >= ?1 AND seq < ?2 ORDER BY seq DESC");
            let times = if wanted.has_times() { self.block_times()? } else { Vec::new() };
            // Rows begin before the head, so nothing is above its block.
            let mut block = (before / BLOCK).min(last_seq(&self.conn)? / BLOCK);
            while let Some(at) = self.marked(&wanted.marks, block)? {
                let out = times.get(at as usize).is_some_and(|(first, last)| !wanted.may_be(*first, *last));
                if out && at > 0 && at * BLOCK > filter.after.0 {
                    block = at - 1;
                    continue;
                }
                if out {
                    break;
                }
                let end = (at + 1).saturating_mul(BLOCK).min(before);
                let begin = (at * BLOCK).max(filter.after.0.saturating_add(1));
                self.scan(&sql, params![begin as i64, end as i64], &wanted, limit, &mut found)?;
                if at == 0 || found.len() >= limit as usize || begin > at * BLOCK {
                    break;
                }
                block = at - 1;
            }
        }
        for row in &mut found {
            row.prev = self.hash_before(row)?;
        }
        Ok(found)
    }

    /// The times of all full blocks. What is full never changes, so only new ones are read.
    fn block_times(&self) -> rusqlite::Result<Vec<(i64, i64)>> {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let full = last_seq(&self.conn)? / BLOCK;
        let from = times.len() as u64;
        if from < full {
            // A block in which no row begins holds no time.
            let mut new = vec![(i64::MAX, i64::MIN); (full - from) as usize];
            let mut statement = self.conn.prepare_cached(
                "SELECT seq / ?3, min(at), max(at) FROM log WHERE seq >= ?1 AND seq < ?2 GROUP BY 1",
            )?;
            let mut rows =
                statement.query(params![(from * BLOCK) as i64, (full * BLOCK) as i64, BLOCK as i64])?;
            while let Some(row) = rows.next()? {
                let block = (row.get::<_, i64>(0)? as u64).saturating_sub(from);
                if let Some(block) = new.get_mut(block as usize) {
                    *block = (row.get(1)?, row.get(2)?);
                }
            }
            times.extend(new);
        }
        Ok(times.clone())
    }

    /// The newest block, not above `block`, that is marked with every kind of thing that is asked for.
    fn marked(&self, marks: &[(Mark, Vec<i64>)], mut block: u64) -> rusqlite::Result<Option<u64>> {
        let mut statement = self.conn.prepare_cached(
            "SELECT block FROM marks WHERE what=? AND id=? AND block<=? ORDER BY block DESC LIMIT 1",
        )?;
        loop {
            let top = block;
            for (what, ids) in marks {
                let mut newest = None;
                for id in ids {
                    let at = statement
                        .query_row(params![*what as i64, id, block as i64], |row| row.get::<_, i64>(0))
                        .optional()?;
                    newest = newest.max(at);
                }
                let Some(newest) = newest else { return Ok(None) };
                block = newest as u64;
            }
            if block == top {
                return Ok(Some(block));
            }
        }
    }

    fn scan(
        &mut self,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
        wanted: &Wanted<'_>,
        limit: u32,
        found: &mut Vec<Row>,
    ) -> rusqlite::Result<()> {
        let Self { conn, meanings, .. } = self;
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = if found.len() < limit as usize { rows.next()? } else { None } {
            if wanted.takes(row)? {
                found.push(crate::reader::row_of(conn, meanings, row)?);
            }
        }
        Ok(())
    }

    /// The numbers of what a filter names, or nothing when a name has no number and so no event.
    fn wanted<'a>(&self, filter: &'a EventFilter) -> rusqlite::Result<Option<Wanted<'a>>> {
        let mut wanted = Wanted { filter, stream: None, marks: Vec::new() };
        if let Some(stream) = filter.stream {
            wanted.stream = stream_number(&self.conn, stream)?;
            if wanted.stream.is_none() {
                return Ok(None);
            }
        }
        if let Some(session) = filter.session {
            let ids = self.ids("SELECT id FROM session WHERE uuid=?", session.0.as_bytes().as_slice())?;
            wanted.marks.push((Mark::Session, ids));
        }
        if let Some(actor) = &filter.actor {
            wanted.marks.push((Mark::Actor, self.ids("SELECT id FROM actor WHERE name=?", actor)?));
        }
        if !filter.kinds.is_empty() {
            wanted.marks.push((Mark::Shape, self.shapes(&filter.kinds)?));
        }
        Ok(wanted.marks.iter().all(|(_, ids)| !ids.is_empty()).then_some(wanted))
    }

    fn ids(&self, sql: &str, name: impl rusqlite::ToSql) -> rusqlite::Result<Vec<i64>> {
        self.conn.prepare_cached(sql)?.query_map([name], |row| row.get(0))?.collect()
    }

    fn shapes(&self, kinds: &[&'static str]) -> rusqlite::Result<Vec<i64>> {
        let wanted: HashSet<&str> = kinds.iter().copied().collect();
        let mut statement = self.conn.prepare_cached("SELECT id, kinds FROM shape")?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if row.get_ref(1)?.as_str()?.split(',').any(|kind| wanted.contains(kind)) {
                found.push(row.get(0)?);
            }
        }
        Ok(found)
    }
}

/// A filter in numbers.
struct Wanted<'a> {
    filter: &'a EventFilter,
    stream: Option<i64>,
    marks: Vec<(Mark, Vec<i64>)>,
}

impl Wanted<'_> {
    fn has_times(&self) -> bool {
        self.filter.since.is_some() || self.filter.until.is_some()
    }

    /// Whether something between these times may be wanted.
    fn may_be(&self, first: i64, last: i64) -> bool {
        self.filter.since.is_none_or(|since| last >= since.0)
            && self.filter.until.is_none_or(|until| first < until.0)
    }

    /// Whether a row of [`COLUMNS`] is wanted.
    fn takes(&self, row: &rusqlite::Row<'_>) -> rusqlite::Result<bool> {
        let at: i64 = row.get(4)?;
        if self.filter.since.is_some_and(|since| at < since.0)
            || self.filter.until.is_some_and(|until| at >= until.0)
        {
            return Ok(false);
        }
        for (what, ids) in &self.marks {
            let column = match what {
                Mark::Actor => 5,
                Mark::Shape => 6,
                Mark::Session => 7,
            };
            if !ids.contains(&row.get(column)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn records(records: Vec<Record>) -> Page {
    Page { records, ..Page::default() }
}
