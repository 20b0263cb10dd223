//! The one thread of a handle that writes.
//!
//! It takes everything that waits, passes the turnstile that all processes share, and commits it with one
//! sync. Answers leave after the commit. An error while writing rolls the batch back and tries its members
//! one by one; an error of the commit itself leaves the outcome unknown, and then the store stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdpoint_core::rows::RowChange;
use holdpoint_core::{Seq, StreamId, Timestamp};
use holdpoint_store::{Append, Diff, Lease, Receipt, Refused, SavedFold, StoreError};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{oneshot, watch};

use crate::batch::{Books, Packed};
use crate::checkpoint::Checkpoints;
use crate::connect::{Turnstile, failed};
use crate::follow::advance;
use crate::queue::Queue;
use crate::rebuild;

/// How many jobs share a commit at most.
const BATCH: usize = 256;
/// How many jobs may wait before senders do.
pub(crate) const QUEUE: usize = 1024;

/// Something to write.
pub(crate) enum Task {
    Append(Append, Vec<Packed>),
    Claim(Timestamp, u32),
    Beat,
    SaveFold(SavedFold),
    Rebuild(StreamId, Vec<(Seq, Vec<RowChange>)>),
}

/// What came of a task.
#[derive(Debug)]
pub(crate) enum Done {
    Appended(Receipt),
    Leases(Vec<Lease>),
    Saved,
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
}

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    pub(crate) books: Books,
    pub(crate) turnstile: Turnstile,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) head: watch::Sender<Seq>,
    pub(crate) closed: Arc<AtomicBool>,
    pub(crate) data_version: i64,
}

impl Writer {
    /// Works until no sender is left or a commit fails.
    pub(crate) fn run(mut self, jobs: &Queue<Job>) {
        let _end = jobs.end_when_dropped();
        let mut batch = Vec::with_capacity(BATCH);
        while jobs.take(&mut batch, BATCH) > 0 {
            if let Err(error) = self.batch(&mut batch) {
                tracing::error!(%error, "the outcome of a commit is unknown; the store stops");
                self.closed.store(true, Ordering::Release);
                refuse(&mut batch, || Refused::Unknown(error.to_string()));
                return;
            }
            batch.clear();
        }
    }

    /// Writes a batch and answers its members, or finds that the outcome is unknown.
    fn batch(&mut self, jobs: &mut [Job]) -> Result<(), rusqlite::Error> {
        let turn = match self.turnstile.pass() {
            Ok(turn) => turn,
            Err(error) => {
                refuse(jobs, || error.clone().into());
                return Ok(());
            }
        };
        self.checkpoints.finish(&self.conn);
        let tried = attempt(&self.conn, &mut self.books, &mut self.data_version, &self.head, jobs);
        let outcome = match tried {
            Err(Failed::Before(error)) if jobs.len() == 1 => {
                refuse(jobs, || refused(&error));
                Ok(())
            }
            Err(Failed::Before(_)) => jobs.chunks_mut(1).try_for_each(|job| {
                match attempt(&self.conn, &mut self.books, &mut self.data_version, &self.head, job) {
                    Err(Failed::Before(error)) => {
                        refuse(job, || refused(&error));
                        Ok(())
                    }
                    Err(Failed::InCommit(error)) => Err(error),
                    Ok(()) => Ok(()),
                }
            }),
            Err(Failed::InCommit(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        drop(turn);
        self.books.tidy();
        self.checkpoints.committed(&self.conn, jobs.iter().map(weight).sum());
        outcome
    }
}

/// Runs jobs in one transaction, commits, and answers.
fn attempt(
    conn: &Connection,
    books: &mut Books,
    data_version: &mut i64,
    head: &watch::Sender<Seq>,
    jobs: &mut [Job],
) -> Result<(), Failed> {
    run("BEGIN IMMEDIATE", conn).map_err(Failed::Before)?;
    let answers = write(conn, books, data_version, jobs).map_err(|error| {
        take_back(conn, books);
        Failed::Before(error)
    })?;
    let mut answers = Some(answers);
    if cfg!(feature = "bug-answer-before-commit") {
        deliver(jobs, answers.take());
    }
    if let Err(error) = run("COMMIT", conn) {
        let room = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        take_back(conn, books);
        // A full disk refuses the frames before the one that commits; everything else is uncertain.
        return Err(if room { Failed::Before(error) } else { Failed::InCommit(error) });
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
        *data_version = version;
    }
    let last = jobs.len() - 1;
    let skips = cfg!(feature = "bug-batch-member-skipped") && jobs.len() > 1;
    let answer = |(at, job): (usize, &Job)| perform(conn, books, &job.task, skips && at == last);
    jobs.iter().enumerate().map(answer).collect()
}

fn perform(conn: &Connection, books: &mut Books, task: &Task, pretend: bool) -> rusqlite::Result<Answer> {
    Ok(Ok(match task {
        Task::Append(append, blobs) => {
            return Ok(books.append(conn, append, blobs, pretend)?.map(Done::Appended));
        }
        Task::Claim(now, limit) => Done::Leases(books.claim(conn, *now, *limit)?),
        Task::Beat => Done::Leases(books.beat(conn)?),
        Task::SaveFold(fold) => {
            books.save_fold(conn, fold)?;
            Done::Saved
        }
        Task::Rebuild(stream, changes) => Done::Compared(rebuild::replace(conn, books, *stream, changes)?),
    }))
}

/// About how many KiB of WAL a job makes, beyond the pages that every commit shares.
fn weight(job: &Job) -> usize {
    match &job.task {
        Task::Append(append, _) => {
            let rows: usize = append.rows.iter().map(|row| row.bytes.len()).sum();
            let blobs: usize = append.blobs.iter().map(|blob| blob.bytes.len()).sum();
            8 + (rows + blobs) / 1024
        }
        Task::SaveFold(fold) => 8 + fold.bytes.len() / 1024,
        Task::Claim(..) | Task::Beat => 8,
        Task::Rebuild(..) => 1024,
    }
}

fn run(sql: &str, conn: &Connection) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(|_| ())
}

/// Some errors end the transaction by themselves; what is left of it is rolled back.
fn take_back(conn: &Connection, books: &mut Books) {
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
