//! `holdpoint bench`: what this program does on this disk, beside what the disk and SQLite can do.

use std::path::PathBuf;

use tokio::runtime::Builder;

use crate::bench::{self, Figure};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};

/// Measure this program on this disk
///
/// Makes homes of its own in a folder, measures plain syncs, plain SQLite and durable steps in one run, and
/// prints each figure with its ratio and its goal. Nothing of your home is touched.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to measure; the home's disk, if not given
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,

    /// Also measure what takes long to set up
    #[arg(long)]
    full: bool,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let folder = folder(args, context)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error.to_string()))?;
    let json = context.output.is_json();
    if !json {
        context.output.say(&format!("measuring in {}", folder.display()));
    }
    let mut told = Ok(());
    let mut each = |figure: &Figure| {
        if told.is_ok() {
            told = if json { context.output.value(figure) } else { context.output.data(&line(figure)) };
            told = std::mem::replace(&mut told, Ok(())).and_then(|()| context.output.flush());
        }
    };
    let measured = runtime.block_on(bench::run(&folder, args.full, &mut each));
    let ended = measured.map(|report| report.figures().len()).map_err(|error| failed(&error.to_string()));
    told?;
    ended?;
    Ok(Exit::Done)
}

fn folder(args: &Args, context: &Context<'_, '_>) -> Result<PathBuf, Failure> {
    if let Some(folder) = &args.folder {
        return Ok(folder.clone());
    }
    let home = context.home()?;
    let there = home.path().ancestors().find(|path| path.is_dir());
    Ok(there.map_or_else(|| PathBuf::from("."), ToOwned::to_owned))
}

fn failed(why: &str) -> Problem {
    Problem::failed(
        "bench_failed",
        format!("a measurement could not be made: {why}"),
        "name another folder with --folder PATH",
    )
}

fn line(figure: &Figure) -> String {
    let parts = [
        Some(format!("{:<20}", figure.name)),
        figure.p50_us.map(|p50| format!("p50 {p50:>9.1} µs")),
        figure.p99_us.map(|p99| format!("p99 {p99:>9.1} µs")),
        figure.per_s.map(|rate| format!("{rate:>10.0} /s")),
        figure.bytes.map(|bytes| format!("{bytes} bytes")),
        figure.ratio.as_ref().map(|ratio| format!("{:.2} × {}", ratio.value, ratio.to)),
        figure
            .goal
            .zip(figure.met)
            .map(|(goal, met)| format!("(goal {goal:.2}: {})", if met { "met" } else { "missed" })),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("  ") + "\n"
}
