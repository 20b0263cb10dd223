//! Seals: from time to time the heads of all streams that moved are hashed together, and the hash stands in
//! the chain of the home stream, so that a stream that was cut short or removed whole is found.

use std::collections::BTreeMap;

use holdpoint_core::commands::seal_heads::SealHeads;
use holdpoint_core::{Actor, Command, Digest, HomeCommand, Seq, State, StreamId, Version};
use holdpoint_store::Row;
use sha2::{Digest as _, Sha256};

use crate::{Engine, SubmitError};

/// How many rows are read at once.
const PAGE: u32 = 1_000;

/// The heads of the streams that moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heads(BTreeMap<StreamId, (Version, Digest)>);

impl Heads {
    /// Takes a row in. Seals themselves are left out: they would never come to rest.
    pub fn add(&mut self, row: &Row) {
        if row.stream != StreamId::Home {
            self.put(row.stream, row.last(), row.hash);
        }
    }

    /// Takes a stream's head in.
    pub fn put(&mut self, stream: StreamId, version: Version, hash: Digest) {
        self.0.insert(stream, (version, hash));
    }

    /// How many streams moved.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The hash over all of them.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"holdpoint.heads.1");
        for (stream, (version, head)) in &self.0 {
            hash.update([stream.kind() as u8]);
            hash.update(stream.uuid().as_bytes());
            hash.update(version.0.to_be_bytes());
            hash.update(head.0);
        }
        Digest(hash.finalize().into())
    }
}

impl Engine {
    /// Seals what moved since the last seal; true if something had.
    pub async fn seal(&self) -> Result<bool, SubmitError> {
        let home = self.view(StreamId::Home).await?;
        let State::Home(state) = &home.state else { return Ok(false) };
        let mut heads = Heads::default();
        let mut upto = state.sealed;
        let end = *self.log().head().borrow();
        loop {
            let rows = self.log().read_all(upto, PAGE).await?;
            for row in rows.iter().filter(|row| row.last_seq() <= end) {
                heads.add(row);
                upto = row.last_seq();
            }
            if rows.len() < PAGE as usize || upto >= end {
                break;
            }
        }
        if heads.count() == 0 || upto == Seq(0) {
            return Ok(false);
        }
        let command = SealHeads { from: state.sealed, upto, streams: heads.count(), heads: heads.digest() };
        let submitted =
            self.submit(Actor::system(), None, Command::Home(HomeCommand::SealHeads(command))).await?;
        Ok(submitted.receipt.is_some())
    }
}
