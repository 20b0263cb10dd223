//! What is run again: the definition as a file, and the scripts beside it.

use std::path::Path;
use std::sync::Arc;

use holdpoint_core::definition::{CheckpointDefinition, Compiled};
use holdpoint_core::state::run::Execution;
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{RunId, State, StreamId};

use super::{With, unreadable};
use crate::client::Api;
use crate::commands::pipeline::apply;
use crate::problem::Problem;

/// The definition to run, as YAML. Nobody waits between attempts, and approvers are those who play their parts.
pub fn of(then: &Api, run: RunId, with: &With) -> Result<Vec<u8>, Problem> {
    if let With::File(file) = with {
        return apply::read(file);
    }
    let states = then.engine(async |engine| {
        let loaded = engine.view(StreamId::Run(run)).await?;
        let State::Run(state) = &loaded.state else { return Ok(None) };
        let state = state.clone();
        let Some(pipeline) = state.pipeline() else { return Ok(None) };
        let loaded = engine.view(StreamId::Pipeline(pipeline)).await?;
        match &loaded.state {
            State::Pipeline(pipeline) => Ok(Some((state, pipeline.clone()))),
            State::Home(_) | State::Run(_) | State::Journal(_) => Ok(None),
        }
    });
    let states =
        states.transpose().map_err(|error: holdpoint_engine::SubmitError| unreadable(error))?.flatten();
    let Some((run, mut pipeline)) = states else {
        let hint = "only runs of pipelines can be replayed";
        return Err(Problem::failed("not_replayed", "it is no run of a pipeline", hint));
    };
    if matches!(with, With::Recorded) {
        pin(&mut pipeline, &run);
    }
    soften(&mut pipeline);
    Ok(holdpoint_formats::export(&pipeline).into_bytes())
}

/// Puts the definitions that the run's executions pinned in the place of the present ones.
fn pin(pipeline: &mut PipelineState, run: &RunState) {
    let mut executions: Vec<&Arc<Execution>> = run.executions().map(|(_, e)| e).collect();
    executions.sort_by_key(|execution| execution.position);
    let is_present = run.number().map(|(_, version)| version) == Some(pipeline.definition_version);
    if !is_present {
        // The order of that time is the order of its executions; what it never reached is not replayed.
        pipeline.order.clear();
    }
    for execution in executions {
        let (Some(id), Some(body)) = (execution.place.step.checkpoint(), execution.body) else { continue };
        if !pipeline.order.contains(&id) {
            pipeline.order.push_back(id);
        }
        if let Some(checkpoint) = pipeline.checkpoints.get_mut(&id) {
            checkpoint.body = body;
        }
    }
}

/// Takes out what only costs time or money, of which a replay spends none, and lets the actors of the replay decide for those they play.
fn soften(pipeline: &mut PipelineState) {
    pipeline.config.budgets = None;
    let order: Vec<_> = pipeline.order.iter().copied().collect();
    for id in order {
        let Some(body) = pipeline.checkpoints.get(&id).map(|checkpoint| checkpoint.body) else { continue };
        if let Some(compiled) = pipeline.bodies.get_mut(&body) {
            let mut definition = CheckpointDefinition::clone(compiled.definition());
            definition.execution.retry_config.retry_delay_seconds = Some(0);
            definition.execution.budget = None;
            for approver in &mut definition.human_interaction.approvers {
                if !approver.ends_with(" (replay)") {
                    approver.push_str(" (replay)");
                }
            }
            *compiled = Compiled::new(definition.into());
        }
    }
}

/// Copies a folder of scripts; links are left out.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
