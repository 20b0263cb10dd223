//! `holdpoint audit`: whether the log is what was written.

use holdpoint_engine::audit::{self, Report};
use serde_json::{Value, json};

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::progress::Progress;
use crate::text::{self, many};
use crate::wiring;

/// What to do about a log that was changed.
pub const RESTORE: &str = "restore a copy of the home from before the damage; keep this one to look into it";

/// What is said of a database that was copied without its WAL.
pub const LACKS_TAIL: &str = "the newest events are missing: state.db was copied while it was in use, without state.db-wal (to keep it as it is, remove db/incomplete)";

/// Check what was recorded
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check that nothing in the log was changed, removed or put in
    ///
    /// Reads the whole log: every row's hash, every link, every number and every seal. Writes nothing, and works
    /// beside a running server.
    Verify,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let Command::Verify = args.command;
    let home = context.home()?;
    let log = wiring::look_at(&home)?;
    let progress = Progress::new("events", context.output.is_quiet());
    let report = wiring::wait(audit::verify(&*log, &|events| progress.tell(events)))?;
    drop(progress);
    let mut report = report.map_err(|error| wiring::cannot_read(&home, &error))?;
    if log.lacks_tail() {
        report.wrong.insert(0, LACKS_TAIL.to_owned());
    }
    if context.output.is_json() {
        context.output.value(&as_json(&report))?;
        return Ok(if report.wrong.is_empty() { Exit::Done } else { Exit::Failed });
    }
    context.output.data(&as_text(&report))?;
    context.output.flush()?;
    if report.wrong.is_empty() { Ok(Exit::Done) } else { Err(damaged(&home, &report).into()) }
}

fn as_text(report: &Report) -> String {
    let Report { events, rows, streams, seals, sealed, unsealed, wrong } = report;
    let covered = match (*seals, *unsealed) {
        (0, _) => "nothing yet".to_owned(),
        (_, 0) => format!("everything, up to position {}", sealed.0),
        (_, open) => {
            let open = many(open, "row after it is not", "rows after it are not");
            format!("up to position {}; {open} yet", sealed.0)
        }
    };
    let mut lines = vec![
        format!("events   {events}"),
        format!("rows     {rows}"),
        format!("streams  {streams}"),
        format!("seals    {seals}"),
        format!("sealed   {covered}"),
    ];
    if wrong.is_empty() {
        lines.push("wrong    nothing".to_owned());
    }
    lines.extend(wrong.iter().map(|what| format!("wrong    {what}")));
    lines.iter().map(|line| text::line(line) + "\n").collect()
}

fn as_json(report: &Report) -> Value {
    let Report { events, rows, streams, seals, sealed, unsealed, wrong } = report;
    let mut all = json!({
        "ok": wrong.is_empty(),
        "events": events,
        "rows": rows,
        "streams": streams,
        "seals": seals,
        "sealed": sealed.0,
        "unsealed": unsealed,
        "wrong": wrong,
    });
    if !wrong.is_empty() {
        all["hint"] = RESTORE.into();
    }
    all
}

fn damaged(home: &Home, report: &Report) -> Problem {
    let first = report.wrong.first().map_or("", String::as_str);
    let message = format!("the log of `{}` is not what was written: {first}", home.path().display());
    Problem::failed("log_damaged", message, RESTORE)
}
