//! The hash chain: each row of a stream names the row before it, so that a changed, missing or swapped
//! row is found.
//!
//! The hash covers the exact stored bytes, never a value that was read and written again.

use sha2::{Digest as _, Sha256};

use crate::{Actor, CommandId, Digest, StreamId, Timestamp, Version};

/// The part of a row that is hashed beside its bytes.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    /// The stream.
    pub stream: StreamId,
    /// The version of the row's first event.
    pub first: Version,
    /// How many events the row holds.
    pub count: u32,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: &'a Actor,
    /// By which command.
    pub command: CommandId,
}

/// The hash of a row: over the hash before it, its header, and its stored bytes.
pub fn link(prev: Digest, header: &Header<'_>, bytes: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(b"holdpoint.row.1");
    hash.update(prev.0);
    hash.update([header.stream.kind() as u8]);
    hash.update(header.stream.uuid().as_bytes());
    hash.update(header.first.0.to_be_bytes());
    hash.update(header.count.to_be_bytes());
    hash.update(header.at.0.to_be_bytes());
    hash.update([header.actor.kind as u8]);
    hash.update((header.actor.name.len() as u32).to_be_bytes());
    hash.update(header.actor.name.as_bytes());
    hash.update(header.command.0.as_bytes());
    hash.update(bytes);
    Digest(hash.finalize().into())
}
