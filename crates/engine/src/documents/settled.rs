//! Documents of the states after a command: the bodies of replies.
//!
//! Everything is in the states that the command was decided on, so these read nothing and can be told before the commit.

use holdpoint_core::places::run_place;
use holdpoint_core::state::home::Token;
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{CheckpointId, ExecutionId, PipelineId, Rejection, RunId, State, StreamId, TokenId};

use super::execution::ExecutionAnswer;
use super::run::RunAnswer;
use super::sources::RunView;
use super::{CheckpointDocument, PipelineDocument};
use crate::{Settled, SubmitError};

fn missing(what: &'static str, id: impl ToString) -> SubmitError {
    Rejection::NotFound { what, id: id.to_string() }.into()
}

impl<'a> Settled<'a> {
    /// A run, with the execution that it is at.
    pub fn run(&self, id: RunId) -> Result<RunAnswer, SubmitError> {
        let run = self.run_state(id).ok_or_else(|| missing("run", id))?;
        let (pipeline, folder) = self.around(run);
        Ok(RunAnswer::of(RunView::new(id, run, folder.as_deref()), pipeline))
    }

    /// An execution of a run, also one that the command has rolled back.
    pub fn execution(&self, id: RunId, execution: ExecutionId) -> Result<ExecutionAnswer, SubmitError> {
        let run = self.run_state(id).ok_or_else(|| missing("run", id))?;
        let found = id.ordinal_of(execution).and_then(|x| run.graph.any_execution(x));
        let found = found.ok_or_else(|| missing("execution", execution))?;
        let (pipeline, folder) = self.around(run);
        Ok(ExecutionAnswer::of(RunView::new(id, run, folder.as_deref()), pipeline, found))
    }

    /// The execution that the command touched, else the one that its run is at.
    pub fn touched_execution(&self, id: RunId) -> Result<ExecutionAnswer, SubmitError> {
        if let Some(execution) = self.names.execution {
            return self.execution(id, execution);
        }
        self.run(id)?.current_execution.ok_or_else(|| missing("execution", format!("of run {id}")))
    }

    /// A pipeline, put away or not.
    pub fn pipeline(&self, id: PipelineId) -> Result<PipelineDocument, SubmitError> {
        let pipeline = self.pipeline_state(id).ok_or_else(|| missing("pipeline", id))?;
        Ok(PipelineDocument::of(id, pipeline))
    }

    /// A checkpoint of a pipeline.
    pub fn checkpoint(
        &self,
        pipeline: PipelineId,
        id: CheckpointId,
    ) -> Result<CheckpointDocument, SubmitError> {
        let state = self.pipeline_state(pipeline).ok_or_else(|| missing("pipeline", pipeline))?;
        CheckpointDocument::of(pipeline, state, id).ok_or_else(|| missing("checkpoint", id))
    }

    /// A token.
    pub fn token(&self, id: TokenId) -> Result<&'a Token, SubmitError> {
        let home = match self.state(StreamId::Home) {
            Some(State::Home(home)) => Some(home),
            Some(State::Pipeline(_) | State::Run(_) | State::Journal(_)) | None => None,
        };
        home.and_then(|home| home.tokens.get(&id)).ok_or_else(|| missing("token", id))
    }

    pub(super) fn run_state(&self, id: RunId) -> Option<&'a RunState> {
        match self.state(StreamId::Run(id))? {
            State::Run(run) => Some(run),
            State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
        }
    }

    pub(super) fn pipeline_state(&self, id: PipelineId) -> Option<&'a PipelineState> {
        match self.state(StreamId::Pipeline(id))? {
            State::Pipeline(pipeline) => Some(pipeline),
            State::Home(_) | State::Run(_) | State::Journal(_) => None,
        }
    }

    /// The pipeline of a run, and where the run's folder stands in it.
    fn around(&self, run: &RunState) -> (Option<&'a PipelineState>, Option<String>) {
        let pipeline = run.pipeline().and_then(|id| self.pipeline_state(id));
        let place = pipeline.and_then(|pipeline| run_place(pipeline, run));
        (pipeline, place.map(|place| place.folder))
    }
}
