//! A handle on a home's log: what the engine holds.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use holdpoint_core::rows::RowChange;
use holdpoint_core::{Digest, RunId, Seq, StreamId, Timestamp, Version};
use holdpoint_store::{
    Append, BoxFuture, Claimed, Diff, EventLog, Lease, OwnerId, Page, Query, Receipt, Refused, Row,
    SavedFold, StoreError, Swept,
};
use tokio::sync::watch;

use crate::batch::{Books, Packed, last_seq};
use crate::checkpoint::Checkpoints;
use crate::connect::{PATIENCE, Place, Turnstile, failed};
use crate::folds::{Head, PIECE, Piece, Seal};
use crate::follow::Follower;
use crate::identity::Identity;
use crate::integrity::{self, Holder, Integrity};
use crate::keys::PackedReply;
use crate::owners::{Owner, Witness};
use crate::reader::{Reader, Readers};
use crate::rebuild;
use crate::tail;
use crate::work::is_claimable;
use crate::writer::{Desk, Done, Pace, Task, Writer, store_error};

/// How a log is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long an owner that is stopped but not dead keeps its work after its last heartbeat.
    pub lease: Duration,
    /// How many threads read.
    pub readers: usize,
    /// How long a statement waits for another program that writes.
    pub patience: Duration,
    /// For commands that end soon: closing leaves the WAL to the next process.
    pub short: bool,
    /// Refuses a database that is missing or has no tables, instead of making it.
    pub existing: bool,
    /// The file may not have more pages (of 4 KiB) than this; beyond it the disk counts as full.
    pub max_pages: Option<u32>,
    /// The name of another VFS that SQLite reaches the database through; tests put a disk with faults there.
    pub vfs: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            readers: 2,
            patience: PATIENCE,
            short: false,
            existing: false,
            max_pages: None,
            vfs: None,
        }
    }
}

/// A home's log in SQLite. Dropping it waits for what was sent, and frees its work for others.
pub struct SqliteLog {
    place: Place,
    owner: OwnerId,
    witness: Witness,
    head: watch::Sender<Seq>,
    closed: Arc<AtomicBool>,
    /// None where SQLite reaches the file in another way than by its name.
    identity: Option<Identity>,
    lacks_tail: bool,
    follower: Mutex<Option<Follower>>,
    readers: Option<Readers>,
    desk: Arc<Desk>,
    writer: Option<JoinHandle<()>>,
}

impl SqliteLog {
    /// Opens the log in a folder, and creates both when they are missing.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as everywhere")]
    pub fn open(dir: &Path, options: Options) -> Result<Self, StoreError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| StoreError::Io(format!("{}: {error}", dir.display())))?;
        let place = Place {
            dir: dir.to_owned(),
            short: options.short,
            vfs: options.vfs.clone(),
            patience: options.patience,
        };
        let turnstile = Turnstile::open(dir)?;
        let (has_file, has_wal) = (place.file().exists(), place.wal().exists());
        if options.existing && !has_file {
            return Err(StoreError::Corrupt("state.db is missing".to_owned()));
        }
        let conn = place.found(&turnstile, options.existing)?;
        let whole = tail::is_whole(&conn).map_err(|error| failed(&error))?;
        // A new file gets its WAL by being made; a store behind another VFS has its WAL elsewhere.
        let found = has_file && !has_wal && place.vfs.is_none() && whole == Some(false);
        let lacks_tail = tail::is_known_to_lack(dir, found);
        if let Some(pages) = options.max_pages {
            limit(&conn, pages).map_err(|error| failed(&error))?;
        }
        let last = last_seq(&conn).map_err(|error| failed(&error))?;
        let owner = Owner::new(dir, options.lease);
        let (id, witness) = (owner.id, owner.witness.clone());
        let (head, _) = watch::channel(Seq(last));
        let closed = Arc::<AtomicBool>::default();
        let identity = match place.vfs {
            None => Some(Identity::of(&place.file()).map_err(|error| StoreError::Io(error.to_string()))?),
            Some(_) => None,
        };
        let writer = Writer {
            conn,
            books: Books::new(owner),
            turnstile,
            checkpoints: Checkpoints::new(place.clone()),
            head: head.clone(),
            closed: Arc::clone(&closed),
            identity: identity.clone(),
            data_version: -1,
            pace: Pace::default(),
            patience: place.patience,
            longest_patience: place.patience,
        };
        let desk = Arc::new(Desk::new(writer));
        let works = Arc::clone(&desk);
        let thread = std::thread::Builder::new().name("holdpoint-write".to_owned());
        let io = |error: std::io::Error| StoreError::Io(error.to_string());
        let readers = Readers::start(&place, options.readers).map_err(io)?;
        let writer = thread.spawn(move || works.run()).map_err(io)?;
        Ok(Self {
            readers: Some(readers),
            place,
            owner: id,
            witness,
            head,
            closed,
            identity,
            lacks_tail,
            follower: Mutex::default(),
            desk,
            writer: Some(writer),
        })
    }

    /// The owner that this handle is.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// The folder of the database.
    pub fn dir(&self) -> PathBuf {
        self.place.dir.clone()
    }

    /// The bytes of a small blob, as they were sent; not compared with their name.
    pub async fn small_blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.readers()?.ask_shortly(move |reader| reader.small_blob(digest)).await
    }

    /// Small blobs that no append has carried since a time, in the order of their names, with their bytes in the database.
    pub async fn old_blobs(
        &self,
        older: Timestamp,
        after: Option<Digest>,
        limit: u32,
    ) -> Result<Vec<(Digest, u64)>, StoreError> {
        self.readers()?.ask(move |reader| reader.old_blobs(older, after, limit)).await
    }

    /// Removes those of these small blobs that no append has carried since a time.
    pub async fn remove_blobs(&self, digests: Vec<Digest>, older: Timestamp) -> Result<Swept, StoreError> {
        match self.desk.write(Task::RemoveBlobs(digests, older)).await.map_err(store_error)? {
            Done::Removed(swept) => Ok(swept),
            other => Err(StoreError::Corrupt(format!("a removal ended as {other:?}"))),
        }
    }

    /// The bytes that the database takes.
    pub async fn size(&self) -> Result<u64, StoreError> {
        self.readers()?.ask(crate::reader::Reader::size).await
    }

    /// Whether tables of journals are to be made anew from the log, because a migration has added some.
    pub async fn is_stale(&self) -> Result<bool, StoreError> {
        self.readers()?.ask(|reader| crate::schema::stale(&reader.conn)).await
    }

    /// They were.
    pub async fn refreshed(&self) -> Result<(), StoreError> {
        self.desk.write(Task::Refreshed).await.map(drop).map_err(store_error)
    }

    /// Checks the file, with its indexes against their tables, and counts what is in it.
    pub async fn integrity(&self) -> Result<Integrity, StoreError> {
        let wal = self.place.wal();
        self.readers()?.ask(move |reader| integrity::look(&reader.conn, &wal)).await
    }

    /// Writes the database as it is now into another file, which must not exist. Others may write meanwhile.
    pub async fn copy_to(&self, file: PathBuf) -> Result<(), StoreError> {
        let place = self.place.clone();
        let copied = tokio::task::spawn_blocking(move || {
            let conn = place.checkpointer()?;
            tail::copy(&conn, &file)
        });
        copied.await.map_err(|error| StoreError::Io(error.to_string()))?
    }

    /// Who holds the runs that have work due.
    pub async fn holders(&self) -> Result<Vec<Holder>, StoreError> {
        let dir = self.dir();
        self.readers()?.ask(move |reader| integrity::holders(&reader.conn, &dir)).await
    }

    /// Whether a commit has failed: nothing more is written or read, and the process must end.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether the database was copied without its WAL, so that the newest events are missing: it looked so when it was
    /// opened.
    pub fn lacks_tail(&self) -> bool {
        self.lacks_tail
    }

    /// Whether the database was deleted or replaced since it was opened: what this handle writes is lost then.
    pub fn is_displaced(&self) -> bool {
        self.identity.as_ref().is_some_and(|identity| !identity.is_there())
    }

    fn readers(&self) -> Result<&Readers, StoreError> {
        if self.is_closed() {
            return Err(StoreError::Closed);
        }
        self.readers.as_ref().ok_or(StoreError::Closed)
    }

    async fn append_now(&self, append: Append) -> Result<Receipt, Refused> {
        let packed = append.blobs.iter().map(Packed::of).collect();
        let reply = PackedReply::of(&append);
        match self.desk.write(Task::Append(append, packed, reply)).await? {
            Done::Appended(receipt) => Ok(receipt),
            other => Err(StoreError::Corrupt(format!("an append ended as {other:?}")).into()),
        }
    }

    async fn claim_now(&self, task: Task) -> Result<Vec<Claimed>, StoreError> {
        match self.desk.write(task).await.map_err(store_error)? {
            Done::Claimed(claimed) => Ok(claimed),
            other => Err(StoreError::Corrupt(format!("a claim ended as {other:?}"))),
        }
    }

    async fn beat_now(&self) -> Result<Vec<Lease>, StoreError> {
        match self.desk.write(Task::Beat).await.map_err(store_error)? {
            Done::Leases(leases) => Ok(leases),
            other => Err(StoreError::Corrupt(format!("a heartbeat ended as {other:?}"))),
        }
    }

    async fn save_fold_now(&self, fold: SavedFold) -> Result<(), StoreError> {
        let SavedFold { stream, version, hash, code, .. } = fold;
        let mut seal = Seal::of(&fold);
        let (first, rest) = fold.bytes.split_at(fold.bytes.len().min(PIECE));
        seal.add(first);
        let mut pieces = 0;
        for bytes in rest.chunks(PIECE) {
            pieces += 1;
            seal.add(bytes);
            let piece = Piece { stream, version, n: pieces, bytes: bytes.to_vec() };
            self.desk.write(Task::FoldPiece(piece)).await.map_err(store_error)?;
        }
        let head = Head { stream, version, hash, code, pieces, seal: seal.end(), first: first.to_vec() };
        let mut done = self.desk.write(Task::SaveFold(head)).await;
        while let Done::Kept(true) = done.map_err(store_error)? {
            done = self.desk.write(Task::DropFoldPiece(stream)).await;
        }
        Ok(())
    }

    async fn rebuild_now(
        &self,
        stream: StreamId,
        changes: Vec<(Seq, Vec<RowChange>)>,
        replace: bool,
    ) -> Result<Diff, StoreError> {
        if !replace {
            return self.readers()?.ask(move |reader| rebuild::compare(&reader.conn, stream, &changes)).await;
        }
        match self.desk.write(Task::Rebuild(stream, changes)).await.map_err(store_error)? {
            Done::Compared(diff) => Ok(diff),
            other => Err(StoreError::Corrupt(format!("a rebuild ended as {other:?}"))),
        }
    }
}

/// The limit holds for what this handle writes.
fn limit(conn: &rusqlite::Connection, pages: u32) -> rusqlite::Result<()> {
    conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
}

impl EventLog for SqliteLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Receipt, Refused>> {
        Box::pin(self.append_now(append))
    }

    fn read(
        &self,
        stream: StreamId,
        after: Version,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(
            async move { self.readers()?.ask_shortly(move |reader| reader.read(stream, after, limit)).await },
        )
    }

    fn read_all(&self, after: Seq, limit: u32) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(async move { self.readers()?.ask(move |reader| reader.read_all(after, limit)).await })
    }

    fn head(&self) -> watch::Receiver<Seq> {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.is_none() {
            match Follower::start(self.place.clone(), self.head.clone()) {
                Ok(started) => *follower = Some(started),
                Err(error) => tracing::warn!(%error, "appends of other processes are not noticed"),
            }
        }
        self.head.subscribe()
    }

    fn fold(&self, stream: StreamId) -> BoxFuture<'_, Result<Option<SavedFold>, StoreError>> {
        Box::pin(async move { self.readers()?.ask_shortly(move |reader| reader.fold(stream)).await })
    }

    fn save_fold(&self, fold: SavedFold) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.save_fold_now(fold))
    }

    fn claim(
        &self,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> BoxFuture<'_, Result<Vec<Claimed>, StoreError>> {
        Box::pin(async move {
            let (witness, claimer) = (self.witness.clone(), self.owner.0 as i64);
            let look = move |reader: &mut Reader| is_claimable(&reader.conn, &witness, claimer, now, only);
            if limit == 0 || !self.readers()?.ask_shortly(look).await? {
                return Ok(Vec::new());
            }
            self.claim_now(Task::Claim(now, limit, only)).await
        })
    }

    fn beat(&self) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        Box::pin(self.beat_now())
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>> {
        Box::pin(async move {
            let readers = self.readers()?;
            match query {
                // Whoever follows the log asks only for its end.
                Query::Events { ref filter, .. } if filter.after > Seq(0) => {
                    readers.ask_shortly(move |reader| reader.query(&query)).await
                }
                // These may look through much of the log or of a table.
                Query::Events { .. }
                | Query::Streams { .. }
                | Query::Spent(_)
                | Query::ReplyBlobs(_)
                | Query::List { by: None, .. } => readers.ask(move |reader| reader.query(&query)).await,
                Query::Find(..) | Query::Of { .. } | Query::List { by: Some(_), .. } | Query::Reply(_) => {
                    readers.ask_shortly(move |reader| reader.query(&query)).await
                }
            }
        })
    }

    fn rebuild(
        &self,
        stream: StreamId,
        changes: Vec<(Seq, Vec<RowChange>)>,
        replace: bool,
    ) -> BoxFuture<'_, Result<Diff, StoreError>> {
        Box::pin(self.rebuild_now(stream, changes, replace))
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        *self.follower.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.readers = None;
        // The writer goes last: the last connection to close moves the WAL into the file.
        self.desk.close();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
