//! One run's driver: does what the run owes, all at once, until nothing is owed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{EffectId, EffectKind, TimerId, TimerKind};
use holdpoint_core::{
    Body, Command, Owed, OwedChange, RunCommand, RunId, State, StreamId, Timestamp, due, next_timer, owed,
};
use holdpoint_store::{Append, Fence, StoreError, WorkChange};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::Driver;
use super::effect::{self, Backoff, is_transient};
use super::slots::AttemptTime;
use crate::WorkContext;
use crate::commit::AT_ONCE;
use crate::executor::Job;
use crate::load::Loaded;
use crate::{Engine, SubmitError};

struct Drive {
    engine: Engine,
    driver: Arc<Driver>,
    /// What the run owed at the last look.
    owed: Owed,
    /// Owed work that is not being done, as far as this driver knows: it is new, or its work has ended.
    idle: BTreeSet<EffectId>,
    /// What is being done, with its number and the way to stop it.
    doing: BTreeMap<EffectId, (u64, CancellationToken)>,
    /// How many pieces of work were started.
    begun: u64,
    /// Owed work that an owner which died may have started; none before the first look.
    inherited: Option<BTreeSet<EffectId>>,
    /// The time of attempts that have a limit.
    times: BTreeMap<TimerId, AttemptTime>,
    /// Tasks of their own: one of them may hold the lock that this driver waits for.
    works: JoinSet<Finished>,
}

/// A piece of work that is over.
struct Finished {
    effect: EffectId,
    number: u64,
    /// Whether it was begun; it is not where no slot was free before it was stopped.
    end: Result<bool, SubmitError>,
}

/// What a driver does next.
enum Next {
    Look,
    Finished(Finished),
    Timer(TimerId),
    /// A piece of work has panicked.
    Broken(JoinError),
    Stop,
}

/// What a look at the run found.
enum Looked {
    /// There is nothing to wait for.
    Done,
    /// Work goes on, or a time is waited for.
    Waits(Option<(TimerId, Timestamp)>),
}

/// Drives a run to the point where it owes nothing.
pub(super) async fn drive(engine: Engine, driver: Arc<Driver>) {
    let run = driver.lease.run;
    let mut drive = Drive {
        engine,
        driver,
        owed: Owed::default(),
        idle: BTreeSet::new(),
        doing: BTreeMap::new(),
        begun: 0,
        inherited: None,
        times: BTreeMap::new(),
        works: JoinSet::new(),
    };
    if let Err(cause) = drive.go().await {
        match cause {
            SubmitError::Fenced(epoch) => tracing::info!(%run, epoch, "the run's work was taken over"),
            cause => tracing::warn!(%run, %cause, "the run's work cannot go on now"),
        }
    }
    for (_, cancel) in drive.doing.values() {
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

    fn fence(&self) -> Fence {
        Fence { run: self.run(), epoch: self.driver.lease.epoch }
    }

    async fn go(&mut self) -> Result<(), SubmitError> {
        // What this process knows of the run may be old: somebody else held it, or a sender went away before
        // its commit was known here.
        let mut is_old = true;
        let mut pause = Backoff::default();
        let mut fired = None;
        loop {
            let looked = self.fire_and_look(fired.take(), is_old).await;
            let (timer, again) = match looked {
                Ok(Looked::Done) => return Ok(()),
                Ok(Looked::Waits(timer)) => {
                    (is_old, pause) = (false, Backoff::default());
                    (timer, None)
                }
                // Work in flight goes on meanwhile: its outcome must not be lost with this look.
                Err(cause) if is_transient(&cause) => {
                    tracing::warn!(run = %self.run(), %cause, "a run could not be looked at; it is tried again");
                    (None, Some(pause.next()))
                }
                Err(cause) => return Err(cause),
            };
            match self.wait(timer, again).await {
                Next::Look => {}
                Next::Finished(Finished { effect, number, end }) => {
                    if self.doing.get(&effect).is_some_and(|(doing, _)| *doing == number) {
                        self.doing.remove(&effect);
                    }
                    self.idle.insert(effect);
                    if end? && let Some(inherited) = &mut self.inherited {
                        inherited.remove(&effect);
                    }
                }
                Next::Timer(timer) => fired = Some(timer),
                Next::Broken(cause) => {
                    let cause = StoreError::Io(format!("a piece of work has broken off: {cause}"));
                    return Err(cause.into());
                }
                Next::Stop => return Ok(()),
            }
        }
    }

    async fn fire_and_look(&mut self, fired: Option<TimerId>, is_old: bool) -> Result<Looked, SubmitError> {
        if let Some(timer) = fired {
            self.fire(timer).await?;
        }
        if is_old {
            self.engine.view(StreamId::Run(self.run())).await?;
        }
        self.look().await
    }

    /// Starts what is owed and stops what is not.
    async fn look(&mut self) -> Result<Looked, SubmitError> {
        let loaded = self.engine.load(StreamId::Run(self.run())).await?.1;
        let State::Run(state) = &loaded.state else { return Ok(Looked::Done) };
        self.driver.seen.store(loaded.version.0, Ordering::Relaxed);
        self.compare(state);
        let stopping = self.engine.inner.runner.stopping.is_cancelled();
        if !stopping {
            for effect in self.idle.clone() {
                let kind = self.owed.get(&effect);
                if let Some(kind) = kind {
                    self.begin(&loaded, effect, kind).await?;
                }
                // What could not be begun stays for the next look.
                if kind.is_none() || self.doing.contains_key(&effect) {
                    self.idle.remove(&effect);
                }
            }
        }
        if self.doing.is_empty() && stopping {
            self.give_back(&loaded).await?;
            return Ok(Looked::Done);
        }
        let timer = next_timer(state);
        if self.doing.is_empty() && self.owed.is_empty() && timer.is_none() {
            return Ok(Looked::Done);
        }
        Ok(Looked::Waits(timer.and_then(|_| self.next_timer(state))))
    }

    /// Takes note of what is owed since the last look, and stops what is not owed any more.
    fn compare(&mut self, state: &RunState) {
        let now = owed(state);
        if self.inherited.is_none() {
            let abandoned = self.driver.abandoned;
            self.inherited = Some(now.iter().map(|(effect, _)| effect).filter(|_| abandoned).collect());
            self.engine.inner.runner.keep_started(self.run(), |effect| now.get(effect).is_some());
        }
        for change in now.since(&self.owed) {
            match change {
                OwedChange::Owed(effect) => {
                    self.idle.insert(effect);
                }
                OwedChange::Over(effect) => {
                    self.idle.remove(&effect);
                    self.engine.inner.runner.forget(self.driver.lease.run, &effect);
                    if let Some((_, cancel)) = self.doing.remove(&effect) {
                        cancel.cancel();
                    }
                    let timer = timeout_of(effect);
                    if state.timers.get(&timer).is_none() {
                        self.times.remove(&timer);
                    }
                }
            }
        }
        self.owed = now;
    }

    /// A process that ends leaves what it has not started to others, who then need not take it for cut off.
    async fn give_back(&mut self, loaded: &Arc<Loaded>) -> Result<(), SubmitError> {
        let stream = StreamId::Run(self.run());
        let mut loaded = loaded.clone();
        loop {
            let State::Run(state) = &loaded.state else { return Ok(()) };
            self.compare(state);
            let Some(due) = due(state, AT_ONCE) else { return Ok(()) };
            if self.owed.iter().any(|(effect, _)| self.may_be_begun(&effect)) {
                return Ok(());
            }
            let work = [None, Some(due)].map(|due| WorkChange { run: self.run(), due, take: false }).to_vec();
            // Another process may have written to the run since it was read here. Without this its work would wait for
            // the time that was next before.
            let expect = vec![(stream, loaded.version)];
            let append = Append { fence: Some(self.fence()), expect, work, ..Append::default() };
            let engine = self.engine.clone();
            match engine.log().append(append).await.map_err(|refused| engine.refused(refused)) {
                Err(SubmitError::Contended) => loaded = engine.view(stream).await?,
                given => return given.map(drop),
            }
        }
    }

    /// Whether this process, or an owner that died, may have started a piece of work.
    fn may_be_begun(&self, effect: &EffectId) -> bool {
        let inherited = self.inherited.as_ref().is_some_and(|inherited| inherited.contains(effect));
        inherited || self.engine.inner.runner.has_started(self.run(), effect)
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
        let Some(execution) = state.execution(effect.x) else { return Ok(()) };
        let Some(body) = self.body(loaded, state, execution.body, &execution.place.step).await? else {
            return Ok(());
        };
        let inherited = self.inherited.as_ref().is_some_and(|inherited| inherited.contains(&effect));
        let limit = body.policy.timeout.map_or(0, |(seconds, _)| seconds);
        let time = self.time_of(state, effect, limit);
        let cancel = CancellationToken::new();
        let job = Job {
            run: self.run(),
            effect,
            kind,
            body,
            execution: execution.clone(),
            restarted: inherited,
            cancel: cancel.clone(),
            desk: WorkContext {
                engine: self.engine.clone(),
                run: self.run(),
                effect,
                execution: execution.id,
                pipeline: state.pipeline(),
                fence: self.fence(),
                last: Arc::default(),
            },
        };
        self.begun += 1;
        let number = self.begun;
        self.doing.insert(effect, (number, cancel));
        let work = effect::carry_out(self.engine.clone(), self.driver.clone(), job, time);
        self.works.spawn(async move { Finished { effect, number, end: work.await } });
        Ok(())
    }

    /// The time of the attempt that a piece of work belongs to, which waits for a slot from now on.
    fn time_of(&mut self, state: &RunState, effect: EffectId, seconds: u64) -> Option<AttemptTime> {
        let timer = timeout_of(effect);
        state.timers.get(&timer)?;
        let time = self.times.entry(timer).or_default().clone();
        time.wait(seconds, self.engine.now());
        Some(time)
    }

    /// The next time that something happens by itself. Waiting for a slot does not count against an attempt.
    fn next_timer(&self, state: &RunState) -> Option<(TimerId, Timestamp)> {
        let mut next: Option<(Timestamp, TimerId)> = None;
        for (timer, at) in state.timers.by_time() {
            // No later one can be sooner: a deadline only ever moves back.
            if next.is_some_and(|(found, _)| found <= at) {
                break;
            }
            let up = self.times.get(&timer).map_or(Some(at), |time| time.up(at));
            next = next.into_iter().chain(up.map(|up| (up, timer))).min();
        }
        next.map(|(at, timer)| (timer, at))
    }

    async fn body(
        &mut self,
        loaded: &Loaded,
        state: &RunState,
        pinned: Option<holdpoint_core::Digest>,
        step: &holdpoint_core::StepId,
    ) -> Result<Option<Arc<Body>>, SubmitError> {
        if let (Some(digest), Some(pipeline)) = (pinned, state.pipeline()) {
            let known = |loaded: &Loaded| match &loaded.state {
                State::Pipeline(pipeline) => {
                    pipeline.bodies.get(&digest).map(|compiled| compiled.body().clone())
                }
                State::Home(_) | State::Run(_) | State::Journal(_) => None,
            };
            let stream = StreamId::Pipeline(pipeline);
            let mut body = known(&*self.engine.load(stream).await?.1);
            if body.is_none() {
                // Another process has changed the pipeline since this one read it.
                body = known(&*self.engine.view(stream).await?);
            }
            return Ok(body);
        }
        Ok(loaded.plan.as_ref().and_then(|plan| plan.bodies.get(step).cloned()))
    }

    async fn wait(&mut self, timer: Option<(TimerId, Timestamp)>, again: Option<Duration>) -> Next {
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
        let again = async move {
            match again {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = runner.abandoned.cancelled() => Next::Stop,
            () = self.driver.lost.cancelled() => Next::Stop,
            Some(ended) = self.works.join_next(), if !self.works.is_empty() => match ended {
                Ok(finished) => Next::Finished(finished),
                Err(cause) => Next::Broken(cause),
            },
            () = self.driver.changed.notified() => Next::Look,
            () = runner.stopping.cancelled(), if !stopping => Next::Look,
            () = again => Next::Look,
            (id, at) = timer => if clock.now() >= at { Next::Timer(id) } else { Next::Look },
        }
    }

    async fn fire(&mut self, timer: TimerId) -> Result<(), SubmitError> {
        let command = Command::Run(self.run(), RunCommand::FireTimer(timer));
        match self.engine.submit_fenced(self.fence(), command).await {
            Ok(_) | Err(SubmitError::Rejected(_)) => Ok(()),
            Err(cause) => Err(cause),
        }
    }
}

/// The timer of the attempt that a piece of work belongs to.
fn timeout_of(effect: EffectId) -> TimerId {
    let EffectId { x, revision, attempt, .. } = effect;
    TimerId { x, revision, attempt, kind: TimerKind::Timeout }
}
