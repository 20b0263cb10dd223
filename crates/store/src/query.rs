//! The small typed query that lists and look-ups are made of.
//!
//! Field names come from table descriptions, never from a request. Lists run along `seq`, so a cursor stays
//! right whatever the clock does.

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Seq, SessionId, StreamId, Timestamp};

use crate::Row;

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
}
