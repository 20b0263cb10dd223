//! Planted faults of the in-memory store do what they say, and no promise breaks under them.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use holdpoint_core::{Digest, Seq, Timestamp};
use holdpoint_store::conformance::kit::{all, check_dense, keyed, one, owing, run, write};
use holdpoint_store::memory::{Fault, MemoryBlobs, MemoryDisk, Step};
use holdpoint_store::{
    BlobError, BlobStore as _, EventLog as _, Refused, SMALL_BLOB, SmallBlob, StoreError, Stored, Swept,
};
use tokio::io::AsyncReadExt as _;

const LARGE: usize = SMALL_BLOB + 1;

fn fail_at(disk: &MemoryDisk, step: Step, fault: Fault) {
    disk.set_fault(Some(Box::new(move |at| if at == step { fault } else { Fault::None })));
}

async fn put(blobs: &MemoryBlobs, bytes: &[u8]) -> Result<Stored, BlobError> {
    blobs.put(Box::new(std::io::Cursor::new(bytes.to_vec())), 1 << 20).await
}

async fn get(blobs: &MemoryBlobs, digest: Digest) -> Result<Vec<u8>, String> {
    let mut reader = blobs.get(digest).await.map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes).await {
        Ok(_) => Ok(bytes),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            Err(error.to_string())
        }
    }
}

#[tokio::test]
async fn an_error_before_the_commit_writes_nothing() {
    let disk = MemoryDisk::new();
    let log = disk.open();
    fail_at(&disk, Step::BeforeCommit, Fault::Error);
    let answer = log.append(keyed(one(run(1), 0), "key", "a")).await;
    assert!(matches!(answer, Err(Refused::Store(StoreError::Io(_)))), "{answer:?}");
    disk.set_fault(None);
    assert_eq!(disk.head(), Seq(0));
    write(&log, keyed(one(run(1), 0), "key", "b")).await;
}

#[tokio::test]
async fn a_crash_before_the_commit_writes_nothing_and_closes_the_handle() {
    let disk = MemoryDisk::new();
    let (log, other) = (disk.open(), disk.open());
    fail_at(&disk, Step::BeforeCommit, Fault::Crash);
    let answer = log.append(one(run(1), 0)).await;
    assert!(matches!(answer, Err(Refused::Store(StoreError::Closed))), "{answer:?}");
    disk.set_fault(None);
    assert_eq!(log.read_all(Seq(0), 1).await, Err(StoreError::Closed));
    assert_eq!(log.beat().await, Err(StoreError::Closed));
    assert_eq!(all(&other).await, []);
}

#[tokio::test]
async fn a_crash_after_the_commit_is_found_by_asking_again() {
    let disk = MemoryDisk::new();
    let log = disk.open();
    fail_at(&disk, Step::AfterCommit, Fault::Crash);
    let answer = log.append(keyed(one(run(1), 0), "key", "a")).await;
    assert!(matches!(answer, Err(Refused::Store(StoreError::Closed))), "{answer:?}");
    disk.set_fault(None);
    let log = disk.open();
    let answer = log.append(keyed(one(run(1), 0), "key", "a")).await;
    assert!(matches!(answer, Err(Refused::Replayed(ref at)) if at.last == Seq(1)), "{answer:?}");
}

#[tokio::test]
async fn an_error_after_the_commit_is_an_unknown_result() {
    let disk = MemoryDisk::new();
    let log = disk.open();
    fail_at(&disk, Step::AfterCommit, Fault::Error);
    let answer = log.append(one(run(1), 0)).await;
    assert!(matches!(answer, Err(Refused::Unknown(_))), "{answer:?}");
    assert!(matches!(log.append(one(run(1), 1)).await, Err(Refused::Store(StoreError::Closed))));
    assert_eq!(disk.head(), Seq(1));
}

#[tokio::test]
async fn a_refusal_meets_no_fault() {
    let disk = MemoryDisk::new();
    let log = disk.open();
    fail_at(&disk, Step::BeforeCommit, Fault::Crash);
    assert!(matches!(log.append(one(run(1), 5)).await, Err(Refused::Conflict(..))));
    assert_eq!(log.beat().await, Ok(vec![]));
}

/// Fails the n-th step for every n, and retries with the same key: each request is recorded exactly once.
#[tokio::test]
async fn every_single_fault_is_survived() {
    for fault in [Fault::Error, Fault::Crash, Fault::PowerCut] {
        for fatal in 1..=20 {
            let disk = MemoryDisk::new();
            let steps = AtomicU32::new(0);
            disk.set_fault(Some(Box::new(move |_| {
                if steps.fetch_add(1, Ordering::Relaxed) + 1 == fatal { fault } else { Fault::None }
            })));
            let mut log = disk.open();
            for n in 0..10_u64 {
                loop {
                    match log.append(keyed(one(run(1), n), &n.to_string(), "request")).await {
                        Ok(_) | Err(Refused::Replayed(_)) => break,
                        Err(Refused::Store(StoreError::Closed) | Refused::Unknown(_)) => log = disk.open(),
                        Err(Refused::Store(StoreError::Io(_))) => {}
                        Err(other) => panic!("{fault:?} at {fatal}: {other}"),
                    }
                }
            }
            let rows = all(&log).await;
            check_dense(&rows);
            assert_eq!(rows.len(), 10);
        }
    }
}

#[tokio::test]
async fn a_power_cut_ends_all_handles_and_frees_their_runs() {
    let disk = MemoryDisk::new();
    let (log, other) = (disk.open(), disk.open());
    write(&log, owing(1, Some(1), true)).await;
    disk.power_cut();
    assert_eq!(log.beat().await, Err(StoreError::Closed));
    assert_eq!(other.beat().await, Err(StoreError::Closed));
    assert_eq!(disk.open().claim(Timestamp(1), 9, None).await.expect("claimed").len(), 1);
}

#[tokio::test]
async fn leases_follow_the_boot_clock_and_not_the_wall_clock() {
    let disk = MemoryDisk::new();
    let (log, other) = (disk.open(), disk.open());
    disk.set_lease(1_000);
    write(&log, owing(1, Some(1), true)).await;
    disk.set_wall(Timestamp(i64::MAX));
    disk.advance(1_000);
    assert_eq!(other.claim(Timestamp(1), 9, None).await, Ok(vec![]));
    disk.advance(1);
    assert_eq!(other.claim(Timestamp(1), 9, None).await.expect("claimed").len(), 1);
}

#[tokio::test]
async fn small_content_is_given_back_and_readable_once_appended() {
    let disk = MemoryDisk::new();
    let log = disk.open();
    for len in [0, 1, SMALL_BLOB] {
        let content = vec![9; len];
        let Ok(Stored::Small(digest, bytes)) = put(&log.blobs(), &content).await else { panic!("not small") };
        assert_eq!((&*bytes, digest), (content.as_slice(), Digest::of(&content)));
        assert_eq!(get(&log.blobs(), digest).await, Err(format!("no blob {digest}")));
        let mut append = one(run(len as u128), 0);
        append.blobs.push(SmallBlob { digest, bytes });
        write(&log, append).await;
        assert_eq!(get(&log.blobs(), digest).await, Ok(content));
    }
}

#[tokio::test]
async fn large_content_is_durable_when_put_answers() {
    for seed in 0..50 {
        let disk = MemoryDisk::new();
        disk.set_seed(seed);
        let content = vec![seed as u8; LARGE];
        let stored = put(&disk.open().blobs(), &content).await.expect("stored");
        assert_eq!(stored, Stored::Durable(Digest::of(&content), LARGE as u64));
        disk.power_cut();
        assert_eq!(get(&disk.open().blobs(), stored.digest()).await, Ok(content));
    }
}

#[tokio::test]
async fn a_lying_sync_is_noticed() {
    let mut lost = 0;
    for seed in 0..50 {
        let disk = MemoryDisk::new();
        disk.set_seed(seed);
        disk.set_lying_sync(true);
        let stored = put(&disk.open().blobs(), &vec![1; LARGE]).await.expect("stored");
        disk.power_cut();
        lost += u32::from(get(&disk.open().blobs(), stored.digest()).await.is_err());
    }
    assert!(lost > 25, "only {lost} of 50 were lost");
}

/// Whatever step fails: nothing wrong is ever served, and putting again works.
#[tokio::test]
async fn a_fault_at_any_blob_step_leaves_nothing_wrong() {
    let steps = [Step::BlobWrite, Step::BlobSync, Step::BlobRename, Step::BlobSyncFolder];
    for (step, seed) in steps.into_iter().flat_map(|step| (0..20).map(move |seed| (step, seed))) {
        for fault in [Fault::Error, Fault::Crash, Fault::PowerCut] {
            let disk = MemoryDisk::new();
            disk.set_seed(seed);
            let content = vec![3; LARGE];
            let digest = Digest::of(&content);
            fail_at(&disk, step, fault);
            assert!(put(&disk.open().blobs(), &content).await.is_err());
            disk.set_fault(None);
            let found = get(&disk.open().blobs(), digest).await;
            assert!(found == Ok(content.clone()) || found == Err(format!("no blob {digest}")), "{found:?}");
            put(&disk.open().blobs(), &content).await.expect("stored");
            disk.power_cut();
            assert_eq!(get(&disk.open().blobs(), digest).await, Ok(content));
        }
    }
}

#[tokio::test]
async fn the_hook_sees_the_protocol_in_order() {
    let disk = MemoryDisk::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let steps = Arc::clone(&seen);
    disk.set_fault(Some(Box::new(move |step| {
        steps.lock().expect("no panic before").push(step);
        Fault::None
    })));
    let log = disk.open();
    put(&log.blobs(), &vec![1; LARGE]).await.expect("stored");
    write(&log, one(run(1), 0)).await;
    assert_eq!(
        *seen.lock().expect("no panic before"),
        [
            Step::BlobWrite,
            Step::BlobSync,
            Step::BlobRename,
            Step::BlobSyncFolder,
            Step::BeforeCommit,
            Step::AfterCommit
        ]
    );
}

#[tokio::test]
async fn damage_is_found_while_reading() {
    let disk = MemoryDisk::new();
    let blobs = disk.open().blobs();
    let digest = put(&blobs, &vec![1; LARGE]).await.expect("stored").digest();
    assert!(disk.damage_blob(digest));
    assert_eq!(get(&blobs, digest).await, Err(format!("blob {digest} is damaged")));
    put(&blobs, &vec![1; LARGE]).await.expect("stored");
    assert_eq!(get(&blobs, digest).await, Ok(vec![1; LARGE]));
}

#[tokio::test]
async fn too_much_is_refused() {
    let blobs = MemoryDisk::new().open().blobs();
    for (len, limit) in [(1, 0), (11, 10), (LARGE, LARGE - 1)] {
        let content = Box::new(std::io::Cursor::new(vec![1; len]));
        assert_eq!(blobs.put(content, limit as u64).await, Err(BlobError::TooLarge(limit as u64)));
    }
}

#[tokio::test]
async fn a_sweep_spares_what_is_young_or_wanted() {
    let disk = MemoryDisk::new();
    disk.set_wall(Timestamp(1_000));
    let blobs = disk.open().blobs();
    let mut digests = Vec::new();
    for n in 0..3 {
        digests.push(put(&blobs, &vec![n; LARGE]).await.expect("stored").digest());
    }
    disk.set_wall(Timestamp(2_000));
    put(&blobs, &vec![2; LARGE]).await.expect("stored");
    let wanted = |digest: &Digest| *digest == digests[0];
    let swept = Swept { blobs: 1, bytes: LARGE as u64 };
    assert_eq!(blobs.sweep(&wanted, Timestamp(2_000), true).await, Ok(swept));
    assert_eq!(blobs.sweep(&wanted, Timestamp(2_000), false).await, Ok(swept));
    assert!(get(&blobs, digests[0]).await.is_ok());
    assert!(get(&blobs, digests[1]).await.is_err());
    assert!(get(&blobs, digests[2]).await.is_ok());
    assert_eq!(blobs.sweep(&wanted, Timestamp(2_000), false).await, Ok(Swept::default()));
}
