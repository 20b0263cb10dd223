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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{GivenFrom, MissingInput, given, resolve};
    use crate::definition::{Compiled, OutputReference};
    use crate::testing::{
        Scene, approve, approve_all, checkpoint, edit, form, outcome_done, roll_back, script, start,
        start_step, submit,
    };
    use crate::{Body, BranchNo, ExecNo, StepId};
    use std::sync::Arc;

    /// A form, and a script that is given what the form makes and its own outputs of the run before.
    fn referring() -> (Scene, Arc<Body>, StepId) {
        let mut scene = Scene::new().with_pipeline(&[script("0", 0), form("A"), script("B", 0)]);
        let (first, second) = (checkpoint(&scene, 1), checkpoint(&scene, 2));
        let mut late = script("B", 0);
        late.inputs.include_previous_version = true;
        late.inputs.include_checkpoint_outputs =
            vec![OutputReference { checkpoint_id: first, artifact_ids: None, use_summarization: true }];
        scene.run(edit(&scene, 2, late.clone()));
        scene.run(start(1));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        (scene, Compiled::new(Arc::new(late)).body().clone(), StepId::from(second))
    }

    #[test]
    fn a_branch_sees_its_own_history() {
        let (mut scene, body, step) = referring();
        let missing = resolve(&body, &step, scene.state(1), BranchNo(0), None);
        assert_eq!(missing, Err(MissingInput(StepId::from(checkpoint(&scene, 1)))));
        scene.run(submit(1, 2, json!({"answer": "yes"})));
        // What nobody has approved is no output yet.
        assert!(resolve(&body, &step, scene.state(1), BranchNo(0), None).is_err());
        scene.run(approve(&scene, 1, 2));
        let all = resolve(&body, &step, scene.state(1), BranchNo(0), None).expect("all is there");
        let [only] = &all[..] else { panic!("{all:?}") };
        let found = only.found.as_ref().expect("outputs");
        assert_eq!((only.from, only.summarise, found.x), (GivenFrom::ThisRun, true, ExecNo(2)));
        assert_eq!(&*found.outputs[0].made.name, "a");
        scene.run(roll_back(1, 0));
        assert!(resolve(&body, &step, scene.state(1), BranchNo(1), None).is_err(), "it was rolled back");
        assert_eq!(given(&body, &step, scene.state(1), BranchNo(0), None), all, "the old branch keeps it");
    }

    #[test]
    fn outputs_of_the_run_before_may_be_missing() {
        let (mut scene, body, step) = referring();
        approve_all(&mut scene, 1);
        scene.run(start_step(&scene, 1));
        let none = given(&body, &step, scene.state(1), BranchNo(0), Some(scene.state(1)));
        assert_eq!((none[0].from, none[0].found.is_none()), (GivenFrom::PreviousRun, true));
        assert!(resolve(&body, &step, scene.state(1), BranchNo(0), Some(scene.state(1))).is_ok());
    }

    #[test]
    fn only_the_named_artifacts_are_given() {
        let (mut scene, body, step) = referring();
        approve_all(&mut scene, 1);
        let mut named = Body::clone(&body);
        let unknown = crate::ArtifactId(uuid::Uuid::nil());
        if let Some(crate::plan::body::Input::Output { artifacts, .. }) = named.inputs.last_mut() {
            *artifacts = Some(vec![unknown]);
        }
        let all = resolve(&named, &step, scene.state(1), BranchNo(0), None).expect("the step is complete");
        assert!(all[0].found.as_ref().is_some_and(|found| found.outputs.is_empty()));
    }
}
