//! A server that is a program: started with nothing but what is configured, and ended with all that it started.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::model::Secret;

/// How long a program may take to end when nobody speaks to it any more. Its keeper is less patient, so that it is the
/// one who ends what has left the group.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long is waited for the rest of what it complains, once it says nothing else any more.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How much of what it complains is kept.
const COMPLAINTS: usize = 2 * 1024;

/// A running program. Dropping it ends the program and its group.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    group: Option<Pid>,
    complaints: Arc<Mutex<VecDeque<u8>>>,
    listener: JoinHandle<()>,
}

impl Program {
    /// Starts a program in a group of its own.
    pub(super) fn start(
        keeper: &[OsString],
        command: &[String],
        env: &BTreeMap<String, Secret>,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        if command.is_empty() {
            return Err(io::Error::other("there is no program"));
        }
        let mut words = keeper.iter().map(OsString::as_os_str).chain(command.iter().map(OsStr::new));
        let mut child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value.expose())))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(stdout), Some(stdin), Some(stderr)) =
            (child.stdout.take(), child.stdin.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it cannot be spoken to"));
        };
        let complaints: Arc<Mutex<VecDeque<u8>>> = Arc::default();
        let listener = tokio::spawn(listen(stderr, complaints.clone()));
        Ok((Self { child, group, complaints, listener }, stdout, stdin))
    }

    /// What it complained about last, after it said the rest: its two voices end at different moments.
    pub(super) async fn last_words(&mut self) -> Option<String> {
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.listener).await;
        self.complaints()
    }

    /// The last of what it complained about, on one line.
    pub(super) fn complaints(&self) -> Option<String> {
        let kept = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.lines().map(str::trim).rfind(|line| !line.is_empty())?.to_owned();
        Some(text.chars().filter(|c| !c.is_control()).take(300).collect())
    }

    /// Lets it end by itself, then ends it and whatever it left behind.
    pub(super) async fn end(mut self) {
        let over = async {
            while !self.is_over() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, over).await;
        self.kill();
        let _ = self.child.wait().await;
    }

    /// Whether it has ended. It is not taken off the list yet, so that its number stays its own.
    fn is_over(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.group.is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut piece = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut piece).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&piece[..count]);
        let over = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..over);
    }
}

/// What a server says, up to a limit between two of our questions. Beyond that its voice has ended.
#[derive(Debug)]
pub(super) struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
}

/// Counts what a server says.
#[derive(Debug)]
pub(super) struct Meter {
    most: u64,
    heard: AtomicU64,
}

impl Meter {
    pub(super) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, heard: AtomicU64::new(0) })
    }

    /// Begins anew.
    pub(super) fn reset(&self) {
        // One that said too much is not heard again.
        if !self.is_over() {
            self.heard.store(0, Ordering::Relaxed);
        }
    }

    /// Whether there was too much.
    pub(super) fn is_over(&self) -> bool {
        self.heard.load(Ordering::Relaxed) > self.most
    }

    /// Counts, and says whether there was too much.
    pub(super) fn add(&self, bytes: usize) -> bool {
        self.heard.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64 > self.most
    }
}

impl<R> Metered<R> {
    pub(super) fn new(inner: R, meter: Arc<Meter>) -> Self {
        Self { inner, meter }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        if self.meter.add(buffer.filled().len() - before) {
            return Poll::Ready(Err(io::Error::other("too much")));
        }
        read
    }
}
