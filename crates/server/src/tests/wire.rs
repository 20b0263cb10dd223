//! What the wire sees: answers, problems, limits, and clients that do not keep to the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::routing::{get, post};
use expect_test::{Expect, expect};
use serde::Deserialize;

use super::{Running, SOON};
use crate::{App, Json, Limits, NotReady, Path, Query};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    #[serde(default)]
    parts: Vec<u8>,
}

/// Handlers as others will write them, and one with a mistake.
fn handlers() -> Router<App> {
    Router::new()
        .route(
            "/test/body",
            post(|Json(wanted): Json<Wanted>| async move {
                axum::Json(wanted.name + &"!".repeat(wanted.parts.len()))
            }),
        )
        .route("/test/query", get(|Query(wanted): Query<Wanted>| async move { axum::Json(wanted.name) }))
        .route("/test/{number}", get(|Path(number): Path<u8>| async move { axum::Json(number) }))
        .route("/test/mistake", get(async || -> axum::Json<()> { panic!("on purpose") }))
}

async fn start() -> Running {
    let limits = Limits { body_bytes: 1000, body_pause: SOON, head: SOON, ..Limits::default() };
    Running::start_with(App::default(), handlers(), limits).await
}

fn check(answer: &super::Answer, expected: &Expect) {
    let body = answer.0.split("\r\n").filter(|line| !line.starts_with("date: ")).collect::<Vec<_>>();
    expected.assert_eq(&body.join("\n"));
}

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn health_is_told_with_the_version() {
    let server = Running::start().await;
    check(
        &server.get("/api/health").await,
        &expect![[r#"
            HTTP/1.1 200 OK
            content-type: application/json
            x-frame-options: DENY
            content-security-policy: frame-ancestors 'none'; default-src 'none'
            x-content-type-options: nosniff
            cache-control: no-store
            referrer-policy: no-referrer
            content-length: 33
            connection: close

            {"status":"ok","version":"0.1.0"}"#]],
    );
    assert_eq!(server.get("/livez").await.body(), r#"{"status":"ok"}"#);
    assert_eq!(server.get("/readyz").await.body(), r#"{"status":"ready"}"#);
}

#[tokio::test]
async fn readiness_follows_what_stands_behind() {
    let up = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&up);
    let health = move || {
        let missing = || NotReady { reason: "the store is being opened".to_owned() };
        if seen.load(Ordering::SeqCst) { Ok(()) } else { Err(missing()) }
    };
    let server = Running::start_with(App::new(health), Router::new(), Limits::default()).await;
    let answer = server.get("/readyz").await;
    assert_eq!((answer.status(), answer.code().as_str()), (503, "not_ready"));
    assert_eq!(answer.json()["detail"], "the store is being opened");
    assert_eq!(server.get("/livez").await.status(), 200);
    up.store(true, Ordering::SeqCst);
    assert_eq!(server.get("/readyz").await.status(), 200);
}

#[tokio::test]
async fn readiness_says_that_streams_are_damaged() {
    struct Hurt;
    impl crate::Health for Hurt {
        fn ready(&self) -> futures_util::future::BoxFuture<'_, Result<(), NotReady>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn damaged(&self) -> usize {
            2
        }
    }
    let server = Running::start_with(App::new(Hurt), Router::new(), Limits::default()).await;
    let answer = server.get("/readyz").await;
    assert_eq!((answer.status(), answer.body()), (200, r#"{"status":"ready","damaged_streams":2}"#));
}

#[tokio::test]
async fn a_head_is_answered_like_a_get_without_the_body() {
    let server = start().await;
    for (path, status) in [("/api/health", 200), ("/livez", 200), ("/readyz", 200), ("/nothing", 404)] {
        let request = format!("HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = server.exchange(request).await;
        assert_eq!((answer.status(), answer.body()), (status, ""), "{path}");
        let length = server.get(path).await.body().len().to_string();
        assert_eq!(answer.header("content-length"), Some(length.as_str()), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_problem() {
    let server = start().await;
    check(
        &server.get("/nothing?secret=1").await,
        &expect![[r#"
            HTTP/1.1 404 Not Found
            content-type: application/problem+json
            x-frame-options: DENY
            content-security-policy: frame-ancestors 'none'; default-src 'none'
            x-content-type-options: nosniff
            cache-control: no-store
            referrer-policy: no-referrer
            content-length: 178
            connection: close

            {"type":"urn:holdpoint:problem:not_found","title":"Not found","status":404,"code":"not_found","detail":"there is nothing at `/nothing`","hint":"check the path for typing errors"}"#]],
    );
    for path in
        ["//", "/nowhere", "/inbox/x", "//api/health", "/API/health", "/livez/x", "/%2e%2e/livez", "/apis"]
    {
        assert_eq!(server.get(path).await.code(), "not_found", "{path}");
    }
    // Under `/api` only those hear it who may know what is there.
    for path in ["/api", "/api/", "/api/health/", "/api/nothing", "/api/%2e%2e/livez"] {
        assert_eq!(server.get(path).await.code(), "unauthenticated", "{path}");
    }
}

#[tokio::test]
async fn the_console_answers_at_its_own_addresses() {
    let server = start().await;
    for path in ["/", "/inbox", "/runs/any/rollback", "/pipelines/any/edit", "/compare?a=1&b=2"] {
        let answer = server.get(path).await;
        let page =
            answer.0.contains("content-type: text/html") && answer.0.contains("frame-ancestors 'none'");
        assert!(answer.status() == 200 && page, "{path}: {answer:?}");
    }
    // A browser that is led astray gets the page, which says so and leads on.
    let look = |path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,*/*;q=0.8\r\nConnection: close\r\n\r\n"
        )
    };
    let astray = server.exchange(look("/inboxx")).await;
    assert!(astray.status() == 404 && astray.0.contains("content-type: text/html"), "{astray:?}");
    assert_eq!(server.exchange(look("/api/nothing")).await.code(), "unauthenticated");
    for path in ["/assets/none.js", "/assets/%2e%2e/index.html", "/assets/../index.html"] {
        assert_eq!(server.get(path).await.code(), "not_found", "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_is_a_problem_that_names_the_right_ones() {
    let server = start().await;
    for path in ["/api/health", "/livez", "/readyz"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let answer = server.exchange(request).await;
            assert_eq!((answer.status(), answer.code().as_str()), (405, "method_not_allowed"), "{method}");
            assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn what_does_not_fit_a_handler_is_a_problem() {
    let server = start().await;
    let post = async |headers: &str, body: &str| {
        let answer = server.post("/test/body", headers, body).await;
        if answer.status() == 200 { answer.body().to_owned() } else { answer.code() }
    };
    assert_eq!(post(JSON, r#"{"name":"a","parts":[1,2]}"#).await, r#""a!!""#);
    assert_eq!(post("Content-Type: Application/JSON; charset=utf-8\r\n", r#"{"name":"a"}"#).await, r#""a""#);
    for headers in ["", "Content-Type: text/plain\r\n", "Content-Type: application/jsonx\r\n"] {
        assert_eq!(post(headers, r#"{"name":"a"}"#).await, "unsupported_media_type", "{headers:?}");
    }
    for body in ["", "{", "nonsense", r#"{"name":"a"} x"#, "{\"name\":\"a\u{0}\"}"] {
        assert_eq!(post(JSON, body).await, "malformed_json", "{body:?}");
    }
    for body in ["{}", "[]", "null", r#"{"name":1}"#, r#"{"name":"a","b":1}"#, r#"{"name":"a","name":"b"}"#] {
        assert_eq!(post(JSON, body).await, "invalid_fields", "{body:?}");
    }
    let answer = server.post("/test/body", JSON, r#"{"name":"a","parts":[1,300]}"#).await;
    expect![[r#"[{"pointer":"/parts/1","message":"a whole number from 0 is expected, not integer `300`"}]"#]]
        .assert_eq(&answer.json()["errors"].to_string());

    assert_eq!(server.get("/test/query?name=a").await.body(), r#""a""#);
    for query in ["", "?", "?nam=a", "?name=a&name=b"] {
        assert_eq!(server.get(&format!("/test/query{query}")).await.code(), "bad_query", "{query:?}");
    }
    assert_eq!(server.get("/test/7").await.body(), "7");
    for number in ["x", "-1", "256", "%20"] {
        assert_eq!(server.get(&format!("/test/{number}")).await.code(), "not_found", "{number}");
    }
    assert_eq!(server.get("/test/%ff").await.code(), "bad_path");
    let answer = server.post("/test/body", JSON, r#"{"nme":"a"}"#).await;
    expect![[r#"[{"pointer":"/nme","message":"unknown key `nme`; did you mean `name`?"}]"#]]
        .assert_eq(&answer.json()["errors"].to_string());
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let server = start().await;
    let name = |length: usize| format!(r#"{{"name":"{}"}}"#, "a".repeat(length - 11));
    assert_eq!(server.post("/test/body", JSON, &name(1000)).await.status(), 200);
    let answer = server.post("/test/body", JSON, &name(1001)).await;
    assert_eq!((answer.status(), answer.code().as_str()), (413, "body_too_large"));
    // Also where nobody reads it, and however large it claims to be.
    for path in ["/api/health", "/nothing"] {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n");
        assert_eq!(server.exchange(head).await.code(), "body_too_large", "{path}");
    }
    // Without an announced size it is counted.
    let head = format!("POST /test/body HTTP/1.1\r\nHost: localhost\r\n{JSON}Connection: close\r\n");
    let chunked = |body: &str| {
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
    };
    assert_eq!(server.exchange(chunked(&name(1000))).await.status(), 200);
    assert_eq!(server.exchange(chunked(&name(1001))).await.code(), "body_too_large");
}

#[tokio::test]
async fn a_mistake_fails_its_own_request_only() {
    let server = start().await;
    let answer = server.get("/test/mistake").await;
    assert_eq!((answer.status(), answer.code().as_str()), (500, "internal_error"));
    assert!(!answer.0.contains("on purpose"), "{answer:?}");
    assert_eq!(server.get("/livez").await.status(), 200);
}

#[tokio::test]
async fn nonsense_is_refused_without_a_body() {
    let server = start().await;
    let cases: [(&[u8], u16); 9] = [
        (b"nonsense\r\n\r\n", 400),
        (b"\r\n\r\n\r\n ", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET /livez HTTP/9.9\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /li vez HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /livez HTTP/1.1\r\nHost localhost\r\n\r\n", 400),
        (b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET \xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ];
    for (bytes, status) in cases {
        let answer = server.exchange(bytes).await;
        assert_eq!((answer.status(), answer.body()), (status, ""), "{}", bytes.escape_ascii());
    }
    let long = format!("GET /livez HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    let answer = server.exchange(long).await;
    // Closing with bytes unread resets the connection, which may overtake the answer.
    assert!(matches!((answer.status(), answer.body()), (431 | 0, "")), "{answer:?}");
    assert_eq!(server.get("/livez").await.status(), 200);
}

#[tokio::test]
async fn an_old_client_is_answered() {
    let server = start().await;
    let answer = server.exchange("GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n").await;
    assert_eq!((answer.status(), answer.body()), (200, r#"{"status":"ok"}"#));
    assert_eq!(server.exchange("GET /livez HTTP/1.0\r\n\r\n").await.code(), "host_not_allowed");
}

#[tokio::test]
async fn a_slow_client_is_not_waited_for() {
    let server = start().await;
    // Nothing at all, half a head, and nothing after an answered request: the connection is closed.
    for sent in ["", "GET /livez HTT", "GET /livez HTTP/1.1\r\nHost: localhost\r\n"] {
        let answer = server.exchange(sent).await;
        assert!(matches!(answer.status(), 0 | 408), "{sent:?}: {answer:?}");
    }
    let answer = server.exchange("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(answer.status(), 200);
    // Half a body: the request is refused.
    let half =
        format!("POST /test/body HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 12\r\n\r\n{{\"na");
    let answer = server.exchange(half).await;
    assert_eq!(answer.code(), "body_unreadable");
    expect![[r#""the body could not be read: nothing of the body arrived for 50ms""#]]
        .assert_eq(&answer.json()["detail"].to_string());
}

#[tokio::test]
async fn who_says_nothing_keeps_nobody_out() {
    let limits = Limits { connections: 4, ..Limits::default() };
    let (begun, go) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let (beginning, going) = (begun.clone(), go.clone());
    let slow = get(move || async move {
        beginning.notify_one();
        going.notified().await;
        axum::Json("at last")
    });
    let server = Running::start_with(App::default(), Router::new().route("/test/slow", slow), limits).await;
    let mut asked = server.connect().await;
    asked.send("GET /test/slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    begun.notified().await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(server.connect().await);
        assert_eq!(server.get("/livez").await.status(), 200);
    }
    // The first of them was closed; who is being answered was not.
    assert_eq!(silent.remove(0).answer().await.0, "");
    go.notify_one();
    assert_eq!(asked.answer().await.body(), "\"at last\"");
}

#[tokio::test]
async fn who_sends_a_body_slowly_keeps_nobody_out() {
    let limits = Limits { connections: 4, ..Limits::default() };
    let server = Running::start_with(App::default(), Router::new(), limits).await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut client = server.connect().await;
        client
            .send(format!(
                "POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: 90\r\n\r\n{{"
            ))
            .await;
        slow.push(client);
        assert_eq!(server.get("/livez").await.status(), 200);
    }
    // The first of them was cut off.
    assert_eq!(slow.remove(0).answer().await.0, "");
}
