//! Committing: what was decided becomes durable, and only then real.
//!
//! Blobs are durable before the append that names them, and the states in memory change after it, by the events that
//! were committed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use holdpoint_core::chain::{Header, link};
use holdpoint_core::tree::touches;
use holdpoint_core::{Decision, Digest, Envelope, State, StreamId, Timestamp, Version, Write, due, event};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{Append, Fence, NewRow, Refused, SMALL_BLOB, SmallBlob, StoreError, WorkChange};

use crate::cache::Slot;
use crate::guards::expected;
use crate::load::{self, Loaded};
use crate::plans;
use crate::replies::{Answering, Settled};
use crate::submit::{Attempt, Done, Part};
use crate::tree::Touched;
use crate::{Engine, SubmitError, Works};

/// When owed work is due: whatever the clock says, which may be set back before somebody claims it.
pub(crate) const AT_ONCE: Timestamp = Timestamp(0);

impl Engine {
    /// Writes what was decided, with the reply.
    pub(crate) async fn commit(
        &self,
        envelope: &Envelope,
        answering: &Answering<'_>,
        fence: Option<Fence>,
        parts: &[Part],
        mut decision: Decision,
    ) -> Result<Attempt, SubmitError> {
        let reply = answering.told(&Settled::after(self, envelope, parts, &decision))?;
        let key = self.bound(answering, envelope.at, reply.as_ref()).await?;
        let too_late = planted(Bug::EventBeforeBlob);
        let blobs = self.keep_blobs(&decision, !too_late).await?;
        let files = decision.writes.iter().flat_map(|write| &write.events).any(touches);
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
                let names = Some(decision.reply);
                Ok(Attempt::Done(Done { names, reply, receipt: Some(receipt), replayed: false, files }))
            }
            Err(Refused::Conflict(..)) => {
                self.inner.conflicts.fetch_add(1, Ordering::Relaxed);
                self.refresh(parts).await?;
                Ok(Attempt::Again(read))
            }
            Err(Refused::Replayed(_)) => self.told_before(answering, envelope.at).await,
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
