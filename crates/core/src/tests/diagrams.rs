//! Runs and executions move along their diagrams, and every line of a diagram can be walked.

use std::collections::BTreeSet;

use expect_test::expect_file;

use super::pipelines::walks;
use super::replay::replay;
use crate::event::Event;
use crate::state::RunState;
use crate::state::run::diagram::{EXECUTION, Edge, RUN, mermaid};
use crate::{ExecNo, State};

type Seen = (Option<&'static str>, &'static str, &'static str);

/// What an event did to the status of a run.
fn run_change(event: &Event, before: &RunState, after: &RunState) -> Option<Seen> {
    let (kind, to) = (event.kind(), after.status.name());
    let from = before.exists().then(|| before.status.name());
    let moved = from != Some(to) || kind == "rewound";
    // What was taken out whole stands where it stood; undoing puts back whatever was there.
    (moved && !matches!(kind, "unwound" | "restored")).then_some((from, kind, to))
}

/// What an event did to the statuses of executions that stayed, or were made.
fn execution_changes(event: &Event, before: &RunState, after: &RunState) -> Vec<Seen> {
    let kind = event.kind();
    let touched: Vec<ExecNo> = match event {
        // These reach many executions; others only their own.
        Event::Run(event) => match crate::project::execution_of(event) {
            Some(x) => vec![x],
            None => after.executions().map(|(x, _)| x).collect(),
        },
        Event::Home(_) | Event::Pipeline(_) | Event::Journal(_) => Vec::new(),
    };
    let mut seen = Vec::new();
    for x in touched {
        let Some(to) = after.execution(x).map(|e| e.state.name()) else { continue };
        let from = before.execution(x).map(|e| e.state.name());
        let back = from.is_none() && kind == "unwound";
        if !back && (from != Some(to) || (kind == "attempt" && from == Some("in_progress"))) {
            seen.push((from, kind, to));
        }
    }
    seen
}

fn allows(edges: &[Edge], (from, kind, to): &Seen) -> bool {
    edges.iter().any(|edge| edge.from == *from && edge.to == *to && edge.kinds.contains(kind))
}

/// Refuses a move that the diagrams do not have.
pub(super) fn check(event: &Event, before: &RunState, after: &RunState) {
    let run = run_change(event, before, after);
    assert!(run.is_none_or(|seen| allows(RUN, &seen)), "a run may not move like this: {run:?}");
    for seen in execution_changes(event, before, after) {
        assert!(allows(EXECUTION, &seen), "an execution may not move like this: {seen:?}");
    }
}

fn declared(edges: &[Edge]) -> BTreeSet<Seen> {
    edges.iter().flat_map(|edge| edge.kinds.iter().map(|kind| (edge.from, *kind, edge.to))).collect()
}

#[test]
fn every_line_of_the_diagrams_is_walked_and_no_other() {
    let (mut runs, mut executions) = (BTreeSet::new(), BTreeSet::new());
    walks(|scene| {
        replay(&scene.log, |_, event, before, after| {
            if let (State::Run(before), State::Run(after)) = (before, after) {
                runs.extend(run_change(event, before, after));
                executions.extend(execution_changes(event, before, after));
            }
        });
    });
    assert_eq!(runs, declared(RUN));
    assert_eq!(executions, declared(EXECUTION));
}

#[test]
fn the_page_shows_the_tables() {
    let page = format!(
        "# State machines

How runs and checkpoint executions move. The diagrams are written by a test from the tables in
`crates/core/src/state/run/diagram.rs`; other tests hold that the rules never leave these lines and that every
line can be walked.

## Runs

```mermaid
{}```

A run is active while it is `not_started`, `in_progress` or `paused`. A pause takes effect between checkpoints:
until then the run is `in_progress` with `pause_requested`. A checkpoint that has failed for good pauses its run, and the
run goes on by a retry or a rollback, not by resuming; where its policy is `rollback_checkpoint`, it stands at `pending`
again instead and the run stays `in_progress`.

`completed`, `failed` and `aborted` are left by a rollback only. Undoing a rollback puts a run back to the status that
it had; where the rollback had stopped work, or the run would stand at a failed checkpoint, it is `paused`.

## Executions

```mermaid
{}```

An execution is one visit to a checkpoint, with one id across all its attempts. It is `in_progress` from the
beginning of its first attempt: while a person fills in its form, a script or an agent works, a judge looks, or the next
attempt is waited for. A revision begins again at attempt 1; an attempt that follows a failure has the next number.

A rollback takes executions out of every active view at whatever status they stand, and its undoing shows them again.
Work that was in flight comes back as `failed`.
",
        mermaid(RUN),
        mermaid(EXECUTION)
    );
    expect_file!["../../../../docs/concepts/state-machines.md"].assert_eq(&page);
}
