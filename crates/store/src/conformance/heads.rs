//! The head moves with every append, whoever appends.

use std::time::Duration;

use holdpoint_core::Seq;
use tokio::sync::watch;

use super::Bench;
use super::kit::{one, run, write};
use crate::EventLog as _;

/// Waits until the head has come to a position. The limit only keeps a broken store from hanging the suite.
async fn reaches(head: &mut watch::Receiver<Seq>, position: Seq) {
    let wait = head.wait_for(|head| *head >= position);
    let reached = tokio::time::timeout(Duration::from_mins(1), wait).await;
    assert_eq!(*reached.expect("the head moves").expect("the store is open"), position);
}

/// A handle's own appends move its head.
pub async fn the_head_begins_at_nothing_and_follows_appends(bench: &impl Bench) {
    let log = bench.open().await;
    let mut head = log.head();
    assert_eq!(*head.borrow_and_update(), Seq(0));
    for after in 0..3 {
        let last = write(&*log, one(run(1), after)).await.last;
        reaches(&mut head, last).await;
    }
}

/// Another process's appends do too.
pub async fn the_head_follows_another_handle(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    let mut head = other.head();
    for after in 0..3 {
        let last = write(&*log, one(run(1), after)).await.last;
        reaches(&mut head, last).await;
    }
}

/// A process that starts later knows where the log ends.
pub async fn a_new_handle_begins_at_the_present_head(bench: &impl Bench) {
    let log = bench.open().await;
    let last = write(&*log, one(run(1), 0)).await.last;
    assert_eq!(*bench.open().await.head().borrow(), last);
}
