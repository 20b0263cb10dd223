//! Rows of executions and their outputs.

use super::Columns;
use crate::ExecNo;
use crate::places::{output_file, output_folder};
use crate::rows::{Cell, RowChange, Table};
use crate::state::run::{Execution, RunState};

/// The rows of an execution's outputs that changed.
pub(super) fn outputs(run: &RunState, before: &Execution, after: &Execution, changes: &mut Vec<RowChange>) {
    for old in &before.artifacts {
        let new = after.artifacts.iter().find(|output| output.n == old.n);
        let mut row = Columns::new(false);
        row.set("current", new.is_none(), || false);
        let promoted = new.and_then(|new| new.promoted_at);
        row.set("promoted_at", promoted.is_some() && promoted != old.promoted_at, || promoted);
        let path = new.map(|new| output_file(run, after, new));
        let moved = path.filter(|path| *path != output_file(run, before, old));
        row.set("path", moved.is_some(), || Cell::text_or_null(moved.as_deref()));
        changes.extend(row.into_change(Table::Artifact, old.n));
    }
}

/// The row of an execution: all of it when it is new, else what changed.
pub(super) fn execution_row(
    run: &RunState,
    x: ExecNo,
    before: Option<&Execution>,
    after: &Execution,
) -> Option<RowChange> {
    let changed =
        |differs: fn(&Execution, &Execution) -> bool| before.is_some_and(|before| differs(before, after));
    let mut row = Columns::new(before.is_none());
    row.set("x", false, || x.0);
    row.set("step", false, || Cell::Text(after.place.step.0.clone()));
    row.set("position", false, || after.position);
    if after.place.visit > 1 {
        row.set("visit", false, || after.place.visit);
    }
    row.set("branch", false, || (after.branch.0 != 0).then_some(after.branch.0));
    let parent = |n| run.graph.node(n).and_then(|node| node.parent).map(|parent| parent.0);
    row.set("node", changed(|b, a| b.node != a.node), || after.node.map(|node| node.0));
    row.set("parent", changed(|b, a| b.node != a.node), || after.node.and_then(parent));
    row.set("status", changed(|b, a| b.state.name() != a.state.name()), || after.state.name());
    row.set("attempt", changed(|b, a| b.attempt != a.attempt), || after.attempt);
    row.set("max_attempts", changed(|b, a| b.max_attempts != a.max_attempts), || after.max_attempts);
    row.set("revision", changed(|b, a| b.revision != a.revision), || after.revision);
    row.set("max_revisions", changed(|b, a| b.max_revisions != a.max_revisions), || after.max_revisions);
    if let Some(path) = output_folder(run, after) {
        row.set("output_path", false, || path.as_str());
    }
    row.set("created_at", false, || after.times.created);
    row.set("started_at", changed(|b, a| b.times.started != a.times.started), || after.times.started);
    row.set("completed_at", changed(|b, a| b.times.completed != a.times.completed), || after.times.completed);
    row.set("failed_at", changed(|b, a| b.times.failed != a.times.failed), || after.times.failed);
    row.into_change(Table::Execution, after.row)
}
