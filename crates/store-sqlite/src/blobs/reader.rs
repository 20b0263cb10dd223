//! Reading one large blob: decompressed and hashed chunk by chunk, with the verdict at the end.

use std::fs::File;
use std::future::Future as _;
use std::io::{self, BufReader, Read as _};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use holdpoint_core::Digest;
use holdpoint_store::BlobError;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::{JoinHandle, spawn_blocking};
use zstd::stream::read::Decoder;

use super::CHUNK;
use super::seal::SealReader;

/// Bytes of a blob file. Ends in an error instead of an end when they are not what their name says.
pub(super) struct Reader {
    digest: Digest,
    source: State,
    chunk: Vec<u8>,
    at: usize,
}

enum State {
    Idle(Box<Source>),
    Busy(JoinHandle<(Box<Source>, io::Result<Vec<u8>>)>),
    Ended,
    /// An error was told; there is nothing more.
    Failed,
}

struct Source {
    digest: Digest,
    decoder: Decoder<'static, BufReader<SealReader>>,
    hash: Sha256,
}

impl Reader {
    pub(super) fn new(file: File, digest: Digest) -> io::Result<Self> {
        let source = Source { digest, decoder: Decoder::new(SealReader::new(file)?)?, hash: Sha256::new() };
        Ok(Self { digest, source: State::Idle(Box::new(source)), chunk: Vec::new(), at: 0 })
    }

    /// Gets the next chunk; an empty one is the end.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.source = match std::mem::replace(&mut self.source, State::Failed) {
                State::Idle(mut source) => {
                    let mut chunk = std::mem::take(&mut self.chunk);
                    self.at = 0;
                    State::Busy(spawn_blocking(move || {
                        let read = source.next(&mut chunk).map(|()| chunk);
                        (source, read)
                    }))
                }
                State::Busy(mut task) => {
                    let Poll::Ready(done) = pin!(&mut task).poll(cx) else {
                        self.source = State::Busy(task);
                        return Poll::Pending;
                    };
                    let (source, read) = done.map_err(io::Error::other)?;
                    self.chunk = read?;
                    self.source = if self.chunk.is_empty() { State::Ended } else { State::Idle(source) };
                    return Poll::Ready(Ok(()));
                }
                State::Ended => {
                    self.source = State::Ended;
                    return Poll::Ready(Ok(()));
                }
                State::Failed => {
                    let told = format!("blob {} could not be read", self.digest);
                    return Poll::Ready(Err(io::Error::other(told)));
                }
            };
        }
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.at == self.chunk.len() {
            ready!(self.poll_chunk(cx))?;
        }
        let rest = &self.chunk[self.at..];
        let count = rest.len().min(into.remaining());
        into.put_slice(&rest[..count]);
        self.at += count;
        Poll::Ready(Ok(()))
    }
}

impl Source {
    /// Reads the next chunk; at the end it is empty, and the whole content was what its name says.
    fn next(&mut self, chunk: &mut Vec<u8>) -> io::Result<()> {
        chunk.clear();
        let read = (&mut self.decoder).take(CHUNK as u64).read_to_end(chunk);
        read.map_err(|error| match error.raw_os_error() {
            // What the disk says stays what it is; all else is the decoder's view of wrong bytes.
            Some(_) => error,
            None => damaged(self.digest),
        })?;
        self.hash.update(&*chunk);
        if chunk.is_empty() && !self.is_whole()? {
            return Err(damaged(self.digest));
        }
        Ok(())
    }

    fn is_whole(&mut self) -> io::Result<bool> {
        let content = self.hash.clone().finalize();
        Ok(content[..] == self.digest.0 && self.decoder.get_mut().get_mut().holds()?)
    }
}

fn damaged(digest: Digest) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, BlobError::Corrupt(digest))
}
