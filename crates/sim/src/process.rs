//! One simulated process: an engine on its own handle, which can be killed, or frozen and thawed.
//!
//! Every call to the store passes through here. It can take time, so that others come in between; a frozen
//! process stands still at its next call, as a stopped one would.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use holdpoint_core::rows::RowChange;
use holdpoint_core::{Digest, RunId, Seq, StreamId, Timestamp, Version};
use holdpoint_engine::{Engine, Parts, PlainEvaluator};
use holdpoint_store::memory::{MemoryBlobs, MemoryLog};
use holdpoint_store::{
    Append, BlobError, BlobStore, BoxFuture, Claimed, Diff, EventLog, Lease, Page, Query, Receipt, Refused,
    Row, SavedFold, StoreError, Stored, Swept,
};
use tokio::io::AsyncRead;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::executor::SimExecutor;
use crate::ledger::{Asked, Pid};
use crate::scenery::{Scenery, lock};

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Runs,
    Frozen,
    Dead,
}

/// A life, and who waits for it to change. They wake in the order in which they came.
struct Pace {
    life: Mutex<Life>,
    changed: Notify,
}

/// One simulated process.
pub struct Process {
    /// Its number; never used again.
    pub pid: Pid,
    /// Its engine.
    pub engine: Engine,
    /// Its way to bytes.
    pub blobs: Arc<dyn BlobStore>,
    log: Arc<SimLog>,
    pace: Arc<Pace>,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Process {
    /// Starts a process on the world's home.
    pub fn start(scenery: &Arc<Scenery>, pid: Pid, works: bool) -> Self {
        let inner = scenery.disk.open();
        let pace = Arc::new(Pace { life: Mutex::new(Life::Runs), changed: Notify::new() });
        let pulse = Pulse { scenery: scenery.clone(), pace: pace.clone() };
        let blobs: Arc<dyn BlobStore> = Arc::new(SimBlobs { inner: inner.blobs(), pulse: pulse.clone() });
        let head = scenery.follow();
        let log = Arc::new(SimLog { inner, pulse, pid, head });
        let executor = SimExecutor { scenery: scenery.clone(), pid, blobs: blobs.clone() };
        let engine = Engine::new(Parts {
            log: log.clone(),
            blobs: blobs.clone(),
            clock: scenery.clock.clone(),
            ids: scenery.ids.clone(),
            evaluator: Arc::new(PlainEvaluator),
            offers: Arc::new(holdpoint_core::facts::NothingKnown),
            executor: Arc::new(executor),
            works: works.into(),
            max_parallel: holdpoint_engine::MAX_PARALLEL,
            files: None,
        });
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let (engine, stop) = (engine.clone(), stop.clone());
            async move {
                engine.run_until(stop).await;
            }
        });
        Self { pid, engine, blobs, log, pace, stop, running }
    }

    /// Whether its handle still works.
    pub async fn is_alive(&self) -> bool {
        !self.engine.is_halted() && self.log.inner.fold(StreamId::Home).await.is_ok()
    }

    /// Whether it stands still.
    pub fn is_frozen(&self) -> bool {
        *lock(&self.pace.life) == Life::Frozen
    }

    /// Stops it as SIGSTOP would, or lets it go on.
    pub fn freeze(&self, frozen: bool) {
        self.set(if frozen { Life::Frozen } else { Life::Runs });
    }

    /// Ends it where it stands.
    pub fn kill(&self) {
        self.log.inner.crash();
        self.set(Life::Dead);
        self.engine.abandon();
        self.running.abort();
    }

    fn set(&self, life: Life) {
        let mut now = lock(&self.pace.life);
        if *now != Life::Dead {
            *now = life;
        }
        drop(now);
        self.pace.changed.notify_waiters();
    }

    /// Asks it to end in good order.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Whether it has ended after being asked to.
    pub fn has_stopped(&self) -> bool {
        self.running.is_finished()
    }
}

/// What lets a call of a process through, or not.
#[derive(Clone)]
struct Pulse {
    scenery: Arc<Scenery>,
    pace: Arc<Pace>,
}

impl Pulse {
    /// Comes back when the process runs, after a while.
    async fn beat(&self) -> Result<(), StoreError> {
        self.thaw().await?;
        let delay = {
            let mut delays = self.scenery.delays();
            match delays.below(100) {
                0..70 => None,
                70..90 => Some(0),
                _ => Some(delays.between(1, 15)),
            }
        };
        match delay {
            None => return Ok(()),
            Some(0) => tokio::task::yield_now().await,
            Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        }
        self.thaw().await
    }

    async fn thaw(&self) -> Result<(), StoreError> {
        loop {
            let changed = self.pace.changed.notified();
            let life = *lock(&self.pace.life);
            match life {
                Life::Runs => return Ok(()),
                Life::Dead => return Err(StoreError::Closed),
                Life::Frozen => changed.await,
            }
        }
    }
}

/// A process's log.
struct SimLog {
    inner: MemoryLog,
    pulse: Pulse,
    pid: Pid,
    /// Follows the head alone: of several followers of one channel, chance would decide who wakes first.
    head: watch::Receiver<Seq>,
}

impl SimLog {
    async fn append_late(&self, append: Append) -> Result<Receipt, Refused> {
        self.pulse.beat().await?;
        let scenery = &self.pulse.scenery;
        let asked = Asked::of(&append);
        let before = scenery.disk.head();
        let answer = self.inner.append(append).await;
        let after = scenery.disk.head();
        if before != after {
            scenery.moved(after);
        }
        let found = {
            let mut ledger = lock(&scenery.ledger);
            if matches!(answer, Err(Refused::Fenced(_))) {
                scenery.note(&format!("process {} comes too late", self.pid));
                ledger.fenced += 1;
            }
            let leases = answer.as_ref().map_or(&[][..], |receipt| &receipt.leases);
            if before == after { None } else { ledger.committed(self.pid, asked, before, after, leases) }
        };
        if let Some(found) = found {
            scenery.wrong(found);
        }
        // The answer is on its way: the process may be gone when it arrives.
        self.pulse.beat().await?;
        answer
    }

    async fn claim_late(
        &self,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> Result<Vec<Claimed>, StoreError> {
        self.pulse.beat().await?;
        let claimed = self.inner.claim(now, limit, only).await?;
        let leases: Vec<Lease> = claimed.iter().map(|claimed| claimed.lease).collect();
        for lease in &leases {
            let note = format!("process {} claims {} under epoch {}", self.pid, lease.run, lease.epoch);
            self.pulse.scenery.note(&note);
        }
        let found = lock(&self.pulse.scenery.ledger).claimed(self.pid, &leases);
        if let Some(found) = found {
            self.pulse.scenery.wrong(found);
        }
        Ok(claimed)
    }
}

impl EventLog for SimLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Receipt, Refused>> {
        self.append_late(append).boxed()
    }

    fn read(
        &self,
        stream: StreamId,
        after: Version,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        async move {
            self.pulse.beat().await?;
            self.inner.read(stream, after, limit).await
        }
        .boxed()
    }

    fn read_all(&self, after: Seq, limit: u32) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        async move {
            self.pulse.beat().await?;
            self.inner.read_all(after, limit).await
        }
        .boxed()
    }

    fn head(&self) -> watch::Receiver<Seq> {
        self.head.clone()
    }

    fn fold(&self, stream: StreamId) -> BoxFuture<'_, Result<Option<SavedFold>, StoreError>> {
        async move {
            self.pulse.beat().await?;
            self.inner.fold(stream).await
        }
        .boxed()
    }

    fn save_fold(&self, fold: SavedFold) -> BoxFuture<'_, Result<(), StoreError>> {
        // No chance is drawn here: a fold is encoded on another thread, and comes when it comes.
        async move {
            self.pulse.thaw().await?;
            self.inner.save_fold(fold).await
        }
        .boxed()
    }

    fn claim(
        &self,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> BoxFuture<'_, Result<Vec<Claimed>, StoreError>> {
        self.claim_late(now, limit, only).boxed()
    }

    fn beat(&self) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        async move {
            self.pulse.beat().await?;
            self.inner.beat().await
        }
        .boxed()
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        async move {
            self.pulse.beat().await?;
            self.inner.query(query).await
        }
        .boxed()
    }

    fn rebuild(
        &self,
        stream: StreamId,
        changes: Vec<(Seq, Vec<RowChange>)>,
        replace: bool,
    ) -> BoxFuture<'_, Result<Diff, StoreError>> {
        self.inner.rebuild(stream, changes, replace)
    }
}

/// A process's way to blobs.
struct SimBlobs {
    inner: MemoryBlobs,
    pulse: Pulse,
}

#[allow(clippy::needless_pass_by_value)] // it stands in `map_err`
fn closed(cause: StoreError) -> BlobError {
    BlobError::Io(cause.to_string())
}

impl BlobStore for SimBlobs {
    fn put(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> BoxFuture<'_, Result<Stored, BlobError>> {
        async move {
            self.pulse.beat().await.map_err(closed)?;
            let stored = self.inner.put(bytes, limit).await?;
            self.pulse.beat().await.map_err(closed)?;
            Ok(stored)
        }
        .boxed()
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Box<dyn AsyncRead + Send + Unpin>, BlobError>> {
        async move {
            self.pulse.beat().await.map_err(closed)?;
            self.inner.get(digest).await
        }
        .boxed()
    }

    fn sweep<'a>(
        &'a self,
        referenced: &'a (dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> BoxFuture<'a, Result<Swept, BlobError>> {
        self.inner.sweep(referenced, older, dry)
    }
}
