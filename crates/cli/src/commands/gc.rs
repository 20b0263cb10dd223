//! `holdpoint gc`: removes what does not have to be kept any longer.

use holdpoint_core::Timestamp;
use holdpoint_engine::clock::{Clock as _, SystemClock};
use holdpoint_engine::retention::{GcFolder, GcReport};
use holdpoint_engine::tree::TreeError;
use serde_json::{Value, json};

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::text::{self, many, size};
use crate::wiring;

/// Remove what is older than it has to be kept
///
/// Archives of rollbacks go after `files.archive_retention_days`; such a rollback cannot be undone any more. Folders
/// of failed executions go after `files.error_retention_days`. Bytes that nothing in the log names go after a day.
/// Outputs of runs are never removed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let files = context.settings(&home, &[])?.settings.files;
    let log = wiring::look_at(&home)?;
    let engine = wiring::looking_engine(&home, &log, &files)?;
    let report = wiring::wait(async {
        let report = engine.gc(args.dry_run).await?;
        // What was removed is gone from the tree's own books as well.
        engine.files_settled(engine.log_head(), SETTLE).await;
        Ok::<_, TreeError>(report)
    })?;
    let report = report.map_err(|error| cannot(&home, &error))?;
    if context.output.is_json() {
        context.output.value(&as_json(&report, args.dry_run))?;
    } else {
        context.output.data(&as_text(&report, args.dry_run, SystemClock.now()))?;
    }
    Ok(if report.failed.is_empty() { Exit::Done } else { Exit::Failed })
}

/// How long the tree may take to catch up.
const SETTLE: std::time::Duration = std::time::Duration::from_mins(5);

fn as_text(report: &GcReport, dry: bool, now: Timestamp) -> String {
    let mut lines: Vec<String> = report
        .folders
        .iter()
        .map(|folder| {
            let GcFolder { kind, pipeline, path, bytes, since } = folder;
            let days = now.0.saturating_sub(since.0) / 86_400_000_000;
            let age = many(days.unsigned_abs(), "day", "days");
            format!("{:<8} {:>10}  {age} old  {pipeline}/{path}", kind.name(), size(*bytes))
        })
        .collect();
    if report.blobs.blobs > 0 {
        let count = many(report.blobs.blobs, "blob that nothing names", "blobs that nothing names");
        lines.push(format!("{:<8} {:>10}  {count}", "blobs", size(report.blobs.bytes)));
    }
    lines.extend(report.failed.iter().map(|what| format!("{:<8} {what}", "FAILED")));
    lines.push(match (lines.is_empty(), dry) {
        (true, _) => "nothing is old enough to go".to_owned(),
        (false, true) => format!("{} would be freed", size(freed(report))),
        (false, false) => format!("{} freed", size(freed(report))),
    });
    lines.iter().map(|line| text::line(line) + "\n").collect()
}

fn as_json(report: &GcReport, dry: bool) -> Value {
    let folder = |folder: &GcFolder| {
        let GcFolder { kind, pipeline, path, bytes, since } = folder;
        let (kind, since) = (kind.name(), since.rfc3339());
        json!({"kind": kind, "pipeline_id": pipeline, "path": path, "bytes": bytes, "since": since})
    };
    json!({
        "dry_run": dry,
        "folders": report.folders.iter().map(folder).collect::<Vec<_>>(),
        "blobs": {"count": report.blobs.blobs, "bytes": report.blobs.bytes},
        "bytes": freed(report),
        "failed": report.failed,
    })
}

fn freed(report: &GcReport) -> u64 {
    report.folders.iter().map(|folder| folder.bytes).sum::<u64>() + report.blobs.bytes
}

fn cannot(home: &Home, error: &TreeError) -> Problem {
    let message = format!("nothing could be removed from `{}`: {error}", home.path().display());
    Problem::failed("gc_failed", message, "look at the disk and at the rights of the home")
}
