//! The examples of the repository, as somebody who follows their first lines would run them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::{Server, id};

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The pipeline of an example, applied.
fn applied(server: &Server, file: &str) -> Value {
    let text = std::fs::read(examples().join(file)).expect("an example");
    let head = "Content-Type: application/yaml\r\n";
    let answer = server.send("POST", "/api/pipelines/apply", Some(&server.token), head, &text);
    assert!((200..300).contains(&answer.status), "{}", String::from_utf8_lossy(&answer.body));
    let list = server.get("/api/pipelines").expect(200);
    server.get(&format!("/api/pipelines/{}", id(&list["items"][0]["pipeline_id"]))).expect(200)
}

fn copied(from: &str, to: PathBuf) {
    std::fs::create_dir_all(&to).expect("made");
    for entry in std::fs::read_dir(examples().join(from)).expect("a folder") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

fn approve(server: &Server, execution: &Value) {
    let at = format!("/api/executions/{}/approve-complete", id(&execution["execution_id"]));
    server.post(&at, &json!({"digest": execution["waiting_for"]["digest"]})).expect(200);
}

pub fn output(server: &Server, execution: &Value) -> String {
    let record = id(&execution["artifacts_generated"][0]["artifact_record_id"]);
    String::from_utf8(server.get(&format!("/api/artifacts/{record}/download")).body).expect("text")
}

#[test]
fn the_report_is_written_by_scripts_and_knows_the_one_before() {
    let server = Server::start();
    let pipeline = applied(&server, "report/report.yaml");
    copied("report/scripts", server.folder(&pipeline).join("scripts"));
    for version in 1..=2 {
        let run = server.run(&pipeline);
        let execution = server.until(&run, |e| e["status"] == "waiting_approval_to_complete");
        let report = output(&server, &execution);
        assert!(report.starts_with("# Weekly report\n\n37 in all."), "{report}");
        assert_eq!(report.contains("The report before this one was v1."), version == 2, "{report}");
        approve(&server, &execution);
        server.until_run(&run, |run| run["status"] == "completed");
    }
}

#[test]
fn the_team_writes_a_plan_and_changes_it_when_asked() {
    let server = Server::start();
    let pipeline = applied(&server, "team/team.yaml");
    copied("team/answers", server.home().join("scripts"));
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "waiting_approval_to_complete");
    assert!(output(&server, &execution).starts_with("# Plan for the first release\n"));
    let messages = execution["agent_conversation"].as_array().expect("messages").clone();
    let said = |message: &&Value| message["role"] == "assistant";
    assert!(messages.iter().filter(said).all(|message| message["scripted"] == true), "{messages:#?}");
    assert_eq!(execution["usage"]["cost_usd"], 0.0);
    let context =
        server.get(&format!("/api/executions/{}/context", id(&execution["execution_id"]))).expect(200);
    assert_eq!(context["sent"], true);
    assert_eq!(context["rendered"][1]["agent_name"], "Writer");
    let at = format!("/api/executions/{}/reject", id(&execution["execution_id"]));
    server.post(&at, &json!({"feedback": "Let the users watch."})).expect(200);
    let again =
        server.until(&run, |e| e["status"] == "waiting_approval_to_complete" && e["revision_iteration"] == 1);
    assert!(output(&server, &again).contains("Changed as asked for in the review."));
    approve(&server, &again);
    server.until_run(&run, |run| run["status"] == "completed");
    // The next version knows this one.
    let next = server.until(&server.run(&pipeline), |e| e["status"] == "waiting_approval_to_complete");
    assert!(output(&server, &next).contains("New in this version"), "{}", output(&server, &next));
}
