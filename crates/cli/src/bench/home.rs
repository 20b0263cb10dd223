//! Homes with much in them: pipelines, runs that people went through or that wait for them, and their files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::definition::PipelineConfig;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{
    Actor, Answer, Command, ExecNo, HomeCommand, PipelineCommand, PipelineId, RunCommand, RunId, State,
    StreamId,
};
use holdpoint_engine::clock::{RandomIds, SystemClock};
use holdpoint_engine::executor::BuiltIn;
use holdpoint_engine::{Engine, Parts, PlainEvaluator, tree};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};
use serde_json::{Value, json};
use uuid::Uuid;

use super::BenchError;

/// How many runs a pipeline of a full home has.
const RUNS: u32 = 100;
/// How many pipelines are made at once.
const AT_ONCE: usize = 64;
/// How long the files may take to follow.
const FILES: Duration = Duration::from_mins(30);

/// What a checkpoint does.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A form whose start is asked for.
    Asks,
    /// A form with a result that is asked about.
    Form,
    /// A form with a file.
    Upload,
    /// A script.
    Script,
}

/// A checkpoint's definition.
pub fn definition(kind: Kind) -> Value {
    let field = match kind {
        Kind::Upload => json!({"name": "doc", "type": "file", "label": "Document", "required": true}),
        Kind::Asks | Kind::Form | Kind::Script => {
            json!({"name": "answer", "type": "text", "label": "Answer", "required": true})
        }
    };
    let mut execution = json!({
        "mode": "human_only",
        "human_only_config": {
            "instructions": "Fill it in",
            "input_fields": [field],
            "save_as_artifact": matches!(kind, Kind::Form),
        },
        "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
        "timeout_config": {"enabled": false},
    });
    match kind {
        Kind::Form => {
            execution["human_only_config"]["artifact_name"] = json!("notes");
            execution["human_only_config"]["artifact_format"] = json!("json");
        }
        Kind::Script => {
            execution["mode"] = json!("script");
            execution["script_config"] = json!({"script_path": "work.py", "requires_user_input": false});
            execution.as_object_mut().expect("written above").remove("human_only_config");
        }
        Kind::Asks | Kind::Upload => {}
    }
    json!({
        "checkpoint_name": "Work",
        "checkpoint_description": "Something to do",
        "inputs": {"include_previous_version": false},
        "execution": execution,
        "human_interaction": {
            "requires_approval_to_start": matches!(kind, Kind::Asks),
            "requires_approval_to_complete": matches!(kind, Kind::Form | Kind::Upload),
            "max_revision_iterations": 2,
        },
        "output": {"artifacts": [], "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "Do it",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt",
            },
        },
    })
}

/// An engine on a home.
pub struct OpenHome {
    pub engine: Engine,
    pub log: Arc<SqliteLog>,
}

/// Opens a home; `works` takes on its work, `files` lets the files of its pipelines follow.
pub fn open(path: &Path, works: bool, files: bool) -> Result<OpenHome, BenchError> {
    std::fs::create_dir_all(path)?;
    let log = Arc::new(SqliteLog::open(&path.join("db"), Options::default())?);
    let blobs = LocalBlobs::open(&path.join("blobs"), log.clone())?;
    let engine = Engine::new(Parts {
        log: log.clone(),
        blobs: Arc::new(blobs),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        evaluator: Arc::new(PlainEvaluator),
        offers: Arc::new(holdpoint_core::facts::NothingKnown),
        executor: Arc::new(BuiltIn),
        works: works.into(),
        max_parallel: 64,
        files: files.then(|| tree::Options::new(path.join("pipelines"))),
    });
    Ok(OpenHome { engine, log })
}

impl OpenHome {
    /// Waits until the files show everything.
    pub async fn settle(&self) {
        self.engine.files_settled(self.engine.log_head(), FILES).await;
    }
}

/// A pipeline with one checkpoint.
pub async fn pipeline(engine: &Engine, kind: Kind) -> Result<PipelineId, BenchError> {
    let id = PipelineId(Uuid::now_v7());
    let create = CreatePipeline {
        name: "Bench".into(),
        description: None,
        config: PipelineConfig { auto_advance: true, budgets: None },
    };
    submit(engine, Command::Pipeline(id, PipelineCommand::Create(create))).await?;
    let definition = serde_json::from_value(definition(kind))?;
    let add = PipelineCommand::AddCheckpoint(AddCheckpoint { definition, position: None });
    submit(engine, Command::Pipeline(id, add)).await?;
    Ok(id)
}

/// A run of it, begun.
pub async fn run(engine: &Engine, pipeline: PipelineId) -> Result<RunId, BenchError> {
    let run = RunId(Uuid::now_v7());
    let start = StartRun { run, source: Source::Pipeline(pipeline), start: true };
    submit(engine, Command::StartRun(start)).await?;
    Ok(run)
}

async fn submit(engine: &Engine, command: Command) -> Result<(), BenchError> {
    engine.submit(Actor::person("ann"), None, command).await?;
    Ok(())
}

/// Fills in the form of a run and approves the result.
async fn go_through(engine: &Engine, run: RunId, n: u32) -> Result<(), BenchError> {
    let x = ExecNo(1);
    let fields = json!({"answer": format!("the answer of run {n}")});
    let fields = fields.as_object().expect("written above").clone().into_iter().collect();
    let form = Answer { fields, ..Answer::of(x, AskKind::Form, "submit") };
    submit(engine, Command::Run(run, RunCommand::Answer(form))).await?;
    let loaded = engine.view(StreamId::Run(run)).await?;
    let State::Run(state) = &loaded.state else { return Err("the run is gone".into()) };
    let digest = state.gates.values().next().map(|gate| gate.digest);
    let approve = Answer { digest, ..Answer::of(x, AskKind::Result, "approve") };
    submit(engine, Command::Run(run, RunCommand::Answer(approve))).await
}

/// Makes a home with so many runs, one in fifty waiting for its form, the others completed. `each` hears of
/// every pipeline that is done.
pub async fn fill(
    path: &Path,
    runs: u32,
    files: bool,
    each: Arc<dyn Fn(u32) + Send + Sync>,
) -> Result<(), BenchError> {
    let home = open(path, false, files)?;
    home.engine.submit(Actor::system(), None, Command::Home(HomeCommand::Create)).await?;
    let next = Arc::new(AtomicU32::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..AT_ONCE {
        let (engine, next, each) = (home.engine.clone(), next.clone(), each.clone());
        tasks.spawn(async move {
            loop {
                let from = next.fetch_add(RUNS, Ordering::Relaxed);
                if from >= runs {
                    return Ok::<_, BenchError>(());
                }
                let pipeline = pipeline(&engine, Kind::Form).await?;
                for n in from..(from + RUNS).min(runs) {
                    let run = run(&engine, pipeline).await?;
                    if n % 50 != 0 {
                        go_through(&engine, run, n).await?;
                    }
                }
                each((from + RUNS).min(runs));
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    home.settle().await;
    home.engine.seal().await?;
    Ok(())
}
