//! Idempotency keys and the replies that stand with them.
//!
//! A key's row is written in the commit of its request. The body of a reply stands in the row, compressed where that
//! makes it shorter; one that is a blob is named there, so that collection can ask which blobs still hold replies.

use holdpoint_core::{Digest, Seq, Timestamp};
use holdpoint_store::{Append, KeptBody, KeptReply, Key, SMALL_BLOB, UsedKey, kept_since};
use rusqlite::{Connection, OptionalExtension as _, params};

/// Old keys are looked for once in so many new ones.
const PRUNE_EVERY: u32 = 256;
/// Shorter bytes are not worth compressing.
const WORTH_PACKING: usize = 128;

/// How the body of a reply is stored.
#[derive(Clone, Copy)]
enum Codec {
    Plain = 0,
    Zstd = 1,
    /// The digest of a blob.
    Blob = 2,
}

/// The table, whose rows are found by scope and removed by age; the index names the blobs without reading other replies.
pub(crate) const TABLE: &str = "
CREATE TABLE keys(
    n INTEGER PRIMARY KEY,
    scope BLOB NOT NULL UNIQUE,
    request BLOB NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX keys_blob ON keys(at, body) WHERE codec = 2;
";

/// Bytes as they are stored: compressed where that helps. Done by the sender, so that the writer need not wait for it.
pub(crate) fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let packed = (bytes.len() >= WORTH_PACKING).then(|| zstd::bulk::compress(bytes, 3).ok()).flatten();
    packed.filter(|packed| packed.len() < bytes.len())
}

/// The body of an append's reply as it is stored.
pub(crate) struct PackedReply(Codec, Vec<u8>);

impl PackedReply {
    /// Packs the reply of an append that has a key.
    pub(crate) fn of(append: &Append) -> Option<Self> {
        append.key.as_ref().map(|key| match &key.reply.body {
            KeptBody::Blob(digest) => Self(Codec::Blob, digest.0.to_vec()),
            KeptBody::Inline(bytes) => match packed(bytes) {
                Some(packed) => Self(Codec::Zstd, packed),
                None => Self(Codec::Plain, bytes.to_vec()),
            },
        })
    }
}

/// What a key was used for, unless that is too long ago: the request, and where its events stand.
pub(crate) fn used(conn: &Connection, key: &Key) -> rusqlite::Result<Option<(Digest, u64, u64)>> {
    let used = conn
        .prepare_cached("SELECT request, first, last, at FROM keys WHERE scope=?")?
        .query_row([key.scope.0.as_slice()], |row| {
            let (first, last): (i64, i64) = (row.get(1)?, row.get(2)?);
            // Without events the first position is the one after the head.
            Ok(((Digest(row.get(0)?), first.min(last) as u64, last as u64), row.get::<_, i64>(3)?))
        })
        .optional()?;
    Ok(used.filter(|(_, at)| *at > kept_since(key.at).0).map(|(used, _)| used))
}

/// Binds a key to the events after `before`, and to its reply. Now and then removes what is over.
pub(crate) fn keep(
    conn: &Connection,
    key: &Key,
    reply: &PackedReply,
    before: u64,
    last: u64,
    keyed: &mut u32,
) -> rusqlite::Result<()> {
    let PackedReply(codec, body) = reply;
    conn.prepare_cached(
        "INSERT OR REPLACE INTO keys(scope, request, first, last, at, status, codec, body)
         VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        key.scope.0,
        key.request.0,
        (before + 1) as i64,
        last as i64,
        key.at.0,
        key.reply.status,
        *codec as i64,
        body
    ])?;
    *keyed += 1;
    if keyed.is_multiple_of(PRUNE_EVERY) {
        // The oldest stand first, so this reads no more than it may remove.
        conn.prepare_cached(
            "DELETE FROM keys WHERE at <= ? AND n IN (SELECT n FROM keys ORDER BY n LIMIT 1024)",
        )?
        .execute([kept_since(key.at).0])?;
    }
    Ok(())
}

/// What a key was last used for, with the reply.
pub(crate) fn reply(conn: &Connection, scope: Digest) -> rusqlite::Result<Option<UsedKey>> {
    conn.prepare_cached("SELECT request, first, last, at, status, codec, body FROM keys WHERE scope=?")?
        .query_row([scope.0.as_slice()], |row| {
            let (first, last): (i64, i64) = (row.get(1)?, row.get(2)?);
            let wrote = (first <= last).then_some((Seq(first as u64), Seq(last as u64)));
            let codec: i64 = row.get(5)?;
            let body = if codec == Codec::Blob as i64 {
                KeptBody::Blob(Digest(row.get(6)?))
            } else if codec == Codec::Zstd as i64 {
                let unpacked = zstd::bulk::decompress(row.get_ref(6)?.as_blob()?, SMALL_BLOB);
                let damaged = |error: std::io::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
                KeptBody::Inline(unpacked.map_err(damaged)?.into())
            } else {
                KeptBody::Inline(row.get::<_, Vec<u8>>(6)?.into())
            };
            let reply = KeptReply { status: row.get(4)?, body };
            Ok(UsedKey { request: Digest(row.get(0)?), at: Timestamp(row.get(3)?), wrote, reply })
        })
        .optional()
}

/// The blobs that hold replies of keys that were used after a time.
pub(crate) fn reply_blobs(conn: &Connection, since: Timestamp) -> rusqlite::Result<Vec<Digest>> {
    conn.prepare_cached("SELECT body FROM keys WHERE codec = 2 AND at > ?")?
        .query_map([since.0], |row| Ok(Digest(row.get(0)?)))?
        .collect()
}
