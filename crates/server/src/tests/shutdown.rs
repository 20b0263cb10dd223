//! How the server stops: nothing new, what has begun comes to its end, and nobody is waited for too long.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::get;
use futures_util::{StreamExt, stream};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::{Running, SOON};
use crate::routes::health;
use crate::{App, Limits, ListenError, Server, Stopped};

fn get_request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

#[tokio::test]
async fn idle_connections_are_closed_and_the_port_is_free() {
    let server = Running::start().await;
    let mut idle = server.connect().await;
    idle.send(get_request("/livez")).await;
    idle.read_until("ok").await;
    let address = server.address;
    assert_eq!(server.stopped().await, Stopped::Drained);
    assert_eq!(idle.answer().await.0, "");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_request_that_has_begun_is_answered() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (begun, go_on) = (Arc::clone(&begun), Arc::clone(&go_on));
        move || async move {
            begun.notify_one();
            go_on.notified().await;
            axum::Json("done")
        }
    };
    let more = Router::new().route("/test/wait", get(handler));
    let server = Running::start_with(App::default(), more, Limits::default()).await;
    let mut client = server.connect().await;
    client.send(get_request("/test/wait")).await;
    begun.notified().await;
    server.stop.cancel();
    go_on.notify_one();
    assert_eq!(client.answer().await.body(), r#""done""#);
    assert_eq!(server.stopped().await, Stopped::Drained);
}

#[tokio::test]
async fn an_open_stream_is_ended() {
    async fn endless(State(app): State<App>) -> Body {
        let stopping = app.stopping().clone().cancelled_owned();
        let first = stream::once(async { Ok::<_, Infallible>("first\n") });
        Body::from_stream(first.chain(stream::pending()).take_until(stopping))
    }
    let more = Router::new().route("/test/stream", get(endless));
    let server = Running::start_with(App::default(), more, Limits::default()).await;
    let mut client = server.connect().await;
    client.send(get_request("/test/stream")).await;
    client.read_until("first\n").await;
    assert_eq!(server.stopped().await, Stopped::Drained);
    // The last chunk says that the stream is whole.
    assert!(client.answer().await.0.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut() {
    let begun = Arc::new(Notify::new());
    let handler = {
        let begun = Arc::clone(&begun);
        move || async move {
            begun.notify_one();
            std::future::pending::<()>().await;
        }
    };
    let more = Router::new().route("/test/stuck", get(handler));
    let limits = Limits { drain: SOON, ..Limits::default() };
    let server = Running::start_with(App::default(), more, limits).await;
    let mut client = server.connect().await;
    client.send(get_request("/test/stuck")).await;
    begun.notified().await;
    assert_eq!(server.stopped().await, Stopped::Cut(1));
    assert_eq!(client.answer().await.0, "");
}

#[tokio::test]
async fn a_stopping_server_is_not_ready() {
    let app = App::default();
    assert!(health::ready(State(app.clone())).await.is_ok());
    app.stopping().cancel();
    assert_eq!(health::ready(State(app)).await.expect_err("stopping").code(), "not_ready");
}

#[tokio::test]
async fn more_connections_than_allowed_wait_for_a_place() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = Running::start_with(App::default(), Router::new(), limits).await;
    let mut first = server.connect().await;
    first.send(get_request("/livez")).await;
    first.read_until("ok").await;
    let mut second = server.connect().await;
    second.send(get_request("/livez")).await;
    drop(first);
    second.read_until("ok").await;
}

#[tokio::test]
async fn two_servers_cannot_have_one_port() {
    let server = Running::start().await;
    let same = server.address.to_string().parse().expect("an address");
    let error = Server::bind(same).await.expect_err("in use");
    assert!(matches!(error, ListenError::InUse { address } if address == server.address));
}
