//! The blobs in memory keep every promise of blobs.

use std::sync::Arc;

use holdpoint_core::{Digest, Timestamp};
use holdpoint_store::conformance::blobs::BlobBench;
use holdpoint_store::conformance::kit::carrying;
use holdpoint_store::memory::{MemoryBlobs, MemoryDisk};
use holdpoint_store::{EventLog as _, SmallBlob};

struct MemoryBench(MemoryDisk);

impl BlobBench for MemoryBench {
    type Blobs = MemoryBlobs;

    async fn new() -> Self {
        let disk = MemoryDisk::new();
        disk.set_wall(Timestamp(1_000_000_000));
        Self(disk)
    }

    async fn open(&self) -> Arc<MemoryBlobs> {
        Arc::new(self.0.open().blobs())
    }

    async fn keep(&self, blob: SmallBlob, at: Timestamp) {
        self.0.open().append(carrying(blob, at)).await.expect("appended");
    }

    async fn stamp(&self, digest: Digest, at: Timestamp) {
        assert!(self.0.stamp_blob(digest, at));
    }

    async fn damage(&self, digest: Digest) {
        assert!(self.0.damage_blob(digest));
    }
}

holdpoint_store::blob_conformance_suite!(MemoryBench);
