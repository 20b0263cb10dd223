//! The event log: append to several streams at once, read, follow, and claim runs with work due.

use holdpoint_core::chain::{Header, link};
use holdpoint_core::rows::{Op, Order, RowChange};
use holdpoint_core::{
    Actor, CommandId, Digest, Event, RunId, Seq, SessionId, StreamId, Timestamp, Version, event,
};
use tokio::sync::watch;

use crate::{BoxFuture, KeptReply, Page, Query};

/// One home's log. A handle is one owner of work: each process, and each simulated process, opens its own.
pub trait EventLog: Send + Sync {
    /// Appends to all streams or to none. The answer comes when the rows are durable. The key is looked at
    /// first, then the fence, then the versions. Dropping the future leaves all of the append or nothing.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Receipt, Refused>>;

    /// Rows of one stream that end after a version, oldest first.
    fn read(
        &self,
        stream: StreamId,
        after: Version,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<Row>, StoreError>>;

    /// Rows of all streams that end after a position, oldest first, without gaps up to the head.
    fn read_all(&self, after: Seq, limit: u32) -> BoxFuture<'_, Result<Vec<Row>, StoreError>>;

    /// The position of the last durable event; also moves when another process appends.
    fn head(&self) -> watch::Receiver<Seq>;

    /// The saved fold of a stream.
    fn fold(&self, stream: StreamId) -> BoxFuture<'_, Result<Option<SavedFold>, StoreError>>;

    /// Keeps a fold instead of the one before it.
    fn save_fold(&self, fold: SavedFold) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Takes at most `limit` runs with work due that no live owner holds; `only` that one, where it is given.
    fn claim(
        &self,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> BoxFuture<'_, Result<Vec<Claimed>, StoreError>>;

    /// Says that this owner is alive; answers the leases that it still holds.
    fn beat(&self) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>>;

    /// Answers a list or a look-up.
    fn query(&self, query: Query) -> BoxFuture<'_, Result<Page, StoreError>>;

    /// Compares the rows of a stream with what these changes make of an empty table and, when told,
    /// replaces them.
    fn rebuild(
        &self,
        stream: StreamId,
        changes: Vec<(Seq, Vec<RowChange>)>,
        replace: bool,
    ) -> BoxFuture<'_, Result<Diff, StoreError>>;
}

/// What one command writes.
#[derive(Clone, Debug, Default)]
pub struct Append {
    /// Makes the command repeatable by its sender.
    pub key: Option<Key>,
    /// Proves that the sender still owns the run's work.
    pub fence: Option<Fence>,
    /// The versions of all streams that were read, written or not.
    pub expect: Vec<(StreamId, Version)>,
    /// At most one row per stream.
    pub rows: Vec<NewRow>,
    /// Runs whose due time changes.
    pub work: Vec<WorkChange>,
    /// Blobs that are small enough to travel in the same commit.
    pub blobs: Vec<SmallBlob>,
}

/// An idempotency key: its scope (actor, operation, key) as a digest, the digest of the request, and the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Names the request.
    pub scope: Digest,
    /// What was asked; another digest under the same scope is refused.
    pub request: Digest,
    /// When it is used.
    pub at: Timestamp,
    /// What is answered when the request comes again ([`Query::Reply`]).
    pub reply: KeptReply,
}

/// Proof of ownership: refused when the run's epoch has moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The run.
    pub run: RunId,
    /// The epoch under which its work was claimed.
    pub epoch: u64,
}

/// One row: the events that one command writes to one stream.
#[derive(Clone, Debug)]
pub struct NewRow {
    /// The stream.
    pub stream: StreamId,
    /// The session, which every row carries as its partition key.
    pub session: SessionId,
    /// The version of the first event; one more than the expected version.
    pub first: Version,
    /// How many events.
    pub count: u32,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// By which command.
    pub command: CommandId,
    /// The kinds of the events, in order, separated by commas.
    pub shape: String,
    /// The events as they are stored.
    pub bytes: Vec<u8>,
    /// The hash of the row before in the stream.
    pub prev: Digest,
    /// The hash of this row.
    pub hash: Digest,
    /// Per event, in order: the changes of tables that follow from it.
    pub changes: Vec<Vec<RowChange>>,
}

impl NewRow {
    /// Whether a row of a table in the order of positions is put with another event than the one that its ordinal
    /// names.
    pub fn is_misplaced(&self) -> bool {
        (self.first.0..).zip(&self.changes).any(|(version, changes)| {
            changes.iter().any(|change| {
                matches!(&change.op, Op::Put(n, _) if change.table.def().order == Order::Position
                    && u64::from(*n) != version)
            })
        })
    }
}

/// A change of when a run wants attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkChange {
    /// The run.
    pub run: RunId,
    /// When work or a timer is due; `None`: nothing is, and nobody holds the run; its epoch stays. An owner that
    /// ends gives a run back by `None` and the due time again, in one append.
    pub due: Option<Timestamp>,
    /// Whether the appending owner takes the run if nobody holds it; a dead owner's run is taken by a claim.
    pub take: bool,
}

/// Bytes that stand in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallBlob {
    /// Their SHA-256.
    pub digest: Digest,
    /// The bytes themselves.
    pub bytes: std::sync::Arc<[u8]>,
}

/// Where an append stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The position of its first event; the head, if it has none.
    pub first: Seq,
    /// The position of its last event; the head, if it has none.
    pub last: Seq,
    /// The runs of `work` that the appending owner holds now.
    pub leases: Vec<Lease>,
}

/// The right to do a run's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The fencing epoch; a later lease has a higher one.
    pub epoch: u64,
}

/// A lease that a claim gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claimed {
    /// The lease.
    pub lease: Lease,
    /// Whether another owner held the run until it died, and so may have started its work.
    pub abandoned: bool,
}

/// Names one opened handle among all that share a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u64);

/// Why an append did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Somebody else wrote to a stream since it was read.
    #[error("{0} stands at version {1:?} by now")]
    Conflict(StreamId, Version),
    /// The key was used for the same request; this is where its events stand, or the head of then if it has none.
    #[error("the same request was recorded before, at {0:?}")]
    Replayed(Receipt),
    /// The key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The sender does not own the run's work any more.
    #[error("the run's work belongs to epoch {0} by now")]
    Fenced(u64),
    /// No room; nothing was written.
    #[error("the disk is full")]
    DiskFull,
    /// The store failed before the commit; nothing was written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The commit may or may not have happened: nobody is answered and the process must end.
    #[error("it is unknown whether the commit happened: {0}")]
    Unknown(String),
}

/// A store that cannot do its work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database or the disk refused.
    #[error("the store failed: {0}")]
    Io(String),
    /// What is stored cannot be right.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// A row of the log is not what was written. Nothing behind it in its stream can be believed.
    #[error("{stream} is damaged at version {}: {why}", .version.0)]
    LogCorrupt {
        /// The stream.
        stream: StreamId,
        /// The version of the row's first event.
        version: Version,
        /// What is wrong with it.
        why: String,
    },
    /// The store was written by a newer version.
    #[error("the store has schema {found}, this program knows {known}")]
    Newer {
        /// The schema found.
        found: u32,
        /// The newest schema known.
        known: u32,
    },
    /// The store was written by a version from before the first release.
    #[error("the store has schema {found}, the oldest that this program can read is {oldest}")]
    Older {
        /// The schema found.
        found: u32,
        /// The oldest schema that can be read.
        oldest: u32,
    },
    /// The store has stopped writing after a failed commit.
    #[error("the store is closed")]
    Closed,
}

/// One row as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The position of its first event.
    pub seq: Seq,
    /// The stream.
    pub stream: StreamId,
    /// The session.
    pub session: SessionId,
    /// The version of its first event.
    pub first: Version,
    /// How many events.
    pub count: u32,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// By which command.
    pub command: CommandId,
    /// The kinds of the events, in order, separated by commas.
    pub shape: String,
    /// The events as they are stored.
    pub bytes: Vec<u8>,
    /// The hash of the row before in the stream.
    pub prev: Digest,
    /// The hash of this row.
    pub hash: Digest,
}

impl Row {
    /// The hash of the row, from everything that it covers.
    pub fn computed_hash(&self) -> Digest {
        let header = Header {
            stream: self.stream,
            first: self.first,
            count: self.count,
            at: self.at,
            actor: &self.actor,
            command: self.command,
        };
        link(self.prev, &header, &self.bytes)
    }

    /// The row's events, if the row is what its hash says. Every reader that believes a row asks here: a changed bit
    /// often leaves valid JSON that means something else.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        if self.computed_hash() != self.hash {
            return Err(self.corrupt("the row is not what its hash says"));
        }
        let events = event::decode(self.stream.kind(), &self.bytes);
        let events = events.map_err(|cause| self.corrupt(cause.to_string()))?;
        if events.len() == self.count as usize {
            Ok(events)
        } else {
            Err(self.corrupt("the row has another number of events than it says"))
        }
    }

    /// Says that the row is damaged.
    pub fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::LogCorrupt { stream: self.stream, version: self.first, why: why.into() }
    }

    /// The version of the row's last event.
    pub fn last(&self) -> Version {
        Version(self.first.0 + u64::from(self.count) - 1)
    }

    /// The position of the row's last event.
    pub fn last_seq(&self) -> Seq {
        Seq(self.seq.0 + u64::from(self.count) - 1)
    }
}

/// A fold that was saved, so that loading a stream need not begin at its first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFold {
    /// The stream.
    pub stream: StreamId,
    /// The version up to which events are folded in.
    pub version: Version,
    /// The hash of the row that ends there.
    pub hash: Digest,
    /// The version of the code that folded; another version ignores it.
    pub code: u32,
    /// The state, encoded by the engine.
    pub bytes: Vec<u8>,
}

/// What a comparison of tables with the log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Rows compared.
    pub rows: u64,
    /// Rows that are missing, extra or different, each in words; at most a hundred.
    pub wrong: Vec<String>,
}
