//! What others on the machine could read, plant or take away: files and their modes, secrets, and places.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::server::{CANARY, Server, id};

/// A run with an output, a rollback of it, an undo, and a refused request.
fn live(server: &Server) {
    let pipeline = server.pipeline(&["A", "B"], true);
    let run = server.run(&pipeline);
    server.complete(&run, "kept");
    let body = json!({
        "rollback_type": "checkpoint_level",
        "source_run_id": run["run_id"],
        "target_checkpoint_position": 0,
        "user_reason": "again",
    });
    server.complete(&run, "also");
    let rollback = server.post("/api/rollback", &body).expect(201);
    server.post(&format!("/api/rollback/{}/undo", id(&rollback["rollback_id"])), &json!({})).expect(200);
    server.post("/api/runs", &json!({"pipeline_id": "nonsense"}));
}

/// Everything below a folder, without following links. The home's temporary files come and go.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    if folder.ends_with("home/tmp") {
        return all;
    }
    for entry in std::fs::read_dir(folder).expect("readable") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_dir() {
            all.extend(everything(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}

#[test]
fn only_their_owner_can_read_files_whatever_the_shell_allows() {
    let server = Server::start();
    live(&server);
    let mut looked = 0;
    for path in everything(&server.home()) {
        let meta = path.symlink_metadata().expect("it is there");
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        if !meta.is_symlink() {
            looked += 1;
            assert_eq!(meta.permissions().mode() & 0o777, wanted, "{}", path.display());
        }
    }
    assert!(looked > 30, "{looked} files and folders");
    assert_eq!(everything(&server.temporary()).len(), 1, "nothing goes to a folder that is shared");
}

#[test]
fn a_planted_link_is_never_written_through() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], true);
    let victim = server.temporary().join("victim");
    std::fs::write(&victim, "untouched").expect("written");
    let folder = server.folder(&pipeline);
    let plant = |path: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        symlink(&victim, path).expect("planted");
    };
    // Where files are written before they have their names, and at the names themselves.
    plant("runs/v1/.run_info.json.writing");
    plant("runs/v1/checkpoint_0_A");
    plant(".pipeline_system/manifest/.pipeline.json.writing");
    plant(".pipeline_system/definitions/.pipeline.json.writing");
    plant(".pipeline_system/logs/.system.log.writing");
    let run = server.run(&pipeline);
    server.complete(&run, "kept");
    let name = json!({"pipeline_name": "Other"});
    server.put(&format!("/api/pipelines/{}", id(&pipeline["pipeline_id"])), &name).expect(200);
    crate::safety::soon("the files are written", || {
        let told = std::fs::read_to_string(folder.join("runs/v1/run_info.json")).unwrap_or_default();
        told.contains("Other") && told.contains("completed")
    });
    assert_eq!(std::fs::read_to_string(&victim).expect("read"), "untouched");
}

#[test]
fn no_secret_is_found_in_anything_that_is_written() {
    let server = Server::start();
    live(&server);
    let body = json!({"name": "second", "role": "viewer"});
    let made = server.post("/api/tokens", &body).expect(201);
    let second = id(&made["token"]);
    // Used rightly, in the wrong place, and wrongly.
    assert_eq!(server.send("GET", "/api/runs", Some(&second), "", b"").status, 200);
    server.get(&format!("/api/runs?token={second}"));
    server.get(&format!("/api/runs/{second}"));
    server.send("GET", "/api/runs", Some(&format!("{second}x")), "", b"").refused(401, "unauthenticated");
    server.post("/api/sign-in", &json!({"token": second}));
    server.post("/api/pipelines", &json!({"pipeline_name": "x", "config": {"auto_advance": second}}));
    let shown: Vec<u8> = ["/metrics", "/readyz", "/api/events?limit=500", "/api/tokens", "/api/openapi.json"]
        .iter()
        .flat_map(|path| server.get(path).body)
        .collect();
    let mut sinks = vec![("answers".to_owned(), shown), ("logs".to_owned(), server.said().into_bytes())];
    for path in everything(&server.home()).into_iter().chain(everything(&server.temporary())) {
        if path.is_file() && !path.ends_with("keys/admin.token") {
            sinks.push((path.display().to_string(), std::fs::read(&path).expect("readable")));
        }
    }
    assert!(server.said().lines().count() > 10, "it says something: {}", server.said());
    for secret in [server.token.as_str(), &second, CANARY] {
        for (name, bytes) in &sinks {
            assert!(!contains(bytes, secret.as_bytes()), "a secret in {name}");
        }
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn a_crowd_that_says_nothing_keeps_nobody_out() {
    const CROWD: usize = 3000;
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], true);
    let run = server.run(&pipeline);
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let mut one = server.connect();
        // Some say nothing, some half of something, one byte at a time.
        if number % 2 == 0 {
            one.write_all(b"GET /api/runs HTTP/1.1\r\nHost: loc").expect("sent");
        }
        crowd.push(one);
    }
    server.complete(&run, "kept");
    assert_eq!(server.run_of(&run)["status"], "completed");
    // An upload without end and a head without end are refused, and the server goes on.
    let mut endless = server.connect();
    let piece = vec![b'x'; 64 * 1024];
    let _ = endless.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    while endless.write_all(&piece).is_ok() {}
    let mut answer = String::new();
    let _ = endless.read_to_string(&mut answer);
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    assert_eq!(server.get("/readyz").status, 200);
    drop(crowd);
}
