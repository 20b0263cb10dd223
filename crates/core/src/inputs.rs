//! What a step is given: outputs of earlier steps and of the run before. The worker, the preview and the documents all
//! ask here, so that people see what the work gets.

use crate::plan::body::{Body, Input};
use crate::state::run::{ExecutionState, Output, RunState};
use crate::{ArtifactId, BranchNo, ExecNo, StepId};

/// One input of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The step whose outputs they are.
    pub step: StepId,
    /// The run that they are from.
    pub from: GivenFrom,
    /// Whether agents get a summary.
    pub summarise: bool,
    /// The outputs; none: the step has not completed there.
    pub found: Option<Found>,
}

/// The run that an input is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenFrom {
    /// The run before.
    PreviousRun,
    /// This run.
    ThisRun,
}

/// Outputs of a completed execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The execution.
    pub x: ExecNo,
    /// Its outputs, as far as they are asked for.
    pub outputs: Vec<Output>,
}

/// A step is given outputs that do not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step `{0}` is referred to, but it has no completed output")]
pub struct MissingInput(pub StepId);

/// What a step is given on a branch, with what is missing. A branch sees its own history and nothing else.
pub fn given(
    body: &Body,
    step: &StepId,
    run: &RunState,
    branch: BranchNo,
    previous: Option<&RunState>,
) -> Vec<Given> {
    let one = |input: &Input| match input {
        Input::PreviousVersion => previous.map(|previous| Given {
            step: step.clone(),
            from: GivenFrom::PreviousRun,
            summarise: false,
            found: outputs(previous, previous.graph.current(), step, None),
        }),
        Input::Output { step, artifacts, summarise } => Some(Given {
            step: step.clone(),
            from: GivenFrom::ThisRun,
            summarise: *summarise,
            found: outputs(run, branch, step, artifacts.as_deref()),
        }),
    };
    body.inputs.iter().filter_map(one).collect()
}

/// What a step is given on a branch. The outputs of the run before may be missing; those of this run may not.
pub fn resolve(
    body: &Body,
    step: &StepId,
    run: &RunState,
    branch: BranchNo,
    previous: Option<&RunState>,
) -> Result<Vec<Given>, MissingInput> {
    let all = given(body, step, run, branch, previous);
    match all.iter().find(|given| given.from == GivenFrom::ThisRun && given.found.is_none()) {
        Some(missing) => Err(MissingInput(missing.step.clone())),
        None => Ok(all),
    }
}

fn outputs(run: &RunState, branch: BranchNo, step: &StepId, wanted: Option<&[ArtifactId]>) -> Option<Found> {
    let x = *run.graph.branch(branch)?.front.last.get(step)?;
    // Also one that was rolled back: the branch that it is on was retired with it, and still has it.
    let execution = run.graph.any_execution(x)?;
    if execution.state != ExecutionState::Completed {
        return None;
    }
    let is_wanted = |output: &&Output| wanted.is_none_or(|ids| ids.contains(&output.made.artifact));
    Some(Found { x, outputs: execution.artifacts.iter().filter(is_wanted).cloned().collect() })
}
