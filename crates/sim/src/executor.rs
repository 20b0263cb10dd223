//! A simulated executor: quick, slow, failing, hanging, or finished after nobody waits any more.

use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::budget::{Measure, Reached, Scope};
use holdpoint_core::commands::record_outcome::{Collected, Outcome};
use holdpoint_core::event::{Entry, Failure, Level, Usage};
use holdpoint_core::state::run::EffectKind;
use holdpoint_core::{Body, Digest};
use holdpoint_engine::SubmitError;
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_store::{BlobStore, BoxFuture, SMALL_BLOB};
use serde_json::{Map, Value, json};

use crate::ledger::Pid;
use crate::rng::Rng;
use crate::scenery::{Said, Scenery, Working, show};
use crate::stock;

/// How often a hanging executor looks whether faults are over.
const LOOK: Duration = Duration::from_millis(700);
/// How the line ends that is committed with the outcome.
pub const LAST_WORDS: &str = "last words";

/// Does the work of one simulated process.
pub struct SimExecutor {
    /// The world.
    pub scenery: Arc<Scenery>,
    /// The process.
    pub pid: Pid,
    /// Where outputs are kept.
    pub blobs: Arc<dyn BlobStore>,
}

/// How long work hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hangs {
    Never,
    WhileFaults,
    ForEver,
}

/// What becomes of one piece of work.
#[derive(Clone, Copy, Debug)]
struct Habit {
    takes: Duration,
    hangs: Hangs,
    fails: bool,
    /// Whether it stops when nobody waits any more.
    listens: bool,
    /// How many lines it writes into its journal.
    lines: u64,
    token: u64,
}

impl SimExecutor {
    fn habit(&self) -> Habit {
        let mut habits = self.scenery.habits();
        let takes = match habits.below(10) {
            0..4 => 0,
            4..7 => habits.between(1, 300),
            _ => habits.between(1_000, 30_000),
        };
        Habit {
            takes: Duration::from_millis(takes),
            hangs: match habits.below(100) {
                0..10 => Hangs::WhileFaults,
                10..12 if !self.scenery.is_healed() => Hangs::ForEver,
                _ => Hangs::Never,
            },
            fails: habits.percent(20),
            listens: habits.percent(40),
            lines: if habits.percent(50) { habits.below(21) } else { 0 },
            token: habits.next(),
        }
    }
}

impl Executor for SimExecutor {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let habit = self.habit();
        let (scenery, blobs, pid) = (self.scenery.clone(), self.blobs.clone(), self.pid);
        scenery.note(&format!("work {} of {} begins", show(job.effect), job.run));
        Box::pin(async move {
            let _at_work = AtWork::begin(&scenery, pid, &job);
            let cancel = job.cancel.clone();
            let work = work(&scenery, &*blobs, &job, habit);
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled(), if habit.listens => failed("cancelled"),
                outcome = work => outcome,
            };
            let late = if job.cancel.is_cancelled() { " after it was cancelled" } else { "" };
            scenery.note(&format!("work {} of {} is over{late}", show(job.effect), job.run));
            outcome
        })
    }
}

/// Says for as long as it lives that an executor is at work.
struct AtWork {
    scenery: Arc<Scenery>,
    no: u64,
}

impl AtWork {
    fn begin(scenery: &Arc<Scenery>, pid: Pid, job: &Job) -> Self {
        let work = Working { pid, run: job.run, effect: job.effect, cancel: job.cancel.clone() };
        let no = scenery.at_work(work);
        Self { scenery: scenery.clone(), no }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.scenery.work_ends(self.no);
    }
}

async fn work(scenery: &Scenery, blobs: &dyn BlobStore, job: &Job, habit: Habit) -> Outcome {
    if !scenery.is_healed() {
        tokio::time::sleep(habit.takes).await;
    }
    while habit.hangs == Hangs::WhileFaults && !scenery.is_healed() {
        tokio::time::sleep(LOOK).await;
    }
    if habit.hangs == Hangs::ForEver {
        std::future::pending::<()>().await;
    }
    if journal(scenery, job, habit).await.is_err() {
        return failed("journal");
    }
    let fails = habit.fails && !scenery.is_healed();
    let usage = Usage { calls: 1, cost_micros: habit.token % 100, ..Usage::default() };
    // Whoever raises the budget has the same work done again, which then may pass.
    if !scenery.is_healed() && habit.token.is_multiple_of(11) {
        let measure = Measure::Cost;
        let scope = [Scope::Execution, Scope::Run, Scope::Pipeline][(habit.token / 11 % 3) as usize];
        let reached = Reached { scope, measure, limit: 1_000, spent: 1_000 + habit.token % 100 };
        return Outcome::OverBudget(reached);
    }
    let strict = !scenery.is_healed() && habit.token.is_multiple_of(3);
    match job.kind {
        EffectKind::Judge => {
            Outcome::Judged { passed: !fails && !strict, reasons: vec!["as it is".into()], usage }
        }
        EffectKind::DoWork if fails => failed("broken"),
        EffectKind::DoWork => {
            let mut artifacts = Vec::new();
            for name in outputs(&job.body) {
                match store(blobs, job, &name, habit.token).await {
                    Some(collected) => artifacts.push(collected),
                    None => return failed("storage"),
                }
            }
            let output = Some(json!({"token": habit.token}));
            Outcome::Done { output, artifacts, context: context(habit.token), usage }
        }
    }
}

/// Writes lines into the journal of the work.
async fn journal(scenery: &Scenery, job: &Job, habit: Habit) -> Result<(), SubmitError> {
    if habit.lines == 0 {
        return Ok(());
    }
    job.desk.open().await?;
    for line in 0..habit.lines {
        let text = format!("{} {} line {line}", show(job.effect), habit.token);
        job.desk.log(Level::Info, &text, None).await?;
        scenery.said(Said { execution: job.execution.id, token: habit.token, text });
    }
    let text = format!("{} {} {LAST_WORDS}", show(job.effect), habit.token).into();
    job.desk.say_last([Entry::Log { level: Level::Info, text, details: None }]);
    Ok(())
}

/// What some work leaves in the context.
fn context(token: u64) -> Map<String, Value> {
    let mut rng = Rng::new(token);
    let key = rng.pick(&stock::KEYS).copied().filter(|_| token.is_multiple_of(3));
    key.map(|key| (key.to_owned(), stock::left(&mut rng, key))).into_iter().collect()
}

/// The names of what the work must make.
fn outputs(body: &Body) -> Vec<String> {
    body.outputs.iter().map(|output| output.name.to_string()).collect()
}

/// Makes an output: a small one that travels with the outcome, or one that is kept before it.
async fn store(blobs: &dyn BlobStore, job: &Job, name: &str, token: u64) -> Option<Collected> {
    let mut bytes = format!("{} {} {token} ", job.run, show(job.effect)).into_bytes();
    let (name, format) = (name.into(), "txt".into());
    if token.is_multiple_of(2) {
        let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
        return Some(Collected { name, format, digest, size, bytes: Some(bytes.into()) });
    }
    bytes.resize(SMALL_BLOB + 1 + (token % 5_000) as usize, b'.');
    let size = bytes.len() as u64;
    let stored = blobs.put(Box::new(std::io::Cursor::new(bytes)), size).await.ok()?;
    Some(Collected { name, format, digest: stored.digest(), size, bytes: None })
}

fn failed(why: &str) -> Outcome {
    let failure = Failure::new(why, "the simulated work did not go well");
    Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() }
}
