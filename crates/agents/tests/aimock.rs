//! Providers against aimock, a server of others that speaks their protocols: it does not share our mistakes.

mod loopback;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdpoint_agents::model::{
    Answer, ErrorKind, Message, Part, Provider, Providers, Secret, Settings, Speaker, Stop,
};
use loopback::{ask, question};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A running server; it ends with the test.
struct Mock {
    child: Child,
    port: u16,
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The server's program, installed if need be; none where npm itself is missing.
fn program() -> Option<PathBuf> {
    let installed = Command::new(root().join("scripts/aimock.sh")).status().expect("the script starts");
    if installed.code() == Some(3) {
        return None;
    }
    assert!(installed.success(), "aimock could not be installed");
    Some(root().join("target/tools/aimock/node_modules/.bin/llmock"))
}

impl Mock {
    async fn start(more: &[&str]) -> Option<Self> {
        let Some(program) = program() else {
            #[expect(clippy::print_stderr, reason = "a test that did not run must not look as if it had")]
            {
                eprintln!("NOT RUN: npm is missing, so that aimock cannot be installed");
            }
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|socket| socket.local_addr())
            .expect("a free port")
            .port();
        let fixtures = root().join("crates/agents/tests/aimock/fixtures.json");
        let child = Command::new(program)
            .args(["-p", &port.to_string(), "--log-level", "silent", "--chunk-size", "7", "-f"])
            .arg(fixtures)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mock = Self { child, port };
        for _ in 0..200 {
            if mock.get("/health").await.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
                return Some(mock);
            }
            // tidy: sleep, because a server of others says nothing when it is ready.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("aimock does not answer");
    }

    async fn get(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    fn providers(&self) -> Providers {
        let base_url = Some(format!("http://127.0.0.1:{}", self.port));
        let provider = Provider { base_url, api_key: Some(Secret::new("sk-secret")) };
        let names = ["anthropic", "openai", "ollama", "gemini"];
        let mut settings = Settings {
            providers: names.iter().map(|name| ((*name).to_owned(), provider.clone())).collect(),
            call_timeout: Duration::from_secs(20),
            max_retries: 1,
            ..Settings::default()
        };
        settings.delays.first = Duration::from_millis(1);
        Providers::new(settings)
    }
}

fn cities(answer: &Answer) -> Vec<String> {
    let cities = answer.content.iter().filter_map(|part| match part {
        Part::ToolUse { input, .. } => input["city"].as_str().map(str::to_owned),
        _ => None,
    });
    cities.collect()
}

/// Two turns: two calls of a tool, then words about what came of them.
async fn talk(model: &str) {
    let Some(mock) = Mock::start(&[]).await else { return };
    let providers = mock.providers();
    let mut asked = question(model);
    let (answer, _) = ask(&providers, asked.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!((cities(&answer), &answer.stop), (vec!["Rome".to_owned(), "Oslo".to_owned()], &Stop::ToolUse));

    let results = answer.content.iter().filter_map(|part| match part {
        Part::ToolUse { id, .. } => {
            Some(Part::ToolResult { tool_use_id: id.clone(), content: "20".to_owned(), is_error: false })
        }
        _ => None,
    });
    let results = results.collect();
    asked.messages.push(Message { role: Speaker::Assistant, content: answer.content });
    asked.messages.push(Message { role: Speaker::User, content: results });
    let (answer, told) = ask(&providers, asked).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.text(), "It is 20 degrees in Rome and it does not rain.");
    assert_eq!(answer.stop, Stop::EndTurn);
    assert!(told.len() > 1, "it comes in pieces");
    // It has no counts for Ollama.
    assert_eq!(answer.usage.output_tokens, if model.starts_with("ollama/") { 0 } else { 9 });
}

#[tokio::test]
async fn anthropic_talks() {
    talk("claude-sonnet-4-5").await;
}

#[tokio::test]
async fn openai_talks() {
    talk("openai/gpt-4o").await;
}

#[tokio::test]
async fn ollama_talks() {
    talk("ollama/qwen3").await;
}

#[tokio::test]
async fn gemini_talks() {
    talk("gemini/gemini-2.5-pro").await;
}

#[tokio::test]
async fn anthropic_thinks() {
    let Some(mock) = Mock::start(&[]).await else { return };
    let mut asked = question("claude-sonnet-4-5@high");
    asked.messages = vec![Message::user("Think about it.")];
    asked.max_tokens = 8000;
    let answer = ask(&mock.providers(), asked).await.0.expect("an answer");
    assert!(
        matches!(&answer.content[0], Part::Thinking { thinking, signature: Some(_) } if thinking == "It is late.")
    );
    assert_eq!(answer.text(), "Good night.");
}

#[tokio::test]
async fn its_faults_are_understood() {
    for (fault, kind) in [
        ("--chaos-ratelimit", ErrorKind::Overloaded),
        ("--chaos-drop", ErrorKind::Provider),
        ("--chaos-disconnect", ErrorKind::Unreachable),
        ("--chaos-malformed", ErrorKind::Garbled),
    ] {
        let Some(mock) = Mock::start(&[fault, "1"]).await else { return };
        let error = ask(&mock.providers(), question("claude-sonnet-4-5")).await.0.expect_err("no answer");
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.ends_with("(tried 2 times)"), "{error}");
    }
}
