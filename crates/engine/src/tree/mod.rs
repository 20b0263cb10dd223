//! The file tree of pipelines: what the log says, as folders and files that people can look into.
//!
//! It is written after the commit, by whoever commits, and beside it by every long-running engine on the same
//! home. Nothing in it is ever read back as truth: it can be deleted at any time and is made again.
//!
//! Invariants:
//! - what is wanted follows from states alone (`holdpoint_core::tree`); a unit is written from the newest state
//!   while its pipeline's lock is held, so that nobody writes an older one over it;
//! - whoever is killed leaves something that the next look repairs, and nothing that looks like somebody's work;
//! - what somebody changed is put aside to `.drift/` before it is written again, and recorded;
//! - no link is followed, and nothing outside of the folder of pipelines is touched.

mod apply;
mod aside;
mod check;
mod cursor;
mod folder;
mod follow;
mod lines;
mod look;
mod manifest;
mod place;
mod plan;
mod render;
mod sync;
mod write;

pub use check::{CheckFiles, FilesReport};
pub(crate) use place::Place;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;

use holdpoint_core::{PipelineId, RunId, StreamId, Timestamp};

use crate::SubmitError;
use folder::Folder;
use follow::Follow;

/// For how many days the archive of a rollback is kept, when nothing is said.
pub const ARCHIVE_DAYS: u64 = 365;

/// How files are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The folder of pipelines.
    pub folder: PathBuf,
    /// Whether work folders go when the next checkpoint has begun.
    pub clean_up: bool,
    /// For how many days the archive of a rollback is kept.
    pub archive_days: u64,
    /// For how many days the folder of a failed execution is kept.
    pub error_days: u64,
    /// The size at which a `system.log` is put aside.
    pub log_bytes: u64,
    /// How many of those that were put aside are kept.
    pub log_backups: u32,
}

impl Options {
    /// The documented defaults, for a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            clean_up: true,
            archive_days: ARCHIVE_DAYS,
            error_days: 90,
            log_bytes: 50 * 1024 * 1024,
            log_backups: 5,
        }
    }

    /// The time before which failed executions have no folder any more.
    pub(crate) fn errors_since(&self, now: Timestamp) -> Timestamp {
        before(now, self.error_days)
    }

    /// The time before which archives are over.
    pub(crate) fn archives_since(&self, now: Timestamp) -> Timestamp {
        before(now, self.archive_days)
    }
}

fn before(now: Timestamp, days: u64) -> Timestamp {
    let micros = i64::try_from(days.saturating_mul(86_400_000_000)).unwrap_or(i64::MAX);
    Timestamp(now.0.saturating_sub(micros).max(0))
}

/// The tree of one engine.
pub(crate) struct Tree {
    options: Options,
    base: OnceLock<Arc<Folder>>,
    follow: Follow,
}

impl Tree {
    pub fn new(options: Options) -> Self {
        Self { options, base: OnceLock::new(), follow: Follow::default() }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The folder of pipelines, opened when it is first needed.
    fn base(&self) -> std::io::Result<Arc<Folder>> {
        if let Some(base) = self.base.get() {
            return Ok(base.clone());
        }
        let opened = Arc::new(Folder::open_base(&self.options.folder)?);
        Ok(self.base.get_or_init(|| opened).clone())
    }
}

/// Something that a commit may have changed on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touched {
    pub pipeline: PipelineId,
    /// One of its runs; none: the pipeline itself.
    pub run: Option<RunId>,
}

impl Touched {
    /// What a stream's new state touches.
    pub fn by(stream: StreamId, state: &holdpoint_core::State) -> Option<Self> {
        match (stream, state) {
            (StreamId::Pipeline(pipeline), _) => Some(Self { pipeline, run: None }),
            (StreamId::Run(run), holdpoint_core::State::Run(state)) => {
                state.pipeline().map(|pipeline| Self { pipeline, run: Some(run) })
            }
            (StreamId::Home | StreamId::Run(_) | StreamId::Journal(_), _) => None,
        }
    }
}

/// Why files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The disk refused.
    #[error("the files of pipelines cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// What they are made from could not be read.
    #[error(transparent)]
    Source(#[from] SubmitError),
}
