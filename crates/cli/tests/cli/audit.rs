//! `holdpoint audit verify` on logs that are as they were written, and on logs that are not.

use expect_test::{Expect, expect};

use super::Sandbox;
use super::home::{self, Database, HOME};

/// What the audit says after somebody has tampered with the database.
fn check(tamper: impl Fn(&Database), expected: &Expect) {
    let sandbox = home::with_runs();
    tamper(&Database::of(&sandbox));
    sandbox.check(&["audit", "verify"], expected);
}

#[test]
fn a_log_as_it_was_written_is_fine() {
    let sandbox = home::with_runs();
    sandbox.check(
        &["audit", "verify"],
        &expect![[r#"
        events   18
        rows     9
        streams  4
        seals    1
        sealed   up to position 13; 1 row after it is not yet
        wrong    nothing
        ---
        exit 0
    "#]],
    );
    sandbox.check(
        &["audit", "verify", "--json", "--quiet"],
        &expect![[r#"
            {"ok":true,"events":18,"rows":9,"streams":4,"seals":1,"sealed":13,"unsealed":1,"wrong":[]}
            ---
            exit 0
        "#]],
    );
    // Looking has changed nothing.
    sandbox.check(
        &["audit", "verify", "--json"],
        &expect![[r#"
            {"ok":true,"events":18,"rows":9,"streams":4,"seals":1,"sealed":13,"unsealed":1,"wrong":[]}
            ---
            exit 0
        "#]],
    );
}

#[test]
fn a_home_that_is_not_there_is_not_made() {
    let sandbox = Sandbox::new();
    sandbox.check(
        &["audit", "verify"],
        &expect![[r#"
        error: there is no home with a database in `TMP/user/.local/share/holdpoint`
        hint: name another with --home PATH; `holdpoint serve` makes one
        exit 1
    "#]],
    );
    assert!(!sandbox.path("user").exists());
    sandbox.check(&["audit", "verify", "--json", "--home", "none"], &expect![[r#"
        {"error":{"code":"home_missing","message":"there is no home with a database in `TMP/project/none`","hint":"name another with --home PATH; `holdpoint serve` makes one"}}
        ---
        exit 1
    "#]]);
    assert!(!sandbox.path("project/none").exists());
}

#[test]
fn an_edited_row_is_found() {
    let who = "UPDATE log SET actor = (SELECT id FROM actor WHERE name <> 'ada') WHERE seq = ";
    check(
        |database| database.change(&format!("{who}{}", database.rows_of(1)[1])),
        &expect![[r#"
            events   18
            rows     9
            streams  4
            seals    1
            sealed   up to position 13; 1 row after it is not yet
            wrong    run 00000000-0000-0000-0000-000100000000 at version 5: the row is not what its hash says
            ---
            error: the log of `TMP/user/.local/share/holdpoint` is not what was written: run 00000000-0000-0000-0000-000100000000 at version 5: the row is not what its hash says
            hint: restore a copy of the home from before the damage; keep this one to look into it
            exit 1
        "#]],
    );
    let what =
        "UPDATE log SET bytes = CAST(replace(CAST(bytes AS TEXT), 'notes', 'votes') AS BLOB) WHERE seq = ";
    check(
        |database| database.change(&format!("{what}{}", database.rows_of(2)[0])),
        &expect![[r#"
            events   18
            rows     9
            streams  4
            seals    1
            sealed   up to position 13; 1 row after it is not yet
            wrong    run 00000000-0000-0000-0000-000200000000 at version 1: the row is not what its hash says
            ---
            error: the log of `TMP/user/.local/share/holdpoint` is not what was written: run 00000000-0000-0000-0000-000200000000 at version 1: the row is not what its hash says
            hint: restore a copy of the home from before the damage; keep this one to look into it
            exit 1
        "#]],
    );
}

#[test]
fn a_removed_row_is_found() {
    check(
        |database| database.remove(database.rows_of(1)[1]),
        &expect![[r#"
            events   17
            rows     8
            streams  4
            seals    1
            sealed   up to position 13; 1 row after it is not yet
            wrong    run 00000000-0000-0000-0000-000100000000 at version 6: position 7 follows 5
            wrong    run 00000000-0000-0000-0000-000100000000 at version 6: the row is not what its hash says
            wrong    run 00000000-0000-0000-0000-000100000000 at version 6: follows version 4
            ---
            error: the log of `TMP/user/.local/share/holdpoint` is not what was written: run 00000000-0000-0000-0000-000100000000 at version 6: position 7 follows 5
            hint: restore a copy of the home from before the damage; keep this one to look into it
            exit 1
        "#]],
    );
}

#[test]
fn a_stream_that_was_cut_short_is_found_by_its_seal() {
    let cut = |database: &Database| {
        database.remove(database.rows_of(2)[2]);
        database.close_gaps();
    };
    check(
        cut,
        &expect![[r#"
        events   17
        rows     8
        streams  4
        seals    1
        sealed   up to position 13; 1 row after it is not yet
        wrong    the seal over positions 0 to 13 does not match the log
        ---
        error: the log of `TMP/user/.local/share/holdpoint` is not what was written: the seal over positions 0 to 13 does not match the log
        hint: restore a copy of the home from before the damage; keep this one to look into it
        exit 1
    "#]],
    );
}

#[test]
fn a_removed_stream_is_found_by_its_seal() {
    let remove = |database: &Database| {
        for seq in database.rows_of(2) {
            database.remove(seq);
        }
        database.close_gaps();
    };
    check(
        remove,
        &expect![[r#"
        events   12
        rows     6
        streams  3
        seals    1
        sealed   up to position 13; 1 row after it is not yet
        wrong    the seal over positions 0 to 13 does not match the log
        ---
        error: the log of `TMP/user/.local/share/holdpoint` is not what was written: the seal over positions 0 to 13 does not match the log
        hint: restore a copy of the home from before the damage; keep this one to look into it
        exit 1
    "#]],
    );
}

#[test]
fn two_rows_that_changed_places_are_found() {
    let swap = |database: &Database| {
        let rows = database.rows_of(1);
        let (second, third) = (rows[1], rows[2]);
        database.change(&format!(
            "UPDATE log SET (at, command, shape, hash, bytes) =
                 (SELECT at, command, shape, hash, bytes FROM log AS other WHERE other.seq = {second} + {third} - log.seq)
             WHERE seq IN ({second}, {third})"
        ));
    };
    check(
        swap,
        &expect![[r#"
            events   18
            rows     9
            streams  4
            seals    1
            sealed   up to position 13; 1 row after it is not yet
            wrong    run 00000000-0000-0000-0000-000100000000 at version 5: the row is not what its hash says
            wrong    run 00000000-0000-0000-0000-000100000000 at version 6: the row is not what its hash says
            ---
            error: the log of `TMP/user/.local/share/holdpoint` is not what was written: run 00000000-0000-0000-0000-000100000000 at version 5: the row is not what its hash says
            hint: restore a copy of the home from before the damage; keep this one to look into it
            exit 1
        "#]],
    );
}

#[test]
fn a_file_that_is_no_database_is_an_error() {
    let sandbox = home::with_runs();
    std::fs::write(sandbox.path(HOME).join("db/state.db"), "no database at all, but long enough")
        .expect("a file");
    sandbox.check(&["audit", "verify"], &expect![[r#"
        error: the database of `TMP/user/.local/share/holdpoint` cannot be opened: the store is damaged: file is not a database
        hint: restore a copy of the home, or name another with --home PATH
        exit 1
    "#]]);
}
