//! Writing: one batch at a time, by a thread of its own, or by a sender that is alone.
//!
//! The thread takes everything that waits, passes the turnstile that all processes share, and commits it with
//! one sync. Answers leave after the commit. A sender that finds nobody else about commits by itself, which
//! saves two changes of threads; it does so only while the disk is quick, and never waits for anything but the
//! sync. An error while writing rolls the batch back and tries its members
//! one by one; an error of the commit itself leaves the outcome unknown, and then the store stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use holdpoint_core::rows::RowChange;
use holdpoint_core::{Digest, RunId, Seq, StreamId, Timestamp};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{Append, Claimed, Diff, KeptBody, Lease, Receipt, Refused, StoreError, Swept};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{oneshot, watch};

use crate::batch::{Books, NeedsWal, Packed, remove_blobs};
use crate::checkpoint::Checkpoints;
use crate::connect::{Turnstile, failed};
use crate::folds::{self, Head, Piece};
use crate::follow::advance;
use crate::identity::Identity;
use crate::keys::PackedReply;
use crate::queue::Queue;
use crate::rebuild;
use crate::tail;

/// How many jobs share a commit at most.
const BATCH: usize = 256;
/// How many jobs may wait before senders do.
const QUEUE: usize = 1024;
/// A sender commits by itself while a batch takes less than this: it holds up its thread for as long.
const QUICK: Duration = Duration::from_millis(1);
/// A sender commits at most about so many KiB by itself.
const SMALL: usize = 64;

/// Something to write.
pub(crate) enum Task {
    Append(Append, Vec<Packed>, Option<PackedReply>),
    Claim(Timestamp, u32, Option<RunId>),
    Beat,
    FoldPiece(Piece),
    SaveFold(Head),
    DropFoldPiece(StreamId),
    RemoveBlobs(Vec<Digest>, Timestamp),
    Rebuild(StreamId, Vec<(Seq, Vec<RowChange>)>),
    Refreshed,
}

/// What came of a task.
#[derive(Debug)]
pub(crate) enum Done {
    Appended(Receipt),
    Claimed(Vec<Claimed>),
    Leases(Vec<Lease>),
    Saved,
    /// Of a fold; and whether there are pieces to drop.
    Kept(bool),
    Removed(Swept),
    Compared(Diff),
}

pub(crate) type Answer = Result<Done, Refused>;

/// A task and who waits for it.
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) answer: Option<oneshot::Sender<Answer>>,
}

/// Why an attempt at a batch failed.
enum Failed {
    /// Nothing was written.
    Before(rusqlite::Error),
    /// The commit may or may not have happened.
    InCommit(rusqlite::Error),
    /// It was committed to a file that its name does not lead to any more.
    Displaced,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Before(error) | Self::InCommit(error) => error.fmt(f),
            Self::Displaced => f.write_str("the database was deleted or replaced"),
        }
    }
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    pub(crate) books: Books,
    pub(crate) turnstile: Turnstile,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) head: watch::Sender<Seq>,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) identity: Option<Identity>,
    pub(crate) data_version: i64,
    pub(crate) pace: Pace,
    /// How long the connection waits for a lock of another program, as it was last told.
    pub(crate) patience: Duration,
    /// How long it waits for another program at most.
    pub(crate) longest_patience: Duration,
}

/// How long a closing store waits for readers of other processes.
const CLOSING: Duration = Duration::from_millis(200);

/// How long batches take, and how many were in the last one.
#[derive(Default)]
pub(crate) struct Pace {
    took: Option<Duration>,
    last: usize,
}

/// The writer, and what waits for it.
pub(crate) struct Desk {
    jobs: Queue<Job>,
    /// Nothing when it has stopped.
    writer: Mutex<Option<Writer>>,
}

impl Desk {
    pub(crate) fn new(writer: Writer) -> Self {
        Self { jobs: Queue::new(QUEUE), writer: Mutex::new(Some(writer)) }
    }

    /// The thread: works until no sender is left or a commit fails.
    pub(crate) fn run(&self) {
        let _end = self.jobs.end_when_dropped();
        let mut batch = Vec::with_capacity(BATCH);
        while self.jobs.take(&mut batch, BATCH) > 0 {
            let mut writer = self.lock();
            let going_on = writer.as_mut().is_some_and(|writer| writer.batch(&mut batch));
            if !going_on {
                *writer = None;
                return;
            }
            batch.clear();
        }
        if let Some(writer) = self.lock().take() {
            writer.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(stop_after_panic)
    }

    /// Nothing more will be sent.
    pub(crate) fn close(&self) {
        self.jobs.close();
    }

    /// Has a task carried out, even if nobody waits for the answer any more.
    pub(crate) async fn write(&self, task: Task) -> Answer {
        let (answer, answered) = oneshot::channel();
        let mut job = Job { task, answer: Some(answer) };
        if self.alone(&mut job) {
            // Whoever the commit woke goes first, as if it had been done elsewhere.
            tokio::task::yield_now().await;
        } else {
            let room = self.jobs.room().await.map_err(|_| StoreError::Closed)?;
            room.put(job).map_err(|_| StoreError::Closed)?;
        }
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Commits a job on this thread, if nobody else is about and nothing has to be waited for.
    fn alone(&self, job: &mut Job) -> bool {
        if !matches!(job.task, Task::Append(..)) || weight(job) > SMALL || !self.jobs.is_empty() {
            return false;
        }
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Poisoned(poisoned)) => stop_after_panic(poisoned),
        };
        let done = writer.as_mut().map_or(Some(false), |writer| writer.alone(job));
        done.unwrap_or_else(|| {
            *writer = None;
            drop(writer);
            self.jobs.close();
            true
        })
    }
}

impl Writer {
    /// Writes a batch and answers its members; says whether more can follow.
    fn batch(&mut self, jobs: &mut [Job]) -> bool {
        let began = Instant::now();
        if let Err(error) = self.be_patient(self.longest_patience) {
            refuse(jobs, || refused(&error));
            return true;
        }
        let turn = match self.turnstile.pass() {
            Ok(turn) => turn,
            Err(error) => {
                refuse(jobs, || error.clone().into());
                return true;
            }
        };
        self.checkpoints.finish(&self.conn);
        let tried = attempt(
            &self.conn,
            &mut self.books,
            &mut self.data_version,
            &self.head,
            self.identity.as_ref(),
            jobs,
        );
        let outcome = match tried {
            Err(Failed::Before(error)) if jobs.len() == 1 => {
                refuse(jobs, || refused(&error));
                Ok(())
            }
            Err(Failed::Before(_)) => jobs.chunks_mut(1).try_for_each(|job| {
                match attempt(
                    &self.conn,
                    &mut self.books,
                    &mut self.data_version,
                    &self.head,
                    self.identity.as_ref(),
                    job,
                ) {
                    Err(Failed::Before(error)) => {
                        refuse(job, || refused(&error));
                        Ok(())
                    }
                    uncertain => uncertain,
                }
            }),
            uncertain => uncertain,
        };
        drop(turn);
        self.ended(jobs, began, outcome, true)
    }

    /// Writes one job, if that needs no waiting. Nothing: a commit failed, and no more can follow.
    fn alone(&mut self, job: &mut Job) -> Option<bool> {
        let began = Instant::now();
        if !self.pace.lets_one_go() || !self.checkpoints.at_rest() {
            return Some(false);
        }
        if self.be_patient(Duration::ZERO).is_err() {
            return Some(false);
        }
        let Some(turn) = self.turnstile.try_pass() else { return Some(false) };
        let jobs = std::slice::from_mut(job);
        let tried = attempt(
            &self.conn,
            &mut self.books,
            &mut self.data_version,
            &self.head,
            self.identity.as_ref(),
            jobs,
        );
        drop(turn);
        let outcome = match tried {
            // The thread tries it once more, with patience.
            Err(Failed::Before(_)) => return Some(false),
            uncertain => uncertain,
        };
        self.ended(jobs, began, outcome, false).then_some(true)
    }

    /// Moves the commit that took back the row which says that the file has everything.
    fn say_that_the_wal_is_needed(&mut self) {
        let Ok((pages, moved)) = tail::move_some(&self.conn) else { return };
        let wanted = match self.books.needs_wal {
            NeedsWal::Pages(wanted) => wanted,
            NeedsWal::Said | NeedsWal::Committed => pages,
        };
        // A WAL that is shorter than it was has started over: all of it was moved.
        let done = moved >= wanted || pages < wanted;
        self.books.needs_wal = if done { NeedsWal::Said } else { NeedsWal::Pages(wanted) };
    }

    /// Moves everything into the file and has the file say so, unless the next process is left to do that.
    fn close(mut self) {
        let displaced = self.identity.as_ref().is_some_and(|identity| !identity.is_there());
        if self.checkpoints.is_short() || displaced {
            return;
        }
        let patient = self.be_patient(CLOSING);
        let Ok(_turn) = self.turnstile.pass() else { return };
        let moved = patient
            .and_then(|()| tail::set_whole(&self.conn, true))
            .and_then(|()| tail::move_all(&self.conn));
        if let Err(error) = moved {
            tracing::warn!(%error, "the WAL could not be moved into the file; it stays beside it");
        }
    }

    /// Has the connection wait so long for another program. It stays so: mostly the next commit is like this one.
    fn be_patient(&mut self, patience: Duration) -> rusqlite::Result<()> {
        if self.patience != patience {
            self.conn.busy_timeout(patience)?;
            self.patience = patience;
        }
        Ok(())
    }

    fn ended(
        &mut self,
        jobs: &mut [Job],
        began: Instant,
        outcome: Result<(), Failed>,
        may_wait: bool,
    ) -> bool {
        self.pace.took(began.elapsed(), jobs.len());
        self.books.tidy();
        if self.books.needs_wal != NeedsWal::Said {
            self.say_that_the_wal_is_needed();
        }
        self.checkpoints.committed(&self.conn, jobs.iter().map(weight).sum(), may_wait);
        let Err(error) = outcome else { return true };
        tracing::error!(%error, "the outcome of a commit is unknown; the store stops");
        self.closed.store(true, Ordering::Release);
        refuse(jobs, || Refused::Unknown(error.to_string()));
        false
    }
}

impl Pace {
    fn took(&mut self, time: Duration, jobs: usize) {
        // One slow sync is no slow disk.
        self.took = Some(self.took.map_or(time, |took| (took * 7 + time) / 8));
        self.last = jobs;
    }

    /// Several at once are better off together, and a slow disk is not waited for by a sender's thread.
    fn lets_one_go(&self) -> bool {
        self.last == 1 && self.took.is_some_and(|took| took < QUICK)
    }
}

/// Somebody panicked in the middle of a batch, and nobody knows what came of it.
fn stop_after_panic(poisoned: PoisonError<MutexGuard<'_, Option<Writer>>>) -> MutexGuard<'_, Option<Writer>> {
    let mut writer = poisoned.into_inner();
    if let Some(writer) = writer.take() {
        writer.closed.store(true, Ordering::Release);
    }
    writer
}

/// Runs jobs in one transaction, commits, and answers.
fn attempt(
    conn: &Connection,
    books: &mut Books,
    data_version: &mut i64,
    head: &watch::Sender<Seq>,
    identity: Option<&Identity>,
    jobs: &mut [Job],
) -> Result<(), Failed> {
    // Before, because the WAL may belong to the file that has the name now.
    if identity.is_some_and(|identity| !identity.is_there()) {
        return Err(Failed::Displaced);
    }
    run("BEGIN IMMEDIATE", conn).map_err(Failed::Before)?;
    let answers = write(conn, books, data_version, jobs).map_err(|error| {
        take_back(conn, books, data_version);
        Failed::Before(error)
    })?;
    let mut answers = Some(answers);
    if planted(Bug::AnswerBeforeCommit) {
        deliver(jobs, answers.take());
    }
    if let Err(error) = run("COMMIT", conn) {
        let room = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        take_back(conn, books, data_version);
        // A full disk refuses the frames before the one that commits; everything else is uncertain.
        return Err(if room { Failed::Before(error) } else { Failed::InCommit(error) });
    }
    // After the commit, because the file may be replaced during it.
    if identity.is_some_and(|identity| !identity.is_there()) {
        return Err(Failed::Displaced);
    }
    if let Ok(last) = books.last(conn) {
        advance(head, last);
    }
    deliver(jobs, answers);
    Ok(())
}

fn write(
    conn: &Connection,
    books: &mut Books,
    data_version: &mut i64,
    jobs: &[Job],
) -> rusqlite::Result<Vec<Answer>> {
    let version = conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
    if version != *data_version {
        books.others_wrote();
        if tail::is_whole(conn)? == Some(true) {
            tail::set_whole(conn, false)?;
            books.needs_wal = NeedsWal::Committed;
        }
        *data_version = version;
    }
    let last = jobs.len() - 1;
    let skips = planted(Bug::BatchMemberSkipped) && jobs.len() > 1;
    let answer = |(at, job): (usize, &Job)| perform(conn, books, &job.task, skips && at == last);
    jobs.iter().enumerate().map(answer).collect()
}

fn perform(conn: &Connection, books: &mut Books, task: &Task, pretend: bool) -> rusqlite::Result<Answer> {
    Ok(Ok(match task {
        Task::Append(append, blobs, reply) => {
            return Ok(books.append(conn, append, (blobs, reply.as_ref()), pretend)?.map(Done::Appended));
        }
        Task::Claim(now, limit, only) => Done::Claimed(books.claim(conn, *now, *limit, *only)?),
        Task::Beat => Done::Leases(books.beat(conn)?),
        Task::FoldPiece(piece) => {
            let stream = books.stream_id(conn, piece.stream)?;
            folds::keep_piece(conn, stream, piece)?;
            Done::Saved
        }
        Task::SaveFold(head) => {
            let stream = books.stream_id(conn, head.stream)?;
            Done::Kept(folds::keep_head(conn, stream, head)?)
        }
        Task::DropFoldPiece(stream) => {
            let stream = books.stream_id(conn, *stream)?;
            Done::Kept(folds::drop_piece(conn, stream)?)
        }
        Task::RemoveBlobs(digests, older) => Done::Removed(remove_blobs(conn, digests, *older)?),
        Task::Refreshed => {
            conn.execute("DELETE FROM meta WHERE name = 'stale'", [])?;
            Done::Saved
        }
        Task::Rebuild(stream, changes) => Done::Compared(rebuild::replace(conn, books, *stream, changes)?),
    }))
}

/// About how many KiB of WAL a job makes, beyond the pages that every commit shares.
fn weight(job: &Job) -> usize {
    match &job.task {
        Task::Append(append, ..) => {
            let rows: usize = append.rows.iter().map(|row| row.bytes.len()).sum();
            let blobs: usize = append.blobs.iter().map(|blob| blob.bytes.len()).sum();
            let reply = append.key.as_ref().map_or(0, |key| match &key.reply.body {
                KeptBody::Inline(bytes) => bytes.len(),
                KeptBody::Blob(_) => 0,
            });
            8 + (rows + blobs + reply) / 1024
        }
        Task::FoldPiece(piece) => 8 + piece.bytes.len() / 1024,
        Task::SaveFold(head) => 8 + head.first.len() / 1024,
        Task::Claim(..) | Task::Beat | Task::Refreshed | Task::DropFoldPiece(_) => 8,
        // Each is one page, and another where it is long.
        Task::RemoveBlobs(digests, _) => 8 * digests.len(),
        Task::Rebuild(..) => 1024,
    }
}

fn run(sql: &str, conn: &Connection) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Some errors end the transaction by themselves; what is left of it is rolled back.
fn take_back(conn: &Connection, books: &mut Books, data_version: &mut i64) {
    // What was read with it may be taken back as well.
    *data_version = -1;
    if books.needs_wal == NeedsWal::Committed {
        books.needs_wal = NeedsWal::Said;
    }
    if !conn.is_autocommit()
        && let Err(error) = run("ROLLBACK", conn)
    {
        tracing::error!(%error, "a batch could not be rolled back");
    }
    books.rolled_back();
}

fn deliver(jobs: &mut [Job], answers: Option<Vec<Answer>>) {
    for (job, answer) in jobs.iter_mut().zip(answers.into_iter().flatten()) {
        if let Some(waiting) = job.answer.take() {
            // Whoever does not wait any more has the commit all the same.
            let _ = waiting.send(answer);
        }
    }
}

fn refuse(jobs: &mut [Job], why: impl Fn() -> Refused) {
    for waiting in jobs.iter_mut().filter_map(|job| job.answer.take()) {
        let _ = waiting.send(Err(why()));
    }
}

fn refused(error: &rusqlite::Error) -> Refused {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Refused::DiskFull,
        _ => failed(error).into(),
    }
}

/// A refusal of something that is no append.
pub(crate) fn store_error(refused: Refused) -> StoreError {
    match refused {
        Refused::Store(error) => error,
        other => StoreError::Io(other.to_string()),
    }
}
