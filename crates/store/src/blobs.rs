//! Blobs: bytes named by their SHA-256.

use std::sync::Arc;

use holdpoint_core::{Digest, Timestamp};
use tokio::io::AsyncRead;

use crate::BoxFuture;

/// Blobs of up to this many bytes travel in the append that names them and stand in the database.
pub const SMALL_BLOB: usize = 32 * 1024;

/// Keeps bytes under their SHA-256, each once.
pub trait BlobStore: Send + Sync {
    /// Takes in bytes, at most `limit` of them. What is large is durable when this answers; what is small is
    /// given back and becomes durable with the append that carries it.
    fn put(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> BoxFuture<'_, Result<Stored, BlobError>>;

    /// Reads bytes back; a difference from their name is found while reading and ends in an error.
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Box<dyn AsyncRead + Send + Unpin>, BlobError>>;

    /// Removes (or, when `dry`, only counts) what nothing refers to and what was last put, or carried by an append,
    /// before a time.
    fn sweep<'a>(
        &'a self,
        referenced: &'a (dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> BoxFuture<'a, Result<Swept, BlobError>>;
}

/// What became of bytes that were put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Small: to be sent along with the append.
    Small(Digest, Arc<[u8]>),
    /// Large: on disk under its name.
    Durable(Digest, u64),
}

impl Stored {
    /// The name of the bytes.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Small(digest, _) | Self::Durable(digest, _) => *digest,
        }
    }
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Blobs removed, or that would be.
    pub blobs: u64,
    /// Their bytes on disk.
    pub bytes: u64,
}

/// Why a blob could not be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// More bytes came than are allowed.
    #[error("the content is larger than {0} bytes")]
    TooLarge(u64),
    /// Nothing is stored under this name.
    #[error("no blob {0}")]
    Missing(Digest),
    /// What is stored is not what its name says.
    #[error("blob {0} is damaged")]
    Corrupt(Digest),
    /// No room; nothing was kept.
    #[error("the disk is full")]
    DiskFull,
    /// The disk refused.
    #[error("the blob store failed: {0}")]
    Io(String),
}
