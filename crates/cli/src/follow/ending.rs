//! What a command says of a run that rests, and how it ends.

use serde_json::{Value, json};

use crate::answering::options_of;
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// A run that has ended, is paused, or was never started.
pub fn ended(run: &Value, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let (id, status) = (text_of(&run["run_id"]), text_of(&run["status"]));
    let execution = &run["current_execution"];
    let failed = execution["waiting_for"]["kind"] == "retry";
    let exit = match status.as_str() {
        "completed" => Exit::Done,
        "aborted" => Exit::Aborted,
        "paused" if !failed => Exit::Waiting,
        "not_started" => Exit::Waiting,
        _ => Exit::Failed,
    };
    if context.output.is_json() {
        context.output.value(run)?;
        return Ok(exit);
    }
    let name = format!("v{} of “{}”", run["run_version"], text_of(&run["pipeline_name"]));
    let place = context.same_place();
    match status.as_str() {
        "completed" => context.output.say(&format!("{name} is completed")),
        "aborted" => context.output.say(&format!("{name} was ended by somebody")),
        "paused" if failed => {
            let step = text_of(&execution["checkpoint_name"]);
            let why = text_of(&execution["waiting_for"]["reasons"][0]);
            let execution = text_of(&execution["execution_id"]);
            let message = format!("“{step}” has failed, and {name} is paused: {why}");
            let hint = format!(
                "when it is mended, try again with `holdpoint answer {execution} --approve --resume{place}`"
            );
            return Err(Problem::failed("run_paused", message, hint).into());
        }
        "paused" => {
            context.output.say(&format!("{name} is paused"));
            context.output.say(&format!("next: holdpoint resume {id}{place}"));
        }
        "failed" => {
            let message = format!("{name} has failed");
            let hint =
                format!("`holdpoint rollback {id} --to 0 --dry-run{place}` says what going back would do");
            return Err(Problem::failed("run_failed", message, hint).into());
        }
        other => context.output.say(&format!("{name} is {other}")),
    }
    Ok(exit)
}

/// A run that waits for a person: what is asked, and how it is answered.
pub fn waits(run: &Value, execution: &Value, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let id = text_of(&execution["execution_id"]);
    let place = context.same_place();
    let commands: Vec<String> = options_of(&execution["waiting_for"])
        .iter()
        .map(|answer| format!("holdpoint answer {id} {answer} --resume{place}"))
        .collect();
    if context.output.is_json() {
        let mut run = run.clone();
        run["next"] = json!(commands);
        context.output.value(&run)?;
        return Ok(Exit::Waiting);
    }
    context.output.say(&text_of(&execution["waiting_for"]["question"]));
    for reason in execution["waiting_for"]["reasons"].as_array().into_iter().flatten() {
        context.output.say(&format!("  - {}", text_of(reason)));
    }
    if execution["waiting_for"]["kind"] == "approve_complete" {
        for artifact in execution["artifacts_generated"].as_array().into_iter().flatten() {
            context.output.say(&format!("  {}", text_of(&artifact["file_path"])));
        }
    }
    for (number, command) in commands.iter().enumerate() {
        context.output.say(&format!("{} {command}", if number == 0 { "next:" } else { "  or:" }));
    }
    Ok(Exit::Waiting)
}
