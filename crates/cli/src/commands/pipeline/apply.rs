//! Pipelines as files.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::find;
use crate::client::{Api, Body};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Make a pipeline as a file says, or change it; the same file twice changes nothing
#[derive(Debug, clap::Args)]
pub struct Args {
    /// YAML or JSON; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(args: &Args, api: &Api, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let applied = apply(api, &args.file, read(&args.file)?)?;
    if context.output.is_json() {
        context.output.value(&applied)?;
        return Ok(Exit::Done);
    }
    told(&applied, context);
    context.output.data(&format!("{}\n", text_of(&applied["pipeline"]["pipeline_id"])))?;
    Ok(Exit::Done)
}

/// Makes the pipeline be what a file says.
pub fn apply(api: &Api, file: &Path, bytes: Vec<u8>) -> Result<Value, Problem> {
    let kind = match file.extension().and_then(std::ffi::OsStr::to_str) {
        Some("json") => "application/json",
        _ => "application/yaml",
    };
    api.call("POST", "/api/pipelines/apply", Body::Bytes(kind, bytes))
}

/// Says what was changed, and what is doubtful.
pub fn told(applied: &Value, context: &mut Context<'_, '_>) {
    let pipeline = &applied["pipeline"];
    let name = text_of(&pipeline["pipeline_name"]);
    let changes = applied["changes"].as_array().cloned().unwrap_or_default();
    if changes.is_empty() {
        context.output.say(&format!("{name}: nothing to change"));
    }
    for change in &changes {
        context.output.say(&format!("{name}: {}", text_of(&change["description"])));
    }
    for warning in pipeline["warnings"].as_array().into_iter().flatten() {
        context.output.say(&format!(
            "warning: {}: {}",
            text_of(&warning["pointer"]),
            text_of(&warning["message"])
        ));
    }
}

/// Reads a definition.
pub fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let cannot = |error: std::io::Error| {
        let message = format!("`{}` cannot be read: {error}", file.display());
        Problem::bad_input("file_unreadable", message, "check the path and its rights")
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    } else {
        let opened = std::fs::File::open(file).map_err(cannot)?;
        opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if bytes.len() as u64 > LARGEST {
        let message = format!("`{}` is larger than 4 MiB", file.display());
        return Err(Problem::bad_input(
            "file_too_large",
            message,
            "a definition is text; move data elsewhere",
        ));
    }
    Ok(bytes)
}

pub fn export(
    api: &Api,
    pipeline: &str,
    output: Option<&Path>,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    let id = find(api, pipeline)?;
    let answer = api.send("GET", &format!("/api/pipelines/{id}/export"), Body::None)?;
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    match output {
        None => context.output.data(&text)?,
        Some(path) => {
            std::fs::write(path, &text).map_err(|error| {
                let message = format!("`{}` cannot be written: {error}", path.display());
                Problem::failed("not_written", message, "check the path and its rights")
            })?;
            context.output.say(&format!("wrote {}", path.display()));
        }
    }
    Ok(Exit::Done)
}
