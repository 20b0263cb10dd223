//! Row changes mean the same in every store: what [`Picture`] says.

use holdpoint_core::rows::{Cell, Cells, Kind, Order, RowChange, Table};
use holdpoint_core::{Seq, StreamId};

use super::Bench;
use super::kit::{
    Numbers, all, append, ask, cell, list, ordinals, patch, patch_where, project, put, refused, row_of,
    rows_of, run, value,
};
use crate::{EventLog, Picture, Query, Refused};

const TABLE: Table = Table::Gate;

/// A row is put once; columns that the put does not name are null, and the row stands where the put does.
pub async fn a_row_is_put_once(bench: &impl Bench) {
    let log = bench.open().await;
    let first = put(TABLE, 3, vec![("position", 2_u32.into()), ("step", "a".into())]);
    let second = put(TABLE, 3, vec![("name", "failed".into())]);
    project(&*log, run(1), 0, vec![vec![], vec![first]]).await;
    let answer = refused(&*log, append(vec![row_of(run(1), 3, vec![vec![second]])])).await;
    assert!(matches!(answer, Refused::Store(_)), "{answer:?}");
    let rows = rows_of(&*log, TABLE, run(1)).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].stream, rows[0].n, rows[0].seq), (run(1), 3, Seq(2)));
    assert_eq!(cell(TABLE, &rows[0], "step"), "a".into());
    assert_eq!(cell(TABLE, &rows[0], "position"), Cell::Int(2));
    assert_eq!(cell(TABLE, &rows[0], "name"), Cell::Null);
    assert_eq!(rows[0].cells.len(), TABLE.def().columns.len());
    assert_eq!(all(&*log).await.len(), 1);
}

/// A row in the order of positions is named by its event's version, and is found by it from later appends.
pub async fn rows_by_position_are_named_by_versions(bench: &impl Bench) {
    let log = bench.open().await;
    let step = |n, name: &str| put(Table::Execution, n, vec![("step", name.into())]);
    let done = |n| patch(Table::Execution, n, vec![("status", "completed".into())]);
    project(&*log, run(1), 0, vec![vec![], vec![step(2, "a")], vec![step(3, "b"), done(3)]]).await;
    project(&*log, run(2), 0, vec![vec![step(1, "theirs")]]).await;
    project(&*log, run(1), 3, vec![vec![], vec![done(2), step(5, "c")]]).await;
    // One of an older row, one of no row, one of a version to come, and one of a position that is another stream's.
    let other = bench.open().await;
    project(&*other, run(1), 5, vec![vec![patch(Table::Execution, 3, vec![("attempt", 2_u32.into())])]])
        .await;
    project(&*log, run(1), 6, vec![vec![done(1), done(9), done(4), step(7, "d")]]).await;
    let rows = rows_of(&*log, Table::Execution, run(1)).await;
    let found = |row: &crate::Record| (row.n, row.seq.0, cell(Table::Execution, row, "status"));
    let completed = || Cell::from("completed");
    assert_eq!(
        rows.iter().map(found).collect::<Vec<_>>(),
        [(2, 2, completed()), (3, 3, completed()), (5, 6, Cell::Null), (7, 8, Cell::Null)]
    );
    assert_eq!(cell(Table::Execution, &rows[1], "attempt"), Cell::Int(2));
    let theirs = rows_of(&*log, Table::Execution, run(2)).await;
    assert_eq!(theirs.iter().map(found).collect::<Vec<_>>(), [(1, 4, Cell::Null)]);
    let of = async |after, limit| {
        let query = Query::Of { table: Table::Execution, stream: run(1), after, limit };
        ordinals(&ask(&*log, query).await.records)
    };
    assert_eq!(of(None, 2).await, [2, 3]);
    assert_eq!(of(Some(2), 9).await, [3, 5, 7]);
    assert_eq!(of(Some(4), 1).await, [5]);
    assert_eq!(of(Some(7), 9).await, [0; 0]);
    assert_eq!(ordinals(&list(&*log, Table::Execution, None, Some(Seq(8)), 9).await), [5, 1, 3, 2]);
    for changes in [vec![step(9, "late")], vec![step(8, "twice"), step(8, "twice")]] {
        let answer = refused(&*log, append(vec![row_of(run(1), 8, vec![changes])])).await;
        assert!(matches!(answer, Refused::Store(_)), "{answer:?}");
    }
}

/// A patch leaves the other columns, and makes no row.
pub async fn a_patch_sets_only_what_it_names(bench: &impl Bench) {
    let log = bench.open().await;
    let changes = vec![
        patch(TABLE, 1, vec![("step", "too early".into())]),
        put(TABLE, 1, vec![("step", "a".into()), ("name", "pending".into())]),
        patch(TABLE, 1, vec![("name", "failed".into()), ("step", Cell::Null)]),
        patch(TABLE, 2, vec![("step", "nowhere".into())]),
        patch(TABLE, 1, vec![]),
    ];
    project(&*log, run(1), 0, vec![changes]).await;
    let rows = rows_of(&*log, TABLE, run(1)).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(cell(TABLE, &rows[0], "step"), Cell::Null);
    assert_eq!(cell(TABLE, &rows[0], "name"), "failed".into());
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
        patch_where(TABLE, "step", "a".into(), vec![("name", "failed".into()), ("step", "z".into())]);
    project(&*log, run(1), 1, vec![vec![change]]).await;
    let steps = async |stream| {
        let rows = rows_of(&*log, TABLE, stream).await;
        rows.iter().map(|row| (cell(TABLE, row, "step"), cell(TABLE, row, "name"))).collect::<Vec<_>>()
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
    let again = patch(Table::Gate, 1, vec![("id", value(Kind::Uuid, 8))]);
    let receipt = project(&*log, run(2), 0, vec![vec![named(1, 8), again]]).await;
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
        let first = versions[which] + 1;
        let these = first..=first + numbers.below(3);
        let events: Vec<Vec<RowChange>> = these.map(|version| some_changes(&mut numbers, version)).collect();
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

/// Up to three changes that follow from the event with a version, of few rows, so that they meet.
pub(super) fn some_changes(numbers: &mut Numbers, version: u64) -> Vec<RowChange> {
    let mut changes = Vec::new();
    let mut is_put = false;
    for nth in 0..numbers.below(4) {
        let table = [Table::Execution, Table::Interaction][numbers.below(2) as usize];
        let n = match table.def().order {
            Order::Position => version,
            Order::Stream => version * 4 + nth,
        };
        let cells = cells(table, numbers);
        changes.push(match numbers.below(3) {
            0 if table.def().order == Order::Stream => put(table, n as u32, cells),
            0 if !std::mem::replace(&mut is_put, true) => put(table, n as u32, cells),
            0 | 1 => patch(table, n.saturating_sub(numbers.below(6)) as u32, cells),
            _ => patch_where(table, "rollback", some(Kind::Uuid, numbers), cells),
        });
    }
    changes
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
