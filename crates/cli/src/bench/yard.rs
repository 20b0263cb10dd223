//! The yardsticks: what the disk and SQLite do by themselves.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use holdpoint_store_sqlite::yardstick;

use super::{BenchError, Figure, Report};

const APPENDS: usize = 3_000;
const COMMITS: usize = 4_000;
const GROUPS: usize = 300;

/// A plain append with a sync, and a commit of one row.
pub fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let home = tempfile::tempdir_in(folder)?;
    let mut file = File::create(home.path().join("raw"))?;
    let block = [b'x'; 4096];
    let mut times = Vec::with_capacity(APPENDS);
    for _ in 0..APPENDS {
        let start = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    report.add(Figure::from_times("raw.fdatasync", &mut times));
    let mut times = yardstick::commits(&home.path().join("bare.db"), COMMITS)?;
    report.add(Figure::from_times("sqlite.commit", &mut times));
    Ok(())
}

/// Sixty-four indexed log rows a commit.
pub fn group64(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let home = tempfile::tempdir_in(folder)?;
    let times: Vec<Duration> = yardstick::groups(&home.path().join("group.db"), GROUPS, 64)?;
    let took: Duration = times.iter().sum();
    report.add(Figure::from_rate("sqlite.group64", GROUPS as u64 * 64, took));
    let (ours, theirs) = (report.per_s("step.runs64"), report.per_s("sqlite.group64"));
    let figure = Figure { per_s: Some(ours), ..Figure::named("step.runs64.group") };
    report.add(figure.beside("sqlite.group64", ours / theirs, Some(super::Goal::AtLeast(1.0 / 3.0))));
    Ok(())
}
