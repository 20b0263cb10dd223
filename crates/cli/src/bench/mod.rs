//! Measures this program on the user's own disk, beside what the disk and SQLite can do in the same run.
//!
//! Figures are ratios to something measured a moment before: these machines are noisy, and disks differ.

mod compile;
mod full;
mod graph;
pub mod home;
mod process;
mod report;
mod rest;
mod server;
mod steps;
mod work;
mod yard;

use std::path::Path;
use std::sync::Arc;

use holdpoint_engine::Engine;
use holdpoint_store_sqlite::SqliteLog;

pub use report::{Figure, Goal, Report};

/// Why a measurement could not be made.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

/// Measures everything; `each` hears every figure as it comes.
pub async fn run<'a>(
    folder: &Path,
    long: bool,
    each: &'a mut dyn FnMut(&Figure),
) -> Result<Report<'a>, BenchError> {
    let mut report = Report::new(each);
    yard::measure(folder, &mut report)?;
    steps::alone(folder, &mut report).await?;
    steps::runs64(folder, &mut report).await?;
    yard::group64(folder, &mut report)?;
    steps::growth(folder, &mut report, 100_000).await?;
    graph::measure(folder, &mut report).await?;
    work::measure(folder, &mut report).await?;
    compile::measure(&mut report)?;
    process::measure(folder, &mut report)?;
    rest::approve(folder, &mut report)?;
    if long {
        rest::stream(folder, &mut report)?;
        rest::rollback(folder, &mut report).await?;
        full::measure(folder, &mut report).await?;
        steps::runs64_long(folder, &mut report).await?;
    }
    Ok(report)
}

/// An engine on a fresh home inside a folder.
struct Bench {
    engine: Engine,
    log: Arc<SqliteLog>,
    home: tempfile::TempDir,
}

impl Bench {
    fn new(folder: &Path, works: bool) -> Result<Self, BenchError> {
        let home = tempfile::tempdir_in(folder)?;
        let home::OpenHome { engine, log } = home::open(home.path(), works, false)?;
        Ok(Self { engine, log, home })
    }
}
