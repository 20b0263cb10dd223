//! How far the tree is known to be written: a small file that saves a start from looking at everything.
//!
//! The tree is a cache and is not synced file by file. After the machine itself went down, what was written since
//! the disk was last told to keep everything is compared by its content.

use std::io::{self, Read as _};
use std::sync::Arc;

use holdpoint_core::Seq;
use serde::{Deserialize, Serialize};

use super::folder::{Folder, Walk};
use super::place::OWN;

const NAME: &str = "cursor.json";

/// How far the tree is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// Everything up to this position of the log is in the tree.
    pub position: Seq,
    /// Everything up to this position is also on the disk.
    pub kept: Seq,
    /// When the machine last started, as far as it tells.
    pub boot: String,
}

impl Cursor {
    /// Reads the cursor. What cannot be read says nothing: then everything is looked at.
    pub fn load(base: &Folder) -> io::Result<Self> {
        let Walk::There(folder) = base.walk(OWN)? else { return Ok(Self::default()) };
        let mut bytes = Vec::new();
        match folder.read(NAME) {
            Ok(file) => file.take(64 * 1024).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub fn save(&self, base: &Arc<Folder>) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        // Two processes may save at once: each writes a file of its own and gives it the name.
        let folder = base.make(OWN)?;
        let own = format!("cursor-{}", std::process::id());
        folder.write(&own, &bytes)?;
        folder.move_over(&own, &folder, NAME)
    }
}

/// What the machine says about when it started; the same until it starts again.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
