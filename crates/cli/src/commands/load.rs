//! `holdpoint load`: puts a load on a home, for crash tests; not shown to people.

use std::time::Duration;

use tokio::runtime::Builder;

use crate::context::Context;
use crate::load::{self, Plan};
use crate::problem::{Exit, Failure, Problem};

/// Put a load on a home, for tests
///
/// Submits a seeded mix of commands and does the work that follows, and tells on stdout what it sends and
/// what is answered, one JSON object per line.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Gives the choices; no two processes on a home may have the same
    #[arg(long, value_name = "N")]
    seed: u64,

    /// How many clients submit; none only does the work
    #[arg(long, value_name = "N", default_value_t = 4)]
    clients: u32,

    /// Only do the work after so many commands
    #[arg(long, value_name = "N")]
    requests: Option<u64>,

    /// Stop by itself after this time
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// How long a stopped process keeps its work
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    lease_ms: u64,

    /// How long a nap takes
    #[arg(long, value_name = "N", default_value_t = 4)]
    nap_ms: u64,

    /// Only run pipelines, so that files are written, moved and removed all the time
    #[arg(long)]
    pipelines: bool,

    /// Kill the process after so many answers
    #[arg(long, value_name = "N")]
    die_after: Option<u64>,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let plan = Plan {
        seed: args.seed,
        clients: args.clients,
        requests: args.requests,
        time: args.seconds.map(Duration::from_secs),
        lease: Duration::from_millis(args.lease_ms),
        nap: Duration::from_millis(args.nap_ms),
        pipelines: args.pipelines,
        die_after: args.die_after,
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
        Problem::failed(
            "not_started",
            format!("the load cannot work: {error}"),
            "look at the limits of this system",
        )
    })?;
    runtime.block_on(load::run(&home, plan))
}
