//! Why a command was not carried out.

use holdpoint_core::Rejection;
use holdpoint_store::{BlobError, StoreError};

/// Why a command was not carried out. Except for `Unknown`, nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The rules refuse it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The same idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The work belongs to somebody else by now.
    #[error("the run's work belongs to epoch {0} by now")]
    Fenced(u64),
    /// Others were faster, again and again.
    #[error("others kept changing the same things; nothing was written")]
    Contended,
    /// No room.
    #[error("the disk is full")]
    DiskFull,
    /// The store cannot do its work.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Bytes could not be kept or read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// It is not known whether the commit happened. The process must end.
    #[error("it is unknown whether the commit happened: {0}")]
    Unknown(String),
}

impl SubmitError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rejected(rejection) => rejection.code(),
            Self::KeyReused => "idempotency_key_reused",
            Self::Fenced(_) => "fenced",
            Self::Contended => "contended",
            Self::DiskFull | Self::Blob(BlobError::DiskFull) => "disk_full",
            Self::Store(StoreError::LogCorrupt { .. }) => "log_corrupt",
            Self::Store(_) | Self::Blob(BlobError::Io(_)) => "storage",
            Self::Blob(BlobError::TooLarge(_)) => "too_large",
            Self::Blob(BlobError::Missing(_)) => "blob_missing",
            Self::Blob(BlobError::Corrupt(_)) => "blob_corrupt",
            Self::Unknown(_) => "commit_unknown",
        }
    }
}
