//! `holdpoint doctor` on homes that are well, and on homes that are not.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;

use super::home::{self, Database, HOME};
use super::{Ran, Sandbox};

/// What differs from machine to machine.
const OF_THE_MACHINE: [&str; 9] =
    ["system", "cores", "memory", "disk", "sqlite", "size", "wal", "sandbox", "python"];

/// The output without what differs from machine to machine.
fn plain(ran: &Ran) -> String {
    let line = |line: &str| {
        let name = line.split_whitespace().nth(1).unwrap_or_default();
        let text = line.split_whitespace().nth(2).and_then(|_| line.find(name)).unwrap_or(line.len());
        if OF_THE_MACHINE.contains(&name) {
            format!("{}{name}  ...\n", &line[..text])
        } else {
            format!("{line}\n")
        }
    };
    ran.to_string().lines().map(line).collect()
}

/// The lines of some sections, with the sum.
fn sections(ran: &Ran, wanted: &[&str]) -> String {
    let mut shown = false;
    let mut kept = String::new();
    for line in plain(ran).lines() {
        if !line.starts_with(' ') {
            shown = wanted.contains(&line) || line.contains("failed") || line.contains("exit");
        }
        if shown {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn a_home_that_is_not_there_yet_is_no_fault() {
    let sandbox = Sandbox::new();
    expect![[r#"
        environment
          ok    version   0.1.0
          ok    system  ...
          ok    cores  ...
          ok    memory  ...
          ok    disk  ...
          warn  home      TMP/user/.local/share/holdpoint (default) does not exist
                          hint: `holdpoint serve` makes it
        settings
          ok    settings  all have their defaults
        code
          ok    sandbox  ...
          ok    python  ...
        database
          warn  open      there is none yet
                          hint: `holdpoint serve` makes one
        nothing failed; 2 to look at
        ---
        exit 0
    "#]]
    .assert_eq(&plain(&sandbox.run(&["doctor"])));
    assert!(!sandbox.path("user").exists());
}

#[test]
fn a_home_with_runs_is_well() {
    let sandbox = home::with_runs();
    fs::set_permissions(sandbox.path(HOME), Permissions::from_mode(0o700)).expect("changed");
    expect![[r#"
        environment
          ok    version     0.1.0
          ok    system  ...
          ok    cores  ...
          ok    memory  ...
          ok    disk  ...
          ok    home        TMP/user/.local/share/holdpoint (default)
        settings
          ok    settings    all have their defaults
        code
          ok    sandbox  ...
          ok    python  ...
        versions
          ok    sqlite  ...
          ok    schema      6 of 6
        database
          ok    integrity   SQLite finds nothing wrong
          ok    durability  journal mode wal, synchronous full
          ok    size  ...
          ok    wal  ...
          ok    content     9 rows of the log, 4 streams, 1 small blob
        log
          ok    chain       18 events are as written
          ok    seals       1, and 1 row is not yet sealed
        tables
          ok    rows        6 rows are as the log says
        blobs
          ok    named       1 is there and whole, 205 B
          ok    files       0 files, 0 B
        files
          ok    tree        0 files of 0 pipelines are as the log says, by content
        work
          warn  runs        3 runs with work due that nobody does
                            hint: start `holdpoint serve` on this home: it takes them over
        nothing failed; 1 to look at
        ---
        exit 0
    "#]]
    .assert_eq(&plain(&sandbox.run(&["doctor", "--deep"])));
    // With --repair nothing is found that could be repaired.
    let repaired = sandbox.run(&["doctor", "--repair", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&repaired.stdout).expect("JSON");
    assert_eq!((repaired.exit, &told["ok"], &told["failed"]), (Some(0), &true.into(), &0.into()));
    expect![[r#"[{"check":"rows","state":"ok","text":"6 rows are as the log says","data":{"rows":6,"streams":4,"repaired":false}}]"#]].assert_eq(&told["sections"]["tables"].to_string());
}

#[test]
fn rights_that_are_too_wide_are_a_warning() {
    let sandbox = home::with_runs();
    fs::create_dir(sandbox.path(HOME).join("keys")).expect("a folder");
    for (name, mode) in [("", 0o755), ("keys", 0o750)] {
        let path = sandbox.path(HOME).join(name);
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("changed");
    }
    let ran = sandbox.run(&["doctor"]);
    expect![[r#"
        environment
          ok    version     0.1.0
          ok    system  ...
          ok    cores  ...
          ok    memory  ...
          ok    disk  ...
          warn  home        TMP/user/.local/share/holdpoint (default) can be read by everybody
                            hint: chmod 700 TMP/user/.local/share/holdpoint
          warn  keys        others than you may look into them (mode 750)
                            hint: chmod 700 TMP/user/.local/share/holdpoint/keys
        nothing failed; 3 to look at
        exit 0
    "#]]
    .assert_eq(&sections(&ran, &["environment"]));
}

#[test]
fn settings_that_cannot_be_read_fail() {
    let sandbox = home::with_runs().with_file("project/holdpoint.toml", "[limits]\nmax = 3\n");
    expect![[r#"
        settings
          FAIL  settings    TMP/project/holdpoint.toml:2:1: there is no setting `limits.max`
                            hint: `holdpoint config show` lists every setting
        1 failed; 1 to look at
        exit 1
    "#]]
    .assert_eq(&sections(&sandbox.run(&["doctor"]), &["settings"]));
}

#[test]
fn tables_that_differ_from_the_log_are_found_and_mended() {
    let sandbox = home::with_runs();
    Database::of(&sandbox).change("UPDATE execution SET status = 'completed' WHERE x = 1");
    Database::of(&sandbox).change("DELETE FROM run WHERE seq = (SELECT min(seq) FROM run)");
    let before = sandbox.run(&["audit", "verify"]);
    let tables = |arguments: &[&str]| sections(&sandbox.run(arguments), &["tables"]);
    expect![[r#"
        tables
          FAIL  rows        4 rows differ from the log
                            - run 0 of run 00000000-0000-0000-0000-000100000000: is missing
                            - execution 3 of run 00000000-0000-0000-0000-000100000000: status is 'completed', should be 'in_progress'
                            - execution 3 of run 00000000-0000-0000-0000-000200000000: status is 'completed', should be 'in_progress'
                            - execution 3 of run 00000000-0000-0000-0000-000300000000: status is 'completed', should be 'in_progress'
                            hint: `holdpoint doctor --repair` writes them anew from the log
        1 failed; 1 to look at
        exit 1
    "#]].assert_eq(&tables(&["doctor"]));
    expect![[r#"
        tables
          warn  rows        4 rows differ from the log; written anew
                            - run 0 of run 00000000-0000-0000-0000-000100000000: is missing
                            - execution 3 of run 00000000-0000-0000-0000-000100000000: status is 'completed', should be 'in_progress'
                            - execution 3 of run 00000000-0000-0000-0000-000200000000: status is 'completed', should be 'in_progress'
                            - execution 3 of run 00000000-0000-0000-0000-000300000000: status is 'completed', should be 'in_progress'
                            hint: nothing is left to do; somebody or something had changed the tables
        nothing failed; 2 to look at
        exit 0
    "#]].assert_eq(&tables(&["doctor", "--repair"]));
    expect![[r#"
        tables
          ok    rows        6 rows are as the log says
        nothing failed; 1 to look at
        exit 0
    "#]]
    .assert_eq(&tables(&["doctor"]));
    assert_eq!(sandbox.run(&["audit", "verify"]), before, "the log is as it was");
}

#[test]
fn nothing_is_repaired_from_a_damaged_log() {
    let sandbox = home::with_runs();
    let database = Database::of(&sandbox);
    database.change(&format!("UPDATE log SET at = at + 1 WHERE seq = {}", database.rows_of(1)[2]));
    database.change("UPDATE execution SET status = 'completed' WHERE seq = (SELECT max(seq) FROM execution)");
    drop(database);
    expect![[r#"
        log
          FAIL  chain       1 place is not as written
                            - run 00000000-0000-0000-0000-000100000000 at version 6: the row is not what its hash says
                            hint: restore a copy of the home from before the damage; keep this one to look into it
          ok    seals       1, and 1 row is not yet sealed
        tables
          FAIL  rows        1 row differs from the log; not repaired
                            - execution 3 of run 00000000-0000-0000-0000-000300000000: status is 'completed', should be 'in_progress'
                            hint: the log is damaged, so nothing was written from it; restore a copy of the home
        3 failed; 1 to look at
        exit 1
    "#]].assert_eq(&sections(&sandbox.run(&["doctor", "--repair"]), &["log", "tables"]));
}

#[test]
fn missing_and_damaged_blobs_are_found() {
    let sandbox = home::with_runs();
    Database::of(&sandbox).change("UPDATE blobs SET bytes = x'00', codec = 0");
    expect![[r#"
        blobs
          FAIL  named       1 of 1 cannot be read
                            - blob c8b92abf27db7e042a1c6a6525540fb2bc55d8e14269024522b35639732157ad is damaged
                            hint: copy the blobs from a backup of the home into its folder `blobs`
          ok    files       0 files, 0 B
        1 failed; 1 to look at
        exit 1
    "#]]
    .assert_eq(&sections(&sandbox.run(&["doctor"]), &["blobs"]));
    Database::of(&sandbox).change("DELETE FROM blobs");
    expect![[r#"
        blobs
          FAIL  named       1 of 1 cannot be read
                            - no blob c8b92abf27db7e042a1c6a6525540fb2bc55d8e14269024522b35639732157ad
                            hint: copy the blobs from a backup of the home into its folder `blobs`
          ok    files       0 files, 0 B
        1 failed; 1 to look at
        exit 1
    "#]]
    .assert_eq(&sections(&sandbox.run(&["doctor"]), &["blobs"]));
}

#[test]
fn a_database_that_is_gone_or_no_database_fails() {
    let sandbox = home::with_runs();
    let db = sandbox.path(HOME).join("db");
    fs::write(db.join("state.db"), "no database at all, but long enough").expect("a file");
    expect![[r#"
        database
          FAIL  open      the database of `TMP/user/.local/share/holdpoint` cannot be opened: the store is damaged: file is not a database
                          hint: restore a copy of the home, or name another with --home PATH
        1 failed; 0 to look at
        exit 1
    "#]].assert_eq(&sections(&sandbox.run(&["doctor"]), &["database"]));
    fs::remove_dir_all(db).expect("removed");
    fs::create_dir_all(sandbox.path(HOME).join("blobs/ab")).expect("a shelf");
    expect![[r#"
        database
          FAIL  open      the home has blobs and no database
                          hint: restore a copy of the home
        1 failed; 0 to look at
        exit 1
    "#]]
    .assert_eq(&sections(&sandbox.run(&["doctor"]), &["database"]));
}
