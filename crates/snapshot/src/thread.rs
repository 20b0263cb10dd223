//! Work on folders is done on one thread that may block; it stops soon after its caller is gone.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use holdpoint_core::Digest;
use holdpoint_store::{BlobError, BlobStore, Stored};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::runtime::Handle;

use crate::{Measure, SnapshotError, Tree, TreePath};

/// The blob store as the working thread uses it.
#[derive(Clone)]
pub(crate) struct Store {
    handle: Handle,
    blobs: Arc<dyn BlobStore>,
    stopped: Arc<AtomicBool>,
}

/// Tells the thread that nobody waits for it any more. Otherwise the thread of an attempt that was cancelled would go on changing the
/// folder under the attempt that follows.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Does work on a thread that may block.
pub(crate) async fn on_thread<T, E>(
    blobs: Arc<dyn BlobStore>,
    work: impl FnOnce(Store) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<SnapshotError> + Send + 'static,
{
    let stopped = Arc::new(AtomicBool::new(false));
    let _stop = StopOnDrop(stopped.clone());
    let store = Store { handle: Handle::current(), blobs, stopped };
    match tokio::task::spawn_blocking(move || work(store)).await {
        Ok(done) => done,
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => Err(SnapshotError::Stopped.into()),
    }
}

impl Store {
    /// Fails once the caller is gone.
    pub fn check(&self) -> Result<(), SnapshotError> {
        if self.stopped.load(Ordering::Acquire) { Err(SnapshotError::Stopped) } else { Ok(()) }
    }

    /// Waits for something asynchronous.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.handle.block_on(future)
    }

    pub fn put(&self, content: impl std::io::Read + Send + Unpin + 'static) -> Result<Stored, BlobError> {
        self.wait(self.blobs.put(Box::new(Blocking(content)), u64::MAX))
    }

    pub fn get(&self, digest: Digest) -> Result<Content, BlobError> {
        let reader = self.wait(self.blobs.get(digest))?;
        Ok(Content { handle: self.handle.clone(), reader, digest })
    }

    /// Reads a tree object of at most so many entries.
    pub fn tree(&self, digest: Digest, path: &TreePath, entries: u64) -> Result<Tree, SnapshotError> {
        let mut content = self.get(digest).map_err(|cause| SnapshotError::content(path, cause))?;
        let bytes =
            content.all(Tree::most_bytes(entries)).map_err(|cause| SnapshotError::content(path, cause))?;
        let too_many = || SnapshotError::limit(path)((Measure::Entries, entries));
        let bytes = bytes.ok_or_else(too_many)?;
        Tree::decode(&bytes).map_err(|cause| SnapshotError::BadTree { digest, cause })
    }
}

/// The content of a blob.
pub(crate) struct Content {
    handle: Handle,
    reader: Box<dyn AsyncRead + Send + Unpin>,
    digest: Digest,
}

impl Content {
    /// Fills a buffer as far as the content goes.
    pub fn read(&mut self, buffer: &mut Vec<u8>, most: usize) -> Result<(), BlobError> {
        buffer.clear();
        let read = (&mut self.reader).take(most as u64);
        let mut read = std::pin::pin!(read);
        let done = self.handle.block_on(read.read_to_end(buffer));
        done.map(drop).map_err(|cause| self.failed(&cause))
    }

    /// All of it, unless it is longer than this.
    pub fn all(&mut self, most: u64) -> Result<Option<Vec<u8>>, BlobError> {
        let mut bytes = Vec::new();
        self.read(&mut bytes, usize::try_from(most + 1).unwrap_or(usize::MAX))?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }

    fn failed(&self, cause: &std::io::Error) -> BlobError {
        match cause.kind() {
            std::io::ErrorKind::InvalidData => BlobError::Corrupt(self.digest),
            _ => BlobError::Io(cause.to_string()),
        }
    }
}

/// A reader that blocks, for a store that awaits: the thread that polls it is the one that may block.
struct Blocking<R>(R);

impl<R: std::io::Read + Unpin> AsyncRead for Blocking<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        loop {
            match self.0.read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
                Err(cause) => return Poll::Ready(Err(cause)),
            }
        }
    }
}
