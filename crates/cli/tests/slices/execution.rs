//! Slices 6 to 8: starting a run, going through forms and approvals, pausing.

use serde_json::json;

use crate::server::{Server, files, form, id};

#[test]
fn slice_6_a_run_starts_with_its_first_checkpoint_and_workspace() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A", "B"], false);
    let run = server.run(&pipeline);
    assert_eq!((&run["run_version"], &run["status"]), (&json!(1), &json!("in_progress")));
    assert_eq!(run["current_checkpoint_id"], pipeline["checkpoint_order"][0]);
    let execution = &run["current_execution"];
    assert_eq!(execution["status"], "waiting_approval_to_start");
    assert_eq!(execution["waiting_for"]["kind"], "approve_start");
    let temp = server.folder(&pipeline).join(execution["temp_workspace_path"].as_str().expect("a path"));
    assert!(temp.join("workspace").is_dir() && temp.join("artifacts_staging").is_dir(), "{}", temp.display());
    assert!(server.folder(&pipeline).join("runs/v1/run_info.json").exists());
    let body = json!({"pipeline_id": pipeline["pipeline_id"], "start": false});
    let idle = server.post("/api/runs", &body).expect(201);
    assert_eq!((&idle["status"], &idle["run_version"]), (&json!("not_started"), &json!(2)));
    assert_eq!(server.run_of(&run)["run_id"], run["run_id"]);
}

#[test]
fn slice_7_forms_and_approvals_take_a_run_to_its_end() {
    let server = Server::start();
    let pipeline = server.pipeline(&["Goals", "Report"], false);
    let run = server.run(&pipeline);
    let execution = id(&run["current_execution"]["execution_id"]);
    let at = |action: &str| format!("/api/executions/{execution}/{action}");
    server.post(&at("submit"), &json!({"fields": {"answer": "x"}})).refused(409, "wrong_state");
    server.post(&at("approve-start"), &json!({})).expect(200);
    let wrong = server.post(&at("submit"), &json!({"fields": {"answer": "", "other": 1}}));
    let wrong = wrong.refused(422, "invalid_fields");
    let pointers: Vec<_> =
        wrong["errors"].as_array().expect("errors").iter().map(|e| &e["pointer"]).collect();
    assert_eq!(pointers, ["/fields/answer", "/fields/other"]);
    let shown = server.post(&at("submit"), &json!({"fields": {"answer": "first"}})).expect(200);
    assert_eq!(shown["status"], "waiting_approval_to_complete");
    let staged = &shown["artifacts_generated"][0];
    let staged_file = server.folder(&pipeline).join(staged["file_path"].as_str().expect("a path"));
    assert_eq!(crate::server::json_file(&staged_file), json!({"answer": "first"}));
    // A change is asked for, then the result is approved; a digest is needed, and an old one is stale.
    server.post(&at("reject"), &json!({})).refused(422, "invalid_fields");
    let revised = server.post(&at("reject"), &json!({"feedback": "more"})).expect(200);
    assert_eq!((&revised["revision_iteration"], &revised["status"]), (&json!(1), &json!("in_progress")));
    let again = server.post(&at("submit"), &json!({"fields": {"answer": "second"}})).expect(200);
    server.post(&at("approve-complete"), &json!({})).refused(428, "digest_missing");
    let old = json!({"digest": shown["waiting_for"]["digest"]});
    server.post(&at("approve-complete"), &old).refused(412, "stale_decision");
    let new = json!({"digest": again["waiting_for"]["digest"]});
    let done = server.post(&at("approve-complete"), &new).expect(200);
    assert_eq!(done["status"], "completed");
    let kept =
        server.folder(&pipeline).join(done["artifacts_generated"][0]["file_path"].as_str().expect("a path"));
    assert!(
        kept.to_string_lossy().contains("/runs/v1/checkpoint_0_Goals/outputs/notes_"),
        "{}",
        kept.display()
    );
    assert!(kept.to_string_lossy().ends_with("_v1.json"));
    assert_eq!(crate::server::json_file(&kept), json!({"answer": "second"}));
    let temp = server.folder(&pipeline).join(format!(".temp/exec_{execution}"));
    assert!(temp.exists(), "the workspace stays until the next checkpoint starts");
    // The same decision again changes nothing.
    server.post(&at("approve-complete"), &new).expect(200);
    let next = server.run_of(&run)["current_execution"].clone();
    assert_eq!(
        (&next["checkpoint_position"], &next["status"]),
        (&json!(1), &json!("waiting_approval_to_start"))
    );
    server.complete(&run, "the end");
    assert!(!temp.exists(), "the workspace goes when the next checkpoint has started");
    let ended = server.run_of(&run);
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["metadata"]["completed_checkpoints"], 2);
    assert_eq!(files(&server.folder(&pipeline).join(".temp")), Vec::<String>::new());
    let info = crate::server::json_file(&server.folder(&pipeline).join("runs/v1/run_info.json"));
    assert_eq!(info, ended);
    let interactions = server.execution(&execution)["human_interactions"].clone();
    let kinds: Vec<_> = interactions.as_array().expect("some").iter().map(|i| &i["type"]).collect();
    assert_eq!(kinds, ["approval_to_start", "form", "revision_request", "form", "approval_to_complete"]);
}

#[test]
fn slice_7_a_rejected_start_waits_until_it_is_asked_again() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], false);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    let rejected = server.post(&format!("/api/executions/{execution}/reject"), &json!({})).expect(200);
    assert_eq!(rejected["status"], "pending");
    let asked = server.post("/api/executions/start", &json!({"run_id": run["run_id"]})).expect(200);
    assert_eq!(asked["status"], "waiting_approval_to_start");
}

#[test]
fn slice_7_a_file_is_uploaded_with_its_form() {
    let server = Server::start();
    let pipeline = server.pipeline(&[], false);
    let mut checkpoint = crate::server::form("Upload");
    checkpoint["execution"]["human_only_config"]["input_fields"] = json!([
        {"name": "answer", "type": "text", "label": "Answer", "required": true},
        {"name": "paper", "type": "file", "label": "Paper", "required": true},
        {"name": "pages", "type": "number", "label": "Pages", "required": false, "validation": "value > 0"},
    ]);
    checkpoint["human_interaction"]["requires_approval_to_start"] = json!(false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    server.post(&path, &checkpoint).expect(201);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    let wrong = server.post(
        &format!("/api/executions/{execution}/submit"),
        &json!({"fields": {"answer": "x", "pages": -1}}),
    );
    let wrong = wrong.refused(422, "invalid_fields");
    assert_eq!(wrong["errors"].as_array().expect("errors").len(), 2, "{wrong}");
    let body = "--b\r\nContent-Disposition: form-data; name=\"fields\"\r\n\r\n{\"answer\": \"x\", \"pages\": 3}\r\n\
                --b\r\nContent-Disposition: form-data; name=\"paper\"; filename=\"../../evil.csv\"\r\n\
                Content-Type: text/csv\r\n\r\na,b\n1,2\n\r\n--b--\r\n";
    let head = "Content-Type: multipart/form-data; boundary=b\r\n";
    let path = format!("/api/executions/{execution}/submit");
    let shown = server.send("POST", &path, Some(&server.token), head, body.as_bytes()).expect(200);
    let artifacts = shown["artifacts_generated"].as_array().expect("artifacts");
    let paper = artifacts.iter().find(|a| a["artifact_name"] == "paper").expect("the file");
    assert_eq!((&paper["format"], &paper["size_bytes"]), (&json!("csv"), &json!(8)));
    let bytes = server.get(&format!("/api/artifacts/{}/download", id(&paper["artifact_record_id"])));
    assert_eq!((bytes.status, &bytes.body[..]), (200, &b"a,b\n1,2\n"[..]));
    assert!(!server.home().join("evil.csv").exists() && !server.home().join("pipelines/evil.csv").exists());
}

#[test]
fn slice_8_a_pause_between_checkpoints_outlives_the_server() {
    let mut server = Server::start();
    let pipeline = server.pipeline(&["A", "B"], false);
    let run = server.run(&pipeline);
    let at = |action: &str| format!("/api/runs/{}/{action}", id(&run["run_id"]));
    let execution = server.current(&run);
    server.post(&format!("/api/executions/{execution}/approve-start"), &json!({})).expect(200);
    let pausing = server.post(&at("pause"), &json!({})).expect(200);
    assert_eq!((&pausing["status"], &pausing["pause_requested"]), (&json!("in_progress"), &json!(true)));
    server.post(&at("resume"), &json!({})).expect(200);
    server.complete(&run, "a");
    let paused = server.post(&at("pause"), &json!({})).expect(200);
    assert_eq!(
        (&paused["status"], &paused["metadata"]["paused_checkpoint_position"]),
        (&json!("paused"), &json!(1))
    );
    let again = server.post(&at("pause"), &json!({})).expect(200);
    assert_eq!(again["paused_at"], paused["paused_at"]);
    server.kill_and_restart();
    assert_eq!(server.run_of(&run)["status"], "paused");
    let next = server.current(&run);
    let refused = server.post(&format!("/api/executions/{next}/approve-start"), &json!({}));
    let refused = refused.refused(409, "wrong_state");
    assert_eq!(refused["state"], "paused");
    let resumed = server.post(&at("resume"), &json!({})).expect(200);
    assert_eq!(resumed["status"], "in_progress");
    assert!(resumed["last_resumed_at"].is_string());
    server.complete(&run, "b");
    assert_eq!(server.run_of(&run)["status"], "completed");
    server.post(&at("abort"), &json!({})).refused(409, "wrong_state");
}

#[test]
fn what_waits_to_be_started_or_tried_again_is_answered_on_the_terminal() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], false);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    let at = |action: &str| format!("/api/executions/{execution}/{action}");
    let yes = || {
        let said = server.command(&["answer", "--approve"]);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        server.execution(&execution)["status"].clone()
    };
    server.post(&at("reject"), &json!({})).expect(200);
    assert_eq!(server.execution(&execution)["waiting_for"]["kind"], "start");
    assert_eq!(yes(), "waiting_approval_to_start");
    assert_eq!(yes(), "in_progress");
    server.post(&at("cancel"), &json!({})).expect(200);
    assert_eq!(server.execution(&execution)["waiting_for"]["kind"], "retry");
    assert_eq!(yes(), "in_progress");
}

#[test]
fn who_approves_sees_what_was_filled_in() {
    let server = Server::start();
    let pipeline = server.pipeline(&[], false);
    let mut step = form("Pay");
    step["execution"]["human_only_config"]["save_as_artifact"] = json!(false);
    for name in ["artifact_name", "artifact_format"] {
        step["execution"]["human_only_config"].as_object_mut().expect("an object").remove(name);
    }
    step["human_interaction"]["requires_approval_to_start"] = json!(false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    server.post(&path, &step).expect(201);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    let submit = format!("/api/executions/{execution}/submit");
    let answered = server.post(&submit, &json!({"fields": {"answer": "PAY-1000-EURO"}})).expect(200);
    let filled = json!({"answer": "PAY-1000-EURO"});
    assert_eq!((&answered["form_data"], &answered["waiting_for"]["form_data"]), (&filled, &filled));
    let shown = server.execution(&execution);
    assert_eq!((&shown["form_data"], &shown["waiting_for"]["form_data"]), (&filled, &filled));
    assert_eq!(server.get("/api/inbox").expect(200)["items"][0]["waiting_for"]["form_data"], filled);
    // Too much for a list of questions is shown with the execution.
    let reject = format!("/api/executions/{execution}/reject");
    server.post(&reject, &json!({"feedback": "more"})).expect(200);
    let long = json!({"answer": "x".repeat(20_000)});
    server.post(&submit, &json!({ "fields": long })).expect(200);
    let shown = server.execution(&execution);
    assert_eq!((&shown["form_data"], &shown["waiting_for"]["form_data_cut"]), (&long, &json!(true)));
    assert!(shown["waiting_for"]["form_data"].is_null());
}
