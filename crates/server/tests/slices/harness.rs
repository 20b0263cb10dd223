//! A server on a temporary home, and a client that speaks to it by the byte.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use holdpoint_core::{Actor, Command, HomeCommand, TokenId};
use holdpoint_engine::clock::{RandomIds, SystemClock};
use holdpoint_engine::executor::BuiltIn;
use holdpoint_engine::{Engine, Parts, PlainEvaluator};
use holdpoint_server::{App, Secret, Server};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A running server. It stops when this is dropped.
pub struct Home {
    pub engine: Engine,
    pub address: SocketAddr,
    /// A token that may do everything.
    pub admin: String,
    _stop: DropGuard,
    folder: TempDir,
}

impl Home {
    /// A new home with a server and a runner on it.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = open(&folder, true);
        let app = App::default();
        app.open(engine.clone());
        let server = Server::bind("127.0.0.1:0".parse().expect("an address")).await.expect("a free port");
        let (address, stop) = (server.address(), CancellationToken::new());
        tokio::spawn(server.run(app, stop.clone()));
        let runner = engine.clone();
        let until = stop.clone();
        tokio::spawn(async move { runner.run_until(until).await });
        let home = Self { engine, address, admin: String::new(), _stop: stop.drop_guard(), folder };
        let admin = home.token("ann", Role::Admin).await.0;
        Self { admin, ..home }
    }

    /// Another process on the same home.
    pub fn other(&self) -> Engine {
        open(&self.folder, false)
    }

    /// The file of its database.
    pub fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("db/state.db")
    }

    /// A token of a person.
    pub async fn token(&self, name: &str, role: Role) -> (String, TokenId) {
        self.issue(|secret| IssueToken::new(name, role, secret)).await
    }

    /// A token of any kind.
    pub async fn issue(&self, make: impl FnOnce(holdpoint_core::Digest) -> IssueToken) -> (String, TokenId) {
        let secret = Secret::token();
        let command = Command::Home(HomeCommand::IssueToken(make(secret.digest())));
        let issued = self.engine.submit(Actor::system(), None, command).await.expect("issued");
        (secret.reveal().to_owned(), issued.names.token.expect("a token"))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None, &[]).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body), &[]).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, Some(body), &[]).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None, &[]).await
    }

    /// A request with the admin's token and more headers.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let bearer = format!("Bearer {}", self.admin);
        let mut all = vec![("Authorization", bearer.as_str())];
        all.extend(headers);
        self.bare(method, path, body, &all).await
    }

    /// A request with a token.
    pub async fn as_holder(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.bare(method, path, body, &[("Authorization", &format!("Bearer {token}"))]).await
    }

    /// A request with these headers only.
    pub async fn bare(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        self.exchange(&self.request(method, path, body, headers)).await
    }

    /// The status of an answer, which may have no end.
    pub async fn head_of(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> u16 {
        let mut stream = TcpStream::connect(self.address).await.expect("the server listens");
        let request = self.request(method, path, body, headers);
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.expect("a status");
        String::from_utf8_lossy(&head[9..]).parse().expect("a number")
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>, headers: &[(&str, &str)]) -> String {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n").expect("text grows");
        }
        match body {
            Some(body) => {
                let body = body.to_string();
                write!(
                    request,
                    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                )
                .expect("text grows");
            }
            None => request += "\r\n",
        }
        request
    }

    /// Sends bytes as they are and reads until the server closes.
    pub async fn exchange(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.expect("the server listens");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut read = Vec::new();
        stream.read_to_end(&mut read).await.expect("an answer");
        Answer(String::from_utf8(read).expect("text"))
    }
}

fn open(folder: &TempDir, works: bool) -> Engine {
    let log = Arc::new(SqliteLog::open(&folder.path().join("db"), Options::default()).expect("a log"));
    let blobs = LocalBlobs::open(&folder.path().join("blobs"), log.clone()).expect("blobs");
    Engine::new(Parts {
        log,
        blobs: Arc::new(blobs),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        evaluator: Arc::new(PlainEvaluator),
        offers: Arc::new(holdpoint_core::facts::NothingKnown),
        executor: Arc::new(BuiltIn),
        works: works.into(),
        max_parallel: holdpoint_engine::MAX_PARALLEL,
        files: None,
    })
}

/// Everything that the server sent on a connection.
#[derive(Debug)]
pub struct Answer(pub String);

impl Answer {
    pub fn status(&self) -> u16 {
        self.0.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.0.split("\r\n\r\n").next()?.lines().skip(1);
        lines.find_map(|line| {
            line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
        })
    }

    pub fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.body()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The document of an answer with this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status(), status, "{}", self.0);
        if self.body().is_empty() { Value::Null } else { self.json() }
    }

    /// The status and the code of a refusal.
    #[track_caller]
    pub fn refusal(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.0);
        (self.status(), self.json()["code"].as_str().expect("a code").to_owned())
    }
}
