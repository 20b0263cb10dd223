//! Moving the WAL into the file, so that the WAL is overwritten in place and does not grow.
//!
//! A thread of its own moves almost everything while the writer goes on; what came in meanwhile is little,
//! and the writer moves that between two batches. Only then is the WAL empty for a moment and starts over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::connect::Place;

/// The WAL's usual length in pages; shorter is slower at the edges, longer only larger.
const PAGES: i64 = 4_000;
/// When something kept the WAL from starting over, the next try comes after so many pages more.
const MORE: i64 = 1_000;
/// A command that ends soon leaves the work to others for longer.
const SHORT_PAGES: i64 = 4 * PAGES;
/// The WAL's length is asked for once in so many batches.
const ASK_EVERY: u32 = 8;

/// The writer's side.
pub(crate) struct Checkpoints {
    place: Place,
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
    moved: Arc<AtomicBool>,
    usual: i64,
    next: i64,
    batches: u32,
}

impl Checkpoints {
    pub(crate) fn new(place: Place) -> Self {
        let usual = if place.short { SHORT_PAGES } else { PAGES };
        Self { place, thread: None, moved: Arc::default(), usual, next: usual, batches: 0 }
    }

    /// After a batch: starts moving when the WAL is long enough.
    pub(crate) fn committed(&mut self, conn: &Connection) {
        self.batches = self.batches.wrapping_add(1);
        if !self.batches.is_multiple_of(ASK_EVERY) {
            return;
        }
        let Ok(pages) = checkpoint(conn, "PRAGMA wal_checkpoint(NOOP)") else { return };
        if pages < self.usual {
            self.next = self.usual;
        } else if pages >= self.next && self.start() {
            self.next = pages + MORE;
        }
    }

    /// Before a batch, with no other writer about: moves the rest.
    pub(crate) fn finish(&mut self, conn: &Connection) {
        if self.moved.swap(false, Ordering::AcqRel)
            && let Err(error) = checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)")
        {
            tracing::warn!(%error, "the WAL could not be moved into the file");
        }
    }

    fn start(&mut self) -> bool {
        if self.thread.is_none() {
            let (ask, asked) = sync_channel(1);
            let (place, moved) = (self.place.clone(), Arc::clone(&self.moved));
            let thread = std::thread::Builder::new()
                .name("holdpoint-checkpoint".to_owned())
                .spawn(move || run(&place, &asked, &moved));
            self.thread = thread.ok().map(|thread| (ask, thread));
        }
        self.thread.as_ref().is_some_and(|(ask, _)| ask.try_send(()).is_ok())
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        if let Some((ask, thread)) = self.thread.take() {
            drop(ask);
            let _ = thread.join();
        }
    }
}

fn run(place: &Place, asked: &Receiver<()>, moved: &AtomicBool) {
    let Ok(conn) = place.checkpointer() else { return };
    while asked.recv().is_ok() {
        match checkpoint(&conn, "PRAGMA wal_checkpoint(PASSIVE)") {
            Ok(_) => moved.store(true, Ordering::Release),
            Err(error) => tracing::warn!(%error, "the WAL could not be moved into the file"),
        }
    }
}

/// Runs a checkpoint and answers the length of the WAL in pages.
fn checkpoint(conn: &Connection, sql: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached(sql)?.query_row([], |row| row.get(1))
}
