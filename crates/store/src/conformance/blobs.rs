//! Blobs come back as they went in, or not at all; what is wanted is kept.

use std::io::{Cursor, ErrorKind};
use std::sync::Arc;

use holdpoint_core::{Digest, Timestamp};
use tokio::io::AsyncReadExt as _;

use super::kit::Numbers;
use crate::{BlobError, BlobStore, SMALL_BLOB, SmallBlob, Stored};

const LARGE: usize = SMALL_BLOB + 1;

/// What a backend of blobs offers so that it can be tested.
pub trait BlobBench: Sized + Send + Sync {
    /// Its blobs.
    type Blobs: BlobStore + 'static;

    /// Makes a new empty home, which lasts as long as the bench.
    fn new() -> impl Future<Output = Self> + Send;

    /// Opens the home's blobs.
    fn open(&self) -> impl Future<Output = Arc<Self::Blobs>> + Send;

    /// Keeps a small blob by an append at a time ([`carrying`](super::kit::carrying)).
    fn keep(&self, blob: SmallBlob, at: Timestamp) -> impl Future<Output = ()> + Send;

    /// Makes a large blob look as if it was last put at a time.
    fn stamp(&self, digest: Digest, at: Timestamp) -> impl Future<Output = ()> + Send;

    /// Changes some stored bytes of a large blob.
    fn damage(&self, digest: Digest) -> impl Future<Output = ()> + Send;
}

/// Makes one test of each case for a [`BlobBench`](crate::conformance::blobs::BlobBench).
#[macro_export]
macro_rules! blob_conformance_suite {
    ($bench:ty) => {
        $crate::blob_conformance_suite! { @in $bench;
            small_content_is_given_back_and_kept_by_an_append,
            large_content_is_kept_at_once,
            an_unknown_name_is_missing,
            content_has_a_limit,
            the_same_content_has_one_name,
            content_can_be_put_by_many_at_once,
            content_that_fails_midway_is_not_kept,
            damage_is_found_at_the_end,
            putting_again_makes_a_lost_blob_whole,
            a_sweep_counts_and_removes_what_is_old_and_unwanted,
            a_sweep_spares_what_was_put_again,
            a_sweep_removes_small_blobs_that_are_old_and_unwanted,
            a_sweep_spares_small_blobs_that_were_named_again,
        }
    };
    (@in $bench:ty; $($case:ident),* $(,)?) => {$(
        #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let bench = <$bench as $crate::conformance::blobs::BlobBench>::new().await;
            $crate::conformance::blobs::$case(&bench).await;
        }
    )*};
}

fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    (0..len).map(|_| numbers.below(256) as u8).collect()
}

async fn put(blobs: &impl BlobStore, content: &[u8], limit: u64) -> Result<Stored, BlobError> {
    blobs.put(Box::new(Cursor::new(content.to_vec())), limit).await
}

async fn put_large(blobs: &impl BlobStore, content: &[u8]) -> Digest {
    let stored = put(blobs, content, u64::MAX).await;
    assert_eq!(stored, Ok(Stored::Durable(Digest::of(content), content.len() as u64)));
    Digest::of(content)
}

async fn get(blobs: &impl BlobStore, digest: Digest) -> Result<Vec<u8>, BlobError> {
    let mut bytes = Vec::new();
    match blobs.get(digest).await?.read_to_end(&mut bytes).await {
        Ok(_) => Ok(bytes),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().contains(&digest.to_string()), "{error}");
            Err(BlobError::Corrupt(digest))
        }
    }
}

/// Small content becomes readable with the append that carries it.
pub async fn small_content_is_given_back_and_kept_by_an_append(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    for len in [0, 1, SMALL_BLOB - 1, SMALL_BLOB] {
        let content = content(len, 1);
        let stored = put(&*blobs, &content, u64::MAX).await.expect("taken in");
        let Stored::Small(digest, bytes) = stored else { panic!("{len} bytes are small") };
        assert_eq!((digest, &*bytes), (Digest::of(&content), content.as_slice()));
        assert_eq!(get(&*blobs, digest).await, Err(BlobError::Missing(digest)));
        bench.keep(SmallBlob { digest, bytes }, Timestamp(1)).await;
        assert_eq!(get(&*blobs, digest).await, Ok(content));
    }
}

/// Large content is there when put answers, for everybody.
pub async fn large_content_is_kept_at_once(bench: &impl BlobBench) {
    let (blobs, other) = (bench.open().await, bench.open().await);
    for content in [vec![0; LARGE], content(LARGE, 2), content(1_000_000, 3), vec![7; 3_000_000]] {
        let digest = put_large(&*blobs, &content).await;
        assert!(get(&*other, digest).await == Ok(content));
    }
}

/// What was never put is told to be missing.
pub async fn an_unknown_name_is_missing(bench: &impl BlobBench) {
    let digest = Digest::of(b"never put");
    assert_eq!(get(&*bench.open().await, digest).await, Err(BlobError::Missing(digest)));
}

/// One byte too many is too much, and nothing of it is kept.
pub async fn content_has_a_limit(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    for len in [1, SMALL_BLOB, LARGE, 700_000] {
        let content = content(len, 4);
        let limit = len as u64 - 1;
        assert_eq!(put(&*blobs, &content, limit).await, Err(BlobError::TooLarge(limit)));
        assert!(get(&*blobs, Digest::of(&content)).await.is_err());
        assert!(put(&*blobs, &content, limit + 1).await.is_ok());
    }
}

/// Content that is put twice has one name, and is removed as one.
pub async fn the_same_content_has_one_name(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let content = content(LARGE, 5);
    assert_eq!(put_large(&*blobs, &content).await, put_large(&*blobs, &content).await);
    let swept = blobs.sweep(&|_| false, Timestamp(i64::MAX / 2), true).await.expect("counted");
    assert_eq!(swept.blobs, 1);
}

/// Those who put the same at the same time do not disturb each other.
pub async fn content_can_be_put_by_many_at_once<B: BlobBench>(bench: &B) {
    let (blobs, other) = (bench.open().await, bench.open().await);
    let content = content(200_000, 6);
    let puts = [&blobs, &other].into_iter().cycle().take(12).map(|blobs| {
        let (blobs, content) = (Arc::clone(blobs), content.clone());
        tokio::spawn(async move { put_large(&*blobs, &content).await })
    });
    for put in futures_util::future::join_all(puts).await {
        let digest = put.expect("the task ended well");
        assert!(get(&*blobs, digest).await.as_ref() == Ok(&content));
    }
}

/// A sender that goes away leaves nothing that could be taken for content.
pub async fn content_that_fails_midway_is_not_kept(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    for len in [10, 300_000] {
        let sent = content(len, 7);
        let (mut sender, receiver) = tokio::io::duplex(1 << 20);
        tokio::io::AsyncWriteExt::write_all(&mut sender, &sent).await.expect("there is room");
        let broken = tokio::io::AsyncReadExt::chain(receiver.take(len as u64), Broken);
        assert!(matches!(blobs.put(Box::new(broken), u64::MAX).await, Err(BlobError::Io(_))));
        assert!(get(&*blobs, Digest::of(&sent)).await.is_err());
    }
    let swept = blobs.sweep(&|_| false, Timestamp(i64::MAX / 2), true).await.expect("counted");
    assert_eq!(swept.blobs, 0);
}

/// Wrong bytes never end as if they were right.
pub async fn damage_is_found_at_the_end(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    for len in [LARGE, 900_000] {
        let digest = put_large(&*blobs, &content(len, 8)).await;
        bench.damage(digest).await;
        assert_eq!(get(&*blobs, digest).await, Err(BlobError::Corrupt(digest)));
    }
}

/// A blob that was swept can be put again.
pub async fn putting_again_makes_a_lost_blob_whole(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let content = content(LARGE, 9);
    let digest = put_large(&*blobs, &content).await;
    bench.stamp(digest, Timestamp(1)).await;
    blobs.sweep(&|_| false, Timestamp(2), false).await.expect("swept");
    assert_eq!(get(&*blobs, digest).await, Err(BlobError::Missing(digest)));
    put_large(&*blobs, &content).await;
    assert!(get(&*blobs, digest).await == Ok(content));
}

/// Age alone is no reason, and neither is being unwanted; a dry sweep removes nothing.
pub async fn a_sweep_counts_and_removes_what_is_old_and_unwanted(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let mut digests = Vec::new();
    for (n, at) in (0..).zip([1_000_000, 1_000_000, 2_000_000, 1_000_000]) {
        digests.push(put_large(&*blobs, &content(LARGE, 20 + n)).await);
        bench.stamp(digests[n as usize], Timestamp(at)).await;
    }
    let wanted = |digest: &Digest| *digest == digests[0];
    let would = blobs.sweep(&wanted, Timestamp(2_000_000), true).await.expect("counted");
    assert_eq!(would.blobs, 2);
    assert!(would.bytes > 0);
    assert!(get(&*blobs, digests[1]).await.is_ok());
    assert_eq!(blobs.sweep(&wanted, Timestamp(2_000_000), false).await, Ok(would));
    for (digest, there) in digests.iter().zip([true, false, true, false]) {
        assert_eq!(get(&*blobs, *digest).await.is_ok(), there);
    }
}

/// Putting content again makes it young, so that whoever put it can still refer to it.
pub async fn a_sweep_spares_what_was_put_again(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let content = content(LARGE, 30);
    let digest = put_large(&*blobs, &content).await;
    bench.stamp(digest, Timestamp(1)).await;
    put_large(&*blobs, &content).await;
    blobs.sweep(&|_| false, Timestamp(2), false).await.expect("swept");
    assert!(get(&*blobs, digest).await == Ok(content));
}

/// Small blobs end like large ones, however many there are.
pub async fn a_sweep_removes_small_blobs_that_are_old_and_unwanted(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let mut digests = Vec::new();
    for n in 0..600u32 {
        let bytes: Arc<[u8]> = n.to_be_bytes().into();
        digests.push(Digest::of(&bytes));
        let at = if n < 3 { 2 } else { 1 };
        bench.keep(SmallBlob { digest: digests[n as usize], bytes }, Timestamp(at)).await;
    }
    let wanted = |digest: &Digest| *digest == digests[3];
    let would = blobs.sweep(&wanted, Timestamp(2), true).await.expect("counted");
    assert_eq!((would.blobs, would.bytes), (596, 4 * 596));
    assert!(get(&*blobs, digests[4]).await.is_ok());
    assert_eq!(blobs.sweep(&wanted, Timestamp(2), false).await, Ok(would));
    for (n, digest) in digests.iter().enumerate() {
        assert_eq!(get(&*blobs, *digest).await.is_ok(), n < 4, "{n}");
    }
}

/// An append that carries a small blob makes it young, so that its event never names what is removed.
pub async fn a_sweep_spares_small_blobs_that_were_named_again(bench: &impl BlobBench) {
    let blobs = bench.open().await;
    let bytes: Arc<[u8]> = content(100, 31).into();
    let blob = SmallBlob { digest: Digest::of(&bytes), bytes };
    for at in [1, 3, 2] {
        bench.keep(blob.clone(), Timestamp(at)).await;
    }
    blobs.sweep(&|_| false, Timestamp(3), false).await.expect("swept");
    assert_eq!(get(&*blobs, blob.digest).await, Ok(blob.bytes.to_vec()));
    blobs.sweep(&|_| false, Timestamp(4), false).await.expect("swept");
    assert_eq!(get(&*blobs, blob.digest).await, Err(BlobError::Missing(blob.digest)));
}

/// A sender that is gone.
struct Broken;

impl tokio::io::AsyncRead for Broken {
    fn poll_read(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Err(std::io::Error::other("the sender is gone")))
    }
}
