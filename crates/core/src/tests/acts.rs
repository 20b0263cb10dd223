//! What somebody may try, sensible or not, as commands for the rules and as orders for the model.

use serde_json::json;

use super::model::Model;
use crate::budget::{Measure, Reached, Scope};
use crate::command::{PipelineCommand, RunCommand};
use crate::commands::record_drift::RecordDrift;
use crate::commands::record_outcome::{Outcome, RecordOutcome};
use crate::event::{Drift, Drifted, Failure, Usage};
use crate::state::run::{EffectId, ExecutionState, Part, RunState, Stage, TimerId, TimerKind};
use crate::testing::{self, Scene, When};
use crate::{Actor, Digest, ExecNo, RollbackId, State, StreamId};

/// How a decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    Fresh,
    Stale,
    Blind,
    Agent,
}

/// What work or a form came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Report,
    Nothing,
    Broken,
    ByAgent,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    StartRun(bool),
    On(u32, On),
    Undo(usize),
    Edit(usize),
    Auto(bool),
    Reverse,
    /// All of the pipeline as it is, or turned round.
    Apply(bool),
    Delete,
    Restore,
    EndArchive(usize),
    Drift(bool),
}

#[derive(Clone, Debug)]
pub(super) enum On {
    StartStep,
    Pause,
    Resume,
    Abort,
    Fail,
    RollBack(usize),
    RollBackTo(u32, usize),
    Timer(bool),
    Step(u32, Step),
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    ApproveStart(Care),
    RejectStart(Care),
    Submit(Made),
    Input(bool),
    Approve(Care),
    Revise(bool),
    Retry,
    Cancel,
    Note,
    Outcome(Made),
    Verdict(bool),
    /// A budget is used up.
    Spent,
    /// It is raised, or the work is stopped.
    Budget(bool),
}

/// A random act before it is known what is there.
pub(super) type Raw = (u8, u8, u8);

/// Turns chance into something that may be tried now: half of the time what is due.
pub(super) fn pick(raw: Raw, scene: &Scene, runs: u32) -> Act {
    let (kind, a, b) = (raw.0 % 64, u32::from(raw.1), u32::from(raw.2));
    let n = if runs == 0 || a % 16 == 15 { runs + 1 } else { 1 + a % runs };
    let known = n <= runs;
    let current = if known { scene.state(n).current().map(|(x, e)| (x.0, e.state)) } else { None };
    let x = match current {
        Some((x, _)) if b % 4 > 0 => x,
        _ => 1 + b / 4 % 6,
    };
    let yes = b & 64 == 0;
    let care = [Care::Fresh, Care::Fresh, Care::Stale, Care::Blind, Care::Agent][(b / 4 % 5) as usize];
    let made = [Made::Report, Made::Report, Made::Nothing, Made::Broken][(b / 4 % 4) as usize];
    let position = (b / 8 % 4) as usize;
    let steps = scene.pipeline().order.len();
    let step = |step: Step| Act::On(n, On::Step(x, step));
    match kind {
        0..=1 => Act::StartRun(b % 4 > 0),
        2..=3 => Act::On(n, On::StartStep),
        4 => step(Step::ApproveStart(care)),
        5 => step(Step::RejectStart(care)),
        6 => step(Step::Submit([Made::Report, Made::Nothing, Made::ByAgent][(b / 4 % 3) as usize])),
        7 => step(Step::Input(yes)),
        8..=9 => step(Step::Approve(care)),
        10..=11 => step(Step::Revise(yes)),
        12..=13 => step(Step::Retry),
        14 => step(Step::Cancel),
        15 => step(Step::Note),
        16..=17 => step(Step::Outcome(made)),
        18 => step(Step::Outcome(Made::Broken)),
        19 => step(Step::Verdict(yes)),
        20 => Act::On(n, On::Timer(!yes)),
        21..=22 => Act::On(n, On::Timer(false)),
        23..=24 => Act::On(n, On::Pause),
        25..=26 => Act::On(n, On::Resume),
        27 => Act::On(n, On::Abort),
        28 => Act::On(n, On::Fail),
        29..=31 => Act::On(n, On::RollBack(position)),
        32..=33 => Act::On(n, On::RollBackTo(1 + a / 16 % runs.max(1), position)),
        34..=36 => {
            Act::Undo((scene.pipeline().rollback_count as usize).saturating_sub(1 + (b % 8 / 6) as usize))
        }
        37 => Act::Edit(position % steps),
        38 => Act::Auto(yes),
        39 if b > 200 => Act::Reverse,
        40 => Act::Delete,
        41 => Act::Restore,
        42 => Act::Apply(b > 200),
        43 if b > 200 => Act::EndArchive((b % 4) as usize),
        44 if b > 200 => Act::Drift(yes),
        45..=46 => step(Step::Spent),
        47 => step(Step::Budget(yes)),
        _ => match current {
            None => Act::StartRun(true),
            Some((x, state)) => due(n, x, state, b),
        },
    }
}

/// What somebody who wants to get on would do.
fn due(n: u32, x: u32, state: ExecutionState, b: u32) -> Act {
    let step = |step: Step| Act::On(n, On::Step(x, step));
    match state {
        ExecutionState::Pending => Act::On(n, On::StartStep),
        ExecutionState::AwaitingStart => step(Step::ApproveStart(Care::Fresh)),
        ExecutionState::Working(at) => match at {
            Stage::Form => step(Step::Submit(Made::Report)),
            Stage::Input | Stage::Guidance => step(Step::Input(true)),
            Stage::Budget => step(Step::Budget(!b.is_multiple_of(4))),
            Stage::Work => step(Step::Outcome(if b.is_multiple_of(4) { Made::Broken } else { Made::Report })),
            Stage::Check => step(Step::Verdict(!b.is_multiple_of(3))),
            Stage::Retry => Act::On(n, On::Timer(false)),
            // No checkpoint is done by a client.
            Stage::Client => Act::On(n, On::Pause),
        },
        ExecutionState::AwaitingComplete if b.is_multiple_of(4) => step(Step::Revise(true)),
        ExecutionState::AwaitingComplete => step(Step::Approve(Care::Fresh)),
        ExecutionState::Completed => Act::On(n, On::Pause),
        ExecutionState::Failed => step(Step::Retry),
    }
}

/// The command for an act, and who gives it.
pub(super) fn command(act: &Act, scene: &mut Scene, model: &Model, runs: u32) -> When {
    scene.actor = Actor::person("ann");
    match act {
        Act::StartRun(true) => testing::start(runs + 1),
        Act::StartRun(false) => testing::start_later(runs + 1),
        Act::Undo(i) => {
            let rollback = nth_rollback(scene, *i);
            When(crate::Command::UndoRollback { pipeline: testing::pipeline_id(), rollback })
        }
        Act::EndArchive(i) => testing::on_pipeline(PipelineCommand::EndArchive(nth_rollback(scene, *i))),
        Act::Drift(found) => {
            let drifted = Drifted { path: "runs/v1/run_info.json".into(), how: Drift::Changed };
            let files = if *found { vec![drifted] } else { Vec::new() };
            testing::on_pipeline(PipelineCommand::RecordDrift(RecordDrift { folder: None, files }))
        }
        Act::Edit(position) => {
            let checkpoint = testing::checkpoint(scene, *position);
            let name = scene.pipeline().definition(checkpoint).map(|d| d.checkpoint_name.clone());
            let definition = model.edited(*position).definition(&name.unwrap_or_default());
            testing::edit(scene, *position, definition)
        }
        Act::Auto(auto) => testing::auto_advance(*auto),
        Act::Reverse => {
            let order = scene.pipeline().order.iter().rev().copied().collect();
            testing::on_pipeline(PipelineCommand::Reorder(order))
        }
        Act::Apply(turned) => testing::apply(testing::described(scene.pipeline(), *turned)),
        Act::Delete => testing::on_pipeline(PipelineCommand::Delete),
        Act::Restore => testing::on_pipeline(PipelineCommand::Restore),
        Act::On(n, on) => on_run(*n, on, scene),
    }
}

fn nth_rollback(scene: &Scene, i: usize) -> RollbackId {
    let rows = scene.pipeline().rollback_rows.iter();
    let found = rows.filter(|(_, row)| row.n as usize == i).map(|(id, _)| *id).next();
    found.unwrap_or(RollbackId(uuid::Uuid::nil()))
}

fn on_run(n: u32, on: &On, scene: &mut Scene) -> When {
    match on {
        On::StartStep => testing::start_step(scene, n),
        On::Pause => testing::pause(n),
        On::Resume => testing::resume(n),
        On::Abort => testing::abort(n),
        On::Fail => testing::fail_run(n),
        On::RollBack(position) => testing::roll_back(n, *position as u32),
        On::RollBackTo(target, position) => testing::roll_back_to_run(n, *target, *position as u32),
        On::Timer(early) => timer(n, *early, scene),
        On::Step(x, step) => on_step(n, *x, step, scene),
    }
}

/// A run's state, if there is one.
pub(super) fn state(scene: &Scene, n: u32) -> Option<&RunState> {
    match scene.states.get(&StreamId::Run(testing::run_id(n)))? {
        State::Run(state) => Some(state),
        State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
    }
}

fn timer(n: u32, early: bool, scene: &mut Scene) -> When {
    scene.actor = Actor::system();
    let set = state(scene, n).and_then(RunState::next_timer);
    let never = TimerId { x: ExecNo(1), revision: 0, attempt: 9, kind: TimerKind::Retry };
    let Some((timer, at)) = set else { return testing::fire(n, never) };
    if !early {
        scene.now = scene.now.max(at);
    } else if scene.now.plus_seconds(1) >= at {
        return testing::fire(n, never);
    }
    testing::fire(n, timer)
}

fn on_step(n: u32, x: u32, step: &Step, scene: &mut Scene) -> When {
    match step {
        Step::ApproveStart(care) => decision(scene, n, x, *care, testing::approve_start(n, x)),
        Step::RejectStart(care) => decision(scene, n, x, *care, testing::reject_start(n, x)),
        Step::Approve(care) => {
            let when = match state(scene, n) {
                Some(_) => testing::approve(scene, n, x),
                None => testing::approve_start(n, x),
            };
            decision(scene, n, x, *care, when)
        }
        Step::Submit(made) => {
            if *made == Made::ByAgent {
                scene.actor = Actor::agent("model");
            }
            let answer = if *made == Made::Nothing { "" } else { "yes" };
            testing::submit(n, x, json!({"answer": answer}))
        }
        Step::Input(full) => {
            let text = if *full { "this one" } else { " " };
            let stage = state(scene, n).and_then(|s| s.execution(ExecNo(x))).map(|e| e.state);
            match stage {
                Some(ExecutionState::Working(Stage::Guidance)) => testing::guide(n, x, "retry", text),
                _ => testing::input(n, x, text),
            }
        }
        Step::Revise(full) => testing::revise(n, x, if *full { "shorter" } else { " " }),
        Step::Retry => testing::retry(n, x),
        Step::Cancel => testing::cancel(n, x),
        Step::Note => testing::note(n, x, "mind the gap"),
        Step::Outcome(made) => outcome(scene, n, x, work(*made)),
        Step::Spent => {
            let reached = Reached { scope: Scope::Pipeline, measure: Measure::Tokens, limit: 10, spent: 15 };
            outcome(scene, n, x, Outcome::OverBudget(reached))
        }
        Step::Budget(raised) => testing::budget(n, x, if *raised { "raise" } else { "stop" }, None),
        Step::Verdict(passed) => {
            let reasons = if *passed { Vec::new() } else { vec!["too short".into()] };
            outcome(scene, n, x, Outcome::Judged { passed: *passed, reasons, usage: Usage::default() })
        }
    }
}

fn work(made: Made) -> Outcome {
    let usage = Usage { calls: 1, ..Usage::default() };
    let artifacts = vec![testing::report("all is well")];
    match made {
        Made::Report | Made::ByAgent => Outcome::done(Some(json!(1)), artifacts, usage),
        Made::Nothing => Outcome::done(None, Vec::new(), usage),
        Made::Broken => {
            Outcome::Failed { failure: Failure::new("script_error", "it broke"), artifacts, usage }
        }
    }
}

/// An outcome of what is owed; where nothing is, of an attempt that may be long over.
fn outcome(scene: &mut Scene, n: u32, x: u32, outcome: Outcome) -> When {
    scene.actor = Actor::system();
    let x = ExecNo(x);
    let owed = state(scene, n).and_then(|state| state.owed.keys().find(|effect| effect.x == x).copied());
    let effect = owed.unwrap_or(EffectId { x, revision: 0, attempt: 1, part: Part::Work });
    testing::on_run(n, RunCommand::RecordOutcome(RecordOutcome { effect, outcome, entries: Vec::new() }))
}

fn decision(scene: &mut Scene, n: u32, x: u32, care: Care, mut when: When) -> When {
    let gate = state(scene, n).and_then(|s| s.execution(ExecNo(x))?.gate);
    let shown = gate.and_then(|gate| Some(state(scene, n)?.gates.get(&gate)?.digest));
    when.decision().digest = match care {
        Care::Fresh | Care::Agent => shown,
        Care::Stale => Some(Digest::of(b"what was there before")),
        Care::Blind => None,
    };
    if care == Care::Agent {
        scene.actor = Actor::agent("model");
    }
    when
}
