//! A request that is sent again is recorded once.

use super::Bench;
use super::kit::{all, keyed, one, refused, run, write};
use crate::{EventLog, Receipt, Refused};

async fn replayed(log: &impl EventLog, append: crate::Append) -> Receipt {
    match refused(log, append).await {
        Refused::Replayed(receipt) => receipt,
        other => panic!("not replayed: {other}"),
    }
}

/// The second answer names the positions of the first, though the versions have moved on.
pub async fn a_repeated_request_is_answered_with_its_first_receipt(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(run(2), 0)).await;
    let first = write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    write(&*log, one(run(1), 1)).await;
    for _ in 0..3 {
        let again = replayed(&*log, keyed(one(run(1), 0), "key", "request")).await;
        assert_eq!((again.first, again.last), (first.first, first.last));
        let decided_anew = replayed(&*log, keyed(one(run(1), 2), "key", "request")).await;
        assert_eq!((decided_anew.first, decided_anew.last), (first.first, first.last));
    }
    assert_eq!(all(&*log).await.len(), 3);
}

/// A key stands for one request only.
pub async fn another_request_under_the_same_key_is_refused(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    let answer = refused(&*log, keyed(one(run(1), 1), "key", "other")).await;
    assert!(matches!(answer, Refused::KeyReused), "{answer:?}");
    assert_eq!(all(&*log).await.len(), 1);
}

/// What was not recorded can be asked differently under the same key.
pub async fn a_refusal_binds_no_key(bench: &impl Bench) {
    let log = bench.open().await;
    let answer = refused(&*log, keyed(one(run(1), 6), "key", "request")).await;
    assert!(matches!(answer, Refused::Conflict(..)), "{answer:?}");
    write(&*log, keyed(one(run(1), 0), "key", "other")).await;
}

/// The same request may be meant twice.
pub async fn keys_are_told_apart_by_scope(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    write(&*log, keyed(one(run(1), 1), "other key", "request")).await;
    assert_eq!(all(&*log).await.len(), 2);
}

/// A sender may come back after a crash, to any process.
pub async fn a_key_outlives_its_handle(bench: &impl Bench) {
    let log = bench.open().await;
    let first = write(&*log, keyed(one(run(1), 0), "key", "request")).await;
    bench.kill(log).await;
    let log = bench.open().await;
    let again = replayed(&*log, keyed(one(run(1), 0), "key", "request")).await;
    assert_eq!((again.first, again.last), (first.first, first.last));
}
