//! What an execution is given, with the states that it comes from. The worker, the preview and the documents ask here.

use std::sync::Arc;

use holdpoint_core::event::Origin;
use holdpoint_core::inputs::{Found, Given, GivenFrom, given};
use holdpoint_core::places::{on_disk, output_file};
use holdpoint_core::state::PipelineState;
use holdpoint_core::state::run::{Execution, Output, RunState};
use holdpoint_core::{Body, ExecNo, ExecutionId, RunId, State, StepId, StreamId};

use crate::load::Loaded;
use crate::{Engine, SubmitError};

/// One input of an execution.
pub struct GivenSource {
    /// The step whose outputs they are.
    pub step: StepId,
    /// The run that they are from.
    pub from: GivenFrom,
    /// Whether agents get a summary.
    pub summarise: bool,
    /// The outputs; none: the step has not completed there.
    pub found: Option<Found>,
    /// The run that has them.
    run: Arc<Loaded>,
    pipeline: Option<Arc<Loaded>>,
}

impl GivenSource {
    fn run(&self) -> Option<&RunState> {
        run_of(&self.run)
    }

    fn execution(&self) -> Option<&Execution> {
        self.run()?.graph.any_execution(self.found.as_ref()?.x).map(AsRef::as_ref)
    }

    /// The run's id.
    pub fn run_id(&self) -> Option<RunId> {
        self.run().map(RunState::id)
    }

    /// The run's number.
    pub fn version(&self) -> Option<u32> {
        self.run().and_then(RunState::number).map(|(number, _)| number)
    }

    /// The execution that made them.
    pub fn execution_id(&self) -> Option<ExecutionId> {
        self.execution().map(|execution| execution.id)
    }

    /// What the step is called.
    pub fn name(&self) -> Option<String> {
        let execution = self.execution()?;
        Some(execution.name.as_deref().unwrap_or(&execution.place.step.0).to_owned())
    }

    /// The step's position among its siblings.
    pub fn position(&self) -> Option<u32> {
        self.execution().map(|execution| execution.position)
    }

    /// Why there is nothing.
    pub fn why_missing(&self) -> String {
        let version = self.version().map_or_else(String::new, |version| format!(" v{version}"));
        format!("run{version} has no completed output of this checkpoint")
    }

    /// The outputs with their paths inside the pipeline's folder.
    pub fn files(&self) -> Vec<(&Output, String)> {
        let (Some(run), Some(execution), Some(found)) = (self.run(), self.execution(), &self.found) else {
            return Vec::new();
        };
        let path = |output: &Output| {
            let recorded = output_file(run, execution, output);
            match self.pipeline.as_deref().and_then(pipeline_of) {
                Some(pipeline) => on_disk(pipeline, run, recorded),
                None => recorded,
            }
        };
        found.outputs.iter().map(|output| (output, path(output))).collect()
    }
}

/// The body of an execution: its checkpoint's, or the plan's.
pub(crate) fn body_of<'a>(
    run: &'a Loaded,
    pipeline: Option<&'a PipelineState>,
    execution: &Execution,
) -> Option<&'a Arc<Body>> {
    match (execution.body, pipeline) {
        (Some(digest), Some(pipeline)) => pipeline.bodies.get(&digest).map(|compiled| compiled.body()),
        (Some(_), None) | (None, _) => run.plan.as_ref()?.bodies.get(&execution.place.step),
    }
}

fn run_of(loaded: &Loaded) -> Option<&RunState> {
    match &loaded.state {
        State::Run(run) => Some(run),
        State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
    }
}

fn pipeline_of(loaded: &Loaded) -> Option<&PipelineState> {
    match &loaded.state {
        State::Pipeline(pipeline) => Some(pipeline),
        State::Home(_) | State::Run(_) | State::Journal(_) => None,
    }
}

impl Engine {
    /// What an execution is given, whether it was rolled back or not.
    pub async fn given(&self, run: RunId, x: ExecNo) -> Result<Vec<GivenSource>, SubmitError> {
        let here = self.view(StreamId::Run(run)).await?;
        let Some(state) = run_of(&here) else { return Ok(Vec::new()) };
        let Some(execution) = state.graph.any_execution(x) else { return Ok(Vec::new()) };
        let pipeline = match state.pipeline() {
            Some(pipeline) => Some(self.view(StreamId::Pipeline(pipeline)).await?),
            None => None,
        };
        let body = body_of(&here, pipeline.as_deref().and_then(pipeline_of), execution);
        let Some(body) = body else { return Ok(Vec::new()) };
        let before = match &state.origin {
            Some(Origin::Pipeline { previous: Some((run, _)), .. }) => {
                Some(self.view(StreamId::Run(*run)).await?)
            }
            Some(Origin::Pipeline { previous: None, .. } | Origin::File { .. }) | None => None,
        };
        let previous = before.as_deref().and_then(run_of);
        let all = given(body, &execution.place.step, state, execution.branch, previous);
        let source = |Given { step, from, summarise, found }: Given| {
            let run = match from {
                GivenFrom::PreviousRun => before.clone().unwrap_or_else(|| here.clone()),
                GivenFrom::ThisRun => here.clone(),
            };
            GivenSource { step, from, summarise, found, run, pipeline: pipeline.clone() }
        };
        Ok(all.into_iter().map(source).collect())
    }
}
