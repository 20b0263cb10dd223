//! A client: chooses, sends, and looks hard at every answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdpoint_core::{
    Actor, Command, CommandId, Digest, PipelineId, RunCommand, RunId, Seq, State, StreamId,
};
use holdpoint_engine::{IdemKey, SubmitError, Submitted};
use holdpoint_store::{BlobStore as _, EventLog as _, Receipt};
use rustix::process::{Signal, getpid, kill_process};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::choose::{self, Known, Request};
use super::names::TaggedIds;
use super::numbers::Numbers;
use super::{form, told};
use crate::wiring::OpenHome;

/// The person who sends everything.
const SENDER: &str = "load";

/// Why a client stops: something is so that must never be so, or nobody listens any more.
#[derive(Debug)]
pub struct Ended(pub Option<String>);

impl From<std::io::Error> for Ended {
    fn from(_: std::io::Error) -> Self {
        Self(None)
    }
}

/// What all clients of a process share.
pub struct Shared {
    pub home: OpenHome,
    pub ids: Arc<TaggedIds>,
    pub known: Known,
    pub stop: CancellationToken,
    pub seed: u64,
    pub sent: AtomicU64,
    pub answered: AtomicU64,
    /// After so many commands the clients are silent.
    pub requests: Option<u64>,
    /// Whether only pipelines are run.
    pub pipelines: bool,
    /// After so many answers the process kills itself.
    pub die_after: Option<u64>,
}

/// One client.
pub struct Client {
    shared: Arc<Shared>,
    numbers: Numbers,
    next: Vec<Request>,
}

type Answered = Result<Submitted, SubmitError>;

/// What was sent, so that it can be sent again.
struct Sent {
    request: Request,
    key: IdemKey,
}

impl Client {
    /// The n-th client.
    pub fn new(shared: Arc<Shared>, n: u64) -> Self {
        let mut numbers = Numbers::new(shared.seed ^ n.wrapping_mul(0x9e37_79b9));
        numbers.next();
        Self { shared, numbers, next: Vec::new() }
    }

    /// Sends until told to stop.
    pub async fn work(mut self) -> Result<(), Ended> {
        while !self.shared.stop.is_cancelled() && !self.is_silent() {
            let chosen = match self.choose().await {
                Ok(chosen) => chosen,
                Err(error) => bad(&error)?,
            };
            match chosen {
                // On the heap: the future of a submit is large.
                Some(request) => Box::pin(self.send(request)).await?,
                None => tokio::task::yield_now().await,
            }
        }
        Ok(())
    }

    fn is_silent(&self) -> bool {
        self.shared.requests.is_some_and(|most| self.shared.sent.load(Ordering::Relaxed) >= most)
    }

    async fn choose(&mut self) -> Result<Option<Request>, SubmitError> {
        if let Some(request) = self.next.pop() {
            return Ok(Some(request));
        }
        let (shared, numbers) = (self.shared.clone(), &mut self.numbers);
        let new_run = || RunId(Uuid::now_v7());
        if shared.pipelines {
            return self.choose_on_pipelines().await;
        }
        match numbers.below(100) {
            0..=14 => return Ok(Some(choose::start_plan(numbers, new_run()))),
            15..=19 => {
                let pipeline = PipelineId(shared.ids.mint());
                self.next = choose::new_pipeline(numbers, pipeline, new_run());
                self.next.reverse();
                return Ok(self.next.pop());
            }
            20..=25 => {
                if let Some(pipeline) = shared.known.any_pipeline(numbers) {
                    return Ok(Some(choose::start_run(pipeline, new_run())));
                }
            }
            26..=28 => return Ok(Some(choose::token(numbers, &shared.known))),
            29..=33 => return self.go_back().await,
            _ => {}
        }
        let Some(run) = shared.known.any_run(numbers) else {
            return Ok(Some(choose::start_plan(numbers, new_run())));
        };
        let loaded = shared.home.engine.view(StreamId::Run(run)).await?;
        let State::Run(state) = &loaded.state else { return Ok(None) };
        if !state.exists() || state.gone.is_some() {
            return Ok(None);
        }
        Ok(choose::act(numbers, run, state))
    }

    /// Something that changes files.
    async fn choose_on_pipelines(&mut self) -> Result<Option<Request>, SubmitError> {
        let (shared, numbers) = (self.shared.clone(), &mut self.numbers);
        let known = shared.known.any_pipeline(numbers);
        match (numbers.below(100), known) {
            (0..=3, _) | (_, None) => {
                let (pipeline, run) = (PipelineId(shared.ids.mint()), RunId(Uuid::now_v7()));
                self.next = choose::new_pipeline(numbers, pipeline, run);
                self.next.reverse();
                return Ok(self.next.pop());
            }
            (4..=9, Some(pipeline)) => {
                return Ok(Some(choose::start_run(pipeline, RunId(Uuid::now_v7()))));
            }
            (10..=21, _) => return self.go_back().await,
            (22..=25, Some(id)) => {
                let loaded = shared.home.engine.view(StreamId::Pipeline(id)).await?;
                let State::Pipeline(pipeline) = &loaded.state else { return Ok(None) };
                return Ok(Some(choose::redefine(numbers, id, pipeline)));
            }
            _ => {}
        }
        let Some(run) = shared.known.any_run(numbers) else { return Ok(None) };
        let loaded = shared.home.engine.view(StreamId::Run(run)).await?;
        let State::Run(state) = &loaded.state else { return Ok(None) };
        let there = state.exists() && state.gone.is_none();
        Ok(if there { choose::act(numbers, run, state) } else { None })
    }

    /// A rollback, or the undoing of one.
    async fn go_back(&mut self) -> Result<Option<Request>, SubmitError> {
        let (shared, numbers) = (self.shared.clone(), &mut self.numbers);
        let Some(id) = shared.known.any_pipeline(numbers) else { return Ok(None) };
        let loaded = shared.home.engine.view(StreamId::Pipeline(id)).await?;
        let State::Pipeline(pipeline) = &loaded.state else { return Ok(None) };
        if let Some(record) = pipeline.rollbacks.last().filter(|_| numbers.percent(50)) {
            return Ok(Some(choose::undo(id, record.rollback)));
        }
        let runs: Vec<RunId> = pipeline.runs.values().map(|entry| entry.run).collect();
        let Some(run) = numbers.pick(&runs) else { return Ok(None) };
        let of_run = shared.home.engine.view(StreamId::Run(run)).await?;
        let State::Run(state) = &of_run.state else { return Ok(None) };
        Ok(Some(choose::roll_back(numbers, run, state, pipeline)))
    }

    async fn send(&mut self, mut request: Request) -> Result<(), Ended> {
        let shared = self.shared.clone();
        let home = &shared.home;
        let filled = form::fill(&home.engine, &*home.blobs, &mut self.numbers, &mut request.command).await;
        if let Err(error) = filled {
            bad::<()>(&error)?;
            return Ok(());
        }
        let n = shared.sent.fetch_add(1, Ordering::Relaxed);
        // Others may have sent while this one was chosen.
        if shared.requests.is_some_and(|most| n >= most) {
            return Ok(());
        }
        let key = IdemKey {
            key: format!("{:x}-{n}", shared.seed),
            request: Digest::of(format!("{:?}", request.command).as_bytes()),
            operation: request.op.into(),
        };
        let sent = Sent { request, key };
        let command = CommandId(shared.ids.mint());
        told::trying(n, &sent.key.key, sent.request.op, sent.key.request, command)?;
        if !self.numbers.percent(8) {
            let answer = self.submit(&sent, command).await;
            return self.answered(n, command, &sent, answer, None).await;
        }
        let twin = CommandId(shared.ids.mint());
        let (first, second) = tokio::join!(self.submit(&sent, command), self.submit(&sent, twin));
        // Between the two others may have changed what is possible: either may have been refused alone.
        let carried_out = |answer: &Answered| answer.as_ref().is_ok_and(|s| s.receipt.is_some());
        if carried_out(&second) && !carried_out(&first) {
            self.answered(n, twin, &sent, second, None).await
        } else {
            self.answered(n, command, &sent, first, Some(second).filter(carried_out)).await
        }
    }

    async fn answered(
        &mut self,
        n: u64,
        command: CommandId,
        sent: &Sent,
        first: Answered,
        second: Option<Answered>,
    ) -> Result<(), Ended> {
        let first = match first {
            Ok(submitted) => submitted,
            Err(error) => {
                let code = error.code();
                bad::<()>(&error)?;
                told::refused(n, code)?;
                return Ok(());
            }
        };
        let Some(receipt) = &first.receipt else {
            told::refused(n, "in_effect")?;
            return Ok(());
        };
        // Of two that were sent at once either may have been the first.
        if first.replayed && second.is_none() {
            return violated(format!("try {n} was answered as replayed, and it was the first"));
        }
        told::acknowledged(n, receipt, first.names.run, command)?;
        let answered = self.shared.answered.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shared.die_after == Some(answered) {
            let _ = kill_process(getpid(), Signal::KILL);
        }
        if let Some(second) = second {
            same(n, receipt, first.replayed, second)?;
        } else if self.numbers.percent(40) {
            self.look(n, receipt, command, sent).await?;
        }
        self.remember(&first);
        if self.numbers.percent(15) {
            let again = self.submit_again(sent).await;
            same(n, receipt, false, again)?;
        }
        if self.numbers.percent(3) {
            let other = IdemKey { request: Digest::ZERO, ..sent.key.clone() };
            let command = sent.request.command.clone();
            let other = self.shared.home.engine.submit(Actor::person(SENDER), Some(other), command).await;
            if !matches!(&other, Err(SubmitError::KeyReused)) {
                return violated(format!("try {n}: another request under its key came to {other:?}"));
            }
        }
        Ok(())
    }

    async fn submit(&self, sent: &Sent, command: CommandId) -> Answered {
        let engine = &self.shared.home.engine;
        let what = sent.request.command.clone();
        TaggedIds::under(command, engine.submit(Actor::person(SENDER), Some(sent.key.clone()), what)).await
    }

    async fn submit_again(&self, sent: &Sent) -> Answered {
        self.submit(sent, CommandId(self.shared.ids.mint())).await
    }

    /// What was answered can be read at once, by any reader.
    async fn look(&self, n: u64, receipt: &Receipt, command: CommandId, sent: &Sent) -> Result<(), Ended> {
        let home = &self.shared.home;
        // A row holds one event or more. A rollback writes a row for each run that it removes.
        let most = u32::try_from(receipt.last.0 - receipt.first.0 + 1).unwrap_or(u32::MAX);
        let rows = match home.log.read_all(Seq(receipt.first.0 - 1), most).await {
            Ok(rows) => rows,
            Err(error) => return violated(format!("the log cannot be read: {error}")),
        };
        let mut next = receipt.first;
        for row in rows.iter().take_while(|row| row.seq <= receipt.last) {
            if row.command != command || row.seq != next {
                return violated(format!("try {n} was answered with {receipt:?}; there stands {row:?}"));
            }
            next = Seq(row.last_seq().0 + 1);
        }
        if next.0 != receipt.last.0 + 1 {
            return violated(format!("try {n} was answered with {receipt:?}, of which {next:?} is missing"));
        }
        let Command::Run(_, RunCommand::Answer(form)) = &sent.request.command else { return Ok(()) };
        for upload in &form.files {
            let mut bytes = Vec::new();
            let read = match home.blobs.get(upload.digest).await {
                Ok(mut content) => content.read_to_end(&mut bytes).await.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(error) = read {
                return violated(format!("try {n}: blob {} was stored: {error}", upload.digest));
            }
        }
        Ok(())
    }

    fn remember(&self, submitted: &Submitted) {
        let names = &submitted.names;
        if let Some(pipeline) = names.pipeline.filter(|_| names.checkpoint.is_some()) {
            self.shared.known.pipeline(pipeline);
        }
        if let Some(run) = names.run {
            self.shared.known.run(run);
        }
        if let Some(token) = names.token {
            self.shared.known.token(token);
        }
    }
}

/// The same request again must have the same answer, and must be known for what it is.
fn same(n: u64, receipt: &Receipt, was_replayed: bool, again: Answered) -> Result<(), Ended> {
    match again {
        Ok(again) => {
            let place = |receipt: &Receipt| (receipt.first, receipt.last);
            let same = again.receipt.as_ref().map(place) == Some(place(receipt));
            if same && again.replayed != was_replayed {
                return Ok(());
            }
            violated(format!("try {n} stands at {receipt:?}, and sent again it came to {again:?}"))
        }
        Err(SubmitError::Contended) => Ok(()),
        Err(error) => violated(format!("try {n} was carried out, and sent again it was refused: {error}")),
    }
}

/// A refusal is an answer; a store that fails is not.
fn bad<T: Default>(error: &SubmitError) -> Result<T, Ended> {
    match error {
        SubmitError::Rejected(_) | SubmitError::Contended => Ok(T::default()),
        SubmitError::KeyReused
        | SubmitError::Fenced(_)
        | SubmitError::DiskFull
        | SubmitError::Store(_)
        | SubmitError::Blob(_)
        | SubmitError::Unknown(_) => violated(format!("the engine failed: {error}")),
    }
}

fn violated<T>(what: String) -> Result<T, Ended> {
    Err(Ended(Some(what)))
}
