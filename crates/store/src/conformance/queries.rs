//! Lists and look-ups: the right rows, in order, and cursors that lose and repeat nothing.

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{Actor, PipelineId, Seq, StreamId, Timestamp};

use super::Bench;
use super::kit::{
    append, ask, cell, list, one, ordinals, patch, pipeline, project, put, row, rows_of, run, run_id,
    session, value_in, write,
};
use crate::{DAY, EventFilter, EventLog, Query, Row, SpentBy, SpentFilter};

/// Each unique column leads to its row.
pub async fn a_row_is_found_by_each_unique_column(bench: &impl Bench) {
    let log = bench.open().await;
    let mut after: u64 = 0;
    for table in Table::ALL {
        let unique = table.def().unique;
        let second = after as u32 + 2;
        for n in 1..=3 {
            after += 1;
            let cells = unique.iter().map(|column| (*column, value_in(table, column, n))).collect();
            project(&*log, run(1), after - 1, vec![vec![put(table, after as u32, cells)]]).await;
        }
        for column in unique {
            let found = ask(&*log, Query::Find(table, column, value_in(table, column, 2))).await.records;
            assert_eq!(ordinals(&found), [second], "{table:?} by {column}");
            assert_eq!(found[0].stream, run(1));
            assert_eq!(cell(table, &found[0], column), value_in(table, column, 2));
        }
    }
}

/// A value that no row has finds nothing, and neither does null.
pub async fn nothing_is_found_by_an_unknown_value(bench: &impl Bench) {
    let log = bench.open().await;
    project(&*log, run(1), 0, vec![vec![put(Table::Gate, 1, vec![])]]).await;
    for value in [value_in(Table::Gate, "id", 9), Cell::Null] {
        assert_eq!(ask(&*log, Query::Find(Table::Gate, "id", value)).await, crate::Page::default());
    }
}

/// What was spent is added up by every group, within what is asked for.
pub async fn spending_is_added_up(bench: &impl Bench) {
    let log = bench.open().await;
    let uuid = |n: u128| Cell::from(uuid::Uuid::from_u128(n));
    for (n, (pipeline, of, model, day, cost)) in
        [(1, 1, "a", 0, 5u64), (1, 2, "b", 1, 7), (1, 2, "a", 1, 10), (2, 3, "b", 2, 100)]
            .into_iter()
            .enumerate()
    {
        let cells = vec![
            ("pipeline", uuid(pipeline)),
            ("run", uuid(of)),
            ("model", model.into()),
            ("at", Cell::Int(day * DAY + 3)),
            ("calls", 1u64.into()),
            ("input_tokens", (cost * 2).into()),
            ("output_tokens", cost.into()),
            ("cost_micros", cost.into()),
            ("took_ms", 40u64.into()),
        ];
        project(&*log, run(1), n as u64, vec![vec![put(Table::Spending, n as u32, cells)]]).await;
    }
    let everything =
        SpentFilter { pipeline: None, run: None, since: None, until: None, by: SpentBy::All, limit: 9 };
    let sums = async |filter: SpentFilter| {
        let spent = ask(&*log, Query::Spent(filter)).await.spent;
        spent.into_iter().map(|spent| (spent.group, spent.usage.cost_micros)).collect::<Vec<_>>()
    };
    let all = ask(&*log, Query::Spent(everything.clone())).await.spent;
    assert_eq!((all.len(), all[0].took_ms), (1, 160));
    let usage = all[0].usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (4, 244, 122));
    let by = |by| SpentFilter { by, ..everything.clone() };
    assert_eq!(sums(by(SpentBy::Column("model"))).await, [("b".into(), 107), ("a".into(), 15)]);
    assert_eq!(sums(by(SpentBy::Column("pipeline"))).await, [(uuid(2), 100), (uuid(1), 22)]);
    let days = [(Cell::Int(2 * DAY), 100), (Cell::Int(DAY), 17), (Cell::Int(0), 5)];
    assert_eq!(sums(by(SpentBy::Day)).await, days);
    assert_eq!(sums(SpentFilter { limit: 1, ..by(SpentBy::Day) }).await, days[..1]);
    let one = SpentFilter { pipeline: Some(PipelineId(uuid::Uuid::from_u128(1))), ..everything.clone() };
    assert_eq!(sums(one.clone()).await, [(Cell::Null, 22)]);
    assert_eq!(sums(SpentFilter { since: Some(Timestamp(DAY)), ..one.clone() }).await, [(Cell::Null, 17)]);
    let until = SpentFilter { until: Some(Timestamp(DAY)), ..one };
    assert_eq!(sums(until).await, [(Cell::Null, 5)]);
    let of_run = SpentFilter { run: Some(run_id(2)), ..by(SpentBy::Column("model")) };
    assert_eq!(sums(of_run).await, [("a".into(), 10), ("b".into(), 7)]);
}

/// Rows of a stream run along their ordinals, whatever the order of writing.
pub async fn rows_of_a_stream_come_by_ordinal(bench: &impl Bench) {
    let log = bench.open().await;
    for (after, n) in [5, 1, 9, 3].into_iter().enumerate() {
        let changes = vec![put(Table::Interaction, n, vec![]), put(Table::Gate, n + 100, vec![])];
        project(&*log, run(1), after as u64, vec![changes]).await;
    }
    project(&*log, run(2), 0, vec![vec![put(Table::Interaction, 2, vec![])]]).await;
    let of = async |after, limit| {
        let query = Query::Of { table: Table::Interaction, stream: run(1), after, limit };
        ordinals(&ask(&*log, query).await.records)
    };
    assert_eq!(of(None, 100).await, [1, 3, 5, 9]);
    assert_eq!(of(None, 2).await, [1, 3]);
    assert_eq!(of(Some(3), 1).await, [5]);
    assert_eq!(of(Some(4), 100).await, [5, 9]);
    assert_eq!(of(Some(9), 100).await, [0; 0]);
    assert_eq!(ordinals(&rows_of(&*log, Table::Interaction, run(3)).await), [0; 0]);
}

/// A list runs over all streams, newest first.
pub async fn a_table_is_listed_newest_first(bench: &impl Bench) {
    let log = bench.open().await;
    for n in 1..=4 {
        project(&*log, run(9 - u128::from(n)), 0, vec![vec![put(Table::Run, n, vec![])]]).await;
    }
    let listed = list(&*log, Table::Run, None, None, 100).await;
    assert_eq!(ordinals(&listed), [4, 3, 2, 1]);
    assert_eq!(listed[0].seq, Seq(4));
    assert_eq!(ordinals(&list(&*log, Table::Run, None, Some(Seq(3)), 100).await), [2, 1]);
    assert_eq!(ordinals(&list(&*log, Table::Gate, None, None, 100).await), [0; 0]);
}

/// Each listed column picks its rows, by a value or by the lack of one.
pub async fn a_table_is_listed_by_each_listed_column(bench: &impl Bench) {
    let log = bench.open().await;
    let (mut after, mut n) = (0, 0);
    for table in Table::ALL {
        for column in table.def().listed_by {
            let mut expected = [Vec::new(), Vec::new()];
            for which in [0, 1, 0, 1, 0] {
                n += 1;
                let cells = vec![(*column, value_in(table, column, which))];
                project(&*log, run(1), after, vec![vec![put(table, n, cells)]]).await;
                after += 1;
                expected[which as usize].insert(0, n);
            }
            for (which, expected) in (0..).zip(expected) {
                let by = Some((*column, value_in(table, column, which)));
                let listed = list(&*log, table, by, None, 100).await;
                assert_eq!(ordinals(&listed), expected, "{table:?} by {column}");
            }
            let none = list(&*log, table, Some((column, value_in(table, column, 77))), None, 100).await;
            assert_eq!(ordinals(&none), [0; 0], "{table:?} by {column}");
        }
    }
    project(&*log, run(2), 0, vec![vec![put(Table::LogLine, 7, vec![])]]).await;
    let without = list(&*log, Table::LogLine, Some(("execution", Cell::Null)), None, 100).await;
    assert_eq!(ordinals(&without), [7]);
}

/// New rows do not push old ones over the edge of a page.
pub async fn a_cursor_stays_right_while_rows_are_added(bench: &impl Bench) {
    let log = bench.open().await;
    let mut next = 1;
    let mut add = async |count: u32| {
        for _ in 0..count {
            let cells = vec![("status", if next % 2 == 0 { "paused" } else { "done" }.into())];
            project(&*log, run(u128::from(next)), 0, vec![vec![put(Table::Run, next, cells)]]).await;
            next += 1;
        }
    };
    add(20).await;
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = list(&*log, Table::Run, Some(("status", "paused".into())), before, 3).await;
        let Some(last) = page.last() else { break };
        before = Some(last.seq);
        seen.extend(ordinals(&page));
        add(5).await;
    }
    assert_eq!(seen, [20, 18, 16, 14, 12, 10, 8, 6, 4, 2]);
}

/// Many rows of one event share a position; a cursor between them would lose some.
pub async fn rows_of_one_event_are_not_split_over_pages(bench: &impl Bench) {
    let log = bench.open().await;
    for first in [1, 6, 11] {
        let rows = (first..first + 5).map(|n| put(Table::ArchivedItem, n, vec![])).collect();
        project(&*log, run(u128::from(first)), 0, vec![rows]).await;
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = list(&*log, Table::ArchivedItem, None, before, 2).await;
        let Some(last) = page.last() else { break };
        before = Some(last.seq);
        seen.extend(ordinals(&page));
    }
    assert_eq!(seen, (1..=15).rev().collect::<Vec<_>>());
}

/// A row that changes stays where it is, and lists follow its new value.
pub async fn a_changed_row_keeps_its_place(bench: &impl Bench) {
    let log = bench.open().await;
    for n in 1..=3 {
        let cells = vec![("status", "in_progress".into())];
        project(&*log, run(u128::from(n)), 0, vec![vec![put(Table::Run, n, cells)]]).await;
    }
    project(&*log, run(1), 1, vec![vec![patch(Table::Run, 1, vec![("status", "paused".into())])]]).await;
    project(&*log, run(2), 1, vec![vec![patch(Table::Run, 2, vec![("title", "b".into())])]]).await;
    assert_eq!(ordinals(&list(&*log, Table::Run, None, None, 100).await), [3, 2, 1]);
    let by = async |status: &str| {
        ordinals(&list(&*log, Table::Run, Some(("status", status.into())), None, 9).await)
    };
    assert_eq!(by("in_progress").await, [3, 2]);
    assert_eq!(by("paused").await, [1]);
}

async fn events(log: &impl EventLog, filter: EventFilter) -> Vec<u64> {
    firsts(&ask(log, Query::Events { filter, before: None, limit: 100 }).await.rows)
}

fn firsts(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.seq.0).collect()
}

/// A row is wanted when any of its events is of a wanted kind; names match whole.
pub async fn events_are_filtered_by_kind(bench: &impl Bench) {
    let log = bench.open().await;
    for (after, shape) in ["run.started", "step.started", "run.ended", "run.start"].into_iter().enumerate() {
        let mut new = row(run(1), 2 * after as u64 + 1, 2);
        new.shape = format!("noise,{shape}");
        write(&*log, append(vec![new])).await;
    }
    let kinds = async |kinds: &[&'static str]| {
        events(&*log, EventFilter { kinds: kinds.to_vec(), ..EventFilter::default() }).await
    };
    assert_eq!(kinds(&[]).await, [7, 5, 3, 1]);
    assert_eq!(kinds(&["noise"]).await, [7, 5, 3, 1]);
    assert_eq!(kinds(&["run.started"]).await, [1]);
    assert_eq!(kinds(&["run.start"]).await, [7]);
    assert_eq!(kinds(&["run.ended", "step.started"]).await, [5, 3]);
    assert_eq!(kinds(&["started", "run%", "%"]).await, [0; 0]);
}

/// The conditions on a row's header hold together.
pub async fn events_are_filtered_by_session_stream_and_actor(bench: &impl Bench) {
    let log = bench.open().await;
    let rows = [(run(1), 7, "ada"), (run(2), 7, "bob"), (run(3), 8, "ada"), (pipeline(1), 8, "bob")];
    for (stream, of, actor) in rows {
        let mut new = row(stream, 1, 1);
        new.session = session(of);
        new.actor = Actor::person(actor);
        write(&*log, append(vec![new])).await;
    }
    let filter = EventFilter::default;
    assert_eq!(events(&*log, EventFilter { session: Some(session(7)), ..filter() }).await, [2, 1]);
    assert_eq!(events(&*log, EventFilter { stream: Some(pipeline(1)), ..filter() }).await, [4]);
    assert_eq!(events(&*log, EventFilter { stream: Some(StreamId::Home), ..filter() }).await, [0; 0]);
    let ada = || EventFilter { actor: Some("ada".to_owned()), ..filter() };
    assert_eq!(events(&*log, ada()).await, [3, 1]);
    assert_eq!(events(&*log, EventFilter { session: Some(session(8)), ..ada() }).await, [3]);
    assert_eq!(events(&*log, EventFilter { stream: Some(run(2)), ..ada() }).await, [0; 0]);
    assert_eq!(events(&*log, EventFilter { actor: Some("ad".to_owned()), ..filter() }).await, [0; 0]);
    assert_eq!(
        events(&*log, EventFilter { session: Some(session(7)), after: Seq(1), ..filter() }).await,
        [2]
    );
    assert_eq!(
        events(&*log, EventFilter { stream: Some(pipeline(1)), after: Seq(4), ..filter() }).await,
        [0; 0]
    );
    assert_eq!(events(&*log, EventFilter { after: Seq(3), ..filter() }).await, [4]);
}

/// `since` counts itself in, `until` does not; order stays that of writing, whatever the clock did.
pub async fn events_are_filtered_by_time(bench: &impl Bench) {
    let log = bench.open().await;
    for (after, at) in [10, 20, 15, 30].into_iter().enumerate() {
        let mut new = row(run(1), after as u64 + 1, 1);
        new.at = Timestamp(at);
        write(&*log, append(vec![new])).await;
    }
    let between = async |since: Option<i64>, until: Option<i64>| {
        let (since, until) = (since.map(Timestamp), until.map(Timestamp));
        events(&*log, EventFilter { since, until, ..EventFilter::default() }).await
    };
    assert_eq!(between(Some(15), None).await, [4, 3, 2]);
    assert_eq!(between(None, Some(20)).await, [3, 1]);
    assert_eq!(between(Some(10), Some(20)).await, [3, 1]);
    assert_eq!(between(Some(31), None).await, [0; 0]);
}

/// Times are found in a long log too, wherever the clock went backwards, and also in what comes later.
pub async fn events_of_a_time_are_found_in_a_long_log(bench: &impl Bench) {
    let log = bench.open().await;
    let clock = |n: u64| if n == 2_600 { 5 } else { n as i64 };
    for n in 1..=3_000 {
        let mut new = row(run(1), n, 1);
        new.at = Timestamp(clock(n));
        write(&*log, append(vec![new])).await;
        // Asked in between, so that what was found out then has to grow.
        if n == 1_500 {
            assert_eq!(events(&*log, between(3, 7)).await, [6, 5, 4, 3]);
        }
    }
    assert_eq!(events(&*log, between(3, 7)).await, [2_600, 6, 5, 4, 3]);
    assert_eq!(events(&*log, between(1_023, 1_027)).await, [1_026, 1_025, 1_024, 1_023]);
    assert_eq!(events(&*log, between(2_998, 9_000)).await, [3_000, 2_999, 2_998]);
    assert_eq!(events(&*log, between(9_000, 9_001)).await, [0; 0]);
    let kind = EventFilter { kinds: vec!["never"], ..between(3, 7) };
    assert_eq!(events(&*log, kind).await, [0; 0]);
}

fn between(since: i64, until: i64) -> EventFilter {
    let (since, until) = (Some(Timestamp(since)), Some(Timestamp(until)));
    EventFilter { since, until, ..EventFilter::default() }
}

/// Pages of events continue before the last row seen; rows written meanwhile do not disturb.
pub async fn events_are_paged_newest_first(bench: &impl Bench) {
    let log = bench.open().await;
    for after in 0..5 {
        write(&*log, append(vec![row(run(1), 2 * after + 1, 2)])).await;
    }
    let (mut seen, mut before) = (Vec::new(), None);
    for round in 0.. {
        let filter = EventFilter { stream: Some(run(1)), ..EventFilter::default() };
        let page = ask(&*log, Query::Events { filter, before, limit: 2 }).await.rows;
        let Some(last) = page.last() else { break };
        before = Some(last.seq);
        seen.extend(firsts(&page));
        write(&*log, append(vec![row(run(1), 11 + round, 1)])).await;
    }
    assert_eq!(seen, [9, 7, 5, 3, 1]);
}

/// Streams can be walked through, also those that began in one append.
pub async fn streams_come_in_the_order_in_which_they_began(bench: &impl Bench) {
    let log = bench.open().await;
    write(&*log, one(run(5), 0)).await;
    write(&*log, append(vec![row(run(4), 1, 1), row(pipeline(9), 1, 1)])).await;
    write(&*log, one(StreamId::Home, 0)).await;
    write(&*log, one(run(5), 1)).await;
    let order = [run(5), run(4), pipeline(9), StreamId::Home];
    let streams = async |after, limit| ask(&*log, Query::Streams { after, limit }).await.streams;
    assert_eq!(streams(None, 100).await, order);
    assert_eq!(streams(None, 1).await, order[..1]);
    assert_eq!(streams(Some(run(5)), 2).await, order[1..3]);
    assert_eq!(streams(Some(StreamId::Home), 100).await, []);
}

/// A limit of nothing answers nothing; a huge one answers all.
pub async fn limits_of_none_and_of_everything_hold(bench: &impl Bench) {
    let log = bench.open().await;
    for n in 1..=3 {
        project(&*log, run(1), u64::from(n) - 1, vec![vec![put(Table::Gate, n, vec![])]]).await;
    }
    for (limit, expected) in [(0, 0), (1, 1), (u32::MAX, 3)] {
        let of = Query::Of { table: Table::Gate, stream: run(1), after: None, limit };
        assert_eq!(ask(&*log, of).await.records.len(), expected);
        assert_eq!(list(&*log, Table::Gate, None, None, limit).await.len(), expected);
        let events = Query::Events { filter: EventFilter::default(), before: None, limit };
        assert_eq!(ask(&*log, events).await.rows.len(), expected);
        let streams = ask(&*log, Query::Streams { after: None, limit }).await.streams;
        assert_eq!(streams.len(), expected.min(1));
    }
}
