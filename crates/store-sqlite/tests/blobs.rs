//! Blobs on a local disk: what goes in comes out, damage is found, and leftovers do no harm.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use holdpoint_core::{Digest, Timestamp};
use holdpoint_store::conformance::kit::{one, run, write};
use holdpoint_store::{
    BlobError, BlobStore as _, BoxFuture, SMALL_BLOB, SmallBlob, StoreError, Stored, Swept,
};
use holdpoint_store_sqlite::blobs::{LocalBlobs, SmallBlobs};
use holdpoint_store_sqlite::{Options, SqliteLog};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

const LARGE: usize = SMALL_BLOB + 1;
const NO_LIMIT: u64 = u64::MAX;

/// Stands for the database's table.
#[derive(Default)]
struct Table(Mutex<BTreeMap<Digest, Vec<u8>>>);

impl SmallBlobs for Table {
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreError>> {
        let found = self.0.lock().expect("no panic before").get(&digest).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn old(
        &self,
        _: Timestamp,
        _: Option<Digest>,
        _: u32,
    ) -> BoxFuture<'_, Result<Vec<(Digest, u64)>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn remove(&self, _: Vec<Digest>, _: Timestamp) -> BoxFuture<'_, Result<Swept, StoreError>> {
        Box::pin(async { Ok(Swept::default()) })
    }
}

struct Home {
    dir: TempDir,
    small: Arc<Table>,
    blobs: Arc<LocalBlobs>,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let small = Arc::new(Table::default());
        let blobs = Arc::new(LocalBlobs::open(&dir.path().join("blobs"), small.clone()).expect("opened"));
        Self { dir, small, blobs }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("blobs")
    }

    async fn put(&self, content: &[u8]) -> Stored {
        let stored = self.blobs.put(Box::new(Cursor::new(content.to_vec())), NO_LIMIT).await;
        stored.expect("stored")
    }

    async fn put_large(&self, content: &[u8]) -> Digest {
        let stored = self.put(content).await;
        assert_eq!(stored, Stored::Durable(Digest::of(content), content.len() as u64));
        stored.digest()
    }

    /// The content, or why it could not be read to its end.
    async fn get(&self, digest: Digest) -> Result<Vec<u8>, String> {
        let mut reader = self.blobs.get(digest).await.map_err(|error| error.to_string())?;
        let mut content = Vec::new();
        match reader.read_to_end(&mut content).await {
            Ok(_) => Ok(content),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InvalidData);
                Err(error.to_string())
            }
        }
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let hex = digest.to_string();
        self.root().join(&hex[..2]).join(hex)
    }

    fn temps(&self) -> usize {
        fs::read_dir(self.root().join("tmp")).expect("a folder").count()
    }

    /// All blob files.
    fn blob_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.root()).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("tmp") {
                found.extend(
                    fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()),
                );
            }
        }
        found.sort();
        found
    }
}

/// Bytes that do not compress.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = 2 * seed + 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn damaged(digest: Digest) -> Result<Vec<u8>, String> {
    Err(format!("blob {digest} is damaged"))
}

fn stamp(path: &Path, at: Timestamp) {
    let file = fs::File::options().write(true).open(path).expect("a file");
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_micros(at.0.unsigned_abs());
    file.set_modified(at).expect("stamped");
}

fn stamped(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|meta| meta.modified()).expect("a file with a time")
}

#[tokio::test]
async fn small_content_is_given_back() {
    let home = Home::new();
    for len in [0, 1, SMALL_BLOB - 1, SMALL_BLOB] {
        let content = noise(len, 3);
        let Stored::Small(digest, bytes) = home.put(&content).await else { panic!("{len} bytes are small") };
        assert_eq!((digest, &*bytes), (Digest::of(&content), content.as_slice()));
        assert_eq!(home.get(digest).await, Err(format!("no blob {digest}")));
        home.small.0.lock().expect("no panic before").insert(digest, bytes.to_vec());
        assert_eq!(home.get(digest).await, Ok(content));
    }
    assert_eq!(home.blob_files(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn small_content_is_read_from_the_log_that_carried_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = Arc::new(SqliteLog::open(&dir.path().join("db"), Options::default()).expect("opened"));
    let blobs = LocalBlobs::open(&dir.path().join("blobs"), log.clone()).expect("opened");
    let content = b"a form's answer ".repeat(100);
    let stored = blobs.put(Box::new(Cursor::new(content.clone())), NO_LIMIT).await.expect("stored");
    let Stored::Small(digest, bytes) = stored else { panic!("it is small") };
    assert!(matches!(blobs.get(digest).await, Err(BlobError::Missing(missing)) if missing == digest));
    let mut append = one(run(1), 0);
    append.blobs.push(SmallBlob { digest, bytes });
    write(&*log, append).await;
    let mut read = Vec::new();
    blobs.get(digest).await.expect("there").read_to_end(&mut read).await.expect("whole");
    assert_eq!(read, content);
}

#[tokio::test]
async fn damage_in_the_database_is_found() {
    let home = Home::new();
    let digest = Digest::of(b"right");
    home.small.0.lock().expect("no panic before").insert(digest, b"wrong".to_vec());
    assert_eq!(home.get(digest).await, damaged(digest));
}

#[tokio::test]
async fn large_content_comes_back() {
    let home = Home::new();
    for content in [vec![7; LARGE], noise(LARGE, 1), noise(5_000_000, 2), b"line of a log\n".repeat(400_000)]
    {
        let digest = home.put_large(&content).await;
        assert!(home.get(digest).await == Ok(content));
        let mode = fs::metadata(home.path(digest)).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!((home.blob_files().len(), home.temps()), (4, 0));
}

#[tokio::test]
async fn compressible_content_takes_little_room() {
    let home = Home::new();
    let digest = home.put_large(&vec![0; 5_000_000]).await;
    assert!(fs::metadata(home.path(digest)).expect("a file").len() < 10_000);
}

#[tokio::test]
async fn content_may_come_in_small_pieces() {
    let home = Home::new();
    let content = noise(100_000, 5);
    let (mut sender, receiver) = tokio::io::duplex(17);
    let pieces = content.clone();
    let send = async move { tokio::io::AsyncWriteExt::write_all(&mut sender, &pieces).await };
    let (stored, done) = tokio::join!(home.blobs.put(Box::new(receiver), NO_LIMIT), send);
    done.expect("all was sent");
    assert!(home.get(stored.expect("stored").digest()).await == Ok(content));
}

#[tokio::test]
async fn the_same_content_is_kept_once_and_its_time_renewed() {
    let home = Home::new();
    let content = noise(LARGE, 1);
    let digest = home.put_large(&content).await;
    stamp(&home.path(digest), Timestamp(1));
    home.put_large(&content).await;
    assert!(stamped(&home.path(digest)) > std::time::UNIX_EPOCH + std::time::Duration::from_secs(1));
    assert_eq!((home.blob_files().len(), home.temps()), (1, 0));
    assert!(home.get(digest).await == Ok(content));
}

#[tokio::test]
async fn putting_again_heals_a_file_of_the_wrong_length() {
    let home = Home::new();
    let content = noise(LARGE, 1);
    let digest = home.put_large(&content).await;
    fs::write(home.path(digest), b"").expect("emptied");
    assert_eq!(home.get(digest).await, damaged(digest));
    home.put_large(&content).await;
    assert!(home.get(digest).await == Ok(content));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_put_the_same_at_once() {
    let home = Home::new();
    let other = Arc::new(LocalBlobs::open(&home.root(), home.small.clone()).expect("opened"));
    let content = noise(300_000, 9);
    let mut puts = tokio::task::JoinSet::new();
    for blobs in [&home.blobs, &other].into_iter().cycle().take(16) {
        let blobs = Arc::clone(blobs);
        let content = Box::new(Cursor::new(content.clone()));
        puts.spawn(async move { blobs.put(content, NO_LIMIT).await });
    }
    let durable = Stored::Durable(Digest::of(&content), content.len() as u64);
    for stored in puts.join_all().await {
        assert_eq!(stored.as_ref(), Ok(&durable));
    }
    assert_eq!((home.blob_files().len(), home.temps()), (1, 0));
    assert!(home.get(Digest::of(&content)).await == Ok(content));
}

#[tokio::test]
async fn too_much_is_refused_and_leaves_nothing() {
    let home = Home::new();
    for (len, limit) in [(1, 0), (SMALL_BLOB, 10), (LARGE, LARGE - 1), (LARGE, 0), (3_000_000, 2_999_999)] {
        let content = Box::new(Cursor::new(noise(len, 1)));
        let limit = limit as u64;
        assert_eq!(home.blobs.put(content, limit).await, Err(BlobError::TooLarge(limit)));
    }
    assert_eq!((home.blob_files().len(), home.temps()), (0, 0));
    let exact = home.blobs.put(Box::new(Cursor::new(noise(LARGE, 1))), LARGE as u64).await;
    assert!(exact.is_ok());
}

/// Content whose sender fails midway.
struct Broken(usize);

impl tokio::io::AsyncRead for Broken {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        into: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let count = into.remaining().min(self.0);
        self.0 -= count;
        into.put_slice(&vec![1; count]);
        std::task::Poll::Ready(if count == 0 {
            Err(std::io::Error::other("the sender is gone"))
        } else {
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_sender_that_fails_leaves_nothing() {
    let home = Home::new();
    for sent in [0, 100, LARGE, 2_000_000] {
        let answer = home.blobs.put(Box::new(Broken(sent)), NO_LIMIT).await;
        assert_eq!(answer, Err(BlobError::Io("the sender is gone".to_owned())));
    }
    assert_eq!((home.blob_files().len(), home.temps()), (0, 0));
}

#[tokio::test]
async fn every_flipped_byte_is_found() {
    let home = Home::new();
    for content in [noise(LARGE, 4), b"compressible ".repeat(40_000)] {
        let digest = home.put_large(&content).await;
        let path = home.path(digest);
        let stored = fs::read(&path).expect("a file");
        let sample = (0..stored.len()).step_by((stored.len() / 200).max(1));
        let ends = (0..20).chain(stored.len() - 50..stored.len());
        for at in sample.chain(ends) {
            let mut flipped = stored.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).expect("written");
            assert_eq!(home.get(digest).await, damaged(digest), "byte {at}");
        }
        for bit in 0..8 {
            let mut flipped = stored.clone();
            flipped[4] ^= 1 << bit;
            fs::write(&path, &flipped).expect("written");
            assert_eq!(home.get(digest).await, damaged(digest), "bit {bit} of the frame's description");
        }
    }
}

#[tokio::test]
async fn every_truncation_and_any_addition_is_found() {
    let home = Home::new();
    let content = noise(200_000, 6);
    let digest = home.put_large(&content).await;
    let path = home.path(digest);
    let stored = fs::read(&path).expect("a file");
    for kept in (0..stored.len()).step_by(7_919).chain([1, 4, stored.len() - 1]) {
        fs::write(&path, &stored[..kept]).expect("written");
        assert_eq!(home.get(digest).await, damaged(digest), "{kept} bytes kept");
    }
    for extra in [&b"x"[..], &[0; 64], &stored] {
        fs::write(&path, [&stored, extra].concat()).expect("written");
        assert_eq!(home.get(digest).await, damaged(digest));
    }
}

#[tokio::test]
async fn a_swapped_file_is_found() {
    let home = Home::new();
    let (a, b) = (home.put_large(&noise(LARGE, 1)).await, home.put_large(&noise(LARGE, 2)).await);
    fs::copy(home.path(a), home.path(b)).expect("copied");
    assert_eq!(home.get(b).await, damaged(b));
    assert!(home.get(a).await.is_ok());
}

#[tokio::test]
async fn a_damaged_blob_never_ends_cleanly() {
    let home = Home::new();
    let digest = home.put_large(&noise(LARGE, 1)).await;
    fs::write(home.path(digest), b"").expect("emptied");
    let mut reader = home.blobs.get(digest).await.expect("opened");
    let mut buffer = [0; 16];
    for _ in 0..3 {
        assert!(reader.read(&mut buffer).await.is_err());
    }
}

#[tokio::test]
async fn a_sweep_takes_only_what_is_old_and_unwanted() {
    let home = Home::new();
    let mut digests = Vec::new();
    for n in 0..4 {
        let digest = home.put_large(&noise(LARGE, 10 + n)).await;
        stamp(&home.path(digest), Timestamp(if n == 3 { 2_000_000_000 } else { 1_000_000_000 }));
        digests.push(digest);
    }
    let wanted = |digest: &Digest| *digest == digests[0];
    let older = Timestamp(2_000_000_000);
    let would = home.blobs.sweep(&wanted, older, true).await.expect("counted");
    assert_eq!(would.blobs, 2);
    assert!(would.bytes > 2 * SMALL_BLOB as u64);
    assert_eq!(home.blob_files().len(), 4);
    assert_eq!(home.blobs.sweep(&wanted, older, false).await, Ok(would));
    for (digest, there) in digests.iter().zip([true, false, false, true]) {
        assert_eq!(home.get(*digest).await.is_ok(), there);
    }
    assert_eq!(home.blobs.sweep(&wanted, older, false).await.expect("swept").blobs, 0);
}

#[tokio::test]
async fn a_sweep_asks_again_right_before_it_removes() {
    let home = Home::new();
    let digest = home.put_large(&noise(LARGE, 1)).await;
    stamp(&home.path(digest), Timestamp(1));
    let asked = Mutex::new(0);
    let wanted_by_now = |_: &Digest| {
        let mut asked = asked.lock().expect("no panic before");
        *asked += 1;
        *asked > 1
    };
    let swept = home.blobs.sweep(&wanted_by_now, Timestamp(i64::MAX / 2), false).await;
    assert_eq!(swept.expect("swept").blobs, 0);
    assert!(home.get(digest).await.is_ok());
}

#[tokio::test]
async fn a_sweep_spares_what_was_put_again_meanwhile() {
    let home = Home::new();
    let digest = home.put_large(&noise(LARGE, 1)).await;
    stamp(&home.path(digest), Timestamp(1));
    let path = home.path(digest);
    let put_meanwhile = |_: &Digest| {
        stamp(&path, Timestamp(9_000_000));
        false
    };
    let swept = home.blobs.sweep(&put_meanwhile, Timestamp(5_000_000), false).await;
    assert_eq!(swept.expect("swept").blobs, 0);
    assert!(home.get(digest).await.is_ok());
}

#[tokio::test]
async fn leftovers_of_a_crash_are_ignored_and_swept_after_a_day() {
    let home = Home::new();
    let (old, young) = (home.root().join("tmp/0123456789abcdef"), home.root().join("tmp/fedcba9876543210"));
    fs::write(&old, b"torn").expect("written");
    fs::write(&young, b"being written").expect("written");
    stamp(&old, Timestamp(1));
    let digest = home.put_large(&noise(LARGE, 1)).await;
    assert!(home.get(digest).await.is_ok());
    let swept = home.blobs.sweep(&|_| true, Timestamp(i64::MAX / 2), true).await.expect("counted");
    assert_eq!((swept.blobs, old.exists()), (0, true));
    home.blobs.sweep(&|_| true, Timestamp(i64::MAX / 2), false).await.expect("swept");
    assert_eq!((old.exists(), young.exists()), (false, true));
}

#[tokio::test]
async fn files_that_are_not_blobs_are_left_alone() {
    let home = Home::new();
    let digest = home.put_large(&noise(LARGE, 1)).await;
    let shelf = home.path(digest).parent().expect("a shelf").to_owned();
    let upper = digest.to_string().to_uppercase();
    let foreign =
        [shelf.join("README"), shelf.join(upper), home.root().join("notes"), shelf.join("0".repeat(64))];
    for path in &foreign {
        fs::write(path, b"mine").expect("written");
        stamp(path, Timestamp(1));
    }
    stamp(&home.path(digest), Timestamp(1));
    let swept = home.blobs.sweep(&|_| false, Timestamp(i64::MAX / 2), false).await.expect("swept");
    let zeros_are_ours = u64::from(digest.0[0] == 0);
    assert_eq!(swept.blobs, 1 + zeros_are_ours);
    assert!(foreign.iter().take(3).all(|path| path.exists()));
}

/// The folder holds nothing but names made of digests, whatever the content says.
#[tokio::test]
async fn paths_are_made_of_digests_only() {
    let home = Home::new();
    let content = b"../../../../etc/passwd\0/".repeat(3_000);
    let digest = home.put_large(&content).await;
    assert_eq!(home.blob_files(), [home.path(digest)]);
    let names: Vec<_> =
        fs::read_dir(home.dir.path()).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    assert_eq!(names, ["blobs"]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("blobs"), b"a file").expect("written");
    let opened = LocalBlobs::open(&dir.path().join("blobs"), Arc::new(Table::default()));
    assert!(matches!(opened, Err(BlobError::Io(_))));
}

#[tokio::test]
async fn a_removed_temporary_folder_comes_back() {
    let home = Home::new();
    fs::remove_dir(home.root().join("tmp")).expect("removed");
    let digest = home.put_large(&noise(LARGE, 1)).await;
    assert!(home.get(digest).await.is_ok());
}
