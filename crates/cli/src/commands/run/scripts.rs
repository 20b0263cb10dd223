//! The scripts beside a pipeline file, brought to where its checkpoints look for them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use holdpoint_engine::clock::{Clock as _, SystemClock};
use serde_json::Value;

use crate::context::Context;
use crate::problem::Problem;
use crate::table::text_of;

/// Copies the scripts that a pipeline names from the folder `scripts` beside its file. A script that was changed in the
/// home is put aside first. On a server nothing is copied.
pub fn bring(file: &Path, pipeline: &Value, context: &mut Context<'_, '_>) -> Result<(), Problem> {
    let Some(beside) = file.parent().map(|folder| folder.join("scripts")).filter(|folder| folder.is_dir())
    else {
        return Ok(());
    };
    if context.server().is_some() {
        return Ok(());
    }
    let home = context.home()?;
    let settings = context.settings(&home, &[])?.settings;
    let id = text_of(&pipeline["pipeline_id"]);
    let folder = crate::wiring::tree_options(&home, &settings.files).folder.join(id);
    for name in named(pipeline) {
        let from = beside.join(&name);
        if !from.is_file() {
            continue;
        }
        let cannot = |error: std::io::Error| {
            let message = format!("`{}` cannot be brought into the home: {error}", from.display());
            Problem::failed("not_written", message, "check the paths and their rights")
        };
        match copy(&from, &folder, &name).map_err(cannot)? {
            Copied::Same => {}
            Copied::New => {
                let line = format!("{} is taken from {}", name.display(), beside.display());
                context.output.say(&line);
            }
            Copied::Replaced(aside) => {
                let (name, beside) = (name.display(), beside.display());
                let line = format!("{name} is taken from {beside}; the one before is in {aside}");
                context.output.say(&line);
            }
        }
    }
    Ok(())
}

/// Copies the scripts beside a pipeline file into another folder of its pipeline, which nobody else uses.
pub fn copy_named(file: &Path, pipeline: &Value, folder: &Path) -> Result<(), Problem> {
    let Some(beside) = file.parent().map(|folder| folder.join("scripts")) else { return Ok(()) };
    for name in named(pipeline) {
        let from = beside.join(&name);
        if from.is_file() {
            copy(&from, folder, &name).map_err(|error| {
                let message = format!("`{}` cannot be copied: {error}", from.display());
                Problem::failed("not_written", message, "check the paths and their rights")
            })?;
        }
    }
    Ok(())
}

/// The scripts inside the pipeline's folder that its checkpoints name.
fn named(pipeline: &Value) -> BTreeSet<PathBuf> {
    let checkpoints = pipeline["checkpoints"].as_array();
    let paths = checkpoints
        .into_iter()
        .flatten()
        .filter_map(|each| Some(PathBuf::from(each["execution"]["script_config"]["script_path"].as_str()?)));
    paths.filter(|path| path.components().all(|part| matches!(part, Component::Normal(_)))).collect()
}

enum Copied {
    Same,
    New,
    Replaced(String),
}

fn copy(from: &Path, folder: &Path, name: &Path) -> std::io::Result<Copied> {
    let (bytes, to) = (std::fs::read(from)?, folder.join("scripts").join(name));
    let before = std::fs::read(&to).ok();
    if before.as_ref() == Some(&bytes) {
        return Ok(Copied::Same);
    }
    let mut copied = Copied::New;
    if before.is_some() {
        let now = SystemClock.now().compact();
        let aside = folder.join(".drift").join(now).join("scripts").join(name);
        std::fs::create_dir_all(aside.parent().unwrap_or(folder))?;
        std::fs::rename(&to, &aside)?;
        copied = Copied::Replaced(aside.display().to_string());
    }
    std::fs::create_dir_all(to.parent().unwrap_or(folder))?;
    // The file's rights come with it: what is executable stays so.
    std::fs::copy(from, &to)?;
    Ok(copied)
}
