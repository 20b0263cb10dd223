//! A small provider on the loopback device that answers with exactly the bytes that a test wants, and keeps
//! what it was sent.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use holdpoint_agents::model::{
    Answer, Delays, Delta, Message, Model, ModelError, Provider, Providers, Question, Secret, Settings,
    ToolSpec,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// One answer of the server.
#[derive(Clone)]
pub enum Reply {
    /// A stream of pieces that ends well.
    Stream(Vec<Bytes>),
    /// A stream whose connection breaks after these pieces.
    Broken(Vec<Bytes>),
    /// A stream that says no more after these pieces.
    Hangs(Vec<Bytes>),
    /// A status with one piece over and over, so many times.
    Many(u16, Bytes, usize),
    /// A status with a header and a body.
    Status(u16, Option<(&'static str, String)>, String),
}

impl Reply {
    pub fn stream(pieces: &[&str]) -> Self {
        Self::Stream(bytes(pieces))
    }
}

pub fn bytes(pieces: &[&str]) -> Vec<Bytes> {
    pieces.iter().map(|piece| Bytes::from((*piece).to_owned())).collect()
}

/// What the server was sent.
#[derive(Clone, Debug)]
pub struct Seen {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

pub struct Server {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Seen>>,
    dropped: Notify,
}

impl Server {
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let shared = Arc::new(Shared {
            replies: Mutex::new(replies.into_iter().collect()),
            seen: Mutex::default(),
            dropped: Notify::new(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let app = Router::new().fallback(answer).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, shared }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("nobody panicked").clone()
    }

    /// Waits until somebody went away from an answer that hangs.
    pub async fn dropped(&self) {
        tokio::time::timeout(Duration::from_secs(10), self.shared.dropped.notified())
            .await
            .expect("the request is given up");
    }

    /// Settings with this server as every provider, and short waits.
    pub fn settings(&self) -> Settings {
        let provider = Provider { base_url: Some(self.url.clone()), api_key: Some(Secret::new("sk-secret")) };
        let names = ["anthropic", "openai", "gemini", "ollama", "local"];
        Settings {
            providers: names.iter().map(|name| ((*name).to_owned(), provider.clone())).collect(),
            call_timeout: Duration::from_secs(10),
            delays: Delays {
                first: Duration::from_millis(1),
                longest: Duration::from_millis(5),
                longest_told: Duration::from_secs(5),
            },
            ..Settings::default()
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().to_string();
    let headers = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    let body = axum::body::to_bytes(request.into_body(), 64 << 20).await.expect("it is small");
    let body = serde_json::from_slice(&body).unwrap_or_default();
    shared.seen.lock().expect("nobody panicked").push(Seen { path, headers, body });
    let reply = shared.replies.lock().expect("nobody panicked").pop_front();
    match reply.expect("a test says as many replies as there are calls") {
        Reply::Stream(pieces) => sse(Body::from_stream(stream::iter(pieces).map(Ok::<_, io::Error>))),
        Reply::Broken(pieces) => {
            // What waits to be written is written when nothing more is there at once.
            let end = stream::once(async {
                tokio::task::yield_now().await;
                Err(io::Error::other("gone"))
            });
            sse(Body::from_stream(stream::iter(pieces).map(Ok).chain(end)))
        }
        Reply::Hangs(pieces) => {
            let guard = Gone(shared.clone());
            let end = stream::once(async move {
                let _guard = guard;
                std::future::pending::<Result<Bytes, io::Error>>().await
            });
            sse(Body::from_stream(stream::iter(pieces).map(Ok).chain(end)))
        }
        Reply::Many(status, piece, times) => {
            let pieces = stream::iter(std::iter::repeat_n(piece, times)).map(Ok::<_, io::Error>);
            let status = StatusCode::from_u16(status).expect("a status");
            (status, sse(Body::from_stream(pieces))).into_response()
        }
        Reply::Status(status, header, body) => {
            let status = StatusCode::from_u16(status).expect("a status");
            match header {
                Some(header) => (status, [header], body).into_response(),
                None => (status, body).into_response(),
            }
        }
    }
}

fn sse(body: Body) -> Response {
    ([("content-type", "text/event-stream")], body).into_response()
}

struct Gone(Arc<Shared>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// One event of Anthropic's.
pub fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// Events of Anthropic's around some blocks, each with its pieces.
pub fn message(blocks: &[(Value, Vec<Value>)], stop: &str) -> String {
    let mut text = start();
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        text += &event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            text += &event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        text += &event(&json!({"type": "content_block_stop", "index": index}));
    }
    text += &event(
        &json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}}),
    );
    text + &event(&json!({"type": "message_stop"}))
}

pub fn start() -> String {
    event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 1,
            "cache_creation_input_tokens": 200, "cache_read_input_tokens": 1000},
    }}))
}

pub fn text_block(pieces: &[&str]) -> (Value, Vec<Value>) {
    let deltas = pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
    (json!({"type": "text", "text": ""}), deltas)
}

pub fn tool_block(id: &str, name: &str, pieces: &[&str]) -> (Value, Vec<Value>) {
    let deltas =
        pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
    (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
}

/// A whole answer that says hello.
pub fn hello() -> Reply {
    Reply::stream(&[&message(&[text_block(&["Hel", "lo."])], "end_turn")])
}

pub fn question(model: &str) -> Question {
    Question {
        model: model.to_owned(),
        system: vec!["You are terse.".to_owned(), "Today it rains.".to_owned()],
        messages: vec![Message::user("How warm is it?")],
        tools: vec![ToolSpec {
            name: "weather".to_owned(),
            description: "Tells the weather.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
        }],
        web_search: false,
        must_call: None,
        max_tokens: 500,
        temperature: Some(0.25),
    }
}

/// Asks, and gives back what was said as well; how long was waited is told to whoever asks by themselves.
pub async fn ask(model: &dyn Model, question: Question) -> (Result<Answer, ModelError>, Vec<Delta>) {
    let heard = Mutex::new(Vec::new());
    let told = |delta| heard.lock().expect("nobody panicked").push(delta);
    let answered = model.ask(question, &told).await;
    let heard = heard.into_inner().expect("nobody panicked").into_iter();
    (answered, heard.filter(|delta| !matches!(delta, Delta::Waits { .. })).collect())
}

/// Asks a server of Anthropic's kind.
pub async fn ask_claude(server: &Server) -> (Result<Answer, ModelError>, Vec<Delta>) {
    ask(&Providers::new(server.settings()), question("claude-sonnet-4-5")).await
}
