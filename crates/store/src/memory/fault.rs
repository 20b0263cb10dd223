//! Faults that a simulator plants: where one can happen, and what it is.

/// A point at which a fault can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An append passed its checks and is about to be written.
    BeforeCommit,
    /// An append is durable and its sender has not been told.
    AfterCommit,
    /// A large blob is about to be written to a temporary file.
    BlobWrite,
    /// The temporary file is about to be synced.
    BlobSync,
    /// The temporary file is about to get its name.
    BlobRename,
    /// The folder that holds the name is about to be synced.
    BlobSyncFolder,
}

/// What happens at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The disk refuses: an I/O error, and the step does not take place. After a commit, where that cannot be
    /// said any more, the answer is that the result is unknown, and the handle stops.
    Error,
    /// The process dies: this handle and its blobs answer that they are closed from now on. What it wrote
    /// stays in the machine's cache.
    Crash,
    /// The machine dies: all handles do, and of what was not synced a seeded choice is lost or torn.
    PowerCut,
}

/// Asked at each step; must not call the disk that asks.
pub type FaultHook = Box<dyn FnMut(Step) -> Fault + Send>;
