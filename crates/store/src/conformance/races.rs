//! Many senders at once: nothing is lost, nothing is doubled.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;
use holdpoint_core::rows::Table;
use holdpoint_core::{CommandId, StreamId, Version};
use uuid::Uuid;

use super::Bench;
use super::kit::{all, append, check_dense, keyed, one, put, row, row_of, rows_of, run};
use crate::{EventLog, Refused};

const STREAMS: u128 = 8;

/// Appends events to streams in turn, deciding again after each conflict.
async fn write_many(log: Arc<impl EventLog>, task: u128, count: u128) {
    let mut known = [0_u64; STREAMS as usize];
    for n in 0..count {
        let which = ((task + n) % STREAMS) as usize;
        loop {
            let mut new = row(run(which as u128), known[which] + 1, 1);
            new.command = CommandId(Uuid::from_u128(task << 64 | n));
            match log.append(append(vec![new])).await {
                Ok(_) => {
                    known[which] += 1;
                    break;
                }
                Err(Refused::Conflict(_, Version(present))) => known[which] = present,
                Err(other) => panic!("task {task}, append {n}: {other}"),
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn check_written(log: &impl EventLog, count: usize) {
    let rows = all(log).await;
    assert_eq!(rows.len(), count);
    check_dense(&rows);
    let commands: BTreeSet<CommandId> = rows.iter().map(|row| row.command).collect();
    assert_eq!(commands.len(), count);
}

/// Many tasks on one handle.
pub async fn nothing_is_lost_or_doubled_between_tasks<B: Bench>(bench: &B) {
    let log = bench.open().await;
    let tasks = (0..32).map(|task| tokio::spawn(write_many(Arc::clone(&log), task, 50)));
    for task in join_all(tasks).await {
        task.expect("the task ended well");
    }
    check_written(&*log, 1600).await;
}

/// Several handles with several tasks each.
pub async fn nothing_is_lost_or_doubled_between_handles<B: Bench>(bench: &B) {
    let mut logs = Vec::new();
    for _ in 0..3 {
        logs.push(bench.open().await);
    }
    let tasks = (0..12).map(|task| tokio::spawn(write_many(Arc::clone(&logs[task % 3]), task as u128, 20)));
    for task in join_all(tasks).await {
        task.expect("the task ended well");
    }
    for log in &logs {
        check_written(&**log, 240).await;
    }
}

/// A request that arrives many times at once is recorded once, and all are told where.
pub async fn one_key_is_written_once<B: Bench>(bench: &B) {
    let (log, other) = (bench.open().await, bench.open().await);
    let tasks = (0..20_u128).map(|n| {
        let log = Arc::clone(if n % 2 == 0 { &log } else { &other });
        // Each goes to a stream of its own, so that only the key can tell them to be one.
        tokio::spawn(async move { log.append(keyed(one(run(n), 0), "key", "request")).await })
    });
    let (mut written, mut told) = (0, BTreeSet::new());
    for answer in join_all(tasks).await {
        let receipt = match answer.expect("the task ended") {
            Ok(receipt) => {
                written += 1;
                receipt
            }
            Err(Refused::Replayed(receipt)) => receipt,
            Err(other) => panic!("refused: {other}"),
        };
        told.insert((receipt.first, receipt.last));
    }
    assert_eq!((written, told.len()), (1, 1));
    assert_eq!(all(&*log).await.len(), 1);
}

/// Of all that believe in the same version, one is right.
pub async fn one_of_two_appends_at_a_version_wins<B: Bench>(bench: &B) {
    let (log, other) = (bench.open().await, bench.open().await);
    for after in 0..20 {
        let [a, b] = [&log, &other].map(|log| {
            let log = Arc::clone(log);
            tokio::spawn(async move { log.append(one(run(1), after)).await })
        });
        let answers = [a.await.expect("ended"), b.await.expect("ended")];
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        let refused = answers.iter().find_map(|answer| answer.as_ref().err()).expect("one was refused");
        assert!(matches!(refused, Refused::Conflict(_, Version(now)) if *now == after + 1), "{refused:?}");
    }
    check_dense(&all(&*log).await);
}

/// A sender that goes away mid-append leaves all of it or nothing.
pub async fn an_abandoned_append_is_whole_or_absent<B: Bench>(bench: &B) {
    let log = bench.open().await;
    let streams = |n: u128| -> [StreamId; 2] { [run(2 * n), run(2 * n + 1)] };
    let tasks: Vec<_> = (0..40)
        .map(|n| {
            let log = Arc::clone(&log);
            let rows = streams(n).map(|stream| row_of(stream, 1, vec![vec![put(Table::Run, 1, vec![])]]));
            tokio::spawn(async move { log.append(append(rows.into())).await.map(drop) })
        })
        .collect();
    tokio::task::yield_now().await;
    for task in &tasks {
        task.abort();
    }
    join_all(tasks).await;
    // A commit that was under way may still land; a later one from here comes after it.
    log.append(one(StreamId::Home, 0)).await.expect("the log goes on");
    let rows = all(&*log).await;
    check_dense(&rows);
    for n in 0..40 {
        let [a, b] = streams(n).map(|stream| rows.iter().filter(|row| row.stream == stream).count());
        assert_eq!(a, b);
        assert_eq!(rows_of(&*log, Table::Run, streams(n)[1]).await.len(), a);
    }
}
