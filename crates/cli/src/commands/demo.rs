//! `holdpoint demo`: a server on a home with three pipelines, where a run already waits for somebody.
//!
//! No key, no network: the agents' answers are played from a file, and they say so. What was made once is not made
//! again: a demo on the same home goes on.

mod seed;

use std::path::PathBuf;

use holdpoint_server::Listen;
use serde_json::json;
use tokio::runtime::Builder;

use crate::commands::open::browse;
use crate::commands::serve::{self, Open, allow_many_files, cannot_start};
use crate::context::Context;
use crate::home::Home;
use crate::logging;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::{Flag, LogLevel};
use crate::text;
use seed::Seeded;

/// Try Holdpoint out: three pipelines, and a run that waits for you
///
/// Needs no key and no network. Makes a home in a temporary folder, or in the one that `--home` names, starts a server
/// and opens the browser where an approval is waited for; with `NO_BROWSER=1` or without a display it prints the
/// address. Ctrl-C stops it and loses nothing: `holdpoint demo --home PATH` goes on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen, on this machine only [default: a free port of 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Another port at the same address; 0 takes a free one
    #[arg(long, value_name = "N")]
    port: Option<u16>,
}

pub fn run(args: Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = match context.named_home()? {
        Some(home) => home,
        None => Home::at(temporary()?),
    };
    let free = args.listen.is_none() && args.port.is_none();
    let flag = args.listen.map(|text| Flag { name: "--listen", setting: "server.listen", text });
    let mut settings = context.settings(&home, flag.as_slice())?.settings;
    // Words for people are the demo's own; the log says only what is wrong.
    if settings.logging.log_level == LogLevel::Info {
        settings.logging.log_level = LogLevel::Warning;
    }
    let listen: Listen = settings.server.listen.parse().expect("addresses are checked when they are read");
    let port = args.port.or_else(|| free.then_some(0));
    let listen = port.map_or(listen, |port| listen.with_port(port));
    home.create()?;
    allow_many_files();
    logging::start(&settings.logging, context.output.is_quiet()).map_err(cannot_start)?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(cannot_start)?;
    let (worker, machine) = crate::worker::worker(&home, &settings, context.surroundings())?;
    let offers = crate::tool_servers::offers(&home, &settings, context.surroundings())?;
    let working = (worker, machine, offers);
    let (limits, files) =
        (crate::wiring::limits(&settings.limits), crate::wiring::tree_options(&home, &settings.files));
    let greet = async |open: Open<'_>, context: &mut Context<'_, '_>| -> Result<(), Failure> {
        context.output.say("making three pipelines …");
        let seeded = seed::seed(&home, &files.folder, open.engine, limits).await?;
        tell(&home, &open, &seeded, context)
    };
    let ended = runtime.block_on(serve::serve(&home, listen, settings, working, context, greet));
    runtime.shutdown_background();
    let path = text::quoted(&home.path().to_string_lossy());
    context.output.say(&format!("nothing is lost: `holdpoint demo --home {path}` goes on"));
    ended
}

/// A folder that stays.
fn temporary() -> Result<PathBuf, Problem> {
    let folder = tempfile::Builder::new().prefix("holdpoint-demo-").tempdir().map_err(|error| {
        let message = format!("a temporary folder cannot be made: {error}");
        Problem::failed("home_not_made", message, "name a folder with --home PATH")
    })?;
    Ok(folder.keep())
}

fn tell(home: &Home, open: &Open<'_>, seeded: &Seeded, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let page = seeded.execution.as_ref().map(|execution| format!("/review/{execution}"));
    let link = open.sign_in(page.as_deref());
    let opened = context.wants_browser() && browse(&link);
    for warning in &seeded.warnings {
        context.output.say(&format!("warning: {warning}"));
    }
    if context.output.is_json() {
        context.output.value(&json!({
            "listening": open.address,
            "sign_in": link,
            "opened": opened,
            "home": home.path(),
            "run_id": seeded.run,
            "execution_id": seeded.execution,
        }))?;
        return Ok(());
    }
    context.output.say(&format!("listening on {}; the home is {}", open.address, home.path().display()));
    if opened {
        context.output.say("the browser shows a plan that waits for you");
    } else {
        context.output.say("open this once, within ten minutes:");
        context.output.data(&format!("{link}\n"))?;
        context.output.flush()?;
    }
    for line in TRY {
        context.output.say(line);
    }
    Ok(())
}

const TRY: [&str; 6] = [
    "what to try:",
    "  - approve the plan of “Team with review”, or ask for a change: its agents answer",
    "  - look at v2 beside v1, roll back to v1, undo it",
    "  - fill in the form of “First pipeline”; start “Weekly report” again, which scripts write",
    "the agents' answers are scripted: no model is asked, and nothing leaves this machine",
    "Ctrl-C stops it",
];
