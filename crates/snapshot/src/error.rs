//! Why a folder could not be captured or restored.

use std::io;

use holdpoint_core::Digest;
use holdpoint_store::BlobError;

use crate::{BadTree, Measure, TreePath};

/// Why a folder could not be captured or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// There is more than a tree may hold.
    #[error("more than {limit} {measure}, at `{path}`")]
    Limit {
        /// What was counted.
        measure: Measure,
        /// The most that is allowed.
        limit: u64,
        /// Where the limit was passed.
        path: TreePath,
    },
    /// The disk refused.
    #[error("`{path}`: {cause}")]
    Io {
        /// On what.
        path: TreePath,
        /// The system's error.
        cause: io::Error,
    },
    /// Something else kept taking a name while it was restored.
    #[error("`{path}` is changed by another program at the same time")]
    Busy {
        /// The name.
        path: TreePath,
    },
    /// A blob that should be a tree object is none.
    #[error("blob {digest} is no tree: {cause}")]
    BadTree {
        /// The blob.
        digest: Digest,
        /// What is wrong with it.
        cause: BadTree,
    },
    /// A content could not be stored or read back.
    #[error("the content of `{path}`: {cause}")]
    Content {
        /// Whose content.
        path: TreePath,
        /// The blob store's error.
        cause: BlobError,
    },
    /// The caller is gone.
    #[error("stopped before the end")]
    Stopped,
}

impl SnapshotError {
    pub(crate) fn io(path: &TreePath, cause: impl Into<io::Error>) -> Self {
        Self::Io { path: path.clone(), cause: cause.into() }
    }

    pub(crate) fn content(path: &TreePath, cause: BlobError) -> Self {
        Self::Content { path: path.clone(), cause }
    }

    pub(crate) fn limit(path: &TreePath) -> impl FnOnce((Measure, u64)) -> Self {
        |(measure, limit)| Self::Limit { measure, limit, path: path.clone() }
    }
}

/// Why a folder could not be captured; `E` is what saving small blobs may end in.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError<E> {
    /// The folder or the blob store.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Small blobs could not be saved.
    #[error("contents could not be saved: {0}")]
    Save(E),
}
