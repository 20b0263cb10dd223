//! `holdpoint resume`: goes on with a run that was left, was paused, or whose process was killed.

use serde_json::json;

use crate::client::{Api, path_part};
use crate::context::Context;
use crate::follow::{self, follow};
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// Go on with a run and stay with it
///
/// What was finished or answered is not done or asked again. A paused run is resumed; one that waits for a person
/// ends the command with 3 again, an ended one with 2.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    follow: follow::Options,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let prepared = args.follow.prepared(context)?;
    Api::must_exist(context)?;
    let api = Api::working(context)?;
    let id = path_part(&args.run)?;
    let run = api.get(&format!("/api/runs/{id}")).map_err(|problem| match &*problem.code {
        "not_found" => {
            let hint = "`holdpoint pipeline runs PIPELINE` lists runs with their ids";
            Problem::failed("not_found", format!("there is no run `{id}`"), hint)
        }
        _ => problem,
    })?;
    let failed = run["current_execution"]["waiting_for"]["kind"] == "retry";
    match text_of(&run["status"]).as_str() {
        "paused" if !failed => drop(api.post(&format!("/api/runs/{id}/resume"), json!({}))?),
        "not_started" => drop(api.post("/api/executions/start", json!({"run_id": id}))?),
        _ => {}
    }
    follow(api, id, false, &args.follow, prepared, context)
}
