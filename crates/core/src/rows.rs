//! The tables beside the log, described once as data, and the changes that events make to them.
//!
//! A backend only knows how to create these tables, write a row and answer a list. Every row belongs to
//! exactly one stream and is named by an ordinal inside it, so that rebuilding and comparing work stream by
//! stream. `stream`, `n` and `seq` (where the row was written) stand in every table.

use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, or a flag as 0 and 1.
    Int,
    /// Text.
    Text,
    /// JSON text.
    Json,
    /// Sixteen bytes of a UUID.
    Uuid,
    /// Thirty-two bytes of a SHA-256.
    Digest,
    /// Microseconds since 1970 as a whole number.
    Time,
}

/// One value in a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// No value.
    Null,
    /// For `Int` and `Time` columns.
    Int(i64),
    /// For `Text` and `Json` columns.
    Text(Arc<str>),
    /// For `Uuid` and `Digest` columns.
    Bytes(Arc<[u8]>),
}

/// A table that projections write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Pipelines and their settings.
    Pipeline,
    /// Checkpoint definitions.
    Checkpoint,
    /// Runs of every kind.
    Run,
    /// Visits of runs to steps.
    Execution,
    /// Lines of an execution's log.
    LogLine,
    /// What people said and decided.
    Interaction,
    /// Outputs of executions.
    Artifact,
    /// What calls of models cost, and how long work took.
    Spending,
    /// Questions put to people.
    Gate,
    /// Rollbacks.
    Rollback,
    /// What a rollback moved away.
    ArchivedItem,
    /// Nodes of runs' graphs that no execution stands for: choices, snapshots, refused results.
    Node,
}

/// A table's description.
#[derive(Clone, Copy, Debug)]
pub struct TableDef {
    /// The table.
    pub table: Table,
    /// Its name in a database.
    pub name: &'static str,
    /// Its own columns (after `stream`, `n`, `seq`).
    pub columns: &'static [(&'static str, Kind)],
    /// Columns by which one row can be found; values are unique.
    pub unique: &'static [&'static str],
    /// Columns by which rows can be listed, in the order of `seq`.
    pub listed_by: &'static [&'static str],
    /// How the rows stand on a disk.
    pub order: Order,
    /// Two columns: where the second one has a value, rows can be found by their stream and the first one. The engine
    /// does not ask so; the documented views of a database do.
    pub found_by: Option<(&'static str, &'static str)>,
}

/// How the rows of a table stand on a disk: a hint, which changes no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By stream and ordinal. An ordinal is whatever the projection counts.
    Stream,
    /// By position. The rows that many streams write at once then share a page of a commit. A row is put with the
    /// event that makes it, at most one per event, and its ordinal is the event's version: the log knows at which
    /// position that is, so no second index is written.
    Position,
}

/// A change of rows that belong to the stream whose event is projected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// The table.
    pub table: Table,
    /// What happens.
    pub op: Op,
}

/// Column values by name.
pub type Cells = Vec<(&'static str, Cell)>;

/// What happens to rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Writes the row `n`, which is not there yet; columns that are not given are null.
    Put(u32, Cells),
    /// Sets some columns of the row `n`, if it exists.
    Patch(u32, Cells),
    /// Sets some columns of all rows of the stream where a column has a value.
    PatchWhere(&'static str, Cell, Cells),
}

impl Table {
    /// All tables, in the order in which they are created.
    pub const ALL: [Self; 12] = [
        Self::Pipeline,
        Self::Checkpoint,
        Self::Run,
        Self::Execution,
        Self::LogLine,
        Self::Interaction,
        Self::Artifact,
        Self::Spending,
        Self::Gate,
        Self::Rollback,
        Self::ArchivedItem,
        Self::Node,
    ];

    /// The table's description.
    pub fn def(self) -> &'static TableDef {
        match self {
            Self::Pipeline => &PIPELINE,
            Self::Checkpoint => &CHECKPOINT,
            Self::Run => &RUN,
            Self::Execution => &EXECUTION,
            Self::LogLine => &LOG_LINE,
            Self::Interaction => &INTERACTION,
            Self::Artifact => &ARTIFACT,
            Self::Spending => &SPENDING,
            Self::Gate => &GATE,
            Self::Rollback => &ROLLBACK,
            Self::ArchivedItem => &ARCHIVED_ITEM,
            Self::Node => &NODE,
        }
    }
}

impl TableDef {
    /// The kind of a column, if the table has it.
    pub fn kind(&self, column: &str) -> Option<Kind> {
        self.columns.iter().find(|(name, _)| *name == column).map(|(_, kind)| *kind)
    }
}

impl Cell {
    /// Text, or null.
    pub fn text_or_null(text: Option<&str>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.into()))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Int(i64::from(flag))
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<crate::Timestamp> for Cell {
    fn from(at: crate::Timestamp) -> Self {
        Self::Int(at.0)
    }
}

impl From<uuid::Uuid> for Cell {
    fn from(id: uuid::Uuid) -> Self {
        Self::Bytes(id.as_bytes().as_slice().into())
    }
}

impl From<crate::Digest> for Cell {
    fn from(digest: crate::Digest) -> Self {
        Self::Bytes(digest.0.as_slice().into())
    }
}

impl From<&serde_json::Value> for Cell {
    fn from(value: &serde_json::Value) -> Self {
        Self::Text(value.to_string().into())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

static PIPELINE: TableDef = TableDef {
    table: Table::Pipeline,
    name: "pipeline",
    columns: &[
        ("id", Kind::Uuid),
        ("name", Kind::Text),
        ("description", Kind::Text),
        ("definition_version", Kind::Int),
        ("checkpoint_order", Kind::Json),
        ("auto_advance", Kind::Int),
        ("created_at", Kind::Time),
        ("updated_at", Kind::Time),
        ("deleted_at", Kind::Time),
        ("deleted", Kind::Int),
    ],
    unique: &["id"],
    listed_by: &["deleted"],
    order: Order::Stream,
    found_by: None,
};

static CHECKPOINT: TableDef = TableDef {
    table: Table::Checkpoint,
    name: "checkpoint",
    columns: &[
        ("id", Kind::Uuid),
        ("name", Kind::Text),
        ("description", Kind::Text),
        ("dependencies", Kind::Json),
        ("inputs", Kind::Json),
        ("execution", Kind::Json),
        ("human_interaction", Kind::Json),
        ("output", Kind::Json),
        ("instructions", Kind::Json),
        ("body", Kind::Digest),
        ("created_at", Kind::Time),
        ("updated_at", Kind::Time),
        ("removed_at", Kind::Time),
    ],
    unique: &["id"],
    listed_by: &[],
    order: Order::Stream,
    found_by: None,
};

static RUN: TableDef = TableDef {
    table: Table::Run,
    name: "run",
    columns: &[
        ("id", Kind::Uuid),
        ("family", Kind::Uuid),
        ("base", Kind::Int),
        ("session", Kind::Uuid),
        ("kind", Kind::Text),
        ("title", Kind::Text),
        ("plan", Kind::Digest),
        ("pipeline", Kind::Uuid),
        ("definition_version", Kind::Int),
        ("number", Kind::Int),
        ("status", Kind::Text),
        ("pause_requested", Kind::Int),
        ("current_step", Kind::Text),
        ("position", Kind::Int),
        ("total", Kind::Int),
        ("completed", Kind::Int),
        ("failed", Kind::Int),
        ("previous", Kind::Uuid),
        ("extends", Kind::Int),
        ("created_at", Kind::Time),
        ("started_at", Kind::Time),
        ("completed_at", Kind::Time),
        ("paused_at", Kind::Time),
        ("resumed_at", Kind::Time),
        ("rollback", Kind::Uuid),
    ],
    unique: &["id", "family"],
    listed_by: &["pipeline", "status", "session"],
    order: Order::Stream,
    found_by: None,
};

static EXECUTION: TableDef = TableDef {
    table: Table::Execution,
    name: "execution",
    columns: &[
        ("x", Kind::Int),
        ("step", Kind::Text),
        ("position", Kind::Int),
        ("visit", Kind::Int),
        ("branch", Kind::Int),
        ("node", Kind::Int),
        ("parent", Kind::Int),
        ("status", Kind::Text),
        ("attempt", Kind::Int),
        ("max_attempts", Kind::Int),
        ("revision", Kind::Int),
        ("max_revisions", Kind::Int),
        ("output_path", Kind::Text),
        ("created_at", Kind::Time),
        ("started_at", Kind::Time),
        ("completed_at", Kind::Time),
        ("failed_at", Kind::Time),
        ("rollback", Kind::Uuid),
    ],
    unique: &[],
    listed_by: &[],
    order: Order::Position,
    // Executions of pipelines' runs have an output path, those of other runs none.
    found_by: Some(("x", "output_path")),
};

static LOG_LINE: TableDef = TableDef {
    table: Table::LogLine,
    name: "log_line",
    columns: &[
        ("id", Kind::Uuid),
        ("execution", Kind::Uuid),
        ("at", Kind::Time),
        ("level", Kind::Text),
        ("message", Kind::Text),
        ("details", Kind::Json),
    ],
    unique: &[],
    listed_by: &["execution"],
    order: Order::Stream,
    found_by: None,
};

static INTERACTION: TableDef = TableDef {
    table: Table::Interaction,
    name: "interaction",
    columns: &[
        ("id", Kind::Uuid),
        ("execution", Kind::Uuid),
        ("at", Kind::Time),
        ("type", Kind::Text),
        ("user_input", Kind::Text),
        ("system_response", Kind::Text),
        ("actor", Kind::Text),
        ("rollback", Kind::Uuid),
    ],
    unique: &[],
    listed_by: &["execution"],
    order: Order::Stream,
    found_by: None,
};

static ARTIFACT: TableDef = TableDef {
    table: Table::Artifact,
    name: "artifact",
    columns: &[
        ("id", Kind::Uuid),
        ("artifact", Kind::Uuid),
        ("execution", Kind::Uuid),
        ("x", Kind::Int),
        ("name", Kind::Text),
        ("format", Kind::Text),
        ("path", Kind::Text),
        ("size", Kind::Int),
        ("digest", Kind::Digest),
        ("revision", Kind::Int),
        ("attempt", Kind::Int),
        ("current", Kind::Int),
        ("created_at", Kind::Time),
        ("promoted_at", Kind::Time),
        ("rollback", Kind::Uuid),
    ],
    unique: &["id"],
    listed_by: &["execution"],
    order: Order::Position,
    found_by: None,
};

static SPENDING: TableDef = TableDef {
    table: Table::Spending,
    name: "spending",
    columns: &[
        ("execution", Kind::Uuid),
        ("run", Kind::Uuid),
        ("pipeline", Kind::Uuid),
        ("step", Kind::Text),
        ("at", Kind::Time),
        ("model", Kind::Text),
        ("agent", Kind::Text),
        ("calls", Kind::Int),
        ("input_tokens", Kind::Int),
        ("output_tokens", Kind::Int),
        ("cache_read_tokens", Kind::Int),
        ("cache_write_tokens", Kind::Int),
        ("cost_micros", Kind::Int),
        ("took_ms", Kind::Int),
    ],
    unique: &[],
    listed_by: &["pipeline", "run"],
    order: Order::Stream,
    found_by: None,
};

static GATE: TableDef = TableDef {
    table: Table::Gate,
    name: "gate",
    columns: &[
        ("id", Kind::Uuid),
        ("execution", Kind::Uuid),
        ("kind", Kind::Text),
        ("pipeline", Kind::Uuid),
        ("step", Kind::Text),
        ("name", Kind::Text),
        ("position", Kind::Int),
        ("body", Kind::Digest),
        ("about", Kind::Json),
        ("digest", Kind::Digest),
        ("minimum", Kind::Text),
        ("expires_at", Kind::Time),
        ("open", Kind::Int),
        ("open_in", Kind::Uuid),
        ("opened_at", Kind::Time),
        ("closed_at", Kind::Time),
        ("answer", Kind::Text),
        ("answered_by", Kind::Text),
        ("rollback", Kind::Uuid),
    ],
    unique: &["id"],
    listed_by: &["open", "open_in"],
    order: Order::Stream,
    found_by: None,
};

static ROLLBACK: TableDef = TableDef {
    table: Table::Rollback,
    name: "rollback",
    columns: &[
        ("id", Kind::Uuid),
        ("type", Kind::Text),
        ("source_run", Kind::Uuid),
        ("source_version", Kind::Int),
        ("target_run", Kind::Uuid),
        ("target_version", Kind::Int),
        ("target_checkpoint", Kind::Uuid),
        ("target_position", Kind::Int),
        ("archive", Kind::Text),
        ("triggered_by", Kind::Text),
        ("reason", Kind::Text),
        ("created_at", Kind::Time),
        ("undone_at", Kind::Time),
    ],
    unique: &["id"],
    listed_by: &["source_run"],
    order: Order::Stream,
    found_by: None,
};

static ARCHIVED_ITEM: TableDef = TableDef {
    table: Table::ArchivedItem,
    name: "archived_item",
    columns: &[
        ("id", Kind::Uuid),
        ("rollback", Kind::Uuid),
        ("item_type", Kind::Text),
        ("item", Kind::Uuid),
        ("original_path", Kind::Text),
        ("archived_path", Kind::Text),
        ("size", Kind::Int),
    ],
    unique: &[],
    listed_by: &["rollback"],
    order: Order::Stream,
    found_by: None,
};

static NODE: TableDef = TableDef {
    table: Table::Node,
    name: "node",
    columns: &[
        ("node", Kind::Int),
        ("parent", Kind::Int),
        ("branch", Kind::Int),
        ("kind", Kind::Text),
        ("at", Kind::Time),
        ("step", Kind::Text),
        ("x", Kind::Int),
        ("attempt", Kind::Int),
        ("gate", Kind::Uuid),
        ("snapshot", Kind::Uuid),
        ("cause", Kind::Text),
        ("tree", Kind::Digest),
    ],
    unique: &[],
    listed_by: &["snapshot"],
    order: Order::Stream,
    found_by: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_names_a_column() {
        for table in Table::ALL {
            let def = table.def();
            assert_eq!(def.table, table);
            let found_by = def.found_by.iter().flat_map(|(column, other)| [column, other]);
            for column in def.unique.iter().chain(def.listed_by).chain(found_by) {
                assert!(def.kind(column).is_some(), "{}.{column}", def.name);
            }
            assert!(def.columns.len() < 32, "{}: stores write sets of columns as numbers", def.name);
        }
    }
}
