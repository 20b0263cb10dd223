//! Many writers at once: wide groups that write a lot, and many runs of one pipeline.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::{Home, start_plan};
use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::definition::PipelineConfig;
use holdpoint_core::event::{Failure, Level, Usage};
use holdpoint_core::plan::{Body, Plan, PlanKind, PlanStep};
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{Actor, Command, PipelineCommand, PipelineId, RunId, StepId};
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_store::BoxFuture;
use serde_json::json;
use uuid::Uuid;

fn ann() -> Actor {
    Actor::person("ann")
}

/// Writes lines into its journal, and fails if one of them cannot be written.
struct Talkative;

impl Executor for Talkative {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            // Some end while others write: an outcome changes the run under their journals.
            for line in 0..1 + job.effect.x.0 % 20 {
                tokio::task::yield_now().await;
                if let Err(cause) = job.desk.log(Level::Info, &format!("line {line}"), None).await {
                    let failure = Failure::new("journal", &cause.to_string());
                    return Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() };
                }
            }
            Outcome::done(None, Vec::new(), Usage::default())
        })
    }
}

/// A group of steps that are done at once.
fn group(width: u32) -> Plan {
    let body = Arc::new(Body::command(["talk"]));
    let ids = (1..=width).map(|n| StepId::new(&format!("s{n}")));
    let step = |id: StepId, kind| PlanStep::new(id, Vec::new(), kind);
    let children = ids.clone().map(|id| step(id, PlanKind::Step)).collect();
    Plan {
        steps: vec![step(StepId::new("group"), PlanKind::Group(children))],
        bodies: ids.map(|id| (id, body.clone())).collect::<BTreeMap<_, _>>(),
        ..Plan::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_wide_group_that_writes_a_lot_does_not_fail() {
    let home = Home::new();
    let engine = home.engine_with(Arc::new(Talkative));
    let (command, run) = start_plan(group(64));
    engine.submit(ann(), None, command).await.expect("started");
    let ended = home.until(&engine, run, |state| state.failed > 0 || !state.status.is_active());
    tokio::time::timeout(Duration::from_mins(2), ended).await.expect("ended");
    home.until(&engine, run, |state| {
        assert_eq!(state.failed, 0, "a step failed");
        state.status == RunStatus::Completed && state.completed == 64
    })
    .await;
    assert_eq!(engine.conflicts(), 0, "a journal does not hold its run still");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_runs_of_one_pipeline_start_at_once() {
    let home = Home::new();
    let engine = home.engine_with(Arc::new(Talkative));
    let pipeline = PipelineId(Uuid::from_u128(1));
    let config = PipelineConfig { auto_advance: true, budgets: None };
    let create = CreatePipeline { name: "Research".into(), description: None, config };
    let on = |command| Command::Pipeline(pipeline, command);
    engine.submit(ann(), None, on(PipelineCommand::Create(create))).await.expect("made");
    let definition = json!({
        "checkpoint_name": "Script", "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "script", "script_config": {"script_path": "x.py", "requires_user_input": false},
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": false, "requires_approval_to_complete": false,
            "max_revision_iterations": 0,
        },
        "output": {"artifacts": []},
        "instructions": {"task_prompt": "do it", "injection_points": {
            "previous_version_context": "before_task_prompt", "checkpoint_references": "before_task_prompt"}},
    });
    let definition = serde_json::from_value(definition).expect("a definition");
    let add = AddCheckpoint { definition, position: None };
    engine.submit(ann(), None, on(PipelineCommand::AddCheckpoint(add))).await.expect("added");
    let runs: Vec<RunId> = (1..=500).map(|n| RunId(Uuid::from_u128(n << 64))).collect();
    let started: Vec<_> = runs
        .iter()
        .map(|run| {
            let start = StartRun { run: *run, source: Source::Pipeline(pipeline), start: true };
            let engine = engine.clone();
            tokio::spawn(async move { engine.submit(ann(), None, Command::StartRun(start)).await.map(drop) })
        })
        .collect();
    for start in started {
        start.await.expect("no panic").expect("started");
    }
    for run in runs {
        let done = home.until(&engine, run, |state| state.status == RunStatus::Completed);
        tokio::time::timeout(Duration::from_mins(2), done).await.expect("done");
    }
    assert_eq!(engine.conflicts(), 0, "who writes to one pipeline queues up");
}
