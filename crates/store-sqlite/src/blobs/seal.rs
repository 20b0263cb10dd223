//! The seal at the end of a blob file: a hash over the file's own bytes.
//!
//! The blob's name covers its content, but some bits of a compressed file mean nothing to the content. The
//! seal covers those too, so that every changed bit is found. It is a skippable frame, which `zstd -d` skips.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};

use sha2::{Digest as _, Sha256};

/// The head of a skippable frame of 32 bytes.
const HEAD: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0];
const LENGTH: usize = HEAD.len() + 32;

/// Writes a file and hashes what it writes.
pub(super) struct SealWriter {
    file: BufWriter<File>,
    hash: Sha256,
}

impl SealWriter {
    pub(super) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), hash: Sha256::new() }
    }

    /// Writes the seal and gives the file back.
    pub(super) fn seal(mut self) -> io::Result<File> {
        self.file.write_all(&seal(self.hash))?;
        self.file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Write for SealWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a file up to its seal and hashes what it reads.
pub(super) struct SealReader {
    file: File,
    left: u64,
    hash: Sha256,
}

impl SealReader {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let left = file.metadata()?.len().saturating_sub(LENGTH as u64);
        Ok(Self { file, left, hash: Sha256::new() })
    }

    /// Whether all was read and the seal is whole.
    pub(super) fn holds(&mut self) -> io::Result<bool> {
        let mut rest = Vec::new();
        (&mut self.file).take(LENGTH as u64 + 1).read_to_end(&mut rest)?;
        Ok(self.left == 0 && rest == seal(self.hash.clone()))
    }
}

impl Read for SealReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = (&mut self.file).take(self.left).read(into)?;
        self.left -= count as u64;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

fn seal(hash: Sha256) -> [u8; LENGTH] {
    let mut seal = [0; LENGTH];
    seal[..HEAD.len()].copy_from_slice(&HEAD);
    seal[HEAD.len()..].copy_from_slice(&hash.finalize());
    seal
}
