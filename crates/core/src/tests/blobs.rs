//! Every digest in a stored event is a blob that collection keeps, or is listed here as something else.

use std::collections::BTreeSet;

use serde_json::Value;

use super::samples;
use crate::Digest;
use crate::event::{BlobKind, Entry, Event, Keep, encode};

/// Digests that name no stored bytes, by kind and field.
const NO_BLOBS: &[(&str, &str)] = &[
    ("token_issued", "secret"),
    ("sealed", "heads"),
    ("exec", "body"),
    ("asked", "digest"),
    ("approved", "digest"),
    ("rejected", "digest"),
    ("submitted", "digest"),
    ("budget", "digest"),
    ("agreed", "digest"),
    ("revise", "digest"),
    ("retried", "digest"),
    ("ask", "digest"),
    ("answered", "digest"),
];

/// All digests in a value, with the fields that hold them.
fn digests(value: &Value, field: &str, found: &mut BTreeSet<(String, Digest)>) {
    match value {
        Value::String(text) => {
            if let Ok(digest) = text.parse() {
                assert!(found.insert((field.to_owned(), digest)), "two digests in fields called {field}");
            }
        }
        Value::Array(items) => items.iter().for_each(|item| digests(item, field, found)),
        Value::Object(fields) => fields.iter().for_each(|(field, value)| digests(value, field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn every_digest_of_an_event_is_a_blob_or_known_to_be_none() {
    let mut unused: BTreeSet<_> = NO_BLOBS.iter().collect();
    for event in samples::all() {
        let stored: Value = serde_json::from_slice(&encode(std::slice::from_ref(&event))).expect("JSON");
        let mut found = BTreeSet::new();
        digests(&stored, "", &mut found);
        found.retain(|(field, _)| {
            let no_blob = NO_BLOBS.iter().find(|(kind, name)| *kind == event.kind() && name == field);
            if let Some(known) = no_blob {
                unused.remove(known);
            }
            no_blob.is_none()
        });
        let mut found: Vec<Digest> = found.into_iter().map(|(_, digest)| digest).collect();
        let mut named: Vec<Digest> = event.blobs().into_iter().map(|blob| blob.digest).collect();
        found.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, found, "{}: the digests in its JSON", event.kind());
    }
    assert_eq!(unused, BTreeSet::new(), "listed as no blob, and found nowhere");
}

#[test]
fn only_the_folder_of_work_is_kept_while_it_works() {
    let pin = |name: &str| {
        let [blob] =
            Event::Journal(Entry::Pinned { name: name.into(), digest: Digest::of(b"x") }).blobs()[..]
        else {
            panic!("one blob")
        };
        (blob.kind, blob.keep)
    };
    assert_eq!(pin("workspace/"), (BlobKind::Tree, Keep::WhileWorking));
    // A script may have this name; a path that ends in a slash is no file's.
    assert_eq!(pin("workspace"), (BlobKind::Bytes, Keep::Always));
}
