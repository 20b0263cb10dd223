//! A provider on loopback that speaks Anthropic's protocol and answers by a rule.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What a rule answers with.
pub enum Say {
    /// Parts of a message.
    Parts(Vec<Value>),
    /// Too much load, and after how many seconds to come again.
    Overloaded(u32),
}

/// A running provider. It ends with the test's process.
pub struct Provider {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    pub fn start(rule: impl Fn(&Value) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (rule, seen) = (Arc::new(rule), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (rule, seen) = (Arc::clone(&rule), Arc::clone(&seen));
                std::thread::spawn(move || answer(stream, &*rule, &seen));
            }
        });
        Self { url, asked }
    }

    /// Everything that was asked so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("unbroken").clone()
    }
}

fn answer(mut stream: TcpStream, rule: &(dyn Fn(&Value) -> Say + Send + Sync), seen: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("the same connection"));
    loop {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let question: Value = serde_json::from_slice(&body).expect("JSON");
        seen.lock().expect("unbroken").push(question.clone());
        match rule(&question) {
            Say::Parts(parts) => {
                let events = events(&parts);
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
                if write!(stream, "{head}Content-Length: {}\r\n\r\n{events}", events.len()).is_err() {
                    return;
                }
            }
            Say::Overloaded(seconds) => {
                let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Too much"}}"#;
                let head = format!("HTTP/1.1 529 Overloaded\r\nRetry-After: {seconds}\r\n");
                let kind = "Content-Type: application/json";
                if write!(stream, "{head}{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).is_err() {
                    return;
                }
            }
        }
    }
}

fn events(parts: &[Value]) -> String {
    let usage = json!({"input_tokens": 100, "output_tokens": 1});
    let start = json!({"id": "m", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage});
    let mut all = vec![json!({"type": "message_start", "message": start})];
    for (index, part) in parts.iter().enumerate() {
        let (block, delta) = if part["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": part["text"]}))
        } else {
            let block = json!({"type": "tool_use", "id": part["id"], "name": part["name"], "input": {}});
            (block, json!({"type": "input_json_delta", "partial_json": part["input"].to_string()}))
        };
        all.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    let calls = parts.iter().any(|part| part["type"] == "tool_use");
    let reason = if calls { "tool_use" } else { "end_turn" };
    all.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}}),
    );
    all.push(json!({"type": "message_stop"}));
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"));
    all.iter().map(event).collect()
}

pub fn text(words: &str) -> Say {
    Say::Parts(vec![json!({"type": "text", "text": words})])
}

pub fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": tool, "input": input})
}

/// How many answers a question has behind it.
pub fn answers(question: &Value) -> usize {
    let messages = question["messages"].as_array().expect("messages");
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

/// The tool that must be called.
pub fn must_call(question: &Value) -> &str {
    question["tool_choice"]["name"].as_str().unwrap_or_default()
}
