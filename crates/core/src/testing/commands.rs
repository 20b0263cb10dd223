//! Commands as tests give them.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::Scene;
use crate::command::{Answer, Command, HomeCommand, PipelineCommand, RunCommand};
use crate::commands::add_checkpoint::AddCheckpoint;
use crate::commands::apply_pipeline::{ApplyCheckpoint, ApplyPipeline};
use crate::commands::create_pipeline::CreatePipeline;
use crate::commands::record_outcome::{Collected, Outcome, RecordOutcome};
use crate::commands::roll_back::{RollBack, Target};
use crate::commands::start_run::{Source, StartRun};
use crate::commands::update_checkpoint::UpdateCheckpoint;
use crate::commands::update_pipeline::UpdatePipeline;
use crate::definition::{CheckpointDefinition, PipelineConfig};
use crate::event::{Entry, Failure, RollbackType, Usage};
use crate::state::PipelineState;
use crate::state::run::{AskKind, EffectId, ExecutionState, Gate, Part};
use crate::{CheckpointId, Digest, ExecNo, PipelineId, Plan, RunId, State, StreamId};

/// A command that a test may still change.
#[derive(Clone, Debug)]
pub(crate) struct When(pub Command);

impl When {
    /// The answer inside.
    pub fn decision(&mut self) -> &mut Answer {
        match &mut self.0 {
            Command::Run(_, RunCommand::Answer(answer)) => answer,
            other => panic!("no answer in {other:?}"),
        }
    }
}

fn answer_of(n: u32, answer: Answer) -> When {
    on_run(n, RunCommand::Answer(answer))
}

pub(crate) fn pipeline_id() -> PipelineId {
    PipelineId(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001))
}

/// The id of the n-th run. Ids of executions are those of their run with a number added, so runs are far apart.
pub(crate) fn run_id(n: u32) -> RunId {
    RunId(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_1000 + (u128::from(n) << 32)))
}

pub(crate) fn create(name: &str) -> When {
    let command = CreatePipeline { name: name.into(), description: None, config: PipelineConfig::default() };
    When(Command::Pipeline(pipeline_id(), PipelineCommand::Create(command)))
}

pub(crate) fn add(definition: CheckpointDefinition) -> When {
    let command = AddCheckpoint { definition, position: None };
    When(Command::Pipeline(pipeline_id(), PipelineCommand::AddCheckpoint(command)))
}

pub(crate) fn apply(command: ApplyPipeline) -> When {
    on_pipeline(PipelineCommand::Apply(command))
}

/// All of a pipeline without references, by names, as it is or turned round.
pub(crate) fn described(pipeline: &PipelineState, turned: bool) -> ApplyPipeline {
    let checkpoints = pipeline.ordered().map(|(_, definition)| ApplyCheckpoint {
        checkpoint: None,
        definition: definition.as_ref().clone(),
        required: Vec::new(),
        outputs: Vec::new(),
    });
    let mut checkpoints: Vec<_> = checkpoints.collect();
    if turned {
        checkpoints.reverse();
    }
    let (name, description) = (pipeline.name.clone(), pipeline.description.clone());
    ApplyPipeline { name, description, config: pipeline.config.clone(), checkpoints }
}

pub(crate) fn start(n: u32) -> When {
    When(Command::StartRun(StartRun { run: run_id(n), source: Source::Pipeline(pipeline_id()), start: true }))
}

pub(crate) fn on_run(n: u32, command: RunCommand) -> When {
    When(Command::Run(run_id(n), command))
}

/// Begins a run that was only made.
pub(crate) fn begin(n: u32) -> When {
    on_run(n, RunCommand::Begin)
}

/// Begins a run that was only made, or starts its step that waits for it, as somebody would who does not look.
pub(crate) fn start_step(scene: &Scene, n: u32) -> When {
    let state = match scene.states.get(&StreamId::Run(run_id(n))) {
        Some(State::Run(state)) => state,
        _ => return begin(n),
    };
    match state.to_start() {
        Some(x) => answer_of(n, Answer::of(x, AskKind::Begin, "start")),
        None => begin(n),
    }
}

pub(crate) fn approve_start(n: u32, x: u32) -> When {
    answer_of(n, Answer::of(ExecNo(x), AskKind::Start, "approve"))
}

pub(crate) fn reject_start(n: u32, x: u32) -> When {
    answer_of(n, Answer::of(ExecNo(x), AskKind::Start, "reject"))
}

pub(crate) fn submit(n: u32, x: u32, fields: Value) -> When {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    answer_of(n, Answer { fields, ..Answer::of(ExecNo(x), AskKind::Form, "submit") })
}

/// Approves what is shown now.
pub(crate) fn approve(scene: &Scene, n: u32, x: u32) -> When {
    let digest = scene.shown(n, x);
    answer_of(n, Answer { digest, ..Answer::of(ExecNo(x), AskKind::Result, "approve") })
}

pub(crate) fn revise(n: u32, x: u32, feedback: &str) -> When {
    let feedback = Some(feedback.into());
    answer_of(n, Answer { feedback, ..Answer::of(ExecNo(x), AskKind::Result, "revise") })
}

pub(crate) fn pause(n: u32) -> When {
    on_run(n, RunCommand::Pause)
}

pub(crate) fn resume(n: u32) -> When {
    on_run(n, RunCommand::Resume { decides: false, max: None })
}

pub(crate) fn abort(n: u32) -> When {
    on_run(n, RunCommand::Abort(None))
}

pub(crate) fn retry(n: u32, x: u32) -> When {
    answer_of(n, Answer::of(ExecNo(x), AskKind::Failed, "retry"))
}

/// The work that an execution owes is done.
pub(crate) fn outcome_done(scene: &Scene, n: u32, x: u32) -> When {
    outcome(scene, n, x, Outcome::done(None, Vec::new(), Usage::default()))
}

/// The work that an execution owes failed.
pub(crate) fn outcome_failed(scene: &Scene, n: u32, x: u32) -> When {
    let failure = Failure::new("script_error", "it broke");
    outcome(scene, n, x, Outcome::Failed { failure, artifacts: Vec::new(), usage: Usage::default() })
}

pub(crate) fn outcome(scene: &Scene, n: u32, x: u32, outcome: Outcome) -> When {
    let effect = scene.state(n).owed.keys().find(|effect| effect.x == ExecNo(x)).copied().expect("owed work");
    on_run(n, RunCommand::RecordOutcome(RecordOutcome { effect, outcome, entries: Vec::new() }))
}

/// Fills in, starts and approves until the run waits for work or ends.
pub(crate) fn approve_all(scene: &mut Scene, n: u32) {
    for _ in 0..50 {
        let Some((x, execution)) = scene.state(n).current() else { return };
        let when = match execution.state {
            ExecutionState::Pending if scene.state(n).owed.is_empty() && is_form(scene, execution.body) => {
                start_step(scene, n)
            }
            ExecutionState::AwaitingStart => approve_start(n, x.0),
            ExecutionState::Working(crate::state::run::Stage::Form) => {
                submit(n, x.0, json!({"answer": "yes"}))
            }
            ExecutionState::AwaitingComplete => approve(scene, n, x.0),
            ExecutionState::Pending
            | ExecutionState::Working(_)
            | ExecutionState::Completed
            | ExecutionState::Failed => return,
        };
        scene.run(when);
    }
}

fn is_form(scene: &Scene, body: Option<Digest>) -> bool {
    let body = body.and_then(|digest| scene.pipeline().bodies.get(&digest));
    body.is_some_and(|compiled| compiled.body().form().is_some())
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

/// The time of the last rollback's archive is over.
pub(crate) fn end_archive(scene: &Scene) -> When {
    let rollback = scene.pipeline().rollbacks.last().expect("a rollback").rollback;
    on_pipeline(PipelineCommand::EndArchive(rollback))
}

/// Makes a run that waits to be started.
pub(crate) fn start_later(n: u32) -> When {
    let source = Source::Pipeline(pipeline_id());
    When(Command::StartRun(StartRun { run: run_id(n), source, start: false }))
}

/// Makes a run of a plan.
pub(crate) fn start_plan(n: u32, plan: &Arc<Plan>) -> When {
    let source = Source::Plan { plan: plan.clone(), title: "Plan".into(), session: None };
    When(Command::StartRun(StartRun { run: run_id(n), source, start: true }))
}

pub(crate) fn on_pipeline(command: PipelineCommand) -> When {
    When(Command::Pipeline(pipeline_id(), command))
}

pub(crate) fn on_home(command: HomeCommand) -> When {
    When(Command::Home(command))
}

/// The id of the checkpoint at a position.
pub(crate) fn checkpoint(scene: &Scene, position: usize) -> CheckpointId {
    scene.pipeline().order[position]
}

pub(crate) fn edit(scene: &Scene, position: usize, definition: CheckpointDefinition) -> When {
    let checkpoint = checkpoint(scene, position);
    on_pipeline(PipelineCommand::UpdateCheckpoint(UpdateCheckpoint { checkpoint, definition }))
}

pub(crate) fn auto_advance(auto_advance: bool) -> When {
    let config = Some(PipelineConfig { auto_advance, budgets: None });
    on_pipeline(PipelineCommand::Update(UpdatePipeline { config, ..UpdatePipeline::default() }))
}

pub(crate) fn fail_run(n: u32) -> When {
    on_run(n, RunCommand::Fail(Some("enough".into())))
}

pub(crate) fn cancel(n: u32, x: u32) -> When {
    on_run(n, RunCommand::Cancel(ExecNo(x)))
}

pub(crate) fn input(n: u32, x: u32, text: &str) -> When {
    let feedback = Some(text.into());
    answer_of(n, Answer { feedback, ..Answer::of(ExecNo(x), AskKind::Input, "submit") })
}

/// Says what to do about a failed check.
pub(crate) fn guide(n: u32, x: u32, option: &str, text: &str) -> When {
    let feedback = (!text.is_empty()).then(|| text.into());
    answer_of(n, Answer { feedback, ..Answer::of(ExecNo(x), AskKind::Guidance, option) })
}

/// Raises a budget that is used up, or stops the work.
pub(crate) fn budget(n: u32, x: u32, option: &str, amount: Option<&str>) -> When {
    let feedback = amount.map(Into::into);
    answer_of(n, Answer { feedback, ..Answer::of(ExecNo(x), AskKind::Budget, option) })
}

pub(crate) fn note(n: u32, x: u32, text: &str) -> When {
    on_run(n, RunCommand::QueueNote { x: ExecNo(x), text: text.into() })
}

pub(crate) fn fire(n: u32, timer: crate::state::run::TimerId) -> When {
    on_run(n, RunCommand::FireTimer(timer))
}

/// The owed work is done and made the declared report.
pub(crate) fn outcome_report(scene: &Scene, n: u32, x: u32, text: &str) -> When {
    let artifacts = vec![report(text)];
    outcome(scene, n, x, Outcome::done(None, artifacts, Usage::default()))
}

/// A report that was stored.
pub(crate) fn report(text: &str) -> Collected {
    let (name, format) = ("report".into(), "txt".into());
    Collected { name, format, digest: Digest::of(text.as_bytes()), size: text.len() as u64, bytes: None }
}

/// The judge has spoken.
pub(crate) fn verdict(scene: &Scene, n: u32, x: u32, passed: bool) -> When {
    let reasons = if passed { Vec::new() } else { vec!["too short".into()] };
    outcome(scene, n, x, Outcome::Judged { passed, reasons, usage: Usage::default() })
}

pub(crate) fn journal(scene: &Scene, n: u32, x: u32, entries: Vec<Entry>) -> When {
    let execution = scene.state(n).execution(ExecNo(x)).expect("an execution");
    let (revision, attempt) = (execution.revision, execution.attempt);
    let effect = EffectId { x: ExecNo(x), revision, attempt, part: Part::Work };
    When(Command::WriteJournal { run: run_id(n), execution: execution.id, effect, entries })
}

/// Answers the open gate of a plan's step.
pub(crate) fn answer(scene: &Scene, n: u32, step: &str, option: &str) -> When {
    let mut open = scene.state(n).gates.iter();
    let at = |gate: &Gate| gate.x.is_none() && &*gate.place.step.0 == step;
    let (id, gate) = open.find(|(_, gate)| at(gate)).expect("an open gate");
    let answer = Answer::new(crate::Target::Gate(*id), AskKind::Choice, option);
    answer_of(n, Answer { digest: Some(gate.digest), ..answer })
}
