//! The server over real loopback sockets, spoken to by the byte.

mod guard;
mod shutdown;
mod wire;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{App, Limits, Server, Stopped};

/// A limit that a test waits for.
const SOON: Duration = Duration::from_millis(50);

/// A server in the background.
struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<Stopped>,
}

impl Running {
    async fn start() -> Self {
        Self::start_with(App::default(), Router::new(), Limits::default()).await
    }

    async fn start_with(app: App, more: Router<App>, limits: Limits) -> Self {
        let free = "127.0.0.1:0".parse().expect("an address");
        let server = Server::bind(free).await.expect("a free port").with_limits(limits);
        let (address, stop) = (server.address(), CancellationToken::new());
        let task = tokio::spawn(server.run_with(app, more, stop.clone()));
        Self { address, stop, task }
    }

    async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.expect("the server listens"))
    }

    /// Sends bytes on a connection of their own and reads until the server closes it. `PORT` in the text is
    /// replaced by the server's port.
    async fn exchange(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut client = self.connect().await;
        client.send(self.with_port(request.as_ref())).await;
        client.answer().await
    }

    async fn get(&self, path: &str) -> Answer {
        self.exchange(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).await
    }

    async fn post(&self, path: &str, headers: &str, body: &str) -> Answer {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}");
        self.exchange(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())).await
    }

    fn with_port(&self, request: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(request) {
            Ok(text) => text.replace("PORT", &self.address.port().to_string()).into_bytes(),
            Err(_) => request.to_vec(),
        }
    }

    async fn stopped(self) -> Stopped {
        self.stop.cancel();
        self.task.await.expect("the server does not panic")
    }
}

struct Client(TcpStream);

impl Client {
    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have answered and closed before it has read everything.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads until this text has arrived.
    async fn read_until(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains(text) {
            assert!(self.0.read_buf(&mut read).await.expect("readable") > 0, "ended before `{text}`");
        }
        String::from_utf8(read).expect("text")
    }

    /// Reads until the server closes the connection.
    async fn answer(mut self) -> Answer {
        let mut read = Vec::new();
        // A reset after the answer is the server's way to refuse the rest of a request.
        while self.0.read_buf(&mut read).await.is_ok_and(|bytes| bytes > 0) {}
        Answer(String::from_utf8(read).expect("text"))
    }
}

/// Everything that the server sent on a connection.
#[derive(Debug)]
struct Answer(String);

impl Answer {
    fn status(&self) -> u16 {
        self.0.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.split("\r\n\r\n").next()?.lines().skip(1);
        lines.find_map(|line| {
            line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
        })
    }

    fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.body()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a problem, after checking that it is a whole one.
    fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        for field in ["type", "title", "detail", "hint"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {problem}");
        }
        assert_eq!(problem["status"], self.status());
        problem["code"].as_str().expect("a code").to_owned()
    }
}
