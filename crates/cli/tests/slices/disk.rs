//! What long work leaves on the disk.

use std::path::Path;

use serde_json::json;

use crate::agents::{agentic, pipeline, single};
use crate::provider::{Provider, Say, answers, call, text};
use crate::server::Server;

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
