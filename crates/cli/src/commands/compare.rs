//! `holdpoint compare`: two runs, executions or attempts side by side.

use serde_json::Value;

use crate::client::Api;
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;
use crate::text;

/// Show how two runs, executions or attempts differ
///
/// A side is the id of a run or of an execution; `ID@1.2` is attempt 2 at revision 1 of an execution.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first
    #[arg(value_name = "A")]
    a: String,

    /// The second
    #[arg(value_name = "B")]
    b: String,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let api = Api::existing(context)?;
    for side in [&args.a, &args.b] {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-@.".contains(c);
        if side.is_empty() || !side.chars().all(plain) {
            let message = format!("`{side}` is not a run, an execution or an attempt");
            return Err(Problem::usage("bad_id", message, "copy an id from a list").into());
        }
    }
    let answer = api.get(&format!("/api/compare?a={}&b={}", args.a, args.b))?;
    if context.output.is_json() {
        context.output.value(&answer)?;
    } else {
        context.output.data(&shown(&answer))?;
    }
    api.finish();
    Ok(Exit::Done)
}

fn shown(comparison: &Value) -> String {
    let mut all = String::new();
    let mut put = |line: &str| {
        all.push_str(&text::line(line));
        all.push('\n');
    };
    for checkpoint in comparison["checkpoints"].as_array().into_iter().flatten() {
        put(&format!(
            "{} {}: {} / {}",
            checkpoint["checkpoint_position"],
            text_of(&checkpoint["checkpoint_name"]),
            text_of(&checkpoint["status_a"]),
            text_of(&checkpoint["status_b"])
        ));
        for line in text_of(&checkpoint["definition_diff"]).lines() {
            put(&format!("    {line}"));
        }
        for artifact in checkpoint["artifacts"].as_array().into_iter().flatten() {
            put(&format!("  {}: {}", text_of(&artifact["artifact_name"]), text_of(&artifact["change"])));
            for line in text_of(&artifact["diff"]).lines() {
                put(&format!("    {line}"));
            }
        }
    }
    if comparison["same"] == true {
        put("no difference in outputs or definitions");
    }
    all
}
