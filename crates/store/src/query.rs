//! The small typed query that lists and look-ups are made of.
//!
//! Field names come from table descriptions, never from a request. Lists run along `seq`, so a cursor stays
//! right whatever the clock does.

use holdpoint_core::event::Usage;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Digest, PipelineId, RunId, Seq, SessionId, StreamId, Timestamp};

use crate::{Row, UsedKey};

/// A question about the tables or the log.
#[derive(Clone, Debug)]
pub enum Query {
    /// The row with this value in a unique column; null finds nothing.
    Find(Table, &'static str, Cell),
    /// Rows of one stream in the order of their ordinals, after an ordinal.
    Of {
        /// The table.
        table: Table,
        /// The stream that the rows belong to.
        stream: StreamId,
        /// The ordinal after which to begin.
        after: Option<u32>,
        /// How many at most.
        limit: u32,
    },
    /// Rows of a table, newest first (by `seq`, then by ordinal), before a position. Rows that one event wrote
    /// are never split over two pages, so that `before` loses none: a page may be longer than its limit.
    List {
        /// The table.
        table: Table,
        /// A listed column and its value; null lists the rows without one.
        by: Option<(&'static str, Cell)>,
        /// The position before which to begin.
        before: Option<Seq>,
        /// How many at most.
        limit: u32,
    },
    /// Rows of the log that hold a wanted event, newest first, before a position.
    Events {
        /// Which.
        filter: EventFilter,
        /// The position before which to begin.
        before: Option<Seq>,
        /// How many rows at most.
        limit: u32,
    },
    /// What was spent, added up by group, the dearest first.
    Spent(SpentFilter),
    /// What an idempotency key was last used for, also where that is over; by the key's scope.
    Reply(Digest),
    /// The blobs that hold replies of keys that were used after a time.
    ReplyBlobs(Timestamp),
    /// All streams, in the order in which they began, after one of them.
    Streams {
        /// The stream after which to begin.
        after: Option<StreamId>,
        /// How many at most.
        limit: u32,
    },
}

/// Which rows of the log are wanted; all given conditions hold.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Rows with at least one event of these kinds; empty: any.
    pub kinds: Vec<&'static str>,
    /// Rows of one session.
    pub session: Option<SessionId>,
    /// Rows of one stream.
    pub stream: Option<StreamId>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// By the actor with this name.
    pub actor: Option<String>,
    /// Rows that begin behind this position.
    pub after: Seq,
}

/// Which spending is added up; all given conditions hold.
#[derive(Clone, Debug)]
pub struct SpentFilter {
    /// In one pipeline.
    pub pipeline: Option<PipelineId>,
    /// In one run.
    pub run: Option<RunId>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// By what it is grouped.
    pub by: SpentBy,
    /// How many groups at most.
    pub limit: u32,
}

/// By what spending is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpentBy {
    /// All in one.
    All,
    /// A column of the table of spending.
    Column(&'static str),
    /// Days, in UTC: a day's name is its first microsecond.
    Day,
}

/// What one group spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The group; null where all is one.
    pub group: Cell,
    /// What calls of models cost.
    pub usage: Usage,
    /// How long work took, in thousandths of a second.
    pub took_ms: u64,
}

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The stream that the row belongs to.
    pub stream: StreamId,
    /// Its ordinal inside the stream.
    pub n: u32,
    /// Where it was first written.
    pub seq: Seq,
    /// The table's columns, in the order of its description.
    pub cells: Vec<Cell>,
}

/// An answer; the kind of query says which list is filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// For `Find`, `Of` and `List`.
    pub records: Vec<Record>,
    /// For `Events`.
    pub rows: Vec<Row>,
    /// For `Streams`.
    pub streams: Vec<StreamId>,
    /// For `Spent`.
    pub spent: Vec<Spent>,
    /// For `Reply`.
    pub reply: Option<UsedKey>,
    /// For `ReplyBlobs`.
    pub blobs: Vec<Digest>,
}
