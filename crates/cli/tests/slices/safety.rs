//! What must not happen: foreign pages, missing tokens, repeated requests that count twice, hand-made changes.

use serde_json::json;

use crate::server::{Server, files, id};

#[test]
fn nobody_without_a_token_is_heard() {
    let server = Server::start();
    assert_eq!(server.send("GET", "/api/health", None, "", b"").status, 200);
    server.send("GET", "/api/pipelines", None, "", b"").refused(401, "unauthenticated");
    server.send("GET", "/api/pipelines", Some("hp_wrong"), "", b"").refused(401, "unauthenticated");
    let foreign = "Origin: http://evil.example\r\nContent-Type: application/json\r\n";
    server
        .send("POST", "/api/pipelines", Some(&server.token), foreign, b"{}")
        .refused(403, "origin_not_allowed");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(server.home().join("keys/admin.token")).expect("a file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_repeated_request_is_carried_out_once() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], false);
    let head = "Content-Type: application/json\r\nIdempotency-Key: k1\r\n";
    let body = json!({"pipeline_id": pipeline["pipeline_id"]}).to_string();
    let send = |body: &str| server.send("POST", "/api/runs", Some(&server.token), head, body.as_bytes());
    let (first, second) = (send(&body).expect(201), send(&body).expect(201));
    assert_eq!(first["run_id"], second["run_id"]);
    let other = json!({"pipeline_id": pipeline["pipeline_id"], "start": false}).to_string();
    send(&other).refused(422, "idempotency_key_reused");
    let runs = server.get("/api/runs").expect(200);
    assert_eq!(runs["items"].as_array().expect("items").len(), 1);
}

#[test]
fn a_repeated_request_is_told_the_same_whatever_has_changed() {
    let mut server = Server::start();
    let pipeline = server.pipeline(&["A"], false);
    let path = format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]));
    let send = |server: &Server, path: &str, body: &serde_json::Value| {
        let head = "Content-Type: application/json\r\nIdempotency-Key: k1\r\n";
        let answer = server.send("POST", path, Some(&server.token), head, body.to_string().as_bytes());
        (answer.status, String::from_utf8(answer.body).expect("text"))
    };
    let run = json!({"pipeline_id": pipeline["pipeline_id"]});
    let first = send(&server, "/api/runs", &run);
    let started: serde_json::Value = serde_json::from_str(&first.1).expect("JSON");
    let nothing = json!({});
    let pause = format!("/api/runs/{}/pause", id(&started["run_id"]));
    let paused = send(&server, &pause, &nothing);
    // What was in effect already gets the same answer again.
    let resume = format!("/api/runs/{}/resume", id(&started["run_id"]));
    server.post(&resume, &nothing).expect(200);
    let resumed = send(&server, &resume, &nothing);
    assert_eq!((first.0, paused.0, resumed.0), (201, 200, 200), "{first:?} {paused:?} {resumed:?}");

    server.put(&path, &json!({"pipeline_name": "Renamed", "config": {"auto_advance": true}})).expect(200);
    server.post(&format!("/api/runs/{}/abort", id(&started["run_id"])), &nothing).expect(200);
    let same = |server: &Server, who: &str| {
        assert_eq!(send(server, "/api/runs", &run), first, "{who}");
        assert_eq!(send(server, &pause, &nothing), paused, "{who}");
        assert_eq!(send(server, &resume, &nothing), resumed, "{who}");
    };
    same(&server, "the same process");
    same(&Server::on(&server.home()), "another process on the home");
    server.kill_and_restart();
    same(&server, "after a restart");
    let runs = server.get("/api/runs").expect(200);
    assert_eq!(runs["items"].as_array().expect("items").len(), 1);
}

#[test]
fn hand_made_changes_are_put_aside_and_the_files_written_again() {
    let mut server = Server::start();
    let pipeline = server.pipeline(&["A"], true);
    let run = server.run(&pipeline);
    server.complete(&run, "kept");
    let folder = server.folder(&pipeline);
    let outputs = folder.join("runs/v1/checkpoint_0_A/outputs");
    let file = outputs.join(&files(&outputs)[0]);
    server.kill();
    std::fs::write(&file, "changed by hand").expect("writable");
    std::fs::remove_file(folder.join("runs/v1/run_info.json")).expect("removed");
    server.restart();
    server.get(&format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]))).expect(200);
    let repaired = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("kept"));
    crate::safety::soon("the file is written again", repaired);
    crate::safety::soon("the run's file is back", || folder.join("runs/v1/run_info.json").exists());
    let aside = files(&folder.join(".drift"));
    assert_eq!(aside.len(), 1, "{aside:?}");
    crate::safety::soon("it is recorded, once", || {
        let events = server.get("/api/events?event_type=drift.repaired").expect(200);
        events["items"].as_array().expect("items").len() == 1
    });
}

/// Waits until something holds, for as long as a slow machine may need.
pub fn soon(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        // tidy: sleep, because another process does it in its own time
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("it never came to this: {what}");
}
