//! `holdpoint pipeline`: definitions as files, and their runs.

pub mod apply;
mod list;
pub mod run;

use serde_json::{Value, json};

use crate::client::{Api, Body, path_part};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// Define pipelines and run them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List pipelines
    List {
        /// Those that were deleted
        #[arg(long)]
        deleted: bool,
    },
    /// Show a pipeline
    Show {
        /// Its id or name
        pipeline: String,
    },
    /// Make a pipeline as a file says, or change it; the same file twice changes nothing
    Apply(apply::Args),
    /// Write a pipeline as a file
    Export {
        /// Its id or name
        pipeline: String,
        /// Where to write it [default: stdout]
        #[arg(long, short, value_name = "FILE")]
        output: Option<std::path::PathBuf>,
    },
    Run(run::Args),
    /// List runs
    Runs {
        /// Its id or name
        pipeline: String,
    },
    /// Put a pipeline away; it can be brought back
    Delete {
        /// Its id or name
        pipeline: String,
    },
    /// Bring a deleted pipeline back
    Restore {
        /// Its id
        pipeline: String,
    },
    /// List what changed in a pipeline's definition, and when
    History {
        /// Its id or name
        pipeline: String,
    },
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if let Command::Run(args) = &args.command {
        return run::run(args, context);
    }
    if matches!(args.command, Command::List { .. }) && Api::nothing_there(context)? {
        return Ok(Exit::Done);
    }
    // Applying a file is how a home gets its first pipeline.
    let api = match &args.command {
        Command::Apply(_) => Api::open(context)?,
        _ => Api::existing(context)?,
    };
    let exit = match &args.command {
        Command::List { deleted } => list::pipelines(&api, *deleted, context)?,
        Command::Show { pipeline } => list::show(&api, pipeline, context)?,
        Command::Apply(args) => apply::run(args, &api, context)?,
        Command::Export { pipeline, output } => apply::export(&api, pipeline, output.as_deref(), context)?,
        Command::Run(_) => unreachable!("a run is started above"),
        Command::Runs { pipeline } => list::runs(&api, pipeline, context)?,
        Command::Delete { pipeline } => {
            let id = find(&api, pipeline)?;
            let gone = api.call("DELETE", &format!("/api/pipelines/{id}"), Body::None)?;
            told(context, &gone, &format!("deleted; `holdpoint pipeline restore {id}` brings it back"))?
        }
        Command::Restore { pipeline } => {
            let back = api.post(&format!("/api/pipelines/{}/restore", path_part(pipeline)?), json!({}))?;
            told(context, &back, &format!("{} is back", text_of(&back["pipeline_name"])))?
        }
        Command::History { pipeline } => list::history(&api, pipeline, context)?,
    };
    api.finish();
    Ok(exit)
}

fn told(context: &mut Context<'_, '_>, value: &Value, line: &str) -> Result<Exit, Failure> {
    if context.output.is_json() {
        context.output.value(value)?;
    } else {
        context.output.say(line);
    }
    Ok(Exit::Done)
}

/// The id of the pipeline with this id or name.
pub fn find(api: &Api, wanted: &str) -> Result<String, Problem> {
    if wanted.len() == 36 && path_part(wanted).is_ok() {
        return Ok(wanted.to_owned());
    }
    let all = api.list("/api/pipelines", 10_000)?;
    let named: Vec<&Value> = all.iter().filter(|each| each["pipeline_name"] == wanted).collect();
    match named[..] {
        [only] => Ok(text_of(&only["pipeline_id"])),
        [] => {
            let known = all.iter().filter_map(|each| each["pipeline_name"].as_str());
            let hint = match crate::text::nearest(wanted, known) {
                Some(near) => format!("did you mean `{near}`? `holdpoint pipeline list` shows all"),
                None => "`holdpoint pipeline list` shows all".to_owned(),
            };
            Err(Problem::failed("not_found", format!("there is no pipeline `{wanted}`"), hint))
        }
        _ => {
            let message = format!("{} pipelines are called `{wanted}`", named.len());
            Err(Problem::failed("ambiguous", message, "use the id: `holdpoint pipeline list` shows it"))
        }
    }
}
