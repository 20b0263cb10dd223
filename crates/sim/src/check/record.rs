//! The record itself: the chain, the tables, saved folds, blobs, and that nothing acknowledged is missing.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_core::{Digest, FOLD_CODE, Stamp, State, StreamId, Version, evolve};
use holdpoint_engine::{audit, doctor};
use holdpoint_store::memory::MemoryLog;
use holdpoint_store::{BlobStore as _, EventLog as _, StoreError};
use tokio::io::AsyncReadExt as _;

use super::{Entry, Found};
use crate::client::Ack;

/// I3, I25: dense numbers, right hashes, links and seals.
pub async fn chain(log: &MemoryLog) -> Result<Found, StoreError> {
    let report = audit::verify(log, &|_| {}).await?;
    Ok(report.wrong.into_iter().map(|wrong| format!("I25: {wrong}")).collect())
}

/// I4: the tables are what the log makes of them.
pub async fn tables(log: &MemoryLog) -> Result<Found, StoreError> {
    let tables = doctor::check_tables(log, false, &|_| {}).await?;
    Ok(tables.wrong.into_iter().map(|wrong| format!("I4: {wrong}")).collect())
}

/// I5: a saved fold is the fold of the events up to its version.
pub async fn folds(log: &MemoryLog, entries: &[Entry]) -> Result<Found, StoreError> {
    let mut found = Vec::new();
    let streams: BTreeSet<StreamId> = entries.iter().map(|entry| entry.row.stream).collect();
    for stream in streams {
        let Some(saved) = log.fold(stream).await?.filter(|saved| saved.code == FOLD_CODE) else { continue };
        let (state, hash) = fold(entries, stream, saved.version);
        let kept: Option<State> = serde_json::from_slice(&saved.bytes).ok();
        if kept != Some(state) || hash != Some(saved.hash) {
            found.push(format!(
                "I5: the saved fold of {stream} at {:?} is not that of its events",
                saved.version
            ));
        }
    }
    Ok(found)
}

fn fold(entries: &[Entry], stream: StreamId, version: Version) -> (State, Option<Digest>) {
    let mut state = State::empty(stream);
    let mut hash = None;
    for entry in entries.iter().filter(|entry| entry.row.stream == stream && entry.row.last() <= version) {
        let row = &entry.row;
        let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
        for event in &entry.events {
            evolve(&mut state, &stamp, event);
        }
        hash = Some(row.hash);
    }
    (state, hash)
}

/// I7: every blob that an event names is there, and is what its name says.
pub async fn blobs(log: &MemoryLog, entries: &[Entry]) -> Found {
    let mut named: BTreeMap<Digest, String> = BTreeMap::new();
    for entry in entries {
        for event in &entry.events {
            for blob in event.blobs() {
                named
                    .entry(blob.digest)
                    .or_insert_with(|| format!("{} at {}", entry.row.stream, entry.row.seq.0));
            }
        }
    }
    let blobs = log.blobs();
    let mut found = Vec::new();
    for (digest, by) in named {
        let mut bytes = Vec::new();
        let whole = match blobs.get(digest).await {
            Ok(mut reader) => reader.read_to_end(&mut bytes).await.map_err(|cause| cause.to_string()),
            Err(cause) => Err(cause.to_string()),
        };
        if let Err(cause) = whole {
            found.push(format!("I7: {by} names a blob that cannot be read: {cause}"));
        }
    }
    found
}

/// I1: what was acknowledged stands where it was said to stand, unchanged.
pub fn acks(acks: &[Ack], entries: &[Entry]) -> Found {
    let mut found = Vec::new();
    for ack in acks {
        let start = entries.partition_point(|entry| entry.row.seq < ack.range.0);
        let now = entries[start..].iter().take_while(|entry| entry.row.seq <= ack.range.1);
        let now: Vec<_> = now.map(|e| (e.row.seq, e.row.hash, Digest::of(&e.row.bytes))).collect();
        if now != ack.rows {
            found.push(format!("I1: #{} was acknowledged at {:?} and is not there", ack.no, ack.range));
        }
    }
    found
}
