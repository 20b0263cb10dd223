//! The blobs on a local disk keep every promise of blobs, small ones with the log in SQLite.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use holdpoint_core::{Digest, Timestamp};
use holdpoint_store::conformance::blobs::BlobBench;
use holdpoint_store::conformance::kit::carrying;
use holdpoint_store::{EventLog as _, SmallBlob};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};
use tempfile::TempDir;

struct LocalBench {
    home: TempDir,
    log: Arc<SqliteLog>,
}

impl LocalBench {
    fn path(&self, digest: Digest) -> PathBuf {
        let hex = digest.to_string();
        self.home.path().join("blobs").join(&hex[..2]).join(hex)
    }
}

impl BlobBench for LocalBench {
    type Blobs = LocalBlobs;

    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let log = SqliteLog::open(&home.path().join("db"), Options::default()).expect("the log opens");
        Self { home, log: Arc::new(log) }
    }

    async fn open(&self) -> Arc<LocalBlobs> {
        let folder = self.home.path().join("blobs");
        Arc::new(LocalBlobs::open(&folder, self.log.clone()).expect("the blobs open"))
    }

    async fn keep(&self, blob: SmallBlob, at: Timestamp) {
        self.log.append(carrying(blob, at)).await.expect("appended");
    }

    async fn stamp(&self, digest: Digest, at: Timestamp) {
        let file = fs::File::options().write(true).open(self.path(digest)).expect("a blob");
        file.set_modified(UNIX_EPOCH + Duration::from_micros(at.0.unsigned_abs())).expect("stamped");
    }

    async fn damage(&self, digest: Digest) {
        let mut bytes = fs::read(self.path(digest)).expect("a blob");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(self.path(digest), bytes).expect("written");
    }
}

holdpoint_store::blob_conformance_suite!(LocalBench);
