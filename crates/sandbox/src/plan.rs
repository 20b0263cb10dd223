//! What the server hands to the watcher, and the watcher to the entrance.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Level, Limits};

/// Where a program finds its temporary files when it has a file system of its own.
pub(crate) const TMP: &str = "/tmp";

/// The helper's place inside that file system.
pub(crate) const HELPER: &str = "/.holdpoint";

/// One run, with every path absolute and checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub level: Level,
    pub layers: Layers,
    /// Set when the level is full.
    pub bwrap: Option<PathBuf>,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    pub read_write: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
    /// The folder for temporary files. The watcher makes it and removes it.
    pub scratch: PathBuf,
    pub network: bool,
    pub limits: Limits,
    /// Whom the program becomes, when the server is root. The watcher fills it in.
    pub user: Option<u32>,
    /// Processes that the program's user has already and that the kernel counts together with the program's own.
    /// The watcher fills it in: the entrance may be where it cannot see them.
    pub others: u64,
}

impl Plan {
    /// Where the program sees its temporary files.
    pub(crate) fn tmp(&self) -> PathBuf {
        if self.namespaces() { PathBuf::from(TMP) } else { self.scratch.clone() }
    }

    /// Whether the program has namespaces of its own.
    pub(crate) fn namespaces(&self) -> bool {
        self.level == Level::Full && self.layers.namespaces
    }
}

/// Which layers are laid on. All of them, except in a test that shows what one is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each layer stands for itself")]
pub struct Layers {
    /// `bwrap`, at the full level.
    pub namespaces: bool,
    /// Landlock.
    pub landlock: bool,
    /// seccomp.
    pub seccomp: bool,
    /// The resource limits.
    pub limits: bool,
    /// The change of user, for a server that is root.
    pub user: bool,
}

impl Default for Layers {
    fn default() -> Self {
        Self { namespaces: true, landlock: true, seccomp: true, limits: true, user: true }
    }
}
