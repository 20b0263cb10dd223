//! An append happens wholly or not at all, and only where its sender believes the streams to stand.

use holdpoint_core::rows::Table;
use holdpoint_core::{Digest, Seq, Version};

use super::Bench;
use super::kit::{all, all_of, append, one, owing, pipeline, put, refused, row, row_of, rows_of, run, write};
use crate::{Append, EventLog as _, Refused, SmallBlob};

/// A wrong expectation is refused with the present version, too low or too high.
pub async fn a_written_stream_must_stand_where_expected(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, append(vec![row(run(1), 1, 2)])).await;
    for wrong in [0, 1, 3, 9] {
        let answer = refused(&*log, one(run(1), wrong)).await;
        assert!(matches!(answer, Refused::Conflict(stream, Version(2)) if stream == run(1)), "{answer:?}");
    }
    write(&*log, one(run(1), 2)).await;
}

/// A stream that a decision rests on must not have moved either.
pub async fn a_stream_that_was_only_read_is_guarded_too(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(pipeline(1), 0)).await;
    let guarded = |version| {
        let mut append = one(run(1), 0);
        append.expect.push((pipeline(1), Version(version)));
        append
    };
    let answer = refused(&*log, guarded(0)).await;
    assert!(matches!(answer, Refused::Conflict(stream, Version(1)) if stream == pipeline(1)), "{answer:?}");
    write(&*log, guarded(1)).await;
    assert_eq!(all_of(&*log, pipeline(1)).await.len(), 1);
}

/// That a stream does not exist can be guarded.
pub async fn a_guard_on_an_empty_stream_holds(bench: &impl Bench) {
    let log = bench.open().await;
    let guarded = |after| {
        let mut append = one(run(1), after);
        append.expect.push((run(2), Version(0)));
        append
    };
    write(&*log, guarded(0)).await;
    write(&*log, one(run(2), 0)).await;
    let answer = refused(&*log, guarded(1)).await;
    assert!(matches!(answer, Refused::Conflict(stream, Version(1)) if stream == run(2)), "{answer:?}");
}

/// Rows of one append stand next to each other, in the order given.
pub async fn several_streams_are_written_together(bench: &impl Bench) {
    let log = bench.open().await;
    let rows = vec![row(run(2), 1, 2), row(pipeline(1), 1, 1), row(run(1), 1, 3)];
    let receipt = write(&*log, append(rows)).await;
    assert_eq!((receipt.first, receipt.last), (Seq(1), Seq(6)));
    let streams: Vec<_> = all(&*log).await.iter().map(|row| (row.stream, row.seq.0)).collect();
    assert_eq!(streams, [(run(2), 1), (pipeline(1), 3), (run(1), 4)]);
}

/// One stream out of place keeps back rows, table changes and work of all.
pub async fn a_refused_append_leaves_nothing_behind(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(run(1), 0)).await;
    let change = put(Table::Run, 1, vec![("title", "x".into())]);
    let mut bad = append(vec![row_of(run(2), 1, vec![vec![change]]), row(run(1), 1, 1)]);
    bad.work = owing(2, Some(1), true).work;
    let answer = refused(&*log, bad).await;
    assert!(matches!(answer, Refused::Conflict(..)), "{answer:?}");
    assert_eq!(all(&*log).await.len(), 1);
    assert_eq!(rows_of(&*log, Table::Run, run(2)).await, []);
    assert_eq!(log.beat().await.expect("alive"), []);
    let next = write(&*log, one(run(2), 0)).await;
    assert_eq!(next.first, Seq(2), "a refused append uses up no position");
}

/// Work can change without an event.
pub async fn an_append_without_rows_moves_nothing(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(run(1), 0)).await;
    let receipt = write(&*log, owing(1, Some(5), true)).await;
    assert_eq!(receipt.leases.len(), 1);
    assert_eq!(all(&*log).await.len(), 1);
    assert_eq!(write(&*log, one(run(1), 1)).await.first, Seq(2));
}

fn with_blob(append: Append, bytes: &[u8]) -> (Append, Digest) {
    let digest = Digest::of(bytes);
    (Append { blobs: vec![SmallBlob { digest, bytes: bytes.into() }], ..append }, digest)
}

/// A small blob is there as soon as the append is answered, and stays.
pub async fn small_blobs_are_durable_with_the_append(bench: &impl Bench) {
    let log = bench.open().await;
    let contents: [Vec<u8>; 3] = [Vec::new(), b"one".to_vec(), vec![7; crate::SMALL_BLOB]];
    for (after, bytes) in contents.iter().enumerate() {
        let (append, digest) = with_blob(one(run(1), after as u64), bytes);
        assert_eq!(bench.small_blob(&log, digest).await, None);
        write(&*log, append).await;
        assert_eq!(bench.small_blob(&log, digest).await.as_ref(), Some(bytes));
    }
    bench.kill(log).await;
    let log = bench.open().await;
    for bytes in &contents {
        assert_eq!(bench.small_blob(&log, Digest::of(bytes)).await.as_ref(), Some(bytes));
    }
}

/// The same content may come with many appends, and twice in one.
pub async fn a_small_blob_can_come_twice(bench: &impl Bench) {
    let log = bench.open().await;
    let (mut first, digest) = with_blob(one(run(1), 0), b"same");
    first.blobs.push(first.blobs[0].clone());
    write(&*log, first).await;
    write(&*log, with_blob(one(run(1), 1), b"same").0).await;
    assert_eq!(bench.small_blob(&log, digest).await.as_deref(), Some(b"same".as_slice()));
}

/// A blob comes with its append or not at all.
pub async fn a_refused_append_keeps_no_blob(bench: &impl Bench) {
    let log = bench.open().await;
    let (append, digest) = with_blob(one(run(1), 4), b"lost");
    refused(&*log, append).await;
    assert_eq!(bench.small_blob(&log, digest).await, None);
}
