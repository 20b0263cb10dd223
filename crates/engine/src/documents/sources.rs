//! Finding the states that a document is made from, by the ids that the outside uses.

use std::sync::Arc;

use holdpoint_core::definition::Compiled;
use holdpoint_core::paths::run_folder;
use holdpoint_core::places::run_place;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::run::{AskKind, Execution};
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{
    ArtifactRecordId, CheckpointId, ExecNo, ExecutionId, GateId, LoadedPlan, PipelineId, Rejection, RunId,
    State, StreamId,
};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use uuid::Uuid;

use super::Time;
use super::rows::Named;
use crate::{Engine, Loaded, SubmitError};

/// A pipeline's state, kept alive.
#[derive(Clone)]
pub(super) struct PipelineSource(Arc<Loaded>);

impl PipelineSource {
    pub(super) fn state(&self) -> &PipelineState {
        match &self.0.state {
            State::Pipeline(state) => state,
            State::Home(_) | State::Run(_) | State::Journal(_) => unreachable!("looked at when it was read"),
        }
    }
}

/// A run's state, kept alive.
#[derive(Clone)]
pub(super) struct RunSource {
    pub(super) id: RunId,
    loaded: Arc<Loaded>,
    /// Where its folder stands, if that is not among the runs of its pipeline.
    folder: Option<String>,
}

/// A run's state, and where its folder stands: what a document says of it.
#[derive(Clone, Copy)]
pub(super) struct RunView<'a> {
    pub(super) id: RunId,
    pub(super) state: &'a RunState,
    folder: Option<&'a str>,
}

impl<'a> RunView<'a> {
    pub(super) fn new(id: RunId, state: &'a RunState, folder: Option<&'a str>) -> Self {
        Self { id, state, folder }
    }

    /// Where a file of the run stands on disk, from where it was recorded: folders of runs move as a whole.
    pub(super) fn on_disk(&self, recorded: String) -> String {
        let Some((folder, (number, _))) = self.folder.zip(self.state.number()) else {
            return recorded;
        };
        match recorded.strip_prefix(&format!("{}/", run_folder(number))) {
            Some(inside) => format!("{folder}/{inside}"),
            None => recorded,
        }
    }
}

impl RunSource {
    pub(super) fn view(&self) -> RunView<'_> {
        RunView::new(self.id, self.state(), self.folder.as_deref())
    }

    pub(super) fn plan(&self) -> Option<&LoadedPlan> {
        self.loaded.plan.as_deref()
    }

    pub(super) fn state(&self) -> &RunState {
        match &self.loaded.state {
            State::Run(state) => state,
            State::Home(_) | State::Pipeline(_) | State::Journal(_) => {
                unreachable!("looked at when it was read")
            }
        }
    }
}

/// Where a gate is, and what became of it.
#[derive(Clone, Debug)]
pub struct GateFound {
    /// The run.
    pub run: RunId,
    /// What it asks.
    pub kind: AskKind,
    /// The answer that it got.
    pub answered: Option<GateDecision>,
}

/// The answer that a gate got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateDecision {
    /// What was picked.
    pub option: String,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Option<Time>,
}

fn missing(what: &'static str, id: Uuid) -> SubmitError {
    Rejection::NotFound { what, id: id.to_string() }.into()
}

impl Engine {
    /// A pipeline that was made, put away or not.
    pub(super) async fn pipeline_source(&self, id: PipelineId) -> Result<PipelineSource, SubmitError> {
        let loaded = self.view(StreamId::Pipeline(id)).await?;
        match &loaded.state {
            State::Pipeline(state) if state.created_at.is_some() => Ok(PipelineSource(loaded)),
            State::Home(_) | State::Pipeline(_) | State::Run(_) | State::Journal(_) => {
                Err(missing("pipeline", id.0))
            }
        }
    }

    /// A run that was made, rolled back or not.
    pub(super) async fn any_run_source(&self, id: RunId) -> Result<RunSource, SubmitError> {
        let loaded = self.view(StreamId::Run(id)).await?;
        match &loaded.state {
            State::Run(state) if state.exists() => {
                let folder = self.folder_of(state).await?;
                Ok(RunSource { id, loaded, folder })
            }
            State::Home(_) | State::Pipeline(_) | State::Run(_) | State::Journal(_) => {
                Err(missing("run", id.0))
            }
        }
    }

    async fn folder_of(&self, run: &RunState) -> Result<Option<String>, SubmitError> {
        let Some(pipeline) = run.pipeline() else { return Ok(None) };
        let pipeline = self.pipeline_source(pipeline).await?;
        Ok(run_place(pipeline.state(), run).map(|place| place.folder))
    }

    /// A run that was made and not rolled back.
    pub(super) async fn run_source(&self, id: RunId) -> Result<RunSource, SubmitError> {
        let source = self.any_run_source(id).await?;
        match source.state().gone.as_ref().map(|gone| gone.rollback) {
            None => Ok(source),
            Some(rollback) => Err(Rejection::Gone { what: "run", id: id.to_string(), rollback }.into()),
        }
    }

    /// The row with this id in a table.
    pub(super) async fn find(&self, table: Table, id: Uuid) -> Result<Option<Record>, SubmitError> {
        let page = self.query(Query::Find(table, "id", Cell::from(id))).await?;
        Ok(page.records.into_iter().next())
    }

    /// The run of an execution and its ordinal in it.
    pub async fn locate_execution(&self, id: ExecutionId) -> Result<(RunId, ExecNo), SubmitError> {
        let query = Query::Find(Table::Run, "family", Cell::from(id.family()));
        let found = self.query(query).await?.records.into_iter().next();
        let Some(StreamId::Run(run)) = found.map(|found| found.stream) else {
            return Err(missing("execution", id.0));
        };
        let x = run.ordinal_of(id).ok_or_else(|| missing("execution", id.0))?;
        // Any number can be added to a run's id: only those that the run has given out are executions.
        match &self.view(StreamId::Run(run)).await?.state {
            State::Run(state) if state.graph.any_execution(x).is_some() => Ok((run, x)),
            State::Run(_) | State::Home(_) | State::Pipeline(_) | State::Journal(_) => {
                Err(missing("execution", id.0))
            }
        }
    }

    /// The run of an output.
    pub async fn locate_artifact(&self, id: ArtifactRecordId) -> Result<RunId, SubmitError> {
        let found = self.find(Table::Artifact, id.0).await?.ok_or_else(|| missing("artifact", id.0))?;
        match found.stream {
            StreamId::Run(run) => Ok(run),
            StreamId::Home | StreamId::Pipeline(_) | StreamId::Journal(_) => Err(missing("artifact", id.0)),
        }
    }

    /// The pipeline of a checkpoint.
    pub async fn locate_checkpoint(&self, id: CheckpointId) -> Result<PipelineId, SubmitError> {
        let found = self.find(Table::Checkpoint, id.0).await?.ok_or_else(|| missing("checkpoint", id.0))?;
        match found.stream {
            StreamId::Pipeline(pipeline) => Ok(pipeline),
            StreamId::Home | StreamId::Run(_) | StreamId::Journal(_) => Err(missing("checkpoint", id.0)),
        }
    }

    /// The run that asks at a gate.
    pub async fn locate_gate(&self, id: GateId) -> Result<GateFound, SubmitError> {
        let found = self.find(Table::Gate, id.0).await?.ok_or_else(|| missing("gate", id.0))?;
        let StreamId::Run(run) = found.stream else { return Err(missing("gate", id.0)) };
        let row = Named::new(Table::Gate, &found);
        let kind = row.text("kind").and_then(|kind| AskKind::named(&kind));
        let answered = row.text("answer").map(|option| GateDecision {
            option,
            by: row.text("answered_by").unwrap_or_default(),
            at: row.time("closed_at").map(Time),
        });
        Ok(GateFound { run, kind: kind.ok_or_else(|| missing("gate", id.0))?, answered })
    }

    /// The pipeline of a rollback.
    pub async fn locate_rollback(&self, id: holdpoint_core::RollbackId) -> Result<PipelineId, SubmitError> {
        let found = self.find(Table::Rollback, id.0).await?.ok_or_else(|| missing("rollback", id.0))?;
        match found.stream {
            StreamId::Pipeline(pipeline) => Ok(pipeline),
            StreamId::Home | StreamId::Run(_) | StreamId::Journal(_) => Err(missing("rollback", id.0)),
        }
    }
}

/// The definition that an execution pinned, and what it compiles to.
pub(super) fn pinned<'a>(pipeline: Option<&'a PipelineState>, execution: &Execution) -> Option<&'a Compiled> {
    pipeline?.bodies.get(&execution.body?)
}
