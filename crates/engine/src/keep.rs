//! Keeping bytes before a command names them: uploads, outputs of work, edits.
//!
//! Invariant: when this answers, the bytes are durable, whatever their size.

use holdpoint_core::Digest;
use holdpoint_store::{Append, SmallBlob, Stored};
use tokio::io::AsyncRead;

use crate::{Engine, SubmitError};

impl Engine {
    /// The bytes with a name, as they are read.
    pub async fn blob(&self, digest: Digest) -> Result<Box<dyn AsyncRead + Send + Unpin>, SubmitError> {
        Ok(self.inner.parts.blobs.get(digest).await?)
    }

    /// Takes in bytes, at most `limit` of them, and says what they are called and how many they are. Small
    /// ones stand in the database and share a commit with whatever else waits for one.
    pub async fn keep(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> Result<(Digest, u64), SubmitError> {
        let (digest, bytes) = match self.inner.parts.blobs.put(bytes, limit).await? {
            Stored::Durable(digest, size) => return Ok((digest, size)),
            Stored::Small(digest, bytes) => (digest, bytes),
        };
        let size = bytes.len() as u64;
        self.keep_small(vec![SmallBlob { digest, bytes }]).await?;
        Ok((digest, size))
    }

    /// Keeps small blobs, which share a commit with whatever else waits for one.
    pub async fn keep_small(&self, blobs: Vec<SmallBlob>) -> Result<(), SubmitError> {
        let append = Append { blobs, ..Append::default() };
        self.log().append(append).await.map(drop).map_err(|refused| self.refused(refused))
    }
}
