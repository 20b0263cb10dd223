//! What a client does next: mostly what the state of some run asks for, now and then something else.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::commands::roll_back::{RollBack, Target as Goal};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::commands::update_pipeline::UpdatePipeline;
use holdpoint_core::definition::PipelineConfig;
use holdpoint_core::event::{Role, RollbackType};
use holdpoint_core::state::PipelineState;
use holdpoint_core::state::run::{AskKind, Execution, ExecutionState, RunState, RunStatus, Stage};
use holdpoint_core::{
    Answer, Command, Digest, ExecNo, HomeCommand, PipelineCommand, PipelineId, RollbackId, RunCommand, RunId,
    TokenId,
};

use super::numbers::Numbers;
use super::plans;

/// A command that is to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// What people would call it.
    pub op: &'static str,
    /// The command; a form is filled in when it is sent.
    pub command: Command,
}

impl Request {
    fn new(op: &'static str, command: Command) -> Self {
        Self { op, command }
    }

    fn on(op: &'static str, run: RunId, command: RunCommand) -> Self {
        Self::new(op, Command::Run(run, command))
    }
}

/// What the clients of a process know of its home. The newest come last, and old ones are forgotten.
#[derive(Debug, Default)]
pub struct Known {
    runs: Mutex<VecDeque<RunId>>,
    pipelines: Mutex<VecDeque<PipelineId>>,
    tokens: Mutex<VecDeque<TokenId>>,
}

/// How many of a kind are remembered.
const REMEMBERED: usize = 40;

fn remember<T>(known: &Mutex<VecDeque<T>>, new: T) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.push_back(new);
    if known.len() > REMEMBERED {
        known.pop_front();
    }
}

fn any<T: Copy>(known: &Mutex<VecDeque<T>>, numbers: &mut Numbers) -> Option<T> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    numbers.pick(known.make_contiguous())
}

impl Known {
    /// Remembers a run.
    pub fn run(&self, run: RunId) {
        remember(&self.runs, run);
    }

    /// Remembers a pipeline.
    pub fn pipeline(&self, pipeline: PipelineId) {
        remember(&self.pipelines, pipeline);
    }

    /// Remembers a token.
    pub fn token(&self, token: TokenId) {
        remember(&self.tokens, token);
    }

    /// Some run.
    pub fn any_run(&self, numbers: &mut Numbers) -> Option<RunId> {
        any(&self.runs, numbers)
    }

    /// Some pipeline.
    pub fn any_pipeline(&self, numbers: &mut Numbers) -> Option<PipelineId> {
        any(&self.pipelines, numbers)
    }

    /// Some token.
    pub fn any_token(&self, numbers: &mut Numbers) -> Option<TokenId> {
        any(&self.tokens, numbers)
    }
}

/// Starts a plan as a run of its own.
pub fn start_plan(numbers: &mut Numbers, run: RunId) -> Request {
    let plan = plans::plan(numbers).into();
    let source = Source::Plan { plan, title: "load".into(), session: None };
    Request::new("start_plan", Command::StartRun(StartRun { run, source, start: numbers.percent(95) }))
}

/// Makes a pipeline with checkpoints and starts its first run.
pub fn new_pipeline(numbers: &mut Numbers, pipeline: PipelineId, run: RunId) -> Vec<Request> {
    let config = PipelineConfig { auto_advance: numbers.percent(50), budgets: None };
    let create = CreatePipeline { name: "load".into(), description: None, config };
    let mut requests =
        vec![Request::new("create", Command::Pipeline(pipeline, PipelineCommand::Create(create)))];
    for n in 0..=numbers.below(3) {
        let definition = plans::checkpoint(numbers, &format!("C{n}"));
        let add = PipelineCommand::AddCheckpoint(AddCheckpoint { definition, position: None });
        requests.push(Request::new("add_checkpoint", Command::Pipeline(pipeline, add)));
    }
    requests.push(start_run(pipeline, run));
    requests
}

/// Starts a run of a pipeline.
pub fn start_run(pipeline: PipelineId, run: RunId) -> Request {
    let source = Source::Pipeline(pipeline);
    Request::new("start_run", Command::StartRun(StartRun { run, source, start: true }))
}

/// Makes a token, or withdraws one.
pub fn token(numbers: &mut Numbers, known: &Known) -> Request {
    if numbers.percent(30)
        && let Some(token) = known.any_token(numbers)
    {
        return Request::new("revoke_token", Command::Home(HomeCommand::RevokeToken(token)));
    }
    let secret = Digest::of(&numbers.next().to_be_bytes());
    let issue = IssueToken::new("load", Role::Operator, secret);
    Request::new("issue_token", Command::Home(HomeCommand::IssueToken(issue)))
}

/// Goes back within a run, or to an earlier one.
pub fn roll_back(numbers: &mut Numbers, run: RunId, state: &RunState, pipeline: &PipelineState) -> Request {
    let earlier = pipeline.runs.values().find(|entry| entry.removed.is_none()).map(|entry| entry.run);
    let target = earlier.filter(|earlier| *earlier != run && numbers.percent(50));
    let level = if target.is_some() { RollbackType::RunLevel } else { RollbackType::CheckpointLevel };
    let done = state.executions().filter(|(_, e)| e.state == ExecutionState::Completed);
    let done: Vec<u32> = done.map(|(_, e)| e.position).collect();
    let position = numbers.pick(&done).unwrap_or_else(|| numbers.below(3) as u32);
    let checkpoint = Goal::Position(position);
    let command = RollBack { level, source: run, target, checkpoint, reason: None };
    Request::new("roll_back", Command::RollBack(command))
}

/// Turns the order round, puts a pipeline away, brings it back or gives it another name.
pub fn redefine(numbers: &mut Numbers, id: PipelineId, pipeline: &PipelineState) -> Request {
    let (op, command) = match numbers.below(4) {
        0 => ("reorder", PipelineCommand::Reorder(pipeline.order.iter().rev().copied().collect())),
        1 => ("delete", PipelineCommand::Delete),
        2 => ("restore", PipelineCommand::Restore),
        _ => {
            let name = Some(format!("load {}", numbers.below(100)).into());
            ("rename", PipelineCommand::Update(UpdatePipeline { name, ..UpdatePipeline::default() }))
        }
    };
    Request::new(op, Command::Pipeline(id, command))
}

/// Undoes a rollback.
pub fn undo(pipeline: PipelineId, rollback: RollbackId) -> Request {
    Request::new("undo", Command::UndoRollback { pipeline, rollback })
}

/// What a run waits for, or something that disturbs it; nothing, when it is to be left alone.
pub fn act(numbers: &mut Numbers, run: RunId, state: &RunState) -> Option<Request> {
    if let Some(disturb) = disturb(numbers, run, state) {
        return Some(disturb);
    }
    match state.status {
        RunStatus::NotStarted => return Some(Request::on("start", run, RunCommand::Begin)),
        RunStatus::Paused if state.failed == 0 => {
            return Some(Request::on("resume", run, RunCommand::Resume { decides: true, max: None }));
        }
        RunStatus::InProgress | RunStatus::Paused => {}
        RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => return None,
    }
    let mut choices = state.gates.iter().filter(|(_, gate)| gate.ask.kind() == AskKind::Choice);
    if let Some((id, gate)) = choices.next_back() {
        let options = holdpoint_core::asks::options(&gate.ask, state.pipeline().is_some());
        let option = numbers.pick(&options.iter().map(String::as_str).collect::<Vec<_>>())?;
        let answer = Answer::new(holdpoint_core::Target::Gate(*id), AskKind::Choice, option);
        let answer = Answer { digest: Some(gate.digest), ..answer };
        return Some(Request::on("answer", run, RunCommand::Answer(answer)));
    }
    let open: Vec<ExecNo> = state.executions().filter(|(_, e)| waits(e)).map(|(x, _)| x).take(8).collect();
    let x = numbers.pick(&open)?;
    on_execution(numbers, run, x, state)
}

fn waits(execution: &Execution) -> bool {
    match execution.state {
        ExecutionState::Working(Stage::Work | Stage::Client | Stage::Check | Stage::Retry)
        | ExecutionState::Completed => false,
        ExecutionState::Pending
        | ExecutionState::AwaitingStart
        | ExecutionState::AwaitingComplete
        | ExecutionState::Failed
        | ExecutionState::Working(Stage::Form | Stage::Input | Stage::Guidance | Stage::Budget) => true,
    }
}

/// A little disorder.
fn disturb(numbers: &mut Numbers, run: RunId, state: &RunState) -> Option<Request> {
    let newest = state.executions().next_back().map(|(x, _)| x);
    match (numbers.below(100), newest) {
        (0..=3, _) => Some(Request::on("pause", run, RunCommand::Pause)),
        (4 | 5, _) => Some(Request::on("resume", run, RunCommand::Resume { decides: true, max: None })),
        (6, _) => Some(Request::on("abort", run, RunCommand::Abort(Some("load".into())))),
        (7, _) => Some(Request::on("fail", run, RunCommand::Fail(None))),
        (8..=10, Some(x)) => Some(Request::on("cancel", run, RunCommand::Cancel(x))),
        (11 | 12, Some(x)) => {
            Some(Request::on("note", run, RunCommand::QueueNote { x, text: "look".into() }))
        }
        (13, Some(x)) => {
            // Nobody was ever shown this: it must be refused.
            let answer = Answer::of(x, AskKind::Result, "approve");
            let answer = Answer { digest: Some(Digest::ZERO), ..answer };
            Some(Request::on("approve_unseen", run, RunCommand::Answer(answer)))
        }
        _ => None,
    }
}

fn on_execution(numbers: &mut Numbers, run: RunId, x: ExecNo, state: &RunState) -> Option<Request> {
    let execution = state.execution(x)?;
    let answer = |kind, option| Answer::of(x, kind, option);
    let (op, answer) = match execution.state {
        ExecutionState::Pending => ("start", answer(AskKind::Begin, "start")),
        ExecutionState::AwaitingStart if numbers.percent(10) => {
            ("reject_start", answer(AskKind::Start, "reject"))
        }
        ExecutionState::AwaitingStart => ("approve_start", answer(AskKind::Start, "approve")),
        ExecutionState::Working(Stage::Form) => ("submit", answer(AskKind::Form, "submit")),
        ExecutionState::AwaitingComplete => {
            let digest = Some(state.gates.get(&execution.gate?)?.digest);
            if numbers.percent(20) {
                let feedback = Some("again".into());
                ("revise", Answer { digest, feedback, ..answer(AskKind::Result, "revise") })
            } else {
                ("approve", Answer { digest, ..answer(AskKind::Result, "approve") })
            }
        }
        ExecutionState::Failed => ("retry", answer(AskKind::Failed, "retry")),
        ExecutionState::Working(_) | ExecutionState::Completed => return None,
    };
    Some(Request::on(op, run, RunCommand::Answer(answer)))
}
