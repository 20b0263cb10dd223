//! Servers of tools at an address: streamable HTTP, with its sessions, its two ways to answer, and its limits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use axum::routing::any;
use futures_util::stream;
use holdpoint_agents::mcp::{Reach, Server, Session};
use holdpoint_agents::model::Secret;
use serde_json::{Value, json};

/// What the server was asked, with who asked.
type Asked = Arc<Mutex<Vec<(String, Option<String>)>>>;

fn answer(status: u16, kind: &str, body: impl Into<Body>) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", kind);
    response.header("mcp-session-id", "s1").body(body.into()).expect("a response")
}

fn endless() -> Body {
    let piece = Bytes::from(vec![b'x'; 65536]);
    Body::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
}

async fn reply(State(asked): State<Asked>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    asked.lock().expect("no panic").push((method.clone(), header("mcp-session-id")));
    if header("authorization").as_deref() != Some("Bearer secret-token") {
        return answer(401, "text/plain", "no");
    }
    let ok = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    match (method.as_str(), message["params"]["name"].as_str().unwrap_or_default()) {
        ("initialize", _) => {
            let version = message["params"]["protocolVersion"].clone();
            let about = json!({"name": "t", "version": "1"});
            let begun =
                json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about});
            answer(200, "application/json", ok(begun))
        }
        ("tools/list", _) => {
            let tools = json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]});
            answer(200, "text/event-stream", format!("event: message\ndata: {}\n\n", ok(tools)))
        }
        ("tools/call", "body") => answer(200, "application/json", endless()),
        ("tools/call", "line") => answer(200, "text/event-stream", endless()),
        ("tools/call", "elsewhere") => Response::builder()
            .status(307)
            .header("location", "http://127.0.0.1:1/")
            .body(Body::empty())
            .expect("a response"),
        ("tools/call", _) => {
            answer(200, "application/json", ok(json!({"content": [{"type": "text", "text": "hello"}]})))
        }
        (other, _) if other.starts_with("notifications/") => answer(202, "text/plain", ""),
        _ => answer(400, "text/plain", "what?"),
    }
}

async fn start() -> (Server, Asked) {
    let asked = Asked::default();
    let router = Router::new().route("/mcp", any(reply)).with_state(asked.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let token = Some(Secret::new("secret-token"));
    let (timeout, reach) = (Duration::from_secs(20), Reach::Address { url, token });
    (Server { name: "far".into(), reach, timeout, tools: None, enabled: true }, asked)
}

#[tokio::test]
async fn an_address_is_spoken_to_in_both_ways_to_answer() {
    let (server, asked) = start().await;
    let session = Session::open(&server).await.expect("it begins");
    assert_eq!(session.offer().await.expect("listed").tools[0].name, "echo");
    let said = session.call("echo", &json!({})).await;
    assert!(!said.is_error && said.content.contains("\nhello\n"), "{said:?}");
    session.close().await;
    let asked = asked.lock().expect("no panic");
    let called = asked.iter().find(|(method, _)| method == "tools/call").expect("asked");
    assert_eq!(called.1.as_deref(), Some("s1"));
}

#[tokio::test]
async fn what_has_no_end_is_cut_and_no_token_goes_elsewhere() {
    for tool in ["body", "line"] {
        let (server, _) = start().await;
        let session = Session::open(&server).await.expect("it begins");
        let said = session.call(tool, &json!({})).await;
        assert!(said.is_error && said.content.contains("said more than 16777216 bytes"), "{tool}: {said:?}");
    }
    let (server, _) = start().await;
    let session = Session::open(&server).await.expect("it begins");
    let said = session.call("elsewhere", &json!({})).await;
    assert!(said.is_error && said.content.contains("HTTP 307"), "{said:?}");
}

#[tokio::test]
async fn a_wrong_token_is_an_error_that_does_not_show_it() {
    let (mut server, _) = start().await;
    let Reach::Address { token, .. } = &mut server.reach else { panic!("an address") };
    *token = Some(Secret::new("wrong-token"));
    let error = Session::open(&server).await.map(drop).expect_err("refused").to_string();
    assert!(error.contains("401") && !error.contains("wrong-token"), "{error}");
    assert!(!format!("{server:?}").contains("wrong-token"));
}
