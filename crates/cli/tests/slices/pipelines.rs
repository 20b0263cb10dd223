//! Slices 2 to 5: pipelines and checkpoints, over HTTP and on disk.

use serde_json::json;

use crate::server::{Server, form, id};

#[test]
fn slice_2_create_list_and_get_a_pipeline() {
    let server = Server::start();
    let made =
        server.post("/api/pipelines", &json!({"pipeline_name": "First", "pipeline_description": "Why"}));
    let made = made.expect(201);
    assert_eq!(
        (&made["pipeline_definition_version"], &made["config"]["auto_advance"]),
        (&json!(1), &json!(false))
    );
    server.post("/api/pipelines", &json!({"pipeline_name": "Second"})).expect(201);
    let listed = server.get("/api/pipelines").expect(200);
    let names: Vec<_> =
        listed["items"].as_array().expect("items").iter().map(|p| &p["pipeline_name"]).collect();
    assert_eq!(names, ["Second", "First"]);
    assert_eq!(server.get(&format!("/api/pipelines/{}", id(&made["pipeline_id"]))).expect(200), made);
    let on_disk = server.folder(&made).join(".pipeline_system/definitions/pipeline.json");
    let on_disk: serde_json::Value =
        serde_json::from_slice(&std::fs::read(on_disk).expect("written")).expect("JSON");
    assert_eq!(on_disk["pipeline_name"], "First");
    server.post("/api/pipelines", &json!({"pipeline_name": " "})).refused(422, "invalid_fields");
    server.post("/api/pipelines", &json!({"pipeline_nam": "x"})).refused(422, "invalid_fields");
}

#[test]
fn slice_3_update_delete_and_restore_a_pipeline() {
    let server = Server::start();
    let made = server.pipeline(&["A"], false);
    let path = format!("/api/pipelines/{}", id(&made["pipeline_id"]));
    let changed = server.put(&path, &json!({"pipeline_name": "Renamed"})).expect(200);
    assert_eq!(
        (&changed["pipeline_name"], &changed["checkpoint_order"]),
        (&json!("Renamed"), &made["checkpoint_order"])
    );
    server.delete(&path);
    assert_eq!(server.get("/api/pipelines").expect(200)["items"], json!([]));
    let archived = server.home().join("pipelines/.archived").join(id(&made["pipeline_id"]));
    assert!(archived.join(".pipeline_system/definitions/pipeline.json").exists());
    assert!(!server.folder(&made).exists());
    server.post(&format!("{path}/restore"), &json!({})).expect(200);
    assert!(server.folder(&made).join(".pipeline_system/definitions/pipeline.json").exists());
    assert!(!archived.exists());
}

#[test]
fn slice_4_checkpoints_are_kept_in_the_database_and_on_disk() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B", "C"], false);
    let order = pipeline["checkpoint_order"].as_array().expect("an order").clone();
    assert_eq!(order.len(), 3);
    for checkpoint in &order {
        let shown = server.get(&format!("/api/checkpoints/{}", id(checkpoint))).expect(200);
        assert_eq!(shown["execution"]["mode"], "human_only");
        let file = format!(".pipeline_system/definitions/checkpoints/{}.json", id(checkpoint));
        let on_disk = std::fs::read(server.folder(&pipeline).join(file)).expect("written");
        let on_disk: serde_json::Value = serde_json::from_slice(&on_disk).expect("JSON");
        assert_eq!(on_disk["checkpoint_name"], shown["checkpoint_name"]);
    }
    let mut wrong = form("D");
    wrong["execution"]["script_config"] = json!({"script_path": "x.py", "requires_user_input": false});
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    let refused = server.post(&path, &wrong).refused(422, "invalid_fields");
    assert!(
        refused["errors"][0]["pointer"].as_str().expect("a pointer").starts_with("/execution"),
        "{refused}"
    );
}

#[test]
fn slice_5_change_remove_and_reorder_checkpoints() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B", "C"], false);
    let path = format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]));
    let order = pipeline["checkpoint_order"].as_array().expect("an order").clone();
    let first = format!("/api/checkpoints/{}", id(&order[0]));
    let changed = server.put(&first, &json!({"checkpoint_description": "Another"})).expect(200);
    assert_eq!(changed["checkpoint_description"], "Another");
    assert_eq!(changed["execution"], pipeline["checkpoints"][0]["execution"]);
    let turned: Vec<_> = order.iter().rev().cloned().collect();
    let body = json!({"checkpoint_order": turned});
    let shown = server.put(&format!("{path}/checkpoint-order"), &body).expect(200);
    assert_eq!(shown["checkpoint_order"], json!(turned));
    let before = pipeline["pipeline_definition_version"].as_u64().expect("a version");
    assert_eq!(shown["pipeline_definition_version"], before + 1);
    server.delete(&first);
    let left = server.get(&path).expect(200);
    assert_eq!(left["checkpoint_order"], json!([order[2], order[1]]));
    let run = server.run(&pipeline);
    let refused =
        server.put(&format!("{path}/checkpoint-order"), &json!({"checkpoint_order": [order[1], order[2]]}));
    let refused = refused.refused(409, "runs_active");
    assert!(refused.to_string().contains(&id(&run["run_id"])), "{refused}");
}

#[test]
fn settings_limit_retries_and_fill_in_the_delay() {
    let settings = [
        ("HOLDPOINT_LIMITS__MAX_RETRY_ATTEMPTS", "1"),
        ("HOLDPOINT_EXECUTION__DEFAULT_RETRY_DELAY_SECONDS", "2"),
    ];
    let server = Server::start_with(&settings);
    let made = server.pipeline(&[], false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&made["pipeline_id"]));
    let mut step = form("A");
    step["execution"]["retry_config"]["max_auto_retries"] = json!(2);
    let refused = server.post(&path, &step).refused(422, "invalid_fields");
    assert_eq!(refused["errors"][0]["message"], "at most 1, as limits.max_retry_attempts says");
    step["execution"]["retry_config"]["max_auto_retries"] = json!(1);
    let made = server.post(&path, &step).expect(201);
    assert_eq!(made["execution"]["retry_config"]["retry_delay_seconds"], 2);
}

#[test]
fn a_list_is_no_object() {
    let server = Server::start();
    server.post("/api/pipelines", &json!(["x"])).refused(422, "invalid_fields");
    let made = server.pipeline(&[], false);
    let path = format!("/api/pipelines/{}", id(&made["pipeline_id"]));
    server.post("/api/runs", &json!([made["pipeline_id"]])).refused(422, "invalid_fields");
    server.put(&path, &json!({"pipeline_name": "x", "config": [true]})).refused(422, "invalid_fields");
    for (section, list) in [
        ("/human_interaction", json!([true, true, 3])),
        ("/execution/retry_config", json!([0, "pause_pipeline", 1])),
        ("/inputs", json!([true, []])),
        ("/output", json!([[], {"enabled": false}])),
        ("/execution/human_only_config", json!(["Fill it in", [], false])),
    ] {
        let mut step = form("A");
        *step.pointer_mut(section).expect("a section") = list;
        let refused = server.post(&format!("{path}/checkpoints"), &step).refused(422, "invalid_fields");
        assert_eq!(refused["errors"][0]["pointer"], section, "{refused:#}");
    }
    for name in ["zero\u{200b}width", "soft\u{ad}hyphen", "mark\u{feff}"] {
        let mut step = form("A");
        step["execution"]["human_only_config"]["artifact_name"] = json!(name);
        server.post(&format!("{path}/checkpoints"), &step).refused(422, "invalid_fields");
    }
}
