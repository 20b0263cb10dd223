//! Blobs in memory: small ones from the log's commits, large ones through the model of the file protocol.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use holdpoint_core::{Digest, Timestamp};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};

use super::disk::{Process, State};
use super::fault::Step;
use super::files::TEMP_AGE_MICROS;
use crate::{BlobError, BlobStore, BoxFuture, SMALL_BLOB, StoreError, Stored, Swept};

/// One process's way to the blobs of a home; dies with its log.
pub struct MemoryBlobs {
    process: Arc<Process>,
}

impl MemoryBlobs {
    pub(super) fn new(process: Arc<Process>) -> Self {
        Self { process }
    }

    async fn put_now(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> Result<Stored, BlobError> {
        drop(self.process.state().map_err(failed)?);
        let mut content = Vec::new();
        let read = bytes.take(limit.saturating_add(1)).read_to_end(&mut content).await;
        read.map_err(|error| BlobError::Io(error.to_string()))?;
        if content.len() as u64 > limit {
            return Err(BlobError::TooLarge(limit));
        }
        let (digest, content) = (Digest::of(&content), Arc::<[u8]>::from(content));
        if content.len() <= SMALL_BLOB {
            return Ok(Stored::Small(digest, content));
        }
        let size = content.len() as u64;
        self.write(digest, content).await?;
        Ok(Stored::Durable(digest, size))
    }

    /// The file protocol, step by step; others may come in between.
    async fn write(&self, digest: Digest, content: Arc<[u8]>) -> Result<(), BlobError> {
        let temp = self.step(Step::BlobWrite, None, |state| state.files.create(content, state.wall)).await?;
        self.step(Step::BlobSync, Some(temp), |state| {
            if !state.lying_sync {
                state.files.sync(temp);
            }
        })
        .await?;
        self.step(Step::BlobRename, Some(temp), |state| state.files.rename(temp, digest, state.wall)).await?;
        self.step(Step::BlobSyncFolder, None, |state| {
            if !state.lying_sync {
                state.files.anchor(digest);
            }
        })
        .await
    }

    /// Takes one step unless a fault is planted there; a process that lives on removes its temporary file.
    async fn step<T>(
        &self,
        step: Step,
        temp: Option<u64>,
        act: impl FnOnce(&mut State) -> T,
    ) -> Result<T, BlobError> {
        tokio::task::yield_now().await;
        let met = self.process.meet(step);
        let mut state = self.process.state().map_err(failed)?;
        if let Err(error) = met {
            temp.and_then(|temp| state.files.temps.remove(&temp));
            return Err(failed(error));
        }
        Ok(act(&mut state))
    }

    fn get_now(&self, digest: Digest) -> Result<Verified, BlobError> {
        let state = self.process.state().map_err(failed)?;
        let file = state.files.named.get(&digest).map(|file| &file.bytes);
        let bytes =
            file.or_else(|| Some(&state.small.get(&digest)?.bytes)).ok_or(BlobError::Missing(digest))?;
        Ok(Verified { digest, bytes: Arc::clone(bytes), at: 0 })
    }

    fn sweep_now(
        &self,
        referenced: &(dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> Result<Swept, BlobError> {
        let candidates: Vec<Digest> = {
            let mut state = self.process.state().map_err(failed)?;
            let now = state.wall;
            if !dry {
                state.files.temps.retain(|_, file| file.at.plus_micros(TEMP_AGE_MICROS) >= now);
            }
            let large = state.files.named.iter().map(|(digest, file)| (*digest, file.at));
            let small = state.small.iter().map(|(digest, small)| (*digest, small.at));
            large.chain(small).filter(|(_, at)| *at < older).map(|(digest, _)| digest).collect()
        };
        let mut swept = Swept::default();
        for digest in candidates.into_iter().filter(|digest| !referenced(digest)) {
            let mut state = self.process.state().map_err(failed)?;
            let file = state.files.named.get(&digest).map(|file| (file.at, file.bytes.len()));
            let found = file.or_else(|| state.small.get(&digest).map(|small| (small.at, small.bytes.len())));
            let Some((_, size)) = found.filter(|(at, _)| *at < older) else { continue };
            swept.blobs += 1;
            swept.bytes += size as u64;
            if !dry {
                state.files.named.remove(&digest);
                state.small.remove(&digest);
            }
        }
        Ok(swept)
    }
}

impl BlobStore for MemoryBlobs {
    fn put(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> BoxFuture<'_, Result<Stored, BlobError>> {
        self.put_now(bytes, limit).boxed()
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Box<dyn AsyncRead + Send + Unpin>, BlobError>> {
        async move { self.get_now(digest).map(|reader| Box::new(reader) as _) }.boxed()
    }

    fn sweep<'a>(
        &'a self,
        referenced: &'a (dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> BoxFuture<'a, Result<Swept, BlobError>> {
        async move { self.sweep_now(referenced, older, dry) }.boxed()
    }
}

fn failed(error: StoreError) -> BlobError {
    BlobError::Io(match error {
        StoreError::Io(why) => why,
        other => other.to_string(),
    })
}

/// Reads bytes and ends in an error when they are not what their name says.
struct Verified {
    digest: Digest,
    bytes: Arc<[u8]>,
    at: usize,
}

impl AsyncRead for Verified {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() && Digest::of(&self.bytes) != self.digest {
            let why = BlobError::Corrupt(self.digest);
            return Poll::Ready(Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why)));
        }
        let count = rest.len().min(into.remaining());
        into.put_slice(&rest[..count]);
        self.at += count;
        Poll::Ready(Ok(()))
    }
}
