//! Who owns which run's work, kept beside the store: what it lets through is compared with this.
//!
//! Everything is noted in the same instant in which the store answers, so that the order is the store's.

use std::collections::BTreeMap;

use holdpoint_core::{Digest, RunId, Seq};
use holdpoint_store::{Append, Fence, Lease};

/// One simulated process.
pub type Pid = u32;

/// What an append asked for, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The scope of its key.
    key: Option<Digest>,
    fence: Option<Fence>,
}

impl Asked {
    /// What matters of an append.
    pub fn of(append: &Append) -> Self {
        Self { key: append.key.as_ref().map(|key| key.scope), fence: append.fence }
    }
}

/// The owners of work, and the keys that were used.
#[derive(Debug, Default)]
pub struct Ledger {
    owners: BTreeMap<RunId, (u64, Pid)>,
    keys: BTreeMap<Digest, (Seq, Seq)>,
    /// How often a late commit was refused.
    pub fenced: u64,
}

impl Ledger {
    /// Notes what a process claimed.
    pub fn claimed(&mut self, pid: Pid, leases: &[Lease]) -> Option<String> {
        let found: Vec<String> = leases.iter().filter_map(|lease| self.take(pid, *lease)).collect();
        found.into_iter().next()
    }

    fn take(&mut self, pid: Pid, lease: Lease) -> Option<String> {
        let before = self.owners.insert(lease.run, (lease.epoch, pid));
        let (epoch, owner) = before?;
        let same = epoch == lease.epoch && owner == pid;
        (lease.epoch <= epoch && !same).then(|| {
            format!(
                "I12: process {pid} got epoch {} of run {}, process {owner} had {epoch}",
                lease.epoch, lease.run
            )
        })
    }

    /// Notes an append that moved the log from one position to another.
    pub fn committed(
        &mut self,
        pid: Pid,
        asked: Asked,
        from: Seq,
        to: Seq,
        leases: &[Lease],
    ) -> Option<String> {
        let stale = asked.fence.and_then(|fence| {
            let (epoch, owner) = *self.owners.get(&fence.run)?;
            (fence.epoch < epoch || (fence.epoch == epoch && owner != pid)).then(|| {
                format!(
                    "I11: process {pid} recorded under epoch {} of run {}, which process {owner} has at {epoch}",
                    fence.epoch, fence.run
                )
            })
        });
        let twice = asked.key.and_then(|key| {
            let range = (Seq(from.0 + 1), to);
            let before = self.keys.insert(key, range)?;
            Some(format!("I2: one key was bound at {before:?} and again at {range:?}"))
        });
        stale.or(twice).or(self.claimed(pid, leases))
    }
}
