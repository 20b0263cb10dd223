//! Saved folds: one per stream, the latest.

use holdpoint_core::{Digest, Version};

use super::Bench;
use super::kit::run;
use crate::{EventLog as _, SavedFold};

fn fold(version: u64, bytes: &[u8]) -> SavedFold {
    SavedFold {
        stream: run(1),
        version: Version(version),
        hash: Digest::of(bytes),
        code: 3,
        bytes: bytes.to_vec(),
    }
}

/// A stream without a fold has none.
pub async fn no_fold_is_there_at_first(bench: &impl Bench) {
    let log = bench.open().await;
    assert_eq!(log.fold(run(1)).await, Ok(None));
}

/// All of a fold is given back.
pub async fn a_fold_comes_back_as_it_was_saved(bench: &impl Bench) {
    let log = bench.open().await;
    let large: Vec<u8> = (0..300_000_u32).map(|n| (n * 7) as u8).collect();
    log.save_fold(fold(5, &large)).await.expect("saved");
    assert_eq!(log.fold(run(1)).await, Ok(Some(fold(5, &large))));
    assert_eq!(log.fold(run(2)).await, Ok(None));
}

/// Only one fold per stream is kept.
pub async fn a_later_fold_replaces_the_one_before(bench: &impl Bench) {
    let log = bench.open().await;
    log.save_fold(fold(5, b"five")).await.expect("saved");
    log.save_fold(fold(9, b"nine")).await.expect("saved");
    assert_eq!(log.fold(run(1)).await, Ok(Some(fold(9, b"nine"))));
}

/// A fold serves all handles, and outlives the one that saved it.
pub async fn another_handle_sees_a_fold(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    log.save_fold(fold(5, b"five")).await.expect("saved");
    assert_eq!(other.fold(run(1)).await, Ok(Some(fold(5, b"five"))));
    bench.kill(log).await;
    assert_eq!(other.fold(run(1)).await, Ok(Some(fold(5, b"five"))));
}
