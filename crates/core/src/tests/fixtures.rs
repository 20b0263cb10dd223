//! Logs that were recorded once and fold for ever: names and fields of stored events only grow.
//!
//! A recorded log is never changed. What is added to events is added to a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::expect_file;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::replay::replay;
use super::samples;
use crate::event::{Event, all_kinds, decode, encode};
use crate::testing::Row;
use crate::{Actor, CommandId, State, StreamId, StreamKind, Timestamp};

/// All recorded logs.
const LOGS: &[&str] = &[
    include_str!("../../../../fixtures/logs/0001-foundation.jsonl"),
    include_str!("../../../../fixtures/logs/0002-token-scopes.jsonl"),
    include_str!("../../../../fixtures/logs/0003-files.jsonl"),
    include_str!("../../../../fixtures/logs/0004-approvals.jsonl"),
    include_str!("../../../../fixtures/logs/0005-work.jsonl"),
    include_str!("../../../../fixtures/logs/0006-budgets.jsonl"),
    include_str!("../../../../fixtures/logs/0007-outside.jsonl"),
];

/// A row as it is recorded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    stream: (String, Uuid),
    version: u64,
    at: Timestamp,
    actor: Actor,
    command: CommandId,
    events: Value,
}

fn rows(log: &str) -> Vec<(Recorded, Row)> {
    let read = |line: &str| {
        let recorded: Recorded = serde_json::from_str(line).expect("a recorded row");
        let kind = StreamKind::named(&recorded.stream.0).expect("a kind of streams");
        let Recorded { at, actor, command, .. } = &recorded;
        let row = Row {
            stream: kind.with(recorded.stream.1),
            at: *at,
            actor: actor.clone(),
            command: *command,
            bytes: recorded.events.to_string().into_bytes(),
        };
        (recorded, row)
    };
    log.lines().map(read).collect()
}

#[test]
fn recorded_logs_say_the_same_when_they_are_written_again() {
    for (recorded, row) in LOGS.iter().flat_map(|log| rows(log)) {
        let events = decode(row.stream.kind(), &row.bytes).expect("events of the past");
        let again: Value = serde_json::from_slice(&encode(&events)).expect("JSON");
        assert_eq!(again, recorded.events, "a name or field of a stored event has changed");
    }
}

#[test]
fn recorded_logs_are_dense() {
    for log in LOGS {
        let mut versions: BTreeMap<StreamId, u64> = BTreeMap::new();
        for (recorded, row) in rows(log) {
            let version = versions.entry(row.stream).or_default();
            assert_eq!(recorded.version, *version + 1, "{}", row.stream);
            *version += recorded.events.as_array().map_or(0, Vec::len) as u64;
        }
    }
}

#[test]
fn recorded_logs_fold_to_the_same_states() {
    expect_file!["../../../../fixtures/logs/0001-foundation.txt"].assert_eq(&folded(LOGS[0]));
    expect_file!["../../../../fixtures/logs/0003-files.txt"].assert_eq(&folded(LOGS[2]));
    expect_file!["../../../../fixtures/logs/0004-approvals.txt"].assert_eq(&folded(LOGS[3]));
    expect_file!["../../../../fixtures/logs/0005-work.txt"].assert_eq(&folded(LOGS[4]));
    expect_file!["../../../../fixtures/logs/0006-budgets.txt"].assert_eq(&folded(LOGS[5]));
    expect_file!["../../../../fixtures/logs/0007-outside.txt"].assert_eq(&folded(LOGS[6]));
}

fn folded(log: &str) -> String {
    let log: Vec<Row> = rows(log).into_iter().map(|(_, row)| row).collect();
    let replayed = replay(&log, |_, _, _, _| {});
    let mut text = String::new();
    for (stream, state) in &replayed.states {
        writeln!(text, "{stream}\n{}", summary(state)).expect("text grows");
        if let State::Pipeline(p) = state {
            let archives = p.archives.values().map(|archive| (archive.at, archive.ended)).collect::<Vec<_>>();
            let earlier = p.earlier.iter().map(|e| (e.version, e.until, e.runs.len())).collect::<Vec<_>>();
            writeln!(text, "  archives {archives:?}, earlier {earlier:?}").expect("text grows");
        }
    }
    text
}

fn summary(state: &State) -> String {
    match state {
        State::Home(home) => {
            let tokens: Vec<_> = home.tokens.values().map(|t| format!("{} {:?}", t.name, t.role)).collect();
            format!("  tokens {tokens:?}, sealed up to {}", home.sealed.0)
        }
        State::Pipeline(p) => format!(
            "  {} v{}: {} checkpoints of {}, runs {:?}, next {}, {} active, {} rollbacks of {}, {:?}",
            p.name,
            p.definition_version,
            p.order.len(),
            p.checkpoints.len(),
            p.runs.keys().collect::<Vec<_>>(),
            p.next_number,
            p.active.len(),
            p.rollbacks.len(),
            p.rollback_count,
            p.config,
        ),
        State::Run(run) => {
            let mut text = format!(
                "  {}, gone {}, {} of {} done, {} failed, {} gates, owes {}, {} timers, {} removed, {:?}, {:?}",
                run.status.name(),
                run.gone.is_some(),
                run.completed,
                run.total,
                run.failed,
                run.gates.len(),
                run.owed.len(),
                run.timers.len(),
                run.removed.len(),
                run.usage,
                run.rows,
            );
            for (x, e) in &run.executions {
                let (name, state) = (&e.place.step, e.state.name());
                let outputs: Vec<_> = e.artifacts.iter().map(|output| &*output.made.name).collect();
                write!(text, "\n  {x} {name} {state} r{} a{} {outputs:?}", e.revision, e.attempt)
                    .expect("text grows");
            }
            text
        }
        State::Journal(j) => format!("  {} lines, {} messages, {} tools", j.lines, j.messages, j.tools),
    }
}

/// Names of fields, with the kind of the event before them.
fn fields(events: &Value, found: &mut BTreeSet<String>) {
    fn walk(path: &str, value: &Value, found: &mut BTreeSet<String>) {
        found.insert(path.to_owned());
        if let Value::Object(map) = value {
            map.iter().for_each(|(key, value)| walk(&format!("{path}.{key}"), value, found));
        }
    }
    for event in events.as_array().into_iter().flatten() {
        event.as_object().into_iter().flatten().for_each(|(kind, value)| walk(kind, value, found));
    }
}

#[test]
fn every_kind_and_field_is_in_a_recorded_log() {
    let mut recorded = BTreeSet::new();
    for (row, _) in LOGS.iter().flat_map(|log| rows(log)) {
        fields(&row.events, &mut recorded);
    }
    for (kind, _) in all_kinds() {
        assert!(recorded.contains(kind), "no recorded log has an event of the kind `{kind}`");
    }
    let samples = samples::all();
    let kinds: BTreeSet<&str> = samples.iter().map(Event::kind).collect();
    assert_eq!(kinds.len(), all_kinds().count(), "one sample of every kind");
    let mut wanted = BTreeSet::new();
    fields(&serde_json::from_slice(&encode(&samples)).expect("JSON"), &mut wanted);
    let missing: Vec<_> = wanted.difference(&recorded).collect();
    assert!(missing.is_empty(), "no recorded log has these fields: {missing:?}");
}
