//! Clients: they send people's orders, remember every answer outside the home, and send again what was not
//! answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use holdpoint_core::event::RunEvent;
use holdpoint_core::{Command, Digest, Event, GateId, Names, Rejection, RunCommand, Seq, event};
use holdpoint_engine::clock::Clock as _;
use holdpoint_engine::{Engine, IdemKey, SubmitError, Submitted};
use holdpoint_store::{BlobStore, EventLog as _, Receipt, Row};

use crate::mirror::Mirror;
use crate::people::Intent;
use crate::scenery::{Scenery, lock};

/// How often a client tries before it gives up.
const MAX_TRIES: u32 = 4;

/// An order on its way.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Names it in the trace.
    pub no: u64,
    /// The order.
    pub intent: Intent,
    /// The key under which it is sent, if it can be sent again.
    pub key: Option<u64>,
    tries: u32,
}

impl Sent {
    /// An order that was not sent yet.
    pub fn new(no: u64, intent: Intent, keyed: bool) -> Self {
        Self { no, intent, key: keyed.then_some(no), tries: 0 }
    }
}

/// A command that was acknowledged.
#[derive(Clone, Debug)]
pub struct Ack {
    /// Which order.
    pub no: u64,
    /// Where its events stand.
    pub range: (Seq, Seq),
    /// The hashes of its rows, as they were when it was acknowledged.
    pub rows: Vec<(Seq, Digest, Digest)>,
    names: Names,
}

/// What clients remember.
#[derive(Default)]
pub struct Journal {
    /// Everything that was acknowledged.
    pub acks: Vec<Ack>,
    /// Approvals that went through, with the digest that the person sent.
    pub approvals: Vec<(GateId, Option<Digest>)>,
    /// What was not answered and will be sent again.
    pub unanswered: Vec<Sent>,
    /// Orders with a key that were acknowledged.
    pub answered: Vec<Sent>,
    by_key: BTreeMap<u64, Ack>,
    /// How many orders were refused.
    pub refused: u64,
}

/// What all clients share.
pub struct Town {
    /// The world.
    pub scenery: Arc<Scenery>,
    /// The home as the log has it.
    pub mirror: tokio::sync::Mutex<Mirror>,
    /// What clients remember.
    pub journal: Mutex<Journal>,
}

impl Town {
    /// Sends an order to an engine and remembers what came of it.
    pub async fn send(&self, engine: Engine, blobs: Arc<dyn BlobStore>, mut sent: Sent) {
        if let Some(bytes) = &sent.intent.attached {
            let reader = std::io::Cursor::new(bytes.clone());
            if blobs.put(Box::new(reader), bytes.len() as u64).await.is_err() {
                return;
            }
        }
        let since = self.head().await;
        let answered_before = sent.key.is_some_and(|key| lock(&self.journal).by_key.contains_key(&key));
        let key = sent.key.map(|key| {
            let request = Digest::of(&sent.no.to_be_bytes());
            IdemKey { key: format!("k{key}"), request, operation: "sim".into() }
        });
        let Intent { actor, command, .. } = sent.intent.clone();
        sent.tries += 1;
        let answer = engine.submit(actor, key, command).await;
        match answer {
            Ok(Submitted { receipt: Some(receipt), names, replayed }) => {
                let how = if replayed { "was done before" } else { "is done" };
                self.scenery.note(&format!("#{} {how}, {}-{}", sent.no, receipt.first.0, receipt.last.0));
                self.acknowledged(&sent, &receipt, names).await;
            }
            Ok(Submitted { receipt: None, replayed, .. }) => {
                self.scenery.note(&format!("#{} was in effect", sent.no));
                // A repeated request is told what was so then, which need not be so now.
                if !replayed {
                    self.judge(&sent, since, None).await;
                }
            }
            Err(SubmitError::Rejected(rejection)) => {
                self.scenery.note(&format!("#{} is refused: {}", sent.no, rejection.code()));
                lock(&self.journal).refused += 1;
                if answered_before {
                    self.scenery.wrong(format!("I2: #{} was done before and is refused now", sent.no));
                }
                self.judge(&sent, since, Some(&rejection)).await;
            }
            Err(cause) => {
                self.scenery.note(&format!("#{} is not answered: {cause}", sent.no));
                if sent.key.is_some() && sent.tries < MAX_TRIES {
                    lock(&self.journal).unanswered.push(sent);
                }
            }
        }
    }

    async fn head(&self) -> Seq {
        let mut mirror = self.mirror.lock().await;
        if let Err(cause) = mirror.sync().await {
            self.scenery.wrong(format!("I3: the log cannot be read: {cause}"));
        }
        mirror.head
    }

    async fn acknowledged(&self, sent: &Sent, receipt: &Receipt, names: Names) {
        self.head().await;
        let range = (receipt.first, receipt.last);
        let rows = {
            let mirror = self.mirror.lock().await;
            mirror.log().read_all(Seq(receipt.first.0.saturating_sub(1)), 64).await.unwrap_or_default()
        };
        let rows: Vec<Row> = rows.into_iter().take_while(|row| row.seq <= receipt.last).collect();
        if rows.first().map(|row| row.seq) != Some(range.0) || rows.last().map(Row::last_seq) != Some(range.1)
        {
            self.scenery
                .wrong(format!("I1: #{} was acknowledged at {range:?}, where it does not stand", sent.no));
        }
        let kept = rows.iter().map(|row| (row.seq, row.hash, Digest::of(&row.bytes))).collect();
        let ack = Ack { no: sent.no, range, rows: kept, names };
        let mut journal = lock(&self.journal);
        journal.approvals.extend(approvals(&sent.intent.command, &rows));
        if let Some(key) = sent.key {
            match journal.by_key.get(&key) {
                Some(before) if before.range != range || before.names != names => {
                    let (before, now) = ((before.range, before.names), (range, names));
                    self.scenery.wrong(format!("I2: #{} was answered {before:?} and then {now:?}", sent.no));
                }
                Some(_) => {}
                None => {
                    journal.by_key.insert(key, ack.clone());
                    journal.answered.push(sent.clone());
                }
            }
        }
        journal.acks.push(ack);
    }

    /// A refusal, or that nothing had to be written, must follow from what the log says.
    async fn judge(&self, sent: &Sent, since: Seq, refused: Option<&Rejection>) {
        self.head().await;
        let mirror = self.mirror.lock().await;
        let now = self.scenery.clock.now();
        let Some(right) = mirror.judge(&sent.intent.actor, &sent.intent.command, now, since) else { return };
        let agrees = match (&right, refused) {
            (Err(right), Some(refused)) => right.code() == refused.code(),
            (Ok(decision), None) => decision.writes.is_empty(),
            (Ok(_), Some(_)) | (Err(_), None) => false,
        };
        if !agrees {
            let said = refused.map_or("in effect", Rejection::code);
            let right = right
                .map_or_else(|r| r.code(), |d| if d.writes.is_empty() { "in effect" } else { "to be done" });
            self.scenery.wrong(format!("#{} was answered `{said}`, by the log it is `{right}`", sent.no));
        }
    }
}

/// The gates that an acknowledged decision passed, with the digest that was sent.
fn approvals(command: &Command, rows: &[Row]) -> Vec<(GateId, Option<Digest>)> {
    let digest = match command {
        Command::Run(_, RunCommand::Answer(answer)) => answer.digest,
        _ => return Vec::new(),
    };
    let events = rows.iter().flat_map(|row| event::decode(row.stream.kind(), &row.bytes).unwrap_or_default());
    events
        .filter_map(|event| match event {
            Event::Run(
                RunEvent::ApprovalGiven { gate, .. }
                | RunEvent::Approved { gate, .. }
                | RunEvent::GateAnswered { gate, .. },
            ) => Some((gate, digest)),
            _ => None,
        })
        .collect()
}
