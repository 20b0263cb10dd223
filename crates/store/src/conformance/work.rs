//! A run's work has at most one live owner, and none is forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdpoint_core::Timestamp;

use super::Bench;
use super::kit::{one, owing, run, run_id, write};
use crate::{Append, Claimed, EventLog, Fence, Lease};

async fn claim(log: &impl EventLog, now: i64, limit: u32) -> Vec<Lease> {
    let claimed = log.claim(Timestamp(now), limit, None).await.expect("claims are answered");
    claimed.into_iter().map(|claimed| claimed.lease).collect()
}

async fn held(log: &impl EventLog) -> Vec<Lease> {
    let mut held = log.beat().await.expect("alive");
    held.sort_unstable();
    held
}

/// Whoever commits the first work of a run can begin without a claim.
pub async fn taking_gives_a_lease(bench: &impl Bench) {
    let log = bench.open().await;
    let mut append = one(run(1), 0);
    append.work = owing(1, Some(5), true).work;
    let receipt = write(&*log, append).await;
    assert_eq!(receipt.leases, [Lease { run: run_id(1), epoch: 1 }]);
    assert_eq!(held(&*log).await, receipt.leases);
}

/// A holder that owes the next step keeps its lease.
pub async fn taking_again_keeps_the_epoch(bench: &impl Bench) {
    let log = bench.open().await;
    let first = write(&*log, owing(1, Some(5), true)).await.leases;
    assert_eq!(write(&*log, owing(1, Some(9), true)).await.leases, first);
    assert_eq!(write(&*log, owing(1, Some(2), false)).await.leases, first);
    assert_eq!(held(&*log).await, first);
}

/// A live owner keeps its run, whoever else commits for it.
pub async fn a_run_is_not_taken_twice(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    let first = write(&*log, owing(1, Some(5), true)).await.leases;
    assert_eq!(write(&*other, owing(1, Some(6), true)).await.leases, []);
    assert_eq!(held(&*other).await, []);
    assert_eq!(held(&*log).await, first);
}

/// A process that does no work leaves it to one that does.
pub async fn work_can_be_owed_without_taking_it(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    assert_eq!(write(&*log, owing(1, Some(5), false)).await.leases, []);
    assert_eq!(claim(&*other, 5, 10).await, [Lease { run: run_id(1), epoch: 1 }]);
}

/// An idle run has no owner; its next lease has a higher epoch.
pub async fn nothing_due_releases_the_run_and_keeps_its_epoch(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, owing(1, Some(5), true)).await;
    assert_eq!(write(&*log, owing(1, None, true)).await.leases, []);
    assert_eq!(held(&*log).await, []);
    assert_eq!(claim(&*other, i64::MAX, 10).await, []);
    let next = write(&*other, owing(1, Some(7), true)).await.leases;
    assert_eq!(next, [Lease { run: run_id(1), epoch: 2 }]);
}

/// A claim tells a run that nobody held, or that was given back, from one whose owner died.
pub async fn a_claim_says_whether_an_owner_died(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    let abandoned = async || {
        let claimed = other.claim(Timestamp(5), 1, None).await.expect("answered");
        claimed.iter().map(|claimed| (claimed.lease, claimed.abandoned)).collect::<Vec<_>>()
    };
    write(&*log, owing(1, Some(5), false)).await;
    assert_eq!(abandoned().await, [(Lease { run: run_id(1), epoch: 1 }, false)]);
    write(&*log, owing(2, Some(5), true)).await;
    let mut back = owing(2, None, false);
    back.fence = Some(Fence { run: run_id(2), epoch: 1 });
    back.work.extend(owing(2, Some(5), false).work);
    assert_eq!(write(&*log, back).await.leases, []);
    assert_eq!(abandoned().await, [(Lease { run: run_id(2), epoch: 2 }, false)]);
    write(&*log, owing(3, Some(5), true)).await;
    bench.kill(log).await;
    assert_eq!(abandoned().await, [(Lease { run: run_id(3), epoch: 2 }, true)]);
}

/// What is due later waits; what is due now does not.
pub async fn only_due_work_is_claimed(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, owing(1, Some(100), false)).await;
    write(&*log, owing(2, None, false)).await;
    assert_eq!(claim(&*log, 99, 10).await, []);
    assert_eq!(claim(&*log, 100, 10).await, [Lease { run: run_id(1), epoch: 1 }]);
}

/// A limit takes those that have waited longest.
pub async fn a_claim_takes_the_longest_due_first(bench: &impl Bench) {
    let log = bench.open().await;
    for (n, due) in [(1, 40), (2, 10), (3, 30), (4, 20)] {
        write(&*log, owing(n, Some(due), false)).await;
    }
    let runs = |leases: Vec<Lease>| leases.iter().map(|lease| lease.run).collect::<BTreeSet<_>>();
    assert_eq!(claim(&*log, 100, 0).await, []);
    assert_eq!(runs(claim(&*log, 100, 2).await), BTreeSet::from([run_id(2), run_id(4)]));
    assert_eq!(runs(claim(&*log, 100, 1).await), BTreeSet::from([run_id(3)]));
    assert_eq!(runs(claim(&*log, 100, 9).await), BTreeSet::from([run_id(1)]));
}

/// Whoever wants one run gets that one, or nothing.
pub async fn a_claim_of_one_run_takes_no_other(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    for (n, due) in [(1, 10), (2, 20)] {
        write(&*log, owing(n, Some(due), false)).await;
    }
    let one = async |n: u128| log.claim(Timestamp(100), 9, Some(run_id(n))).await.expect("answered");
    let lease = Lease { run: run_id(2), epoch: 1 };
    assert_eq!(one(2).await, [Claimed { lease, abandoned: false }]);
    assert_eq!(one(2).await, []);
    assert_eq!(one(3).await, []);
    assert_eq!(claim(&*other, 100, 10).await, [Lease { run: run_id(1), epoch: 1 }]);
}

/// Neither another live owner's run nor one's own is handed out again.
pub async fn a_claim_leaves_alone_what_is_held(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, owing(1, Some(5), true)).await;
    assert_eq!(claim(&*other, 100, 10).await, []);
    assert_eq!(claim(&*log, 100, 10).await, []);
    assert_eq!(held(&*log).await.len(), 1);
}

/// A restart after a kill waits for no lease to run out.
pub async fn a_killed_owners_run_is_taken_over_at_once(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, owing(1, Some(5), true)).await;
    write(&*log, owing(2, Some(500), true)).await;
    bench.kill(log).await;
    assert_eq!(claim(&*other, 100, 10).await, [Lease { run: run_id(1), epoch: 2 }]);
    assert_eq!(claim(&*other, 500, 10).await, [Lease { run: run_id(2), epoch: 2 }]);
}

/// An owner that has stopped without dying loses its runs when its lease runs out.
pub async fn a_silent_owners_run_is_taken_over(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, owing(1, Some(5), true)).await;
    if !bench.outlast_leases().await {
        return;
    }
    assert_eq!(claim(&*other, 100, 10).await, [Lease { run: run_id(1), epoch: 2 }]);
    assert_eq!(held(&*log).await, []);
}

/// A heartbeat is enough to keep a run.
pub async fn a_beating_owner_keeps_its_runs(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    let first = write(&*log, owing(1, Some(5), true)).await.leases;
    bench.outlast_leases().await;
    assert_eq!(held(&*log).await, first, "nobody took it, so it is still held");
    assert_eq!(claim(&*other, 100, 10).await, []);
}

/// An owner can learn all that it holds.
pub async fn a_beat_lists_what_is_held(bench: &impl Bench) {
    let log = bench.open().await;
    assert_eq!(held(&*log).await, []);
    let mut expected = Vec::new();
    for n in 1..=3 {
        expected.extend(write(&*log, owing(n, Some(5), true)).await.leases);
    }
    write(&*log, owing(4, Some(5), false)).await;
    assert_eq!(held(&*log).await, expected);
    write(&*log, owing(2, None, false)).await;
    expected.remove(1);
    assert_eq!(held(&*log).await, expected);
}

/// What somebody else ended is not held any more.
pub async fn a_beat_leaves_out_what_was_lost(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, owing(1, Some(5), true)).await;
    write(&*other, owing(1, None, false)).await;
    assert_eq!(held(&*log).await, []);
}

/// Handles that claim at the same time share the work out.
pub async fn two_claims_never_share_a_run<B: Bench>(bench: &B) {
    let log = bench.open().await;
    let work = (1..=40).flat_map(|n| owing(n, Some(1), false).work).collect();
    write(&*log, Append { work, ..Append::default() }).await;
    let mut claims = Vec::new();
    for _ in 0..4 {
        let log: Arc<B::Log> = bench.open().await;
        claims.push(tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let leases = claim(&*log, 1, 3).await;
                if leases.is_empty() {
                    // Kept open: a dropped handle would give its runs away.
                    return (log, mine);
                }
                mine.extend(leases);
            }
        }));
    }
    let mut all = Vec::new();
    for claim in futures_util::future::join_all(claims).await {
        let (log, mine) = claim.expect("the task ended");
        all.push((log, mine));
    }
    let mut runs: Vec<_> = all.iter().flat_map(|(_, mine)| mine.iter().map(|lease| lease.run)).collect();
    runs.sort_unstable();
    assert_eq!(runs, (1..=40).map(run_id).collect::<Vec<_>>());
}
