//! The arguments that every command takes.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::Command;

/// Runs work that agents, scripts and people do together, stops where somebody has to look, and loses nothing.
#[derive(Debug, Parser)]
#[command(name = "holdpoint", version, propagate_version = false)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Accepted before or after the command's name.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// The folder that holds database, blobs, keys and files [default: `HOLDPOINT_HOME`, else the nearest
    /// `.holdpoint/` upwards, else the user's data folder]
    #[arg(long, global = true, value_name = "PATH")]
    pub home: Option<PathBuf>,

    /// Work on the server at this address instead of on a home
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,

    /// Print data, and errors, as JSON on stdout
    #[arg(long, global = true)]
    pub json: bool,

    /// Say nothing on stderr but errors
    #[arg(long, global = true)]
    pub quiet: bool,
}
