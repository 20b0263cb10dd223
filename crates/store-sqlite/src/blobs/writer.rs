//! Writing one large blob: hashed, compressed, sealed, synced, and only then named.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_store::BlobError;
use sha2::{Digest as _, Sha256};
use zstd::stream::write::Encoder;

use super::failed;
use super::folder::{Folder, sync_file};
use super::seal::SealWriter;

const LEVEL: i32 = 3;

/// A blob that is being written to a temporary file, which goes away if it is not published.
pub(super) struct Writer {
    folder: Arc<Folder>,
    temp: Temp,
    encoder: Encoder<'static, SealWriter>,
    hash: Sha256,
    size: u64,
    limit: u64,
}

impl Writer {
    /// Begins a blob of at most `limit` bytes.
    pub(super) fn create(folder: Arc<Folder>, limit: u64) -> Result<Self, BlobError> {
        let (path, file) = folder.create().map_err(failed)?;
        let temp = Temp(path);
        let encoder = Encoder::new(SealWriter::new(file), LEVEL).map_err(failed)?;
        Ok(Self { folder, temp, encoder, hash: Sha256::new(), size: 0, limit })
    }

    /// Takes in the next bytes.
    pub(super) fn write(&mut self, chunk: &[u8]) -> Result<(), BlobError> {
        self.size += chunk.len() as u64;
        if self.size > self.limit {
            return Err(BlobError::TooLarge(self.limit));
        }
        self.hash.update(chunk);
        self.encoder.write_all(chunk).map_err(failed)
    }

    /// Makes the blob durable under its name; answers the name and the size.
    pub(super) fn publish(self) -> Result<(Digest, u64), BlobError> {
        let Self { folder, temp, encoder, hash, size, .. } = self;
        let digest = Digest(hash.finalize().into());
        let file = encoder.finish().and_then(SealWriter::seal).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let _shared = folder.share().map_err(failed)?;
        if !folder.renew(digest, length).map_err(failed)? {
            sync_file(&file).map_err(failed)?;
            folder.name(&temp.0, digest).map_err(failed)?;
        }
        folder.anchor(digest).map_err(failed)?;
        Ok((digest, size))
    }
}

/// Removes a temporary file that did not get its name.
struct Temp(PathBuf);

impl Drop for Temp {
    fn drop(&mut self) {
        // Gone already when it was renamed; a sweep removes what stays.
        let _ = fs::remove_file(&self.0);
    }
}
