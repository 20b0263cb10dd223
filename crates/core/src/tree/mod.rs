//! What stands in a pipeline's folder on disk, as a pure function of the states of the pipeline and its runs.
//!
//! The database wins: whatever is on disk is compared with this, and made like it. Nothing here knows a disk.
//! Paths are relative to the pipeline's folder, with `/` between their parts. A pipeline and each of its runs are
//! units: each is written for itself, from its own state, and a run needs its pipeline's only to know where it is.

mod run;
#[cfg(test)]
mod tests;
mod touches;

pub use run::run;
pub use touches::touches;

use std::collections::BTreeMap;

use crate::paths::archive_folder;
use crate::state::PipelineState;
use crate::{CheckpointId, Digest, ExecNo, ExecutionId, RollbackId, Timestamp};

/// What a unit wants on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Files, links and folders, by their paths.
    pub entries: BTreeMap<String, Entry>,
    /// Folders that move as a whole, with everything in them, whoever put it there.
    pub folders: BTreeMap<Key, String>,
    /// Folders that are removed with everything in them, wherever they stand.
    pub gone: BTreeMap<Key, String>,
    /// Files as work has left them that are outputs now, under names of their own. They are removed while they hold these
    /// bytes; what work wrote since is left alone.
    pub taken: BTreeMap<String, Digest>,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A folder; what others put into it is theirs.
    Folder,
    /// A folder whose files are all ours: what others put into it does not belong there.
    OwnFolder,
    /// Something that is told from the state.
    Document(Document),
    /// The bytes of an output.
    Output {
        /// Their name.
        digest: Digest,
        /// How many.
        size: u64,
        /// Whether work may write the same file: what is there then is left alone.
        shared: bool,
    },
    /// A symbolic link to a sibling.
    Link(String),
}

/// What a document tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// The pipeline.
    Pipeline,
    /// A checkpoint's definition.
    Checkpoint(CheckpointId),
    /// What a rollback did.
    Rollback(RollbackId),
    /// The run.
    Run,
    /// Why an execution has failed for good.
    Error(ExecNo),
    /// What an execution's work had said before it failed.
    ErrorLog(ExecutionId),
}

/// Names a folder that moves as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The run's own folder.
    Run,
    /// A checkpoint's folder that may leave its run.
    Checkpoint(ExecutionId),
    /// The folder that an execution works in.
    Work(ExecutionId),
    /// The folder in it of what is not promoted.
    Unpromoted(ExecutionId),
}

/// What the settings say about files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Whether work folders go when the next checkpoint has begun, or the run has ended.
    pub clean_up: bool,
    /// Executions that failed before this time have no folder any more; those that are there go with the rubbish.
    pub errors_since: Timestamp,
}

impl Default for Keep {
    fn default() -> Self {
        Self { clean_up: true, errors_since: Timestamp(0) }
    }
}

/// What a pipeline wants on disk, its runs aside.
pub fn pipeline(state: &PipelineState) -> Wanted {
    let mut wanted = Wanted::default();
    for folder in ["scripts", "runs", ".temp", ".errored", ".archived", ".pipeline_system/logs"] {
        wanted.add(folder, Entry::Folder);
    }
    let definitions = ".pipeline_system/definitions";
    wanted.add(&format!("{definitions}/checkpoints"), Entry::Folder);
    wanted.add(&format!("{definitions}/pipeline.json"), Entry::Document(Document::Pipeline));
    for checkpoint in &state.order {
        let path = format!("{definitions}/checkpoints/{checkpoint}.json");
        wanted.add(&path, Entry::Document(Document::Checkpoint(*checkpoint)));
    }
    if let Some((number, _)) = state.latest() {
        wanted.add("runs/latest", Entry::Link(format!("v{number}")));
    }
    for (rollback, archive) in &state.archives {
        let folder = archive_folder(*rollback, archive.at);
        wanted.add(&format!("{folder}archived_data"), Entry::Folder);
        let metadata = Entry::Document(Document::Rollback(*rollback));
        wanted.add(&format!("{folder}rollback_metadata.json"), metadata);
    }
    wanted
}

impl Wanted {
    fn add(&mut self, path: &str, entry: Entry) {
        self.entries.insert(path.to_owned(), entry);
    }
}
