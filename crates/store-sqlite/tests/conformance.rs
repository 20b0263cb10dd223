//! The store in SQLite keeps every promise of a store.

use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_store::conformance::Bench;
use holdpoint_store_sqlite::{Options, SqliteLog};
use tempfile::TempDir;

struct SqliteBench(TempDir);

impl Bench for SqliteBench {
    type Log = SqliteLog;

    async fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    async fn open(&self) -> Arc<SqliteLog> {
        Arc::new(SqliteLog::open(self.0.path(), Options::default()).expect("the store opens"))
    }

    async fn kill(&self, log: Arc<SqliteLog>) {
        drop(log);
    }

    async fn small_blob(&self, log: &SqliteLog, digest: Digest) -> Option<Vec<u8>> {
        log.small_blob(digest).await.expect("blobs can be read")
    }

    async fn outlast_leases(&self) -> bool {
        let other = rusqlite::Connection::open(self.0.path().join("state.db")).expect("a second program");
        other.busy_timeout(std::time::Duration::from_secs(30)).expect("patience");
        other.execute("UPDATE owners SET beat = beat - 30001", []).expect("heartbeats are set back");
        true
    }
}

holdpoint_store::conformance_suite!(SqliteBench);
