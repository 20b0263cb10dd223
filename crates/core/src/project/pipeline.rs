//! Rows of pipelines, checkpoint definitions and rollbacks.

use super::Columns;
use crate::definition::CheckpointDefinition;
use crate::event::{Event, PipelineEvent, RollbackRecord, RollbackType, TriggeredBy};
use crate::paths::archive_folder;
use crate::rows::{Cell, Op, RowChange, Table};
use crate::state::Stamp;
use crate::state::pipeline::{Checkpoint, PipelineState};
use crate::{CheckpointId, PipelineId, RollbackId};

pub(super) fn project(
    id: PipelineId,
    before: &PipelineState,
    after: &PipelineState,
    stamp: &Stamp<'_>,
    events: &[Event],
    changes: &mut [Vec<RowChange>],
) {
    for (event, changes) in events.iter().zip(changes.iter_mut()) {
        let Event::Pipeline(event) = event else { continue };
        match event {
            PipelineEvent::CheckpointAdded { checkpoint, .. }
            | PipelineEvent::CheckpointChanged { checkpoint, .. }
            | PipelineEvent::CheckpointRemoved { checkpoint } => {
                changes.extend(checkpoint_row(*checkpoint, before, after));
            }
            PipelineEvent::RolledBack(record) => changes.extend(rollback_row(record, after, stamp)),
            PipelineEvent::RollbackUndone { rollback } => changes.extend(undone(*rollback, after, stamp)),
            PipelineEvent::Made { .. }
            | PipelineEvent::Changed { .. }
            | PipelineEvent::Deleted {}
            | PipelineEvent::Restored {}
            | PipelineEvent::Reordered { .. }
            | PipelineEvent::RunOpened { .. }
            | PipelineEvent::RunClosed { .. }
            | PipelineEvent::RunReopened { .. }
            | PipelineEvent::ArchiveEnded { .. }
            | PipelineEvent::BudgetRaised { .. }
            | PipelineEvent::DriftRepaired { .. } => {}
        }
    }
    if let Some(last) = changes.last_mut() {
        last.extend(header(id, before, after));
    }
}

fn header(id: PipelineId, before: &PipelineState, after: &PipelineState) -> Option<RowChange> {
    let mut row = Columns::new(before.created_at.is_none());
    row.set("id", false, || id.0);
    row.set("name", before.name != after.name, || &*after.name);
    row.set("description", before.description != after.description, || {
        Cell::text_or_null(after.description.as_deref())
    });
    row.set("definition_version", before.definition_version != after.definition_version, || {
        after.definition_version
    });
    row.set("checkpoint_order", before.order != after.order, || {
        let order: Vec<String> = after.order.iter().map(ToString::to_string).collect();
        Cell::from(&serde_json::json!(order))
    });
    row.set("auto_advance", before.config.auto_advance != after.config.auto_advance, || {
        after.config.auto_advance
    });
    row.set("created_at", false, || after.created_at);
    row.set("updated_at", before.updated_at != after.updated_at, || after.updated_at);
    row.set("deleted_at", before.deleted_at != after.deleted_at, || after.deleted_at);
    row.set("deleted", before.deleted_at.is_some() != after.deleted_at.is_some(), || {
        after.deleted_at.is_some()
    });
    row.into_change(Table::Pipeline, 0)
}

fn checkpoint_row(id: CheckpointId, before: &PipelineState, after: &PipelineState) -> Option<RowChange> {
    let checkpoint: &Checkpoint = after.checkpoints.get(&id)?;
    let definition: &CheckpointDefinition = after.bodies.get(&checkpoint.body)?.definition();
    let old = before.checkpoints.get(&id);
    let changed = old.is_some_and(|old| old.body != checkpoint.body);
    let json =
        |value: serde_json::Result<serde_json::Value>| value.map_or(Cell::Null, |value| Cell::from(&value));
    let mut row = Columns::new(old.is_none());
    row.set("id", false, || id.0);
    row.set("name", changed, || definition.checkpoint_name.as_str());
    row.set("description", changed, || definition.checkpoint_description.as_str());
    row.set("dependencies", changed, || json(serde_json::to_value(&definition.dependencies)));
    row.set("inputs", changed, || json(serde_json::to_value(&definition.inputs)));
    row.set("execution", changed, || json(serde_json::to_value(&definition.execution)));
    row.set("human_interaction", changed, || json(serde_json::to_value(&definition.human_interaction)));
    row.set("output", changed, || json(serde_json::to_value(&definition.output)));
    row.set("instructions", changed, || json(serde_json::to_value(&definition.instructions)));
    row.set("body", changed, || checkpoint.body);
    row.set("created_at", false, || checkpoint.created_at);
    row.set("updated_at", old.is_some_and(|old| old.updated_at != checkpoint.updated_at), || {
        checkpoint.updated_at
    });
    row.set("removed_at", old.is_some_and(|old| old.removed_at != checkpoint.removed_at), || {
        checkpoint.removed_at
    });
    row.into_change(Table::Checkpoint, checkpoint.n)
}

fn rollback_row(record: &RollbackRecord, after: &PipelineState, stamp: &Stamp<'_>) -> Option<RowChange> {
    let n = after.rollback_rows.get(&record.rollback)?.n;
    let level = match record.level {
        RollbackType::CheckpointLevel => "checkpoint_level",
        RollbackType::RunLevel => "run_level",
    };
    let triggered_by = match record.triggered_by {
        TriggeredBy::UserRequest => "user_request",
        TriggeredBy::CheckpointFailure => "checkpoint_failure",
    };
    let cells = vec![
        ("id", record.rollback.0.into()),
        ("type", level.into()),
        ("source_run", record.source.0.0.into()),
        ("source_version", record.source.1.into()),
        ("target_run", record.target.0.0.into()),
        ("target_version", record.target.1.into()),
        ("target_checkpoint", record.checkpoint.map(|(id, _)| id.0).into()),
        ("target_position", record.checkpoint.map(|(_, position)| position).into()),
        ("archive", archive_folder(record.rollback, stamp.at).as_str().into()),
        ("triggered_by", triggered_by.into()),
        ("reason", Cell::text_or_null(record.reason.as_deref())),
        ("created_at", stamp.at.into()),
    ];
    Some(RowChange { table: Table::Rollback, op: Op::Put(n, cells) })
}

fn undone(rollback: RollbackId, after: &PipelineState, stamp: &Stamp<'_>) -> Option<RowChange> {
    let n = after.rollback_rows.get(&rollback)?.n;
    Some(RowChange { table: Table::Rollback, op: Op::Patch(n, vec![("undone_at", stamp.at.into())]) })
}
