//! Slices 9 and 10: history, artifacts, and versions that extend each other.

use serde_json::json;

use crate::server::{Server, id};

#[test]
fn slice_9_past_runs_and_their_outputs_can_be_looked_at() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B"], true);
    for version in ["one", "two"] {
        let run = server.run(&pipeline);
        server.complete(&run, version);
        server.complete(&run, version);
    }
    let path = format!("/api/pipelines/{}/runs", id(&pipeline["pipeline_id"]));
    let runs = server.get(&path).expect(200);
    let versions: Vec<_> =
        runs["items"].as_array().expect("items").iter().map(|r| &r["run_version"]).collect();
    assert_eq!(versions, [2, 1]);
    let run = id(&runs["items"][0]["run_id"]);
    let executions = server.get(&format!("/api/runs/{run}/checkpoints")).expect(200);
    let statuses: Vec<_> =
        executions["items"].as_array().expect("items").iter().map(|e| &e["status"]).collect();
    assert_eq!(statuses, ["completed", "completed"]);
    let artifacts = server.get(&format!("/api/artifacts/list?run_id={run}")).expect(200);
    let artifacts = artifacts["items"].as_array().expect("items").clone();
    assert_eq!(artifacts.len(), 2);
    let record = id(&artifacts[0]["artifact_record_id"]);
    assert_eq!(server.get(&format!("/api/artifacts/{record}")).expect(200), artifacts[0]);
    let bytes = server.get(&format!("/api/artifacts/{record}/download"));
    assert_eq!(bytes.json(), json!({"answer": "two"}));
    assert!(bytes.headers.to_ascii_lowercase().contains("content-disposition: attachment"));
    let graph = server.get(&format!("/api/runs/{run}/graph")).expect(200);
    assert_eq!(graph["nodes"].as_array().expect("nodes").len(), 2);
    let page = server.get(&format!("{path}?limit=1")).expect(200);
    let next = server.get(&format!("{path}?limit=1&cursor={}", id(&page["next_cursor"]))).expect(200);
    assert_eq!((&next["items"][0]["run_version"], &next["next_cursor"]), (&json!(1), &json!(null)));
}

#[test]
fn slice_10_a_new_version_extends_the_one_before() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], true);
    let first = server.run(&pipeline);
    server.complete(&first, "one");
    let path = format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]));
    assert_eq!(server.get(&path).expect(200)["next_run"]["extends_from_run_version"], 1);
    let second = server.run(&pipeline);
    assert_eq!(second["previous_run_id"], first["run_id"]);
    assert_eq!(second["extends_from_run_version"], 1);
    // The answer to a POST is short; a look has the inputs.
    let seen = server.run_of(&second);
    let given = &seen["current_execution"]["inputs"]["previous_version"];
    assert_eq!(
        (&given["run_version"], &given["artifacts"][0]["artifact_name"]),
        (&json!(1), &json!("notes"))
    );
    server.complete(&second, "two");
    let folder = server.folder(&pipeline).join("runs");
    let names = |version: &str| {
        let folder = folder.join(version).join("checkpoint_0_A/outputs");
        crate::server::files(&folder)
    };
    let (one, two) = (names("v1"), names("v2"));
    assert!(one[0].ends_with("_v1.json") && two[0].ends_with("_v2.json"), "{one:?} {two:?}");
    assert_eq!(std::fs::read_link(folder.join("latest")).expect("a link").to_string_lossy(), "v2");
    let compared = server
        .get(&format!("/api/compare?a={}&b={}", id(&first["run_id"]), id(&second["run_id"])))
        .expect(200);
    assert_eq!(compared["same"], false);
    let diff = compared["checkpoints"][0]["artifacts"][0]["diff"].as_str().expect("a diff");
    assert!(diff.contains('-') && diff.contains("two"), "{diff}");
}
