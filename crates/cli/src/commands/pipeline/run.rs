//! Starting a run.

use serde_json::json;

use super::find;
use crate::client::Api;
use crate::context::Context;
use crate::problem::{Exit, Failure};
use crate::table::text_of;

/// Start a run
///
/// Ends with 3 when the run waits for a person, which `holdpoint answer` then is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The pipeline's id or name
    pipeline: String,

    /// Make the run without starting it
    #[arg(long)]
    no_start: bool,
}

pub fn run(args: &Args, api: &Api, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let id = find(api, &args.pipeline)?;
    let made = api.post("/api/runs", json!({"pipeline_id": id, "start": !args.no_start}))?;
    let waiting = &made["current_execution"]["waiting_for"];
    if context.output.is_json() {
        context.output.value(&made)?;
    } else {
        context.output.data(&format!("{}\n", text_of(&made["run_id"])))?;
        let extends = match made["extends_from_run_version"].as_u64() {
            Some(version) => format!(", extending v{version}"),
            None => String::new(),
        };
        context.output.say(&format!("v{} is {}{extends}", made["run_version"], text_of(&made["status"])));
        if !waiting.is_null() {
            context.output.say(&text_of(&waiting["question"]));
            let execution = text_of(&made["current_execution"]["execution_id"]);
            context.output.say(&format!("next: holdpoint answer {execution}"));
        }
    }
    Ok(if waiting.is_null() { Exit::Done } else { Exit::Waiting })
}
