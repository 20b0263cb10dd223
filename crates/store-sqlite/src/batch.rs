//! What one job does inside an open transaction.
//!
//! An append is checked by reads first and written only when nothing refuses it, so a refusal leaves the
//! transaction as it was. What is remembered between batches is right as long as no other connection
//! committed; the writer says when one did, and when a transaction was rolled back.

use std::collections::HashMap;

use holdpoint_core::{Digest, StreamId, Timestamp, Version};
use holdpoint_store::{Append, NewRow, Receipt, Refused, SmallBlob, StoreError, Swept};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::keys::{self, PackedReply};
use crate::names::{Names, number_stream, stream_number};
use crate::owners::Owner;
use crate::sql::Statements;
use crate::work::Entries;

/// How many streams and work rows are remembered.
const REMEMBERED: usize = 100_000;

/// A stream that has a number.
struct Stream {
    id: i64,
    /// Where it stands; unknown after another connection committed.
    version: Option<u64>,
    /// The newest of its rows that this handle has written.
    row: Option<Span>,
}

/// Where the events of one row of the log stand.
#[derive(Clone, Copy)]
struct Span {
    first: u64,
    count: u64,
    seq: u64,
}

impl Span {
    fn position(self, version: u64) -> Option<i64> {
        let after = version.checked_sub(self.first).filter(|after| *after < self.count)?;
        Some((self.seq + after) as i64)
    }
}

/// What the writer remembers between batches.
pub(crate) struct Books {
    pub(crate) owner: Owner,
    pub(crate) entries: Entries,
    pub(crate) statements: Statements,
    streams: HashMap<StreamId, Stream>,
    names: Names,
    /// The position after the last event.
    next: Option<u64>,
    keyed: u32,
    /// The file said that it has everything by itself, and no longer does.
    pub(crate) needs_wal: NeedsWal,
}

/// Whether the file itself says that it needs the WAL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeedsWal {
    /// It does.
    Said,
    /// The WAL says so since the last commit.
    Committed,
    /// So many pages of the WAL have to be moved for it.
    Pages(i64),
}

/// A small blob as it will be stored.
pub(crate) struct Packed {
    digest: Digest,
    size: usize,
    bytes: Option<Vec<u8>>,
}

impl Packed {
    /// Compresses where that helps; done by the sender, so that the writer need not wait for it.
    pub(crate) fn of(blob: &SmallBlob) -> Self {
        Self { digest: blob.digest, size: blob.bytes.len(), bytes: keys::packed(&blob.bytes) }
    }
}

impl Books {
    pub(crate) fn new(owner: Owner) -> Self {
        Self {
            owner,
            entries: Entries::new(),
            statements: Statements::default(),
            streams: HashMap::new(),
            names: Names::default(),
            next: None,
            keyed: 0,
            needs_wal: NeedsWal::Said,
        }
    }

    /// Another connection has committed: numbers stay, everything that can change is read again.
    pub(crate) fn others_wrote(&mut self) {
        self.next = None;
        self.entries.clear();
        for stream in self.streams.values_mut() {
            stream.version = None;
        }
    }

    /// What was written is taken back: nothing is sure.
    pub(crate) fn rolled_back(&mut self) {
        self.next = None;
        self.entries.clear();
        self.streams.clear();
        self.names = Names::default();
        self.owner.rolled_back();
    }

    /// Keeps memory bounded; between transactions.
    pub(crate) fn tidy(&mut self) {
        if self.streams.len() > REMEMBERED {
            self.streams.clear();
        }
        if self.entries.len() > REMEMBERED {
            self.entries.clear();
        }
    }

    /// The position of the last event.
    pub(crate) fn last(&mut self, conn: &Connection) -> rusqlite::Result<u64> {
        if let Some(next) = self.next {
            return Ok(next - 1);
        }
        let last = last_seq(conn)?;
        self.next = Some(last + 1);
        Ok(last)
    }

    /// Appends, or refuses without having written anything. With `pretend`, only says that it did.
    pub(crate) fn append(
        &mut self,
        conn: &Connection,
        append: &Append,
        (blobs, reply): (&[Packed], Option<&PackedReply>),
        pretend: bool,
    ) -> rusqlite::Result<Result<Receipt, Refused>> {
        if let Err(refused) = well_formed(append) {
            return Ok(Err(refused.into()));
        }
        let at = append.rows.first().map_or_else(wall_clock, |row| row.at);
        if let Some(refused) = self.refusal(conn, append)? {
            return Ok(Err(refused));
        }
        let before = self.last(conn)?;
        if !pretend {
            for row in &append.rows {
                self.write(conn, row)?;
            }
            for (blob, packed) in append.blobs.iter().zip(blobs) {
                keep_blob(conn, blob, packed, at)?;
            }
            for change in &append.work {
                self.change(conn, change)?;
            }
        }
        let last = self.last(conn)?;
        let first = last.min(before + 1);
        if let Some((key, reply)) = append.key.as_ref().zip(reply).filter(|_| !pretend) {
            keys::keep(conn, key, reply, before, last, &mut self.keyed)?;
        }
        self.receipt(conn, append, first, last).map(Ok)
    }

    /// The number of a stream, which it is given when it has none.
    pub(crate) fn stream_id(&mut self, conn: &Connection, stream: StreamId) -> rusqlite::Result<i64> {
        if let Some(id) = self.known_stream(conn, stream)? {
            return Ok(id);
        }
        let id = number_stream(conn, stream)?;
        self.streams.insert(stream, Stream { id, version: None, row: None });
        Ok(id)
    }

    /// The number of a stream, if it has one.
    pub(crate) fn known_stream(
        &mut self,
        conn: &Connection,
        stream: StreamId,
    ) -> rusqlite::Result<Option<i64>> {
        if let Some(stream) = self.streams.get(&stream) {
            return Ok(Some(stream.id));
        }
        let id = stream_number(conn, stream)?;
        if let Some(id) = id {
            self.streams.insert(stream, Stream { id, version: None, row: None });
        }
        Ok(id)
    }

    fn refusal(&mut self, conn: &Connection, append: &Append) -> rusqlite::Result<Option<Refused>> {
        if let Some(key) = &append.key
            && let Some((request, first, last)) = keys::used(conn, key)?
        {
            return Ok(Some(if request == key.request {
                Refused::Replayed(self.receipt(conn, append, first, last)?)
            } else {
                Refused::KeyReused
            }));
        }
        if let Some(fence) = &append.fence
            && let Some(epoch) = self.fenced(conn, fence)?
        {
            return Ok(Some(Refused::Fenced(epoch)));
        }
        let written = append.rows.iter().map(|row| (row.stream, Version(row.first.0 - 1)));
        for (stream, expected) in append.expect.iter().copied().chain(written) {
            let version = self.version(conn, stream)?;
            if version != expected {
                return Ok(Some(Refused::Conflict(stream, version)));
            }
        }
        Ok(None)
    }

    fn version(&mut self, conn: &Connection, stream: StreamId) -> rusqlite::Result<Version> {
        if self.known_stream(conn, stream)?.is_none() {
            return Ok(Version(0));
        }
        let known = self.streams.get_mut(&stream).expect("the look-up before remembers the stream");
        if let Some(version) = known.version {
            return Ok(Version(version));
        }
        let version = conn
            .prepare_cached(
                "SELECT version + count - 1 FROM log WHERE stream=? ORDER BY version DESC LIMIT 1",
            )?
            .query_row([known.id], |row| row.get::<_, i64>(0))
            .optional()?
            .unwrap_or(0) as u64;
        known.version = Some(version);
        Ok(Version(version))
    }

    fn write(&mut self, conn: &Connection, row: &NewRow) -> rusqlite::Result<()> {
        let seq = self.last(conn)? + 1;
        let stream = self.stream_id(conn, row.stream)?;
        let actor = self.names.actor(conn, &row.actor, seq)?;
        let shape = self.names.shape(conn, &row.shape, seq)?;
        let session = self.names.session(conn, row.session, seq)?;
        conn.prepare_cached("INSERT INTO log VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?.execute(params![
            seq as i64,
            stream,
            row.first.0 as i64,
            row.count,
            row.at.0,
            actor,
            shape,
            session,
            row.command.0.as_bytes().as_slice(),
            row.hash.0.as_slice(),
            row.bytes,
        ])?;
        let count = u64::from(row.count);
        let span = Span { first: row.first.0, count, seq };
        let known = self.streams.get_mut(&row.stream).expect("it was given a number before");
        let before = known.row.replace(span);
        known.version = Some(row.first.0 + count - 1);
        // A step changes the row that the step before it has made, so the log is seldom asked.
        let position = |version: u32| {
            let version = u64::from(version);
            match span.position(version).or_else(|| before?.position(version)) {
                Some(seq) => Ok(Some(seq)),
                None => position_of(conn, stream, version),
            }
        };
        for (seq, changes) in (seq..).zip(&row.changes) {
            for change in changes {
                self.statements.apply(conn, stream, seq, change, position)?;
            }
        }
        self.next = Some(seq + count);
        Ok(())
    }

    fn receipt(
        &mut self,
        conn: &Connection,
        append: &Append,
        first: u64,
        last: u64,
    ) -> rusqlite::Result<Receipt> {
        let mut leases = Vec::new();
        for change in &append.work {
            leases.extend(self.lease(conn, change.run)?);
        }
        let seq = holdpoint_core::Seq;
        Ok(Receipt { first: seq(first), last: seq(last), leases })
    }
}

/// The position of the last event in the log.
pub(crate) fn last_seq(conn: &Connection) -> rusqlite::Result<u64> {
    let last = conn
        .prepare_cached("SELECT seq + count - 1 FROM log ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(last.unwrap_or(0) as u64)
}

/// Where the event of a stream with a version stands.
fn position_of(conn: &Connection, stream: i64, version: u64) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached(
        "SELECT seq + ?2 - version FROM log WHERE stream=?1 AND version<=?2 ORDER BY version DESC LIMIT 1",
    )?
    .query_row([stream, version as i64], |row| row.get(0))
    .optional()
}

fn keep_blob(conn: &Connection, blob: &SmallBlob, packed: &Packed, at: Timestamp) -> rusqlite::Result<()> {
    debug_assert_eq!(blob.digest, packed.digest, "blobs are packed in order");
    let (codec, bytes) = packed.bytes.as_deref().map_or((0, &*blob.bytes), |bytes| (1, bytes));
    // Naming it again makes it young: a sweep removes only what was named long ago.
    conn.prepare_cached(
        "INSERT INTO blobs(digest, size, codec, at, bytes) VALUES(?, ?, ?, ?, ?)
         ON CONFLICT(digest) DO UPDATE SET at = excluded.at WHERE excluded.at > at",
    )?
    .execute(params![blob.digest.0.as_slice(), packed.size as i64, codec, at.0, bytes])
    .map(|_| ())
}

/// Removes small blobs that no append has carried since a time.
pub(crate) fn remove_blobs(
    conn: &Connection,
    digests: &[Digest],
    older: Timestamp,
) -> rusqlite::Result<Swept> {
    let mut swept = Swept::default();
    let mut statement =
        conn.prepare_cached("DELETE FROM blobs WHERE digest = ? AND at < ? RETURNING length(bytes)")?;
    for digest in digests {
        let size = statement.query_row(params![digest.0.as_slice(), older.0], |row| row.get::<_, i64>(0));
        if let Some(size) = size.optional()? {
            swept.blobs += 1;
            swept.bytes += size as u64;
        }
    }
    Ok(swept)
}

/// For an append without rows, which has no time of its own.
fn wall_clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A sender's mistake that no store could write.
fn well_formed(append: &Append) -> Result<(), StoreError> {
    for (at, row) in append.rows.iter().enumerate() {
        let fault = if append.rows[..at].iter().any(|other| other.stream == row.stream) {
            "two rows"
        } else if row.first.0 == 0 || row.count == 0 {
            "a row without events"
        } else if row.changes.len() != row.count as usize {
            "a row whose changes are not one list per event"
        } else if row.is_misplaced() {
            "a change that does not stand with its event"
        } else {
            continue;
        };
        return Err(StoreError::Io(format!("the append has {fault} for {}", row.stream)));
    }
    Ok(())
}
