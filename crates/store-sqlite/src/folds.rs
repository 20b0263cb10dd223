//! Saved folds: a head row, and for a long fold more rows with the rest of it.
//!
//! A long fold is written in pieces, each in a commit of its own, so that other senders wait for one piece and not for
//! all of them. The head is written last and names the pieces by its version; before it, and after a crash between two
//! pieces, the fold before is the saved one.
//!
//! Promises: no chain covers a fold, and a wrong state would be believed. So a seal covers all of its bytes, and a fold
//! that does not fit its seal counts as none.

use holdpoint_core::{Digest, StreamId, Version};
use holdpoint_store::SavedFold;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use crate::names::stream_number;
use crate::reader::Reader;

/// How many bytes of a fold one commit writes.
pub(crate) const PIECE: usize = 1024 * 1024;

/// What names a fold, with its first piece.
pub(crate) struct Head {
    pub(crate) stream: StreamId,
    pub(crate) version: Version,
    pub(crate) hash: Digest,
    pub(crate) code: u32,
    /// How many pieces come after the first one.
    pub(crate) pieces: u32,
    pub(crate) seal: Digest,
    pub(crate) first: Vec<u8>,
}

/// One of the pieces after the first one.
pub(crate) struct Piece {
    pub(crate) stream: StreamId,
    pub(crate) version: Version,
    /// From 1.
    pub(crate) n: u32,
    pub(crate) bytes: Vec<u8>,
}

/// The digest of a fold, taken in piece by piece.
pub(crate) struct Seal(Sha256);

impl Seal {
    pub(crate) fn of(fold: &SavedFold) -> Self {
        let mut hash = Sha256::new();
        hash.update(fold.stream.uuid().as_bytes());
        hash.update([fold.stream.kind() as u8]);
        hash.update(fold.version.0.to_be_bytes());
        hash.update(fold.hash.0);
        hash.update(fold.code.to_be_bytes());
        Self(hash)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn end(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Writes a piece of a fold whose head is still to come.
pub(crate) fn keep_piece(conn: &Connection, stream: i64, piece: &Piece) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO fold_pieces VALUES(?, ?, ?, ?)")?
        .execute(params![stream, piece.version.0 as i64, piece.n, piece.bytes])
        .map(drop)
}

/// Makes a fold the saved one, unless a later one is; says whether pieces of others are left.
pub(crate) fn keep_head(conn: &Connection, stream: i64, head: &Head) -> rusqlite::Result<bool> {
    let sealed = [&head.seal.0, head.first.as_slice()].concat();
    conn.prepare_cached(
        "INSERT INTO folds VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(stream) DO UPDATE SET version=excluded.version,
             hash=excluded.hash, code=excluded.code, pieces=excluded.pieces, bytes=excluded.bytes
         WHERE excluded.version >= version",
    )?
    .execute(params![stream, head.version.0 as i64, head.hash.0, head.code, head.pieces, sealed])?;
    is_littered(conn, stream)
}

/// Removes a piece that is older than the saved fold; says whether more are left.
pub(crate) fn drop_piece(conn: &Connection, stream: i64) -> rusqlite::Result<bool> {
    let sql = format!("DELETE FROM fold_pieces WHERE rowid = ({OLD})");
    conn.prepare_cached(&sql)?.execute([stream])?;
    is_littered(conn, stream)
}

fn is_littered(conn: &Connection, stream: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(OLD)?.exists([stream])
}

/// A piece that no saved fold needs. Those of later versions belong to a fold that is being written.
const OLD: &str = "SELECT p.rowid FROM fold_pieces p JOIN folds f ON f.stream = p.stream
    WHERE p.stream = ?1 AND (p.version < f.version OR p.version = f.version AND p.n > f.pieces) LIMIT 1";

impl Reader {
    /// The saved fold of a stream. A damaged one counts as none: the log gives the same state.
    pub(crate) fn fold(&mut self, stream: StreamId) -> rusqlite::Result<Option<SavedFold>> {
        let Some(id) = stream_number(&self.conn, stream)? else { return Ok(None) };
        // Head and pieces are read from one state: another fold may take their place meanwhile.
        let read = self.conn.unchecked_transaction()?;
        let head = read
            .prepare_cached("SELECT version, hash, code, bytes FROM folds WHERE stream=?")?
            .query_row([id], |row| {
                let sealed: Vec<u8> = row.get(3)?;
                let (seal, bytes) = sealed.split_first_chunk().unwrap_or((&[0; 32], &[]));
                let fold = SavedFold {
                    stream,
                    version: Version(row.get::<_, i64>(0)? as u64),
                    hash: Digest(row.get(1)?),
                    code: row.get(2)?,
                    bytes: bytes.to_vec(),
                };
                Ok((Digest(*seal), fold))
            })
            .optional()?;
        let Some((seal, mut fold)) = head else { return Ok(None) };
        {
            let mut pieces =
                read.prepare_cached("SELECT bytes FROM fold_pieces WHERE stream=? AND version=? ORDER BY n")?;
            let mut rows = pieces.query(params![id, fold.version.0 as i64])?;
            while let Some(row) = rows.next()? {
                fold.bytes.extend_from_slice(row.get_ref(0)?.as_blob()?);
            }
        }
        read.finish()?;
        let mut found = Seal::of(&fold);
        found.add(&fold.bytes);
        let whole = found.end() == seal;
        if !whole {
            tracing::warn!(%stream, "a saved fold is damaged and is not used");
        }
        Ok(whole.then_some(fold))
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_core::RunId;
    use holdpoint_store::EventLog as _;
    use uuid::Uuid;

    use super::*;
    use crate::{Options, SqliteLog};

    fn fold(version: u64, length: usize) -> SavedFold {
        let stream = StreamId::Run(RunId(Uuid::from_u128(1)));
        let bytes = (0..length).map(|n| (n / PIECE) as u8 + version as u8).collect();
        SavedFold { stream, version: Version(version), hash: Digest::of(b"row"), code: 3, bytes }
    }

    fn pieces(conn: &Connection) -> Vec<(i64, i64)> {
        let mut statement =
            conn.prepare("SELECT version, n FROM fold_pieces ORDER BY version, n").expect("the table");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<rusqlite::Result<_>>().expect("rows")
    }

    #[tokio::test]
    async fn a_long_fold_is_kept_in_pieces_and_the_old_ones_go() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
        let conn = Connection::open(dir.path().join("state.db")).expect("the file");
        let (long, longer, short) = (fold(5, 2 * PIECE + 7), fold(6, 3 * PIECE + 1), fold(7, PIECE));
        log.save_fold(long.clone()).await.expect("saved");
        assert_eq!(pieces(&conn), [(5, 1), (5, 2)]);
        assert_eq!(log.fold(long.stream).await, Ok(Some(long.clone())));
        log.save_fold(longer.clone()).await.expect("saved");
        assert_eq!(pieces(&conn), [(6, 1), (6, 2), (6, 3)]);
        log.save_fold(long).await.expect("passed over");
        assert_eq!(log.fold(longer.stream).await, Ok(Some(longer)));
        log.save_fold(short.clone()).await.expect("saved");
        assert_eq!(pieces(&conn), []);
        assert_eq!(log.fold(short.stream).await, Ok(Some(short)));
    }

    #[tokio::test]
    async fn until_its_head_is_written_the_fold_before_is_the_saved_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
        let before = fold(5, PIECE + 1);
        log.save_fold(before.clone()).await.expect("saved");
        let conn = Connection::open(dir.path().join("state.db")).expect("the file");
        let stream = before.stream;
        let piece = Piece { stream, version: Version(9), n: 1, bytes: b"cut off".to_vec() };
        let id = stream_number(&conn, stream).expect("an answer").expect("a number");
        keep_piece(&conn, id, &piece).expect("written");
        assert_eq!(log.fold(stream).await, Ok(Some(before)));
        // Without one of its pieces a fold is none.
        let lost = "DELETE FROM fold_pieces WHERE version = 5";
        assert_eq!(conn.execute(lost, []), Ok(1));
        assert_eq!(log.fold(stream).await, Ok(None));
    }
}
