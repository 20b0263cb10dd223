//! The threads that read, each with a connection of its own, and reading the log.
//!
//! A short question, one that an index answers with a few rows, is asked on the caller's own thread: going to
//! another one and back takes ten times as long as the answer.
//!
//! Promises: no read transaction outlives one question, so readers never keep the WAL from starting over.
//! The log only grows, so a question may take several statements and still be answered from one state.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use holdpoint_core::{CommandId, Digest, Seq, StreamId, Timestamp, Version};
use holdpoint_store::{Row, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::connect::{Place, failed};
use crate::names::{Meanings, stream_number};

/// The columns that [`row_of`] reads, in its order.
pub(crate) const COLUMNS: &str =
    "seq, stream, version, count, at, actor, shape, session, command, hash, bytes";

type Question = Box<dyn FnOnce(Result<&mut Reader, StoreError>) + Send>;

/// The threads that read, and a reader for short questions.
pub(crate) struct Readers {
    place: Place,
    times: Times,
    here: Mutex<Option<Reader>>,
    questions: Option<Sender<Question>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts threads; each connects when it has its first question.
    pub(crate) fn start(place: &Place, count: usize) -> std::io::Result<Self> {
        let (questions, asked) = channel();
        let asked = Arc::new(Mutex::new(asked));
        let times = Times::default();
        let start = |_| {
            let (place, asked, times) = (place.clone(), Arc::clone(&asked), Arc::clone(&times));
            let thread = std::thread::Builder::new().name("holdpoint-read".to_owned());
            thread.spawn(move || run(&place, &asked, &times))
        };
        let threads = (0..count.max(1)).map(start).collect::<Result<_, _>>()?;
        Ok(Self { place: place.clone(), times, here: Mutex::default(), questions: Some(questions), threads })
    }

    /// Asks what is answered at once: here, unless somebody else is asking here.
    pub(crate) async fn ask_shortly<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Ok(mut here) = self.here.try_lock() {
            let reader = match &mut *here {
                Some(reader) => reader,
                none => none.insert(Reader::new(self.place.reader()?, &self.times)),
            };
            return question(reader).map_err(|error| failed(&error));
        }
        self.ask(question).await
    }

    /// Asks on one of the threads.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |reader| {
            let found = reader.and_then(|reader| question(reader).map_err(|error| failed(&error)));
            let _ = answer.send(found);
        });
        let sent = self.questions.as_ref().map(|questions| questions.send(question));
        match sent {
            Some(Ok(())) => answered.await.map_err(|_| StoreError::Closed)?,
            _ => Err(StoreError::Closed),
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.questions = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn run(place: &Place, asked: &Mutex<Receiver<Question>>, times: &Times) {
    let mut reader = None;
    loop {
        let next = asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(question) = next else { return };
        if reader.is_none() {
            match place.reader() {
                Ok(conn) => reader = Some(Reader::new(conn, times)),
                Err(error) => {
                    question(Err(error));
                    continue;
                }
            }
        }
        question(reader.as_mut().ok_or(StoreError::Closed));
    }
}

/// The first and the last time in each full block of the log, as far as somebody has asked for times.
pub(crate) type Times = Arc<Mutex<Vec<(i64, i64)>>>;

/// A connection that reads.
pub(crate) struct Reader {
    pub(crate) conn: Connection,
    pub(crate) meanings: Meanings,
    pub(crate) times: Times,
}

impl Reader {
    fn new(conn: Connection, times: &Times) -> Self {
        Self { conn, meanings: Meanings::default(), times: Arc::clone(times) }
    }

    /// Rows of one stream that end after a version.
    pub(crate) fn read(
        &mut self,
        stream: StreamId,
        after: Version,
        limit: u32,
    ) -> rusqlite::Result<Vec<Row>> {
        let Some(id) = stream_number(&self.conn, stream)? else { return Ok(Vec::new()) };
        // Begins one row earlier: that one may reach beyond the version, or else it has the hash before.
        let sql = format!(
            "SELECT {COLUMNS} FROM log WHERE stream=?1 AND version >= coalesce(
                 (SELECT version FROM log WHERE stream=?1 AND version <= ?2 ORDER BY version DESC LIMIT 1), 0)
             ORDER BY version LIMIT ?3"
        );
        self.collect(&sql, params![id, after.0 as i64, i64::from(limit) + 1], limit, |row| row.last() > after)
    }

    /// Rows of all streams that end after a position.
    pub(crate) fn read_all(&mut self, after: Seq, limit: u32) -> rusqlite::Result<Vec<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM log WHERE seq >= coalesce((SELECT max(seq) FROM log WHERE seq <= ?1), 0)
             ORDER BY seq LIMIT ?2"
        );
        self.collect(&sql, params![after.0 as i64, i64::from(limit) + 1], limit, |row| row.last_seq() > after)
    }

    /// The bytes that the database's pages take, but for those that are free.
    pub(crate) fn size(&mut self) -> rusqlite::Result<u64> {
        let number = |name: &str| self.conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let used = number("page_count")? - number("freelist_count")?;
        Ok((used * number("page_size")?) as u64)
    }

    /// The bytes of a small blob.
    pub(crate) fn small_blob(&mut self, digest: Digest) -> rusqlite::Result<Option<Vec<u8>>> {
        let stored = self
            .conn
            .prepare_cached("SELECT size, codec, bytes FROM blobs WHERE digest=?")?
            .query_row([digest.0.as_slice()], |row| {
                Ok((row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)?, row.get::<_, Vec<u8>>(2)?))
            })
            .optional()?;
        match stored {
            Some((size, 1, packed)) => {
                let unpacked = zstd::bulk::decompress(&packed, size);
                unpacked.map(Some).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
            }
            stored => Ok(stored.map(|(_, _, bytes)| bytes)),
        }
    }

    /// Small blobs that no append has carried since a time, in the order of their names.
    pub(crate) fn old_blobs(
        &mut self,
        older: Timestamp,
        after: Option<Digest>,
        limit: u32,
    ) -> rusqlite::Result<Vec<(Digest, u64)>> {
        let after = after.map_or_else(Vec::new, |digest| digest.0.to_vec());
        self.conn
            .prepare_cached(
                "SELECT digest, length(bytes) FROM blobs WHERE digest > ? AND at < ? ORDER BY digest LIMIT ?",
            )?
            .query_map(params![after, older.0, limit], |row| {
                Ok((Digest(row.get(0)?), row.get::<_, i64>(1)? as u64))
            })?
            .collect()
    }

    /// The hash of the row before a row in its stream.
    pub(crate) fn hash_before(&self, row: &Row) -> rusqlite::Result<Digest> {
        hash_before(&self.conn, row)
    }

    fn collect(
        &mut self,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
        limit: u32,
        wanted: impl Fn(&Row) -> bool,
    ) -> rusqlite::Result<Vec<Row>> {
        let mut found: Vec<Row> = Vec::new();
        let mut hashes: HashMap<StreamId, Digest> = HashMap::new();
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = if found.len() < limit as usize { rows.next()? } else { None } {
            let mut row = row_of(&self.conn, &mut self.meanings, row)?;
            let before = hashes.insert(row.stream, row.hash);
            if !wanted(&row) {
                continue;
            }
            row.prev = before.map_or_else(|| hash_before(&self.conn, &row), Ok)?;
            found.push(row);
        }
        Ok(found)
    }
}

/// One row of [`COLUMNS`]; the hash before it is still to be found.
pub(crate) fn row_of(
    conn: &Connection,
    meanings: &mut Meanings,
    row: &rusqlite::Row<'_>,
) -> rusqlite::Result<Row> {
    Ok(Row {
        seq: Seq(row.get::<_, i64>(0)? as u64),
        stream: meanings.stream(conn, row.get(1)?)?,
        first: Version(row.get::<_, i64>(2)? as u64),
        count: row.get(3)?,
        at: Timestamp(row.get(4)?),
        actor: meanings.actor(conn, row.get(5)?)?,
        shape: meanings.shape(conn, row.get(6)?)?,
        session: meanings.session(conn, row.get(7)?)?,
        command: CommandId(Uuid::from_bytes(row.get(8)?)),
        hash: Digest(row.get(9)?),
        bytes: row.get(10)?,
        prev: Digest::ZERO,
    })
}

fn hash_before(conn: &Connection, row: &Row) -> rusqlite::Result<Digest> {
    if row.first == Version(1) {
        return Ok(Digest::ZERO);
    }
    let before = conn
        .prepare_cached(
            "SELECT hash FROM log WHERE version < ?2 AND stream = (SELECT stream FROM log WHERE seq = ?1)
             ORDER BY version DESC LIMIT 1",
        )?
        .query_row([row.seq.0 as i64, row.first.0 as i64], |row| row.get(0))
        .optional()?;
    // A missing row shows as a hash that does not fit.
    Ok(before.map_or(Digest::ZERO, Digest))
}
