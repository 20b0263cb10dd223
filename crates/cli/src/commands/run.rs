//! `holdpoint run`: runs a source, whatever it is written in.

mod replay;
mod scripts;
mod source;

use crate::client::Api;
use crate::commands::pipeline::{apply, find, run::begin};
use crate::context::Context;
use crate::follow;
use crate::problem::{Exit, Failure};
use crate::table::text_of;
use source::Source;

/// Run a file or a pipeline, do its work and stay with it
///
/// SOURCE is a pipeline file (YAML or JSON), which is applied first, or the name or id of a pipeline. Scripts that a
/// file's checkpoints name are taken from the folder `scripts` beside it. Ends like `holdpoint pipeline run`.
///
/// With `--replay RUN` a recorded run is done again in a folder of its own: models' and people's answers come from the
/// recording, scripts and tools are run again. Ends with 0 when everything is the same, else with 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A pipeline file, or a pipeline's name or id
    #[arg(value_name = "SOURCE", required_unless_present = "replay", conflicts_with = "replay")]
    source: Option<String>,

    /// Run a recorded run again, without a network, and say where it first differs
    #[arg(long, value_name = "RUN", conflicts_with_all = ["answers", "non_interactive"])]
    replay: Option<String>,

    /// With --replay: the definition to run, instead of the recorded one
    #[arg(long, value_name = "FILE", requires = "replay", conflicts_with = "with_current")]
    definition: Option<std::path::PathBuf>,

    /// With --replay: run the pipeline's present definition and scripts
    #[arg(long, requires = "replay")]
    with_current: bool,

    #[command(flatten)]
    follow: follow::Options,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let prepared = args.follow.prepared(context)?;
    let Some(source) = &args.source else {
        let run = args.replay.as_deref().unwrap_or_default();
        let with = match &args.definition {
            Some(file) => replay::With::File(context.resolve(file)?),
            None if args.with_current => replay::With::Present,
            None => replay::With::Recorded,
        };
        return replay::run(run, &with, context);
    };
    let source = Source::find(source, context)?;
    let api = Api::working(context)?;
    let id = match source {
        Source::Known(name) => find(&api, &name)?,
        Source::Pipeline(file, bytes) => {
            let applied = apply::apply(&api, &file, bytes)?;
            apply::told(&applied, context);
            scripts::bring(&file, &applied["pipeline"], context)?;
            text_of(&applied["pipeline"]["pipeline_id"])
        }
    };
    begin(api, &id, &args.follow, prepared, context)
}
