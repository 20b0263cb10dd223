//! Rows come back as they were given, dense and in order.

use holdpoint_core::{Actor, Digest, Seq, Version};

use super::Bench;
use super::kit::{
    all, all_of, append, as_stored, chained, check_dense, one, pipeline, row, run, session, write,
};
use crate::EventLog as _;

/// All of a row is given back, down to the byte.
pub async fn a_row_comes_back_as_it_was_given(bench: &impl Bench) {
    let log = bench.open().await;
    let mut new = row(run(7), 1, 3);
    new.session = session(99);
    new.actor = Actor::agent("modèle");
    new.shape = ["started", "said", "ended"].join(",");
    new.bytes = b"[ {\"a\" : 1.0}, null ]\n".to_vec();
    let receipt = write(&*log, append(vec![new.clone()])).await;
    assert_eq!((receipt.first, receipt.last), (Seq(1), Seq(3)));
    assert_eq!(all_of(&*log, run(7)).await, [as_stored(&new, Seq(1))]);
    assert_eq!(all(&*log).await, [as_stored(&new, Seq(1))]);
}

/// The store neither makes nor changes hashes.
pub async fn the_chain_is_kept_as_given(bench: &impl Bench) {
    let log = bench.open().await;
    let mut prev = Digest::ZERO;
    for first in 1..=4 {
        let new = chained(row(run(1), first, 1), prev);
        prev = new.hash;
        write(&*log, append(vec![new])).await;
    }
    let rows = all_of(&*log, run(1)).await;
    assert_eq!(rows[0].prev, Digest::ZERO);
    for pair in rows.windows(2) {
        assert_eq!(pair[1].prev, pair[0].hash);
    }
    assert_eq!(rows[3].hash, prev);
}

/// Nothing is there at first.
pub async fn an_empty_home_reads_as_empty(bench: &impl Bench) {
    let log = bench.open().await;
    assert_eq!(all(&*log).await, []);
    assert_eq!(all_of(&*log, run(1)).await, []);
}

/// Rows of several events leave no gap, in a stream or in the log.
pub async fn versions_and_positions_are_dense(bench: &impl Bench) {
    let log = bench.open().await;
    let counts = [1_u32, 3, 2, 5];
    let mut versions = [0_u64; 2];
    let mut last = Seq(0);
    for (n, count) in counts.into_iter().enumerate() {
        let which = n % 2;
        let receipt = write(&*log, append(vec![row(run(which as u128), versions[which] + 1, count)])).await;
        versions[which] += u64::from(count);
        assert_eq!(receipt.first, Seq(last.0 + 1));
        last = receipt.last;
    }
    assert_eq!(last, Seq(11));
    check_dense(&all(&*log).await);
}

/// A reader goes on where it stopped.
pub async fn a_stream_is_read_after_a_version_with_a_limit(bench: &impl Bench) {
    let log = bench.open().await;
    for after in 0..5 {
        write(&*log, one(run(1), after)).await;
        write(&*log, one(run(2), after)).await;
    }
    let firsts = |rows: Vec<crate::Row>| rows.iter().map(|row| row.first.0).collect::<Vec<_>>();
    let read = async |after, limit| firsts(log.read(run(1), Version(after), limit).await.expect("readable"));
    assert_eq!(read(0, 2).await, [1, 2]);
    assert_eq!(read(2, 2).await, [3, 4]);
    assert_eq!(read(4, 100).await, [5]);
    assert_eq!(read(5, 100).await, [0; 0]);
    assert_eq!(read(900, 100).await, [0; 0]);
    assert_eq!(read(0, 0).await, [0; 0]);
}

/// A subscriber that follows the log sees every row once, in order.
pub async fn the_whole_log_is_read_in_order_without_gaps(bench: &impl Bench) {
    let log = bench.open().await;
    for after in 0..6 {
        let rows = vec![row(run(1), after + 1, 1), row(pipeline(1), 2 * after + 1, 2)];
        write(&*log, append(rows)).await;
    }
    let mut seen = Vec::new();
    let mut after = Seq(0);
    loop {
        let page = log.read_all(after, 5).await.expect("readable");
        assert!(page.len() <= 5);
        let Some(last) = page.last() else { break };
        after = last.last_seq();
        seen.extend(page);
    }
    assert_eq!(seen.len(), 12);
    assert_eq!(after, Seq(18));
    check_dense(&seen);
    assert_eq!(seen, all(&*log).await);
}

/// A version or a position inside a row names the rest of it.
pub async fn a_read_from_inside_a_row_begins_with_that_row(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, append(vec![row(run(1), 1, 3)])).await;
    write(&*log, append(vec![row(run(1), 4, 1)])).await;
    for inside in 0..3 {
        assert_eq!(log.read(run(1), Version(inside), 10).await.expect("readable").len(), 2);
        assert_eq!(log.read_all(Seq(inside), 10).await.expect("readable").len(), 2);
    }
    assert_eq!(log.read(run(1), Version(3), 10).await.expect("readable").len(), 1);
    assert_eq!(log.read_all(Seq(3), 10).await.expect("readable").len(), 1);
}

/// Size, zeros and text that is not UTF-8 do not matter.
pub async fn large_and_strange_bytes_survive(bench: &impl Bench) {
    let log = bench.open().await;
    let contents =
        [Vec::new(), vec![0, 0xff, 0, 0xc3], (0..1_500_000_u32).map(|n| (n ^ (n >> 7)) as u8).collect()];
    for (after, bytes) in contents.iter().enumerate() {
        let mut new = row(run(1), after as u64 + 1, 1);
        new.bytes.clone_from(bytes);
        write(&*log, append(vec![new])).await;
    }
    let rows = all_of(&*log, run(1)).await;
    assert!(rows.iter().map(|row| &row.bytes).eq(&contents));
}

/// What one handle wrote is there for all.
pub async fn another_handle_reads_what_was_written(bench: &impl Bench) {
    let (log, other) = (bench.open().await, bench.open().await);
    write(&*log, one(run(1), 0)).await;
    write(&*other, one(run(1), 1)).await;
    write(&*log, one(run(1), 2)).await;
    assert_eq!(all(&*log).await, all(&*other).await);
    check_dense(&all(&*other).await);
}

/// What was answered is durable.
pub async fn a_killed_handle_loses_nothing(bench: &impl Bench) {
    let log = bench.open().await;
    for after in 0..20 {
        write(&*log, one(run(1), after)).await;
    }
    bench.kill(log).await;
    let log = bench.open().await;
    assert_eq!(all_of(&*log, run(1)).await.len(), 20);
    write(&*log, one(run(1), 20)).await;
    check_dense(&all(&*log).await);
}
