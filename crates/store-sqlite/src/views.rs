//! The documented tables as views: what people and other programs may read.
//!
//! Ids are shown as text, times as RFC 3339 in UTC with milliseconds, checksums as `sha256:<hex>`. What a
//! rollback took away is hidden, except from the tables that tell of rollbacks. An event's id is made of
//! its row's hash and its position, so it names the event for ever, and its type is the one that the API shows.

use std::fmt::Write as _;

use holdpoint_core::event::all_kinds;

/// Names, columns with their expressions, and where they come from.
struct View {
    name: &'static str,
    columns: &'static [(&'static str, Show)],
    from: &'static str,
}

/// How a column is shown.
enum Show {
    /// As it is.
    Plain(&'static str),
    /// A UUID as text.
    Uuid(&'static str),
    /// The id of an execution `e` of a run `r`, after some text: the run's id with the execution's number added to its
    /// last four bytes.
    ExecutionOf(&'static str),
    /// A time as text.
    Time(&'static str),
    /// A digest as text.
    Checksum(&'static str),
}

use Show::{Checksum, ExecutionOf, Plain, Time, Uuid};

/// The statements that create all views.
pub(crate) fn ddl() -> String {
    let mut sql = String::new();
    for view in VIEWS {
        let columns: Vec<String> =
            view.columns.iter().map(|(name, show)| format!("{} AS {name}", show.expression())).collect();
        let mut from = view.from.replace("{wire}", &wire());
        for id in ["l.execution", "k.uuid"] {
            from = from.replace(&format!("{{family of {id}}}"), &family(id));
            from = from.replace(&format!("{{number of {id}}}"), &number(id));
        }
        let name = view.name;
        let _ = writeln!(sql, "CREATE VIEW {name} AS SELECT {} FROM {from};", columns.join(", "));
    }
    sql
}

/// The type that the outside sees for a stored kind, and null for an internal one. A kind that this code does not
/// know is shown as it is.
fn wire() -> String {
    let cases = all_kinds().map(|(kind, wire)| match wire {
        Some(wire) => format!("WHEN '{kind}' THEN '{wire}' "),
        None => format!("WHEN '{kind}' THEN NULL "),
    });
    format!("CASE k.kind {}ELSE k.kind END", cases.collect::<String>())
}

/// The statements that remove all views.
pub(crate) fn drop() -> String {
    VIEWS.iter().fold(String::new(), |mut sql, view| {
        let _ = writeln!(sql, "DROP VIEW IF EXISTS {};", view.name);
        sql
    })
}

impl Show {
    fn expression(&self) -> String {
        match self {
            Self::Plain(from) => (*from).to_owned(),
            Self::Uuid(from) => {
                let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)]
                    .map(|(start, length)| format!("substr(hex({from}), {start}, {length})"));
                format!("CASE WHEN {from} IS NOT NULL THEN lower({}) END", parts.join("||'-'||"))
            }
            Self::ExecutionOf(before) => {
                let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 4)]
                    .map(|(start, length)| format!("lower(substr(hex(r.id), {start}, {length}))"));
                let id =
                    format!("{before}||{}||printf('%08x', (r.base + e.x) % {WORDS})", parts.join("||'-'||"));
                format!("CASE WHEN e.x IS NOT NULL THEN {id} END")
            }
            Self::Time(from) => format!(
                "strftime('%Y-%m-%dT%H:%M:%S', ({from}) / 1000000, 'unixepoch')\
                 ||printf('.%03dZ', ({from}) / 1000 % 1000)"
            ),
            Self::Checksum(from) => {
                format!("CASE WHEN {from} IS NOT NULL THEN 'sha256:'||lower(hex({from})) END")
            }
        }
    }
}

const VIEWS: &[View] = &[
    View {
        name: "pipelines",
        columns: &[
            ("pipeline_id", Uuid("id")),
            ("pipeline_name", Plain("name")),
            ("pipeline_description", Plain("description")),
            ("pipeline_definition_version", Plain("definition_version")),
            ("checkpoint_order", Plain("checkpoint_order")),
            ("auto_advance", Plain("auto_advance")),
            ("created_at", Time("created_at")),
            ("updated_at", Time("updated_at")),
        ],
        from: "pipeline WHERE deleted_at IS NULL",
    },
    View {
        name: "checkpoint_definitions",
        columns: &[
            ("checkpoint_id", Uuid("c.id")),
            ("pipeline_id", Uuid("s.uuid")),
            ("checkpoint_name", Plain("c.name")),
            ("checkpoint_description", Plain("c.description")),
            ("dependencies", Plain("c.dependencies")),
            ("inputs", Plain("c.inputs")),
            ("execution", Plain("c.execution")),
            ("human_interaction", Plain("c.human_interaction")),
            ("output", Plain("c.output")),
            ("instructions", Plain("c.instructions")),
            ("created_at", Time("c.created_at")),
            ("updated_at", Time("c.updated_at")),
        ],
        from: "checkpoint c JOIN stream s ON s.id = c.stream WHERE c.removed_at IS NULL",
    },
    View {
        name: "pipeline_runs",
        columns: &[
            ("run_id", Uuid("id")),
            ("pipeline_id", Uuid("pipeline")),
            ("run_version", Plain("number")),
            ("status", Plain("status")),
            ("current_checkpoint_id", Plain(CURRENT_STEP)),
            ("current_checkpoint_position", Plain(CURRENT_POSITION)),
            ("previous_run_id", Uuid("previous")),
            ("extends_from_run_version", Plain("extends")),
            ("created_at", Time("created_at")),
            ("started_at", Time("started_at")),
            ("completed_at", Time("completed_at")),
            ("paused_at", Time("paused_at")),
            ("last_resumed_at", Time("resumed_at")),
        ],
        from: "run r WHERE \"rollback\" IS NULL",
    },
    View {
        name: "checkpoint_executions",
        columns: &[
            ("execution_id", ExecutionOf("''")),
            ("run_id", Uuid("r.id")),
            ("checkpoint_id", Plain("e.step")),
            ("checkpoint_position", Plain("e.position")),
            ("status", Plain("e.status")),
            ("attempt_number", Plain("e.attempt")),
            ("max_attempts", Plain("e.max_attempts")),
            ("revision_iteration", Plain("e.revision")),
            ("max_revision_iterations", Plain("e.max_revisions")),
            ("temp_workspace_path", ExecutionOf("'.temp/exec_'")),
            ("permanent_output_path", Plain("e.output_path")),
            ("created_at", Time("e.created_at")),
            ("started_at", Time("e.started_at")),
            ("completed_at", Time("e.completed_at")),
            ("failed_at", Time("e.failed_at")),
        ],
        from: "execution e JOIN run r ON r.stream = e.stream WHERE e.\"rollback\" IS NULL",
    },
    View {
        name: "execution_logs",
        columns: &[
            ("log_id", Uuid("l.id")),
            ("execution_id", Uuid("l.execution")),
            ("timestamp", Time("l.at")),
            ("level", Plain("l.level")),
            ("message", Plain("l.message")),
            ("details", Plain("l.details")),
        ],
        from: "log_line l WHERE (SELECT coalesce(
                (SELECT e.\"rollback\" IS NULL FROM execution e WHERE e.stream = r.stream
                    AND e.x = {number of l.execution} AND e.output_path IS NOT NULL),
                (SELECT e.\"rollback\" IS NULL FROM execution e WHERE e.seq <= l.seq AND e.stream = r.stream
                    AND e.x = {number of l.execution} ORDER BY e.seq DESC LIMIT 1))
            FROM run r WHERE r.family = {family of l.execution}) IS NOT 0",
    },
    View {
        name: "human_interactions",
        columns: &[
            ("interaction_id", Uuid("id")),
            ("execution_id", Uuid("execution")),
            ("timestamp", Time("at")),
            ("type", Plain("type")),
            ("user_input", Plain("user_input")),
            ("system_response", Plain("system_response")),
        ],
        from: "interaction WHERE \"rollback\" IS NULL",
    },
    View {
        name: "artifacts",
        columns: &[
            ("artifact_record_id", Uuid("id")),
            ("execution_id", Uuid("execution")),
            ("artifact_id", Uuid("artifact")),
            ("artifact_name", Plain("name")),
            ("file_path", Plain("path")),
            ("format", Plain("format")),
            ("size_bytes", Plain("size")),
            ("checksum", Checksum("digest")),
            ("created_at", Time("created_at")),
            ("promoted_to_permanent_at", Time("promoted_at")),
        ],
        from: "artifact WHERE \"rollback\" IS NULL",
    },
    View {
        name: "rollback_events",
        columns: &[
            ("rollback_id", Uuid("id")),
            ("source_run_id", Uuid("source_run")),
            ("source_run_version", Plain("source_version")),
            ("rollback_type", Plain("type")),
            ("target_run_id", Uuid("target_run")),
            ("target_checkpoint_id", Uuid("target_checkpoint")),
            ("target_checkpoint_position", Plain("target_position")),
            ("archive_location", Plain("archive")),
            ("triggered_by", Plain("triggered_by")),
            ("user_reason", Plain("reason")),
            ("created_at", Time("created_at")),
        ],
        from: "\"rollback\"",
    },
    View {
        name: "archived_items",
        columns: &[
            ("archive_item_id", Uuid("id")),
            ("rollback_id", Uuid("\"rollback\"")),
            ("item_type", Plain("item_type")),
            ("item_id", Uuid("item")),
            ("original_path", Plain("original_path")),
            ("archived_path", Plain("archived_path")),
            ("size_bytes", Plain("size")),
        ],
        from: "archived_item",
    },
    View {
        name: "events",
        columns: &[
            ("event_id", Plain(EVENT_ID)),
            ("event_type", Plain("wire")),
            ("pipeline_id", Uuid("pipeline")),
            ("run_id", Uuid("run")),
            ("execution_id", Uuid("execution")),
            ("checkpoint_id", Plain("step")),
            ("rollback_id", Plain("coalesce(body ->> '$.rollback', body ->> '$.rollback_id')")),
            ("timestamp", Time("at")),
            ("description", Plain("replace(kind, '_', ' ')")),
            ("metadata", Plain("body")),
        ],
        from: EVENTS,
    },
    View {
        name: "sessions",
        columns: &[
            ("session_id", Uuid("s.uuid")),
            (
                "runs",
                Plain("(SELECT count(*) FROM run r WHERE r.session = s.uuid AND r.\"rollback\" IS NULL)"),
            ),
            ("created_at", Time("(SELECT min(r.created_at) FROM run r WHERE r.session = s.uuid)")),
        ],
        from: "session s",
    },
    View {
        name: "nodes",
        columns: &[
            ("run_id", Uuid("r.id")),
            ("node", Plain("e.node")),
            ("parent", Plain("e.parent")),
            ("branch", Plain("e.branch")),
            ("kind", Plain("e.kind")),
            ("step", Plain("e.step")),
            ("execution_id", ExecutionOf("''")),
            ("gate_id", Uuid("e.gate")),
            ("snapshot_id", Uuid("e.snapshot")),
            ("cause", Plain("e.cause")),
            ("created_at", Time("e.at")),
        ],
        from: NODES,
    },
    View {
        name: "edges",
        columns: &[
            ("run_id", Uuid("r.id")),
            ("from_node", Plain("e.parent")),
            ("to_node", Plain("e.node")),
            ("branch", Plain("e.branch")),
        ],
        from: EDGES,
    },
    View {
        name: "plans",
        columns: &[
            ("plan", Checksum("plan")),
            ("runs", Plain("count(*)")),
            ("created_at", Time("min(created_at)")),
        ],
        from: "run WHERE plan IS NOT NULL GROUP BY plan",
    },
    View {
        name: "effects",
        columns: WORK,
        from: "work w JOIN stream s ON s.id = w.run
        WHERE w.due <= unixepoch('subsec') * 1000000",
    },
    View {
        name: "timers",
        columns: WORK,
        from: "work w JOIN stream s ON s.id = w.run
        WHERE w.due > unixepoch('subsec') * 1000000",
    },
];

/// The nodes `e` of each run `r`: its start, its finished steps, and what no execution stands for. Where the parent of a
/// step's node is not written, it is the node before.
macro_rules! nodes {
    ($condition:literal) => {
        concat!(
            "(SELECT stream, 0 AS node, NULL AS parent, 0 AS branch, 'start' AS kind, NULL AS step, NULL AS x,
                NULL AS gate, NULL AS snapshot, NULL AS cause, started_at AS at
            FROM run WHERE started_at IS NOT NULL
            UNION ALL SELECT stream, node, coalesce(parent, node - 1), branch, 'step', step, x,
                NULL, NULL, NULL, completed_at
            FROM execution WHERE node IS NOT NULL
            UNION ALL SELECT stream, node, parent, branch, kind, step, x, gate, snapshot, cause, at FROM node) e
            JOIN run r ON r.stream = e.stream",
            $condition
        )
    };
}

const NODES: &str = nodes!("");
const EDGES: &str = nodes!(" WHERE e.parent IS NOT NULL");

const WORK: &[(&str, Show)] = &[
    ("run_id", Uuid("s.uuid")),
    ("due_at", Time("w.due")),
    ("owner", Plain("CASE WHEN w.owner IS NOT NULL THEN printf('%016x', w.owner) END")),
    ("epoch", Plain("w.epoch")),
];

/// The first execution that is not completed, where a run stands: while the run moves, its own row does not say so.
macro_rules! current {
    ($column:literal, $own:literal) => {
        concat!(
            "CASE WHEN r.status NOT IN ('not_started', 'in_progress', 'paused') THEN r.",
            $own,
            " WHEN r.pipeline IS NOT NULL THEN (SELECT e.",
            $column,
            " FROM execution e WHERE e.stream = r.stream AND e.output_path IS NOT NULL
                AND e.\"rollback\" IS NULL AND e.status <> 'completed' ORDER BY e.x LIMIT 1)
            ELSE (SELECT e.",
            $column,
            " FROM log l CROSS JOIN execution e ON e.seq BETWEEN l.seq AND l.seq + l.count - 1
                WHERE l.stream = r.stream AND e.\"rollback\" IS NULL AND e.status <> 'completed'
                ORDER BY e.x LIMIT 1) END"
        )
    };
}

const CURRENT_STEP: &str = current!("step", "current_step");
const CURRENT_POSITION: &str = current!("position", "position");

/// How many values four bytes have: numbers of executions are added modulo this.
const WORDS: &str = "4294967296";

/// The run's id and those of its executions have all but their last four bytes in common.
fn family(id: &str) -> String {
    format!("CAST(substr({id}, 1, 12)||x'00000000' AS BLOB)")
}

/// The number of the execution of the run `r` that has an id.
fn number(id: &str) -> String {
    let digit = |at: u32| {
        format!("((instr('0123456789ABCDEF', substr(hex({id}), {}, 1)) - 1) << {})", 25 + at, 28 - 4 * at)
    };
    let word = (0..8).map(digit).collect::<Vec<_>>().join("+");
    format!("(({word} - r.base + {WORDS}) % {WORDS})")
}

/// A UUID of version 8: half of it from the row's hash, half the event's position.
const EVENT_ID: &str = "lower(substr(hex(hash), 1, 8)||'-'||substr(hex(hash), 9, 4)||'-8'||substr(hex(hash), 13, 3)\
    ||'-8'||substr(hex(hash), 16, 3)||'-'||printf('%012x', seq))";

/// One line per event: a stored row is an array of `{\"kind\": {…}}`, or of plain kinds. An execution of a pipeline's run
/// is found by an index; that of another run was made shortly before its events, so the newest rows are looked at first.
const EVENTS: &str = "(SELECT k.*, {wire} AS wire,
        CASE k.stream_kind WHEN 'run' THEN k.uuid WHEN 'journal' THEN
            (SELECT r.id FROM run r WHERE r.family = {family of k.uuid}) END AS run,
        CASE WHEN k.stream_kind = 'journal' THEN k.uuid WHEN k.body ->> '$.x' IS NOT NULL THEN
            (SELECT unhex(substr(hex(r.id), 1, 24)||printf('%08X', (r.base + (k.body ->> '$.x')) % 4294967296))
                FROM run r WHERE r.stream = k.stream) END AS execution,
        CASE WHEN k.stream_kind = 'journal' THEN (SELECT coalesce(
                (SELECT x.step FROM execution x WHERE x.stream = r.stream AND x.x = {number of k.uuid}
                    AND x.output_path IS NOT NULL),
                (SELECT x.step FROM execution x WHERE x.seq <= k.seq AND x.stream = r.stream
                    AND x.x = {number of k.uuid} ORDER BY x.seq DESC LIMIT 1))
            FROM run r WHERE r.family = {family of k.uuid})
        WHEN k.stream_kind = 'run' AND k.body ->> '$.x' IS NOT NULL THEN coalesce(
            (SELECT x.step FROM execution x WHERE x.stream = k.stream AND x.x = k.body ->> '$.x'
                AND x.output_path IS NOT NULL),
            (SELECT x.step FROM execution x WHERE x.seq <= k.seq AND x.stream = k.stream
                AND x.x = k.body ->> '$.x' ORDER BY x.seq DESC LIMIT 1)) END AS step
    FROM (SELECT l.seq + e.key AS seq, l.stream, l.at, l.hash, s.kind AS stream_kind, s.uuid,
            (SELECT p.uuid FROM session g JOIN stream p ON p.uuid = g.uuid AND p.kind = 'pipeline'
                WHERE g.id = l.session) AS pipeline,
            CASE e.type WHEN 'object' THEN (SELECT o.key FROM json_each(e.value) o LIMIT 1)
                ELSE e.value END AS kind,
            CASE e.type WHEN 'object' THEN (SELECT o.value FROM json_each(e.value) o
                WHERE o.type = 'object' LIMIT 1) END AS body
        FROM log l JOIN stream s ON s.id = l.stream JOIN json_each(CAST(l.bytes AS TEXT)) e) k)
    WHERE wire IS NOT NULL";
