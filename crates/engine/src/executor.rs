//! Doing owed work: what an executor is given and what it gives back.

use std::sync::Arc;

use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Failure, Usage};
use holdpoint_core::state::run::{EffectId, EffectKind, Execution};
use holdpoint_core::{Body, RunId};
use holdpoint_store::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::work::Desk;

/// Does work that runs owe. The outcome is recorded once, whoever did the work.
pub trait Executor: Send + Sync {
    /// Does one piece of work. When `job.cancel` is cancelled nobody waits for the outcome any more.
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome>;

    /// How many tokens agents may be told at first; none: nobody knows.
    fn context_budget(&self) -> Option<u64> {
        None
    }
}

/// One piece of owed work.
#[derive(Clone, Debug)]
pub struct Job {
    /// The run.
    pub run: RunId,
    /// Which part of which attempt.
    pub effect: EffectId,
    /// What kind of work.
    pub kind: EffectKind,
    /// What the step says.
    pub body: Arc<Body>,
    /// The execution as it stands.
    pub execution: Arc<Execution>,
    /// Whether the work was begun before and cut off.
    pub restarted: bool,
    /// Says that the work is not wanted any more.
    pub cancel: CancellationToken,
    /// Where it writes down what it says and does.
    pub desk: Desk,
}

/// The executors that need nothing from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Executor for BuiltIn {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let outcome = match &*job.body {
            Body::Task(task) if &*task.executor == "note" => {
                let output =
                    json!({"i": job.effect.x.0, "note": task.args.get("note").cloned().unwrap_or_default()});
                Outcome::Done { output: Some(output), artifacts: Vec::new(), usage: Usage::default() }
            }
            Body::Task(task) => nobody(&format!("executor `{}`", task.executor)),
            Body::Checkpoint(definition) => nobody(&format!("mode `{:?}`", definition.execution.mode)),
        };
        Box::pin(std::future::ready(outcome))
    }
}

fn nobody(what: &str) -> Outcome {
    let message = format!("this program has nothing that does the work of {what}");
    let failure = Failure::new("no_executor", &message);
    Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() }
}
