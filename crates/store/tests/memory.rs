//! The in-memory store keeps every promise of a store.

use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_store::BlobStore as _;
use holdpoint_store::conformance::Bench;
use holdpoint_store::memory::{LEASE_MS, MemoryDisk, MemoryLog};
use tokio::io::AsyncReadExt as _;

struct MemoryBench(MemoryDisk);

impl Bench for MemoryBench {
    type Log = MemoryLog;

    async fn new() -> Self {
        Self(MemoryDisk::new())
    }

    async fn open(&self) -> Arc<MemoryLog> {
        Arc::new(self.0.open())
    }

    async fn kill(&self, log: Arc<MemoryLog>) {
        drop(log);
    }

    async fn small_blob(&self, log: &MemoryLog, digest: Digest) -> Option<Vec<u8>> {
        let mut reader = log.blobs().get(digest).await.ok()?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await.expect("the blob is whole");
        Some(bytes)
    }

    async fn outlast_leases(&self) -> bool {
        self.0.advance(LEASE_MS + 1);
        true
    }
}

holdpoint_store::conformance_suite!(MemoryBench);
