//! What shares a commit does not share a fate: refusals, errors and a full disk harm nobody else.

use std::path::Path;
use std::sync::Arc;

use holdpoint_core::Seq;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_store::conformance::kit::{all, append, keyed, one, put, row_of, run, write};
use holdpoint_store::{Append, EventLog as _, Refused, StoreError};
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;
use tokio::task::JoinSet;

fn open(dir: &Path) -> Arc<SqliteLog> {
    Arc::new(SqliteLog::open(dir, Options::default()).expect("the store opens"))
}

/// Sends appends while another program holds the lock, so that they share a commit.
async fn together(
    dir: &Path,
    log: &Arc<SqliteLog>,
    appends: Vec<Append>,
) -> Vec<(usize, Result<Seq, Refused>)> {
    let other = Connection::open(dir.join("state.db")).expect("the file");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let mut tasks = JoinSet::new();
    for (at, append) in appends.into_iter().enumerate() {
        let log = Arc::clone(log);
        tasks.spawn(async move { (at, log.append(append).await.map(|receipt| receipt.last)) });
        tokio::task::yield_now().await;
    }
    other.execute_batch("COMMIT").expect("the lock ends");
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers
}

/// An append that passes every check and then cannot be written: its row's id is another row's.
fn impossible(n: u128) -> Append {
    let cells = vec![("id", Cell::from(uuid::Uuid::from_u128(1)))];
    append(vec![row_of(run(n), 1, vec![vec![put(Table::Gate, 1, cells)]])])
}

#[tokio::test]
async fn refusals_do_not_harm_their_neighbours() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = open(dir.path());
    write(&*log, one(run(1), 0)).await;
    let appends = vec![
        one(run(2), 0),
        one(run(1), 0),
        keyed(one(run(3), 0), "key", "request"),
        keyed(one(run(4), 0), "key", "request"),
        keyed(one(run(5), 0), "key", "another"),
        one(run(2), 0),
        one(run(2), 1),
    ];
    let answers = together(dir.path(), &log, appends).await;
    let expected = "[
    (0, Ok(Seq(2))),
    (1, Err(Conflict(run 00000000-0000-0000-0000-000000000001, Version(1)))),
    (2, Ok(Seq(3))),
    (3, Err(Replayed(Receipt { first: Seq(3), last: Seq(3), leases: [] }))),
    (4, Err(KeyReused)),
    (5, Err(Conflict(run 00000000-0000-0000-0000-000000000002, Version(1)))),
    (6, Ok(Seq(4))),
]";
    let told: Vec<String> = answers
        .iter()
        .map(|(at, answer)| match answer {
            Err(Refused::Conflict(stream, version)) => {
                format!("({at}, Err(Conflict({stream}, {version:?}))),")
            }
            other => format!("({at}, {other:?}),"),
        })
        .collect();
    assert_eq!(format!("[\n    {}\n]", told.join("\n    ")), expected);
    assert_eq!(all(&*log).await.len(), 4);
}

#[tokio::test]
async fn an_error_in_a_batch_takes_only_its_own_append_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = open(dir.path());
    write(&*log, impossible(1)).await;
    let appends = vec![one(run(2), 0), impossible(3), one(run(4), 0), one(run(4), 1)];
    let answers = together(dir.path(), &log, appends).await;
    assert!(matches!(answers[1].1, Err(Refused::Store(StoreError::Corrupt(_)))), "{answers:?}");
    let written: Vec<_> = answers.iter().filter_map(|(_, answer)| answer.as_ref().ok()).collect();
    assert_eq!(written, [&Seq(2), &Seq(3), &Seq(4)]);
    assert_eq!(all(&*log).await.len(), 4);
    write(&*log, one(run(3), 0)).await;
}

#[tokio::test]
async fn a_full_disk_is_told_and_survived() {
    let dir = tempfile::tempdir().expect("a folder");
    let options = Options { max_pages: Some(300), ..Options::default() };
    let log = Arc::new(SqliteLog::open(dir.path(), options).expect("the store opens"));
    write(&*log, one(run(1), 0)).await;
    let mut large = one(run(2), 0);
    large.rows[0].bytes = vec![b' '; 4_000_000];
    let answers = together(dir.path(), &log, vec![one(run(1), 1), large, one(run(1), 2)]).await;
    assert!(matches!(answers[1].1, Err(Refused::DiskFull)), "{answers:?}");
    assert!(answers[0].1.is_ok() && answers[2].1.is_ok(), "{answers:?}");
    assert_eq!(all(&*log).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wal_is_used_again_and_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = open(dir.path());
    let wal = || std::fs::metadata(dir.path().join("state.db-wal")).expect("the WAL").len();
    let mut written = 0u64;
    let bytes = vec![b' '; 200_000];
    let mut after = 0;
    while written < 160 * 1024 * 1024 {
        let mut append = one(run(1), after);
        append.rows[0].bytes = bytes.clone();
        written += bytes.len() as u64;
        after += 1;
        write(&*log, append).await;
        assert!(wal() < 64 * 1024 * 1024, "the WAL has {} bytes after {written}", wal());
    }
}
