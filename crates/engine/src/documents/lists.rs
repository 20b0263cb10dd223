//! Pages of lists, newest first.
//!
//! The store never splits the rows that one event wrote over two of its pages, so a place in a list is the
//! position of an event and the ordinal of a row that it wrote.

use holdpoint_core::Seq;
use holdpoint_store::{Query, Record};

use crate::{Engine, SubmitError};

/// How many rows are looked through for one page at most; behind that the caller asks again from there.
const LOOKED_THROUGH: usize = 20_000;

/// A place in a list: right behind this row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The position of the event that first wrote the row.
    pub seq: u64,
    /// The row's ordinal in its stream.
    pub n: u32,
}

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Only what comes behind this row.
    pub after: Option<Position>,
    /// How many at most.
    pub limit: u32,
}

/// The order in which a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From its beginning on.
    Oldest,
    /// From its end back.
    Newest,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<Position>,
}

/// The page among rows of which one more was read, to see whether something follows.
pub(super) fn cut<T>(
    mut records: Vec<Record>,
    bounds: Bounds,
    item: impl Fn(&Record) -> Option<T>,
) -> Listed<T> {
    let more = records.len() > bounds.limit as usize;
    records.truncate(bounds.limit as usize);
    let next = records.last().filter(|_| more).map(place);
    Listed { items: records.iter().filter_map(item).collect(), next }
}

/// Where a row stands.
pub(super) fn place(record: &Record) -> Position {
    Position { seq: record.seq.0, n: record.n }
}

/// One page of rows that are all there.
pub(super) fn page_of(mut records: Vec<Record>, bounds: Bounds) -> Listed<Record> {
    records.retain(|record| bounds.after.is_none_or(|after| place(record) < after));
    records.sort_by_key(|record| std::cmp::Reverse(place(record)));
    let more = records.len() > bounds.limit as usize;
    records.truncate(bounds.limit as usize);
    let next = records.last().filter(|_| more).map(place);
    Listed { items: records, next }
}

/// One page of the rows that `keep` wants.
pub(super) async fn page(
    engine: &Engine,
    bounds: Bounds,
    query: impl Fn(Option<Seq>, u32) -> Query,
    keep: impl Fn(&Record) -> bool,
) -> Result<Listed<Record>, SubmitError> {
    let limit = bounds.limit.max(1) as usize;
    let mut items: Vec<Record> = Vec::new();
    // Rows of the same event stand together and are read again, to find the one behind the place.
    let mut before = bounds.after.map(|after| Seq(after.seq + 1));
    let mut looked = 0;
    loop {
        let asked = bounds.limit.saturating_add(1).max(64);
        let records = engine.query(query(before, asked)).await?.records;
        let last = records.last().map(place);
        let full = records.len() >= asked as usize;
        looked += records.len();
        for record in records {
            let behind = bounds.after.is_none_or(|after| {
                record.seq.0 < after.seq || record.seq.0 == after.seq && record.n < after.n
            });
            if behind && keep(&record) {
                items.push(record);
            }
        }
        if items.len() > limit {
            items.truncate(limit);
            let next = items.last().map(place);
            return Ok(Listed { items, next });
        }
        match last {
            Some(last) if full && looked < LOOKED_THROUGH => before = Some(Seq(last.seq)),
            Some(last) if full => return Ok(Listed { items, next: Some(Position { seq: last.seq, n: 0 }) }),
            _ => return Ok(Listed { items, next: None }),
        }
    }
}
