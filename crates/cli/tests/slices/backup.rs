//! Backups of a home that is in use, and homes made from them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::place::Place;
use crate::server::{Server, files, form, id};

/// The events of a home, as `audit verify` counts them.
fn events(place: &Place, home: &str) -> u64 {
    let report = place.run(&["--home", home, "audit", "verify", "--json"]).expect(0).json();
    assert_eq!(report["ok"], true, "{report:#}");
    report["events"].as_u64().expect("a number")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn a_home_in_use_is_backed_up_and_restored() {
    let place = Place::new();
    place.example("report");
    let ran = place.run(&["run", "report/report.yaml"]).expect(3);
    let waits = ran.stdout.trim().to_owned();
    let file =
        json!({"pipeline_name": "Work", "config": {"auto_advance": true}, "checkpoints": [form("Goals")]});
    place.write("work.json", &file.to_string());
    let server = Server::on(&place.home());
    place.run(&["pipeline", "apply", "work.json"]).expect(0);
    let listed = server.get("/api/pipelines").expect(200);
    let work = listed["items"].as_array().expect("items").iter().find(|one| one["pipeline_name"] == "Work");
    let start = json!({"pipeline_id": work.expect("there")["pipeline_id"]});
    // Runs start while the backup is written.
    let enough = AtomicBool::new(false);
    let made = std::thread::scope(|scope| {
        let starts = scope.spawn(|| {
            while !enough.load(Ordering::Relaxed) {
                server.post("/api/runs", &start).expect(201);
            }
        });
        let made = place.run(&["backup", "home.backup", "--json"]).expect(0).json();
        enough.store(true, Ordering::Relaxed);
        starts.join().expect("started");
        made
    });
    assert_eq!((&made["ok"], &made["skipped"]), (&json!(true), &json!([])), "{made:#}");
    let again = place.run(&["backup", "home.backup"]).expect(1);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);

    let told = place.run(&["restore", "home.backup", "--home", "restored/home"]).expect(0);
    assert!(told.stderr.contains("restored "), "{}", told.stderr);
    assert_eq!(Some(events(&place, "restored/home")), made["events"].as_u64());
    place.run(&["--home", "restored/home", "doctor", "--deep"]).expect(0);
    // What people wrote themselves is there, and what follows from the log.
    let (old, new) = (files(&place.path("home/pipelines")), files(&place.path("restored/home/pipelines")));
    let of = |all: &[String], part: &str| {
        all.iter().filter(|path| path.contains(part)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(&old, "/scripts/"), of(&new, "/scripts/"));
    assert!(!of(&new, "/scripts/").is_empty() && !of(&new, "/outputs/").is_empty(), "{new:#?}");
    drop(server);
    // The restored home goes on where the backup was made.
    fs::create_dir(place.path("restored/tmp")).expect("a folder");
    let restored = Server::on(&place.path("restored/home"));
    let run = restored.get(&format!("/api/runs/{waits}")).expect(200);
    let execution = restored.execution(&id(&run["current_execution"]["execution_id"]));
    let digest = &execution["waiting_for"]["digest"];
    let approve = format!("/api/executions/{}/approve-complete", id(&execution["execution_id"]));
    restored.post(&approve, &json!({"digest": digest})).expect(200);
    assert!(
        !names(&place.path(""))
            .iter()
            .any(|name| name.starts_with(".holdpoint-") || name.starts_with(".home"))
    );
}

#[test]
fn no_home_is_made_from_a_damaged_backup() {
    let place = Place::new();
    place.run(&["init", "."]).expect(0);
    place.run(&["--home", ".holdpoint", "backup", "good"]).expect(0);
    let good = fs::read(place.path("good")).expect("a file");
    let before = names(&place.path(""));
    let refused = |name: &str, bytes: &[u8], code: &str| {
        fs::write(place.path("bad"), bytes).expect("written");
        let ran = place.run(&["restore", "bad", "--home", "new", "--json"]);
        assert_eq!(ran.json()["error"]["code"], code, "{name}: {}", ran.stdout);
        fs::remove_file(place.path("bad")).expect("removed");
        assert_eq!(names(&place.path("")), before, "{name}");
    };
    for length in [0, 1, good.len() / 2, good.len() - 1] {
        refused("cut off", &good[..length], "backup_damaged");
    }
    for at in (0..good.len()).step_by(good.len() / 50) {
        let mut flipped = good.clone();
        flipped[at] ^= 0x10;
        fs::write(place.path("bad"), flipped).expect("written");
        let ran = place.run(&["restore", "bad", "--home", "new", "--json"]).json();
        // Some bits of a frame's header say nothing about the content.
        assert!(ran["error"]["code"] == "backup_damaged" || ran["ok"] == true, "{at}: {ran:#}");
        if ran["ok"] == true {
            place.run(&["--home", "new", "doctor", "--deep"]).expect(0);
            fs::remove_dir_all(place.path("new")).expect("removed");
        }
    }
    fs::remove_file(place.path("bad")).expect("removed");
    refused("something else", b"a letter", "backup_damaged");
    let header =
        |format: u32| json!({"format": format, "version": "9.9.9", "created_at": "2030-01-01T00:00:00Z"});
    refused("newer", &archive(&[("holdpoint-backup.json", header(9))]), "backup_newer");
    refused("no list", &archive(&[("holdpoint-backup.json", header(1))]), "backup_damaged");
    refused("another archive", &archive(&[("letter.json", json!({}))]), "backup_damaged");
    let outside = archive(&[("holdpoint-backup.json", header(1)), ("../outside", json!({}))]);
    refused("a path that leads out", &outside, "backup_damaged");
    let absolute = archive(&[("holdpoint-backup.json", header(1)), ("/tmp/outside", json!({}))]);
    refused("an absolute path", &absolute, "backup_damaged");

    fs::create_dir(place.path("full")).expect("a folder");
    place.write("full/letter", "hello");
    let ran = place.run(&["restore", "good", "--home", "full", "--json"]).expect(1);
    assert_eq!(ran.json()["error"]["code"], "home_exists");
    let ran = place.run(&["restore", "nothing", "--home", "new", "--json"]).expect(1);
    assert_eq!(ran.json()["error"]["code"], "backup_missing");
    place.run(&["restore", "good", "--home", "new"]).expect(0);
}

#[test]
fn a_database_without_its_end_is_noticed() {
    let place = Place::new();
    let server = Server::on(&place.home());
    server.pipeline(&["A"], true);
    let copy = |name: &str| {
        fs::create_dir_all(place.path(name).join("db")).expect("a folder");
        fs::copy(place.path("home/db/state.db"), place.path(name).join("db/state.db")).expect("copied");
    };
    copy("early");
    let verified = place.run(&["--home", "early", "audit", "verify", "--json"]).expect(1);
    let wrong = &verified.json()["wrong"][0];
    assert!(wrong.as_str().is_some_and(|wrong| wrong.contains("without state.db-wal")), "{wrong}");
    // It stays known, though opening the copy made a WAL.
    place.run(&["--home", "early", "audit", "verify"]).expect(1);
    place.run(&["--home", "early", "backup", "early.backup"]).expect(1);
    let inside = place.run(&["--home", "early", "backup", "early/x.backup", "--json"]).expect(64);
    assert_eq!(inside.json()["error"]["code"], "file_in_home");
    copy("again");
    let looked = place.run(&["--home", "again", "doctor"]).expect(1);
    assert!(looked.stdout.contains("FAIL  end"), "{}", looked.stdout);
    // A server that was stopped in good order leaves a file that has everything.
    stop(server);
    copy("whole");
    assert_eq!(events(&place, "whole"), events(&place, "home"));
    let next = Server::on(&place.home());
    next.pipeline(&["B"], true);
    copy("later");
    // A reader that has not ended yet can keep the first commits out of the file.
    while place.run(&["--home", "later", "audit", "verify"]).exit == Some(0) {
        next.pipeline(&["C"], true);
        fs::remove_dir_all(place.path("later")).expect("removed");
        copy("later");
    }
    // An empty file is no log either, and looking does not make one of it.
    fs::create_dir_all(place.path("empty/db")).expect("a folder");
    fs::write(place.path("empty/db/state.db"), "").expect("a file");
    let looked = place.run(&["--home", "empty", "audit", "verify", "--json"]).expect(1);
    assert_eq!(looked.json()["error"]["code"], "storage_damaged");
}

fn stop(mut server: Server) {
    assert_eq!(server.interrupt(), Some(0));
}

/// A backup with these entries, in which a path may be anything.
fn archive(entries: &[(&str, Value)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in entries {
        let bytes = content.to_string();
        let mut head = tar::Header::new_gnu();
        head.as_gnu_mut().expect("GNU").name[..name.len()].copy_from_slice(name.as_bytes());
        head.set_entry_type(tar::EntryType::Regular);
        head.set_mode(0o600);
        head.set_size(bytes.len() as u64);
        head.set_cksum();
        tar.append(&head, bytes.as_bytes()).expect("added");
    }
    zstd::encode_all(tar.into_inner().expect("written").as_slice(), 1).expect("compressed")
}
