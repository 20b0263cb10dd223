//! The live stream and the list of events.

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use holdpoint_core::{Actor, Command, HomeCommand};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::definitions::pipeline;
use crate::harness::Home;

/// An open stream.
struct Stream {
    stream: TcpStream,
    read: String,
}

impl Stream {
    async fn open(home: &Home, token: &str, query: &str, last: Option<u64>) -> Self {
        let mut stream = TcpStream::connect(home.address).await.expect("the server listens");
        let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        let request = format!(
            "GET /api/stream{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{last}\r\n",
            home.address
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut opened = Self { stream, read: String::new() };
        while !opened.read.contains("\r\n\r\n") {
            assert!(opened.more().await, "{}", opened.read);
        }
        assert!(opened.read.starts_with("HTTP/1.1 200"), "{}", opened.read);
        opened
    }

    /// Reads more; false at the end.
    async fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let n = self.stream.read(&mut bytes).await.unwrap_or(0);
        self.read.push_str(std::str::from_utf8(&bytes[..n]).expect("text"));
        n > 0
    }

    /// Reads until there are so many events, and takes them.
    async fn events(&mut self, count: usize) -> Vec<Value> {
        loop {
            let found: Vec<Value> = self
                .read
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .filter_map(|data| serde_json::from_str(data).ok())
                .collect();
            if found.len() >= count {
                return found;
            }
            assert!(self.more().await, "ended after {} events", found.len());
        }
    }

    async fn ended(mut self) {
        while self.more().await {}
    }
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event_type"].as_str().expect("a type")).collect()
}

#[tokio::test]
async fn a_stream_goes_on_where_it_left_off() {
    let home = Home::start().await;
    let mut live = Stream::open(&home, &home.admin, "", None).await;
    let (id, _) = pipeline(&home, &["A", "B"]).await;
    let seen = live.events(3).await;
    assert_eq!(types(&seen), ["pipeline.created", "checkpoint.created", "checkpoint.created"]);
    let first = &seen[0];
    assert_eq!((&first["pipeline_id"], &first["actor"]["name"]), (&json!(id), &json!("ann")));
    for field in ["event_id", "timestamp", "description", "metadata", "hash", "run_id"] {
        assert!(first.get(field).is_some(), "{field}");
    }
    assert!(live.read.contains(&format!("id: {}", first["seq"])), "{}", live.read);
    // Broken off after the first event, it goes on with the second.
    let seq = first["seq"].as_u64();
    let mut again = Stream::open(&home, &home.admin, "", seq).await;
    assert_eq!(again.events(2).await, seen[1..]);
    let query = format!("?after={}", seq.expect("a position"));
    assert_eq!(Stream::open(&home, &home.admin, &query, None).await.events(2).await, seen[1..]);
    // The list says the same, newest first.
    let listed = home.get(&format!("/api/events?pipeline_id={id}")).await.expect(200);
    let listed: Vec<&Value> = listed["items"].as_array().expect("items").iter().rev().collect();
    assert_eq!(listed, seen.iter().collect::<Vec<_>>());
    let refused = home.send("GET", "/api/stream", None, &[("Last-Event-ID", "x")]).await;
    assert_eq!(refused.refusal(), (400, "bad_query".to_owned()));
}

#[tokio::test]
async fn a_stream_shows_what_is_wanted_and_may_be_seen() {
    let home = Home::start().await;
    let ((mine, _), (other, _)) = (pipeline(&home, &["A"]).await, pipeline(&home, &["B"]).await);
    let scope = vec![mine.parse().expect("an id")];
    let bob = |secret| IssueToken { pipelines: scope, ..IssueToken::new("bob", Role::Operator, secret) };
    let (token, _) = home.issue(bob).await;
    let run = home.post("/api/runs", &json!({"pipeline_id": mine})).await.expect(201);
    home.post("/api/runs", &json!({"pipeline_id": other})).await.expect(201);
    let of =
        |events: &[Value], name: &str| events.iter().map(|event| event[name].clone()).collect::<Vec<_>>();

    let mut scoped = Stream::open(&home, &token, "?after=0", None).await;
    let seen = scoped.events(5).await;
    assert!(of(&seen, "pipeline_id").iter().all(|id| *id == mine), "{seen:?}");
    let mut of_run = Stream::open(
        &home,
        &home.admin,
        &format!("?after=0&run_id={}", run["run_id"].as_str().unwrap()),
        None,
    )
    .await;
    let seen = of_run.events(3).await;
    assert!(of(&seen, "run_id").iter().all(|id| *id == run["run_id"]), "{seen:?}");
    assert_eq!(types(&seen)[..2], ["run.created", "run.started"]);
    let execution = run["current_execution"]["execution_id"].as_str().expect("an execution");
    let mut of_execution =
        Stream::open(&home, &home.admin, &format!("?after=0&execution_id={execution}"), None).await;
    let seen = of_execution.events(2).await;
    assert!(of(&seen, "execution_id").iter().all(|id| *id == execution), "{seen:?}");
}

#[tokio::test]
async fn a_stream_ends_after_its_token_was_withdrawn() {
    let home = Home::start().await;
    let (token, id) = home.token("bob", Role::Viewer).await;
    let live = Stream::open(&home, &token, "", None).await;
    let revoke = Command::Home(HomeCommand::RevokeToken(id));
    home.other().submit(Actor::system(), None, revoke).await.expect("revoked");
    live.ended().await;
}

#[tokio::test]
async fn the_documented_table_tells_of_the_same_events() {
    let home = Home::start().await;
    let (id, _) = pipeline(&home, &["A"]).await;
    home.post("/api/runs", &json!({"pipeline_id": id})).await.expect(201);
    let listed = home.get("/api/events?limit=500").await.expect(200);
    let of = |event: &Value| ["event_id", "event_type"].map(|name| event[name].as_str().unwrap().to_owned());
    let shown: Vec<_> = listed["items"].as_array().expect("items").iter().rev().map(of).collect();
    let table = rusqlite::Connection::open(home.database()).expect("the database");
    let mut rows = table.prepare("SELECT event_id, event_type FROM events").expect("the table");
    let rows = rows.query_map([], |row| Ok([row.get(0)?, row.get(1)?])).expect("rows");
    let rows: Vec<[String; 2]> = rows.collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows, shown);
}

#[tokio::test]
async fn figures_are_told_in_the_text_format() {
    let home = Home::start().await;
    let live = Stream::open(&home, &home.admin, "", None).await;
    pipeline(&home, &[]).await;
    home.get("/api/pipelines/nothing").await.expect(404);
    let text = home.get("/metrics").await.body().to_owned();
    for line in [
        "holdpoint_streams_open 1",
        "holdpoint_http_requests_total{method=\"POST\",route=\"/api/pipelines\",status=\"201\"} 1",
        "holdpoint_http_requests_total{method=\"GET\",route=\"/api/pipelines/{id}\",status=\"404\"} 1",
    ] {
        assert!(text.lines().any(|each| each == line), "{line} in {text}");
    }
    drop(live);
}
