//! A pipeline whose files can be looked at.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::record_outcome::{Collected, Outcome};
use holdpoint_core::commands::roll_back::{RollBack, Target};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::definition::{CheckpointDefinition, PipelineConfig};
use holdpoint_core::event::{Failure, RollbackType, Usage};
use holdpoint_core::state::run::AskKind;
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::{
    Actor, Answer, Command, Digest, ExecNo, PipelineCommand, PipelineId, RollbackId, RunCommand, RunId,
    State, StreamId,
};
use holdpoint_engine::Engine;
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_engine::tree::{CheckFiles, FilesReport};
use holdpoint_store::BoxFuture;
use serde_json::json;
use uuid::Uuid;

use crate::common::Home;

pub const PIPELINE: PipelineId = PipelineId(Uuid::from_u128(1));
const LONG: Duration = Duration::from_mins(1);

/// Breaks the first so many times, having made half a report each time.
#[derive(Default)]
pub struct Breaks {
    pub left: AtomicU64,
    pub report: std::sync::Mutex<Option<(Digest, u64)>>,
}

impl Executor for Breaks {
    fn run(&self, _job: Job) -> BoxFuture<'static, Outcome> {
        let report = self.report.lock().expect("no panic").map(|(digest, size)| Collected {
            name: "report".into(),
            format: "txt".into(),
            digest,
            size,
            bytes: None,
        });
        let artifacts: Vec<Collected> = report.into_iter().collect();
        let usage = Usage::default();
        let breaks = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let outcome = match breaks {
            Ok(_) => Outcome::Failed { failure: Failure::new("script_error", "it broke"), artifacts, usage },
            Err(_) => Outcome::done(None, artifacts, usage),
        };
        Box::pin(std::future::ready(outcome))
    }
}

pub struct Scene {
    pub home: Home,
    pub engine: Engine,
    pub breaks: Arc<Breaks>,
    pub folder: tempfile::TempDir,
}

pub fn ann() -> Actor {
    Actor::person("ann")
}

/// The n-th run. Ids of executions are those of their run with a number added, so runs are far apart.
pub fn run_id(n: u128) -> RunId {
    RunId(Uuid::from_u128((0x1000 + n) << 32))
}

fn definition(
    name: &str,
    execution: serde_json::Value,
    artifacts: &serde_json::Value,
) -> CheckpointDefinition {
    let mut execution = execution;
    execution["retry_config"] = json!({"max_auto_retries": 0, "on_failure": "pause_pipeline"});
    execution["timeout_config"] = json!({"enabled": false});
    let definition = json!({
        "checkpoint_name": name,
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": execution,
        "human_interaction": {
            "requires_approval_to_start": false,
            "requires_approval_to_complete": name != "Script",
            "max_revision_iterations": 2,
        },
        "output": {"artifacts": artifacts},
        "instructions": {"task_prompt": "do it", "injection_points": {
            "previous_version_context": "before_task_prompt", "checkpoint_references": "before_task_prompt"}},
    });
    serde_json::from_value(definition).expect("a definition")
}

pub fn form(name: &str) -> CheckpointDefinition {
    let config = json!({
        "instructions": "Fill it in",
        "input_fields": [{"name": "goal", "type": "text", "label": "Goal", "required": true}],
        "save_as_artifact": true, "artifact_name": "goals", "artifact_format": "json",
    });
    definition(name, json!({"mode": "human_only", "human_only_config": config}), &json!([]))
}

pub fn script() -> CheckpointDefinition {
    let config = json!({"script_path": "x.py", "requires_user_input": false});
    let report = json!([{"name": "report", "format": "txt"}]);
    definition("Script", json!({"mode": "script", "script_config": config}), &report)
}

impl Scene {
    /// A pipeline of these checkpoints.
    pub async fn new(checkpoints: &[CheckpointDefinition]) -> Self {
        let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
        let breaks = Arc::new(Breaks::default());
        let engine = home.engine_with_files(folder.path(), breaks.clone());
        let scene = Self { home, engine, breaks, folder };
        let config = PipelineConfig { auto_advance: true, budgets: None };
        let create = CreatePipeline { name: "Research".into(), description: None, config };
        scene.on_pipeline(PipelineCommand::Create(create)).await;
        for definition in checkpoints {
            scene.add(definition.clone()).await;
        }
        scene
    }

    pub async fn submit(&self, command: Command) {
        self.engine.submit(ann(), None, command).await.expect("taken");
    }

    pub async fn on_pipeline(&self, command: PipelineCommand) {
        self.submit(Command::Pipeline(PIPELINE, command)).await;
    }

    pub async fn add(&self, definition: CheckpointDefinition) {
        let add = AddCheckpoint { definition, position: None };
        self.on_pipeline(PipelineCommand::AddCheckpoint(add)).await;
    }

    pub async fn start(&self, n: u128) {
        let source = Source::Pipeline(PIPELINE);
        self.submit(Command::StartRun(StartRun { run: run_id(n), source, start: true })).await;
    }

    pub async fn fill_in(&self, n: u128, x: u32) {
        let fields = [("goal".to_owned(), json!(format!("goal {n} {x}")))].into_iter().collect();
        let form = Answer { fields, ..Answer::of(ExecNo(x), AskKind::Form, "submit") };
        self.submit(Command::Run(run_id(n), RunCommand::Answer(form))).await;
    }

    pub async fn approve(&self, n: u128, x: u32) {
        let state = self.run(n).await;
        let gate = state.execution(ExecNo(x)).and_then(|e| e.gate).expect("a gate");
        let digest = Some(state.gates[&gate].digest);
        let approve = Answer { digest, ..Answer::of(ExecNo(x), AskKind::Result, "approve") };
        self.submit(Command::Run(run_id(n), RunCommand::Answer(approve))).await;
    }

    pub async fn step(&self, n: u128, x: u32) {
        self.fill_in(n, x).await;
        self.approve(n, x).await;
    }

    pub async fn run(&self, n: u128) -> RunState {
        match &self.engine.view(StreamId::Run(run_id(n))).await.expect("readable").state {
            State::Run(state) => (**state).clone(),
            other => panic!("no run: {other:?}"),
        }
    }

    pub async fn pipeline(&self) -> PipelineState {
        match &self.engine.view(StreamId::Pipeline(PIPELINE)).await.expect("readable").state {
            State::Pipeline(state) => state.clone(),
            other => panic!("no pipeline: {other:?}"),
        }
    }

    pub async fn roll_back(&self, source: u128, target: Option<u128>, position: u32) {
        let level = if target.is_some() { RollbackType::RunLevel } else { RollbackType::CheckpointLevel };
        let (source, target) = (run_id(source), target.map(run_id));
        let checkpoint = Target::Position(position);
        self.submit(Command::RollBack(RollBack { level, source, target, checkpoint, reason: None })).await;
    }

    pub async fn last_rollback(&self) -> RollbackId {
        self.pipeline().await.rollbacks.last().expect("a rollback").rollback
    }

    pub async fn undo(&self) {
        let rollback = self.last_rollback().await;
        self.submit(Command::UndoRollback { pipeline: PIPELINE, rollback }).await;
    }

    /// Waits until the files are written.
    pub async fn settle(&self) {
        assert!(self.engine.files_settled(self.home.disk.head(), LONG).await, "the files are behind");
    }

    /// Compares every file with the log, by its content.
    pub async fn assert_clean(&self) {
        self.settle().await;
        let report = self.check(false, true).await;
        assert!(report.is_clean(), "{report:#?}");
    }

    pub async fn check(&self, repair: bool, deep: bool) -> FilesReport {
        self.engine.check_files(CheckFiles { repair, deep }).await.expect("looked at")
    }

    /// The pipeline's folder.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join(PIPELINE.to_string())
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// The first file below a folder whose name begins like this.
    pub fn find(&self, folder: &str, begin: &str) -> PathBuf {
        let mut all: Vec<PathBuf> = Vec::new();
        walk(&self.path(folder), &mut |path, _| all.push(path.to_owned()));
        let named = |path: &PathBuf| {
            path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
        };
        all.into_iter().find(named).unwrap_or_else(|| panic!("no {begin} in {folder}"))
    }

    /// Everything below the pipeline's folder but what the system keeps for itself, with short ids.
    pub async fn shown(&self) -> String {
        self.settle().await;
        let mut text = String::new();
        let root = self.root();
        walk(&root, &mut |path, kind| {
            let inside = path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned();
            if !inside.starts_with(".pipeline_system") {
                writeln!(text, "{inside}{kind}").expect("text grows");
            }
        });
        shorten(&text)
    }
}

/// Ids are long, and made of hashes: they are numbered as they come.
fn shorten(text: &str) -> String {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut short = String::new();
    for word in text.split_inclusive(['/', '_', '.', ' ', '\n', ':']) {
        let (word, end) =
            word.split_at(word.len() - usize::from(word.ends_with(['/', '_', '.', ' ', '\n', ':'])));
        let is_id = word.len() == 36 || (word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit()));
        if is_id && word.parse::<u32>().is_err() {
            let next = known.len() + 1;
            let n = *known.entry(word.to_owned()).or_insert(next);
            write!(short, "#{n}").expect("text grows");
        } else {
            short.push_str(word);
        }
        short.push_str(end);
    }
    short
}

fn walk(folder: &Path, see: &mut dyn FnMut(&Path, &str)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let kind = path.symlink_metadata().expect("there").file_type();
        if kind.is_symlink() {
            let to = std::fs::read_link(&path).expect("a link");
            see(&path, &format!(" -> {}", to.display()));
        } else if kind.is_dir() {
            let empty = std::fs::read_dir(&path).expect("readable").next().is_none();
            if empty {
                see(&path, "/");
            }
            walk(&path, see);
        } else {
            see(&path, "");
        }
    }
}
