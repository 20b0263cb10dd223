//! Measures the file tree: how long it takes to write many artifacts, and to look at all of them at a start.
//!
//! `cargo run -p holdpoint-engine --example tree -- 1000 100`: a thousand runs with a hundred artifacts each.

#![allow(clippy::print_stdout)] // the figures are what it is for

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::record_outcome::{Collected, Outcome};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::definition::{CheckpointDefinition, PipelineConfig};
use holdpoint_core::event::{RunEvent, Usage};
use holdpoint_core::{Actor, Command, Digest, Event, PipelineCommand, PipelineId, RunId, Seq, StreamId};
use holdpoint_engine::clock::{RandomIds, SystemClock};
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_engine::tree::{CheckFiles, Options};
use holdpoint_engine::{Engine, Filter, Parts, PlainEvaluator, Works};
use holdpoint_store::BoxFuture;
use holdpoint_store::memory::MemoryDisk;
use serde_json::{Value, json};
use uuid::Uuid;

/// Makes everything that is declared, all of it the same bytes.
struct Maker {
    artifacts: u32,
    bytes: Mutex<Option<(Digest, u64)>>,
}

impl Executor for Maker {
    fn run(&self, _job: Job) -> BoxFuture<'static, Outcome> {
        let (digest, size) = self.bytes.lock().expect("no panic").expect("kept before");
        let make =
            |n| Collected { name: format!("a{n}").into(), format: "txt".into(), digest, size, bytes: None };
        let artifacts = (0..self.artifacts).map(make).collect();
        Box::pin(std::future::ready(Outcome::done(None, artifacts, Usage::default())))
    }
}

fn definition(artifacts: u32) -> CheckpointDefinition {
    let declared: Vec<Value> =
        (0..artifacts).map(|n| json!({"name": format!("a{n}"), "format": "txt"})).collect();
    let definition = json!({
        "checkpoint_name": "Many",
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "script",
            "script_config": {"script_path": "x.py", "requires_user_input": false},
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": false,
            "requires_approval_to_complete": false,
            "max_revision_iterations": 0,
        },
        "output": {"artifacts": declared},
        "instructions": {"task_prompt": "do it", "injection_points": {
            "previous_version_context": "before_task_prompt", "checkpoint_references": "before_task_prompt"}},
    });
    serde_json::from_value(definition).expect("a definition")
}

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u32>().ok());
    let (runs, artifacts) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(100));
    let (disk, folder) = (MemoryDisk::new(), tempfile::tempdir().expect("a folder"));
    let maker = Arc::new(Maker { artifacts, bytes: Mutex::default() });
    let open = || {
        let log = Arc::new(disk.open());
        Engine::new(Parts {
            blobs: Arc::new(log.blobs()),
            log,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            evaluator: Arc::new(PlainEvaluator),
            offers: Arc::new(holdpoint_core::facts::NothingKnown),
            executor: maker.clone(),
            works: Works::All,
            max_parallel: holdpoint_engine::MAX_PARALLEL,
            files: Some(Options::new(folder.path().to_owned())),
        })
    };
    let engine = open();
    let kept = engine.keep(Box::new(&b"some bytes of an artifact"[..]), 100).await.expect("kept");
    *maker.bytes.lock().expect("no panic") = Some(kept);
    let pipeline = PipelineId(Uuid::from_u128(1));
    let submit = async |command| engine.submit(Actor::person("ann"), None, command).await.expect("taken");
    let config = PipelineConfig { auto_advance: true, budgets: None };
    let create = CreatePipeline { name: "Many".into(), description: None, config };
    submit(Command::Pipeline(pipeline, PipelineCommand::Create(create))).await;
    let add = AddCheckpoint { definition: definition(artifacts), position: None };
    submit(Command::Pipeline(pipeline, PipelineCommand::AddCheckpoint(add))).await;
    let begin = Instant::now();
    for n in 0..runs {
        let run = RunId(Uuid::from_u128(0x1000 + u128::from(n)));
        let start = StartRun { run, source: Source::Pipeline(pipeline), start: true };
        let started = submit(Command::StartRun(start)).await.receipt.expect("written");
        let filter = Filter { stream: Some(StreamId::Run(run)), session: None };
        let mut events = engine.subscribe(Seq(started.first.0 - 1), filter);
        while let Some(Ok(recorded)) = events.next().await {
            if matches!(recorded.event, Event::Run(RunEvent::Completed {})) {
                break;
            }
        }
    }
    assert!(engine.files_settled(disk.head(), Duration::from_mins(10)).await);
    let total = u64::from(runs) * u64::from(artifacts);
    println!("{total} artifacts written in {:?}", begin.elapsed());
    drop(engine);
    for (name, check) in [
        ("quick", CheckFiles { repair: true, deep: false }),
        ("quick again", CheckFiles { repair: true, deep: false }),
        ("by content", CheckFiles { repair: false, deep: true }),
    ] {
        let engine = open();
        let begin = Instant::now();
        let report = engine.check_files(check).await.expect("looked at");
        println!("{name}: {} files in {:?}, clean: {}", report.files, begin.elapsed(), report.is_clean());
    }
}
