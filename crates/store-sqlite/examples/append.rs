//! Measures what a durable append costs beside a bare commit of one row, both on this disk and in one run.
//! The first round does not count: until its first checkpoint a WAL grows, which is slower.
//!
//! `cargo run --release -p holdpoint-store-sqlite --example append [folder]`

#![allow(clippy::print_stdout, reason = "its only purpose is to print")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_core::chain::{Header, link};
use holdpoint_core::rows::{Op, RowChange, Table};
use holdpoint_core::{Actor, CommandId, Digest, RunId, SessionId, StreamId, Timestamp, Version};
use holdpoint_store::{Append, EventLog as _, NewRow, WorkChange};
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;
use uuid::Uuid;

const ROUNDS: usize = 5;
const STEPS: usize = 3_000;
const TASKS: u64 = 64;
const STEPS_OF_TASK: usize = 2_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let home = match std::env::args().nth(1) {
        Some(dir) => tempfile::tempdir_in(dir),
        None => tempfile::tempdir_in("."),
    }
    .expect("a folder");
    let log = Arc::new(SqliteLog::open(&home.path().join("db"), Options::default()).expect("a log"));
    let bare = bare(&home.path().join("bare.db"));
    let mut run = Run::new(1);
    log.append(run.begin()).await.expect("the run begins");
    let pages = pages(home.path());

    for round in 0..ROUNDS {
        let mut plain = Vec::with_capacity(STEPS);
        let mut durable = Vec::with_capacity(STEPS);
        for n in 0..STEPS {
            let start = Instant::now();
            bare.prepare_cached("INSERT INTO bare(bytes) VALUES(?)")
                .and_then(|mut insert| insert.execute([vec![b'x'; 300]]))
                .expect("a bare commit");
            plain.push(start.elapsed());
            if n % 100 == 99 {
                for _ in 0..100 {
                    let step = run.step();
                    let start = Instant::now();
                    log.append(step).await.expect("an append");
                    durable.push(start.elapsed());
                }
            }
        }
        let (a, b) = (spread(&mut plain), spread(&mut durable));
        println!(
            "round {round}: bare p50 {:?} p99 {:?}; append p50 {:?} p99 {:?}; ratio of p50 {:.2}",
            a.0,
            a.1,
            b.0,
            b.1,
            b.0.as_secs_f64() / a.0.as_secs_f64()
        );
    }
    let grown = (self::pages(home.path()) - pages) * 4096;
    println!("database growth: {} bytes an append (one run)", grown / (ROUNDS * STEPS) as i64);
    parts(home.path());
    together(&log, home.path()).await;
}

async fn together(log: &Arc<SqliteLog>, home: &Path) {
    let before = pages(home);
    let start = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let log = Arc::clone(log);
            tokio::spawn(async move {
                let mut run = Run::new(task + 2);
                log.append(run.begin()).await.expect("the run begins");
                for _ in 0..STEPS_OF_TASK {
                    log.append(run.step()).await.expect("an append");
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("the task ends");
    }
    let (took, count) = (start.elapsed(), TASKS as usize * STEPS_OF_TASK);
    let grown = (pages(home) - before) * 4096 / count as i64;
    let wal = std::fs::metadata(home.join("db/state.db-wal")).map_or(0, |wal| wal.len());
    println!(
        "{TASKS} tasks: {:.0} appends/s; growth {grown} bytes an append; WAL {:.1} MiB",
        count as f64 / took.as_secs_f64(),
        wal as f64 / 1_048_576.0
    );
}

fn bare(file: &Path) -> Connection {
    let conn = Connection::open(file).expect("a file");
    conn.pragma_update(None, "journal_mode", "wal").expect("WAL");
    conn.pragma_update(None, "synchronous", 2).expect("FULL");
    conn.pragma_update(None, "wal_autocheckpoint", 4000).expect("a long WAL");
    conn.execute_batch("CREATE TABLE bare(n INTEGER PRIMARY KEY, bytes BLOB)").expect("a table");
    conn
}

/// Where the bytes are; needs an SQLite that was built to tell.
fn parts(home: &Path) {
    let conn = Connection::open(home.join("db/state.db")).expect("the file");
    let sql = "SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 6";
    let Ok(mut statement) = conn.prepare(sql) else { return };
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)));
    for (name, size, unused) in rows.expect("an answer").flatten() {
        let each = |bytes: i64| bytes as f64 / (ROUNDS * STEPS) as f64;
        println!("  {name}: {:.1} bytes an append, {:.1} of them unused", each(size), each(unused));
    }
}

fn pages(home: &Path) -> i64 {
    let conn = Connection::open(home.join("db/state.db")).expect("the file");
    conn.pragma_query_value(None, "page_count", |row| row.get(0)).expect("a count")
}

fn spread(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// A run that takes step after step.
struct Run {
    id: Uuid,
    version: u64,
    hash: Digest,
    step: u32,
    /// The version of the event that made the present execution, which names its row.
    row: u32,
}

impl Run {
    fn new(n: u64) -> Self {
        let id = Uuid::from_u128(
            0x0190_0000_0000_7000_8000_0000_0000_0000 | (u128::from(n) << 80) | u128::from(n),
        );
        Self { id, version: 0, hash: Digest::ZERO, step: 0, row: 0 }
    }

    fn begin(&mut self) -> Append {
        let put = RowChange {
            table: Table::Run,
            op: Op::Put(
                0,
                vec![
                    ("id", self.id.into()),
                    ("family", RunId(self.id).family().into()),
                    ("base", RunId(self.id).base().into()),
                    ("session", self.id.into()),
                    ("kind", "pipeline".into()),
                    ("status", "in_progress".into()),
                    ("total", 100u32.into()),
                    ("created_at", Timestamp(1_790_000_000_000_000).into()),
                ],
            ),
        };
        let work = WorkChange { run: RunId(self.id), due: Some(Timestamp(0)), take: true };
        let changes = vec![vec![put], vec![self.execution()]];
        Append { work: vec![work], ..self.append("run_started,step_scheduled", changes) }
    }

    fn step(&mut self) -> Append {
        let at = Timestamp(1_790_000_000_000_000 + i64::from(self.step) * 1_000);
        let cells = vec![("status", "completed".into()), ("completed_at", at.into())];
        let done = RowChange { table: Table::Execution, op: Op::Patch(self.row, cells) };
        let changes = vec![vec![done], vec![self.execution()]];
        let work = WorkChange { run: RunId(self.id), due: Some(Timestamp(0)), take: true };
        Append { work: vec![work], ..self.append("step_completed,step_scheduled", changes) }
    }

    fn execution(&mut self) -> RowChange {
        self.step += 1;
        // The second event of its command makes it.
        self.row = self.version as u32 + 2;
        RowChange {
            table: Table::Execution,
            op: Op::Put(
                self.row,
                vec![
                    ("x", self.step.into()),
                    ("step", format!("s{}", self.step % 100).as_str().into()),
                    ("position", (self.step % 100).into()),
                    ("status", "pending".into()),
                    ("attempt", 1u32.into()),
                    ("max_attempts", 3u32.into()),
                    ("created_at", Timestamp(1_790_000_000_000_000 + i64::from(self.step)).into()),
                ],
            ),
        }
    }

    fn append(&mut self, shape: &str, changes: Vec<Vec<RowChange>>) -> Append {
        let stream = StreamId::Run(RunId(self.id));
        let body = "a".repeat(84);
        let event = |kind: &str| format!(r#"{{"{kind}":{{"x":{},"out":"{body}"}}}}"#, self.step);
        let bytes = format!("[{}]", shape.split(',').map(event).collect::<Vec<_>>().join(",")).into_bytes();
        let header = Header {
            stream,
            first: Version(self.version + 1),
            count: changes.len() as u32,
            at: Timestamp(1_790_000_000_000_000 + self.version as i64),
            actor: &Actor::system(),
            command: CommandId(Uuid::from_u128(self.id.as_u128() ^ (u128::from(self.version) << 64))),
        };
        let hash = link(self.hash, &header, &bytes);
        let row = NewRow {
            stream,
            session: SessionId(self.id),
            first: header.first,
            count: header.count,
            at: header.at,
            actor: header.actor.clone(),
            command: header.command,
            shape: shape.to_owned(),
            bytes,
            prev: self.hash,
            hash,
            changes,
        };
        let expect = vec![(stream, Version(self.version))];
        (self.version, self.hash) = (self.version + u64::from(row.count), hash);
        Append { expect, rows: vec![row], ..Append::default() }
    }
}
