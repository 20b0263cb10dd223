//! Submitting: read, decide, append, and only then act.
//!
//! In one process writers of a stream queue up; against other processes the expected versions decide, and
//! the loser reads again. A refusal is only believed on what the log says now.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use holdpoint_core::facts::Facts;
use holdpoint_core::{
    Actor, Assurance, Command, Decision, Envelope, Names, Rejection, RunCommand, StreamId, World, decide,
    needs,
};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{Fence, Receipt, Reply, StoreError};
use tokio::sync::OwnedMutexGuard;

use crate::cache::Slot;
use crate::load::{self, Loaded};
use crate::replies::{Answered, Answering, IdemKey, Render, Settled};
use crate::rules::Budgeted;
use crate::{Engine, SubmitError};

/// How often others may be faster before a person hears of it. The owner of a run's work tries until it is not.
const MAX_TRIES: u32 = 5;
/// From this try on nobody else in this process writes to what the command reads.
const LOCKED_TRY: u32 = 3;
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_millis(64);

/// What became of a command.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// Names of what it made or touched.
    pub names: Names,
    /// Where its events stand; none: what was asked for was in effect already.
    pub receipt: Option<Receipt>,
    /// Whether this is the answer to an earlier sending of the same request.
    pub replayed: bool,
}

/// What became of a command, for everybody who submits one.
pub(crate) struct Done {
    /// Names of what it made or touched; none where the request came again.
    pub(crate) names: Option<Names>,
    /// What the sender is told, if it asked to be told.
    pub(crate) reply: Option<Reply>,
    pub(crate) receipt: Option<Receipt>,
    pub(crate) replayed: bool,
    /// Whether it changed an output or a folder that people look into.
    pub(crate) files: bool,
}

impl Done {
    /// For a sender that reads names: those of a request that came again stand in its reply.
    fn submitted(self) -> Result<Submitted, SubmitError> {
        let Self { names, reply, receipt, replayed, .. } = self;
        let stored = || {
            let body = reply.map(|reply| reply.body).unwrap_or_default();
            serde_json::from_slice(&body)
                .map_err(|cause| StoreError::Corrupt(format!("a stored reply has no names: {cause}")))
        };
        let names = names.map_or_else(stored, Ok)?;
        Ok(Submitted { names, receipt, replayed })
    }

    /// For a sender that gets a reply.
    pub(crate) fn answered(self) -> Option<Answered> {
        let Self { names: _, reply, receipt, replayed, files } = self;
        Some(Answered { reply: reply?, receipt, replayed, files })
    }
}

/// A stream that takes part in a command.
pub(crate) struct Part {
    pub(crate) stream: StreamId,
    pub(crate) slot: Arc<Slot>,
    pub(crate) loaded: Arc<Loaded>,
}

impl Engine {
    /// Carries out a command, or says why not. When this answers, the events are durable.
    pub async fn submit(
        &self,
        actor: Actor,
        key: Option<IdemKey>,
        command: Command,
    ) -> Result<Submitted, SubmitError> {
        let names = |settled: &Settled<'_>| Settled::json(200, &settled.names);
        let render: Option<&Render<'_>> = if key.is_some() { Some(&names) } else { None };
        let answering = Answering::new(&actor, key.as_ref(), render);
        self.carry(actor, Assurance::default(), None, command, &answering).await?.submitted()
    }

    /// Carries out a command and answers what `render` makes of the states after it, or what it made of them when the
    /// same request came first. The sender has proved to some degree who they are.
    pub async fn answer(
        &self,
        actor: Actor,
        assurance: Assurance,
        key: Option<IdemKey>,
        command: Command,
        render: &Render<'_>,
    ) -> Result<Answered, SubmitError> {
        let answering = Answering::new(&actor, key.as_ref(), Some(render));
        let done = self.carry(actor, assurance, None, command, &answering).await?;
        let unsaid = || StoreError::Corrupt("a command was carried out without a reply".to_owned());
        Ok(done.answered().ok_or_else(unsaid)?)
    }

    /// Carries out a command that only the owner of a run's work may give.
    pub(crate) async fn submit_fenced(
        &self,
        fence: Fence,
        command: Command,
    ) -> Result<Submitted, SubmitError> {
        let actor = Actor::system();
        let answering = Answering::new(&actor, None, None);
        self.carry(actor, Assurance::default(), Some(fence), command, &answering).await?.submitted()
    }

    async fn carry(
        &self,
        actor: Actor,
        assurance: Assurance,
        fence: Option<Fence>,
        command: Command,
        answering: &Answering<'_>,
    ) -> Result<Done, SubmitError> {
        let at = self.now();
        if let Some(done) = self.earlier(answering, at).await? {
            return Ok(done);
        }
        self.check_accepted(&command).await?;
        let _turn = self.inner.turns.take(&actor, &command).await;
        let envelope = Envelope { id: self.inner.parts.ids.command(at), at, actor, assurance, command };
        let mut locked = first_locks(&envelope.command);
        let mut tries = 0;
        loop {
            let guards = self.lock(&locked).await;
            let read = match self.attempt(&envelope, answering, fence, &locked).await? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Lock(more) => {
                    locked.extend(more);
                    continue;
                }
                Attempt::Again(read) => read,
            };
            drop(guards);
            tries += 1;
            if tries >= MAX_TRIES && fence.is_none() {
                return Err(SubmitError::Contended);
            }
            if tries + 1 >= LOCKED_TRY {
                locked.extend(read);
            }
            tokio::time::sleep(wait(envelope.id, tries)).await;
        }
    }

    /// Takes the locks of streams in their order, so that nobody waits in a circle.
    async fn lock(&self, streams: &BTreeSet<StreamId>) -> Vec<SlotGuard> {
        let mut guards = Vec::with_capacity(streams.len());
        for stream in streams {
            guards.push(SlotGuard::take(self.inner.cache.slot(*stream)).await);
        }
        guards
    }

    async fn attempt(
        &self,
        envelope: &Envelope,
        answering: &Answering<'_>,
        fence: Option<Fence>,
        locked: &BTreeSet<StreamId>,
    ) -> Result<Attempt, SubmitError> {
        let parts = self.read(&envelope.command).await?;
        let decision = match self.decide(envelope, &parts) {
            Ok(decision) if !decision.writes.is_empty() => decision,
            settled => return self.settle(envelope, settled, answering, &parts).await,
        };
        let missing: Vec<StreamId> = decision
            .writes
            .iter()
            .map(|write| write.stream)
            .filter(|stream| !locked.contains(stream))
            .collect();
        if !missing.is_empty() {
            return Ok(Attempt::Lock(missing));
        }
        self.commit(envelope, answering, fence, &parts, decision).await
    }

    /// Reads all streams that the command must be decided on.
    async fn read(&self, command: &Command) -> Result<Vec<Part>, SubmitError> {
        let mut parts: Vec<Part> = Vec::with_capacity(2);
        loop {
            let wanted = needs(command, &world_of(&parts));
            if wanted.is_empty() {
                return Ok(parts);
            }
            for stream in wanted {
                let (slot, loaded) = self.load(stream).await?;
                let mut part = Part { stream, slot, loaded };
                if may_be_peeked_at(command, stream) {
                    self.freshen(&mut part).await?;
                }
                parts.push(part);
            }
        }
    }

    /// Reads what others have written to a stream that the commit will not check.
    async fn freshen(&self, part: &mut Part) -> Result<(), SubmitError> {
        let others = self.log_head().0.saturating_sub(self.inner.written.load(Ordering::Relaxed));
        if self.inner.fresh.is_due(part.stream, others) && self.refresh(std::slice::from_ref(part)).await? {
            (part.slot, part.loaded) = self.load(part.stream).await?;
        }
        Ok(())
    }

    /// A stream as the cache has it, else from the store; a run comes with its plan.
    pub(crate) async fn load(&self, stream: StreamId) -> Result<(Arc<Slot>, Arc<Loaded>), SubmitError> {
        let slot = self.inner.cache.slot(stream);
        if let Some(loaded) = slot.get() {
            return Ok((slot, loaded));
        }
        let (mut loaded, sizes) = self.noticed(load::load(self.log(), stream).await)?;
        self.attach_plan(&mut loaded).await?;
        let loaded = Arc::new(loaded);
        slot.fill(loaded.clone(), sizes);
        Ok((slot, loaded))
    }

    fn decide(&self, envelope: &Envelope, parts: &[Part]) -> Result<Decision, Rejection> {
        let evaluator = Budgeted::new(&*self.inner.parts.evaluator, &self.inner.turns, &envelope.actor);
        let facts = Facts { evaluator: &evaluator, offers: &*self.inner.parts.offers };
        decide(&world_of(parts), envelope, facts)
    }

    /// What a command would do now, without doing it.
    pub(crate) async fn consider(&self, envelope: &Envelope) -> Result<Decision, SubmitError> {
        for _ in 0..MAX_TRIES {
            let parts = self.read(&envelope.command).await?;
            if !self.refresh(&parts).await? {
                return Ok(self.decide(envelope, &parts)?);
            }
        }
        Err(SubmitError::Contended)
    }

    /// A refusal, or nothing to write: believed only if no other process has written since.
    async fn settle(
        &self,
        envelope: &Envelope,
        settled: Result<Decision, Rejection>,
        answering: &Answering<'_>,
        parts: &[Part],
    ) -> Result<Attempt, SubmitError> {
        if !planted(Bug::StaleRefusal) && self.refresh(parts).await? {
            return Ok(Attempt::Again(Vec::new()));
        }
        // This very request may have been carried out since its key was looked up, and be in effect now.
        if let Some(done) = self.earlier(answering, envelope.at).await? {
            return Ok(Attempt::Done(done));
        }
        self.bind(envelope, answering, parts, &settled?).await
    }

    /// Reads what others have written to these streams; true if they have.
    pub(crate) async fn refresh(&self, parts: &[Part]) -> Result<bool, SubmitError> {
        let mut moved = false;
        for part in parts {
            let mut loaded = Loaded::clone(&part.loaded);
            let bytes = self.read_on(part.stream, &mut loaded).await?;
            if bytes > 0 {
                part.slot.put(Arc::new(loaded));
                part.slot.grow(bytes);
                moved = true;
            }
        }
        Ok(moved)
    }
}

/// What one try came to.
pub(crate) enum Attempt {
    Done(Done),
    Lock(Vec<StreamId>),
    /// Others were faster: what the command must be decided on again.
    Again(Vec<StreamId>),
}

/// A lock that keeps its slot alive.
struct SlotGuard {
    _slot: Arc<Slot>,
    _guard: OwnedMutexGuard<()>,
}

impl SlotGuard {
    async fn take(slot: Arc<Slot>) -> Self {
        let guard = slot.gate.clone().lock_owned().await;
        Self { _slot: slot, _guard: guard }
    }
}

fn world_of(parts: &[Part]) -> World<'_> {
    let mut world = World::default();
    for part in parts {
        world.insert(part.stream, &part.loaded.state);
        if let Some(plan) = &part.loaded.plan {
            world.insert_plan(plan.clone());
        }
    }
    world
}

/// How long to wait before the next try: 1, 2, 4, 8 ms and so on, each up to half as long again.
fn wait(command: holdpoint_core::CommandId, tries: u32) -> Duration {
    let wait = Duration::from_millis(1 << (tries - 1).min(6)).min(LONGEST_WAIT);
    let chance = (command.0.as_u128() >> (8 * (tries % 8))) as u32 % 256;
    wait + wait * chance / 512
}

/// Whether a rule may read a stream without the commit checking it.
fn may_be_peeked_at(command: &Command, stream: StreamId) -> bool {
    matches!((command, stream), (Command::Run(..), StreamId::Pipeline(_)))
}

/// The streams that a command is nearly sure to write.
fn first_locks(command: &Command) -> BTreeSet<StreamId> {
    let stream = match command {
        Command::Home(_) => StreamId::Home,
        Command::Pipeline(id, _) => StreamId::Pipeline(*id),
        Command::StartRun(start) => StreamId::Run(start.run),
        Command::Run(id, RunCommand::RecordOutcome(record)) => {
            return record.journal(*id).into_iter().chain([StreamId::Run(*id)]).collect();
        }
        Command::Run(id, _) => StreamId::Run(*id),
        Command::RollBack(command) => StreamId::Run(command.source),
        Command::UndoRollback { pipeline, .. } => StreamId::Pipeline(*pipeline),
        Command::WriteJournal { execution, .. } => StreamId::Journal(*execution),
    };
    BTreeSet::from([stream])
}
