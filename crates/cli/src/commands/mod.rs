//! The commands, one file each. A new one is a file with its `Args` and `run`, a variant, and a line per method.

mod audit;
mod bench;
mod completions;
mod config;
mod doctor;
mod gc;
mod load;
mod serve;

use clap::Subcommand;

use crate::context::Context;
use crate::problem::{Exit, Failure};

#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(serve::Args),
    Doctor(doctor::Args),
    Audit(audit::Args),
    Gc(gc::Args),
    Bench(bench::Args),
    Config(config::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Load(load::Args),
}

impl Command {
    pub fn run(self, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
        match self {
            Self::Serve(args) => serve::run(args, context),
            Self::Doctor(args) => doctor::run(&args, context),
            Self::Audit(args) => audit::run(&args, context),
            Self::Gc(args) => gc::run(&args, context),
            Self::Bench(args) => bench::run(&args, context),
            Self::Config(args) => config::run(&args, context),
            Self::Completions(args) => completions::run(&args, context),
            Self::Load(args) => load::run(&args, context),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Serve(_) => "serve",
            Self::Doctor(_) => "doctor",
            Self::Audit(_) => "audit",
            Self::Gc(_) => "gc",
            Self::Bench(_) => "bench",
            Self::Config(_) => "config",
            Self::Completions(_) => "completions",
            Self::Load(_) => "load",
        }
    }

    /// Whether it can be sent to a server with `--server`.
    pub fn works_on_a_server(&self) -> bool {
        match self {
            Self::Serve(_)
            | Self::Doctor(_)
            | Self::Audit(_)
            | Self::Gc(_)
            | Self::Bench(_)
            | Self::Config(_)
            | Self::Completions(_)
            | Self::Load(_) => false,
        }
    }
}
