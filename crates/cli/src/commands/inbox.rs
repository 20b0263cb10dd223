//! `holdpoint inbox`: everything that waits for a person.

use serde_json::{Value, json};

use crate::client::Api;
use crate::context::Context;
use crate::problem::{Exit, Failure};
use crate::table::{Table, text_of};

/// List what waits for a person
///
/// Each line names a question and the id to answer it with: `holdpoint answer ID --approve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only of this pipeline, by id or name
    #[arg(long, value_name = "PIPELINE")]
    pipeline: Option<String>,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if args.pipeline.is_none() && Api::nothing_there(context)? {
        return Ok(Exit::Done);
    }
    let api = Api::existing(context)?;
    let mut path = "/api/inbox".to_owned();
    if let Some(pipeline) = &args.pipeline {
        path = format!("{path}?pipeline_id={}", super::pipeline::find(&api, pipeline)?);
    }
    let items = api.list(&path, 1000)?;
    if context.output.is_json() {
        context.output.value(&json!({"items": items}))?;
    } else if items.is_empty() {
        context.output.say("nothing waits for you");
    } else {
        context.output.data(&table(&items))?;
    }
    api.finish();
    Ok(Exit::Done)
}

fn table(items: &[Value]) -> String {
    let mut table = Table::new(&["ID", "WHAT", "PIPELINE", "RUN", "SINCE"]);
    for item in items {
        let waiting = &item["waiting_for"];
        let run = item["run_version"].as_u64().map_or_else(String::new, |version| format!("v{version}"));
        table.row([
            // A question of the plan itself belongs to no execution.
            text_of(if item["execution_id"].is_null() { &waiting["gate_id"] } else { &item["execution_id"] }),
            text_of(&waiting["question"]),
            text_of(&item["pipeline_name"]),
            run,
            text_of(&waiting["since"]),
        ]);
    }
    table.to_string()
}
