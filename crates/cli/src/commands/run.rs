//! `holdpoint run`: runs a source, whatever it is written in.

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
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A pipeline file, or a pipeline's name or id
    #[arg(value_name = "SOURCE")]
    source: String,

    #[command(flatten)]
    follow: follow::Options,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let prepared = args.follow.prepared(context)?;
    let source = Source::find(&args.source, context)?;
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
