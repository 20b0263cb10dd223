//! Which file the database is.
//!
//! A file that was deleted or replaced while it is open goes on taking writes that nobody can read afterwards: the
//! folder then has another database, or none. Only the name can tell.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file and the name that it was opened by.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Identity {
    pub(crate) fn of(path: &Path) -> std::io::Result<Self> {
        let found = std::fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    /// Whether the name still leads to the file. An error other than a missing file says nothing about it.
    pub(crate) fn is_there(&self) -> bool {
        match std::fs::metadata(&self.path) {
            Ok(found) => (found.dev(), found.ino()) == (self.device, self.inode),
            Err(error) => {
                !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
            }
        }
    }
}
