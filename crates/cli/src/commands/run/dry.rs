//! A dry run: the whole way of a pipeline with made-up answers, in a home of its own that is removed afterwards.
//!
//! Routing, gates, what agents are given and told, checks and budgets are real. No model is asked, no script is run, no
//! server of tools is reached, and nothing is written to the home.

mod people;
mod report;
mod stubs;

use std::path::Path;
use std::sync::Arc;

use holdpoint_agents::model::Providers;
use holdpoint_core::definition::{CheckpointDefinition, Compiled};
use holdpoint_core::state::PipelineState;
use holdpoint_core::{Actor, PipelineId, State, StreamId};
use holdpoint_work::Rehearsal;
use serde_json::json;

use super::source::Source;
use super::walk::walk;
use super::{replay, scripts};
use crate::answering::Prepared;
use crate::client::{Api, Body, path_part};
use crate::commands::pipeline::{apply, find, run::check_names};
use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::Settings;
use crate::table::text_of;
use crate::{tool_servers, worker};
use people::MadeUp;

/// Who walks.
const WALKER: &str = "dry run";

/// Rehearses a source and says what it would do and cost.
pub fn run(
    source: &Source,
    stubs: Option<&Path>,
    prepared: Prepared,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    let stubs = stubs.map(stubs::read).transpose()?.unwrap_or_default();
    let home = context.home()?;
    let settings = context.settings(&home, &[])?.settings;
    let folder = tempfile::Builder::new().prefix("holdpoint-dry-run-").tempdir().map_err(not_walked)?;
    let scratch = Home::at(folder.path().join("home"));
    scratch.create()?;

    let models = Arc::new(Providers::new(worker::models(&home, &settings, context.surroundings())?));
    let price_of = {
        let models = models.clone();
        Arc::new(move |model: &str| models.price_of(model))
    };
    let (worker, _) = worker::worker(&scratch, &settings, context.surroundings())?;
    let worker = Arc::new(worker.rehearsing(Rehearsal::new(stubs.clone(), price_of)));
    // What is offered is what the home knows: a tool that it does not have is refused here as well.
    let offers = tool_servers::offers(&home, &settings, context.surroundings())?;
    let api = Api::on_home(&scratch, &settings, worker, offers, Actor::person(WALKER))?;

    let pipeline = bring(source, &api, &scratch, &settings, context)?;
    without_delays(&api, &pipeline)?;
    let document = api.get(&format!("/api/pipelines/{}", path_part(&pipeline)?))?;
    check_names(&document, &prepared)?;
    stubs::check(&stubs, &document)?;

    let made = api.post("/api/runs", json!({"pipeline_id": pipeline}))?;
    let run = text_of(&made["run_id"]);
    let mut people = MadeUp::new(prepared, folder.path());
    let stands = walk(&api, &run, &mut people, context)?;
    let scripts =
        crate::wiring::tree_options(&scratch, &settings.files).folder.join(&pipeline).join("scripts");
    let found = report::report(&api, &run, &document, people, stands.as_ref(), &models, &scripts)?;
    api.finish();
    report::tell(&found, context)
}

/// Puts the definition and its scripts into the scratch home; gives the pipeline's id there.
fn bring(
    source: &Source,
    api: &Api,
    scratch: &Home,
    settings: &Settings,
    context: &mut Context<'_, '_>,
) -> Result<String, Problem> {
    let folder_of = |home: &Home| crate::wiring::tree_options(home, &settings.files).folder;
    match source {
        Source::Pipeline(file, bytes) => {
            let applied = apply::apply(api, file, bytes.clone())?;
            let id = text_of(&applied["pipeline"]["pipeline_id"]);
            scripts::copy_named(file, &applied["pipeline"], &folder_of(scratch).join(&id))?;
            Ok(id)
        }
        Source::Known(name) => {
            if context.server().is_some() {
                let message = "a pipeline is walked on the home that has it, or from a file";
                let hint = "leave --server out, or name a file that `holdpoint pipeline export` wrote";
                return Err(Problem::usage("server_not_possible", message, hint));
            }
            let home = context.home()?;
            let there = Api::looking(&home, settings, context.actor())?;
            let known = find(&there, name)?;
            let path = format!("/api/pipelines/{}/export", path_part(&known)?);
            let file = there.send("GET", &path, Body::None)?.accepted()?.bytes;
            let applied = apply::apply(api, Path::new("exported.yaml"), file)?;
            let id = text_of(&applied["pipeline"]["pipeline_id"]);
            let (from, to) = (folder_of(&home).join(known), folder_of(scratch).join(&id));
            replay::copy(&from.join("scripts"), &to.join("scripts")).map_err(not_walked)?;
            Ok(id)
        }
    }
}

/// Nobody waits between attempts in a dry run.
fn without_delays(api: &Api, pipeline: &str) -> Result<(), Problem> {
    let id = PipelineId(pipeline.parse().map_err(not_walked)?);
    let state = api.engine(async |engine| {
        let loaded = engine.view(StreamId::Pipeline(id)).await?;
        Ok(match &loaded.state {
            State::Pipeline(pipeline) => Some(pipeline.clone()),
            State::Home(_) | State::Run(_) | State::Journal(_) => None,
        })
    });
    let state = state.transpose().map_err(|error: holdpoint_engine::SubmitError| not_walked(error))?;
    let Some(mut state) = state.flatten() else { return Ok(()) };
    if drop_delays(&mut state) {
        apply::apply(api, Path::new("hurried.yaml"), holdpoint_formats::export(&state).into_bytes())?;
    }
    Ok(())
}

/// Whether there were any.
fn drop_delays(pipeline: &mut PipelineState) -> bool {
    let mut changed = false;
    for body in pipeline.checkpoints.values().map(|checkpoint| checkpoint.body) {
        let Some(compiled) = pipeline.bodies.get_mut(&body) else { continue };
        let mut definition = CheckpointDefinition::clone(compiled.definition());
        changed |= definition.execution.retry_config.retry_delay_seconds.replace(0) != Some(0);
        *compiled = Compiled::new(definition.into());
    }
    changed
}

fn not_walked(error: impl std::fmt::Display) -> Problem {
    let message = format!("the dry run cannot be made: {error}");
    Problem::failed(
        "not_walked",
        message,
        "look at the space and the rights of the folder for temporary files",
    )
}
