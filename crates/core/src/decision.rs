//! Deciding: from the states that were read and a command to the events that it makes happen.
//!
//! A draft folds each event as it is written down, so that the rest of a rule sees what its beginning did.
//! Nothing of it is real before the events are in the log.
//!
//! What a rule reads is recorded: the commit holds only while those streams are as they were. A rule peeks at what may
//! be old without harm, and says there why it is harmless.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::Envelope;
use crate::event::{Event, PipelineEvent, RunEvent, Text, Warning};
use crate::facts::Facts;
use crate::project::project;
use crate::rows::RowChange;
use crate::state::{HomeState, JournalState, PipelineState, RunState, Stamp};
use crate::{
    ActorKind, CheckpointId, Digest, ExecNo, ExecutionId, GateId, Ids, LoadedPlan, PipelineId, Rejection,
    RollbackId, RunId, SessionId, State, StreamId, TokenId, evolve,
};

/// The states that a command is decided on.
#[derive(Clone, Debug, Default)]
pub struct World<'a> {
    streams: BTreeMap<StreamId, &'a State>,
    plans: BTreeMap<Digest, Arc<LoadedPlan>>,
}

impl<'a> World<'a> {
    /// Adds the state of a stream.
    pub fn insert(&mut self, stream: StreamId, state: &'a State) {
        self.streams.insert(stream, state);
    }

    /// Adds the plan of a run whose state is here.
    pub fn insert_plan(&mut self, plan: Arc<LoadedPlan>) {
        self.plans.insert(plan.digest, plan);
    }

    /// The state of a stream, if it was read.
    pub fn get(&self, stream: StreamId) -> Option<&'a State> {
        self.streams.get(&stream).copied()
    }

    /// The state of a run, if it was read.
    pub fn run(&self, run: RunId) -> Option<&'a RunState> {
        match self.get(StreamId::Run(run))? {
            State::Run(state) => Some(state),
            State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
        }
    }

    /// The state of a pipeline, if it was read.
    pub fn pipeline(&self, pipeline: PipelineId) -> Option<&'a PipelineState> {
        match self.get(StreamId::Pipeline(pipeline))? {
            State::Pipeline(state) => Some(state),
            State::Home(_) | State::Run(_) | State::Journal(_) => None,
        }
    }
}

/// What a command makes happen.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// Streams that were read and are not written: they must be as they were when the events are committed.
    pub guards: BTreeSet<StreamId>,
    /// Events by stream; empty when what was asked for is in effect already.
    pub writes: Vec<Write>,
    /// The states of the written streams afterwards.
    pub after: BTreeMap<StreamId, State>,
    /// Bytes that the events name.
    pub blobs: Vec<(Digest, Arc<[u8]>)>,
    /// Plans of runs that the command makes.
    pub plans: BTreeMap<Digest, Arc<LoadedPlan>>,
    /// What to tell the sender.
    pub reply: Names,
}

/// The events for one stream.
#[derive(Clone, Debug)]
pub struct Write {
    /// The stream.
    pub stream: StreamId,
    /// The session that the stream belongs to.
    pub session: SessionId,
    /// The events.
    pub events: Vec<Event>,
    /// Per event, the changes of tables.
    pub changes: Vec<Vec<RowChange>>,
}

/// Names of what a command made or touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// A pipeline.
    pub pipeline: Option<PipelineId>,
    /// A checkpoint.
    pub checkpoint: Option<CheckpointId>,
    /// A run.
    pub run: Option<RunId>,
    /// An execution.
    pub execution: Option<ExecutionId>,
    /// A rollback.
    pub rollback: Option<RollbackId>,
    /// A token.
    pub token: Option<TokenId>,
    /// The gate that a client's call waits at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
}

/// A decision in the making.
pub struct Draft<'a> {
    /// The command.
    pub envelope: &'a Envelope,
    /// What the outside says.
    pub facts: Facts<'a>,
    /// The ids that the command may use.
    pub ids: Ids,
    /// What to tell the sender.
    pub reply: Names,
    world: &'a World<'a>,
    /// The streams that the rule has read.
    reads: RefCell<BTreeSet<StreamId>>,
    states: BTreeMap<StreamId, State>,
    writes: Vec<Write>,
    blobs: Vec<(Digest, Arc<[u8]>)>,
    plans: BTreeMap<Digest, Arc<LoadedPlan>>,
}

impl<'a> Draft<'a> {
    /// Begins a decision.
    pub fn new(world: &'a World<'a>, envelope: &'a Envelope, facts: Facts<'a>) -> Self {
        Self {
            envelope,
            facts,
            ids: Ids::of(envelope.id),
            reply: Names::default(),
            world,
            reads: RefCell::default(),
            states: BTreeMap::new(),
            writes: Vec::new(),
            blobs: Vec::new(),
            plans: BTreeMap::new(),
        }
    }

    /// A run that was made and not rolled back.
    pub fn run(&self, run: RunId) -> Result<&RunState, Rejection> {
        self.read(StreamId::Run(run));
        self.peek_run(run)
    }

    /// A run that was made and not rolled back, where an old state does no harm.
    pub fn peek_run(&self, run: RunId) -> Result<&RunState, Rejection> {
        let state = self.peek_any_run(run)?;
        match &state.gone {
            Some(gone) => Err(Rejection::Gone { what: "run", id: run.to_string(), rollback: gone.rollback }),
            None => Ok(state),
        }
    }

    /// A run that was made, rolled back or not.
    pub fn any_run(&self, run: RunId) -> Result<&RunState, Rejection> {
        self.read(StreamId::Run(run));
        self.peek_any_run(run)
    }

    fn peek_any_run(&self, run: RunId) -> Result<&RunState, Rejection> {
        let missing = || Rejection::NotFound { what: "run", id: run.to_string() };
        let state = match self.state(StreamId::Run(run)) {
            Some(State::Run(state)) => state,
            Some(State::Home(_) | State::Pipeline(_) | State::Journal(_)) | None => return Err(missing()),
        };
        if state.exists() { Ok(state) } else { Err(missing()) }
    }

    /// A pipeline that was made.
    pub fn pipeline(&self, pipeline: PipelineId) -> Result<&PipelineState, Rejection> {
        self.read(StreamId::Pipeline(pipeline));
        self.peek_pipeline(pipeline)
    }

    /// A pipeline that was made, where an old state does no harm.
    pub fn peek_pipeline(&self, pipeline: PipelineId) -> Result<&PipelineState, Rejection> {
        let missing = || Rejection::NotFound { what: "pipeline", id: pipeline.to_string() };
        match self.state(StreamId::Pipeline(pipeline)) {
            Some(State::Pipeline(state)) if state.created_at.is_some() => Ok(state),
            Some(State::Home(_) | State::Pipeline(_) | State::Run(_) | State::Journal(_)) | None => {
                Err(missing())
            }
        }
    }

    /// The home's state.
    pub fn home(&self) -> HomeState {
        self.read(StreamId::Home);
        match self.state(StreamId::Home) {
            Some(State::Home(state)) => state.clone(),
            Some(State::Pipeline(_) | State::Run(_) | State::Journal(_)) | None => HomeState::default(),
        }
    }

    /// The state of a journal.
    pub fn journal(&self, execution: ExecutionId) -> JournalState {
        self.read(StreamId::Journal(execution));
        match self.state(StreamId::Journal(execution)) {
            Some(State::Journal(state)) => state.clone(),
            Some(State::Home(_) | State::Pipeline(_) | State::Run(_)) | None => JournalState::default(),
        }
    }

    fn read(&self, stream: StreamId) {
        self.reads.borrow_mut().insert(stream);
    }

    fn state(&self, stream: StreamId) -> Option<&State> {
        self.states.get(&stream).or_else(|| self.world.get(stream))
    }

    /// An execution that was not rolled back.
    pub fn execution(&self, run: RunId, x: ExecNo) -> Result<Arc<crate::state::run::Execution>, Rejection> {
        self.read(StreamId::Run(run));
        self.peek_execution(run, x)
    }

    /// An execution that was not rolled back, where an old state does no harm.
    pub fn peek_execution(
        &self,
        run: RunId,
        x: ExecNo,
    ) -> Result<Arc<crate::state::run::Execution>, Rejection> {
        let execution = self.peek_run(run)?.graph.any_execution(x);
        match execution.map(|execution| (execution, execution.rolled_back)) {
            Some((execution, None)) => Ok(execution.clone()),
            Some((execution, Some(rollback))) => {
                Err(Rejection::Gone { what: "execution", id: execution.id.to_string(), rollback })
            }
            None => Err(Rejection::NotFound { what: "execution", id: format!("{x} of run {run}") }),
        }
    }

    /// The plan of a run. A run has the same plan from its beginning, and a plan is named by its content.
    pub fn plan(&self, run: RunId) -> Result<Arc<LoadedPlan>, Rejection> {
        let missing = || Rejection::NotFound { what: "plan", id: format!("of run {run}") };
        let digest = self.peek_any_run(run)?.plan.ok_or_else(missing)?;
        self.plans.get(&digest).or_else(|| self.world.plans.get(&digest)).cloned().ok_or_else(missing)
    }

    /// Keeps a plan for the rest of the decision.
    pub fn keep_plan(&mut self, plan: Arc<LoadedPlan>) {
        self.plans.insert(plan.digest, plan);
    }

    /// Sends bytes along.
    pub fn keep_blob(&mut self, bytes: Vec<u8>) -> Digest {
        let digest = Digest::of(&bytes);
        if !self.blobs.iter().any(|(known, _)| *known == digest) {
            self.blobs.push((digest, bytes.into()));
        }
        digest
    }

    /// Only people decide.
    pub fn require_person(&self) -> Result<(), Rejection> {
        match self.envelope.actor.kind {
            ActorKind::Person => Ok(()),
            ActorKind::Agent | ActorKind::System => Err(Rejection::NotAPerson),
        }
    }

    /// People decide, and the system for them where nobody is there yet; agents never.
    pub fn refuse_agents(&self) -> Result<(), Rejection> {
        match self.envelope.actor.kind {
            ActorKind::Person | ActorKind::System => Ok(()),
            ActorKind::Agent => Err(Rejection::NotAPerson),
        }
    }

    /// Writes down an event of a run.
    pub fn on_run(&mut self, run: RunId, event: RunEvent) {
        self.emit(StreamId::Run(run), Event::Run(event));
    }

    /// Writes down an event of a pipeline.
    pub fn on_pipeline(&mut self, pipeline: PipelineId, event: PipelineEvent) {
        self.emit(StreamId::Pipeline(pipeline), Event::Pipeline(event));
    }

    /// Writes down an event and folds it.
    pub fn emit(&mut self, stream: StreamId, event: Event) {
        let world = self.world;
        let state = self
            .states
            .entry(stream)
            .or_insert_with(|| world.get(stream).cloned().unwrap_or_else(|| State::empty(stream)));
        let stamp = Stamp { at: self.envelope.at, actor: &self.envelope.actor, command: self.envelope.id };
        evolve(state, &stamp, &event);
        match self.writes.iter_mut().find(|write| write.stream == stream) {
            Some(write) => write.events.push(event),
            None => self.writes.push(Write {
                stream,
                session: session(stream, state),
                events: vec![event],
                changes: Vec::new(),
            }),
        }
    }

    /// Remembers what is written so far.
    pub fn save(&self) -> Saved {
        let lengths = self.writes.iter().map(|write| (write.stream, write.events.len()));
        Saved { states: self.states.clone(), lengths: lengths.collect() }
    }

    /// Takes back what was written since. Bytes that were sent along stay: nothing names them.
    pub fn restore(&mut self, saved: Saved) {
        let length = |stream| saved.lengths.get(&stream).copied();
        self.writes.retain(|write| length(write.stream).is_some());
        for write in &mut self.writes {
            write.events.truncate(length(write.stream).unwrap_or(0));
        }
        self.states = saved.states;
    }

    /// Ends the decision.
    pub fn finish(mut self) -> Decision {
        let stamp = Stamp { at: self.envelope.at, actor: &self.envelope.actor, command: self.envelope.id };
        for write in &mut self.writes {
            let empty = State::empty(write.stream);
            let before = self.world.get(write.stream).unwrap_or(&empty);
            let after = self.states.get(&write.stream).expect("a written stream has a state");
            write.changes = project(write.stream, before, after, &stamp, &write.events);
        }
        let Self { writes, states: after, blobs, plans, reply, reads, .. } = self;
        let mut guards = reads.into_inner();
        for write in &writes {
            guards.remove(&write.stream);
        }
        Decision { guards, writes, after, blobs, plans, reply }
    }
}

/// What a draft had written at some moment.
pub struct Saved {
    states: BTreeMap<StreamId, State>,
    lengths: BTreeMap<StreamId, usize>,
}

impl Saved {
    /// What a loop said about its missing list since then, if one did.
    pub fn warned(&self, draft: &Draft<'_>) -> Option<Text> {
        let since = |write: &Write| self.lengths.get(&write.stream).copied().unwrap_or(0);
        draft.writes.iter().find_map(|write| {
            write.events[since(write)..].iter().find_map(|event| match event {
                Event::Run(RunEvent::Warned { what: Warning::NoItems(message), .. }) => Some(message.clone()),
                Event::Run(_) | Event::Home(_) | Event::Pipeline(_) | Event::Journal(_) => None,
            })
        })
    }
}

/// The session of a stream, known from its state.
pub fn session(stream: StreamId, state: &State) -> SessionId {
    match (stream, state) {
        (StreamId::Run(id), State::Run(run)) => run.session().unwrap_or_else(|| id.into()),
        (StreamId::Journal(_), State::Journal(journal)) => {
            journal.owner.map_or(SessionId(stream.uuid()), |(run, _)| run.into())
        }
        (_, _) => SessionId(stream.uuid()),
    }
}
