//! `holdpoint init`: makes a home for a project.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::wiring::{self, HomeOptions};

/// Make a home for the project in this folder
///
/// Makes `.holdpoint/`, which commands below this folder then find by themselves, and an example of a pipeline.
/// What is there already stays as it is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The project's folder [default: the working folder]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// The first pipeline: three forms, no key, no network.
pub const EXAMPLE: &str = include_str!("../../../../examples/first-pipeline.yaml");

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let folder = context.resolve(args.folder.as_deref().unwrap_or_else(|| std::path::Path::new("")))?;
    let cannot = |error: std::io::Error| {
        let message = format!("`{}` cannot be made a project: {error}", folder.display());
        Problem::failed("not_made", message, "check the path and its rights")
    };
    fs::create_dir_all(&folder).map_err(cannot)?;
    let home = context.named_home()?.unwrap_or_else(|| Home::at(folder.join(".holdpoint")));
    let fresh = !wiring::has_database(&home);
    drop(wiring::wait(wiring::open_home(&home, HomeOptions::default()))??);
    let example = folder.join("first-pipeline.yaml");
    let wrote = match fs::File::options().write(true).create_new(true).open(&example) {
        Ok(mut file) => {
            std::io::Write::write_all(&mut file, EXAMPLE.as_bytes()).map_err(cannot)?;
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(cannot(error).into()),
    };
    if context.output.is_json() {
        let (home, example) = (home.path().display().to_string(), example.display().to_string());
        context
            .output
            .value(&json!({"home": home, "made": fresh, "example": example, "wrote_example": wrote}))?;
        return Ok(Exit::Done);
    }
    let what = if fresh { "made" } else { "is there already:" };
    context.output.say(&format!("home {what} {}", home.path().display()));
    let place = context.same_place();
    context.output.say(&format!("next: holdpoint pipeline apply {}{place}", example.display()));
    Ok(Exit::Done)
}
