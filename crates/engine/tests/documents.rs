//! What the outside sees of a pipeline's life.

#[allow(dead_code)] // each test uses a part of it
mod common;

use common::Home;
use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::roll_back::{RollBack, Target};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::definition::{CheckpointDefinition, PipelineConfig};
use holdpoint_core::event::RollbackType;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{
    Actor, Answer, Command, ExecNo, PipelineCommand, PipelineId, Rejection, RunCommand, RunId,
};
use holdpoint_engine::documents::run::RunFilter;
use holdpoint_engine::documents::{Bounds, RunDocument};
use holdpoint_engine::{Engine, SubmitError};
use serde_json::json;
use uuid::Uuid;

const PIPELINE: PipelineId = PipelineId(Uuid::from_u128(1));

fn ann() -> Actor {
    Actor::person("ann")
}

fn form(name: &str) -> CheckpointDefinition {
    let definition = json!({
        "checkpoint_name": name,
        "checkpoint_description": "Says something",
        "inputs": {"include_previous_version": true},
        "execution": {
            "mode": "human_only",
            "human_only_config": {
                "instructions": "Fill it in",
                "input_fields": [{"name": "goal", "type": "text", "label": "Goal", "required": true}],
                "save_as_artifact": true, "artifact_name": "goals", "artifact_format": "json",
            },
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": false,
            "requires_approval_to_complete": true,
            "max_revision_iterations": 2,
        },
        "output": {"artifacts": []},
    });
    serde_json::from_value(definition).expect("a definition")
}

async fn submit(engine: &Engine, command: Command) {
    engine.submit(ann(), None, command).await.expect("taken");
}

async fn pipeline(engine: &Engine) {
    let create = CreatePipeline {
        name: "Research".into(),
        description: None,
        config: PipelineConfig { auto_advance: true, budgets: None },
    };
    submit(engine, Command::Pipeline(PIPELINE, PipelineCommand::Create(create))).await;
    for name in ["Goals", "Plan", "Report"] {
        let add = AddCheckpoint { definition: form(name), position: None };
        submit(engine, Command::Pipeline(PIPELINE, PipelineCommand::AddCheckpoint(add))).await;
    }
}

async fn start(engine: &Engine, run: RunId) {
    let source = Source::Pipeline(PIPELINE);
    submit(engine, Command::StartRun(StartRun { run, source, start: true })).await;
}

/// Fills in the form of an execution and finds the result good.
async fn do_step(engine: &Engine, run: RunId, x: u32) {
    let fields = [("goal".to_owned(), json!(format!("goal {x}")))].into_iter().collect();
    let form = Answer { fields, ..Answer::of(ExecNo(x), AskKind::Form, "submit") };
    submit(engine, Command::Run(run, RunCommand::Answer(form))).await;
    let asked = document(engine, run).await.current_execution.expect("an execution").standing.waiting_for;
    let asked = asked.expect("a question");
    assert_eq!(asked.kind, "approve_complete");
    let digest = asked.digest.expect("a digest").strip_prefix("sha256:").expect("a checksum").parse().ok();
    let approve = Answer { digest, ..Answer::of(ExecNo(x), AskKind::Result, "approve") };
    submit(engine, Command::Run(run, RunCommand::Answer(approve))).await;
}

async fn document(engine: &Engine, run: RunId) -> RunDocument {
    engine.run_document(run).await.expect("a run")
}

#[tokio::test(start_paused = true)]
async fn a_pipeline_is_shown_from_its_first_run_to_an_undone_rollback() {
    let home = Home::new();
    let engine = home.engine();
    pipeline(&engine).await;
    let shown = engine.pipeline_document(PIPELINE).await.expect("a pipeline");
    assert_eq!((shown.checkpoints.len(), shown.next_run.run_version), (3, 1));

    let (first, second) = (RunId(Uuid::from_u128(11 << 32)), RunId(Uuid::from_u128(12 << 32)));
    start(&engine, first).await;
    let run = document(&engine, first).await;
    assert_eq!(
        (run.standing.status, run.standing.run_version, run.standing.current_checkpoint_position),
        ("in_progress", Some(1), Some(0))
    );
    let waiting = run.current_execution.expect("one").standing.waiting_for.expect("a form");
    assert_eq!(waiting.form.expect("a form").input_fields[0].name, "goal");
    for x in 1..=3 {
        do_step(&engine, first, x).await;
    }
    assert_eq!(document(&engine, first).await.standing.status, "completed");

    start(&engine, second).await;
    let run = document(&engine, second).await;
    assert_eq!((run.standing.previous_run_id, run.standing.extends_from_run_version), (Some(first), Some(1)));
    let execution = run.current_execution.expect("one");
    let given = execution.inputs.previous_version.expect("the version before");
    assert_eq!((given.run_version, given.artifacts.len(), given.missing), (Some(1), 1, None));
    assert!(given.artifacts[0].file_path.starts_with("runs/v1/checkpoint_0_Goals/outputs/goals_"));
    assert_eq!(engine.inbox(None, Bounds { after: None, limit: 50 }).await.expect("listed").items.len(), 1);

    let back = RollBack {
        level: RollbackType::RunLevel,
        source: second,
        target: Some(first),
        checkpoint: Target::Position(0),
        reason: None,
    };
    let impact = engine.rollback_impact(ann(), back.clone()).await.expect("previewed");
    assert_eq!((impact.runs.len(), impact.executions.len(), impact.artifacts.len()), (1, 3, 2));
    assert_eq!(document(&engine, first).await.standing.status, "completed");
    let done = engine.submit(ann(), None, Command::RollBack(back)).await.expect("rolled back");
    let rollback = done.names.rollback.expect("a rollback");
    let record = engine.rollback_document(rollback).await.expect("a record");
    assert_eq!(
        record.rolled_back_items.archived_artifacts,
        impact
            .artifacts
            .iter()
            .map(|a| {
                let mut a = a.clone();
                // The archive's folder carries the rollback's id, which only the real one has.
                a.archived_path.clone_from(
                    &record
                        .rolled_back_items
                        .archived_artifacts
                        .iter()
                        .find(|b| b.artifact_record_id == a.artifact_record_id)
                        .expect("the same")
                        .archived_path,
                );
                a
            })
            .collect::<Vec<_>>()
    );
    let gone = engine.run_document(second).await.expect_err("rolled back");
    assert!(matches!(gone, SubmitError::Rejected(Rejection::Gone { rollback: by, .. }) if by == rollback));
    let listed = engine.run_documents(RunFilter::default(), Bounds { after: None, limit: 50 }).await;
    assert_eq!(listed.expect("listed").items.len(), 1);

    submit(&engine, Command::UndoRollback { pipeline: PIPELINE, rollback }).await;
    assert_eq!(document(&engine, second).await.standing.status, "in_progress");
    let page = |after| engine.run_documents(RunFilter::default(), Bounds { after, limit: 1 });
    let newest = page(None).await.expect("listed");
    assert_eq!(newest.items[0].standing.run_id, second);
    let older = page(newest.next).await.expect("listed");
    assert_eq!((older.items[0].standing.run_id, older.next), (first, None));
}
