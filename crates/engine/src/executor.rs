//! Doing owed work: what an executor is given and what it gives back.

use std::sync::Arc;

use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Failure, Usage};
use holdpoint_core::plan::body::Work;
use holdpoint_core::state::run::{EffectId, EffectKind, Execution};
use holdpoint_core::{Body, ExecutionId, RunId};
use holdpoint_store::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::documents::context::RenderedContext;
use crate::{Engine, SubmitError, WorkContext};

/// Does work that runs owe. The outcome is recorded once, whoever did the work.
pub trait Executor: Send + Sync {
    /// Does one piece of work. When `job.cancel` is cancelled nobody waits for the outcome any more.
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome>;

    /// What the agents of an execution would be told now; empty where no agents work.
    fn preview(
        &self,
        engine: Engine,
        execution: ExecutionId,
    ) -> BoxFuture<'static, Result<Vec<RenderedContext>, SubmitError>> {
        let _ = (engine, execution);
        Box::pin(std::future::ready(Ok(Vec::new())))
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
    pub desk: WorkContext,
}

/// The work that needs nothing from outside: the command `note`, which repeats its argument.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Executor for BuiltIn {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let outcome = match &job.body.work {
            Work::Command(command) => match &*command.argv {
                [name, note] if &**name == "note" => {
                    let output = json!({"i": job.effect.x.0, "note": note});
                    Outcome::done(Some(output), Vec::new(), Usage::default())
                }
                [] => nobody("an empty command"),
                [name, ..] => nobody(&format!("command `{name}`")),
            },
            Work::Form(_) => nobody("a form"),
            Work::Script(script) => nobody(&format!("script `{}`", script.path)),
            Work::Agents(_) => nobody("agents"),
            Work::Outside(_) => nobody("a client"),
            Work::Snapshot(_) => nobody("a snapshot with a folder"),
        };
        Box::pin(std::future::ready(outcome))
    }
}

fn nobody(what: &str) -> Outcome {
    let message = format!("this program has nothing that does the work of {what}");
    let failure = Failure::new("no_executor", &message);
    Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() }
}
