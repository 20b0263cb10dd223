//! Row changes mean the same in every store: what [`Picture`] says.

use holdpoint_core::rows::{Cell, Cells, Kind, RowChange, Table};
use holdpoint_core::{Seq, StreamId};

use super::Bench;
use super::kit::{
    Numbers, all, append, cell, patch, patch_where, project, put, refused, row_of, rows_of, run, value,
};
use crate::{EventLog, Picture, Refused};

const TABLE: Table = Table::Execution;

/// A later put clears what it does not name, and the row keeps the position of the first.
pub async fn a_put_writes_the_whole_row(bench: &impl Bench) {
    let log = bench.open().await;
    let first = put(TABLE, 3, vec![("step", "a".into()), ("status", "pending".into())]);
    let second = put(TABLE, 3, vec![("status", "failed".into()), ("attempt", 2_u32.into())]);
    project(&*log, run(1), 0, vec![vec![], vec![first]]).await;
    project(&*log, run(1), 2, vec![vec![second]]).await;
    let rows = rows_of(&*log, TABLE, run(1)).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].stream, rows[0].n, rows[0].seq), (run(1), 3, Seq(2)));
    assert_eq!(cell(TABLE, &rows[0], "step"), Cell::Null);
    assert_eq!(cell(TABLE, &rows[0], "status"), "failed".into());
    assert_eq!(cell(TABLE, &rows[0], "attempt"), Cell::Int(2));
    assert_eq!(rows[0].cells.len(), TABLE.def().columns.len());
}

/// A patch leaves the other columns, and makes no row.
pub async fn a_patch_sets_only_what_it_names(bench: &impl Bench) {
    let log = bench.open().await;
    let changes = vec![
        patch(TABLE, 1, vec![("step", "too early".into())]),
        put(TABLE, 1, vec![("step", "a".into()), ("status", "pending".into())]),
        patch(TABLE, 1, vec![("status", "failed".into()), ("step", Cell::Null)]),
        patch(TABLE, 2, vec![("step", "nowhere".into())]),
        patch(TABLE, 1, vec![]),
    ];
    project(&*log, run(1), 0, vec![changes]).await;
    let rows = rows_of(&*log, TABLE, run(1)).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(cell(TABLE, &rows[0], "step"), Cell::Null);
    assert_eq!(cell(TABLE, &rows[0], "status"), "failed".into());
}

/// A patch by value sets all rows that have it, in its table and stream only.
pub async fn a_patch_by_value_reaches_all_rows_of_its_stream(bench: &impl Bench) {
    let log = bench.open().await;
    let rows = || {
        let steps = ["a", "b", "a"].into_iter().zip(1..);
        steps.map(|(step, n)| put(TABLE, n, vec![("step", step.into())])).collect::<Vec<_>>()
    };
    project(&*log, run(1), 0, vec![rows()]).await;
    project(&*log, run(2), 0, vec![rows()]).await;
    let change =
        patch_where(TABLE, "step", "a".into(), vec![("status", "failed".into()), ("step", "z".into())]);
    project(&*log, run(1), 1, vec![vec![change]]).await;
    let steps = async |stream| {
        let rows = rows_of(&*log, TABLE, stream).await;
        rows.iter().map(|row| (cell(TABLE, row, "step"), cell(TABLE, row, "status"))).collect::<Vec<_>>()
    };
    let failed = || ("z".into(), "failed".into());
    assert_eq!(steps(run(1)).await, [failed(), ("b".into(), Cell::Null), failed()]);
    let untouched = |step: &str| (step.into(), Cell::Null);
    assert_eq!(steps(run(2)).await, [untouched("a"), untouched("b"), untouched("a")]);
}

/// A patch by null reaches the rows without a value.
pub async fn null_is_matched_by_null(bench: &impl Bench) {
    let log = bench.open().await;
    let changes = vec![
        put(TABLE, 1, vec![]),
        put(TABLE, 2, vec![("rollback", value(Kind::Uuid, 5))]),
        patch_where(TABLE, "rollback", Cell::Null, vec![("rollback", value(Kind::Uuid, 6))]),
    ];
    project(&*log, run(1), 0, vec![changes]).await;
    let rows = rows_of(&*log, TABLE, run(1)).await;
    assert_eq!(cell(TABLE, &rows[0], "rollback"), value(Kind::Uuid, 6));
    assert_eq!(cell(TABLE, &rows[1], "rollback"), value(Kind::Uuid, 5));
}

/// Ends of the number range, empty and foreign text, and bytes come back as they are.
pub async fn every_kind_of_value_survives(bench: &impl Bench) {
    let log = bench.open().await;
    let texts = ["", "naïve 🙂", "a\0b", "'; drop table run; --", "{\"a\": 1.0}", "12", "line\r\nline"];
    let numbers = [i64::MIN, -1, 0, i64::MAX];
    let mut changes = Vec::new();
    for (text, n) in texts.into_iter().zip(1..) {
        changes.push(put(Table::LogLine, n, vec![("message", text.into()), ("details", text.into())]));
    }
    for (number, n) in numbers.into_iter().zip(100..) {
        changes.push(put(
            Table::LogLine,
            n,
            vec![("at", Cell::Int(number)), ("id", value(Kind::Uuid, u128::MAX))],
        ));
    }
    project(&*log, run(1), 0, vec![changes.clone()]).await;
    let right = Picture::of(run(1), &[(Seq(1), changes)]);
    assert_eq!(rows_of(&*log, Table::LogLine, run(1)).await, of(&right, Table::LogLine, run(1)));
}

/// A unique value has one row: an append that would give it a second one fails wholly, and the log goes on.
pub async fn a_unique_value_is_given_once(bench: &impl Bench) {
    let log = bench.open().await;
    let named = |n, id| put(Table::Gate, n, vec![("id", value(Kind::Uuid, id))]);
    project(&*log, run(1), 0, vec![vec![named(1, 7)]]).await;
    let clashes = [vec![vec![named(1, 7)]], vec![vec![named(1, 8)], vec![named(2, 8)]]];
    for changes in clashes {
        let answer = refused(&*log, append(vec![row_of(run(2), 1, changes)])).await;
        assert!(matches!(answer, Refused::Store(_)), "{answer:?}");
    }
    assert_eq!(all(&*log).await.len(), 1);
    assert_eq!(rows_of(&*log, Table::Gate, run(2)).await, []);
    let receipt = project(&*log, run(2), 0, vec![vec![named(1, 8), named(1, 8)]]).await;
    assert_eq!(receipt.first, Seq(2));
}

/// A long made-up history gives the same tables as the picture.
pub async fn changes_mean_what_the_picture_says(bench: &impl Bench) {
    let log = bench.open().await;
    let mut numbers = Numbers(11);
    let mut right = Picture::default();
    let streams = [run(1), run(2), StreamId::Home];
    let mut versions = [0_u64; 3];
    for _ in 0..60 {
        let which = numbers.below(3) as usize;
        let events: Vec<Vec<RowChange>> = (0..=numbers.below(3))
            .map(|_| (0..numbers.below(4)).map(|_| some_change(&mut numbers)).collect())
            .collect();
        let count = events.len() as u64;
        let receipt = project(&*log, streams[which], versions[which], events.clone()).await;
        versions[which] += count;
        for (event, changes) in events.iter().enumerate() {
            right.apply(streams[which], Seq(receipt.first.0 + event as u64), changes);
        }
    }
    check_tables(&*log, &right, &streams).await;
}

async fn check_tables(log: &impl EventLog, right: &Picture, streams: &[StreamId]) {
    for stream in streams {
        for table in Table::ALL {
            assert_eq!(
                rows_of(log, table, *stream).await,
                of(right, table, *stream),
                "{table:?} of {stream}"
            );
        }
    }
}

fn of(picture: &Picture, table: Table, stream: StreamId) -> Vec<crate::Record> {
    picture.rows_of(stream).filter(|(of, _)| *of == table).map(|(_, record)| record).collect()
}

/// A change by number, of few rows, so that they meet.
pub(super) fn some_change(numbers: &mut Numbers) -> RowChange {
    let table = [Table::Execution, Table::Interaction][numbers.below(2) as usize];
    let n = numbers.below(6) as u32;
    let cells = cells(table, numbers);
    match numbers.below(3) {
        0 => put(table, n, cells),
        1 => patch(table, n, cells),
        _ => patch_where(table, "rollback", some(Kind::Uuid, numbers), cells),
    }
}

/// Some columns that are not unique.
fn cells(table: Table, numbers: &mut Numbers) -> Cells {
    let mut cells = Cells::new();
    for (name, kind) in table.def().columns.iter().filter(|(name, _)| !table.def().unique.contains(name)) {
        if numbers.below(3) == 0 {
            cells.push((name, some(*kind, numbers)));
        }
    }
    cells
}

fn some(kind: Kind, numbers: &mut Numbers) -> Cell {
    match numbers.below(3) {
        0 => Cell::Null,
        n => value(kind, u128::from(n)),
    }
}
