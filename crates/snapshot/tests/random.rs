//! Random folders: what was captured and restored is captured as the same again.

mod common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{Home, chmod, write};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Made {
    File(Vec<u8>, u32),
    Link(Vec<u8>),
    Folder(BTreeMap<Vec<u8>, Made>, u32),
}

/// Names of any bytes, and few enough that two folders share some.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'a'), Just(b'.'), Just(0xff), Just(0xfe), Just(b'\n'), 1..=255u8];
    vec(byte.prop_filter("no name has a slash", |byte| *byte != b'/'), 1..4)
        .prop_filter("not these", |name| !matches!(name.as_slice(), b"." | b".."))
}

fn made() -> impl Strategy<Value = Made> {
    let content = prop_oneof![
        4 => vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 32_760usize..33_000).prop_map(|(byte, size)| vec![byte; size]),
    ];
    // The owner can read all of it, so that the test need not be root.
    let mode = || (0..0o100u32).prop_map(|mode| mode | 0o600);
    let leaf = prop_oneof![
        3 => (content, (0..0o1000u32).prop_map(|mode| mode | 0o400)).prop_map(|(c, m)| Made::File(c, m)),
        1 => vec(1..=255u8, 1..20).prop_map(Made::Link),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        (btree_map(name(), inner, 0..5), mode()).prop_map(|(all, bits)| Made::Folder(all, bits | 0o700))
    })
}

fn put(at: &Path, what: &Made) {
    match what {
        Made::File(content, bits) => {
            write(at, content);
            chmod(at, *bits);
        }
        Made::Link(target) => symlink(OsStr::from_bytes(target), at).expect("linked"),
        Made::Folder(all, bits) => {
            fs::create_dir(at).expect("made");
            put_all(at, all);
            chmod(at, *bits);
        }
    }
}

fn put_all(at: &Path, all: &BTreeMap<Vec<u8>, Made>) {
    for (name, made) in all {
        put(&at.join(OsStr::from_bytes(name)), made);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn capture_restore_capture_is_the_same_tree(
        first in btree_map(name(), made(), 0..6),
        other in btree_map(name(), made(), 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let home = Home::new();
            put_all(&home.base(), &first);
            let before = home.capture().await;
            prop_assert_eq!((before.skipped.len(), before.unstable.len()), (0, 0));
            // Restored over whatever else is there.
            home.clear();
            put_all(&home.base(), &other);
            let between = home.capture().await;
            home.restore(before.tree).await.expect("restored");
            prop_assert_eq!(home.capture().await.tree, before.tree);
            home.restore(between.tree).await.expect("restored");
            prop_assert_eq!(home.capture().await.tree, between.tree);
            Ok(())
        })?;
    }
}
