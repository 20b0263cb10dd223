//! The whole home folded beside the engines: what the log says now, for people to look at and to judge
//! refusals by.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdpoint_core::command::Envelope;
use holdpoint_core::event::RunEvent;
use holdpoint_core::facts::{Facts, NothingKnown};
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{
    Actor, Command, CommandId, Decision, Digest, Event, LoadedPlan, PipelineId, Plan, Rejection, RunId, Seq,
    Stamp, State, StreamId, Timestamp, World, decide, event, evolve, needs,
};
use holdpoint_engine::PlainEvaluator;
use holdpoint_store::memory::{MemoryBlobs, MemoryDisk, MemoryLog};
use holdpoint_store::{BlobStore, EventLog, StoreError};
use tokio::io::AsyncReadExt as _;
use uuid::Uuid;

/// All states of a home.
pub struct Mirror {
    disk: MemoryDisk,
    log: MemoryLog,
    blobs: MemoryBlobs,
    states: BTreeMap<StreamId, (State, Seq)>,
    plans: BTreeMap<Digest, Arc<LoadedPlan>>,
    /// The position up to which the log is folded in.
    pub head: Seq,
}

impl Mirror {
    /// A mirror of a home.
    pub fn new(disk: &MemoryDisk) -> Self {
        let log = disk.open();
        let blobs = log.blobs();
        Self { disk: disk.clone(), log, blobs, states: BTreeMap::new(), plans: BTreeMap::new(), head: Seq(0) }
    }

    /// Folds in what came since.
    pub async fn sync(&mut self) -> Result<(), StoreError> {
        // The mirror's own handle dies with the machine's power, too.
        if self.log.fold(StreamId::Home).await == Err(StoreError::Closed) {
            self.log = self.disk.open();
            self.blobs = self.log.blobs();
        }
        loop {
            let rows = self.log.read_all(self.head, 1_000).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            self.head = last.last_seq();
            for row in &rows {
                let events = event::decode(row.stream.kind(), &row.bytes)
                    .map_err(|cause| StoreError::Corrupt(cause.to_string()))?;
                let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
                let (state, moved) =
                    self.states.entry(row.stream).or_insert_with(|| (State::empty(row.stream), Seq(0)));
                *moved = row.last_seq();
                for event in &events {
                    evolve(state, &stamp, event);
                }
                for event in &events {
                    if let Event::Run(RunEvent::Made { plan, .. }) = event {
                        self.keep_plan(*plan).await;
                    }
                }
            }
        }
    }

    /// A plan that cannot be read is found by the check of blobs.
    async fn keep_plan(&mut self, digest: Digest) {
        let mut bytes = Vec::new();
        let Ok(mut reader) = self.blobs.get(digest).await else { return };
        if reader.read_to_end(&mut bytes).await.is_ok()
            && let Ok(plan) = serde_json::from_slice::<Plan>(&bytes)
            && let Ok(loaded) = plan.load()
        {
            self.plans.insert(digest, Arc::new(loaded));
        }
    }

    /// The state of a run that was made.
    pub fn run(&self, run: RunId) -> Option<&RunState> {
        match &self.states.get(&StreamId::Run(run))?.0 {
            State::Run(state) if state.exists() => Some(state),
            _ => None,
        }
    }

    /// The state of a pipeline.
    pub fn pipeline(&self, pipeline: PipelineId) -> Option<&PipelineState> {
        match &self.states.get(&StreamId::Pipeline(pipeline))?.0 {
            State::Pipeline(state) => Some(state),
            _ => None,
        }
    }

    /// All runs that were made.
    pub fn runs(&self) -> impl Iterator<Item = (RunId, &RunState)> {
        self.states.iter().filter_map(|(stream, (state, _))| match (stream, state) {
            (StreamId::Run(run), State::Run(state)) => Some((*run, &**state)),
            _ => None,
        })
    }

    /// What a command comes to on what the log says now; nothing if what it is decided on has moved since a
    /// position.
    pub fn judge(
        &self,
        actor: &Actor,
        command: &Command,
        at: Timestamp,
        since: Seq,
    ) -> Option<Result<Decision, Rejection>> {
        let envelope = Envelope {
            id: CommandId(Uuid::nil()),
            at,
            actor: actor.clone(),
            assurance: holdpoint_core::Assurance::default(),
            command: command.clone(),
        };
        let mut asked: BTreeMap<StreamId, State> = BTreeMap::new();
        loop {
            let mut world = World::default();
            for (stream, empty) in &asked {
                match self.states.get(stream) {
                    Some((_, moved)) if *moved > since => return None,
                    Some((state, _)) => {
                        if let State::Run(run) = state
                            && let Some(plan) = run.plan.and_then(|digest| self.plan(digest))
                        {
                            world.insert_plan(plan);
                        }
                        world.insert(*stream, state);
                    }
                    None => world.insert(*stream, empty),
                }
            }
            let wanted = needs(&envelope.command, &world);
            if wanted.is_empty() {
                let facts = Facts { evaluator: &PlainEvaluator, offers: &NothingKnown };
                return Some(decide(&world, &envelope, facts));
            }
            asked.extend(wanted.into_iter().map(|stream| (stream, State::empty(stream))));
        }
    }

    /// A plan by its name.
    pub fn plan(&self, digest: Digest) -> Option<Arc<LoadedPlan>> {
        self.plans.get(&digest).cloned()
    }

    /// The log itself.
    pub fn log(&self) -> &MemoryLog {
        &self.log
    }
}
