//! Whether database, blobs and files agree after a kill: the next start repairs what is behind, after that nothing is
//! left to repair, and nothing that was cut off is taken for somebody's change.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_engine::clock::{RandomIds, SystemClock};
use holdpoint_engine::executor::BuiltIn;
use holdpoint_engine::tree::{CheckFiles, Options};
use holdpoint_engine::{Engine, Parts, PlainEvaluator, Works};
use holdpoint_store::{EventFilter, Query};
use holdpoint_store_sqlite::SqliteLog;
use holdpoint_store_sqlite::blobs::LocalBlobs;

/// The most that catching up may take.
const LONG: Duration = Duration::from_mins(1);

/// How much was proven.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proven {
    pub pipelines: u64,
    pub files: u64,
    /// What a start had to write or move after a kill.
    pub behind: u64,
}

impl Proven {
    pub fn add(&mut self, other: Self) {
        self.pipelines += other.pipelines;
        self.files += other.files;
        self.behind += other.behind;
    }
}

/// Starts as the next process would, and then compares every file with the log, by its content.
pub async fn agree(home: &Path) -> Result<Proven, String> {
    if !home.join("db/state.db").exists() {
        return Ok(Proven::default());
    }
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let log = SqliteLog::open(&home.join("db"), holdpoint_store_sqlite::Options::default());
    let log = Arc::new(log.map_err(|error| told(&error))?);
    let blobs = LocalBlobs::open(&home.join("blobs"), log.clone()).map_err(|error| told(&error))?;
    let engine = Engine::new(Parts {
        log,
        blobs: Arc::new(blobs),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        evaluator: Arc::new(PlainEvaluator),
        offers: Arc::new(holdpoint_core::facts::NothingKnown),
        executor: Arc::new(BuiltIn),
        works: Works::Nothing,
        max_parallel: holdpoint_engine::MAX_PARALLEL,
        files: Some(Options::new(home.join("pipelines"))),
    });
    let look = async |repair, deep| engine.check_files(CheckFiles { repair, deep }).await;
    let start = look(true, false).await.map_err(|error| told(&error))?;
    if !start.drifted.is_empty() || !start.failed.is_empty() {
        return Err(format!("a start finds what nobody did: {start:#?}"));
    }
    if !engine.files_settled(engine.log_head(), LONG).await {
        return Err("the files do not catch up with the log".to_owned());
    }
    let left = look(false, true).await.map_err(|error| told(&error))?;
    if !left.is_clean() {
        return Err(format!("files and log differ after a start: {left:#?}"));
    }
    let filter = EventFilter { kinds: vec!["drift"], ..EventFilter::default() };
    let drift = engine.query(Query::Events { filter, before: None, limit: 5 }).await;
    let drift = drift.map_err(|error| told(&error))?.rows;
    if !drift.is_empty() {
        let bytes: Vec<_> =
            drift.iter().map(|row| String::from_utf8_lossy(&row.bytes).into_owned()).collect();
        return Err(format!("drift was recorded that nobody caused: {bytes:#?}"));
    }
    Ok(Proven { pipelines: left.pipelines, files: left.files, behind: start.wrong })
}
