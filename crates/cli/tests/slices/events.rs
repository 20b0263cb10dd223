//! Slice 19: everything that happens can be read, filtered and followed.

use serde_json::json;

use crate::server::{Server, id};

#[test]
fn slice_19_every_change_is_an_event() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B"], true);
    let run = server.run(&pipeline);
    server.complete(&run, "a");
    server.complete(&run, "b");
    let body = json!({
        "rollback_type": "checkpoint_level",
        "source_run_id": run["run_id"],
        "target_checkpoint_position": 0,
    });
    server.post("/api/rollback", &body).expect(201);
    let all = server.get("/api/events?limit=500").expect(200)["items"].as_array().expect("items").clone();
    let types: Vec<&str> = all.iter().rev().map(|e| e["event_type"].as_str().expect("a type")).collect();
    for wanted in [
        "pipeline.created",
        "checkpoint.created",
        "run.started",
        "execution.created",
        "execution.waiting",
        "execution.approved",
        "execution.started",
        "execution.submitted",
        "artifact.created",
        "artifact.promoted",
        "execution.completed",
        "run.completed",
        "rollback.completed",
    ] {
        assert!(types.contains(&wanted), "no {wanted} in {types:?}");
    }
    for event in &all {
        for field in
            ["seq", "event_id", "event_type", "timestamp", "actor", "description", "metadata", "hash"]
        {
            assert!(!event[field].is_null(), "{field} in {event}");
        }
    }
    let of_run = server.get(&format!("/api/events?run_id={}&limit=500", id(&run["run_id"]))).expect(200);
    assert!(of_run["items"].as_array().expect("items").iter().all(|e| e["run_id"] == run["run_id"]));
    let of_type = server.get("/api/events?event_type=run.completed").expect(200);
    assert_eq!(of_type["items"].as_array().expect("items").len(), 1);
    assert_eq!(of_type["items"][0]["actor"]["kind"], "person");
    server.get("/api/events?event_type=no.such.type").refused(400, "bad_query");
    // The stream goes on where somebody left off, without a gap.
    let first = server.events("/api/stream?after=0", "", 5);
    let last = first[4]["seq"].as_u64().expect("a position");
    let next = server.events("/api/stream", &format!("Last-Event-ID: {last}\r\n"), 3);
    let mut seqs: Vec<u64> = all.iter().map(|e| e["seq"].as_u64().expect("a position")).collect();
    seqs.sort_unstable();
    let shown: Vec<u64> = first.iter().chain(&next).map(|e| e["seq"].as_u64().expect("a position")).collect();
    assert_eq!(shown, seqs[..8]);
    let verified = server.command(&["audit", "verify", "--json"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn slice_19_the_log_is_verified_from_outside_and_a_changed_row_is_found() {
    let server = Server::start();
    server.pipeline(&["A"], false);
    let found = server.get("/api/audit/verify").expect(200);
    assert_eq!((&found["ok"], &found["wrong"]), (&json!(true), &json!([])), "{found}");
    assert!(found["events"].as_u64() > Some(1), "{found}");
    let db = rusqlite::Connection::open(server.home().join("db/state.db")).expect("a database");
    db.busy_timeout(std::time::Duration::from_secs(10)).expect("set");
    let changed = db.execute(
        "UPDATE log SET bytes = CAST(replace(CAST(bytes AS TEXT), 'pipeline', 'pipelime') AS BLOB) WHERE rowid = (SELECT max(rowid) FROM log WHERE instr(CAST(bytes AS TEXT), 'pipeline') > 0)",
        [],
    );
    assert_eq!(changed.expect("changed"), 1);
    let found = server.get("/api/audit/verify").expect(200);
    assert_eq!(found["ok"], false, "{found}");
    assert_eq!(found["wrong"].as_array().map(Vec::is_empty), Some(false), "{found}");
}
