//! Long names and their short numbers.
//!
//! A number is given once and never changes, so what was committed may be remembered for ever. The writer
//! forgets everything when a transaction is rolled back; readers only ever see committed numbers.

use std::collections::HashMap;
use std::hash::Hash;

use holdpoint_core::{Actor, ActorKind, SessionId, StreamId, StreamKind};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension as _, ToSql, params};
use uuid::Uuid;

/// How many positions of the log share a mark.
pub(crate) const BLOCK: u64 = 1024;
/// How many names of one kind are remembered.
const REMEMBERED: usize = 50_000;

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Shape = 1,
    Session = 2,
    Actor = 3,
}

/// What the writer knows of a name: its number, and the newest block that is marked with it.
#[derive(Clone, Copy)]
struct Known {
    id: i64,
    marked: Option<u64>,
}

/// The writer's memory of names.
#[derive(Default)]
pub(crate) struct Names {
    shapes: HashMap<String, Known>,
    sessions: HashMap<SessionId, Known>,
    actors: HashMap<Actor, Known>,
}

impl Names {
    /// The number of a shape that occurs at `seq`.
    pub(crate) fn shape(&mut self, conn: &Connection, kinds: &str, seq: u64) -> rusqlite::Result<i64> {
        if let Some(known) = self.shapes.get_mut(kinds) {
            return known.mark(conn, Mark::Shape, seq);
        }
        let find = "SELECT id FROM shape WHERE kinds=?1";
        let id = number(conn, find, "INSERT INTO shape(kinds) VALUES(?1)", params![kinds])?;
        remember(&mut self.shapes, kinds.to_owned(), id).mark(conn, Mark::Shape, seq)
    }

    /// The number of a session that occurs at `seq`.
    pub(crate) fn session(
        &mut self,
        conn: &Connection,
        session: SessionId,
        seq: u64,
    ) -> rusqlite::Result<i64> {
        if let Some(known) = self.sessions.get_mut(&session) {
            return known.mark(conn, Mark::Session, seq);
        }
        let find = "SELECT id FROM session WHERE uuid=?1";
        let insert = "INSERT INTO session(uuid) VALUES(?1)";
        let id = number(conn, find, insert, params![session.0.as_bytes().as_slice()])?;
        remember(&mut self.sessions, session, id).mark(conn, Mark::Session, seq)
    }

    /// The number of an actor that occurs at `seq`.
    pub(crate) fn actor(&mut self, conn: &Connection, actor: &Actor, seq: u64) -> rusqlite::Result<i64> {
        if let Some(known) = self.actors.get_mut(actor) {
            return known.mark(conn, Mark::Actor, seq);
        }
        let find = "SELECT id FROM actor WHERE name=?2 AND kind=?1";
        let insert = "INSERT INTO actor(kind, name) VALUES(?1, ?2)";
        let id = number(conn, find, insert, params![actor.kind as i64, &*actor.name])?;
        remember(&mut self.actors, actor.clone(), id).mark(conn, Mark::Actor, seq)
    }
}

impl Known {
    fn mark(&mut self, conn: &Connection, what: Mark, seq: u64) -> rusqlite::Result<i64> {
        let block = seq / BLOCK;
        if self.marked != Some(block) {
            conn.prepare_cached("INSERT OR IGNORE INTO marks VALUES(?, ?, ?)")?.execute(params![
                what as i64,
                self.id,
                block as i64
            ])?;
            self.marked = Some(block);
        }
        Ok(self.id)
    }
}

fn remember<K: Eq + Hash + Clone>(known: &mut HashMap<K, Known>, name: K, id: i64) -> &mut Known {
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.entry(name).or_insert(Known { id, marked: None })
}

/// Finds a name's number or gives it one.
fn number(conn: &Connection, find: &str, insert: &str, name: &[&dyn ToSql]) -> rusqlite::Result<i64> {
    match conn.prepare_cached(find)?.query_row(name, |row| row.get(0)).optional()? {
        Some(id) => Ok(id),
        None => conn.prepare_cached(insert)?.insert(name),
    }
}

/// The number of a stream, if it has one.
pub(crate) fn stream_number(conn: &Connection, stream: StreamId) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT id FROM stream WHERE uuid=? AND kind=?")?
        .query_row(params![stream.uuid().as_bytes().as_slice(), stream.kind().name()], |row| row.get(0))
        .optional()
}

/// Gives a stream its number.
pub(crate) fn number_stream(conn: &Connection, stream: StreamId) -> rusqlite::Result<i64> {
    conn.prepare_cached("INSERT INTO stream(kind, uuid) VALUES(?, ?)")?
        .insert(params![stream.kind().name(), stream.uuid().as_bytes().as_slice()])
}

/// A reader's memory of what numbers stand for.
#[derive(Default)]
pub(crate) struct Meanings {
    streams: HashMap<i64, StreamId>,
    sessions: HashMap<i64, SessionId>,
    actors: HashMap<i64, Actor>,
    shapes: HashMap<i64, String>,
}

impl Meanings {
    pub(crate) fn stream(&mut self, conn: &Connection, id: i64) -> rusqlite::Result<StreamId> {
        meaning(&mut self.streams, id, || {
            conn.prepare_cached("SELECT kind, uuid FROM stream WHERE id=?")?.query_row([id], |row| {
                let kind =
                    StreamKind::named(row.get_ref(0)?.as_str()?).ok_or_else(|| odd(0, "stream kind"))?;
                Ok(kind.with(Uuid::from_bytes(row.get(1)?)))
            })
        })
    }

    pub(crate) fn session(&mut self, conn: &Connection, id: i64) -> rusqlite::Result<SessionId> {
        meaning(&mut self.sessions, id, || {
            conn.prepare_cached("SELECT uuid FROM session WHERE id=?")?
                .query_row([id], |row| Ok(SessionId(Uuid::from_bytes(row.get(0)?))))
        })
    }

    pub(crate) fn actor(&mut self, conn: &Connection, id: i64) -> rusqlite::Result<Actor> {
        meaning(&mut self.actors, id, || {
            conn.prepare_cached("SELECT kind, name FROM actor WHERE id=?")?.query_row([id], |row| {
                let kind = match row.get::<_, i64>(0)? {
                    0 => ActorKind::Person,
                    1 => ActorKind::Agent,
                    2 => ActorKind::System,
                    _ => return Err(odd(0, "actor kind")),
                };
                Ok(Actor { kind, name: row.get_ref(1)?.as_str()?.into() })
            })
        })
    }

    pub(crate) fn shape(&mut self, conn: &Connection, id: i64) -> rusqlite::Result<String> {
        meaning(&mut self.shapes, id, || {
            conn.prepare_cached("SELECT kinds FROM shape WHERE id=?")?.query_row([id], |row| row.get(0))
        })
    }
}

fn meaning<T: Clone>(
    known: &mut HashMap<i64, T>,
    id: i64,
    look_up: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    if let Some(meaning) = known.get(&id) {
        return Ok(meaning.clone());
    }
    let meaning = look_up()?;
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(id, meaning.clone());
    Ok(meaning)
}

/// A stored value that cannot be right.
pub(crate) fn odd(column: usize, what: &str) -> Error {
    Error::FromSqlConversionFailure(column, Type::Null, format!("unknown {what}").into())
}
