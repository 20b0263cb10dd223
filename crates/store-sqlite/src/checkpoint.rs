//! Moving the WAL into the file, so that the WAL is overwritten in place and does not grow.
//!
//! A thread of its own moves almost everything while the writer goes on; what came in meanwhile is little,
//! and the writer moves that between two batches. Only then is the WAL empty for a moment and starts over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::connect::Place;

/// The WAL's usual length in pages; shorter is slower at the edges, longer only larger.
const PAGES: i64 = 4_000;
/// When something kept the WAL from starting over, the next try comes after so many pages more.
const MORE: i64 = 1_000;
/// A command that ends soon leaves the work to others for longer.
const SHORT_PAGES: i64 = 4 * PAGES;
/// A WAL this much longer than usual makes the writer wait: the disk cannot keep up with it.
const TOO_LONG: i64 = 3 * PAGES;
/// The WAL's length is asked for when about so many KiB were written.
const ASK_EVERY: usize = 64;

/// The writer's side.
pub(crate) struct Checkpoints {
    place: Place,
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
    shared: Arc<Shared>,
    usual: i64,
    next: i64,
    written: usize,
    /// The WAL is too long, and nobody has waited for it yet.
    behind: bool,
}

#[derive(Default)]
struct Shared {
    /// Held while the thread moves pages.
    moving: Mutex<()>,
    /// Set when it has.
    moved: AtomicBool,
}

impl Checkpoints {
    pub(crate) fn new(place: Place) -> Self {
        let usual = if place.short { SHORT_PAGES } else { PAGES };
        Self { place, thread: None, shared: Arc::default(), usual, next: usual, written: 0, behind: false }
    }

    /// Whether the WAL is left to the next process.
    pub(crate) fn is_short(&self) -> bool {
        self.place.short
    }

    /// Whether the next batch has nothing to do for the WAL that takes time.
    pub(crate) fn at_rest(&self) -> bool {
        !self.behind && !self.shared.moved.load(Ordering::Acquire)
    }

    /// After a batch of about so many KiB: starts moving when the WAL is long enough. Waits for the end of that,
    /// where it must, unless waiting is left to the next batch.
    pub(crate) fn committed(&mut self, conn: &Connection, written: usize, may_wait: bool) {
        self.written += written;
        if self.written < ASK_EVERY && !(self.behind && may_wait) {
            return;
        }
        self.written = 0;
        let Ok(pages) = checkpoint(conn, "PRAGMA wal_checkpoint(NOOP)") else { return };
        if pages < self.usual {
            self.next = self.usual;
        } else if pages >= self.usual + TOO_LONG {
            self.behind = !may_wait;
            if may_wait {
                drop(self.shared.moving.lock());
                self.shared.moved.store(true, Ordering::Release);
            }
        } else if pages >= self.next && self.start() {
            self.next = pages + MORE;
        }
    }

    /// Before a batch, with no other writer about: moves the rest.
    pub(crate) fn finish(&mut self, conn: &Connection) {
        if self.shared.moved.swap(false, Ordering::AcqRel)
            && let Err(error) = checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)")
        {
            tracing::warn!(%error, "the WAL could not be moved into the file");
        }
    }

    fn start(&mut self) -> bool {
        if self.thread.is_none() {
            let (ask, asked) = sync_channel(1);
            let (place, shared) = (self.place.clone(), Arc::clone(&self.shared));
            let thread = std::thread::Builder::new()
                .name("holdpoint-checkpoint".to_owned())
                .spawn(move || run(&place, &asked, &shared));
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

fn run(place: &Place, asked: &Receiver<()>, shared: &Shared) {
    let Ok(conn) = place.checkpointer() else { return };
    while asked.recv().is_ok() {
        let _moving = shared.moving.lock();
        match checkpoint(&conn, "PRAGMA wal_checkpoint(PASSIVE)") {
            Ok(_) => shared.moved.store(true, Ordering::Release),
            Err(error) => tracing::warn!(%error, "the WAL could not be moved into the file"),
        }
    }
}

/// Runs a checkpoint and answers the length of the WAL in pages.
fn checkpoint(conn: &Connection, sql: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached(sql)?.query_row([], |row| row.get(1))
}
