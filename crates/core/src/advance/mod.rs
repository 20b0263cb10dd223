//! The way of a run through its plan: which steps begin, what becomes of an attempt, when the run ends.
//!
//! These are the parts that several commands share. They work on a draft and never look back at how the
//! run came to where it is.

mod attempt;
mod branch;
mod passes;
mod walk;

pub use attempt::{
    Finished, begin_attempt, complete, fail_attempt, fail_for_good, finish_work, is_approval_needed,
    left_behind, start_or_hold,
};
pub use branch::{BranchCause, branch_from};
pub use passes::{limit_reached, raised, resume_loops};
pub use walk::{
    begin_queued, close_run, fail_run, repeat, settle, skip, start_plan, start_waiting, step_done,
};

use std::sync::Arc;

use crate::decision::Draft;
use crate::plan::Body;
use crate::{ExecNo, Rejection, RunId, StepId};

/// The body that an execution pins.
pub fn body_of(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<Arc<Body>, Rejection> {
    let execution = draft.execution(run, x)?;
    let missing = || Rejection::NotFound { what: "definition", id: execution.place.step.to_string() };
    match (execution.body, draft.run(run)?.pipeline()) {
        (Some(digest), Some(pipeline)) => {
            // Content that is named by its digest never changes.
            let compiled = draft.peek_pipeline(pipeline)?.bodies.get(&digest);
            Ok(compiled.ok_or_else(missing)?.body().clone())
        }
        (None, _) | (Some(_), None) => {
            draft.plan(run)?.bodies.get(&execution.place.step).cloned().ok_or_else(missing)
        }
    }
}

/// The names of the steps that must be completed before this one and are not.
pub fn missing_dependencies(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<Vec<String>, Rejection> {
    let (state, execution) = (draft.run(run)?, draft.execution(run, x)?);
    // Only checkpoints name what they depend on; elsewhere the edges of the plan say it.
    let (Some(pipeline), Some(digest)) = (state.pipeline(), execution.body) else { return Ok(Vec::new()) };
    // Content that is named by its digest never changes.
    let pipeline = draft.peek_pipeline(pipeline)?;
    let Some(compiled) = pipeline.bodies.get(&digest) else { return Ok(Vec::new()) };
    let required = &compiled.definition().dependencies.required_checkpoint_ids;
    if required.is_empty() {
        return Ok(Vec::new());
    }
    let plan = draft.plan(run)?;
    // A pipeline visits its checkpoints in order, so those before this one are completed. Looking for
    // the execution would take longer the longer the run is.
    let done = |id: &crate::CheckpointId| {
        let node = plan.find(&StepId::from(*id));
        node.is_some_and(|node| plan.nodes[node].position < execution.position)
    };
    let missing = required.iter().filter(|id| !done(id));
    let name = |id: &crate::CheckpointId| {
        let known = pipeline.definition(*id);
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
