//! `holdpoint doctor`: whether a home is well, and mending what can be made anew from its log.
//!
//! It looks with its own eyes at everything that the other parts rely on, and works beside a running server.
//! Only derived tables and files are ever written, and only with `--repair`; of the log nothing is touched, but
//! that files were repaired is recorded in it.

mod blobs;
mod code;
mod environment;
mod files;
mod report;
mod storage;
mod tools;

use holdpoint_engine::tree::CheckFiles;

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::{Files, Origin};
use crate::{tool_servers, wiring};
use report::{Check, Report, Section};

/// Check that a home is well
///
/// Looks at this machine, the database, the log, the tables beside it, the blobs, the files of pipelines, the work
/// and the settings.
/// A line that says FAIL makes the exit code 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write tables and files anew that differ from the log; nothing in the log is ever changed
    #[arg(long)]
    repair: bool,

    /// Also read every blob and every file to its end, and compare it with its name or with the log
    #[arg(long)]
    deep: bool,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let mut report = Report::default();
    report.add(environment::look(&home));
    report.add(settings(context, &home));
    let choice =
        context.settings(&home, &[]).map(|loaded| loaded.settings.execution.sandbox).unwrap_or_default();
    report.add(wiring::wait(code::look(&home, choice))?);
    // Settings that cannot be read are told above.
    if let Ok(loaded) = context.settings(&home, &[]) {
        let servers = tool_servers::servers(&loaded.settings, context.surroundings())?;
        if let Some(section) = wiring::wait(tools::section(&servers, &tool_servers::pins(&home)))? {
            report.add(section);
        }
    }
    if wiring::has_database(&home) {
        // Settings that cannot be read are told above; what they would say is then the default.
        let kept = context.settings(&home, &[]).map(|loaded| loaded.settings.files).unwrap_or_default();
        wiring::wait(look(args, &home, &kept, context.output.is_quiet(), &mut report))?;
    } else {
        report.add(nothing_there(&home));
    }
    if context.output.is_json() {
        context.output.value(&report.as_json(home.path()))?;
    } else {
        context.output.data(&report.as_text())?;
    }
    Ok(if report.failed() == 0 { Exit::Done } else { Exit::Failed })
}

async fn look(args: &Args, home: &Home, kept: &Files, quiet: bool, report: &mut Report) {
    let log = match wiring::look_at(home) {
        Ok(log) => log,
        Err(Problem { message, hint, .. }) => {
            let mut section = Section::new("database");
            section.add(Check::fail("open", message, hint));
            report.add(section);
            return;
        }
    };
    storage::database(&log, report).await;
    let whole = storage::log(&log, quiet, report).await;
    report.add(storage::tables(&log, args.repair, whole, quiet).await);
    report.add(blobs::look(home, &log, args.deep, quiet).await);
    // From a log that is damaged nothing is written.
    let check = CheckFiles { repair: args.repair && whole, deep: args.deep };
    report.add(files::look(home, &log, kept, check).await);
    report.add(storage::work(&log).await);
}

fn settings(context: &Context<'_, '_>, home: &Home) -> Section {
    let mut section = Section::new("settings");
    section.add(match context.settings(home, &[]) {
        Ok(loaded) => {
            let set = loaded.entries.iter().filter(|entry| entry.origin != Origin::Default).count();
            let text = match set {
                0 => "all have their defaults".to_owned(),
                set => format!("{set} set, the others have their defaults"),
            };
            Check::ok("settings", text).with("set", set)
        }
        Err(Problem { message, hint, .. }) => Check::fail("settings", message, hint),
    });
    section
}

/// A home that was never used is no fault; one that lost its database is.
fn nothing_there(home: &Home) -> Section {
    let mut section = Section::new("database");
    let full = |folder: &str| {
        let shelves = std::fs::read_dir(home.path().join(folder)).into_iter().flatten().flatten();
        shelves.filter(|entry| entry.file_name().len() == 2).count() > 0
    };
    section.add(if full("blobs") {
        Check::fail("open", "the home has blobs and no database", "restore a copy of the home")
    } else {
        Check::warn("open", "there is none yet", "`holdpoint serve` makes one")
    });
    section
}
