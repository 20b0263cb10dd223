//! Whoever lost a run's work cannot write for it any more.

use holdpoint_core::Timestamp;

use super::Bench;
use super::kit::{all, one, owing, refused, run, run_id, write};
use crate::{Append, EventLog as _, Fence, Refused};

fn fenced(append: Append, epoch: u64) -> Append {
    Append { fence: Some(Fence { run: run_id(1), epoch }), ..append }
}

/// The holder writes, again and again.
pub async fn the_present_epoch_passes(bench: &impl Bench) {
    let log = bench.open().await;
    let epoch = write(&*log, owing(1, Some(1), true)).await.leases[0].epoch;
    write(&*log, fenced(one(run(1), 0), epoch)).await;
    write(&*log, fenced(one(run(1), 1), epoch)).await;
}

/// An epoch that is not the present one does not pass, older or newer.
pub async fn a_stale_epoch_is_refused_with_the_present_one(bench: &impl Bench) {
    let log = bench.open().await;
    let old = write(&*log, owing(1, Some(1), true)).await.leases[0].epoch;
    write(&*log, owing(1, None, false)).await;
    let new = write(&*log, owing(1, Some(1), true)).await.leases[0].epoch;
    assert!(new > old);
    for wrong in [old, new + 1] {
        let answer = refused(&*log, fenced(one(run(1), 0), wrong)).await;
        assert!(matches!(answer, Refused::Fenced(epoch) if epoch == new), "{answer:?}");
    }
    write(&*log, fenced(one(run(1), 0), new)).await;
}

/// Knowing the epoch is not enough; a taken-over owner is out at once.
pub async fn another_owner_is_refused(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    let held = write(&*log, owing(1, Some(1), true)).await.leases[0].epoch;
    let answer = refused(&*other, fenced(one(run(1), 0), held)).await;
    assert!(matches!(answer, Refused::Fenced(epoch) if epoch == held), "{answer:?}");
    bench.kill(log).await;
    let taken = other.claim(Timestamp(1), 10, None).await.expect("claimed")[0].lease.epoch;
    assert!(taken > held);
    write(&*other, fenced(one(run(1), 0), taken)).await;
}

/// Nobody owns what was never owed.
pub async fn a_run_without_work_is_fenced(bench: &impl Bench) {
    let log = bench.open().await;
    for epoch in [0, 1] {
        let answer = refused(&*log, fenced(one(run(1), 0), epoch)).await;
        assert!(matches!(answer, Refused::Fenced(0)), "{answer:?}");
    }
}

/// When nothing is due any more, the lease is over.
pub async fn a_released_run_is_fenced(bench: &impl Bench) {
    let log = bench.open().await;
    let held = write(&*log, owing(1, Some(1), true)).await.leases[0].epoch;
    write(&*log, owing(1, None, false)).await;
    let answer = refused(&*log, fenced(one(run(1), 0), held)).await;
    assert!(matches!(answer, Refused::Fenced(epoch) if epoch == held), "{answer:?}");
}

/// A fence refuses all of an append, its work too.
pub async fn a_fenced_append_leaves_nothing_behind(bench: &impl Bench) {
    let log = bench.open().await;
    let mut bad = fenced(one(run(1), 0), 3);
    bad.work = owing(2, Some(1), true).work;
    refused(&*log, bad).await;
    assert_eq!(all(&*log).await, []);
    assert_eq!(log.beat().await.expect("alive"), []);
    write(&*log, one(run(1), 0)).await;
}
