//! A handle on the log in memory: one simulated process.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use holdpoint_core::rows::RowChange;
use holdpoint_core::{RunId, Seq, StreamId, Timestamp, Version};
use tokio::sync::watch;

use super::blobs::MemoryBlobs;
use super::disk::Process;
use super::fault::Step;
use crate::{
    Append, BoxFuture, Claimed, Diff, EventLog, Lease, OwnerId, Page, Picture, Query, Receipt, Refused, Row,
    SavedFold, StoreError,
};

/// One process's log. Dropping it (and its blobs) is a crash: its leases can be taken over at once.
pub struct MemoryLog {
    process: Arc<Process>,
}

impl MemoryLog {
    pub(super) fn new(process: Process) -> Self {
        Self { process: Arc::new(process) }
    }

    /// This process's way to the same home's blobs; dies with it.
    pub fn blobs(&self) -> MemoryBlobs {
        MemoryBlobs::new(Arc::clone(&self.process))
    }

    /// The owner that this process is.
    pub fn owner(&self) -> OwnerId {
        self.process.owner
    }

    /// Ends the process where it stands: every later call answers that it is closed.
    pub fn crash(&self) {
        self.process.end();
    }

    fn counted(&self, rows: Vec<Row>) -> Vec<Row> {
        self.process.shared.reads.fetch_add(1, Ordering::Relaxed);
        self.count(rows.len());
        rows
    }

    fn count(&self, rows: usize) {
        self.process.shared.rows_read.fetch_add(rows as u64, Ordering::Relaxed);
    }

    fn append_now(&self, append: Append) -> Result<Receipt, Refused> {
        let process = &self.process;
        process.state()?.check(process.owner, &append)?;
        process.meet(Step::BeforeCommit)?;
        let receipt = {
            let mut state = process.state()?;
            state.check(process.owner, &append)?;
            let receipt = state.commit(process.owner, append);
            process
                .shared
                .head
                .send_if_modified(|head| std::mem::replace(head, receipt.last) != receipt.last);
            receipt
        };
        match process.meet(Step::AfterCommit) {
            Ok(()) => Ok(receipt),
            Err(StoreError::Io(why)) => {
                process.end();
                Err(Refused::Unknown(why))
            }
            Err(closed) => Err(closed.into()),
        }
    }

    fn rebuild_now(
        &self,
        stream: StreamId,
        changes: &[(Seq, Vec<RowChange>)],
        replace: bool,
    ) -> Result<Diff, StoreError> {
        let mut state = self.process.state()?;
        let right = Picture::of(stream, changes);
        let diff = right.diff(state.tables.rows_of(stream));
        if replace {
            state.tables.clear(stream);
            for (table, record) in right.rows_of(stream) {
                state.tables.insert(table, record);
            }
        }
        Ok(diff)
    }
}

impl EventLog for MemoryLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Receipt, Refused>> {
        async move { self.append_now(append) }.boxed()
    }

    fn read(
        &self,
        stream: StreamId,
        after: Version,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        async move { Ok(self.counted(self.process.state()?.read(stream, after, limit))) }.boxed()
    }

    fn read_all(&self, after: Seq, limit: u32) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        async move { Ok(self.counted(self.process.state()?.read_all(after, limit))) }.boxed()
    }

    fn head(&self) -> watch::Receiver<Seq> {
        self.process.shared.head.subscribe()
    }

    fn fold(&self, stream: StreamId) -> BoxFuture<'_, Result<Option<SavedFold>, StoreError>> {
        async move { Ok(self.process.state()?.folds.get(&stream).cloned()) }.boxed()
    }

    fn save_fold(&self, fold: SavedFold) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            self.process.state()?.folds.insert(fold.stream, fold);
            Ok(())
        }
        .boxed()
    }

    fn claim(
        &self,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> BoxFuture<'_, Result<Vec<Claimed>, StoreError>> {
        async move { Ok(self.process.state()?.work.claim(self.process.owner, now, limit, only)) }.boxed()
    }

    fn beat(&self) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        async move {
            let mut state = self.process.state()?;
            state.work.beat(self.process.owner);
            Ok(state.work.held(self.process.owner))
        }
        .boxed()
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        async move {
            let page = self.process.state()?.query(query);
            self.count(page.records.len() + page.rows.len());
            Ok(page)
        }
        .boxed()
    }

    fn rebuild(
        &self,
        stream: StreamId,
        changes: Vec<(Seq, Vec<RowChange>)>,
        replace: bool,
    ) -> BoxFuture<'_, Result<Diff, StoreError>> {
        async move { self.rebuild_now(stream, &changes, replace) }.boxed()
    }
}
