//! Rows that a rollback hides, and those that say where everything went.

use std::sync::Arc;

use super::executions::{execution_row, outputs};
use super::questions::openness;
use crate::paths::run_folder;
use crate::places::{
    archived_beside, archived_checkpoint, archived_run, output_file, output_folder, own_folder,
};
use crate::rows::{Cell, Cells, Op, RowChange, Table};
use crate::state::run::{Execution, Gate, Retired, RunState};
use crate::{ExecNo, GateId, RollbackId};

/// A branch was retired: its executions and gates leave the active views.
pub(super) fn rolled_back(
    before: &RunState,
    after: &RunState,
    rollback: RollbackId,
    changes: &mut Vec<RowChange>,
) {
    let Some(retired) = retired_by(after, rollback) else { return };
    let number = before.number().map_or(0, |(number, _)| number);
    let archive = retired.archive.as_deref();
    let mut items = Items { rollback, archive: archive.unwrap_or_default(), n: before.rows.archived };
    for (_, execution) in after.graph.all_executions().filter(|(_, e)| e.rolled_back == Some(rollback)) {
        hide(execution, &Cell::from(rollback.0), changes);
        if let Some(archive) = archive {
            let folder = archived_checkpoint(archive, number, execution.position);
            items.execution(before, execution, &folder, changes);
        }
    }
    close(after, &retired.gates, rollback, changes);
}

fn retired_by(run: &RunState, rollback: RollbackId) -> Option<&Retired> {
    let mut retired = run.graph.branches().filter_map(|(_, branch)| branch.retired.as_deref());
    retired.find(|retired| retired.by == rollback)
}

fn close(run: &RunState, gates: &[(GateId, Arc<Gate>)], rollback: RollbackId, changes: &mut Vec<RowChange>) {
    for (_, gate) in gates {
        let mut cells = openness(run, false);
        cells.push(("rollback", rollback.0.into()));
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }
}

fn reopen<'a>(run: &RunState, gates: impl Iterator<Item = &'a Arc<Gate>>, changes: &mut Vec<RowChange>) {
    for gate in gates {
        let mut cells = openness(run, true);
        cells.push(("rollback", Cell::Null));
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }
}

/// The branch that a rollback retired is live again, and the one in its place is retired.
pub(super) fn undone(
    before: &RunState,
    after: &RunState,
    rollback: RollbackId,
    changes: &mut Vec<RowChange>,
) {
    let Some(retired) = retired_by(before, rollback) else { return };
    for (x, old) in before.graph.all_executions() {
        let Some(new) = after.graph.any_execution(x) else { continue };
        match (old.rolled_back == Some(rollback), new.rolled_back == Some(rollback)) {
            (false, true) => hide(new, &Cell::from(rollback.0), changes),
            (true, false) => {
                hide(new, &Cell::Null, changes);
                changed(after, x, old, new, changes);
            }
            (true, true) | (false, false) => {}
        }
    }
    if let Some(fresh) = retired_by(after, rollback) {
        close(after, &fresh.gates, rollback, changes);
    }
    reopen(after, retired.gates.iter().map(|(_, gate)| gate), changes);
}

/// The whole run was removed.
pub(super) fn removed(before: &RunState, rollback: RollbackId, archive: &str, changes: &mut Vec<RowChange>) {
    let mark = Cell::from(rollback.0);
    let mut items = Items { rollback, archive, n: before.rows.archived };
    let number = before.number().map_or(0, |(number, _)| number);
    let folder = archived_run(archive, number);
    let outputs = before.executions().flat_map(|(_, e)| &e.artifacts);
    let size: u64 = outputs.map(|output| output.made.size).sum();
    items.put("run", None, &format!("{}/", run_folder(number)), &format!("{folder}/"), size, changes);
    for (_, execution) in before.executions() {
        hide(execution, &mark, changes);
        let own = own_folder(execution).unwrap_or_default();
        items.execution(before, execution, &format!("{folder}/{own}"), changes);
    }
    for gate in before.gates.values() {
        let mut cells = openness(before, false);
        cells.push(("rollback", mark.clone()));
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }
}

/// A run that was removed is back.
pub(super) fn restored(before: &RunState, after: &RunState, changes: &mut Vec<RowChange>) {
    for ((x, old), (_, new)) in before.executions().zip(after.executions()) {
        hide(new, &Cell::Null, changes);
        changed(after, x, old, new, changes);
    }
    reopen(before, before.gates.values(), changes);
}

/// Work that was in flight comes back failed.
fn changed(run: &RunState, x: ExecNo, old: &Execution, new: &Execution, changes: &mut Vec<RowChange>) {
    changes.extend(execution_row(run, x, Some(old), new));
    outputs(run, old, new, changes);
}

/// Marks an execution, its outputs and what people said about it as taken out, or as back.
fn hide(execution: &Execution, mark: &Cell, changes: &mut Vec<RowChange>) {
    let cells = |mark: &Cell| -> Cells { vec![("rollback", mark.clone())] };
    changes.push(RowChange { table: Table::Execution, op: Op::Patch(execution.row, cells(mark)) });
    // All attempts' outputs and all that people said, not only what the state still knows.
    for table in [Table::Artifact, Table::Interaction] {
        let op = Op::PatchWhere("execution", execution.id.0.into(), cells(mark));
        changes.push(RowChange { table, op });
    }
}

/// Writes what went where.
struct Items<'a> {
    rollback: RollbackId,
    archive: &'a str,
    n: u32,
}

impl Items<'_> {
    /// An execution, whose promoted outputs go to a folder; what it had not promoted goes beside the runs.
    fn execution(
        &mut self,
        run: &RunState,
        execution: &Execution,
        folder: &str,
        changes: &mut Vec<RowChange>,
    ) {
        let outputs = output_folder(run, execution).unwrap_or_default();
        let own = outputs.strip_suffix("outputs/").unwrap_or(&outputs);
        self.put("execution", Some(execution.id.0), own, &format!("{folder}/"), 0, changes);
        for output in &execution.artifacts {
            let path = output_file(run, execution, output);
            let archived = match path.strip_prefix(&outputs).filter(|_| !outputs.is_empty()) {
                Some(name) => format!("{folder}/outputs/{name}"),
                None => archived_beside(self.archive, &path),
            };
            self.put("artifact", Some(output.made.record.0), &path, &archived, output.made.size, changes);
        }
    }

    fn put(
        &mut self,
        kind: &str,
        item: Option<uuid::Uuid>,
        original: &str,
        archived: &str,
        size: u64,
        changes: &mut Vec<RowChange>,
    ) {
        let cells = vec![
            ("rollback", self.rollback.0.into()),
            ("item_type", kind.into()),
            ("item", item.into()),
            ("original_path", original.into()),
            ("archived_path", archived.into()),
            ("size", size.into()),
        ];
        changes.push(RowChange { table: Table::ArchivedItem, op: Op::Put(self.n, cells) });
        self.n += 1;
    }
}
