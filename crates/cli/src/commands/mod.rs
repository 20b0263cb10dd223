//! The commands, one file each. A new one is a file with its `Args` and `run`, a variant, and a line per method.

mod answer;
mod audit;
mod backup;
mod bench;
mod compare;
mod compile;
mod completions;
mod config;
mod demo;
mod doctor;
mod gc;
mod inbox;
mod init;
mod inspect;
mod load;
pub mod mcp;
mod open;
mod pipeline;
mod restore;
mod resume;
mod rollback;
mod run;
mod serve;
mod token;

use clap::Subcommand;

use crate::context::Context;
use crate::problem::{Exit, Failure};

#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(serve::Args),
    Demo(demo::Args),
    Open(open::Args),
    Init(init::Args),
    Run(run::Args),
    Resume(resume::Args),
    Pipeline(pipeline::Args),
    Inbox(inbox::Args),
    Answer(answer::Args),
    Rollback(rollback::Args),
    Compare(compare::Args),
    Compile(compile::Args),
    Inspect(inspect::Args),
    Mcp(mcp::Args),
    Token(token::Args),
    Doctor(doctor::Args),
    Audit(audit::Args),
    Backup(backup::Args),
    Restore(restore::Args),
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
            Self::Demo(args) => demo::run(args, context),
            Self::Open(args) => open::run(&args, context),
            Self::Init(args) => init::run(&args, context),
            Self::Run(args) => run::run(&args, context),
            Self::Resume(args) => resume::run(&args, context),
            Self::Pipeline(args) => pipeline::run(&args, context),
            Self::Inbox(args) => inbox::run(&args, context),
            Self::Answer(args) => answer::run(&args, context),
            Self::Rollback(args) => rollback::run(&args, context),
            Self::Compare(args) => compare::run(&args, context),
            Self::Compile(args) => compile::run(&args, context),
            Self::Inspect(args) => inspect::run(&args, context),
            Self::Mcp(args) => mcp::run(&args, context),
            Self::Token(args) => token::run(&args, context),
            Self::Doctor(args) => doctor::run(&args, context),
            Self::Audit(args) => audit::run(&args, context),
            Self::Backup(args) => backup::run(&args, context),
            Self::Restore(args) => restore::run(&args, context),
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
            Self::Demo(_) => "demo",
            Self::Open(_) => "open",
            Self::Init(_) => "init",
            Self::Run(_) => "run",
            Self::Resume(_) => "resume",
            Self::Pipeline(_) => "pipeline",
            Self::Inbox(_) => "inbox",
            Self::Answer(_) => "answer",
            Self::Rollback(_) => "rollback",
            Self::Compare(_) => "compare",
            Self::Compile(_) => "compile",
            Self::Inspect(_) => "inspect",
            Self::Mcp(_) => "mcp",
            Self::Token(_) => "token",
            Self::Doctor(_) => "doctor",
            Self::Audit(_) => "audit",
            Self::Backup(_) => "backup",
            Self::Restore(_) => "restore",
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
            Self::Open(_)
            | Self::Run(_)
            | Self::Resume(_)
            | Self::Pipeline(_)
            | Self::Inbox(_)
            | Self::Answer(_)
            | Self::Rollback(_)
            | Self::Compare(_)
            | Self::Token(_) => true,
            Self::Serve(_)
            | Self::Demo(_)
            | Self::Init(_)
            | Self::Compile(_)
            | Self::Inspect(_)
            | Self::Mcp(_)
            | Self::Doctor(_)
            | Self::Audit(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Gc(_)
            | Self::Bench(_)
            | Self::Config(_)
            | Self::Completions(_)
            | Self::Load(_) => false,
        }
    }
}
