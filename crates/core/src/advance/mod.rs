//! The way of a run through its plan: which steps begin, what becomes of an attempt, when the run ends.
//!
//! These are the parts that several commands share. They work on a draft and never look back at how the
//! run came to where it is.

mod attempt;
mod branch;
mod walk;

pub use attempt::{begin_attempt, complete, fail_attempt, fail_for_good, finish_work, start_or_hold};
pub use branch::{BranchCause, branch_from};
pub use walk::{close_run, repeat, settle, skip, start_plan, start_waiting, step_done};

use std::sync::Arc;

use crate::decision::Draft;
use crate::plan::{Body, Policy};

use crate::{ExecNo, Rejection, RunId, StepId};

/// The body that an execution pins.
pub fn body_of(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<Arc<Body>, Rejection> {
    let execution = draft.execution(run, x)?;
    let missing = || Rejection::NotFound { what: "definition", id: execution.place.step.to_string() };
    match (execution.body, draft.run(run)?.pipeline()) {
        (Some(digest), Some(pipeline)) => {
            // Content that is named by its digest never changes.
            let definition = draft.peek_pipeline(pipeline)?.bodies.get(&digest).cloned();
            Ok(Arc::new(Body::Checkpoint(definition.ok_or_else(missing)?)))
        }
        (None, _) | (Some(_), None) => {
            draft.plan(run)?.bodies.get(&execution.place.step).cloned().ok_or_else(missing)
        }
    }
}

/// The policy of the body that an execution pins.
pub fn policy_of(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<Policy, Rejection> {
    Ok(body_of(draft, run, x)?.policy())
}

/// The names of the steps that must be completed before this one and are not.
pub fn missing_dependencies(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<Vec<String>, Rejection> {
    let Body::Checkpoint(definition) = &*body_of(draft, run, x)? else { return Ok(Vec::new()) };
    let required = &definition.dependencies.required_checkpoint_ids;
    if required.is_empty() {
        return Ok(Vec::new());
    }
    let (state, plan) = (draft.run(run)?, draft.plan(run)?);
    let execution = draft.execution(run, x)?;
    let (position, is_pipeline) = (execution.position, state.pipeline().is_some());
    let completed = state.graph.branch(execution.branch).map(|branch| &branch.front.last);
    // A pipeline visits its checkpoints in order, so what stands before this one is completed. Looking for
    // the execution would take longer the longer the run is.
    let done = |id: &crate::CheckpointId| {
        plan.find(&StepId::from(*id)).is_some_and(|node| {
            let node = &plan.nodes[node];
            if is_pipeline {
                node.position < position
            } else {
                completed.is_some_and(|done| done.contains_key(&node.id))
            }
        })
    };
    let missing = required.iter().filter(|id| !done(id));
    // Only names for a message.
    let pipeline = state.pipeline().and_then(|id| draft.peek_pipeline(id).ok());
    let name = |id: &crate::CheckpointId| {
        let known = pipeline.and_then(|p| p.definition(*id));
        known.map_or_else(|| id.to_string(), |definition| definition.checkpoint_name.clone())
    };
    Ok(missing.map(name).collect())
}

/// The name of the step that an execution visits.
pub fn step_name(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<String, Rejection> {
    let execution = draft.execution(run, x)?;
    Ok(execution.name.as_deref().map_or_else(|| execution.place.step.to_string(), str::to_owned))
}

/// Refuses what would change a run of an earlier definition version: it can only be read.
pub fn require_present_definition(draft: &Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    if let (Some(pipeline), Some((_, version))) = (state.pipeline(), state.number()) {
        // While a run is active its pipeline refuses to change the order, so its version cannot move on.
        let pipeline = match state.status.is_active() {
            true => draft.peek_pipeline(pipeline)?,
            false => draft.pipeline(pipeline)?,
        };
        if pipeline.definition_version != version {
            return Err(Rejection::EarlierDefinition { run, version });
        }
    }
    Ok(())
}
