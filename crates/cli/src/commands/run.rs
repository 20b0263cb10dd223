//! `holdpoint run`: runs a source, whatever it is written in.

mod dry;
mod replay;
mod scripts;
mod source;
mod trust;
mod walk;

use std::path::PathBuf;

use crate::client::Api;
use crate::commands::pipeline::{apply, find, run::begin};
use crate::context::Context;
use crate::follow;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;
use source::Source;

/// Run a file or a pipeline, do its work and stay with it
///
/// SOURCE is a pipeline file (YAML or JSON), which is applied first, or the name or id of a pipeline. Scripts that a
/// file's checkpoints name are taken from the folder `scripts` beside it. Ends like `holdpoint pipeline run`.
///
/// With `--replay RUN` a recorded run is done again in a folder of its own: models' and people's answers come from the
/// recording, scripts and tools are run again. Ends with 0 when everything is the same, else with 1.
///
/// With `--dry-run` the whole way is walked with made-up answers and priced: no model is asked, no script is run, and
/// nothing is written to the home. `--stubs FILE` says what checkpoints make, `--answers FILE` what people say. Ends
/// with 0 when the run would complete, else with 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A pipeline file, or a pipeline's name or id
    #[arg(value_name = "SOURCE", required_unless_present_any = ["replay", "stubs"], conflicts_with = "replay")]
    source: Option<String>,

    /// Run a recorded run again, without a network, and say where it first differs
    #[arg(long, value_name = "RUN", conflicts_with_all = ["answers", "non_interactive"])]
    replay: Option<String>,

    /// With --replay: the definition to run, instead of the recorded one
    #[arg(long, value_name = "FILE", requires = "replay", conflicts_with = "with_current")]
    definition: Option<PathBuf>,

    /// With --replay: run the pipeline's present definition and scripts
    #[arg(long, requires = "replay")]
    with_current: bool,

    /// Walk the whole way with made-up answers, say where it stops and what it would cost, and change nothing
    #[arg(long, conflicts_with_all = ["replay", "non_interactive"])]
    dry_run: bool,

    /// With --dry-run: what checkpoints make, in a YAML file; what it does not say is made up
    #[arg(long, value_name = "FILE", num_args = 0..=1, requires = "dry_run")]
    stubs: Option<Vec<PathBuf>>,

    #[command(flatten)]
    follow: follow::Options,
}

impl Args {
    /// What is walked, and with which stubs. `--stubs` takes the word after it for its file, also where that word was
    /// meant to be the source.
    fn rehearsed(&self) -> Result<(String, Option<PathBuf>), Problem> {
        match (&self.source, &self.stubs) {
            (Some(source), stubs) => Ok((source.clone(), stubs.iter().flatten().next().cloned())),
            (None, Some(words)) if !words.is_empty() => Ok((words[0].to_string_lossy().into_owned(), None)),
            (None, _) => {
                let message = "it is not said what to walk";
                Err(Problem::usage(
                    "bad_argument",
                    message,
                    "name a pipeline file, or a pipeline's name or id",
                ))
            }
        }
    }
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let prepared = args.follow.prepared(context)?;
    if args.dry_run {
        let (source, stubs) = args.rehearsed()?;
        let source = Source::find(&source, context)?;
        let stubs = stubs.map(|file| context.resolve(&file)).transpose()?;
        return dry::run(&source, stubs.as_deref(), prepared, context);
    }
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
    if let Source::Pipeline(_, bytes) = &source {
        trust::check(&source::checkpoints(bytes), context)?;
    }
    let api = Api::working(context)?;
    let id = match source {
        Source::Known(name) => {
            let id = find(&api, &name)?;
            trust::check(&api.list(&format!("/api/pipelines/{id}/checkpoints"), 10_000)?, context)?;
            id
        }
        Source::Pipeline(file, bytes) => {
            let applied = apply::apply(&api, &file, bytes)?;
            apply::told(&applied, context);
            scripts::bring(&file, &applied["pipeline"], context)?;
            text_of(&applied["pipeline"]["pipeline_id"])
        }
    };
    begin(api, &id, &args.follow, prepared, context)
}
