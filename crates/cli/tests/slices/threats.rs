//! Hostile input to the running program: each is refused with a code of its own or made harmless, changes
//! nothing, and never fails the server.

use serde_json::{Value, json};

use crate::server::{Answer, Server, files, form, id};

/// The form that a server's first run waits for, with a file; its pipeline and its execution.
fn waiting_for_a_file(server: &Server) -> (Value, String) {
    let pipeline = server.pipeline(&[], false);
    let mut checkpoint = form("Upload");
    checkpoint["execution"]["human_only_config"]["input_fields"] =
        json!([{"name": "doc", "type": "file", "label": "Document", "required": true}]);
    checkpoint["execution"]["human_only_config"]["save_as_artifact"] = json!(false);
    for name in ["artifact_name", "artifact_format"] {
        checkpoint["execution"]["human_only_config"].as_object_mut().expect("an object").remove(name);
    }
    checkpoint["human_interaction"]["requires_approval_to_start"] = json!(false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    server.post(&path, &checkpoint).expect(201);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    (pipeline, execution)
}

fn upload(server: &Server, execution: &str, filename: &str, content: &str) -> Answer {
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"doc\"; filename=\"{filename}\"\r\n\r\n{content}\r\n--edge--\r\n"
    );
    let head = "Content-Type: multipart/form-data; boundary=edge\r\n";
    let path = format!("/api/executions/{execution}/submit");
    server.send("POST", &path, Some(&server.token), head, body.as_bytes())
}

#[test]
fn keys_of_filters_are_never_part_of_a_query() {
    let server = Server::start();
    server.pipeline(&["A"], false);
    let lists =
        ["/api/pipelines", "/api/runs", "/api/events", "/api/artifacts/list", "/api/rollback", "/api/inbox"];
    let keys = [
        "x%27%29%20OR%20%271%27=%271",
        "filter%5Bx%27%29%20OR%20%271%27%3D%271%5D=1",
        "sort=id%3Bdrop%20table%20log",
        "limit=1%3Bdrop%20table%20log",
        "limit=-1",
        "limit=501",
        "cursor=%27%20OR%201%3D1--",
    ];
    for list in lists {
        for key in keys {
            let answer = server.get(&format!("{list}?{key}"));
            assert_eq!(answer.status, 400, "{list}?{key}: {}", String::from_utf8_lossy(&answer.body));
        }
    }
    // A value is a value.
    let none = server.get("/api/events?actor=%27%20OR%20%271%27%3D%271").expect(200);
    assert_eq!(none["items"], json!([]));
    assert_eq!(server.get("/api/pipelines").expect(200)["items"].as_array().expect("items").len(), 1);
}

#[test]
fn a_file_comes_from_an_upload_and_never_from_a_path() {
    let server = Server::start();
    let (_, execution) = waiting_for_a_file(&server);
    let path = format!("/api/executions/{execution}/submit");
    let file = json!({"filepath": "/etc/passwd", "path": "/etc/passwd", "tempPath": "/etc/passwd"});
    for body in [
        json!({"files": [file]}),
        json!({"files": {"doc": file}, "fields": {}}),
        json!({"fields": {"doc": "/etc/passwd"}}),
        json!({"fields": {"doc": file}}),
    ] {
        server.post(&path, &body).refused(422, "invalid_fields");
    }
    // A form that says it is JSON, and JSON that says it is a form.
    let form = b"--edge\r\nContent-Disposition: form-data; name=\"doc\"\r\n\r\n/etc/passwd\r\n--edge--\r\n";
    let kind = "Content-Type: application/json\r\n";
    server.send("POST", &path, Some(&server.token), kind, form).refused(400, "malformed_json");
    let kind = "Content-Type: multipart/form-data; boundary=edge\r\n";
    server.send("POST", &path, Some(&server.token), kind, b"{\"fields\":{}}").refused(400, "bad_form");
    server.send("POST", &path, Some(&server.token), kind, form).refused(422, "invalid_fields");
    assert_eq!(server.execution(&execution)["status"], "in_progress");
}

#[test]
fn names_stay_inside_their_folders() {
    let server = Server::start();
    let pipeline = server.pipeline(&[], false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    let names = ["../x", "/abs", "a/../../b", "..", ".", "", "a\\b", "a\u{0}b", "CON", "a\u{202e}b", "x. "];
    for name in names {
        let mut checkpoint = form("A");
        checkpoint["execution"]["human_only_config"]["artifact_name"] = json!(name);
        server.post(&path, &checkpoint).refused(422, "invalid_fields");
    }
    let mut long = form("A");
    long["execution"]["human_only_config"]["artifact_name"] = json!("x".repeat(300));
    server.post(&path, &long).refused(422, "invalid_fields");

    // A checkpoint may be called anything: its folder may not.
    let before = files(server.home().parent().expect("a folder"));
    let pipeline = server.pipeline(&["../../../evil", "CON.", "a/b\\c"], true);
    let run = server.run(&pipeline);
    for _ in 0..3 {
        server.complete(&run, "fine");
    }
    assert_eq!(server.run_of(&run)["status"], "completed");
    let inside = format!("home/pipelines/{}/", id(&pipeline["pipeline_id"]));
    let others = ["home/pipelines/", "home/db/", "home/blobs/", "home/keys/", "home/logs/", "home/tmp/"];
    for path in files(server.home().parent().expect("a folder")) {
        let known = before.contains(&path) || others.iter().any(|other| path.starts_with(other));
        assert!(known, "{path}");
        assert!(!path.contains("evil") || path.starts_with(&inside), "{path}");
    }
}

#[test]
fn the_name_of_an_upload_is_made_safe() {
    let server = Server::start();
    for filename in ["../../evil.txt", "/abs/evil.txt", "..\\evil.txt", "evil\u{202e}txt.exe", "..", "CON"] {
        let (pipeline, execution) = waiting_for_a_file(&server);
        let shown = upload(&server, &execution, filename, "content").expect(200);
        let folder = server.folder(&pipeline);
        let artifact = &shown["artifacts_generated"][0];
        let path = folder.join(artifact["file_path"].as_str().expect("a path"));
        let real = path.canonicalize().unwrap_or_else(|error| panic!("{filename}: {error}"));
        assert!(real.starts_with(folder.canonicalize().expect("a folder")), "{filename}: {}", real.display());
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), "content");
    }
}

#[test]
fn bodies_that_no_reader_should_believe() {
    let server = Server::start();
    let send = |body: &[u8]| {
        let kind = "Content-Type: application/json\r\n";
        server.send("POST", "/api/pipelines", Some(&server.token), kind, body)
    };
    let deep =
        format!("{{\"pipeline_name\":\"a\",\"config\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deepest = format!("{{\"pipeline_name\":{}", "{\"a\":".repeat(100_000));
    for (body, status) in [
        (deep.as_bytes(), 422),
        (deepest.as_bytes(), 422),
        (b"{\"pipeline_name\": 1e400}".as_slice(), 400),
        (b"{\"pipeline_name\": \"a\", \"pipeline_name\": \"b\"}", 422),
        (b"{\"pipeline_name\": \"\\ud800\"}", 400),
        (b"\xef\xbb\xbf{\"pipeline_name\": \"a\"}", 400),
        (b"{\"pipeline_name\": \"\xff\"}", 400),
        (b"", 400),
        (b"null", 422),
        (b"[]", 422),
        (b"{\"pipeline_name\": \"a\"} {}", 400),
    ] {
        let answer = send(body);
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]);
        assert_eq!(answer.status, status, "{shown}: {}", String::from_utf8_lossy(&answer.body));
        assert!(answer.json()["code"].is_string(), "{shown}");
    }
    let large = format!("{{\"pipeline_name\": \"{}\"}}", "x".repeat(2 << 20));
    send(large.as_bytes()).refused(413, "body_too_large");
    assert_eq!(server.get("/api/pipelines").expect(200)["items"], json!([]));
}

#[test]
fn a_simple_request_of_a_page_changes_nothing() {
    let server = Server::start();
    let body = b"{\"pipeline_name\": \"a\"}";
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let head = format!("Content-Type: {kind}\r\n");
        let answer = server.send("POST", "/api/pipelines", Some(&server.token), &head, body);
        assert_eq!(answer.status, 415, "{kind}");
    }
    // Looking is all that GET does.
    let pipeline = server.pipeline(&["A"], false);
    let run = server.run(&pipeline);
    let (run_id, execution) = (id(&run["run_id"]), server.current(&run));
    for path in [
        format!("/api/executions/{execution}/approve-start"),
        format!("/api/executions/{execution}/approve"),
        format!("/api/runs/{run_id}/abort"),
        format!("/api/pipelines/{}/restore", id(&pipeline["pipeline_id"])),
    ] {
        assert_eq!(server.get(&path).status, 405, "{path}");
    }
    assert_eq!(server.execution(&execution)["status"], "waiting_approval_to_start");
}

#[test]
fn pages_cannot_be_framed_and_artifacts_cannot_act() {
    let server = Server::start();
    let page = server.send("GET", "/sign-in", None, "", b"");
    assert_eq!(page.status, 200);
    let headers = page.headers.to_lowercase();
    assert!(headers.contains("x-frame-options: deny"), "{headers}");
    assert!(headers.contains("frame-ancestors 'none'"), "{headers}");

    let (_, execution) = waiting_for_a_file(&server);
    let hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>";
    let shown = upload(&server, &execution, "page.html", hostile).expect(200);
    let record = id(&shown["artifacts_generated"][0]["artifact_record_id"]);
    let got = server.get(&format!("/api/artifacts/{record}/download"));
    assert_eq!(got.body, hostile.as_bytes());
    let headers = got.headers.to_lowercase();
    for wanted in ["x-content-type-options: nosniff", "content-disposition: attachment", "sandbox"] {
        assert!(headers.contains(wanted), "{wanted}: {headers}");
    }
    assert!(!headers.contains("content-type: text/html"), "{headers}");
}

/// The form that a new pipeline's run waits for, whose field has this rule.
fn waiting_with_rule(server: &Server, rule: &str) -> String {
    let pipeline = server.pipeline(&[], false);
    let mut checkpoint = form("Rule");
    checkpoint["execution"]["human_only_config"]["input_fields"][0]["validation"] = json!(rule);
    checkpoint["human_interaction"]["requires_approval_to_start"] = json!(false);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    server.post(&path, &checkpoint).expect(201);
    let run = server.run(&pipeline);
    format!("/api/executions/{}/submit", server.current(&run))
}

#[test]
fn a_rule_that_cannot_be_stopped_harms_nobody_else() {
    let server = Server::start();
    let hostile = waiting_with_rule(&server, r#"new Array(2**32-1).join("")==="""#);
    let body = json!({"fields": {"answer": "fine"}});
    for _ in 0..3 {
        let problem = server.post(&hostile, &body).refused(422, "invalid_fields");
        assert!(problem.to_string().contains("it takes too long"), "{problem}");
    }
    let innocent = waiting_with_rule(&server, "value.length > 3");
    server.post(&innocent, &json!({"fields": {"answer": "no"}})).refused(422, "invalid_fields");
    server.post(&innocent, &body).expect(200);
}

/// The processes that a server has started under a hidden command, by what `/proc` says of them.
fn workers(server: &Server) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("proc").filter_map(Result::ok);
    let status = all.filter_map(|entry| {
        let command = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let ours = status.lines().any(|line| line == format!("PPid:\t{}", server.pid()));
        (ours && command.contains("__expressions")).then_some(status)
    });
    status.collect()
}

#[test]
fn rules_are_evaluated_where_nothing_but_computing_is_allowed() {
    let server = Server::start();
    let rule = waiting_with_rule(&server, "value.length > 3");
    server.post(&rule, &json!({"fields": {"answer": "no"}})).refused(422, "invalid_fields");
    let workers = workers(&server);
    assert!(!workers.is_empty());
    for status in workers {
        assert!(status.lines().any(|line| line == "Seccomp:\t2"), "{status}");
    }
}

#[test]
fn t33_an_agent_never_decides() {
    let server = Server::start();
    let new = json!({"name": "model", "role": "operator", "agent": true});
    let token = id(&server.post("/api/tokens", &new).expect(201)["token"]);
    let pipeline = server.pipeline(&["A"], false);
    let run = server.run(&pipeline);
    let execution = server.current(&run);
    let kind = "Content-Type: application/json\r\n";
    for action in ["approve-start", "approve", "reject", "approve-complete"] {
        let path = format!("/api/executions/{execution}/{action}");
        let answer = server.send("POST", &path, Some(&token), kind, b"{\"feedback\": \"fine\"}");
        answer.refused(403, "not_a_person");
    }
    assert_eq!(server.execution(&execution)["status"], "waiting_approval_to_start");
}

#[test]
fn what_people_wrote_cannot_drive_a_terminal() {
    let server = Server::start();
    let name = "nice\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2Jname\u{202e}";
    // A name with control characters is refused; a description may have them, and is shown without.
    server.post("/api/pipelines", &json!({"pipeline_name": name})).refused(422, "invalid_fields");
    let body = json!({"pipeline_name": "nice", "pipeline_description": name});
    let pipeline = id(&server.post("/api/pipelines", &body).expect(201)["pipeline_id"]);
    for arguments in [&["pipeline", "list"][..], &["pipeline", "show", &pipeline]] {
        let shown = server.command(arguments);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        let bytes = [shown.stdout, shown.stderr].concat();
        assert!(!bytes.contains(&0x1b) && !bytes.contains(&7), "{}", String::from_utf8_lossy(&bytes));
    }
}

/// Text that nothing makes much smaller.
fn noise(length: usize) -> String {
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'!' + (seed >> 33) as u8 % 90)
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn a_damaged_output_is_neither_served_nor_approved() {
    for (name, length) in [("held", 200_000), ("streamed", 6_000_000)] {
        let server = Server::start();
        let (_, execution) = waiting_for_a_file(&server);
        upload(&server, &execution, "noise.txt", &noise(length)).expect(200);
        let shown = server.execution(&execution);
        let artifact = &shown["artifacts_generated"][0];
        let download = format!("/api/artifacts/{}/download", id(&artifact["artifact_record_id"]));
        assert_eq!(server.get(&download).expect_bytes(200).len(), length, "{name}");
        let mut blobs = files(&server.home().join("blobs"));
        blobs.retain(|path| path.contains('/'));
        assert_eq!(blobs.len(), 1, "{blobs:?}");
        let blob = server.home().join("blobs").join(&blobs[0]);
        let mut bytes = std::fs::read(&blob).expect("a blob");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        // The files of the store are for reading only.
        std::fs::remove_file(&blob).expect("removed");
        std::fs::write(&blob, bytes).expect("written");

        server.get(&download).refused(500, "blob_corrupt");
        let approve = format!("/api/executions/{execution}/approve-complete");
        let digest = &shown["waiting_for"]["digest"];
        server.post(&approve, &json!({"digest": digest})).refused(500, "blob_corrupt");
        let gate = format!("/api/gates/{}/answer", id(&shown["waiting_for"]["gate_id"]));
        let answer = json!({"option": "approve", "digest": digest});
        server.post(&gate, &answer).refused(500, "blob_corrupt");
        assert_eq!(server.execution(&execution)["status"], "waiting_approval_to_complete");
        assert_eq!(server.get("/readyz").expect(200)["damaged_blobs"], 1, "{name}");
        let made = server.command(&["backup", "damaged.backup"]);
        assert_eq!(made.status.code(), Some(1), "a backup says that what it has is damaged");
        // It can still be asked for again.
        let reject = format!("/api/executions/{execution}/reject");
        server.post(&reject, &json!({"digest": digest, "feedback": "again"})).expect(200);
    }
}

#[test]
fn slow_rules_do_not_stop_the_server() {
    const FIELDS: usize = 12;
    let server = Server::start();
    let pipeline = server.pipeline(&[], false);
    let mut step = form("Slow");
    let field = |n: usize| {
        json!({"name": format!("f{n}"), "type": "text", "label": "F", "required": true,
               "validation": "(() => { while (true) {} })()"})
    };
    step["execution"]["human_only_config"]["input_fields"] = (0..FIELDS).map(field).collect();
    step["human_interaction"]["requires_approval_to_start"] = json!(false);
    server.post(&format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"])), &step).expect(201);
    let filled: Value = (0..FIELDS).map(|n| (format!("f{n}"), json!("abc"))).collect();
    let runs: Vec<String> = (0..4).map(|_| server.current(&server.run(&pipeline))).collect();
    let answered = std::sync::atomic::AtomicUsize::new(0);
    let meanwhile = std::thread::scope(|scope| {
        for run in &runs {
            let (server, filled, answered) = (&server, &filled, &answered);
            scope.spawn(move || {
                let submit = format!("/api/executions/{run}/submit");
                server.post(&submit, &json!({ "fields": filled })).refused(422, "invalid_fields");
                answered.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            });
        }
        let mut meanwhile = 0;
        while answered.load(std::sync::atomic::Ordering::Relaxed) == 0 {
            server.get("/livez").expect(200);
            meanwhile += 1;
        }
        meanwhile
    });
    // Two threads that wait for rules would answer nothing at all in that time.
    assert!(meanwhile > 20, "{meanwhile} answers");
}
