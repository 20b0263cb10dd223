//! Noticing what other handles append.
//!
//! A small thread watches the WAL file and asks for the head when it is written to. A commit becomes
//! visible a sync later than its bytes are written, so the thread asks again at growing distances; a slow
//! question behind all that makes up for every notice that is lost.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use holdpoint_core::Seq;
use holdpoint_store::StoreError;
use rusqlite::Connection;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify;
use tokio::sync::watch;

use crate::batch::last_seq;
use crate::connect::Place;

/// The slow question.
const SLOW: Duration = Duration::from_millis(250);
/// The first question after the WAL was written to; also the least rest between two.
const QUICK: Duration = Duration::from_millis(1);

/// The thread that follows the log.
pub(crate) struct Follower {
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    pub(crate) fn start(place: Place, head: watch::Sender<Seq>) -> std::io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("holdpoint-follow".to_owned()).spawn(move || {
            if let Err(error) = follow(&place, &stopped, &head) {
                tracing::warn!(%error, "appends of other processes are not noticed any more");
            }
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(place: &Place, stop: &OwnedFd, head: &watch::Sender<Seq>) -> Result<(), StoreError> {
    let conn = place.reader()?;
    let watched = watch_wal(place);
    let mut seen = Seen::default();
    let mut pause = QUICK;
    loop {
        if let Err(error) = seen.look(&conn, head) {
            tracing::debug!(%error, "the head could not be read; asked again soon");
        }
        // Under a stream of appends it need not wake for each.
        if wait(stop, None, QUICK) {
            return Ok(());
        }
        let written = drain(watched.as_ref());
        if !written && wait(stop, watched.as_ref(), pause) {
            return Ok(());
        }
        pause = if written || drain(watched.as_ref()) { QUICK } else { (pause * 2).min(SLOW) };
    }
}

/// What the last look found.
#[derive(Default)]
struct Seen {
    data_version: Option<i64>,
}

impl Seen {
    /// Looks whether anybody committed, and moves the head.
    fn look(&mut self, conn: &Connection, head: &watch::Sender<Seq>) -> rusqlite::Result<()> {
        let version = conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.data_version == Some(version) {
            return Ok(());
        }
        let last = last_seq(conn)?;
        self.data_version = Some(version);
        advance(head, last);
        Ok(())
    }
}

/// Moves the head forward, never back.
pub(crate) fn advance(head: &watch::Sender<Seq>, last: u64) {
    head.send_if_modified(|head| {
        let moves = last > head.0;
        head.0 = head.0.max(last);
        moves
    });
}

fn watch_wal(place: &Place) -> Option<OwnedFd> {
    let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
    let watched = inotify::init(flags).ok()?;
    inotify::add_watch(&watched, place.wal(), inotify::WatchFlags::MODIFY).ok()?;
    Some(watched)
}

/// Waits for a notice or for the time to pass; says whether to stop.
fn wait(stop: &OwnedFd, watched: Option<&OwnedFd>, time: Duration) -> bool {
    let time = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: i64::from(time.subsec_nanos()) };
    let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
    fds.extend(watched.map(|watched| PollFd::new(watched, PollFlags::IN)));
    // An interrupted wait is only a shorter one.
    let _ = poll(&mut fds, Some(&time));
    !fds[0].revents().is_empty()
}

fn drain(watched: Option<&OwnedFd>) -> bool {
    let mut notices = [0u8; 4096];
    let mut any = false;
    while let Some(watched) = watched
        && rustix::io::read(watched, &mut notices).is_ok_and(|read| read > 0)
    {
        any = true;
    }
    any
}
