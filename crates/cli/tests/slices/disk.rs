//! What long work leaves on the disk.

use std::path::Path;

use serde_json::json;

use crate::agents::{agentic, pipeline, single};
use crate::provider::{Provider, Say, answers, call, text};
use crate::server::{Server, id};

const MB: u64 = 1_000_000;
/// How often the agent calls a tool after the workspace is full.
const CALLS: usize = 100;

/// 50 MB that nothing could make smaller.
const FILLS: &str = r"
import os
for n in range(500):
    folder = f'part{n % 20}'
    os.makedirs(folder, exist_ok=True)
    open(f'{folder}/{n}.bin', 'wb').write(os.urandom(100_000))
";

/// The bytes of the files in a folder.
fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes(&entry.path()),
        Ok(meta) => meta.len(),
        // It was renamed or removed since.
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[test]
fn a_hundred_calls_of_tools_keep_a_workspace_once() {
    let provider = Provider::start(move |question| match answers(question) {
        0 => Say::Parts(vec![call("c0", "code_execution", &json!({"code": FILLS}))]),
        n if n <= CALLS => {
            let input = json!({"operation": "write", "path": format!("workspace/part{}/note.txt", n % 20),
                               "content": format!("note {n}")});
            Say::Parts(vec![call(&format!("c{n}"), "file_operations", &input)])
        }
        _ => text("done"),
    });
    let variables =
        [("ANTHROPIC_BASE_URL", provider.url.as_str()), ("HOLDPOINT_LIMITS__TOOL_CALLS_PER_TURN", "200")];
    let server = Server::start_with(&variables);
    let tools = single(&["code_execution", "file_operations"]);
    let made = pipeline(&server, &[agentic("Notes", tools, json!([]))]);
    let run = server.run(&made);
    let ended = server.until(&run, |e| e["status"] == "completed" || e["status"] == "failed");
    assert_eq!(ended["status"], "completed", "{ended:#}");
    assert_eq!(answers(provider.asked().last().expect("a question")), CALLS + 1);
    let (blobs, db) = (bytes(&server.home().join("blobs")), bytes(&server.home().join("db")));
    assert!(blobs > 50 * MB, "the workspace was kept: {blobs}");
    assert!(blobs + db <= 60 * MB, "blobs {blobs}, database {db}");
}

#[test]
fn a_server_whose_home_is_gone_acknowledges_nothing() {
    type Take = fn(&Path);
    let deleted: Take = |home| std::fs::remove_dir_all(home).expect("deleted");
    let moved: Take = |home| std::fs::rename(home, home.with_file_name("elsewhere")).expect("moved");
    let replaced: Take = |home| {
        std::fs::copy(home.join("db/state.db"), home.join("db/copy")).expect("copied");
        std::fs::rename(home.join("db/copy"), home.join("db/state.db")).expect("replaced");
    };
    for take in [deleted, moved, replaced] {
        let mut server = Server::start();
        let made = server.pipeline(&["A"], true);
        let run = server.run(&made);
        let waiting = server.until(&run, |e| !e["waiting_for"].is_null());
        let approve = format!("/api/executions/{}/approve-start", id(&waiting["execution_id"]));
        take(&server.home());
        // At once, before anything can have noticed it.
        let answer = server.post(&approve, &json!({}));
        assert!(answer.status >= 500, "{answer:?}");
        server.get("/readyz").refused(503, "not_ready");
        while server.get("/api/inbox").json()["code"] != "not_ready" {
            std::thread::yield_now();
        }
        let problem = server.get("/api/inbox").refused(503, "not_ready");
        assert!(
            problem["detail"].as_str().is_some_and(|why| why.contains("deleted or replaced")),
            "{problem}"
        );
        server.post(&approve, &json!({})).refused(503, "not_ready");
        server.get("/livez").expect(200);
        assert_eq!(server.interrupt(), Some(1));
        let there = server.home().join("pipelines").exists();
        assert_eq!(
            there,
            server.home().join("db/state.db").exists(),
            "nothing is written where the home was"
        );
    }
}
