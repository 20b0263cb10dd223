//! Verifying the log: every row's hash, every link, dense numbers, every seal.

use std::collections::HashMap;

use holdpoint_core::event::HomeEvent;
use holdpoint_core::{Digest, Event, Seq, StreamId, Version, event};
use holdpoint_store::{EventLog, Row, StoreError};

use crate::Engine;
use crate::seal::Heads;

/// How many rows are read at once.
const PAGE: u32 = 4_000;
/// How many findings are kept.
const MAX_FOUND: usize = 100;

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Events looked at.
    pub events: u64,
    /// Rows looked at.
    pub rows: u64,
    /// Streams seen.
    pub streams: u64,
    /// Seals checked.
    pub seals: u64,
    /// The position up to which seals cover the log.
    pub sealed: Seq,
    /// Rows behind the last seal that the next one will cover.
    pub unsealed: u64,
    /// What is wrong, the first hundred.
    pub wrong: Vec<String>,
}

impl Report {
    fn found(&mut self, what: String) {
        if self.wrong.len() < MAX_FOUND {
            self.wrong.push(what);
        }
    }
}

impl Engine {
    /// Checks this engine's log, from its beginning to where it ends now.
    pub async fn verify(&self) -> Result<Report, StoreError> {
        verify(self.log(), &|_| {}).await
    }
}

/// Reads the whole log and checks it. `progress` hears how many events were looked at.
pub async fn verify(log: &dyn EventLog, progress: &(dyn Fn(u64) + Sync)) -> Result<Report, StoreError> {
    let mut check = Check::default();
    let mut after = Seq(0);
    loop {
        let rows = log.read_all(after, PAGE).await?;
        let Some(last) = rows.last() else { break };
        after = last.last_seq();
        let full = rows.len() == PAGE as usize;
        check.rows(rows).await;
        progress(check.report.events);
        if !full {
            break;
        }
    }
    check.report.streams = check.heads.len() as u64;
    check.report.sealed = check.sealed;
    check.report.unsealed = check.unsealed.len() as u64;
    Ok(check.report)
}

#[derive(Default)]
struct Check {
    report: Report,
    heads: HashMap<StreamId, (Version, Digest)>,
    seq: u64,
    sealed: Seq,
    /// Rows since the last seal.
    unsealed: Vec<(Seq, StreamId, Version, Digest)>,
}

impl Check {
    /// Hashes are computed side by side; everything else in order.
    async fn rows(&mut self, rows: Vec<Row>) {
        let halves = rows.len().div_ceil(2);
        let mut rows = rows;
        let second = rows.split_off(halves.min(rows.len()));
        let hash = |rows: Vec<Row>| {
            tokio::task::spawn_blocking(move || {
                let hashes: Vec<bool> = rows.iter().map(|row| row.computed_hash() == row.hash).collect();
                (rows, hashes)
            })
        };
        let (first, second) = tokio::join!(hash(rows), hash(second));
        for half in [first, second] {
            match half {
                Ok((rows, hashes)) => {
                    for (row, right) in rows.iter().zip(hashes) {
                        self.row(row, right);
                    }
                }
                Err(cause) => self.report.found(format!("a part of the log was not checked: {cause}")),
            }
        }
    }

    fn row(&mut self, row: &Row, hash_is_right: bool) {
        self.report.rows += 1;
        self.report.events += u64::from(row.count);
        let place = format!("{} at version {}", row.stream, row.first.0);
        if row.seq.0 != self.seq + 1 {
            self.report.found(format!("{place}: position {} follows {}", row.seq.0, self.seq));
        }
        self.seq = row.last_seq().0;
        if !hash_is_right {
            self.report.found(format!("{place}: the row is not what its hash says"));
        }
        let (version, head) = self.heads.get(&row.stream).copied().unwrap_or((Version(0), Digest::ZERO));
        if row.first.0 != version.0 + 1 {
            self.report.found(format!("{place}: follows version {}", version.0));
        }
        if row.prev != head {
            self.report.found(format!("{place}: does not link to the row before it"));
        }
        self.heads.insert(row.stream, (row.last(), row.hash));
        if row.stream == StreamId::Home {
            self.home(row);
        } else {
            self.unsealed.push((row.last_seq(), row.stream, row.last(), row.hash));
        }
    }

    fn home(&mut self, row: &Row) {
        let Ok(events) = event::decode(row.stream.kind(), &row.bytes) else {
            self.report.found(format!("home at version {}: cannot be read", row.first.0));
            return;
        };
        for event in events {
            if let Event::Home(HomeEvent::Sealed { upto, streams, heads }) = event {
                self.seal(upto, streams, heads);
            }
        }
    }

    fn seal(&mut self, upto: Seq, streams: u64, heads: Digest) {
        self.report.seals += 1;
        let mut covered = Heads::default();
        let mut rest = Vec::new();
        for (seq, stream, version, hash) in self.unsealed.drain(..) {
            if seq <= upto {
                covered.put(stream, version, hash);
            } else {
                rest.push((seq, stream, version, hash));
            }
        }
        self.unsealed = rest;
        if covered.count() != streams || covered.digest() != heads {
            let from = self.sealed.0;
            self.report.found(format!("the seal over positions {from} to {} does not match the log", upto.0));
        }
        self.sealed = upto;
    }
}
