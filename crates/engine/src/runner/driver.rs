//! One run's driver: does what the run owes, all at once, until nothing is owed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use holdpoint_core::commands::record_outcome::{Outcome, RecordOutcome};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{EffectId, EffectKind, TimerId};
use holdpoint_core::{Actor, Body, Command, RunCommand, RunId, State, StreamId, Timestamp, owed};
use holdpoint_store::{BoxFuture, Fence};
use tokio_util::sync::CancellationToken;

use super::Driver;
use crate::executor::Job;
use crate::load::Loaded;
use crate::work::Desk;
use crate::{Engine, SubmitError};

/// How long work waits for its folder; after that it makes what it needs itself.
const FILES: Duration = Duration::from_secs(5);

type Work = BoxFuture<'static, (EffectId, Outcome)>;

struct Drive {
    engine: Engine,
    driver: Arc<Driver>,
    /// What is being done, with the way to stop it.
    doing: BTreeMap<EffectId, CancellationToken>,
    works: FuturesUnordered<Work>,
}

/// What a driver does next.
enum Next {
    Look,
    Finished(EffectId, Outcome),
    Timer(TimerId),
    Stop,
}

/// Drives a run to the point where it owes nothing.
pub(super) async fn drive(engine: Engine, driver: Arc<Driver>) {
    let run = driver.lease.run;
    let mut drive = Drive { engine, driver, doing: BTreeMap::new(), works: FuturesUnordered::new() };
    if let Err(cause) = drive.go().await {
        match cause {
            SubmitError::Fenced(epoch) => tracing::info!(%run, epoch, "the run's work was taken over"),
            cause => tracing::warn!(%run, %cause, "the run's work cannot go on now"),
        }
    }
    for cancel in drive.doing.values() {
        cancel.cancel();
    }
    // A commit that owes something new comes with a new lease, and that with a new driver: nothing is
    // missed between the last look and leaving.
    drive.engine.inner.runner.leave(&drive.driver);
}

impl Drive {
    fn run(&self) -> RunId {
        self.driver.lease.run
    }

    async fn go(&mut self) -> Result<(), SubmitError> {
        let mut fresh = !self.driver.taken_over;
        // What this process knows of the run may be old: somebody else held it, or a sender went away before
        // its commit was known here.
        self.engine.view(StreamId::Run(self.run())).await?;
        loop {
            let loaded = self.engine.load(StreamId::Run(self.run())).await?.1;
            let State::Run(state) = &loaded.state else { return Ok(()) };
            self.driver.seen.store(loaded.version.0, Ordering::Relaxed);
            let (effects, timer) = owed(state);
            let stopping = self.engine.inner.runner.stopping.is_cancelled();
            if !fresh {
                fresh = true;
                self.mark_restarted(&effects).await?;
                continue;
            }
            self.stop_unwanted(state);
            if !stopping {
                for (effect, kind) in &effects {
                    self.begin(&loaded, *effect, *kind).await?;
                }
            }
            if self.doing.is_empty() && (effects.is_empty() || stopping) && (timer.is_none() || stopping) {
                return Ok(());
            }
            match self.wait(timer).await {
                Next::Look => {}
                Next::Finished(effect, outcome) => self.record(effect, outcome).await?,
                Next::Timer(timer) => self.fire(timer).await?,
                Next::Stop => return Ok(()),
            }
        }
    }

    /// Work that somebody else may have begun is marked as begun again.
    async fn mark_restarted(&mut self, effects: &[(EffectId, EffectKind)]) -> Result<(), SubmitError> {
        for (effect, _) in effects {
            match self.submit(RunCommand::RestartAttempt(*effect)).await {
                Ok(()) | Err(SubmitError::Rejected(_)) => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }

    fn stop_unwanted(&mut self, state: &RunState) {
        self.doing.retain(|effect, cancel| {
            let wanted = state.gone.is_none() && state.owed.contains_key(effect);
            if !wanted {
                cancel.cancel();
            }
            wanted
        });
    }

    async fn begin(
        &mut self,
        loaded: &Loaded,
        effect: EffectId,
        kind: EffectKind,
    ) -> Result<(), SubmitError> {
        if self.doing.contains_key(&effect) {
            return Ok(());
        }
        let State::Run(state) = &loaded.state else { return Ok(()) };
        let Some(execution) = state.executions.get(&effect.x) else { return Ok(()) };
        let Some(body) = self.body(loaded, state, execution.body, &execution.place.step).await? else {
            return Ok(());
        };
        // The work's folder is where it belongs before the work looks for it.
        if state.pipeline().is_some() {
            self.engine.files_settled(self.engine.log_head(), FILES).await;
        }
        let cancel = CancellationToken::new();
        let job = Job {
            run: self.run(),
            effect,
            kind,
            body,
            execution: execution.clone(),
            restarted: self.driver.taken_over,
            cancel: cancel.clone(),
            desk: Desk {
                engine: self.engine.clone(),
                run: self.run(),
                effect,
                execution: execution.id,
                pipeline: state.pipeline(),
                fence: Fence { run: self.run(), epoch: self.driver.lease.epoch },
            },
        };
        let work = self.engine.inner.parts.executor.run(job);
        self.doing.insert(effect, cancel);
        self.works.push(Box::pin(async move { (effect, work.await) }));
        Ok(())
    }

    async fn body(
        &mut self,
        loaded: &Loaded,
        state: &RunState,
        pinned: Option<holdpoint_core::Digest>,
        step: &holdpoint_core::StepId,
    ) -> Result<Option<Arc<Body>>, SubmitError> {
        if let (Some(digest), Some(pipeline)) = (pinned, state.pipeline()) {
            let loaded = self.engine.load(StreamId::Pipeline(pipeline)).await?.1;
            let State::Pipeline(pipeline) = &loaded.state else { return Ok(None) };
            return Ok(pipeline.bodies.get(&digest).map(|d| Arc::new(Body::Checkpoint(d.clone()))));
        }
        Ok(loaded.plan.as_ref().and_then(|plan| plan.bodies.get(step).cloned()))
    }

    async fn wait(&mut self, timer: Option<(TimerId, Timestamp)>) -> Next {
        let runner = &self.engine.inner.runner;
        let stopping = runner.stopping.is_cancelled();
        let clock = &self.engine.inner.parts.clock;
        let until = timer.filter(|_| !stopping).map(|(id, at)| (id, at, clock.sleep_until(at)));
        let timer = async move {
            match until {
                Some((id, at, sleep)) => {
                    sleep.await;
                    (id, at)
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = runner.abandoned.cancelled() => Next::Stop,
            () = self.driver.lost.cancelled() => Next::Stop,
            Some((effect, outcome)) = self.works.next(), if !self.works.is_empty() => Next::Finished(effect, outcome),
            () = self.driver.changed.notified() => Next::Look,
            () = runner.stopping.cancelled(), if !stopping => Next::Look,
            (id, at) = timer => if clock.now() >= at { Next::Timer(id) } else { Next::Look },
        }
    }

    async fn record(&mut self, effect: EffectId, outcome: Outcome) -> Result<(), SubmitError> {
        let wanted = self.doing.remove(&effect).is_some();
        if !wanted {
            return Ok(());
        }
        match self.submit(RunCommand::RecordOutcome(RecordOutcome { effect, outcome })).await {
            // Somebody ended the attempt meanwhile; what stands in the log counts.
            Ok(()) | Err(SubmitError::Rejected(_)) => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    async fn fire(&mut self, timer: TimerId) -> Result<(), SubmitError> {
        match self.submit(RunCommand::FireTimer(timer)).await {
            Ok(()) | Err(SubmitError::Rejected(_)) => Ok(()),
            Err(cause) => Err(cause),
        }
    }

    async fn submit(&mut self, command: RunCommand) -> Result<(), SubmitError> {
        let fence = Fence { run: self.run(), epoch: self.driver.lease.epoch };
        let command = Command::Run(self.run(), command);
        self.engine.submit_fenced(Actor::system(), None, Some(fence), command).await.map(drop)
    }
}
