//! `holdpoint completions`: what a shell needs to complete commands and options.

use clap_complete::Shell;

use crate::context::Context;
use crate::problem::{Exit, Failure};

/// Print completions for your shell
///
/// For bash: `holdpoint completions bash > ~/.local/share/bash-completion/completions/holdpoint`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete in
    shell: Shell,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "holdpoint", &mut script);
    context.output.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
