//! The work table and its owners: which runs want attention, who holds them, and under which epoch.

use std::collections::BTreeMap;

use holdpoint_core::{RunId, Timestamp};

use super::disk::LEASE_MS;
use crate::{Claimed, Fence, Lease, OwnerId, WorkChange};

/// Runs with their due times and owners, and the processes that can own them.
pub(super) struct Work {
    runs: BTreeMap<RunId, Entry>,
    owners: BTreeMap<OwnerId, Owner>,
    /// Time since boot, which no change of the wall clock moves.
    pub(super) clock_ms: u64,
    pub(super) lease_ms: u64,
}

#[derive(Default)]
struct Entry {
    due: Option<Timestamp>,
    owner: Option<OwnerId>,
    epoch: u64,
}

struct Owner {
    runs: bool,
    beat_ms: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self { runs: BTreeMap::new(), owners: BTreeMap::new(), clock_ms: 0, lease_ms: LEASE_MS }
    }
}

impl Work {
    /// Adds an owner that has just shown that it is alive.
    pub(super) fn enter(&mut self) -> OwnerId {
        let owner = OwnerId(self.owners.len() as u64 + 1);
        self.owners.insert(owner, Owner { runs: true, beat_ms: self.clock_ms });
        owner
    }

    pub(super) fn end(&mut self, owner: OwnerId) {
        if let Some(owner) = self.owners.get_mut(&owner) {
            owner.runs = false;
        }
    }

    pub(super) fn end_all(&mut self) {
        for owner in self.owners.values_mut() {
            owner.runs = false;
        }
    }

    /// Whether the owner's process runs, however late its heartbeat is.
    pub(super) fn runs(&self, owner: OwnerId) -> bool {
        self.owners.get(&owner).is_some_and(|owner| owner.runs)
    }

    /// Whether the owner's leases hold against a claim by others.
    fn lives(&self, owner: OwnerId) -> bool {
        self.owners
            .get(&owner)
            .is_some_and(|owner| owner.runs && self.clock_ms.saturating_sub(owner.beat_ms) <= self.lease_ms)
    }

    /// The epoch that a fence is refused with, or nothing when it holds.
    pub(super) fn refuses(&self, fence: &Fence, owner: OwnerId) -> Option<u64> {
        match self.runs.get(&fence.run) {
            Some(entry) if entry.epoch == fence.epoch && entry.owner == Some(owner) => None,
            Some(entry) => Some(entry.epoch),
            None => Some(0),
        }
    }

    pub(super) fn change(&mut self, owner: OwnerId, change: &WorkChange) {
        let entry = self.runs.entry(change.run).or_default();
        entry.due = change.due;
        if change.due.is_none() {
            entry.owner = None;
        } else if change.take && entry.owner.is_none() {
            entry.owner = Some(owner);
            entry.epoch += 1;
            self.beat(owner);
        }
    }

    /// Takes over runs that are due and that no live owner holds, the longest due first.
    pub(super) fn claim(
        &mut self,
        owner: OwnerId,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> Vec<Claimed> {
        self.beat(owner);
        let mut due: Vec<(Timestamp, RunId)> = self
            .runs
            .iter()
            .filter(|(run, _)| only.is_none_or(|only| **run == only))
            .filter(|(_, entry)| entry.owner.is_none_or(|holder| holder != owner && !self.lives(holder)))
            .filter_map(|(run, entry)| Some((entry.due.filter(|due| *due <= now)?, *run)))
            .collect();
        due.sort_unstable();
        due.truncate(limit as usize);
        due.into_iter().filter_map(|(_, run)| self.take(owner, run)).collect()
    }

    fn take(&mut self, owner: OwnerId, run: RunId) -> Option<Claimed> {
        let entry = self.runs.get_mut(&run)?;
        let abandoned = entry.owner.replace(owner).is_some();
        entry.epoch += 1;
        Some(Claimed { lease: Lease { run, epoch: entry.epoch }, abandoned })
    }

    pub(super) fn beat(&mut self, owner: OwnerId) {
        let now = self.clock_ms;
        if let Some(owner) = self.owners.get_mut(&owner) {
            owner.beat_ms = now;
        }
    }

    /// The lease that an owner holds on a run.
    pub(super) fn lease(&self, owner: OwnerId, run: RunId) -> Option<Lease> {
        let entry = self.runs.get(&run).filter(|entry| entry.owner == Some(owner))?;
        Some(Lease { run, epoch: entry.epoch })
    }

    /// All leases that an owner holds.
    pub(super) fn held(&self, owner: OwnerId) -> Vec<Lease> {
        self.runs.keys().filter_map(|run| self.lease(owner, *run)).collect()
    }
}
