//! Servers made with the official Python package, which others write theirs with: it does not share our mistakes.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdpoint_agents::mcp::{Reach, Server, Session};
use holdpoint_agents::model::Secret;
use serde_json::json;

/// How often an address is tried that another process opens, and how long between.
const LONG: u32 = 600;
const PAUSE: Duration = Duration::from_millis(50);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A Python that has the package, installed if need be; none where Python cannot make environments.
fn python() -> Option<String> {
    let installed = Command::new(root().join("scripts/mcp-python.sh")).status().expect("the script starts");
    if installed.code() == Some(3) {
        #[expect(clippy::print_stderr, reason = "a test that did not run must not look as if it had")]
        {
            eprintln!("NOT RUN: python3 with venv is missing, so that the package cannot be installed");
        }
        return None;
    }
    assert!(installed.success(), "the package could not be installed");
    Some(root().join("target/tools/mcp-python/bin/python").to_string_lossy().into_owned())
}

fn script() -> String {
    root().join("crates/agents/tests/mcp/official.py").to_string_lossy().into_owned()
}

fn server(reach: Reach) -> Server {
    Server { name: "official".to_owned(), reach, timeout: Duration::from_mins(1), tools: None, enabled: true }
}

async fn speak_with(server: &Server) {
    let session = Session::open(server).await.expect("it begins");
    let offer = session.offer().await.expect("listed");
    let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["add", "fail"]);
    let add = offer.tool("add").expect("there");
    assert_eq!(add.description.as_deref(), Some("Adds two numbers."));
    assert_eq!(add.input_schema["required"], json!(["a", "b"]));
    let sum = session.call("add", &json!({"a": 2, "b": 40})).await;
    assert!(!sum.is_error && sum.content.contains("42"), "{sum:?}");
    let failed = session.call("fail", &json!({})).await;
    assert!(failed.is_error && failed.content.contains("Error executing tool fail"), "{failed:?}");
    let refused = session.call("add", &json!({"a": "two"})).await;
    assert!(refused.is_error, "{refused:?}");
    // What it offers is the same the next time, or its pin would break by itself.
    assert_eq!(session.offer().await.expect("listed").digest(), offer.digest());
    session.close().await;
}

#[tokio::test]
async fn a_program_made_with_the_official_package_is_understood() {
    let Some(python) = python() else { return };
    let path = std::env::var("PATH").expect("a path");
    let env = BTreeMap::from([("PATH".to_owned(), Secret::new(path))]);
    let command = vec![python, script(), "stdio".to_owned()];
    speak_with(&server(Reach::Program { keeper: Vec::new(), command, env })).await;
}

/// Ends the process when the test does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_address_made_with_the_official_package_is_understood() {
    let Some(python) = python() else { return };
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
    let mut command = Command::new(python);
    command.args([script(), free.port().to_string()]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let _running = Running(child.expect("it starts"));
    let mut is_open = false;
    for _ in 0..LONG {
        is_open = TcpStream::connect(free).is_ok();
        if is_open {
            break;
        }
        // tidy: sleep, because a server of others says nothing when it is ready.
        tokio::time::sleep(PAUSE).await;
    }
    assert!(is_open, "the server does not answer");
    let url = format!("http://{free}/mcp");
    speak_with(&server(Reach::Address { url, token: None })).await;
}
