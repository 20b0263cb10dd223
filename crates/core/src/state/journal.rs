//! The state of an execution's journal: whose it is and how much it holds.

use serde::{Deserialize, Serialize};

use super::Stamp;
use crate::event::{Entry, Usage};
use crate::{ExecNo, RunId};

/// The state of a journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalState {
    /// The execution that it belongs to.
    pub owner: Option<(RunId, ExecNo)>,
    /// Lines of output so far.
    pub lines: u32,
    /// Messages so far.
    pub messages: u32,
    /// Tool results so far.
    pub tools: u32,
    /// What the messages cost together.
    pub usage: Usage,
}

impl JournalState {
    /// Folds one entry in.
    pub fn apply(&mut self, _stamp: &Stamp<'_>, entry: &Entry) {
        match entry {
            Entry::Opened { run, x } => self.owner = Some((*run, *x)),
            Entry::Log { .. } => self.lines += 1,
            Entry::Message { usage, .. } => {
                self.messages += 1;
                self.usage = self.usage.plus(*usage);
            }
            Entry::ToolResult { .. } => self.tools += 1,
            Entry::Began { .. } | Entry::Pinned { .. } => {}
        }
    }
}
