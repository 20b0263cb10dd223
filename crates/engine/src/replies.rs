//! Idempotency keys and stored replies: the same key and request is carried out once, and answered with the same bytes.
//!
//! A reply is rendered before the append, from the states after the command, and stored in the commit that carries the
//! command out. So a reply is a function of states alone, and a repeated request gets the bytes of the first answer,
//! whatever has changed since: it is not decided again.

use std::borrow::Cow;
use std::io::Cursor;

use holdpoint_core::{Actor, Decision, Digest, Envelope, Names, State, StreamId, Timestamp};
use holdpoint_store::{
    Append, KeptBody, KeptReply, Key, Query, Receipt, Refused, Reply, SMALL_BLOB, StoreError,
};
use serde::Serialize;
use tokio::io::AsyncReadExt as _;

use crate::guards::expected;
use crate::submit::{Attempt, Done, Part};
use crate::{Engine, SubmitError};

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

/// Writes what the sender is told, from the states after the command. An error carries nothing out.
pub type Render<'r> = dyn Fn(&Settled<'_>) -> Result<Reply, SubmitError> + Send + Sync + 'r;

/// What became of a command, with the reply to its sender.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The reply.
    pub reply: Reply,
    /// Where its events stand; none: what was asked for was in effect already.
    pub receipt: Option<Receipt>,
    /// Whether this is the reply to an earlier sending of the same request.
    pub replayed: bool,
    /// Whether it changed files that the sender may look for at once ([`holdpoint_core::tree::touches`]).
    pub files: bool,
}

/// The states after a command that is about to be committed, or that had nothing to write.
pub struct Settled<'a> {
    /// Names of what it made or touched.
    pub names: Names,
    /// When.
    pub at: Timestamp,
    pub(crate) engine: &'a Engine,
    pub(crate) decision: &'a Decision,
    parts: &'a [Part],
}

impl<'a> Settled<'a> {
    pub(crate) fn after(
        engine: &'a Engine,
        envelope: &Envelope,
        parts: &'a [Part],
        decision: &'a Decision,
    ) -> Self {
        Self { names: decision.reply, at: envelope.at, engine, decision, parts }
    }

    /// The state of a stream that the command was decided on.
    pub(crate) fn state(&self, stream: StreamId) -> Option<&'a State> {
        let read = || self.parts.iter().find(|part| part.stream == stream).map(|part| &part.loaded.state);
        self.decision.after.get(&stream).or_else(read)
    }

    /// A reply of JSON.
    pub fn json(status: u16, document: &impl Serialize) -> Result<Reply, SubmitError> {
        let body = serde_json::to_vec(document)
            .map_err(|cause| StoreError::Io(format!("a reply cannot be written: {cause}")))?;
        Ok(Reply { status, body: body.into() })
    }
}

/// The key of a submission, and how its reply is written.
pub(crate) struct Answering<'a> {
    key: Option<(Digest, Digest)>,
    render: Option<&'a Render<'a>>,
}

impl<'a> Answering<'a> {
    pub(crate) fn new(actor: &Actor, key: Option<&IdemKey>, render: Option<&'a Render<'a>>) -> Self {
        let scope = |key: &IdemKey| Digest::of_json(&(actor, &key.operation, &key.key));
        Self { key: key.map(|key| (scope(key), key.request)), render }
    }

    /// The reply.
    pub(crate) fn told(&self, settled: &Settled<'_>) -> Result<Option<Reply>, SubmitError> {
        self.render.map(|render| render(settled)).transpose()
    }
}

impl Engine {
    /// The reply to an earlier sending of the same request, if it was carried out and its key is not over.
    pub async fn replied(&self, actor: &Actor, key: &IdemKey) -> Result<Option<Answered>, SubmitError> {
        let earlier = self.earlier(&Answering::new(actor, Some(key), None), self.now()).await?;
        Ok(earlier.and_then(Done::answered))
    }

    /// What became of an earlier sending of the same request.
    pub(crate) async fn earlier(
        &self,
        answering: &Answering<'_>,
        now: Timestamp,
    ) -> Result<Option<Done>, SubmitError> {
        let Some((scope, request)) = answering.key else { return Ok(None) };
        let used = self.query(Query::Reply(scope)).await?.reply;
        let Some(used) = used.filter(|used| used.is_kept(now)) else { return Ok(None) };
        if used.request != request {
            return Err(SubmitError::KeyReused);
        }
        let body = match used.reply.body {
            KeptBody::Inline(bytes) => bytes,
            KeptBody::Blob(digest) => {
                let mut bytes = Vec::new();
                let read = self.blob(digest).await?.read_to_end(&mut bytes).await;
                read.map_err(|cause| StoreError::Io(format!("reply {digest}: {cause}")))?;
                bytes.into()
            }
        };
        let receipt = used.wrote.map(|(first, last)| Receipt { first, last, leases: Vec::new() });
        let reply = Some(Reply { status: used.reply.status, body });
        Ok(Some(Done { names: None, reply, receipt, replayed: true, files: false }))
    }

    /// The same, after the store has found the key bound.
    pub(crate) async fn told_before(
        &self,
        answering: &Answering<'_>,
        now: Timestamp,
    ) -> Result<Attempt, SubmitError> {
        let lost = || StoreError::Corrupt("a key that is bound has no reply".to_owned());
        Ok(Attempt::Done(self.earlier(answering, now).await?.ok_or_else(lost)?))
    }

    /// The key with its reply, as the append takes them. A large reply is durable before.
    pub(crate) async fn bound(
        &self,
        answering: &Answering<'_>,
        at: Timestamp,
        reply: Option<&Reply>,
    ) -> Result<Option<Key>, SubmitError> {
        let Some(((scope, request), reply)) = answering.key.zip(reply) else { return Ok(None) };
        let body = if reply.body.len() <= SMALL_BLOB {
            KeptBody::Inline(reply.body.clone())
        } else {
            let bytes = Box::new(Cursor::new(reply.body.clone()));
            KeptBody::Blob(self.keep(bytes, reply.body.len() as u64).await?.0)
        };
        Ok(Some(Key { scope, request, at, reply: KeptReply { status: reply.status, body } }))
    }

    /// Binds the key of a command that had nothing to write, so that its repetition gets the same reply.
    pub(crate) async fn bind(
        &self,
        envelope: &Envelope,
        answering: &Answering<'_>,
        parts: &[Part],
        decision: &Decision,
    ) -> Result<Attempt, SubmitError> {
        let reply = answering.told(&Settled::after(self, envelope, parts, decision))?;
        if let Some(key) = self.bound(answering, envelope.at, reply.as_ref()).await? {
            let loaded = parts.iter().map(|part| (part.stream, part.loaded.version));
            let expect = expected(decision, &[], loaded);
            match self.log().append(Append { key: Some(key), expect, ..Append::default() }).await {
                Ok(_) => {}
                Err(Refused::Conflict(..)) => return Ok(Attempt::Again(Vec::new())),
                Err(Refused::Replayed(_)) => return self.told_before(answering, envelope.at).await,
                Err(refused) => return Err(self.refused(refused)),
            }
        }
        let names = Some(decision.reply);
        Ok(Attempt::Done(Done { names, reply, receipt: None, replayed: false, files: false }))
    }
}
