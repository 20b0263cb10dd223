//! `holdpoint bench`: what this program does on this disk, beside what the disk and SQLite can do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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

    /// Only make a home with many runs in this folder, and measure nothing
    #[arg(long, value_name = "PATH", conflicts_with_all = ["folder", "full"])]
    make_home: Option<PathBuf>,

    /// How many runs that home has
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "make_home")]
    runs: u32,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if let Some(path) = &args.make_home {
        return make_home(path, args.runs, context);
    }
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

/// Fills a new home, and says how far it is.
fn make_home(path: &Path, runs: u32, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let path = context.resolve(path)?;
    if path.exists() {
        let message = format!("`{}` exists already", path.display());
        return Err(Problem::failed("home_exists", message, "name a path where nothing is").into());
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error.to_string()))?;
    let (told, mut steps) = tokio::sync::mpsc::unbounded_channel();
    let each = move |done| {
        // Nobody listens any more when this command has failed.
        let _ = told.send(done);
    };
    let filling = runtime.spawn({
        let path = path.clone();
        async move { bench::home::fill(&path, runs, true, Arc::new(each)).await.map_err(|e| e.to_string()) }
    });
    let mut next = 0;
    while let Some(done) = runtime.block_on(steps.recv()) {
        if done >= next {
            context.output.say(&format!("{done} of {runs} runs"));
            next = done + runs / 20;
        }
    }
    let filled = runtime.block_on(filling).map_err(|error| failed(&error.to_string()))?;
    filled.map_err(|why| failed(&why))?;
    context.output.say(&format!("a home with {runs} runs is in {}", path.display()));
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
