//! The live stream: what happened since a position, then what happens, without a gap.
//!
//! Everything comes from the log; the head only says when to look again. A subscriber that is slow misses
//! nothing and holds nobody up. What is new is read once for all of them ([`crate::tail`]).

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt};
use holdpoint_core::{Actor, CommandId, Digest, Event, Seq, SessionId, StreamId, Timestamp, Version};
use holdpoint_store::{Row, StoreError};
use tokio::sync::watch;

use crate::Engine;
use crate::tail::Followed;

/// One event as it stands in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its position in the log.
    pub seq: Seq,
    /// The stream.
    pub stream: StreamId,
    /// The session.
    pub session: SessionId,
    /// Its version in the stream.
    pub version: Version,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// By which command.
    pub command: CommandId,
    /// The hash of the row that it stands in.
    pub hash: Digest,
    /// What happened.
    pub event: Event,
}

/// Which events are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of one session.
    pub session: Option<SessionId>,
    /// Of one stream.
    pub stream: Option<StreamId>,
}

impl Filter {
    fn wants(&self, row: &Row) -> bool {
        self.session.is_none_or(|session| row.session == session)
            && self.stream.is_none_or(|stream| row.stream == stream)
    }
}

/// The events of a row.
pub(crate) fn recorded(row: &Row) -> Result<Vec<Recorded>, StoreError> {
    let each = row.events()?.into_iter().zip(0u64..).map(|(event, i)| Recorded {
        seq: Seq(row.seq.0 + i),
        stream: row.stream,
        session: row.session,
        version: Version(row.first.0 + i),
        at: row.at,
        actor: row.actor.clone(),
        command: row.command,
        hash: row.hash,
        event,
    });
    Ok(each.collect())
}

struct Follow {
    engine: Engine,
    filter: Filter,
    after: Seq,
    head: watch::Receiver<Seq>,
    ready: VecDeque<Arc<Followed>>,
    ended: bool,
}

impl Engine {
    /// Everything after a position that passes the filter, for as long as somebody listens. Ends after an
    /// error.
    pub fn subscribe(&self, after: Seq, filter: Filter) -> BoxStream<'static, Result<Recorded, StoreError>> {
        self.follow(after, filter).map(|followed| followed.map(|one| one.recorded.clone())).boxed()
    }

    /// The same, where each event brings what everybody who follows makes of it.
    pub fn follow(
        &self,
        after: Seq,
        filter: Filter,
    ) -> BoxStream<'static, Result<Arc<Followed>, StoreError>> {
        let head = self.log().head();
        let follow =
            Follow { engine: self.clone(), filter, after, head, ready: VecDeque::new(), ended: false };
        stream::unfold(follow, |mut follow| async move {
            let next = follow.next().await?;
            follow.ended = next.is_err();
            Some((next, follow))
        })
        .boxed()
    }
}

impl Follow {
    async fn next(&mut self) -> Option<Result<Arc<Followed>, StoreError>> {
        if self.ended {
            return None;
        }
        loop {
            while let Some(followed) = self.ready.pop_front() {
                // A position inside a row: what came before it was seen.
                if followed.recorded.seq > self.after {
                    self.after = followed.recorded.seq;
                    return Some(Ok(followed));
                }
            }
            let head = *self.head.borrow_and_update();
            match self.read(head).await {
                Ok(true) => {}
                // The sender lives as long as the store: an error means that it is closing.
                Ok(false) => self.head.changed().await.ok()?,
                Err(cause) => return Some(Err(cause)),
            }
        }
    }

    /// Reads on; true if there was something, wanted or not.
    async fn read(&mut self, head: Seq) -> Result<bool, StoreError> {
        if self.after >= head {
            return Ok(false);
        }
        let engine = &self.engine;
        let rows = engine.inner.tail.after(engine.log(), self.after, head).await?;
        for row in &rows {
            if self.filter.wants(&row.row) {
                self.ready.extend(engine.noticed(row.events.clone())?);
            } else if self.ready.is_empty() {
                self.after = row.row.last_seq();
            }
        }
        Ok(!rows.is_empty())
    }
}
