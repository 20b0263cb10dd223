//! A scene to test rules in: given what happened, when this is asked, then these events.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::command::{Command, Decide, Envelope, PipelineCommand, RunCommand};
use crate::commands::add_checkpoint::AddCheckpoint;
use crate::commands::approve_complete::ApproveComplete;
use crate::commands::create_pipeline::CreatePipeline;
use crate::commands::record_outcome::{Outcome, RecordOutcome};
use crate::commands::roll_back::{RollBack, Target};
use crate::commands::start_run::{Source, StartRun};
use crate::commands::submit_form::SubmitForm;
use crate::decision::{Decision, World};
use crate::definition::{CheckpointDefinition, PipelineConfig};
use crate::event::{Event, Failure, Opening, Origin, PipelineEvent, RollbackType, RunEvent, Usage};
use crate::facts::{Evaluator, Facts, Plans, Verdict};
use crate::state::run::ExecutionState;
use crate::state::{PipelineState, RunState};
use crate::{
    Actor, CommandId, Digest, ExecNo, LoadedPlan, PipelineId, Plan, Rejection, RunId, State, StreamId,
    Timestamp, decide, needs,
};

/// A small world that commands act on.
pub(crate) struct Scene {
    pub states: BTreeMap<StreamId, State>,
    plans: Known,
    commands: u64,
    pub now: Timestamp,
    agent: bool,
}

#[derive(Default)]
struct Known(BTreeMap<Digest, Arc<LoadedPlan>>);

impl Plans for Known {
    fn plan(&self, digest: Digest) -> Option<Arc<LoadedPlan>> {
        self.0.get(&digest).cloned()
    }
}

struct Lenient;

impl Evaluator for Lenient {
    fn field(&self, validation: &str, value: &Value) -> Verdict {
        match validation {
            "never" => Verdict::No(vec![format!("{value} is never right")]),
            _ => Verdict::Yes,
        }
    }

    fn schema(&self, _schema: &Value, _value: &Value) -> Verdict {
        Verdict::Yes
    }
}

/// A command that a test may still change.
#[derive(Clone, Debug)]
pub(crate) struct When(pub Command);

impl When {
    /// The decision inside.
    pub fn decision(&mut self) -> &mut Decide {
        match &mut self.0 {
            Command::Run(_, RunCommand::ApproveStart(decision) | RunCommand::RequestRevision(decision)) => {
                decision
            }
            Command::Run(_, RunCommand::ApproveComplete(command)) => &mut command.decision,
            other => panic!("no decision in {other:?}"),
        }
    }
}

fn pipeline_id() -> PipelineId {
    PipelineId(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001))
}

/// The id of the n-th run.
pub(crate) fn run_id(n: u32) -> RunId {
    RunId(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_1000 + u128::from(n)))
}

impl Scene {
    pub fn new() -> Self {
        Self {
            states: BTreeMap::new(),
            plans: Known::default(),
            commands: 0,
            now: Timestamp(1_000_000),
            agent: false,
        }
    }

    /// With a pipeline of these checkpoints.
    pub fn with_pipeline(mut self, checkpoints: &[CheckpointDefinition]) -> Self {
        self.run(create("Pipeline"));
        for definition in checkpoints {
            self.run(add(definition.clone()));
        }
        self
    }

    /// With its first run started.
    pub fn with_run(mut self) -> Self {
        self.run(start(1));
        self
    }

    pub fn as_agent(&mut self) -> &mut Self {
        self.agent = true;
        self
    }

    pub fn pipeline(&self) -> &PipelineState {
        match self.states.get(&StreamId::Pipeline(pipeline_id())) {
            Some(State::Pipeline(state)) => state,
            other => panic!("no pipeline: {other:?}"),
        }
    }

    pub fn state(&self, n: u32) -> &RunState {
        match self.states.get(&StreamId::Run(run_id(n))) {
            Some(State::Run(state)) => state,
            other => panic!("no run: {other:?}"),
        }
    }

    /// The number that a run extends.
    pub fn extends(&self, n: u32) -> Option<u32> {
        match self.state(n).origin.as_ref() {
            Some(Origin::Pipeline { previous, .. }) => previous.map(|(_, number)| number),
            Some(Origin::File { .. }) | None => None,
        }
    }

    /// The status of a run and of its current execution.
    pub fn status(&self, n: u32) -> String {
        let state = self.state(n);
        let status = state.status.name();
        state
            .current()
            .map_or_else(|| status.to_owned(), |(x, e)| format!("{status}: {x} {}", e.state.name()))
    }

    /// Decides a command and, if it is not refused, makes its events real.
    pub fn try_run(&mut self, when: When) -> Result<Decision, Rejection> {
        self.commands += 1;
        self.now = self.now.plus_seconds(1);
        let id =
            CommandId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(self.commands)));
        let actor = if self.agent { Actor::agent("model") } else { Actor::person("ann") };
        let envelope = Envelope { id, at: self.now, actor, command: when.0 };
        let mut world = World::default();
        let empty: BTreeMap<StreamId, State> = BTreeMap::new();
        let mut fresh = empty;
        loop {
            let wanted: Vec<StreamId> = needs(&envelope.command, &world);
            let Some(stream) = wanted.first().copied() else { break };
            if let Some(state) = self.states.get(&stream) {
                world.insert(stream, state);
            } else {
                fresh.insert(stream, State::empty(stream));
                // The world borrows, so an empty state is leaked: this is a test.
                world.insert(stream, Box::leak(Box::new(State::empty(stream))));
            }
        }
        let decision = decide(&world, &envelope, Facts { evaluator: &Lenient, plans: &self.plans })?;
        for (digest, bytes) in &decision.blobs {
            if let Ok(plan) = serde_json::from_slice::<Plan>(bytes)
                && let Ok(loaded) = plan.load()
            {
                self.plans.0.insert(*digest, Arc::new(loaded));
            }
        }
        self.states.extend(decision.after.clone());
        Ok(decision)
    }

    /// Runs a command that must not be refused.
    pub fn run(&mut self, when: When) -> Decision {
        let shown = format!("{:?}", when.0);
        self.try_run(when).unwrap_or_else(|rejection| panic!("{shown} was refused: {rejection}"))
    }

    /// When this is asked, then that happens.
    pub fn check(&mut self, when: When, then: Expect) {
        then.assert_eq(&match self.try_run(when) {
            Ok(decision) if decision.writes.is_empty() => "in effect already\n".to_owned(),
            Ok(decision) => show(&decision),
            Err(rejection) => format!("refused ({}): {rejection}\n", rejection.code()),
        });
    }

    /// When this is asked, it is refused with a code.
    pub fn check_code(&mut self, when: When, code: &str) {
        let refused = self.try_run(when).err().map(|rejection| rejection.code());
        assert_eq!(refused, Some(code));
    }

    /// When this is asked, these faults are named.
    pub fn check_faults(&mut self, when: When, then: Expect) {
        let mut shown = String::new();
        match self.try_run(when) {
            Err(Rejection::Invalid(faults)) => {
                for fault in faults {
                    writeln!(shown, "{}: {}", fault.pointer, fault.message).expect("text grows");
                }
            }
            other => panic!("expected faults: {other:?}"),
        }
        then.assert_eq(&shown);
    }

    /// Lets the next timer of run 1 fire in time.
    pub fn fire(&mut self) -> When {
        let (timer, at) = self.state(1).next_timer().expect("a timer");
        self.now = at;
        When(Command::Run(run_id(1), RunCommand::FireTimer(timer)))
    }
}

/// The events of a decision, a line each, in the order of streams and time.
fn show(decision: &Decision) -> String {
    let mut text = String::new();
    for write in &decision.writes {
        for event in &write.events {
            let line = match event {
                Event::Run(event) => format!("run R{}: {}", short(write.stream.uuid()), show_run(event)),
                Event::Pipeline(event) => format!("pipeline: {}", show_pipeline(event)),
                other => format!("{other:?}"),
            };
            writeln!(text, "{line}").expect("text grows");
        }
    }
    text
}

fn short(id: Uuid) -> u128 {
    id.as_u128() & 0xfff
}

fn show_pipeline(event: &PipelineEvent) -> String {
    match event {
        PipelineEvent::RunOpened { run, number } => {
            format!("RunOpened {{ run: R{}, number: {number} }}", short(run.0))
        }
        PipelineEvent::RunClosed { run } => format!("RunClosed {{ run: R{} }}", short(run.0)),
        PipelineEvent::RunReopened { run } => format!("RunReopened {{ run: R{} }}", short(run.0)),
        PipelineEvent::RollbackUndone { .. } => "RollbackUndone".to_owned(),
        PipelineEvent::RolledBack(record) => {
            let kept =
                record.checkpoint.map_or(", nothing kept".to_owned(), |(_, p)| format!(" keeping {p}"));
            let removed: Vec<String> = record.removed_runs.iter().map(|(_, n)| format!(" v{n}")).collect();
            let removing =
                if removed.is_empty() { String::new() } else { format!(", removing{}", removed.concat()) };
            format!(
                "RolledBack to R{}{kept}{removing}, by {:?}",
                short(record.target.0.0),
                record.triggered_by
            )
        }
        other => format!("{other:?}"),
    }
}

fn show_run(event: &RunEvent) -> String {
    match event {
        RunEvent::Made { origin: Origin::Pipeline { number, definition_version, previous, .. }, .. } => {
            let extends = previous.map_or(String::new(), |(_, n)| format!(", extends v{n}"));
            format!("Made {{ v{number} of definition {definition_version}{extends} }}")
        }
        RunEvent::ExecutionMade { x, name, position, place, .. } => {
            format!("ExecutionMade {x} {} at {position}", name.as_deref().unwrap_or(&place.step.0))
        }
        RunEvent::AttemptBegan { x, revision, attempt, opening, .. } => {
            let opening = match opening {
                Opening::Work => "work",
                Opening::Form(_) => "form",
                Opening::Input(_) => "input",
            };
            format!("AttemptBegan {x} revision {revision} attempt {attempt} {opening}")
        }
        RunEvent::FormSubmitted { x, fields, .. } => {
            format!("FormSubmitted {x} {}", Value::Object(fields.clone()))
        }
        RunEvent::ArtifactMade { x, made } => {
            format!("ArtifactMade {x} {}.{} ({} bytes)", made.name, made.format, made.size)
        }
        RunEvent::ArtifactPromoted { x, .. } => format!("ArtifactPromoted {x} a"),
        RunEvent::RevisionAsked { x, feedback, .. } => format!("RevisionAsked {x} {feedback}"),
        RunEvent::ExecutionFailed { x, failure, .. } => format!("ExecutionFailed {x} {}", failure.error_type),
        RunEvent::AttemptFailed { x, failure, .. } => format!("AttemptFailed {x} {}", failure.error_type),
        RunEvent::Paused { reason } => format!("Paused {reason:?}"),
        RunEvent::Rewound { keep, .. } => format!("Rewound keeping {keep:?}"),
        other => {
            let shown = format!("{other:?}");
            let name = shown.split([' ', '{']).next().unwrap_or_default().to_owned();
            crate::project::execution_of(other).map_or(name.clone(), |x| format!("{name} {x}"))
        }
    }
}

fn definition(name: &str, execution: &Value, start: bool, complete: bool) -> CheckpointDefinition {
    serde_json::from_value(json!({
        "checkpoint_name": name,
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": execution,
        "human_interaction": {
            "requires_approval_to_start": start,
            "requires_approval_to_complete": complete,
            "max_revision_iterations": 2
        },
        "output": {"artifacts": [], "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "do it",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt"
            }
        }
    }))
    .expect("a definition")
}

fn form_execution(field: &Value, saved: bool) -> Value {
    let mut config =
        json!({"instructions": "fill it in", "input_fields": [field], "save_as_artifact": saved});
    if saved {
        config["artifact_name"] = json!("a");
        config["artifact_format"] = json!("json");
    }
    json!({
        "mode": "human_only",
        "human_only_config": config,
        "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
        "timeout_config": {"enabled": false}
    })
}

/// A form that begins by itself and is approved at the end.
pub(crate) fn form(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "answer", "type": "text", "label": "Answer", "required": true});
    definition(name, &form_execution(&field, true), false, true)
}

/// A form with approvals at both ends.
pub(crate) fn human(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "answer", "type": "text", "label": "Answer", "required": true});
    definition(name, &form_execution(&field, true), true, true)
}

/// A form with a file.
pub(crate) fn upload(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "doc", "type": "file", "label": "Document", "required": true});
    definition(name, &form_execution(&field, false), false, true)
}

/// A script without approvals.
pub(crate) fn script(name: &str, retries: u32) -> CheckpointDefinition {
    let execution = json!({
        "mode": "script",
        "script_config": {"script_path": "a.py", "requires_user_input": false},
        "retry_config": {"max_auto_retries": retries, "on_failure": "pause_pipeline"},
        "timeout_config": {"enabled": false}
    });
    definition(name, &execution, false, false)
}

pub(crate) fn create(name: &str) -> When {
    let command = CreatePipeline { name: name.into(), description: None, config: PipelineConfig::default() };
    When(Command::Pipeline(pipeline_id(), PipelineCommand::Create(command)))
}

pub(crate) fn add(definition: CheckpointDefinition) -> When {
    let command = AddCheckpoint { definition, position: None };
    When(Command::Pipeline(pipeline_id(), PipelineCommand::AddCheckpoint(command)))
}

pub(crate) fn start(n: u32) -> When {
    When(Command::StartRun(StartRun { run: run_id(n), source: Source::Pipeline(pipeline_id()), start: true }))
}

fn on_run(n: u32, command: RunCommand) -> When {
    When(Command::Run(run_id(n), command))
}

pub(crate) fn start_step(n: u32) -> When {
    on_run(n, RunCommand::StartStep)
}

pub(crate) fn approve_start(n: u32, x: u32) -> When {
    on_run(n, RunCommand::ApproveStart(Decide::on(ExecNo(x))))
}

pub(crate) fn reject_start(n: u32, x: u32) -> When {
    on_run(n, RunCommand::RejectStart(Decide::on(ExecNo(x))))
}

pub(crate) fn submit(n: u32, x: u32, fields: Value) -> When {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    on_run(n, RunCommand::SubmitForm(SubmitForm { x: ExecNo(x), fields, files: Vec::new() }))
}

/// Approves what is shown now.
pub(crate) fn approve(scene: &Scene, n: u32, x: u32) -> When {
    let state = scene.state(n);
    let gate = state.execution(ExecNo(x)).and_then(|e| e.state.gate());
    let digest = gate.and_then(|gate| state.gates.get(&gate)).and_then(|gate| gate.digest);
    let decision = Decide { digest, ..Decide::on(ExecNo(x)) };
    on_run(n, RunCommand::ApproveComplete(ApproveComplete { decision, edits: Vec::new() }))
}

pub(crate) fn revise(n: u32, x: u32, feedback: &str) -> When {
    let decision = Decide { feedback: Some(feedback.into()), ..Decide::on(ExecNo(x)) };
    on_run(n, RunCommand::RequestRevision(decision))
}

pub(crate) fn pause(n: u32) -> When {
    on_run(n, RunCommand::Pause)
}

pub(crate) fn resume(n: u32) -> When {
    on_run(n, RunCommand::Resume)
}

pub(crate) fn abort(n: u32) -> When {
    on_run(n, RunCommand::Abort(None))
}

pub(crate) fn retry(n: u32, x: u32) -> When {
    on_run(n, RunCommand::Retry(ExecNo(x)))
}

/// The work that an execution owes is done.
pub(crate) fn outcome_done(scene: &Scene, n: u32, x: u32) -> When {
    outcome(scene, n, x, Outcome::Done { output: None, artifacts: Vec::new(), usage: Usage::default() })
}

/// The work that an execution owes failed.
pub(crate) fn outcome_failed(scene: &Scene, n: u32, x: u32) -> When {
    let failure = Failure::new("script_error", "it broke");
    outcome(scene, n, x, Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() })
}

fn outcome(scene: &Scene, n: u32, x: u32, outcome: Outcome) -> When {
    let effect = scene.state(n).owed.keys().find(|effect| effect.x == ExecNo(x)).copied().expect("owed work");
    on_run(n, RunCommand::RecordOutcome(RecordOutcome { effect, outcome }))
}

/// Fills in, starts and approves until the run waits for work or ends.
pub(crate) fn approve_all(scene: &mut Scene, n: u32) {
    for _ in 0..50 {
        let Some((x, execution)) = scene.state(n).current() else { return };
        let when = match execution.state {
            ExecutionState::Pending if execution.place.step.0.is_empty() => return,
            ExecutionState::Pending => match scene.state(n).owed.is_empty() && is_form(scene, execution.body)
            {
                true => start_step(n),
                false => return,
            },
            ExecutionState::AwaitingStart(_) => approve_start(n, x.0),
            ExecutionState::Working(crate::state::run::Stage::Form(_)) => {
                submit(n, x.0, json!({"answer": "yes"}))
            }
            ExecutionState::AwaitingComplete(_) => approve(scene, n, x.0),
            ExecutionState::Working(_) | ExecutionState::Completed | ExecutionState::Failed => return,
        };
        scene.run(when);
    }
}

fn is_form(scene: &Scene, body: Option<Digest>) -> bool {
    let body = body.and_then(|digest| scene.pipeline().bodies.get(&digest));
    body.is_some_and(|definition| definition.execution.human_only_config.is_some())
}

pub(crate) fn roll_back(n: u32, position: u32) -> When {
    When(Command::RollBack(RollBack {
        level: RollbackType::CheckpointLevel,
        source: run_id(n),
        target: None,
        checkpoint: Target::Position(position),
        reason: None,
    }))
}

pub(crate) fn roll_back_to_run(source: u32, target: u32, position: u32) -> When {
    When(Command::RollBack(RollBack {
        level: RollbackType::RunLevel,
        source: run_id(source),
        target: Some(run_id(target)),
        checkpoint: Target::Position(position),
        reason: None,
    }))
}

/// Undoes the last rollback.
pub(crate) fn undo(scene: &Scene) -> When {
    let rollback = scene.pipeline().rollbacks.last().expect("a rollback").rollback;
    When(Command::UndoRollback { pipeline: pipeline_id(), rollback })
}
