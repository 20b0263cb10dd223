//! Slices 11 and 12: going back within a run and to an earlier version, and undoing it.

use serde_json::json;

use crate::server::{Server, files, id};

#[test]
fn slice_11_rollback_within_a_run() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B", "C"], true);
    let run = server.run(&pipeline);
    let executions: Vec<String> =
        ["a", "b", "c"].iter().map(|answer| server.complete(&run, answer)).collect();
    assert_eq!(server.run_of(&run)["status"], "completed");
    let mut body = json!({
        "rollback_type": "checkpoint_level",
        "source_run_id": run["run_id"],
        "target_checkpoint_position": 1,
        "user_reason": "again",
        "dry_run": true,
    });
    let impact = server.post("/api/rollback", &body).expect(200)["impact"].clone();
    assert_eq!(impact["executions"][0]["execution_id"], executions[2]);
    assert_eq!(impact["artifacts"].as_array().expect("some").len(), 1);
    assert_eq!(server.run_of(&run)["status"], "completed");
    body["dry_run"] = json!(false);
    let record = server.post("/api/rollback", &body).expect(201);
    assert_eq!(
        record["rolled_back_items"]["deleted_checkpoint_executions"][0]["execution_id"],
        executions[2]
    );
    let folder = server.folder(&pipeline);
    let archive = folder.join(record["archive_location"].as_str().expect("a folder"));
    assert!(archive.join("rollback_metadata.json").exists(), "{}", archive.display());
    let archived = files(&archive.join("archived_data/v1_checkpoint_2"));
    assert_eq!(archived.len(), 1, "{archived:?}");
    assert!(!folder.join("runs/v1/checkpoint_2_C").exists());
    let shown = server.run_of(&run);
    assert_eq!(shown["status"], "in_progress");
    assert_eq!(shown["current_execution"]["status"], "pending");
    assert_eq!(shown["current_checkpoint_position"], 2);
    let gone = server.get(&format!("/api/executions/{}", executions[2])).refused(410, "rolled_back");
    assert_eq!(gone["rollback_id"], record["rollback_id"]);
    server.complete(&run, "another c");
    assert_eq!(server.run_of(&run)["status"], "completed");
    let undo = format!("/api/rollback/{}/undo", id(&record["rollback_id"]));
    server.post(&undo, &json!({})).refused(409, "cannot_undo");
    assert_eq!(server.get("/api/rollback").expect(200)["items"][0]["rollback_id"], record["rollback_id"]);
}

#[test]
fn slice_12_rollback_to_an_earlier_version_and_back() {
    let mut server = Server::start();
    let pipeline = server.pipeline(&["A", "B", "C"], true);
    let runs: Vec<_> = (1..=3)
        .map(|version| {
            let run = server.run(&pipeline);
            for step in ["a", "b", "c"] {
                server.complete(&run, &format!("{step}{version}"));
            }
            run
        })
        .collect();
    let folder = server.folder(&pipeline);
    let before = files(&folder.join("runs"));
    let body = json!({
        "rollback_type": "run_level",
        "source_run_id": runs[2]["run_id"],
        "target_run_id": runs[0]["run_id"],
        "target_checkpoint_position": 1,
    });
    let record = server.post("/api/rollback", &body).expect(201);
    assert_eq!(record["rolled_back_items"]["deleted_runs"].as_array().expect("some").len(), 2);
    let archive = folder.join(record["archive_location"].as_str().expect("a folder"));
    for name in ["v2", "v3", "v1_checkpoint_2"] {
        assert!(archive.join("archived_data").join(name).is_dir(), "{name}");
    }
    assert!(!folder.join("runs/v2").exists() && !folder.join("runs/v3").exists());
    assert_eq!(std::fs::read_link(folder.join("runs/latest")).expect("a link").to_string_lossy(), "v1");
    server.get(&format!("/api/runs/{}", id(&runs[1]["run_id"]))).refused(410, "rolled_back");
    server.kill_and_restart();
    let undone =
        server.post(&format!("/api/rollback/{}/undo", id(&record["rollback_id"])), &json!({})).expect(200);
    assert!(undone["undone_at"].is_string());
    assert_eq!(files(&folder.join("runs")), before);
    server.post("/api/rollback", &body).expect(201);
    let fourth = server.run(&pipeline);
    assert_eq!(fourth["run_version"], 4);
    assert_eq!(
        (&fourth["extends_from_run_version"], &fourth["previous_run_id"]),
        (&json!(1), &runs[0]["run_id"])
    );
}
