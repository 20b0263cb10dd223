//! The disk keeps what was synced, and only that; several connections share it like a real one.

use holdpoint_fault_vfs::{Fault, FaultDisk};
use rusqlite::{Connection, ErrorCode, ffi};

/// A database in WAL mode with one table.
fn founded(disk: &FaultDisk) -> Connection {
    let conn = connected(disk);
    conn.execute_batch("CREATE TABLE t(n INTEGER PRIMARY KEY, body BLOB)").expect("a table");
    conn
}

fn connected(disk: &FaultDisk) -> Connection {
    try_connect(disk).expect("it opens")
}

fn try_connect(disk: &FaultDisk) -> rusqlite::Result<Connection> {
    let conn = disk.connect("test.db")?;
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    assert_eq!(mode, "wal");
    conn.pragma_update(None, "synchronous", 2)?;
    Ok(conn)
}

fn insert(conn: &Connection, n: i64) -> rusqlite::Result<usize> {
    conn.execute("INSERT INTO t VALUES(?, zeroblob(3000))", [n])
}

fn count(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
}

fn check(conn: &Connection) -> String {
    conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check")
}

#[test]
fn two_connections_see_each_others_commits() {
    let disk = FaultDisk::new(1);
    let (one, two) = (founded(&disk), connected(&disk));
    for n in 0..20 {
        insert(if n % 2 == 0 { &one } else { &two }, n).expect("a row");
        assert_eq!((count(&one), count(&two)), (Ok(n + 1), Ok(n + 1)));
    }
}

#[test]
fn many_threads_share_a_file() {
    let disk = FaultDisk::new(1);
    drop(founded(&disk));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let disk = &disk;
            scope.spawn(move || {
                let conn = connected(disk);
                conn.busy_timeout(std::time::Duration::from_mins(1)).expect("patience");
                for n in 0..50 {
                    insert(&conn, thread * 50 + n).expect("a row");
                    if n % 20 == 0 {
                        conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).expect("an answer");
                    }
                }
            });
        }
    });
    let conn = connected(&disk);
    assert_eq!(count(&conn), Ok(200));
    assert_eq!(check(&conn), "ok");
}

#[test]
fn a_writer_keeps_another_writer_out_and_readers_in() {
    let disk = FaultDisk::new(1);
    let (one, two) = (founded(&disk), connected(&disk));
    two.busy_timeout(std::time::Duration::ZERO).expect("no patience");
    one.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    insert(&one, 1).expect("a row");
    assert_eq!(count(&two), Ok(0));
    let refused = two.execute_batch("BEGIN IMMEDIATE").expect_err("one writer at a time");
    assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    one.execute_batch("COMMIT").expect("the lock ends");
    assert_eq!(count(&two), Ok(1));
    two.execute_batch("BEGIN IMMEDIATE; COMMIT").expect("its turn");
}

#[test]
fn a_rollback_journal_works_too() {
    let disk = FaultDisk::new(1);
    let (one, two) = (disk.connect("old.db").expect("it opens"), disk.connect("old.db").expect("it opens"));
    two.busy_timeout(std::time::Duration::ZERO).expect("no patience");
    one.execute_batch("CREATE TABLE t(n INTEGER PRIMARY KEY, body BLOB)").expect("a table");
    insert(&one, 1).expect("a row");
    one.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    let refused = count(&two).expect_err("nobody reads");
    assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
    one.execute_batch("DELETE FROM t; ROLLBACK").expect("taken back");
    assert_eq!(count(&two), Ok(1));
}

#[test]
fn the_last_connection_moves_the_wal_into_the_file() {
    let disk = FaultDisk::new(1);
    let conn = founded(&disk);
    insert(&conn, 1).expect("a row");
    let names = |disk: &FaultDisk| disk.snapshot().names().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(&disk), ["test.db", "test.db-wal"]);
    drop(conn);
    assert_eq!(names(&disk), ["test.db"]);
    let other = FaultDisk::holding(2, &disk.snapshot());
    assert_eq!(count(&connected(&other)), Ok(1));
}

#[test]
fn what_is_synced_survives_every_cut() {
    for seed in 0..300 {
        let disk = FaultDisk::new(seed);
        let conn = founded(&disk);
        for n in 0..5 {
            insert(&conn, n).expect("a row");
        }
        conn.execute_batch("BEGIN IMMEDIATE").expect("a lock");
        insert(&conn, 5).expect("a row");
        disk.power_cut(seed);
        assert!(conn.execute_batch("COMMIT").is_err(), "an open file is of no use after a cut");
        drop(conn);
        let conn = connected(&disk);
        assert_eq!((count(&conn), check(&conn).as_str()), (Ok(5), "ok"), "seed {seed}");
    }
}

#[test]
fn what_is_not_synced_can_be_lost_kept_and_torn() {
    let mut outcomes = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..200 {
        let disk = FaultDisk::new(seed);
        let conn = founded(&disk);
        conn.pragma_update(None, "synchronous", 0).expect("nothing is synced");
        for n in 0..3 {
            insert(&conn, n).expect("a row");
        }
        disk.power_cut(seed);
        drop(conn);
        let told = try_connect(&disk)
            .and_then(|conn| count(&conn))
            .map_or_else(|error| error.to_string(), |count| count.to_string());
        *outcomes.entry(told).or_default() += 1;
    }
    for count in ["0", "1", "2", "3"] {
        assert!(outcomes.contains_key(count), "{outcomes:?}");
    }
}

#[test]
fn the_same_seed_leaves_the_same() {
    let left = |seed| {
        let disk = FaultDisk::new(7);
        let conn = disk.connect("old.db").expect("it opens");
        conn.pragma_update(None, "synchronous", 0).expect("nothing is synced");
        // The header of a journal holds a number that SQLite makes up.
        conn.pragma_update(None, "journal_mode", "memory").expect("no journal");
        conn.execute_batch("CREATE TABLE t(n); INSERT INTO t VALUES(1); CREATE TABLE u(n);").expect("tables");
        disk.power_cut(seed);
        disk.snapshot()
    };
    let images: Vec<_> = (0..40).map(left).collect();
    assert_eq!(images, (0..40).map(left).collect::<Vec<_>>());
    assert!(images.iter().any(|image| *image != images[0]), "seeds differ");
}

#[test]
fn names_are_lost_with_their_folder() {
    let mut found = [false; 2];
    for seed in 0..50 {
        let disk = FaultDisk::new(seed);
        let conn = disk.connect("old.db").expect("it opens");
        conn.pragma_update(None, "synchronous", 0).expect("nothing is synced");
        conn.execute_batch("CREATE TABLE t(n)").expect("a table");
        disk.power_cut(seed);
        found[usize::from(disk.snapshot().names().any(|name| name == "old.db"))] = true;
    }
    assert_eq!(found, [true, true]);
}

#[test]
fn a_cut_can_be_planned_at_every_operation() {
    for at in 1.. {
        let disk = FaultDisk::new(at);
        let conn = founded(&disk);
        disk.cut_at(at);
        let sure = (0..6).take_while(|n| insert(&conn, *n).is_ok()).count() as i64;
        let checkpoint = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let over = !disk.struck();
        assert_eq!(over, sure == 6 && checkpoint.is_ok(), "operation {at}");
        drop(conn);
        disk.power_cut(at);
        let conn = connected(&disk);
        let found = count(&conn).expect("a count");
        assert!(found == sure || found == sure + 1, "operation {at}: {found} rows, {sure} were sure");
        assert_eq!(check(&conn), "ok", "operation {at}");
        if over {
            break;
        }
    }
}

#[test]
fn a_cut_instead_of_a_sync_leaves_the_commit_open() {
    let mut found = [0; 2];
    for seed in 0..40 {
        let disk = FaultDisk::new(seed);
        let conn = founded(&disk);
        insert(&conn, 0).expect("a row");
        disk.cut_at_sync(2);
        insert(&conn, 1).expect("one sync a commit");
        insert(&conn, 2).expect_err("the power ends");
        drop(conn);
        disk.power_cut(seed);
        let count = count(&connected(&disk)).expect("a count");
        assert!(count == 2 || count == 3, "seed {seed}: {count} rows");
        found[count as usize - 2] += 1;
    }
    assert!(found.iter().all(|times| *times > 3), "{found:?}");
}

#[test]
fn an_operation_can_be_made_to_fail_once() {
    for (fault, code) in [(Fault::Eio, ErrorCode::SystemIoFailure), (Fault::Full, ErrorCode::DiskFull)] {
        let disk = FaultDisk::new(1);
        let conn = founded(&disk);
        // What comes first may be nothing that needs room.
        let failed = (1..9).find_map(|n| {
            disk.fail_at(n as u64, fault);
            insert(&conn, n).err()
        });
        assert_eq!(failed.and_then(|failed| failed.sqlite_error_code()), Some(code));
        assert!(disk.struck());
        let before = count(&conn).expect("a count");
        insert(&conn, 9).expect("only one operation fails");
        assert_eq!((count(&conn), check(&conn).as_str()), (Ok(before + 1), "ok"));
    }
}

#[test]
fn a_full_disk_stays_full_until_there_is_room() {
    let disk = FaultDisk::new(1);
    let conn = founded(&disk);
    insert(&conn, 0).expect("a row");
    disk.fail_from(1, Fault::Full);
    for n in 1..4 {
        let failed = insert(&conn, n).expect_err("it fails");
        assert_eq!(failed.sqlite_error_code(), Some(ErrorCode::DiskFull));
    }
    assert_eq!(count(&conn), Ok(1), "reading needs no room");
    disk.clear();
    assert_eq!(insert(&conn, 1), Ok(1));
}

#[test]
fn a_failed_sync_may_forget_for_good() {
    let mut lost = 0;
    for seed in 0..40 {
        let disk = FaultDisk::new(seed);
        let conn = disk.connect("old.db").expect("it opens");
        conn.pragma_update(None, "journal_mode", "memory").expect("no journal");
        conn.execute_batch("CREATE TABLE t(n INTEGER PRIMARY KEY, body BLOB)").expect("a table");
        // Every operation in turn, until it is the sync.
        let at = 1 + seed % 12;
        disk.fail_at(at, Fault::Eio);
        let failed = insert(&conn, 1);
        if failed.is_ok_and(|_| !disk.struck()) {
            continue;
        }
        drop(conn);
        let before = disk.snapshot();
        disk.power_cut(seed);
        lost += u32::from(before != disk.snapshot());
    }
    assert!(lost > 0);
}

#[test]
fn a_lying_disk_loses_what_it_said_was_synced() {
    let lost = (0..20).filter(|seed| {
        let disk = FaultDisk::new(*seed);
        disk.lying_sync(true);
        let conn = founded(&disk);
        insert(&conn, 1).expect("a row");
        disk.power_cut(*seed);
        drop(conn);
        try_connect(&disk).and_then(|conn| count(&conn)) != Ok(1)
    });
    assert!(lost.count() > 5);
}

#[test]
fn bits_can_be_flipped() {
    let disk = FaultDisk::new(1);
    drop(founded(&disk));
    let before = disk.snapshot().bytes("test.db").to_vec();
    assert!(disk.flip("test.db", 100, 0x10));
    assert_eq!(disk.snapshot().bytes("test.db")[100], before[100] ^ 0x10);
    disk.power_cut(1);
    assert_eq!(disk.snapshot().bytes("test.db")[100], before[100] ^ 0x10, "a flip is durable");
    assert!(!disk.flip("test.db", before.len() as u64, 1));
    assert!(!disk.flip("none", 0, 1));
    assert_eq!(disk.snapshot().bytes("none"), b"");
}

#[test]
fn a_connection_may_outlive_its_disk() {
    let disk = FaultDisk::new(1);
    let conn = founded(&disk);
    insert(&conn, 1).expect("a row");
    let name = disk.vfs_name().to_owned();
    drop(disk);
    assert!(insert(&conn, 2).is_err());
    drop(conn);
    let gone = Connection::open_with_flags_and_vfs("test.db", rusqlite::OpenFlags::default(), name.as_str());
    assert_eq!(
        gone.expect_err("the disk is gone").sqlite_error().map(|error| error.extended_code),
        Some(ffi::SQLITE_ERROR)
    );
}
