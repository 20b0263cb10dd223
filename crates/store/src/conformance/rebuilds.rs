//! Tables can be compared with what the log says, and repaired.

use holdpoint_core::rows::{RowChange, Table};
use holdpoint_core::{Seq, StreamId};

use super::Bench;
use super::kit::{patch, project, put, rows_of, run};
use crate::{Diff, EventLog, Record};

const TABLE: Table = Table::Gate;

fn history() -> Vec<Vec<RowChange>> {
    vec![
        vec![put(TABLE, 1, vec![("name", "pending".into())]), put(Table::Run, 1, vec![])],
        vec![put(TABLE, 2, vec![("name", "pending".into())])],
        vec![patch(TABLE, 1, vec![("name", "completed".into())])],
    ]
}

/// Writes the history and then tampers with the tables by changes that the history does not have.
async fn home_with(log: &impl EventLog, tampering: Vec<RowChange>) -> Vec<(Seq, Vec<RowChange>)> {
    let receipt = project(log, run(1), 0, history()).await;
    if !tampering.is_empty() {
        project(log, run(1), 3, vec![tampering]).await;
    }
    (receipt.first.0..).map(Seq).zip(history()).collect()
}

async fn rebuild(log: &impl EventLog, changes: &[(Seq, Vec<RowChange>)], replace: bool) -> Diff {
    log.rebuild(run(1), changes.to_vec(), replace).await.expect("the tables can be compared")
}

async fn tables(log: &impl EventLog, stream: StreamId) -> Vec<Vec<Record>> {
    vec![rows_of(log, TABLE, stream).await, rows_of(log, Table::Run, stream).await]
}

/// Tables that were only written by appends agree with the log.
pub async fn right_tables_are_found_right(bench: &impl Bench) {
    let log = bench.open().await;
    let changes = home_with(&*log, vec![]).await;
    let before = tables(&*log, run(1)).await;
    for replace in [false, true] {
        assert_eq!(rebuild(&*log, &changes, replace).await, Diff { rows: 3, wrong: vec![] });
        assert_eq!(tables(&*log, run(1)).await, before);
    }
}

/// A different value is told, and a mere comparison changes nothing.
pub async fn a_wrong_row_is_found_and_left_alone(bench: &impl Bench) {
    let log = bench.open().await;
    let changes = home_with(&*log, vec![patch(TABLE, 1, vec![("name", "failed".into())])]).await;
    let before = tables(&*log, run(1)).await;
    let diff = rebuild(&*log, &changes, false).await;
    assert_eq!(diff.wrong.len(), 1);
    let words = &diff.wrong[0];
    assert!(words.contains("gate 1 of run"), "{words}");
    assert!(words.contains("name is 'failed', should be 'completed'"), "{words}");
    assert_eq!(tables(&*log, run(1)).await, before);
}

/// Rows that are too many or too few are told.
pub async fn a_missing_and_an_extra_row_are_found(bench: &impl Bench) {
    let log = bench.open().await;
    let mut changes = home_with(&*log, vec![put(TABLE, 7, vec![])]).await;
    changes.push((Seq(9), vec![put(TABLE, 8, vec![])]));
    let diff = rebuild(&*log, &changes, false).await;
    assert_eq!(diff.wrong.len(), 2, "{:?}", diff.wrong);
    assert!(diff.wrong.iter().any(|words| words.contains("gate 7")));
    assert!(diff.wrong.iter().any(|words| words.contains("gate 8")));
}

/// After a repair, tables are what the log says, positions included.
pub async fn a_replacement_repairs(bench: &impl Bench) {
    let log = bench.open().await;
    let tampering = vec![put(TABLE, 7, vec![]), patch(TABLE, 1, vec![("step", "x".into())])];
    let changes = home_with(&*log, tampering).await;
    assert_eq!(rebuild(&*log, &changes, true).await.wrong.len(), 2);
    assert_eq!(rebuild(&*log, &changes, false).await, Diff { rows: 3, wrong: vec![] });
    let right = crate::Picture::of(run(1), &changes);
    let right: Vec<Record> =
        right.rows_of(run(1)).filter(|(table, _)| *table == TABLE).map(|(_, record)| record).collect();
    assert_eq!(rows_of(&*log, TABLE, run(1)).await, right);
    project(&*log, run(1), 4, vec![vec![patch(TABLE, 2, vec![("name", "failed".into())])]]).await;
}

/// A repair ends at the edge of its stream.
pub async fn other_streams_are_not_touched(bench: &impl Bench) {
    let log = bench.open().await;
    project(&*log, run(2), 0, history()).await;
    let changes = home_with(&*log, vec![put(TABLE, 7, vec![])]).await;
    let before = tables(&*log, run(2)).await;
    rebuild(&*log, &changes, true).await;
    assert_eq!(tables(&*log, run(2)).await, before);
    log.rebuild(run(1), Vec::new(), true).await.expect("emptied");
    assert_eq!(tables(&*log, run(1)).await, [vec![], vec![]]);
    assert_eq!(tables(&*log, run(2)).await, before);
}

/// Rows in the order of positions are found by the positions of their stream's events, and only by those.
pub async fn rows_by_position_are_compared_and_repaired(bench: &impl Bench) {
    let log = bench.open().await;
    let step = |n, status: &str| put(Table::Execution, n, vec![("status", status.into())]);
    project(&*log, run(2), 0, vec![vec![step(1, "theirs")]]).await;
    let receipt = project(&*log, run(1), 0, vec![vec![step(1, "a")], vec![step(2, "b")], vec![]]).await;
    project(&*log, run(2), 1, vec![vec![step(2, "theirs")]]).await;
    let theirs = rows_of(&*log, Table::Execution, run(2)).await;
    let right = [vec![], vec![step(2, "c")], vec![step(3, "d")]];
    let right: Vec<_> = (receipt.first.0..).map(Seq).zip(right).collect();
    let diff = rebuild(&*log, &right, true).await;
    assert_eq!((diff.rows, diff.wrong.len()), (3, 3), "{:?}", diff.wrong);
    assert_eq!(rebuild(&*log, &right, false).await, Diff { rows: 2, wrong: vec![] });
    let expected: Vec<Record> =
        crate::Picture::of(run(1), &right).rows_of(run(1)).map(|(_, record)| record).collect();
    assert_eq!(rows_of(&*log, Table::Execution, run(1)).await, expected);
    assert_eq!(rows_of(&*log, Table::Execution, run(2)).await, theirs);
}
