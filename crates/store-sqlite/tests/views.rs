//! The documented tables can be read by anybody with a copy of SQLite, under the documented names.

use std::path::Path;

use holdpoint_core::rows::{Cell, Cells, Table};
use holdpoint_core::{Digest, PipelineId, RunId, SessionId, StreamId, Timestamp};
use holdpoint_store::conformance::kit::{append, patch, project, put, row_of, write};
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;
use rusqlite::types::Value;
use uuid::Uuid;

const PIPELINE: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_00aa);
const RUN: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_ffff_ffff);
/// The first and the second execution of the run, whose ids begin anew at zero.
const EXECUTION: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000);
const GONE: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);
const AT: Timestamp = Timestamp(1_790_000_000_123_456);

const DOCUMENTED: &[(&str, &str)] = &[
    (
        "pipelines",
        "pipeline_id pipeline_name pipeline_description pipeline_definition_version checkpoint_order auto_advance \
         created_at updated_at",
    ),
    (
        "checkpoint_definitions",
        "checkpoint_id pipeline_id checkpoint_name checkpoint_description dependencies inputs execution \
         human_interaction output instructions created_at updated_at",
    ),
    (
        "pipeline_runs",
        "run_id pipeline_id run_version status current_checkpoint_id current_checkpoint_position previous_run_id \
         extends_from_run_version created_at started_at completed_at paused_at last_resumed_at",
    ),
    (
        "checkpoint_executions",
        "execution_id run_id checkpoint_id checkpoint_position status attempt_number max_attempts \
         revision_iteration max_revision_iterations temp_workspace_path permanent_output_path created_at \
         started_at completed_at failed_at",
    ),
    ("execution_logs", "log_id execution_id timestamp level message details"),
    ("human_interactions", "interaction_id execution_id timestamp type user_input system_response"),
    (
        "artifacts",
        "artifact_record_id execution_id artifact_id artifact_name file_path format size_bytes checksum created_at \
         promoted_to_permanent_at",
    ),
    (
        "rollback_events",
        "rollback_id source_run_id source_run_version rollback_type target_run_id target_checkpoint_id \
         target_checkpoint_position archive_location triggered_by user_reason created_at",
    ),
    (
        "archived_items",
        "archive_item_id rollback_id item_type item_id original_path archived_path size_bytes",
    ),
    (
        "events",
        "event_id event_type pipeline_id run_id execution_id checkpoint_id rollback_id timestamp description \
         metadata",
    ),
];

#[test]
fn the_documented_names_and_columns_are_there() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(SqliteLog::open(dir.path(), Options::default()).expect("the store opens"));
    let conn = connect(dir.path());
    for (view, columns) in DOCUMENTED {
        let statement = conn.prepare(&format!("SELECT * FROM {view}")).expect("the view");
        assert_eq!(statement.column_names().collect::<Vec<_>>().join(" "), *columns, "{view}");
    }
    for view in ["sessions", "nodes", "edges", "plans", "effects", "timers"] {
        conn.prepare(&format!("SELECT * FROM {view}")).expect("the view");
    }
}

#[tokio::test]
async fn rows_are_shown_as_documented() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
    fill(&log, true).await;
    let conn = connect(dir.path());

    assert_eq!(
        all(&conn, "pipeline_id, pipeline_name, created_at, updated_at FROM pipelines"),
        ["01900000-0000-7000-8000-0000000000aa|tea|2026-09-21T14:13:20.123Z|null"]
    );
    assert_eq!(
        all(&conn, "run_id, pipeline_id, run_version, status FROM pipeline_runs"),
        ["01900000-0000-7000-8000-0000ffffffff|01900000-0000-7000-8000-0000000000aa|1|in_progress"]
    );
    assert_eq!(
        all(&conn, "execution_id, run_id, checkpoint_id, temp_workspace_path FROM checkpoint_executions"),
        ["01900000-0000-7000-8000-000000000000|01900000-0000-7000-8000-0000ffffffff|boil\
          |.temp/exec_01900000-0000-7000-8000-000000000000"]
    );
    let digest = Digest::of(b"tea").checksum();
    assert_eq!(all(&conn, "checksum FROM artifacts"), [digest]);
    assert_eq!(all(&conn, "message FROM execution_logs"), ["hot"]);
    assert_eq!(all(&conn, "runs FROM sessions"), ["1"]);
}

#[tokio::test]
async fn events_are_shown_one_by_one() {
    for is_pipeline in [true, false] {
        check_events(is_pipeline).await;
    }
}

/// A run's own row says where it stands only once it has ended; until then its executions do.
#[tokio::test]
async fn a_run_stands_where_its_executions_say() {
    for is_pipeline in [true, false] {
        let dir = tempfile::tempdir().expect("a folder");
        let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
        fill(&log, is_pipeline).await;
        let conn = connect(dir.path());
        let current = "current_checkpoint_id FROM pipeline_runs";
        assert_eq!(all(&conn, current), ["boil"]);
        let run = StreamId::Run(RunId(RUN));
        let done = patch(Table::Execution, 1, vec![("status", "completed".into())]);
        project(&log, run, 2, vec![vec![done]]).await;
        assert_eq!(all(&conn, current), ["null"]);
        let ended = vec![("status", "aborted".into()), ("current_step", "pour".into())];
        project(&log, run, 3, vec![vec![patch(Table::Run, 0, ended)]]).await;
        assert_eq!(all(&conn, current), ["pour"]);
    }
}

#[tokio::test]
async fn a_runs_graph_is_shown_as_nodes_and_edges() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
    fill(&log, false).await;
    let begun = patch(Table::Run, 0, vec![("started_at", AT.into())]);
    let done = patch(Table::Execution, 1, vec![("node", 1u32.into()), ("branch", 0u32.into())]);
    let chosen: Cells = vec![
        ("node", 2u32.into()),
        ("parent", 0u32.into()),
        ("branch", 1u32.into()),
        ("kind", "gate".into()),
        ("step", "ask".into()),
        ("gate", GONE.into()),
    ];
    let run = StreamId::Run(RunId(RUN));
    project(&log, run, 2, vec![vec![begun, done, put(Table::Node, 2, chosen)]]).await;
    let conn = connect(dir.path());
    let nodes = "node, parent, branch, kind, step, substr(execution_id, -2), substr(gate_id, -2) FROM nodes \
                 ORDER BY node";
    assert_eq!(
        all(&conn, nodes),
        ["0|null|0|start|null|null|null", "1|0|0|step|boil|00|null", "2|0|1|gate|ask|null|01"]
    );
    assert_eq!(all(&conn, "from_node, to_node, branch FROM edges ORDER BY to_node"), ["0|1|0", "0|2|1"]);
}

async fn check_events(is_pipeline: bool) {
    let dir = tempfile::tempdir().expect("a folder");
    let log = SqliteLog::open(dir.path(), Options::default()).expect("the store opens");
    fill(&log, is_pipeline).await;
    let conn = connect(dir.path());
    assert_eq!(
        all(
            &conn,
            "event_type, substr(pipeline_id, -2), substr(run_id, -2), substr(execution_id, -2), checkpoint_id, \
             metadata FROM events"
        ),
        [
            r#"pipeline_created|aa|null|null|null|{"name":"tea"}"#,
            r#"step_started|aa|ff|00|boil|{"x":1}"#,
            "run_paused|aa|ff|null|null|null",
        ]
    );
    let ids = all(&conn, "event_id FROM events");
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 3);
    for id in &ids {
        assert_eq!(Uuid::parse_str(id).map(|id| id.get_version_num()), Ok(8), "{id}");
    }
}

/// A run of the pipeline, or one that belongs to none.
async fn fill(log: &SqliteLog, is_pipeline: bool) {
    let session = SessionId(PIPELINE);
    let cells = vec![("id", PIPELINE.into()), ("name", "tea".into()), ("created_at", AT.into())];
    let mut row =
        row_of(StreamId::Pipeline(PipelineId(PIPELINE)), 1, vec![vec![put(Table::Pipeline, 0, cells)]]);
    row.bytes = br#"[{"pipeline_created":{"name":"tea"}}]"#.to_vec();
    row.session = session;
    write(log, append(vec![row])).await;

    let run: Cells = vec![
        ("id", RUN.into()),
        ("family", RunId(RUN).family().into()),
        ("base", RunId(RUN).base().into()),
        ("session", PIPELINE.into()),
        ("pipeline", if is_pipeline { PIPELINE.into() } else { Cell::Null }),
        ("number", 1u32.into()),
        ("status", "in_progress".into()),
        ("created_at", AT.into()),
    ];
    let artifact = vec![("id", RUN.into()), ("digest", Digest::of(b"tea").into())];
    let line =
        |id: Uuid, message: &str| -> Cells { vec![("execution", id.into()), ("message", message.into())] };
    let execution = |x: u32, step: &str| -> Cells {
        let path = if is_pipeline { "v1/".into() } else { Cell::Null };
        vec![("x", x.into()), ("step", step.into()), ("status", "in_progress".into()), ("output_path", path)]
    };
    let first = vec![
        put(Table::Run, 0, run),
        put(Table::Execution, 1, execution(1, "boil")),
        put(Table::Artifact, 1, artifact),
        put(Table::LogLine, 1, line(EXECUTION, "hot")),
        put(Table::LogLine, 2, line(GONE, "cold")),
    ];
    let gone = patch(Table::Execution, 2, vec![("rollback", Cell::from(GONE))]);
    let second = vec![put(Table::Execution, 2, execution(2, "pour")), gone];
    let mut row = row_of(StreamId::Run(RunId(RUN)), 1, vec![first, second]);
    row.bytes = br#"[{"step_started":{"x":1}},"run_paused"]"#.to_vec();
    row.session = session;
    write(log, append(vec![row])).await;
}

fn connect(dir: &Path) -> Connection {
    Connection::open(dir.join("state.db")).expect("the file")
}

fn all(conn: &Connection, query: &str) -> Vec<String> {
    let mut statement = conn.prepare(&format!("SELECT {query}")).expect("a question");
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values = (0..width).map(|at| {
            Ok(match row.get::<_, Value>(at)? {
                Value::Null => "null".to_owned(),
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                Value::Text(text) => text,
                Value::Blob(bytes) => format!("{bytes:?}"),
            })
        });
        values.collect::<rusqlite::Result<Vec<_>>>().map(|values| values.join("|"))
    });
    rows.expect("an answer").collect::<rusqlite::Result<_>>().expect("rows")
}
