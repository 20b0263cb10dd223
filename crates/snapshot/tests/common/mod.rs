//! A folder, a store in memory that counts and can be held, and short names for what the tests do.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use holdpoint_core::{Digest, Timestamp};
use holdpoint_snapshot::{
    CaptureError, Captured, Known, Limits, Restored, SaveSmall, Scope, SnapshotError, Tree, capture, restore,
};
use holdpoint_store::memory::{MemoryBlobs, MemoryDisk, MemoryLog};
use holdpoint_store::{Append, BlobError, BlobStore, BoxFuture, EventLog as _, SmallBlob, Stored, Swept};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::oneshot;

pub const LIMITS: Limits = Limits { entries: 10_000, depth: 64, bytes: 1 << 30, file: 1 << 30 };

/// Appends a byte to a file before the store reads it.
pub struct Meddler {
    pub path: PathBuf,
    pub times: AtomicU64,
}

pub struct Home {
    folder: tempfile::TempDir,
    store: Arc<Counting>,
    log: Arc<Saver>,
    pub puts: Arc<AtomicU64>,
}

struct Counting {
    blobs: MemoryBlobs,
    puts: Arc<AtomicU64>,
    meddler: Mutex<Option<Meddler>>,
    hold: Mutex<Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>>,
}

pub struct Saver {
    log: MemoryLog,
    saved: AtomicU64,
}

impl SaveSmall for Saver {
    type Error = String;

    fn save(&self, blobs: Vec<SmallBlob>) -> BoxFuture<'_, Result<(), String>> {
        self.saved.fetch_add(blobs.len() as u64, Ordering::SeqCst);
        Box::pin(async move {
            let append = Append { blobs, ..Append::default() };
            self.log.append(append).await.map(drop).map_err(|cause| cause.to_string())
        })
    }
}

impl BlobStore for Counting {
    fn put(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> BoxFuture<'_, Result<Stored, BlobError>> {
        self.puts.fetch_add(1, Ordering::SeqCst);
        if let Some(meddler) = &*self.meddler.lock().expect("no test panicked") {
            let less = |n: u64| n.checked_sub(1);
            if meddler.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
                let mut file = fs::File::options().append(true).open(&meddler.path).expect("opened");
                file.write_all(b"!").expect("written");
            }
        }
        let hold = self.hold.lock().expect("no test panicked").take();
        Box::pin(async move {
            if let Some((entered, gate)) = hold {
                let _ = entered.send(());
                let _ = gate.await;
            }
            self.blobs.put(bytes, limit).await
        })
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Box<dyn AsyncRead + Send + Unpin>, BlobError>> {
        self.blobs.get(digest)
    }

    fn sweep<'a>(
        &'a self,
        referenced: &'a (dyn Fn(&Digest) -> bool + Send + Sync),
        older: Timestamp,
        dry: bool,
    ) -> BoxFuture<'a, Result<Swept, BlobError>> {
        self.blobs.sweep(referenced, older, dry)
    }
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("base")).expect("made");
        let log = MemoryDisk::new().open();
        let puts = Arc::new(AtomicU64::new(0));
        let store = Counting {
            blobs: log.blobs(),
            puts: puts.clone(),
            meddler: Mutex::default(),
            hold: Mutex::default(),
        };
        let log = Arc::new(Saver { log, saved: AtomicU64::new(0) });
        Self { folder, store: Arc::new(store), log, puts }
    }

    pub fn base(&self) -> PathBuf {
        self.beside("base")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.base().join(name)
    }

    pub fn clear(&self) {
        fs::remove_dir_all(self.base()).expect("removed");
        fs::create_dir(self.base()).expect("made");
    }

    pub fn scope(&self) -> Scope {
        Scope::whole(self.base())
    }

    pub fn blobs(&self) -> Arc<dyn BlobStore> {
        self.store.clone()
    }

    pub fn saver(&self) -> Arc<Saver> {
        self.log.clone()
    }

    pub async fn capture(&self) -> Captured {
        self.capture_within(LIMITS).await.expect("captured")
    }

    pub async fn capture_within(&self, limits: Limits) -> Result<Captured, CaptureError<String>> {
        capture(self.blobs(), self.saver(), self.scope(), limits, Known::default()).await
    }

    pub async fn capture_knowing(&self, known: Known) -> Result<Captured, CaptureError<String>> {
        capture(self.blobs(), self.saver(), self.scope(), LIMITS, known).await
    }

    pub async fn capture_scope(&self, scope: Scope) -> Result<Captured, CaptureError<String>> {
        capture(self.blobs(), self.saver(), scope, LIMITS, Known::default()).await
    }

    pub async fn restore(&self, tree: Digest) -> Result<Restored, SnapshotError> {
        self.restore_within(tree, LIMITS).await
    }

    pub async fn restore_within(&self, tree: Digest, limits: Limits) -> Result<Restored, SnapshotError> {
        restore(self.blobs(), self.scope(), tree, limits).await
    }

    /// Small blobs saved and large ones put, so far.
    pub fn stored(&self) -> (u64, u64) {
        (self.log.saved.load(Ordering::SeqCst), self.puts.load(Ordering::SeqCst))
    }

    pub async fn bytes(&self, digest: Digest) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut reader = self.store.blobs.get(digest).await.expect("there");
        reader.read_to_end(&mut bytes).await.expect("read");
        bytes
    }

    pub async fn tree(&self, digest: Digest) -> Tree {
        Tree::decode(&self.bytes(digest).await).expect("a tree")
    }

    pub fn meddle(&self, meddler: Meddler) {
        *self.store.meddler.lock().expect("no test panicked") = Some(meddler);
    }

    /// Holds the next put until it is let go; says when it began.
    pub fn hold_puts(&self) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
        let ((entered, began), (let_go, gate)) = (oneshot::channel(), oneshot::channel());
        *self.store.hold.lock().expect("no test panicked") = Some((entered, gate));
        (began, let_go)
    }

    /// Waits until no thread of this crate holds the store any more.
    pub async fn until_idle(&self) {
        while Arc::strong_count(&self.store) > 1 {
            tokio::task::yield_now().await;
        }
    }
}

pub fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, bytes).expect("written");
}

pub fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
}
