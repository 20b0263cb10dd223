//! A program that runs: its output while it does, and how it ended.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::capture::capture;
use crate::wire::{self, Report};
use crate::{Limits, quota};

/// Lines that wait for a reader. Beyond it the program waits, too.
const LINES: usize = 1024;

/// How long the watcher may take to end everything before it is given up. Longer than it gives itself: without it
/// only its child would be ended.
const ENDING: Duration = Duration::from_secs(6);

/// How long output may take to end after every process is gone.
const DRAINING: Duration = Duration::from_millis(500);

/// The signal for too much time on the processors.
const SIGXCPU: i32 = 24;

/// A program that runs. It is ended when this is dropped.
#[derive(Debug)]
pub struct Running {
    lines: mpsc::Receiver<Line>,
    keeper: JoinHandle<Ended>,
    _abandon: DropGuard,
}

/// One line of output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Where it was written.
    pub stream: Stream,
    /// The line without its end. Bytes that are no text are replaced.
    pub text: String,
    /// Whether the rest of it was dropped.
    pub cut: bool,
}

/// A stream of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a program ended. Nothing that it started is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Why.
    pub status: Status,
    /// Output beyond the limits.
    pub dropped_bytes: u64,
    /// How long it took.
    pub wall: Duration,
}

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal of this number.
    Signalled(i32),
    /// Its time was over.
    TimedOut,
    /// Someone asked for it.
    Cancelled,
    /// It took too much.
    Quota(Quota),
    /// Its watcher was lost; the kernel ended the program.
    Lost,
}

/// What a program took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quota {
    /// Time on the processors.
    Cpu,
    /// Bytes in its folders.
    WorkspaceBytes,
    /// Files in its folders.
    WorkspaceFiles,
}

impl Running {
    /// The next line; none when the program ended.
    pub async fn next(&mut self) -> Option<Line> {
        self.lines.recv().await
    }

    /// Waits for the end. Lines that were not asked for are gone.
    pub async fn end(mut self) -> Ended {
        while self.next().await.is_some() {}
        self.keeper.await.unwrap_or(Ended { status: Status::Lost, dropped_bytes: 0, wall: Duration::ZERO })
    }
}

/// What belongs to a program that has just begun.
pub(crate) struct Begun {
    pub watcher: Child,
    pub control: UnixStream,
    pub folders: Vec<PathBuf>,
    pub limits: Limits,
    pub cancel: CancellationToken,
    pub began: Instant,
}

impl Begun {
    /// Keeps it running, whether or not anyone listens.
    pub(crate) fn keep(self) -> Running {
        let abandoned = CancellationToken::new();
        let (send, lines) = mpsc::channel(LINES);
        let guard = abandoned.clone().drop_guard();
        let keeper = tokio::spawn(keep(self, abandoned, send));
        Running { lines, keeper, _abandon: guard }
    }
}

async fn keep(mut begun: Begun, abandoned: CancellationToken, lines: mpsc::Sender<Line>) -> Ended {
    let readers = [
        begun.watcher.stdout.take().map(|stream| read(stream, Stream::Stdout, &begun.limits, &lines)),
        begun.watcher.stderr.take().map(|stream| read(stream, Stream::Stderr, &begun.limits, &lines)),
    ];
    drop(lines);
    let status = outcome(&mut begun, &abandoned).await;
    // It has nothing left to do; where it hangs, its end takes the program along.
    drop(begun.watcher.start_kill());
    drop(begun.watcher.wait().await);
    let wall = begun.began.elapsed();
    let mut dropped_bytes = 0;
    for mut reader in readers.into_iter().flatten() {
        // A reader waits for whoever takes the lines, so only silence counts.
        dropped_bytes += match timeout(DRAINING, &mut reader).await {
            Ok(dropped) => dropped.unwrap_or(0),
            Err(_) if abandoned.is_cancelled() => {
                reader.abort();
                0
            }
            Err(_) => reader.await.unwrap_or(0),
        };
    }
    Ended { status, dropped_bytes, wall }
}

fn read(
    from: impl tokio::io::AsyncRead + Unpin + Send + 'static,
    stream: Stream,
    limits: &Limits,
    lines: &mpsc::Sender<Line>,
) -> JoinHandle<u64> {
    let (limits, lines) = (limits.clone(), lines.clone());
    tokio::spawn(async move { capture(from, stream, &limits, lines).await })
}

/// Waits for the end, or brings it about.
async fn outcome(begun: &mut Begun, abandoned: &CancellationToken) -> Status {
    let left = begun.limits.wall.saturating_sub(begun.began.elapsed());
    let (mut reports, end) = begun.control.split();
    let status = tokio::select! {
        report = wire::next_report(&mut reports) => return by_itself(report.as_ref().ok()),
        () = sleep(left) => Status::TimedOut,
        () = begun.cancel.cancelled() => Status::Cancelled,
        () = abandoned.cancelled() => Status::Cancelled,
        quota = quota::exceeded(begun.folders.clone(), begun.limits.clone()) => Status::Quota(quota),
    };
    // Closing our side tells the watcher to end everything; its report tells that it has.
    drop(tokio::io::AsyncWriteExt::shutdown(&mut { end }).await);
    drop(timeout(ENDING, wire::next_report(&mut reports)).await);
    status
}

fn by_itself(report: Option<&Report>) -> Status {
    match report {
        Some(Report::Ended { signal: Some(SIGXCPU), .. }) => Status::Quota(Quota::Cpu),
        Some(Report::Ended { signal: Some(signal), .. }) => Status::Signalled(*signal),
        Some(Report::Ended { code: Some(code), .. }) => Status::Exited(*code),
        Some(Report::Ended { .. } | Report::Ready | Report::Failed(_)) | None => Status::Lost,
    }
}
