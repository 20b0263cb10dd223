//! The bytes that events name, and for how long each name keeps them.
//!
//! Collection removes whatever nothing names, so a name that is missing here costs people their data. That is
//! why every variant is listed: an event that is added does not compile until somebody has looked at its digests.

use super::{Content, Entry, Event, HomeEvent, PipelineEvent, RunEvent};
use crate::{Digest, ExecNo, RunId, SnapshotId};

/// Bytes that an event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobRef {
    /// Their SHA-256.
    pub digest: Digest,
    /// What they are.
    pub kind: BlobKind,
    /// How long the event keeps them.
    pub keep: Keep,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlobKind {
    /// Bytes that name nothing themselves.
    Bytes,
    /// The files of a folder: the bytes may name further bytes.
    Tree,
}

/// How long an event keeps the bytes that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// As long as the log has the event.
    Always,
    /// Until the execution whose journal has the event ends: nobody continues from them afterwards.
    WhileWorking,
    /// Until this snapshot expires.
    Snapshot(SnapshotId),
}

impl BlobRef {
    fn always(digest: Digest) -> Self {
        Self { digest, kind: BlobKind::Bytes, keep: Keep::Always }
    }

    fn working_tree(digest: Digest) -> Self {
        Self { digest, kind: BlobKind::Tree, keep: Keep::WhileWorking }
    }
}

impl Event {
    /// The bytes that the event names.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Home(event) => event.blobs(),
            Self::Pipeline(event) => event.blobs(),
            Self::Run(event) => event.blobs(),
            Self::Journal(entry) => entry.blobs(),
        }
    }

    /// The execution whose journal begins with this event.
    pub fn opens_journal(&self) -> Option<(RunId, ExecNo)> {
        match self {
            Self::Journal(Entry::Opened { run, x, .. }) => Some((*run, *x)),
            Self::Home(_) | Self::Pipeline(_) | Self::Run(_) | Self::Journal(_) => None,
        }
    }
}

impl HomeEvent {
    /// The bytes that the event names. A token's secret and a seal's heads are hashes of no stored bytes.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Made { .. }
            | Self::TokenIssued { .. }
            | Self::TokenRevoked { .. }
            | Self::Sealed { .. } => Vec::new(),
        }
    }
}

impl PipelineEvent {
    /// The bytes that the event names. Definitions are in the events themselves.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Made { .. }
            | Self::Changed { .. }
            | Self::Deleted {}
            | Self::Restored {}
            | Self::CheckpointAdded { .. }
            | Self::CheckpointChanged { .. }
            | Self::CheckpointRemoved { .. }
            | Self::Reordered { .. }
            | Self::RunOpened { .. }
            | Self::RunClosed { .. }
            | Self::RunReopened { .. }
            | Self::RolledBack(_)
            | Self::BudgetRaised { .. }
            | Self::RollbackUndone { .. }
            | Self::ArchiveEnded { .. }
            | Self::DriftRepaired { .. } => Vec::new(),
        }
    }
}

impl RunEvent {
    /// The bytes that the event names. A body's digest names a definition in the pipeline's events, and a gate's
    /// digest names what was shown: neither is a blob.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Made { plan, .. } => vec![BlobRef::always(*plan)],
            Self::ArtifactMade { made, .. } => vec![BlobRef::always(made.digest)],
            Self::HandedIn { output, .. } => output.as_ref().and_then(stored).into_iter().collect(),
            Self::SnapshotTaken { snapshot, tree, output, .. } => {
                let keep = Keep::Snapshot(*snapshot);
                let tree = tree.map(|digest| BlobRef { digest, kind: BlobKind::Tree, keep });
                tree.into_iter().chain(output.as_ref().and_then(stored)).collect()
            }
            Self::Began {}
            | Self::ExecutionMade { .. }
            | Self::StepSkipped { .. }
            | Self::Asked { .. }
            | Self::Approved { .. }
            | Self::Rejected { .. }
            | Self::AttemptBegan { .. }
            | Self::AttemptRestarted { .. }
            | Self::Submitted { .. }
            | Self::WorkDone { .. }
            | Self::Checked { .. }
            | Self::BudgetRaised { .. }
            | Self::ApprovalGiven { .. }
            | Self::RevisionAsked { .. }
            | Self::ArtifactPromoted { .. }
            | Self::ExecutionCompleted { .. }
            | Self::AttemptFailed { .. }
            | Self::ExecutionFailed { .. }
            | Self::PassedOver { .. }
            | Self::RetryGranted { .. }
            | Self::NoteQueued { .. }
            | Self::GateAsked { .. }
            | Self::GateAnswered { .. }
            | Self::FrontMoved { .. }
            | Self::LoopEnded { .. }
            | Self::Warned { .. }
            | Self::Forked { .. }
            | Self::Blocked { .. }
            | Self::Reopened {}
            | Self::PauseAsked {}
            | Self::PauseDropped {}
            | Self::Paused { .. }
            | Self::Resumed {}
            | Self::Completed {}
            | Self::Failed { .. }
            | Self::Aborted { .. }
            | Self::RolledBack { .. }
            | Self::Recovered { .. }
            | Self::Undone { .. }
            | Self::RunRemoved { .. }
            | Self::RunRestored { .. } => Vec::new(),
        }
    }
}

fn stored(content: &Content) -> Option<BlobRef> {
    match content {
        Content::Inline(_) => None,
        Content::Stored(digest, _) => Some(BlobRef::always(*digest)),
    }
}

impl Entry {
    /// The bytes that the entry names.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Message { more, .. } => more.map(BlobRef::always).into_iter().collect(),
            Self::ToolResult { workspace, more, .. } => {
                let tree = workspace.map(BlobRef::working_tree);
                tree.into_iter().chain(more.map(BlobRef::always)).collect()
            }
            Self::Pinned { name, digest } if name.ends_with('/') => vec![BlobRef::working_tree(*digest)],
            Self::Pinned { digest, .. } => vec![BlobRef::always(*digest)],
            Self::Opened { .. }
            | Self::Took { .. }
            | Self::Began { .. }
            | Self::Log { .. }
            | Self::Calling { .. } => Vec::new(),
        }
    }
}
