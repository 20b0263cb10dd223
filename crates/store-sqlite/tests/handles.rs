//! Several handles on one home: nothing is lost, nobody is told to try again, and work changes hands.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::{Seq, Timestamp};
use holdpoint_store::conformance::kit::{all, one, owing, run, run_id, write};
use holdpoint_store::{Claimed, EventLog as _, Fence, Lease, Refused, StoreError};
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;

fn open(dir: &Path) -> SqliteLog {
    SqliteLog::open(dir, Options::default()).expect("the store opens")
}

/// Another program with the file open.
fn foreign(dir: &Path) -> Connection {
    let conn = Connection::open(dir.join("state.db")).expect("the file opens");
    conn.busy_timeout(Duration::from_secs(30)).expect("patience");
    conn
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_handles_append_at_once() {
    const EACH: u64 = 50;
    let dir = tempfile::tempdir().expect("a folder");
    // All four find no database and one of them makes it.
    let opening: Vec<_> = (0..4)
        .map(|_| {
            let dir = dir.path().to_owned();
            std::thread::spawn(move || Arc::new(open(&dir)))
        })
        .collect();
    let handles: Vec<_> = opening.into_iter().map(|handle| handle.join().expect("it opens")).collect();
    let tasks: Vec<_> = (0..16u128)
        .map(|task| {
            let log = Arc::clone(&handles[task as usize % 4]);
            tokio::spawn(async move {
                for after in 0..EACH {
                    write(&*log, one(run(task + 1), after)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no append is refused");
    }
    let rows = all(&*handles[3]).await;
    let positions: Vec<u64> = rows.iter().map(|row| row.seq.0).collect();
    assert_eq!(positions, (1..=16 * EACH).collect::<Vec<_>>());
}

fn abandoned(lease: Lease) -> Claimed {
    Claimed { lease, abandoned: true }
}

#[tokio::test]
async fn a_dropped_handle_leaves_its_work_to_others_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (open(dir.path()), open(dir.path()));
    let lease = Lease { run: run_id(1), epoch: 1 };
    assert_eq!(write(&first, owing(1, Some(10), true)).await.leases, [lease]);
    assert_eq!(second.claim(Timestamp(10), 9, None).await, Ok(vec![]));
    let locks = || std::fs::read_dir(dir.path().join("owners")).expect("a folder").count();
    assert_eq!(locks(), 1);
    drop(first);
    assert_eq!(locks(), 0);
    assert_eq!(second.claim(Timestamp(10), 9, None).await, Ok(vec![abandoned(Lease { epoch: 2, ..lease })]));
}

#[tokio::test]
async fn a_lock_that_a_killed_process_left_is_free() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = open(dir.path());
    write(&log, one(run(1), 0)).await;
    // What a killed process leaves: a lock file that nobody holds, an owner, and a run that it owns.
    std::fs::create_dir_all(dir.path().join("owners")).expect("a folder");
    std::fs::write(dir.path().join("owners/0000000000000007.lock"), "").expect("a file");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    let other = foreign(dir.path());
    other.execute("INSERT INTO owners VALUES(7, ?, 1 << 60)", [boot.trim()]).expect("an owner");
    other
        .execute("INSERT INTO work SELECT id, 5, 7, 3 FROM stream WHERE kind='run'", [])
        .expect("a run that it owns");
    assert_eq!(
        log.claim(Timestamp(5), 9, None).await,
        Ok(vec![abandoned(Lease { run: run_id(1), epoch: 4 })])
    );
    assert!(!dir.path().join("owners/0000000000000007.lock").exists(), "it is tidied away");
}

#[tokio::test]
async fn a_stopped_owner_loses_its_work_and_is_fenced() {
    let dir = tempfile::tempdir().expect("a folder");
    let (stopped, other) = (open(dir.path()), open(dir.path()));
    write(&stopped, owing(1, Some(10), true)).await;
    foreign(dir.path()).execute("UPDATE owners SET beat = beat - 30001", []).expect("time passes");
    assert_eq!(
        other.claim(Timestamp(10), 9, None).await,
        Ok(vec![abandoned(Lease { run: run_id(1), epoch: 2 })])
    );
    let mut late = one(run(1), 0);
    late.fence = Some(Fence { run: run_id(1), epoch: 1 });
    assert!(matches!(stopped.append(late).await, Err(Refused::Fenced(2))));
    assert_eq!(stopped.beat().await, Ok(vec![]));
    assert_eq!(all(&other).await, []);
}

#[tokio::test]
async fn an_owner_from_before_a_restart_of_the_machine_is_dead() {
    let dir = tempfile::tempdir().expect("a folder");
    let (before, after) = (open(dir.path()), open(dir.path()));
    write(&before, owing(1, Some(10), true)).await;
    foreign(dir.path()).execute("UPDATE owners SET boot = 'another'", []).expect("a restart");
    assert_eq!(
        after.claim(Timestamp(10), 9, None).await,
        Ok(vec![abandoned(Lease { run: run_id(1), epoch: 2 })])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_head_moves_for_another_handles_append() {
    let dir = tempfile::tempdir().expect("a folder");
    let (watching, writing) = (open(dir.path()), open(dir.path()));
    let mut head = watching.head();
    for after in 0..5 {
        write(&writing, one(run(1), after)).await;
        let moved = head.wait_for(|head| *head == Seq(after + 1));
        tokio::time::timeout(Duration::from_mins(1), moved).await.expect("in time").expect("alive");
    }
}

#[tokio::test]
async fn what_is_answered_is_committed() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = open(dir.path());
    let other = foreign(dir.path());
    let mut count = other.prepare("SELECT count(*) FROM log").expect("a question");
    for after in 0..200 {
        write(&log, one(run(1), after)).await;
        assert_eq!(count.query_row([], |row| row.get::<_, i64>(0)), Ok(after as i64 + 1));
    }
}

#[tokio::test]
async fn reading_writes_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(open(dir.path()));
    let file = || std::fs::read(dir.path().join("state.db")).expect("the file");
    let before = file();
    let log = open(dir.path());
    assert_eq!(all(&log).await, []);
    assert_eq!(log.claim(Timestamp(10), 9, None).await, Ok(vec![]));
    drop(log);
    assert!(before == file(), "the file is as it was");
    assert!(!dir.path().join("owners").exists());
}

#[tokio::test]
async fn a_foreign_lock_is_waited_for() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = Arc::new(open(dir.path()));
    let other = foreign(dir.path());
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let waiting = tokio::spawn({
        let log = Arc::clone(&log);
        async move { write(&*log, one(run(1), 0)).await }
    });
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").expect("the lock ends");
    assert_eq!(waiting.await.expect("it is written").last, Seq(1));
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(open(dir.path()));
    let newer = foreign(dir.path());
    newer.pragma_update(None, "user_version", 99).expect("a newer schema");
    drop(newer);
    let before = std::fs::read(dir.path().join("state.db")).expect("the file");
    let refused = SqliteLog::open(dir.path(), Options::default()).err();
    assert_eq!(refused, Some(StoreError::Newer { found: 99, known: 6 }));
    assert!(before == std::fs::read(dir.path().join("state.db")).expect("the file"));
}

#[tokio::test]
async fn a_claim_that_finds_nothing_needs_no_writer() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (open(dir.path()), open(dir.path()));
    write(&first, owing(1, Some(10), true)).await;
    write(&first, owing(2, Some(20), false)).await;
    // Nobody else can write for as long as this lasts.
    let busy = foreign(dir.path());
    busy.execute_batch("BEGIN IMMEDIATE").expect("begun");
    assert_eq!(
        second.claim(Timestamp(10), 9, None).await,
        Ok(vec![]),
        "the first is alive, the other not due"
    );
    assert_eq!(second.claim(Timestamp(19), 9, Some(run_id(2))).await, Ok(vec![]));
    assert_eq!(second.claim(Timestamp(20), 0, None).await, Ok(vec![]), "nothing is asked for");
    busy.execute_batch("ROLLBACK").expect("ended");
    assert_eq!(
        second.claim(Timestamp(20), 9, None).await,
        Ok(vec![Claimed { lease: Lease { run: run_id(2), epoch: 1 }, abandoned: false }])
    );
    drop(first);
    assert_eq!(
        second.claim(Timestamp(20), 9, None).await,
        Ok(vec![Claimed { lease: Lease { run: run_id(1), epoch: 2 }, abandoned: true }])
    );
}
