//! Starting a run of a pipeline, and staying with it.

use serde_json::{Value, json};

use super::find;
use crate::answering::Prepared;
use crate::client::Api;
use crate::context::Context;
use crate::follow::{self, follow};
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// Start a run, do its work and stay with it
///
/// The work is done by this command, unless a server does it on the same home or `--server` names one. Ends with 0
/// when the run is completed, 1 when it has failed, 2 when somebody ended it, and 3 when it waits for a person, which
/// `holdpoint answer` then is. Ctrl-C ends the command, not the run: `holdpoint resume` goes on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The pipeline's id or name
    pipeline: String,

    /// Make the run without starting it
    #[arg(long)]
    no_start: bool,

    /// Start the run and leave its work to a server
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    follow: follow::Options,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    Api::must_exist(context)?;
    let prepared = args.follow.prepared(context)?;
    if args.detach || args.no_start {
        let api = Api::open(context)?;
        let id = find(&api, &args.pipeline)?;
        let made = api.post("/api/runs", json!({"pipeline_id": id, "start": !args.no_start}))?;
        let exit = left(&made, context)?;
        api.finish();
        return Ok(exit);
    }
    let api = Api::working(context)?;
    let id = find(&api, &args.pipeline)?;
    begin(api, &id, &args.follow, prepared, context)
}

/// Starts a run and stays with it.
pub fn begin(
    api: Api,
    pipeline: &str,
    args: &follow::Options,
    prepared: Prepared,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    check_names(&api.get(&format!("/api/pipelines/{pipeline}"))?, &prepared)?;
    let made = api.post("/api/runs", json!({"pipeline_id": pipeline}))?;
    let id = text_of(&made["run_id"]);
    told(&made, context)?;
    follow(api, &id, true, args, prepared, context)
}

/// A prepared answer for a checkpoint that is not there was meant for another.
pub fn check_names(pipeline: &Value, prepared: &Prepared) -> Result<(), Problem> {
    let checkpoints = pipeline["checkpoints"].as_array();
    let names: Vec<String> =
        checkpoints.into_iter().flatten().map(|each| text_of(&each["checkpoint_name"])).collect();
    let Some(unknown) = prepared.unknown(&names) else { return Ok(()) };
    let hint = match crate::text::nearest(unknown, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    let message = format!("answers are prepared for “{unknown}”, which is no checkpoint of the pipeline");
    Err(Problem::bad_input("answers_invalid", message, hint))
}

/// The id goes out first, for whoever needs it while the run goes on.
fn told(made: &Value, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    if context.output.is_json() {
        return Ok(());
    }
    context.output.data(&format!("{}\n", text_of(&made["run_id"])))?;
    context.output.flush()?;
    let extends = match made["extends_from_run_version"].as_u64() {
        Some(version) => format!(", extending v{version}"),
        None => String::new(),
    };
    context.output.say(&format!("v{} is {}{extends}", made["run_version"], text_of(&made["status"])));
    Ok(())
}

/// A run that nobody stays with.
fn left(made: &Value, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    told(made, context)?;
    let waiting = &made["current_execution"]["waiting_for"];
    if context.output.is_json() {
        context.output.value(made)?;
    } else if !waiting.is_null() {
        context.output.say(&text_of(&waiting["question"]));
        let execution = text_of(&made["current_execution"]["execution_id"]);
        context.output.say(&format!("next: holdpoint answer {execution}"));
    }
    Ok(if waiting.is_null() { Exit::Done } else { Exit::Waiting })
}
