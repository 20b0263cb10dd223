//! One file: what reads see, what is durable, and what lies between.

use std::collections::BTreeMap;
use std::sync::Weak;

use crate::numbers::Numbers;
use crate::shm::Shm;

/// Something that was done to a file and is not synced.
#[derive(Clone, Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// How a cut treats what is not synced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mood {
    /// Nothing had reached the disk.
    Lost,
    /// Everything had: the program dies and the disk does not notice.
    Kept,
    /// The disk worked in order, and was in the middle of something.
    InOrder,
    /// The disk worked in any order.
    AnyOrder,
}

impl Mood {
    pub(crate) fn of(numbers: &mut Numbers) -> Self {
        match numbers.below(6) {
            0 => Self::Lost,
            1 => Self::Kept,
            2 | 3 => Self::InOrder,
            _ => Self::AnyOrder,
        }
    }
}

/// A file, whatever its name.
#[derive(Default)]
pub(crate) struct File {
    now: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    /// The level of lock that each open handle holds.
    pub(crate) locks: BTreeMap<u64, i32>,
    /// Lives as long as a handle has it mapped.
    pub(crate) shm: Weak<Shm>,
}

impl File {
    /// A file whose bytes are durable.
    pub(crate) fn holding(bytes: Vec<u8>) -> Self {
        Self { durable: bytes.clone(), now: bytes, ..Self::default() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.now
    }

    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        put(&mut self.now, offset, bytes);
        self.unsynced.push(Change::Write(offset, bytes.to_vec()));
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.now.truncate(length);
        self.unsynced.push(Change::Truncate(length));
    }

    pub(crate) fn flip(&mut self, offset: usize, bits: u8) -> bool {
        if let Some(byte) = self.durable.get_mut(offset) {
            *byte ^= bits;
        }
        self.now.get_mut(offset).map(|byte| *byte ^= bits).is_some()
    }

    /// Makes everything durable.
    pub(crate) fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    /// A sync that fails: each change is durable or forgotten, and reads do not tell which.
    pub(crate) fn fail_sync(&mut self, numbers: &mut Numbers) {
        for change in self.unsynced.drain(..) {
            if numbers.below(2) == 0 {
                change.apply(&mut self.durable);
            }
        }
    }

    /// What a power cut leaves of the file.
    pub(crate) fn after_cut(self, mood: Mood, numbers: &mut Numbers) -> Self {
        let mut left = self.durable;
        let sector = if numbers.below(2) == 0 { 512 } else { 4096 };
        let reached = numbers.below(self.unsynced.len() as u64 + 1) as usize;
        for (at, change) in self.unsynced.into_iter().enumerate() {
            let torn = match mood {
                Mood::Lost => continue,
                Mood::Kept => false,
                Mood::InOrder if at > reached => break,
                Mood::InOrder => at == reached,
                Mood::AnyOrder => match numbers.below(3) {
                    0 => continue,
                    one => one == 1,
                },
            };
            if torn {
                change.tear(&mut left, sector, numbers);
            } else {
                change.apply(&mut left);
            }
        }
        Self::holding(left)
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write(offset, bytes) => put(to, *offset, bytes),
            Self::Truncate(length) => to.truncate(*length),
        }
    }

    /// Some sectors of a write arrive, some do not, and some arrive as nonsense. A write that came before on
    /// the same sector counts on its own account, so any order is met without moving writes about.
    fn tear(&self, to: &mut Vec<u8>, sector: usize, numbers: &mut Numbers) {
        let Self::Write(offset, bytes) = self else { return };
        let (mut at, end) = (*offset, offset + bytes.len());
        while at < end {
            let next = end.min((at / sector + 1) * sector);
            let mut part = bytes[at - offset..next - offset].to_vec();
            match numbers.below(8) {
                0..4 => put(to, at, &part),
                4..7 => {}
                _ => {
                    numbers.fill(&mut part);
                    put(to, at, &part);
                }
            }
            at = next;
        }
    }
}

/// Writes bytes; a gap before them reads as zero.
fn put(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    to[offset..end].copy_from_slice(bytes);
}
