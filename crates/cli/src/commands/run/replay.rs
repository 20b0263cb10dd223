//! Running a recorded run again: a test that needs no key and no network.
//!
//! It happens in a home of its own that is removed afterwards; the original is only looked at. Answers of models come
//! from the recording by their keys, answers of people by their order, scripts and tools are run again. What came of
//! it is compared checkpoint by checkpoint.

mod compare;
mod definition;
mod people;

use std::path::PathBuf;
use std::sync::Arc;

use holdpoint_core::facts::NothingKnown;
use holdpoint_core::{Actor, RunId};
use holdpoint_work::Recording;
use serde_json::{Value, json};

use super::walk::walk;
use crate::client::{Api, Body, path_part};
use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;
use crate::text;
pub use definition::copy;
use people::People;

/// Which definition is run.
pub enum With {
    /// What the run's executions had pinned, with the scripts as they were.
    Recorded,
    /// The pipeline as it is now, with the scripts that are there now.
    Present,
    /// A file.
    File(PathBuf),
}

/// Replays a run and compares.
pub fn run(run: &str, with: &With, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if context.server().is_some() {
        let message = "a run is replayed on the home that has recorded it";
        return Err(Problem::usage("server_not_possible", message, "leave --server out").into());
    }
    let home = context.home()?;
    let settings = context.settings(&home, &[])?.settings;
    let then = Api::looking(&home, &settings, context.actor())?;
    let recorded = then.get(&format!("/api/runs/{}", path_part(run)?))?;
    let id = RunId(
        run.parse()
            .map_err(|_| Problem::usage("bad_id", format!("`{run}` is not an id"), "copy it from a list"))?,
    );
    let mut recording = then
        .engine(async |engine| Recording::of(engine, id).await)
        .transpose()
        .map_err(unreadable)?
        .unwrap_or_default();
    if !matches!(with, With::Recorded) {
        recording.forget_scripts();
    }

    let folder = tempfile::Builder::new().prefix("holdpoint-replay-").tempdir().map_err(unreadable)?;
    let scratch = Home::at(folder.path().join("home"));
    scratch.create()?;
    let (worker, _) = crate::worker::worker(&scratch, &settings, context.surroundings())?;
    let actor = Actor::person("replay");
    let worker = Arc::new(worker.replaying(recording));
    let now = Api::on_home(&scratch, &settings, worker, Arc::new(NothingKnown), actor)?;
    let file = definition::of(&then, id, with)?;
    let applied = now.call("POST", "/api/pipelines/apply", Body::Bytes("application/yaml", file))?;
    let pipeline = text_of(&applied["pipeline"]["pipeline_id"]);
    let folder_of = |home: &Home| crate::wiring::tree_options(home, &settings.files).folder;
    let scripts = folder_of(&home).join(text_of(&recorded["pipeline_id"])).join("scripts");
    definition::copy(&scripts, &folder_of(&scratch).join(&pipeline).join("scripts")).map_err(unreadable)?;

    let made = now.post("/api/runs", json!({"pipeline_id": pipeline}))?;
    let replayed = text_of(&made["run_id"]);
    let mut people = People::read(&then, run, folder.path())?;
    // What is refused now was taken then: that is a difference, not a fault.
    let unanswered = walk(&now, &replayed, &mut people, context)?.map(|stands| stands.execution);
    let found = compare::compare(&then, run, &now, &replayed, unanswered)?;
    now.finish();
    tell(&recorded, &found, context)
}

fn tell(recorded: &Value, found: &compare::Found, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let exit = if found.is_same() { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        context.output.value(&json!({
            "run_id": recorded["run_id"],
            "same": found.is_same(),
            "first_difference": found.differences.first(),
            "differences": found.differences,
            "checkpoints": found.checkpoints,
        }))?;
        return Ok(exit);
    }
    for checkpoint in &found.checkpoints {
        let how = if checkpoint.differences == 0 {
            "the same".to_owned()
        } else {
            text::many(checkpoint.differences as u64, "difference", "differences")
        };
        let made = text::many(checkpoint.artifacts as u64, "artifact", "artifacts");
        let said = text::many(checkpoint.messages as u64, "message", "messages");
        context.output.data(&format!("{}: {how} ({made}, {said})\n", text::line(&checkpoint.name)))?;
    }
    if let Some(first) = found.differences.first() {
        context.output.data(&format!("\nfirst difference: {}\n", text::line(&first.what)))?;
        for line in first.diff.lines() {
            context.output.data(&format!("  {}\n", text::line(line)))?;
        }
    }
    Ok(exit)
}

fn unreadable(error: impl std::fmt::Display) -> Problem {
    Problem::failed(
        "not_replayed",
        format!("the run cannot be replayed: {error}"),
        "`holdpoint doctor` checks the home",
    )
}
