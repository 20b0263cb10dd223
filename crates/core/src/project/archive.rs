//! Rows that a rollback hides, and those that say where everything went.

use super::run::{execution_row, outputs};
use crate::paths::run_folder;
use crate::places::{
    archived_beside, archived_checkpoint, archived_run, output_file, output_folder, own_folder,
};
use crate::rows::{Cell, Cells, Op, RowChange, Table};
use crate::state::run::{Execution, RunState};
use crate::{ExecNo, RollbackId};

/// Executions behind a position were taken out.
pub(super) fn rewound(
    before: &RunState,
    after: &RunState,
    rollback: RollbackId,
    changes: &mut Vec<RowChange>,
) {
    let Some(removed) = after.removed.get(&rollback) else { return };
    let mark = Cell::from(rollback.0);
    let mut items = Items { rollback, archive: &removed.archive, n: before.rows.archived };
    let number = before.number().map_or(0, |(number, _)| number);
    for (x, execution) in &removed.executions {
        hide(*x, execution, &mark, changes);
        let folder = archived_checkpoint(&removed.archive, number, execution.position);
        items.execution(before, execution, &folder, changes);
    }
    for (_, gate) in &removed.gates {
        let cells = vec![("open", false.into()), ("rollback", mark.clone())];
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }
}

/// The whole run was taken out.
pub(super) fn removed(
    before: &RunState,
    after: &RunState,
    rollback: RollbackId,
    changes: &mut Vec<RowChange>,
) {
    let Some(removed) = after.removed.get(&rollback) else { return };
    let mark = Cell::from(rollback.0);
    let mut items = Items { rollback, archive: &removed.archive, n: before.rows.archived };
    let number = before.number().map_or(0, |(number, _)| number);
    let folder = archived_run(&removed.archive, number);
    let size: u64 =
        before.executions.values().flat_map(|e| &e.artifacts).map(|output| output.made.size).sum();
    items.put("run", None, &format!("{}/", run_folder(number)), &format!("{folder}/"), size, changes);
    for (x, execution) in &before.executions {
        hide(*x, execution, &mark, changes);
        let own = own_folder(execution).unwrap_or_default();
        items.execution(before, execution, &format!("{folder}/{own}"), changes);
    }
    for gate in before.gates.values() {
        let cells = vec![("open", false.into()), ("rollback", mark.clone())];
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }
}

/// What a rollback had taken out is back, and what stood in its place is gone.
pub(super) fn unwound(
    before: &RunState,
    after: &RunState,
    rollback: RollbackId,
    changes: &mut Vec<RowChange>,
) {
    let Some(removed) = before.removed.get(&rollback) else { return };
    let whole = before.gone == Some(rollback);
    for (x, execution) in before.executions.iter().filter(|(x, _)| x.0 > removed.visits) {
        hide(*x, execution, &Cell::from(rollback.0), changes);
    }
    let back: Vec<ExecNo> = if whole {
        after.executions.keys().copied().collect()
    } else {
        removed.executions.iter().map(|(x, _)| *x).collect()
    };
    for x in back {
        let Some(execution) = after.execution(x) else { continue };
        hide(x, execution, &Cell::Null, changes);
        let old = before
            .execution(x)
            .or_else(|| removed.executions.iter().find(|(other, _)| *other == x).map(|(_, e)| e.as_ref()));
        if let Some(old) = old {
            changes.extend(execution_row(after, x, Some(old), execution));
            outputs(after, old, execution, changes);
        }
    }
    let gates: Vec<u32> = if whole {
        before.gates.values().map(|gate| gate.n).collect()
    } else {
        removed.gates.iter().map(|(_, gate)| gate.n).collect()
    };
    for n in gates {
        let cells = vec![("open", true.into()), ("rollback", Cell::Null)];
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(n, cells) });
    }
}

/// Marks an execution, its outputs and what people said about it as taken out, or as back.
fn hide(x: ExecNo, execution: &Execution, mark: &Cell, changes: &mut Vec<RowChange>) {
    let cells = |mark: &Cell| -> Cells { vec![("rollback", mark.clone())] };
    changes.push(RowChange { table: Table::Execution, op: Op::Patch(x.0, cells(mark)) });
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
