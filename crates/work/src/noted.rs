//! What an attempt noted before it was cut off, so that whoever goes on notes everything once.

use holdpoint_core::Digest;
use holdpoint_core::event::Entry;

/// What stands in the journal beside the conversation itself.
#[derive(Debug, Default)]
pub(super) struct Noted {
    pins: Vec<(String, Digest)>,
    /// What the details of log lines are about.
    logs: Vec<String>,
}

impl Noted {
    pub fn of(entries: &[Entry]) -> Self {
        let mut noted = Self::default();
        for entry in entries {
            match entry {
                Entry::Pinned { name, digest } => noted.pins.push((name.to_string(), *digest)),
                Entry::Log { details: Some(details), .. } => {
                    noted
                        .logs
                        .extend(details.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
                }
                Entry::Opened { .. }
                | Entry::Began { .. }
                | Entry::Took { .. }
                | Entry::Log { .. }
                | Entry::Message { .. }
                | Entry::Calling { .. }
                | Entry::ToolResult { .. } => {}
            }
        }
        noted
    }

    /// The bytes that were pinned under a name.
    pub fn pinned(&self, name: &str) -> Option<Digest> {
        self.pins.iter().rev().find(|(pinned, _)| pinned == name).map(|(_, digest)| *digest)
    }

    /// Whether a line of the log has details of this name.
    pub fn has_log(&self, about: &str) -> bool {
        self.logs.iter().any(|name| name == about)
    }
}
