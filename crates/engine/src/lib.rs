//! The engine: takes commands, keeps the log, does the work that runs owe.
//!
//! Every face submits commands here and nowhere else. A command is decided on what was read, appended at
//! the versions that were read, and only then real. After a crash the work still owed is simply still owed.
//!
//! Invariant: nothing but the engine appends to the log.

pub mod audit;
mod cache;
pub mod clock;
mod commit;
pub mod doctor;
pub mod documents;
mod error;
mod evaluator;
pub mod executor;
mod fresh;
pub mod given;
mod guards;
mod keep;
mod live;
mod live_text;
mod load;
mod plans;
mod replies;
pub mod retention;
mod rules;
mod runner;
mod seal;
mod submit;
mod tail;
pub mod tree;
mod view;
pub mod work_context;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::{Digest, StreamId};
use holdpoint_store::{BlobStore, EventLog, StoreError};

use cache::Cache;
use clock::{Clock, IdSource};
use executor::Executor;
use plans::Plans;
use runner::Runner;

pub use error::SubmitError;
pub use evaluator::PlainEvaluator;
pub use holdpoint_store::Reply;
pub use live::{Filter, Recorded};
pub use live_text::{LiveText, Piece};
pub use load::Loaded;
pub use replies::{Answered, IdemKey, Render, Settled};
pub use runner::Drained;
pub use submit::Submitted;
pub use tail::Followed;
pub use work_context::WorkContext;

/// How many pieces of work are done at once where nobody says otherwise.
pub const MAX_PARALLEL: usize = 16;

/// What an engine is made of.
pub struct Parts {
    /// The log.
    pub log: Arc<dyn EventLog>,
    /// The bytes that events name.
    pub blobs: Arc<dyn BlobStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Names for commands.
    pub ids: Arc<dyn IdSource>,
    /// Evaluates conditions and schemas.
    pub evaluator: Arc<dyn holdpoint_core::facts::Evaluator>,
    /// Knows what agents can be given.
    pub offers: Arc<dyn holdpoint_core::facts::Offers>,
    /// Does the work that runs owe.
    pub executor: Arc<dyn Executor>,
    /// Whose work this engine takes on.
    pub works: Works,
    /// How many pieces of work it does at once; more waits for a slot ([`MAX_PARALLEL`]).
    pub max_parallel: usize,
    /// Where the files of pipelines are kept; none: nowhere.
    pub files: Option<tree::Options>,
}

/// Whose work an engine takes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Works {
    /// Nobody's: it only looks and submits.
    #[default]
    Nothing,
    /// That of runs which it starts or is told to take on ([`Engine::take_on`]), and of no others.
    Own,
    /// That of all runs that nobody holds.
    All,
}

impl From<bool> for Works {
    fn from(all: bool) -> Self {
        if all { Self::All } else { Self::Nothing }
    }
}

/// One engine on one home. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    cache: Cache,
    plans: Plans,
    runner: Runner,
    tree: Option<tree::Tree>,
    halted: AtomicBool,
    /// How many events this engine has written.
    written: AtomicU64,
    /// In how many commits.
    commits: AtomicU64,
    /// How many appends came too late.
    conflicts: AtomicU64,
    /// Streams that were found damaged when they were read.
    damaged: Mutex<BTreeSet<StreamId>>,
    /// Blobs that were found damaged when they were read.
    damaged_blobs: Mutex<BTreeSet<Digest>>,
    /// Who has a command with rules decided.
    turns: rules::Turns,
    /// What agents say while they say it.
    live_texts: live_text::LiveTexts,
    /// How old the states are that rules peek at.
    fresh: fresh::Fresh,
    /// The newest part of the log, for those who follow it.
    tail: tail::Tail,
}

impl Engine {
    /// Puts an engine together. Nothing happens before something is submitted or [`Engine::run_until`] is
    /// called.
    pub fn new(parts: Parts) -> Self {
        let tree = parts.files.clone().map(tree::Tree::new);
        let runner = Runner::new(parts.max_parallel);
        let inner = Inner {
            parts,
            tree,
            cache: Cache::default(),
            plans: Plans::default(),
            runner,
            halted: AtomicBool::new(false),
            written: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            conflicts: AtomicU64::new(0),
            damaged: Mutex::default(),
            damaged_blobs: Mutex::default(),
            turns: rules::Turns::default(),
            live_texts: live_text::LiveTexts::default(),
            fresh: fresh::Fresh::default(),
            tail: tail::Tail::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether the store may have lost a commit: the process must end and start again from the disk.
    pub fn is_halted(&self) -> bool {
        self.inner.halted.load(Ordering::Acquire)
    }

    /// The streams that this engine found damaged when it read them: nothing is served from them, or written to them.
    pub fn damaged(&self) -> BTreeSet<StreamId> {
        self.inner.damaged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers a stream that was found damaged, so that `/readyz` shows it without reading the log again.
    fn noticed<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error @ StoreError::LogCorrupt { stream, .. }) = &read {
            let mut damaged = self.inner.damaged.lock().unwrap_or_else(PoisonError::into_inner);
            if damaged.insert(*stream) {
                tracing::error!(%error, "the log is damaged; nothing is served from this stream");
            }
        }
        read
    }

    /// A name for something new that a command makes.
    pub fn new_id(&self) -> uuid::Uuid {
        self.inner.parts.ids.command(self.now()).0
    }

    /// How many appends came too late, because another one had written to what they expected. Writers of one process queue up.
    pub fn conflicts(&self) -> u64 {
        self.inner.conflicts.load(Ordering::Relaxed)
    }

    /// How many commits this engine has made, and how many events it wrote in them.
    pub fn counts(&self) -> (u64, u64) {
        (self.inner.commits.load(Ordering::Relaxed), self.inner.written.load(Ordering::Relaxed))
    }

    /// What evaluates conditions and schemas.
    pub fn evaluator(&self) -> &dyn holdpoint_core::facts::Evaluator {
        &*self.inner.parts.evaluator
    }

    /// What is known of what agents can be given.
    pub fn offers(&self) -> &dyn holdpoint_core::facts::Offers {
        &*self.inner.parts.offers
    }

    /// Where the bytes are that events name.
    pub fn blobs(&self) -> Arc<dyn BlobStore> {
        self.inner.parts.blobs.clone()
    }

    fn tree(&self) -> Option<&tree::Tree> {
        self.inner.tree.as_ref()
    }

    fn log(&self) -> &dyn EventLog {
        &*self.inner.parts.log
    }

    /// What time it is for this engine.
    pub fn now(&self) -> holdpoint_core::Timestamp {
        self.inner.parts.clock.now()
    }
}
