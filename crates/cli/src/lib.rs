//! The command line: arguments, settings, text and JSON output, exit codes, wiring of the parts.
//!
//! Data goes to stdout, talk to stderr. An error is two lines, or one JSON object with `--json`. Commands
//! translate between people and the engine and hold no rule of their own.

mod answering;
mod args;
mod backup;
mod bench;
mod client;
mod commands;
mod context;
mod dry_runs;
mod follow;
mod home;
mod keys;
mod load;
mod logging;
mod output;
mod problem;
mod progress;
mod settings;
mod signals;
mod surroundings;
mod table;
mod terminal;
mod text;
mod tool_servers;
mod usage;
mod wiring;
mod worker;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::args::Cli;
use crate::context::Context;
use crate::output::Output;
use crate::problem::{Exit, Failure};
use crate::surroundings::Surroundings;

/// Runs the program on the arguments and surroundings of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let surroundings = Surroundings::current();
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let color = surroundings.wants_color(&err);
    let mut output = Output::new(&mut out, &mut err).json(usage::asks_for_json(&arguments)).color(color);
    let ended = run(&arguments, surroundings, &mut output);
    let ended = ended.and_then(|exit| output.flush().map(|()| exit));
    let exit = match ended {
        Ok(exit) => exit,
        Err(Failure::PipeClosed) => Exit::Done,
        Err(Failure::Problem(problem)) => {
            output.problem(&problem);
            problem.exit
        }
    };
    ExitCode::from(exit.code())
}

/// Every command with its options, as documentation and completions are made from it.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(arguments: &[OsString], surroundings: Surroundings, output: &mut Output<'_>) -> Result<Exit, Failure> {
    let mut root = command();
    let parsed = root.try_get_matches_from_mut(arguments);
    let Cli { global, command } = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error, &usage::named(arguments, &root), output),
    };
    output.quiet(global.quiet);
    let mut context = Context::new(global, surroundings, output);
    context.check_server(&command)?;
    command.run(&mut context)
}
