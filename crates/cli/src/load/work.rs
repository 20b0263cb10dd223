//! What the runs of the load owe: notes, naps that take a while, and work that fails the first time.

use std::time::Duration;

use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Failure, Usage};
use holdpoint_core::plan::body::Work;
use holdpoint_engine::executor::{BuiltIn, Executor, Job};
use holdpoint_store::BoxFuture;
use serde_json::json;

/// The executors of the load beside the built-in ones.
#[derive(Clone, Copy, Debug)]
pub struct Worker {
    /// How long a nap takes.
    pub nap: Duration,
}

impl Executor for Worker {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let Work::Command(command) = &job.body.work else { return BuiltIn.run(job) };
        match command.argv.first().map_or("", |name| &**name) {
            "nap" => {
                let nap = self.nap;
                Box::pin(async move {
                    tokio::select! {
                        () = tokio::time::sleep(nap) => done(&job),
                        () = job.cancel.cancelled() => failed("cancelled"),
                    }
                })
            }
            "flaky" if job.effect.attempt == 1 => Box::pin(std::future::ready(failed("the first time"))),
            "flaky" => Box::pin(std::future::ready(done(&job))),
            _ => BuiltIn.run(job),
        }
    }
}

fn done(job: &Job) -> Outcome {
    let output = json!({"x": job.effect.x.0, "restarted": job.restarted});
    Outcome::done(Some(output), Vec::new(), Usage::default())
}

fn failed(why: &str) -> Outcome {
    Outcome::Failed {
        failure: Failure::new("broken", why),
        artifacts: Vec::new(),
        usage: Usage { calls: 1, ..Usage::default() },
    }
}
