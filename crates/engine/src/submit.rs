//! Submitting: read, decide, append, and only then act.
//!
//! In one process writers of a stream queue up; against other processes the expected versions decide, and
//! the loser reads again. A refusal is only believed on what the log says now.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use holdpoint_core::chain::{Header, link};
use holdpoint_core::facts::Facts;
use holdpoint_core::{
    Actor, Assurance, Command, Decision, Digest, Envelope, PipelineCommand, Rejection, Reply, RunCommand,
    State, StreamId, Timestamp, Version, World, Write, decide, due, event, needs,
};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{
    Append, Fence, Key, NewRow, Receipt, Refused, SMALL_BLOB, SmallBlob, StoreError, WorkChange,
};
use tokio::sync::OwnedMutexGuard;

use crate::cache::Slot;
use crate::guards::expected;
use crate::load::{self, Loaded};
use crate::plans;
use crate::tree::Touched;
use crate::{Engine, SubmitError, Works};

/// How often others may be faster before a person hears of it. The owner of a run's work tries until it is not.
const MAX_TRIES: u32 = 5;
/// From this try on nobody else in this process writes to what the command reads.
const LOCKED_TRY: u32 = 3;
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_millis(64);

/// When owed work is due: whatever the clock says, which may be set back before somebody claims it.
pub(crate) const AT_ONCE: Timestamp = Timestamp(0);

/// How many streams one command writes at most when it makes something: the others are not looked at.
const ROWS_OF_A_COMMAND: u32 = 4;

/// A sender's key: the same key and request is carried out once.
#[derive(Clone, Debug)]
pub struct IdemKey {
    /// The sender's word for it.
    pub key: String,
    /// What was asked, so that another request under the same key is noticed.
    pub request: Digest,
    /// Which operation.
    pub operation: Cow<'static, str>,
}

/// What became of a command.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// Names of what it made or touched.
    pub reply: Reply,
    /// Where its events stand; none: what was asked for was in effect already.
    pub receipt: Option<Receipt>,
    /// Whether this is the answer to an earlier sending of the same request.
    pub replayed: bool,
}

/// A stream that takes part in a command.
struct Part {
    stream: StreamId,
    slot: Arc<Slot>,
    loaded: Arc<Loaded>,
}

impl Engine {
    /// Carries out a command, or says why not. When this answers, the events are durable.
    pub async fn submit(
        &self,
        actor: Actor,
        key: Option<IdemKey>,
        command: Command,
    ) -> Result<Submitted, SubmitError> {
        self.submit_fenced(actor, Assurance::default(), key, None, command).await
    }

    /// Carries out a command whose sender has proved to some degree who they are.
    pub async fn submit_assured(
        &self,
        actor: Actor,
        assurance: Assurance,
        key: Option<IdemKey>,
        command: Command,
    ) -> Result<Submitted, SubmitError> {
        self.submit_fenced(actor, assurance, key, None, command).await
    }

    /// Carries out a command that only the owner of a run's work may give.
    pub(crate) async fn submit_fenced(
        &self,
        actor: Actor,
        assurance: Assurance,
        key: Option<IdemKey>,
        fence: Option<Fence>,
        command: Command,
    ) -> Result<Submitted, SubmitError> {
        let at = self.now();
        let envelope = Envelope { id: self.inner.parts.ids.command(at), at, actor, assurance, command };
        let key = key.map(|key| store_key(&envelope.actor, &key));
        let mut locked = first_locks(&envelope.command);
        let mut tries = 0;
        loop {
            let guards = self.lock(&locked).await;
            let read = match self.attempt(&envelope, key, fence, &locked).await? {
                Attempt::Done(submitted) => return Ok(submitted),
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
        key: Option<Key>,
        fence: Option<Fence>,
        locked: &BTreeSet<StreamId>,
    ) -> Result<Attempt, SubmitError> {
        let parts = self.read(&envelope.command).await?;
        let decision = match self.decide(envelope, &parts) {
            Ok(decision) if !decision.writes.is_empty() => decision,
            settled => return self.settle(envelope, settled, key, &parts).await,
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
        self.commit(envelope, key, fence, &parts, decision).await
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
        let facts = Facts { evaluator: &*self.inner.parts.evaluator, offers: &*self.inner.parts.offers };
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
        key: Option<Key>,
        parts: &[Part],
    ) -> Result<Attempt, SubmitError> {
        if !planted(Bug::StaleRefusal) && self.refresh(parts).await? {
            return Ok(Attempt::Again(Vec::new()));
        }
        // The key may have been bound by this very request, which is in effect since. The store looks at the
        // key first, and then refuses a version that no stream ever has: nothing is written, or bound.
        if key.is_some() {
            let never = vec![(StreamId::Home, Version(u64::MAX))];
            match self.log().append(Append { key, expect: never, ..Append::default() }).await {
                Err(Refused::Replayed(receipt)) => return self.replay(envelope, receipt).await,
                Ok(_) | Err(Refused::Conflict(..)) => {}
                // Whether the request was carried out before is not known: a refusal could be wrong.
                Err(refused) => return Err(self.refused(refused)),
            }
        }
        let decision = settled?;
        Ok(Attempt::Done(Submitted { reply: decision.reply, receipt: None, replayed: false }))
    }

    /// Reads what others have written to these streams; true if they have.
    async fn refresh(&self, parts: &[Part]) -> Result<bool, SubmitError> {
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

    async fn commit(
        &self,
        envelope: &Envelope,
        key: Option<Key>,
        fence: Option<Fence>,
        parts: &[Part],
        mut decision: Decision,
    ) -> Result<Attempt, SubmitError> {
        let too_late = planted(Bug::EventBeforeBlob);
        let blobs = self.keep_blobs(&decision, !too_late).await?;
        let rows: Vec<NewRow> = decision.writes.drain(..).map(|write| row(envelope, parts, write)).collect();
        let work = rows.iter().filter_map(|row| self.work_change(parts, &decision, row.stream)).collect();
        let after: Vec<(StreamId, u64, u64, Digest)> = rows
            .iter()
            .map(|row| (row.stream, row.bytes.len() as u64, u64::from(row.count), row.hash))
            .collect();
        let written: Vec<StreamId> = after.iter().map(|(stream, ..)| *stream).collect();
        let loaded = parts.iter().map(|part| (part.stream, part.loaded.version));
        let expect = expected(&decision, &written, loaded);
        let read = expect.iter().map(|(stream, _)| *stream).collect();
        let append = Append { key, fence, expect, rows, work, blobs };
        match self.log().append(append).await {
            Ok(receipt) => {
                if too_late {
                    self.keep_blobs(&decision, true).await?;
                }
                self.inner.commits.fetch_add(1, Ordering::Relaxed);
                self.inner
                    .written
                    .fetch_add(after.iter().map(|(_, _, count, _)| count).sum(), Ordering::Relaxed);
                let touched = self.touched(&decision);
                self.install(parts, &mut decision, &after);
                self.inner.runner.committed(self, &receipt.leases, after.iter().map(|(stream, ..)| *stream));
                if let Some(tree) = self.tree() {
                    tree.committed(self, receipt.first, receipt.last, touched);
                }
                Ok(Attempt::Done(Submitted {
                    reply: decision.reply,
                    receipt: Some(receipt),
                    replayed: false,
                }))
            }
            Err(Refused::Conflict(..)) => {
                self.inner.conflicts.fetch_add(1, Ordering::Relaxed);
                self.refresh(parts).await?;
                Ok(Attempt::Again(read))
            }
            Err(Refused::Replayed(receipt)) => self.replay(envelope, receipt).await,
            Err(refused) => Err(self.refused(refused)),
        }
    }

    /// What of the files a decision changes.
    fn touched(&self, decision: &Decision) -> Vec<Touched> {
        if self.tree().is_none() {
            return Vec::new();
        }
        decision.after.iter().filter_map(|(stream, state)| Touched::by(*stream, state)).collect()
    }

    /// What the sender hears of an append that did not happen, or may have.
    pub(crate) fn refused(&self, refused: Refused) -> SubmitError {
        match refused {
            Refused::Conflict(..) | Refused::Replayed(_) => SubmitError::Contended,
            Refused::KeyReused => SubmitError::KeyReused,
            Refused::Fenced(epoch) => SubmitError::Fenced(epoch),
            Refused::DiskFull => SubmitError::DiskFull,
            Refused::Store(cause) => cause.into(),
            Refused::Unknown(cause) => {
                self.inner.halted.store(true, Ordering::Release);
                SubmitError::Unknown(cause)
            }
        }
    }

    /// Small blobs travel in the append; large ones are on disk before it.
    async fn keep_blobs(&self, decision: &Decision, large: bool) -> Result<Vec<SmallBlob>, SubmitError> {
        let mut small = Vec::new();
        for (digest, bytes) in &decision.blobs {
            if bytes.len() <= SMALL_BLOB {
                small.push(SmallBlob { digest: *digest, bytes: bytes.clone() });
            } else if large {
                let reader = std::io::Cursor::new(bytes.clone());
                self.inner.parts.blobs.put(Box::new(reader), bytes.len() as u64).await?;
            }
        }
        Ok(small)
    }

    /// When a run wants attention, if that changed. A run that goes on working changes nothing here.
    fn work_change(&self, parts: &[Part], decision: &Decision, stream: StreamId) -> Option<WorkChange> {
        let (StreamId::Run(run), Some(State::Run(after))) = (stream, decision.after.get(&stream)) else {
            return None;
        };
        let before =
            parts.iter().find(|part| part.stream == stream).and_then(|part| match &part.loaded.state {
                State::Run(before) => due(before, AT_ONCE),
                State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
            });
        let after = due(after, AT_ONCE);
        (before != after).then_some(WorkChange {
            run,
            due: after,
            // A process that ends would not start it.
            take: self.inner.parts.works != Works::Nothing && !self.inner.runner.is_stopping(),
        })
    }

    /// Puts the new states in their places.
    fn install(&self, parts: &[Part], decision: &mut Decision, after: &[(StreamId, u64, u64, Digest)]) {
        for (stream, bytes, count, head) in after {
            let (Some(part), Some(state)) =
                (parts.iter().find(|part| part.stream == *stream), decision.after.remove(stream))
            else {
                continue;
            };
            let version = Version(part.loaded.version.0 + count);
            let mut loaded = Loaded { state, version, head: *head, plan: part.loaded.plan.clone() };
            if let Some(plan) = plans::wanted(&loaded).and_then(|digest| decision.plans.remove(&digest)) {
                loaded.plan = Some(self.inner.plans.share(plan));
            }
            let loaded = Arc::new(loaded);
            part.slot.put(loaded.clone());
            if let Some(tail) = part.slot.grow(*bytes) {
                self.save_fold(*stream, part.slot.clone(), loaded, tail);
            }
        }
    }

    /// Saves a fold off the way of the commit; one at a time per stream.
    fn save_fold(&self, stream: StreamId, slot: Arc<Slot>, loaded: Arc<Loaded>, tail: u64) {
        if slot.saving.swap(true, Ordering::AcqRel) {
            return;
        }
        let engine = self.clone();
        tokio::spawn(async move {
            match engine.write_fold(stream, loaded).await {
                Ok(bytes) => slot.saved(bytes, tail),
                // Loading takes longer without it, and nothing else: the next one is due when the tail has
                // grown as much again.
                Err(cause) => {
                    tracing::warn!(%stream, %cause, "a fold could not be saved");
                    slot.saved(tail, tail);
                }
            }
            slot.saving.store(false, Ordering::Release);
        });
    }

    async fn write_fold(&self, stream: StreamId, loaded: Arc<Loaded>) -> Result<u64, StoreError> {
        let encode = tokio::task::spawn_blocking(move || load::encode(stream, &loaded));
        let fold = encode.await.map_err(|cause| StoreError::Io(cause.to_string()))??;
        let bytes = fold.bytes.len() as u64;
        self.log().save_fold(fold).await?;
        Ok(bytes)
    }

    /// The answer to a request that was carried out before: decided once more, on what was known then and
    /// under the same name, so that it is the same answer.
    async fn replay(&self, envelope: &Envelope, receipt: Receipt) -> Result<Attempt, SubmitError> {
        let before = holdpoint_core::Seq(receipt.first.0.saturating_sub(1));
        let rows = self.log().read_all(before, ROWS_OF_A_COMMAND).await?;
        let Some(row) = rows.first() else {
            return Err(StoreError::Corrupt(format!("nothing stands at {:?}", receipt.first)).into());
        };
        let mut command = envelope.command.clone();
        for row in rows.iter().filter(|other| other.command == row.command) {
            name_as_then(&mut command, row.stream);
        }
        let then = Envelope {
            id: row.command,
            at: row.at,
            actor: row.actor.clone(),
            assurance: envelope.assurance,
            command,
        };
        let mut parts: Vec<Part> = Vec::with_capacity(2);
        loop {
            let wanted = needs(&then.command, &world_of(&parts));
            if wanted.is_empty() {
                break;
            }
            for stream in wanted {
                let mut loaded = load::load_before(self.log(), stream, receipt.first).await?;
                self.attach_plan(&mut loaded).await?;
                parts.push(Part { stream, slot: Arc::default(), loaded: Arc::new(loaded) });
            }
        }
        let reply = self.decide(&then, &parts)?.reply;
        Ok(Attempt::Done(Submitted { reply, receipt: Some(receipt), replayed: true }))
    }
}

/// What one try came to.
enum Attempt {
    Done(Submitted),
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

/// What a command makes, the sender names; sent again, it names it anew. The first name counts.
fn name_as_then(command: &mut Command, stream: StreamId) {
    match (command, stream) {
        (
            Command::Pipeline(id, PipelineCommand::Create(_) | PipelineCommand::Apply(_)),
            StreamId::Pipeline(then),
        ) => *id = then,
        (Command::StartRun(start), StreamId::Run(then)) => start.run = then,
        _ => {}
    }
}

fn store_key(actor: &Actor, key: &IdemKey) -> Key {
    let scope = Digest::of_json(&(actor, &key.operation, &key.key));
    Key { scope, request: key.request }
}

fn row(envelope: &Envelope, parts: &[Part], write: Write) -> NewRow {
    let part = parts.iter().find(|part| part.stream == write.stream);
    let (version, prev) =
        part.map_or((Version(0), Digest::ZERO), |part| (part.loaded.version, part.loaded.head));
    let bytes = event::encode(&write.events);
    let first = Version(version.0 + 1);
    let count = write.events.len() as u32;
    let header = Header {
        stream: write.stream,
        first,
        count,
        at: envelope.at,
        actor: &envelope.actor,
        command: envelope.id,
    };
    let hash = link(prev, &header, &bytes);
    NewRow {
        stream: write.stream,
        session: write.session,
        first,
        count,
        at: envelope.at,
        actor: envelope.actor.clone(),
        command: envelope.id,
        shape: event::shape(&write.events),
        bytes,
        prev,
        hash,
        changes: write.changes,
    }
}
