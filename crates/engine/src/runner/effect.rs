//! One piece of owed work, from its start to the commit that records its outcome.
//!
//! Invariant: an outcome is dropped only when the run does not owe it any more. A store that refuses for a while
//! delays the commit, and nothing is done twice.

use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::commands::record_outcome::{Outcome, RecordOutcome};
use holdpoint_core::event::{Failure, FailureKind, Usage};
use holdpoint_core::state::run::{EffectId, Part};
use holdpoint_core::{Command, Rejection, RunCommand, State, StreamId};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{BlobError, Fence, StoreError};

use super::Driver;
use super::slots::AttemptTime;
use crate::executor::Job;
use crate::{Engine, SubmitError};

/// How long work waits for its folder; after that it makes what it needs itself.
const FILES: Duration = Duration::from_secs(5);

/// Waits for a slot, does a piece of work and records what came of it. False: it was stopped before it began.
pub(super) async fn carry_out(
    engine: Engine,
    driver: Arc<Driver>,
    mut job: Job,
    time: Option<AttemptTime>,
) -> Result<bool, SubmitError> {
    let (effect, cancel) = (job.effect, job.cancel.clone());
    let fence = Fence { run: job.run, epoch: driver.lease.epoch };
    let runner = &engine.inner.runner;
    let slot = tokio::select! {
        biased;
        () = cancel.cancelled() => return Ok(false),
        () = runner.stopping.cancelled() => return Ok(false),
        slot = runner.slots.acquire() => slot,
    };
    let Ok(slot) = slot else { return Ok(false) };
    if let Some(time) = time {
        time.begin(engine.now());
        // The driver can tell now when the time is up.
        driver.changed.notify_one();
    }
    job.restarted |= !runner.start(job.run, effect);
    if job.restarted {
        let restart = RunCommand::RestartAttempt(effect);
        if !submit(&engine, fence, &restart).await? || !is_owed(&engine, &job).await? {
            return Ok(true);
        }
    }
    // The work's folder is where it belongs before the work looks for it. Nothing has moved that of a first attempt, and
    // nothing was put into it: the work makes it.
    if job.desk.pipeline.is_some() && !is_first(&effect) {
        engine.files_settled(engine.log_head(), FILES).await;
    }
    let desk = job.desk.clone();
    let outcome = engine.inner.parts.executor.run(job).await;
    // Recording takes no slot: many outcomes are committed together.
    drop(slot);
    if cancel.is_cancelled() {
        return Ok(true);
    }
    record(&engine, fence, RecordOutcome { effect, outcome, entries: desk.take_last() }).await?;
    // The same work may be owed again at once, when a budget is raised: that is no restart.
    runner.forget(fence.run, &effect);
    Ok(true)
}

fn is_first(effect: &EffectId) -> bool {
    effect.revision == 0 && effect.attempt == 1 && effect.part == Part::Work
}

async fn is_owed(engine: &Engine, job: &Job) -> Result<bool, SubmitError> {
    let mut pause = Backoff::default();
    loop {
        match engine.load(StreamId::Run(job.run)).await {
            Ok((_, loaded)) => {
                return Ok(matches!(&loaded.state, State::Run(run) if run.owed.contains_key(&job.effect)));
            }
            Err(cause) if is_transient(&cause) => tokio::time::sleep(pause.next()).await,
            Err(cause) => return Err(cause),
        }
    }
}

async fn record(engine: &Engine, fence: Fence, mut record: RecordOutcome) -> Result<(), SubmitError> {
    let effect = record.effect;
    let refused = match submit(engine, fence, &RunCommand::RecordOutcome(record.clone())).await {
        Ok(_) => None,
        Err(cause @ (SubmitError::Rejected(_) | SubmitError::Blob(_))) => Some(cause),
        Err(cause) => return Err(cause),
    };
    if let Some(cause) = refused {
        // The work is done and cannot be recorded as it is. Without a failed attempt it would be owed for ever.
        let failure = Failure::new(
            FailureKind::OutcomeRefused,
            &format!("the result of the work was refused: {cause}"),
        );
        record.outcome = Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() };
        // They may be what was refused.
        record.entries.clear();
        if let Err(cause) = submit(engine, fence, &RunCommand::RecordOutcome(record)).await {
            tracing::error!(run = %fence.run, ?effect, %cause, "a failed attempt could not be recorded");
            return Err(cause);
        }
    }
    Ok(())
}

/// Submits until the store takes it, the rules refuse it, or the work belongs to another owner. The caller ends this
/// when the lease is lost. False: the run does not owe the work any more.
async fn submit(engine: &Engine, fence: Fence, command: &RunCommand) -> Result<bool, SubmitError> {
    let mut pause = Backoff::default();
    loop {
        let command = Command::Run(fence.run, command.clone());
        match engine.submit_fenced(fence, command).await {
            Ok(_) => return Ok(true),
            // Another command ended the attempt meanwhile; what the log says counts.
            Err(SubmitError::Rejected(
                Rejection::NotOwed | Rejection::Gone { .. } | Rejection::NotFound { what: "run", .. },
            )) => return Ok(false),
            Err(cause) if is_transient(&cause) => {
                if planted(Bug::LostOutcome) {
                    return Ok(false);
                }
                let wait = pause.next();
                tracing::warn!(run = %fence.run, %cause, ?wait, "the store refused; it is tried again");
                tokio::time::sleep(wait).await;
            }
            Err(cause) => return Err(cause),
        }
    }
}

/// Whether the same command may succeed a little later.
pub(crate) fn is_transient(cause: &SubmitError) -> bool {
    match cause {
        SubmitError::Contended | SubmitError::DiskFull | SubmitError::Store(StoreError::Io(_)) => true,
        SubmitError::Blob(cause) => match cause {
            BlobError::DiskFull | BlobError::Io(_) => true,
            BlobError::TooLarge(_) | BlobError::Missing(_) | BlobError::Corrupt(_) => false,
        },
        // Damage does not heal by itself, and a closed store stays closed.
        SubmitError::Store(
            StoreError::Corrupt(_)
            | StoreError::LogCorrupt { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::Closed,
        )
        | SubmitError::Rejected(_)
        | SubmitError::KeyReused
        | SubmitError::Fenced(_)
        | SubmitError::Unknown(_) => false,
    }
}

/// Waits of 10 ms, doubling to 5 s.
#[derive(Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    pub fn next(&mut self) -> Duration {
        let wait = Duration::from_millis(10 << self.0.min(9));
        self.0 += 1;
        wait.min(Duration::from_secs(5))
    }
}
