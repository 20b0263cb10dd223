//! How much one tree may hold.

use std::fmt;

/// Limits of one capture or restore. All but `file` end it with an error; a larger file is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all folders together.
    pub entries: u64,
    /// Folders inside each other; each holds one descriptor open.
    pub depth: u64,
    /// Bytes of all file contents together.
    pub bytes: u64,
    /// Bytes of one file.
    pub file: u64,
}

impl Limits {
    /// The most that any tree may hold.
    pub const MOST: Self = Self { entries: 1_000_000, depth: 256, bytes: u64::MAX, file: 4 << 30 };
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Entries of all folders.
    Entries,
    /// Folders inside each other.
    Depth,
    /// Bytes of all files.
    Bytes,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "entries",
            Self::Depth => "levels of folders",
            Self::Bytes => "bytes",
        })
    }
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    pub entries: u64,
    pub bytes: u64,
}

impl Used {
    pub fn entry(&mut self, limits: &Limits) -> Result<(), (Measure, u64)> {
        self.entries += 1;
        if self.entries > limits.entries { Err((Measure::Entries, limits.entries)) } else { Ok(()) }
    }

    pub fn bytes(&mut self, more: u64, limits: &Limits) -> Result<(), (Measure, u64)> {
        self.bytes = self.bytes.saturating_add(more);
        if self.bytes > limits.bytes { Err((Measure::Bytes, limits.bytes)) } else { Ok(()) }
    }
}

pub(crate) fn deep(depth: u64, limits: &Limits) -> Result<(), (Measure, u64)> {
    if depth > limits.depth { Err((Measure::Depth, limits.depth)) } else { Ok(()) }
}
