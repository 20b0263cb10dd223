//! `holdpoint rollback`: go back, look what going back would take, undo it.

use serde_json::{Value, json};

use crate::client::{Api, path_part};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::{Table, text_of};
use crate::text;

/// Go back to a checkpoint, or undo that
///
/// Everything behind the target leaves the active views and moves to the archive; nothing restarts by itself.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// The run to roll back
    #[arg(value_name = "RUN", required = true)]
    run: Option<String>,

    /// The checkpoint that stays completed: its position from 0, or its id
    #[arg(long, value_name = "CHECKPOINT", required = true)]
    to: Option<String>,

    /// Go back to this earlier run; all later runs go
    #[arg(long, value_name = "RUN")]
    to_run: Option<String>,

    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Only show what would go
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List rollbacks
    List {
        /// Only those asked for from this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
    },
    /// Put back what a rollback took out
    Undo {
        /// The rollback
        #[arg(value_name = "ID")]
        id: String,
    },
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if matches!(args.command, Some(Command::List { .. })) && Api::nothing_there(context)? {
        return Ok(Exit::Done);
    }
    let api = Api::existing(context)?;
    match &args.command {
        Some(Command::List { run }) => list(&api, run.as_deref(), context)?,
        Some(Command::Undo { id }) => {
            let undone = api.post(&format!("/api/rollback/{}/undo", path_part(id)?), json!({}))?;
            if context.output.is_json() {
                context.output.value(&undone)?;
            } else {
                context.output.say(&format!("rollback {} is undone", text_of(&undone["rollback_id"])));
            }
        }
        None => back(args, &api, context)?,
    }
    api.finish();
    Ok(Exit::Done)
}

fn back(args: &Args, api: &Api, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let (Some(run), Some(to)) = (&args.run, &args.to) else {
        return Err(Problem::usage("bad_argument", "a run and --to are needed", "see --help").into());
    };
    let mut body = json!({
        "rollback_type": if args.to_run.is_some() { "run_level" } else { "checkpoint_level" },
        "source_run_id": path_part(run)?,
        "dry_run": args.dry_run,
    });
    if let Some(target) = &args.to_run {
        body["target_run_id"] = path_part(target)?.into();
    }
    match to.parse::<u32>() {
        Ok(position) => body["target_checkpoint_position"] = position.into(),
        Err(_) => body["target_checkpoint_id"] = path_part(to)?.into(),
    }
    if let Some(reason) = &args.reason {
        body["user_reason"] = reason.as_str().into();
    }
    let answer = api.post("/api/rollback", body)?;
    if context.output.is_json() {
        context.output.value(&answer)?;
    } else if args.dry_run {
        context.output.data(&impact(&answer["impact"]))?;
    } else {
        let id = text_of(&answer["rollback_id"]);
        context.output.say(&format!("rolled back; `holdpoint rollback undo {id}` puts everything back"));
    }
    Ok(())
}

fn impact(impact: &Value) -> String {
    let mut table = Table::new(&["GOES", "WHAT", "WHERE"]);
    let each = |name: &str| impact[name].as_array().cloned().unwrap_or_default();
    for run in each("runs") {
        table.row(["run".to_owned(), format!("v{}", run["run_version"]), text_of(&run["run_id"])]);
    }
    for execution in each("executions") {
        table.row([
            "checkpoint".to_owned(),
            text_of(&execution["checkpoint_name"]),
            text_of(&execution["execution_id"]),
        ]);
    }
    for artifact in each("artifacts") {
        table.row([
            "artifact".to_owned(),
            text_of(&artifact["artifact_name"]),
            text_of(&artifact["original_path"]),
        ]);
    }
    let bytes = text::size(impact["bytes"].as_u64().unwrap_or(0));
    format!("{table}\n{bytes} of outputs and {} decisions go with them\n", impact["approvals"])
}

fn list(api: &Api, run: Option<&str>, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let path = match run {
        Some(run) => format!("/api/rollback?source_run_id={}", path_part(run)?),
        None => "/api/rollback".to_owned(),
    };
    let items = api.list(&path, 1000)?;
    if context.output.is_json() {
        context.output.value(&json!({"items": items}))?;
        return Ok(());
    }
    let mut table = Table::new(&["ID", "WHEN", "FROM", "TO", "CHECKPOINT", "UNDONE"]);
    for item in &items {
        table.row([
            text_of(&item["rollback_id"]),
            text_of(&item["created_at"]),
            format!("v{}", item["source_run_version"]),
            format!("v{}", item["target_run_version"]),
            text_of(&item["target_checkpoint_position"]),
            text_of(&item["undone_at"]),
        ]);
    }
    context.output.data(&table.to_string())?;
    Ok(())
}
