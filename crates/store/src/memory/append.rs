//! Appending: the checks that refuse an append before it touches anything, and the write that cannot fail.

use std::collections::BTreeSet;

use holdpoint_core::{Seq, StreamId, Version};
use holdpoint_planted::{Bug, planted};

use super::disk::{Small, State};
use crate::{Append, Key, NewRow, OwnerId, Receipt, Refused, Row, StoreError, UsedKey};

impl State {
    /// Refuses an append that cannot be written now. The key comes first: a repeated request names versions
    /// that have long moved on.
    pub(super) fn check(&self, owner: OwnerId, append: &Append) -> Result<(), Refused> {
        well_formed(append)?;
        self.check_key(owner, append)?;
        let fenced = append.fence.and_then(|fence| self.work.refuses(&fence, owner));
        if let Some(epoch) = fenced.filter(|_| !planted(Bug::MemoryDropEpochCheck)) {
            return Err(Refused::Fenced(epoch));
        }
        let written = append.rows.iter().map(|row| (row.stream, Version(row.first.0 - 1)));
        for (stream, expected) in append.expect.iter().copied().chain(written) {
            let version = self.version(stream);
            if version != expected {
                return Err(Refused::Conflict(stream, version));
            }
        }
        let changes = append
            .rows
            .iter()
            .flat_map(|row| row.changes.iter().flatten().map(move |change| (row.stream, change)));
        match self.tables.clash(changes) {
            Some(clash) => Err(StoreError::Io(clash).into()),
            None => Ok(()),
        }
    }

    /// Writes an append that passed its checks.
    pub(super) fn commit(&mut self, owner: OwnerId, append: Append) -> Receipt {
        let before = self.head();
        let at = append.rows.first().map_or(self.wall, |row| row.at);
        for row in append.rows {
            self.write(row);
        }
        for blob in append.blobs {
            let small = self.small.entry(blob.digest).or_insert(Small { bytes: blob.bytes, at });
            small.at = small.at.max(at);
        }
        for change in &append.work {
            self.work.change(owner, change);
        }
        let last = self.head();
        let first = Seq(last.0.min(before.0 + 1));
        if let Some(Key { scope, request, at, reply }) = append.key {
            let wrote = (last > before).then_some((first, last));
            self.keys.insert(scope, UsedKey { request, at, wrote, reply });
        }
        let leases = append.work.iter().filter_map(|change| self.work.lease(owner, change.run)).collect();
        Receipt { first, last, leases }
    }

    /// The position of the last event.
    pub(super) fn head(&self) -> Seq {
        self.rows.last().map_or(Seq(0), Row::last_seq)
    }

    fn version(&self, stream: StreamId) -> Version {
        self.streams.get(&stream).map_or(Version(0), |stream| stream.version)
    }

    fn check_key(&self, owner: OwnerId, append: &Append) -> Result<(), Refused> {
        let used = append.key.as_ref().and_then(|key| Some((key, self.keys.get(&key.scope)?)));
        let Some((key, used)) = used.filter(|(key, used)| used.is_kept(key.at)) else { return Ok(()) };
        if used.request != key.request {
            return Err(Refused::KeyReused);
        }
        let leases = append.work.iter().filter_map(|change| self.work.lease(owner, change.run)).collect();
        let (first, last) = used.wrote.unwrap_or((self.head(), self.head()));
        Err(Refused::Replayed(Receipt { first, last, leases }))
    }

    fn write(&mut self, new: NewRow) {
        let seq = Seq(self.head().0 + 1);
        for (event, changes) in new.changes.iter().enumerate() {
            self.tables.apply(new.stream, Seq(seq.0 + event as u64), changes);
        }
        if !self.streams.contains_key(&new.stream) {
            self.began.push(new.stream);
        }
        let row = Row {
            seq,
            stream: new.stream,
            session: new.session,
            first: new.first,
            count: new.count,
            at: new.at,
            actor: new.actor,
            command: new.command,
            shape: new.shape,
            bytes: new.bytes,
            prev: new.prev,
            hash: new.hash,
        };
        let stream = self.streams.entry(row.stream).or_default();
        stream.version = row.last();
        stream.rows.push(self.rows.len());
        self.rows.push(row);
    }
}

/// A sender's mistake that no store could write.
fn well_formed(append: &Append) -> Result<(), StoreError> {
    let mut streams = BTreeSet::new();
    for row in &append.rows {
        let fault = if !streams.insert(row.stream) {
            "two rows"
        } else if row.first.0 == 0 || row.count == 0 {
            "a row without events"
        } else if row.changes.len() != row.count as usize {
            "a row whose changes are not one list per event"
        } else if row.is_misplaced() {
            "a change that does not stand with its event"
        } else {
            continue;
        };
        return Err(StoreError::Io(format!("the append has {fault} for {}", row.stream)));
    }
    Ok(())
}
