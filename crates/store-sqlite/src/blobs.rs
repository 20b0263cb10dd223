//! Blobs on a local disk: large ones as compressed files named by their SHA-256, small ones from the database.
//!
//! Promises: a large blob is on disk, bytes and name, when `put` answers; content is streamed, never held
//! whole; what is read is checked against its name, and a difference ends the reading in an error; a crash
//! leaves at most a temporary file, which a later sweep removes. Paths are made of digests only, never of
//! anything that was sent.
//!
//! The work on files is done on threads that may block; dropping a future stops it between two chunks.

mod folder;
mod reader;
mod seal;
mod sweep;
mod writer;

use std::io;
use std::path::Path;
use std::sync::Arc;

use holdpoint_core::{Digest, Timestamp};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{BlobError, BlobStore, BoxFuture, SMALL_BLOB, StoreError, Stored, Swept};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::SqliteLog;
use folder::Folder;
use reader::Reader;
use writer::Writer;

/// How much content is worked on at a time.
const CHUNK: usize = 256 * 1024;

type Content = Box<dyn AsyncRead + Send + Unpin>;

/// Where small blobs are: the log's own table.
pub trait SmallBlobs: Send + Sync {
    /// The bytes under a name, if they are in the database.
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreError>>;

    /// A page of those that no append has carried since a time, in the order of their names, with their sizes.
    fn old(
        &self,
        older: Timestamp,
        after: Option<Digest>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<(Digest, u64)>, StoreError>>;

    /// Removes those of these that no append has carried since a time.
    fn remove(&self, digests: Vec<Digest>, older: Timestamp) -> BoxFuture<'_, Result<Swept, StoreError>>;
}

impl SmallBlobs for SqliteLog {
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreError>> {
        Box::pin(self.small_blob(digest))
    }

    fn old(
        &self,
        older: Timestamp,
        after: Option<Digest>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<(Digest, u64)>, StoreError>> {
        Box::pin(self.old_blobs(older, after, limit))
    }

    fn remove(&self, digests: Vec<Digest>, older: Timestamp) -> BoxFuture<'_, Result<Swept, StoreError>> {
        Box::pin(self.remove_blobs(digests, older))
    }
}

/// The blobs of a home whose files are in one folder. Any number of processes may share it.
pub struct LocalBlobs {
    folder: Arc<Folder>,
    small: Arc<dyn SmallBlobs>,
}

impl LocalBlobs {
    /// Uses a folder, which is made if it is not there.
    pub fn open(folder: &Path, small: Arc<dyn SmallBlobs>) -> Result<Self, BlobError> {
        Ok(Self { folder: Arc::new(Folder::open(folder).map_err(failed)?), small })
    }

    async fn put_now(&self, mut content: Content, limit: u64) -> Result<Stored, BlobError> {
        let mut head = Vec::with_capacity(SMALL_BLOB + 1);
        fill(&mut content, &mut head, SMALL_BLOB + 1).await?;
        if head.len() as u64 > limit {
            return Err(BlobError::TooLarge(limit));
        }
        if head.len() <= SMALL_BLOB {
            return Ok(Stored::Small(Digest::of(&head), head.into()));
        }
        let (digest, size) = if planted(Bug::SqliteEventBeforeBlob) {
            self.put_later(head, content, limit).await?
        } else {
            self.put_large(head, content, limit).await?
        };
        Ok(Stored::Durable(digest, size))
    }

    async fn put_large(
        &self,
        head: Vec<u8>,
        mut content: Content,
        limit: u64,
    ) -> Result<(Digest, u64), BlobError> {
        let folder = Arc::clone(&self.folder);
        let mut writer = blocking(move || Writer::create(folder, limit)).await?;
        let mut chunk = head;
        while !chunk.is_empty() {
            (writer, chunk) = blocking(move || {
                writer.write(&chunk)?;
                Ok((writer, chunk))
            })
            .await?;
            chunk.clear();
            fill(&mut content, &mut chunk, CHUNK).await?;
        }
        blocking(move || writer.publish()).await
    }

    /// The planted bug: answers first and writes afterwards.
    async fn put_later(
        &self,
        head: Vec<u8>,
        content: Content,
        limit: u64,
    ) -> Result<(Digest, u64), BlobError> {
        let mut all = head;
        content.take(limit).read_to_end(&mut all).await.map_err(failed)?;
        if all.len() as u64 > limit {
            return Err(BlobError::TooLarge(limit));
        }
        let answer = (Digest::of(&all), all.len() as u64);
        let folder = Arc::clone(&self.folder);
        std::thread::spawn(move || {
            std::thread::yield_now();
            let mut writer = Writer::create(folder, limit)?;
            writer.write(&all)?;
            writer.publish()
        });
        Ok(answer)
    }

    async fn get_now(&self, digest: Digest) -> Result<Content, BlobError> {
        let folder = Arc::clone(&self.folder);
        let large = blocking(move || {
            let Some(file) = folder.find(digest).map_err(failed)? else { return Ok(None) };
            Reader::new(file, digest).map(Some).map_err(failed)
        });
        if let Some(reader) = large.await? {
            return Ok(Box::new(reader));
        }
        let small = self.small.get(digest).await.map_err(|error| BlobError::Io(error.to_string()))?;
        let bytes = small.ok_or(BlobError::Missing(digest))?;
        if Digest::of(&bytes) != digest {
            return Err(BlobError::Corrupt(digest));
        }
        Ok(Box::new(io::Cursor::new(bytes)))
    }
}

impl BlobStore for LocalBlobs {
    fn put(&self, bytes: Content, limit: u64) -> BoxFuture<'_, Result<Stored, BlobError>> {
        Box::pin(self.put_now(bytes, limit))
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Content, BlobError>> {
        Box::pin(self.get_now(digest))
    }

    fn sweep<'a>(
        &'a self,
        referenced: &'a (dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> BoxFuture<'a, Result<Swept, BlobError>> {
        Box::pin(async move {
            let large = sweep::sweep(Arc::clone(&self.folder), referenced, older, dry).await?;
            let small = sweep::small(&*self.small, referenced, older, dry).await?;
            Ok(Swept { blobs: large.blobs + small.blobs, bytes: large.bytes + small.bytes })
        })
    }
}

/// Reads until a buffer holds this many bytes or the content ends.
async fn fill(content: &mut Content, buffer: &mut Vec<u8>, size: usize) -> Result<(), BlobError> {
    let missing = size - buffer.len();
    content.take(missing as u64).read_to_end(buffer).await.map_err(failed)?;
    Ok(())
}

/// Does work on files where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(BlobError::Io(format!("work on a file did not end: {error}"))),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "made to stand in `map_err`")]
fn failed(error: io::Error) -> BlobError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::DiskFull,
        _ => BlobError::Io(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart() {
        for code in [rustix::io::Errno::NOSPC, rustix::io::Errno::DQUOT] {
            assert_eq!(failed(code.into()), BlobError::DiskFull);
        }
        assert!(matches!(failed(rustix::io::Errno::IO.into()), BlobError::Io(_)));
    }
}
