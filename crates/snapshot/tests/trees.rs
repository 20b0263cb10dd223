//! Capturing and restoring folders: what comes back, what is shared, what is refused.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::Ordering;

use common::{Home, LIMITS, Meddler, chmod, write};
use holdpoint_snapshot::{
    BadTree, CaptureError, Known, Limits, Measure, Name, Node, Scope, Skip, SnapshotError, capture, restore,
};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("there").permissions().mode() & 0o7777
}

#[tokio::test]
async fn links_empty_folders_modes_and_contents_come_back() {
    let home = Home::new();
    let at = |name: &str| home.at(name);
    write(&at("deep/er/a"), b"a");
    write(&at("run.sh"), b"#!/bin/sh\n");
    chmod(&at("run.sh"), 0o750);
    fs::create_dir_all(at("empty/inside")).expect("made");
    symlink("../../etc/passwd", at("deep/link")).expect("linked");
    symlink("nowhere", at("dangling")).expect("linked");
    let large: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    write(&at("large"), &large);
    chmod(&at("deep/er"), 0o500);
    let first = home.capture().await;
    assert_eq!((first.skipped.len(), first.unstable.len()), (0, 0));

    chmod(&at("deep/er"), 0o700);
    write(&at("deep/er/a"), b"changed");
    write(&at("deep/new/file"), b"new");
    fs::remove_dir_all(at("empty")).expect("removed");
    write(&at("empty"), b"a file where a folder was");
    fs::remove_file(at("dangling")).expect("removed");
    fs::create_dir_all(at("dangling/now/a/folder")).expect("made");
    fs::remove_file(at("large")).expect("removed");
    chmod(&at("run.sh"), 0o644);
    assert_ne!(home.capture().await.tree, first.tree);

    let restored = home.restore(first.tree).await.expect("restored");
    assert_eq!((restored.entries, restored.bytes), (first.entries, first.bytes));
    assert_eq!(fs::read(at("deep/er/a")).expect("read"), b"a");
    assert_eq!(fs::read(at("large")).expect("read"), large);
    assert_eq!(fs::read_link(at("deep/link")).expect("a link"), Path::new("../../etc/passwd"));
    assert_eq!(fs::read_link(at("dangling")).expect("a link"), Path::new("nowhere"));
    assert_eq!((mode(&at("run.sh")), mode(&at("deep/er"))), (0o750, 0o500));
    assert!(at("empty/inside").is_dir() && !at("deep/new").exists());
    assert_eq!(home.capture().await.tree, first.tree);
}

#[tokio::test]
async fn two_names_that_differ_only_in_bytes_that_are_no_text_stay_two() {
    let home = Home::new();
    let odd = |byte: u8| home.base().join(OsStr::from_bytes(&[b'n', byte]));
    write(&odd(0xfe), b"one");
    write(&odd(0xff), b"two");
    fs::create_dir(home.base().join(OsStr::from_bytes(b"\x80"))).expect("made");
    let first = home.capture().await;
    assert_eq!(first.entries, 3);
    home.clear();
    home.restore(first.tree).await.expect("restored");
    assert_eq!(fs::read(odd(0xfe)).expect("read"), b"one");
    assert_eq!(fs::read(odd(0xff)).expect("read"), b"two");
    assert_eq!(home.capture().await.tree, first.tree);
}

#[tokio::test]
async fn folders_that_did_not_change_are_shared_and_not_stored_again() {
    let home = Home::new();
    for n in 0..50 {
        write(&home.at(&format!("same/{n}")), format!("{n}").as_bytes());
    }
    write(&home.at("same/large"), &vec![7; 100_000]);
    write(&home.at("other/a"), b"a");
    let first = home.capture().await;
    let (saved, put) = home.stored();
    assert!(saved >= 50 && put == 1, "{saved} {put}");
    write(&home.at("other/a"), b"b");
    let second = home.capture_knowing(first.known.clone()).await.expect("captured");
    let (more, again) = home.stored();
    // The new content, its folder, and the root.
    assert_eq!((more - saved, again - put), (3, 0));
    let (a, b) = (home.tree(first.tree).await, home.tree(second.tree).await);
    assert_eq!(a.get(b"same"), b.get(b"same"));
    assert_ne!(a.get(b"other"), b.get(b"other"));
    home.restore(first.tree).await.expect("restored");
    assert_eq!(fs::read(home.at("other/a")).expect("read"), b"a");
}

#[tokio::test]
async fn sockets_and_pipes_are_skipped_and_said() {
    let home = Home::new();
    write(&home.at("file"), b"x");
    let _socket = std::os::unix::net::UnixListener::bind(home.at("socket")).expect("bound");
    let fifo = home.at("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .expect("made");
    let captured = home.capture().await;
    let said: Vec<_> = captured.skipped.iter().map(|s| (s.path.to_string(), s.why)).collect();
    assert_eq!(said, [("pipe".to_owned(), Skip::Special), ("socket".to_owned(), Skip::Special)]);
    assert_eq!(captured.entries, 3);
    home.restore(captured.tree).await.expect("restored");
    assert!(home.at("file").exists() && !fifo.exists());
}

#[tokio::test]
async fn limits_are_typed_and_name_the_place() {
    let home = Home::new();
    write(&home.at("a/b/c"), &[1; 10]);
    write(&home.at("a/d"), &[2; 10]);
    for (limits, measure, place) in [
        (Limits { entries: 3, ..LIMITS }, Measure::Entries, "a/d"),
        (Limits { depth: 1, ..LIMITS }, Measure::Depth, "a/b"),
        (Limits { bytes: 19, ..LIMITS }, Measure::Bytes, "a/d"),
    ] {
        let refused = home.capture_within(limits).await.expect_err("refused");
        let CaptureError::Snapshot(SnapshotError::Limit { measure: what, path, .. }) = refused else {
            panic!("{refused}")
        };
        assert_eq!((what, path.to_string().as_str()), (measure, place));
    }
    let exact = Limits { entries: 4, depth: 2, bytes: 20, file: 10 };
    let tree = home.capture_within(exact).await.expect("captured").tree;
    home.restore_within(tree, exact).await.expect("restored");
    for limits in
        [Limits { entries: 3, ..LIMITS }, Limits { depth: 1, ..LIMITS }, Limits { bytes: 19, ..LIMITS }]
    {
        write(&home.at("kept"), b"k");
        let refused = home.restore_within(tree, limits).await.expect_err("refused");
        assert!(matches!(refused, SnapshotError::Limit { .. }), "{refused}");
        assert!(home.at("kept").exists(), "nothing is changed before the tree is known to fit");
    }
    let small = home.capture_within(Limits { file: 9, ..LIMITS }).await.expect("captured");
    assert_eq!(small.skipped.len(), 2);
    assert!(small.skipped.iter().all(|skipped| skipped.why == Skip::TooLarge));
}

#[tokio::test]
async fn only_the_named_folders_are_captured_and_reset() {
    let home = Home::new();
    write(&home.at("workspace/a"), b"a");
    write(&home.at("inputs/i"), b"i");
    let name = |text: &str| Name::new(text.as_bytes()).expect("a name");
    let scope = Scope::only(home.base(), [name("workspace"), name("staging")]);
    let first = home.capture_scope(scope.clone()).await.expect("captured");
    assert_eq!(home.tree(first.tree).await.entries().len(), 1);
    write(&home.at("staging/s"), b"s");
    write(&home.at("inputs/j"), b"j");
    restore(home.blobs(), scope.clone(), first.tree, LIMITS).await.expect("restored");
    assert!(home.at("inputs/j").exists() && !home.at("staging").exists());
    let whole = home.capture().await;
    let refused = restore(home.blobs(), scope, whole.tree, LIMITS).await.expect_err("refused");
    assert!(matches!(refused, SnapshotError::BadTree { cause: BadTree::Scope, .. }), "{refused}");
}

#[tokio::test]
async fn a_file_that_changes_once_is_read_again() {
    let home = Home::new();
    write(&home.at("log"), &vec![b'a'; 40_000]);
    home.meddle(Meddler { path: home.at("log"), times: 1.into() });
    let captured = home.capture().await;
    assert_eq!(captured.unstable, []);
    let tree = home.tree(captured.tree).await;
    let Node::File { size, .. } = tree.entries()[0].node else { panic!("a file") };
    assert_eq!(size, 40_001, "what was there at the end");
}

#[tokio::test]
async fn a_file_that_keeps_changing_is_named_and_kept_as_it_was_read() {
    let home = Home::new();
    write(&home.at("log"), &vec![b'a'; 40_000]);
    write(&home.at("quiet"), b"q");
    home.meddle(Meddler { path: home.at("log"), times: 1_000.into() });
    let captured = home.capture().await;
    let named: Vec<String> = captured.unstable.iter().map(ToString::to_string).collect();
    assert_eq!(named, ["log"]);
    assert_eq!(home.tree(captured.tree).await.entries().len(), 2);
    home.restore(captured.tree).await.expect("a prefix of what was appended is there");
}

#[tokio::test]
async fn what_is_no_tree_or_misses_a_blob_is_refused_before_anything_is_removed() {
    let home = Home::new();
    write(&home.at("large"), &vec![5; 50_000]);
    let tree = home.capture().await.tree;
    let object = home.tree(tree).await;
    let content = object.entries()[0].node.reference().digest();
    write(&home.at("kept"), b"k");
    let refused = home.restore(content).await.expect_err("a file's content");
    assert!(matches!(refused, SnapshotError::BadTree { cause: BadTree::Header, .. }), "{refused}");
    let refused = home.restore(holdpoint_core::Digest::of(b"unknown")).await.expect_err("unknown");
    assert!(matches!(refused, SnapshotError::Content { .. }), "{refused}");
    assert!(home.at("kept").exists() && home.at("large").exists());
}

#[tokio::test]
async fn a_caller_that_is_gone_stops_the_work() {
    let home = Home::new();
    write(&home.at("a"), &vec![1; 50_000]);
    write(&home.at("b"), &vec![2; 50_000]);
    let (entered, gate) = home.hold_puts();
    let work = tokio::spawn(capture(home.blobs(), home.saver(), home.scope(), LIMITS, Known::default()));
    entered.await.expect("the first file is being stored");
    work.abort();
    assert!(work.await.expect_err("aborted").is_cancelled());
    gate.send(()).expect("the thread waits");
    home.until_idle().await;
    assert_eq!(home.puts.load(Ordering::SeqCst), 1, "the second file was not begun");
}

#[tokio::test]
async fn holes_come_back_as_holes() {
    let home = Home::new();
    let file = fs::File::create(home.at("sparse")).expect("made");
    file.set_len(64 << 20).expect("grown");
    drop(file);
    let tree = home.capture().await.tree;
    home.clear();
    home.restore(tree).await.expect("restored");
    let meta = fs::metadata(home.at("sparse")).expect("there");
    assert_eq!(meta.len(), 64 << 20);
    assert!(meta.blocks() * 512 < 1 << 20, "{} blocks", meta.blocks());
}

#[tokio::test]
async fn folders_nested_deeper_than_files_may_be_open_are_removed() {
    let home = Home::new();
    let tree = home.capture().await.tree;
    let mut here = rustix::fs::open(home.base(), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
        .expect("opened");
    for _ in 0..2_000 {
        rustix::fs::mkdirat(&here, "d", rustix::fs::Mode::RWXU).expect("made");
        here = rustix::fs::openat(&here, "d", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
            .expect("opened");
    }
    let refused = home.capture_within(LIMITS).await.expect_err("too deep");
    assert!(
        matches!(refused, CaptureError::Snapshot(SnapshotError::Limit { measure: Measure::Depth, .. })),
        "{refused}"
    );
    home.restore(tree).await.expect("restored");
    assert_eq!(fs::read_dir(home.base()).expect("listed").count(), 0);
}
