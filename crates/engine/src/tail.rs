//! The newest part of the log, read once for everybody who follows it.
//!
//! A follower that has seen nearly all of the log takes new events from here: the first to ask after a commit reads them,
//! and the others find them. Their documents are made once as well. A follower that is further behind reads the log itself
//! until it is near the end, so that a slow one delays nobody and misses nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use holdpoint_core::Seq;
use holdpoint_store::{EventLog, Row, StoreError};
use tokio::sync::{Mutex, OnceCell};

use crate::documents::event::{EventDocument, Known};
use crate::live::{Recorded, recorded};
use crate::{Engine, SubmitError};

/// How many rows are read at once.
const PAGE: u32 = 256;
/// How many bytes of rows are kept, beside those that were read last.
const KEPT: usize = 4 << 20;

/// An event that somebody follows, with its document once somebody has asked for it.
#[derive(Debug)]
pub struct Followed {
    /// The event.
    pub recorded: Recorded,
    document: OnceCell<Option<EventDocument>>,
}

impl Followed {
    /// The event as the outside sees it, if it does; made once for all who ask.
    pub async fn document(&self, engine: &Engine) -> Result<Option<&EventDocument>, SubmitError> {
        // What is known of a run is only right for as long as it does not move.
        let make = || async { engine.event_document(&self.recorded, &mut Known::default()).await };
        Ok(self.document.get_or_try_init(make).await?.as_ref())
    }
}

/// A row of the log with its events.
pub(crate) struct TailRow {
    pub(crate) row: Row,
    /// Damage stops those who want the row, and nobody else.
    pub(crate) events: Result<Vec<Arc<Followed>>, StoreError>,
}

impl TailRow {
    fn new(row: Row) -> Arc<Self> {
        let one = |recorded| Arc::new(Followed { recorded, document: OnceCell::new() });
        let events = recorded(&row).map(|events| events.into_iter().map(one).collect());
        Arc::new(Self { row, events })
    }
}

/// The newest rows.
#[derive(Default)]
pub(crate) struct Tail(Mutex<Newest>);

#[derive(Default)]
struct Newest {
    /// Everything after this, up to `end`, is here.
    start: Seq,
    end: Seq,
    rows: VecDeque<Arc<TailRow>>,
    bytes: usize,
}

impl Tail {
    /// The rows after a position that the head has moved beyond; the log is read at most once per call, and not at all where
    /// somebody else has read on.
    pub(crate) async fn after(
        &self,
        log: &dyn EventLog,
        after: Seq,
        head: Seq,
    ) -> Result<Vec<Arc<TailRow>>, StoreError> {
        {
            let mut newest = self.0.lock().await;
            if after > newest.end {
                // Nobody has followed for a while.
                *newest = Newest { start: after, end: after, ..Newest::default() };
            }
            if after >= newest.start {
                if newest.end < head {
                    newest.read(log).await?;
                }
                let new = newest.rows.partition_point(|row| row.row.last_seq() <= after);
                return Ok(newest.rows.iter().skip(new).cloned().collect());
            }
        }
        let rows = log.read_all(after, PAGE).await?;
        Ok(rows.into_iter().map(TailRow::new).collect())
    }
}

impl Newest {
    async fn read(&mut self, log: &dyn EventLog) -> Result<(), StoreError> {
        let rows = log.read_all(self.end, PAGE).await?;
        while self.bytes > KEPT
            && let Some(oldest) = self.rows.pop_front()
        {
            self.start = oldest.row.last_seq();
            self.bytes -= oldest.row.bytes.len();
        }
        for row in rows {
            self.end = row.last_seq();
            self.bytes += row.bytes.len();
            self.rows.push_back(TailRow::new(row));
        }
        Ok(())
    }
}
