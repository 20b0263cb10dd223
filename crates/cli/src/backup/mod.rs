//! A backup of a home: one compressed tar archive with the database, the blobs, the keys, the settings and the files
//! that only people make. Files that follow from the log are not in it; restoring writes them again.
//!
//! The last entry lists every other one with its size and SHA-256, so that an archive which was cut off or changed is
//! never restored.

mod archive;
mod content;
mod home_files;

pub use archive::{Reader, Writer, verify};
pub use content::{Content, check};
pub use home_files::{Skipped, home_files};

use std::collections::BTreeMap;

use holdpoint_core::Timestamp;
use serde::{Deserialize, Serialize};

/// The format that this version writes. A reader refuses newer ones.
pub const FORMAT: u32 = 1;
/// The first entry, by which a backup is recognised.
pub const HEADER: &str = "holdpoint-backup.json";
/// The last entry.
pub const MANIFEST: &str = "manifest.json";
/// The database inside the archive and inside a home.
pub const DATABASE: &str = "db/state.db";

/// What a backup is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format.
    pub format: u32,
    /// The version of Holdpoint that wrote it.
    pub version: String,
    /// When it was begun.
    pub created_at: String,
}

impl Header {
    /// For a backup that is begun now.
    pub fn new(now: Timestamp) -> Self {
        Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), created_at: now.rfc3339() }
    }
}

/// What is in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(flatten)]
    pub header: Header,
    /// How many events the log has.
    pub events: u64,
    /// How many runs have work due: they go on where the backup is restored and a server started.
    pub runs_due: u64,
    /// Every entry by its path.
    pub entries: BTreeMap<String, Entry>,
}

/// An entry of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its bytes.
    pub size: u64,
    /// The SHA-256 of its content, in hex.
    pub sha256: String,
}
