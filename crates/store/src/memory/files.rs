//! Large blobs as files on a disk that forgets what was not synced.
//!
//! A file is written under a temporary name, synced, renamed, and its folder is synced. Its bytes survive a
//! power cut from the second step on, its name from the fourth.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdpoint_core::{Digest, Timestamp};

/// How long a temporary file is left alone.
pub(super) const TEMP_AGE_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// The files of one disk.
#[derive(Default)]
pub(super) struct Files {
    pub(super) named: BTreeMap<Digest, File>,
    pub(super) temps: BTreeMap<u64, File>,
    opened: u64,
    chance: u64,
}

/// One file.
pub(super) struct File {
    pub(super) bytes: Arc<[u8]>,
    /// Whether its bytes survive a power cut.
    pub(super) synced: bool,
    /// Whether its name does.
    pub(super) anchored: bool,
    /// When it was last stamped.
    pub(super) at: Timestamp,
}

impl Files {
    pub(super) fn seed(&mut self, seed: u64) {
        self.chance = seed;
    }

    pub(super) fn create(&mut self, bytes: Arc<[u8]>, at: Timestamp) -> u64 {
        self.opened += 1;
        self.temps.insert(self.opened, File { bytes, synced: false, anchored: false, at });
        self.opened
    }

    pub(super) fn sync(&mut self, temp: u64) {
        if let Some(file) = self.temps.get_mut(&temp) {
            file.synced = true;
        }
    }

    /// Gives a temporary file its name; when the name is taken by the same bytes, that file is stamped and
    /// stays.
    pub(super) fn rename(&mut self, temp: u64, digest: Digest, at: Timestamp) {
        let Some(mut file) = self.temps.remove(&temp) else { return };
        file.at = at;
        match self.named.get_mut(&digest) {
            Some(found) if found.bytes == file.bytes => found.at = at,
            _ => drop(self.named.insert(digest, file)),
        }
    }

    pub(super) fn anchor(&mut self, digest: Digest) {
        if let Some(file) = self.named.get_mut(&digest) {
            file.anchored = true;
        }
    }

    pub(super) fn damage(&mut self, digest: Digest) -> bool {
        let at = self.random() as usize;
        let Some(file) = self.named.get_mut(&digest) else { return false };
        let mut bytes = file.bytes.to_vec();
        let at = at % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1;
        }
        file.bytes = bytes.into();
        true
    }

    /// What a power cut does: each name that was not synced may be gone, and bytes that were not synced are
    /// gone from some point on, or zeros.
    pub(super) fn lose_unsynced(&mut self) {
        let mut named = std::mem::take(&mut self.named);
        named.retain(|_, file| self.outlives(file));
        self.named = named;
        let mut temps = std::mem::take(&mut self.temps);
        temps.retain(|_, file| self.outlives(file));
        self.temps = temps;
    }

    fn outlives(&mut self, file: &mut File) -> bool {
        if !file.anchored && self.random().is_multiple_of(2) {
            return false;
        }
        if !file.synced {
            let kept = self.random() as usize % (file.bytes.len() + 1);
            let mut bytes = file.bytes[..kept].to_vec();
            if self.random().is_multiple_of(2) {
                bytes.resize(file.bytes.len(), 0);
            }
            file.bytes = bytes.into();
        }
        file.synced = true;
        file.anchored = true;
        true
    }

    /// The next number of a fixed sequence (splitmix64).
    fn random(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.chance;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}
