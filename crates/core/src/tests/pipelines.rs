//! Pipelines under random commands, compared with the model after every one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::acts::{Act, Raw, command, pick};
use super::graph::Fronts;
use super::model::{Answer, At, Model, Status};
use super::spec::{Spec, any_spec};
use super::{cases, invariants};
use crate::state::run::{AskKind, Execution, ExecutionState, Gate, RunState, RunStatus, Stage};
use crate::testing::{Scene, When, run_id, undo};
use crate::{Actor, ArtifactRecordId, ExecNo, ExecutionId, State, StreamId};

/// A scene and its model, side by side.
pub(super) struct Pair {
    pub scene: Scene,
    model: Model,
    /// The fronts of each run's nodes as they were made.
    fronts: BTreeMap<u32, Fronts>,
}

impl Pair {
    pub fn new(steps: Vec<Spec>) -> Self {
        let definitions: Vec<_> =
            steps.iter().enumerate().map(|(i, spec)| spec.definition(&format!("Step {i}"))).collect();
        let (scene, model) = (Scene::new().with_pipeline(&definitions), Model::new(steps));
        Self { scene, model, fronts: BTreeMap::new() }
    }

    fn runs(&self) -> u32 {
        self.model.runs.len() as u32
    }

    /// A command, sensible or not, for what stands now, and who gives it.
    pub fn order(&mut self, raw: Raw) -> (When, Actor) {
        let runs = self.runs();
        let act = pick(raw, &self.scene, runs);
        let when = command(&act, &mut self.scene, &self.model, runs);
        (when, self.scene.actor.clone())
    }

    /// Tries something on both and compares.
    pub fn try_one(&mut self, raw: Raw) -> Act {
        let runs = self.runs();
        let act = pick(raw, &self.scene, runs);
        let when = command(&act, &mut self.scene, &self.model, runs);
        let (log, states) = (self.scene.log.len(), self.scene.states.clone());
        let tried = self.scene.try_run(when);
        let answer = match &tried {
            Err(_) => Answer::Refused,
            Ok(decision) if decision.writes.is_empty() => Answer::InEffect,
            Ok(_) => Answer::Done,
        };
        if answer != Answer::Done {
            assert_eq!(self.scene.log.len(), log, "nothing is written");
            assert_eq!(self.scene.states, states, "nothing changes");
        }
        self.remember(&states);
        let expected = self.model.act(&act);
        assert_eq!(answer, expected, "{act:?}: {:?}", tried.err());
        self.compare(&act);
        act
    }

    /// Remembers the fronts of the nodes that a command made.
    fn remember(&mut self, before: &BTreeMap<StreamId, State>) {
        for n in 1.. {
            let id = StreamId::Run(run_id(n));
            let Some(State::Run(after)) = self.scene.states.get(&id) else { break };
            let nodes = match before.get(&id) {
                Some(State::Run(before)) => before.graph.node_count(),
                _ => 0,
            };
            self.fronts.entry(n).or_default().remember(nodes, after);
        }
    }

    /// P1 and P6, with the branches that rollbacks make.
    fn check_fronts(&self) {
        for (n, fronts) in &self.fronts {
            fronts.check(self.scene.state(*n));
        }
    }

    fn compare(&self, act: &Act) {
        for (n, run) in (1..).zip(&self.model.runs) {
            let state = self.scene.state(n);
            let executions: Vec<_> =
                run.execs.iter().map(|e| (e.x, e.position as u32, e.at, e.attempt, e.revision)).collect();
            let found: Vec<_> = state
                .executions()
                .zip(executions.iter().map(|e| e.2).chain(std::iter::repeat(At::Pending)))
                .map(|((x, e), expected)| (x.0, e.position, at(e.state, expected), e.attempt, e.revision))
                .collect();
            let status = (status(state.status), state.pause_requested, state.gone.is_some());
            assert_eq!(status, (run.status, run.pausing, run.gone), "run {n} after {act:?}");
            assert_eq!(found, executions, "run {n} after {act:?}");
        }
    }
}

fn status(status: RunStatus) -> Status {
    match status {
        RunStatus::NotStarted => Status::NotStarted,
        RunStatus::InProgress => Status::InProgress,
        RunStatus::Paused => Status::Paused,
        RunStatus::Completed => Status::Completed,
        RunStatus::Failed => Status::Failed,
        RunStatus::Aborted => Status::Aborted,
    }
}

/// The model's word for a state; why something failed is the model's own affair.
fn at(state: ExecutionState, expected: At) -> At {
    match (state, expected) {
        (ExecutionState::Pending, _) => At::Pending,
        (ExecutionState::AwaitingStart, _) => At::AskStart,
        (ExecutionState::Working(Stage::Form), _) => At::Form,
        (ExecutionState::Working(Stage::Input), _) => At::Input,
        (ExecutionState::Working(Stage::Work | Stage::Client), _) => At::Work,
        (ExecutionState::Working(Stage::Check), _) => At::Check,
        (ExecutionState::Working(Stage::Guidance), _) => At::Help,
        // Whether work or a check waits shows when it goes on.
        (ExecutionState::Working(Stage::Budget), At::Budget(check)) => At::Budget(check),
        (ExecutionState::Working(Stage::Budget), _) => At::Budget(false),
        (ExecutionState::Working(Stage::Retry), _) => At::Wait,
        (ExecutionState::AwaitingComplete, _) => At::AskDone,
        (ExecutionState::Completed, _) => At::Done,
        (ExecutionState::Failed, At::Failed(why)) => At::Failed(why),
        (ExecutionState::Failed, _) => At::Failed(super::model::Why::Other),
    }
}

/// Everything that runs hold, in active views and in archives.
fn holdings(scene: &Scene) -> BTreeMap<(ExecutionId, Option<ArtifactRecordId>), u32> {
    let mut held = BTreeMap::new();
    for state in scene.states.values() {
        let State::Run(run) = state else { continue };
        let undone =
            |e: &Execution| e.rolled_back.is_some() && !run.archived().any(|(_, _, _, a)| a.id == e.id);
        for (_, execution) in run.graph.all_executions().filter(|(_, e)| !undone(e)) {
            let outputs = execution.artifacts.iter().map(|output| Some(output.made.record));
            for item in outputs.chain([None]) {
                *held.entry((execution.id, item)).or_default() += 1;
            }
        }
    }
    held
}

/// What people see of a run, without what a rollback and its undoing may change: what became of work in flight.
fn visible(run: &RunState, cut: bool) -> String {
    let mut executions: Vec<(ExecNo, Execution)> =
        run.executions().map(|(x, e)| (x, e.as_ref().clone())).collect();
    let (mut status, mut failed) = (run.status, run.failed);
    if cut {
        (status, failed) = (RunStatus::Paused, 0);
        for (_, execution) in &mut executions {
            if execution.state.in_flight() || execution.state == ExecutionState::Failed {
                execution.state = ExecutionState::Failed;
                (execution.errors, execution.last_error, execution.times.failed) = (0, None, None);
                execution.gate = None;
            }
        }
    }
    let pause = if cut { None } else { Some((run.pause_requested, run.pause_reason)) };
    let branch = run.graph.branch(run.graph.current());
    let front = branch.map(|b| (&b.front, &b.active, &b.asking, b.head));
    let ended = run.times.completed;
    let asks = |gate: &Gate| !cut || gate.ask.kind() != AskKind::Failed;
    let gates: Vec<_> = run.gates.iter().filter(|(_, gate)| asks(gate)).collect();
    format!("{status:?} {failed} {pause:?} {ended:?} {executions:#?} {gates:#?} {front:#?}")
}

/// Goes back and undoes it at once: nothing is missing in between, and everything is as it was.
fn back_and_forth(scene: &Scene, raw: Raw, runs: u32) {
    let mut there = scene.clone();
    let (n, position) = (1 + u32::from(raw.1) % runs, u32::from(raw.2 % 4));
    let when = if raw.2 % 8 > 3 {
        crate::testing::roll_back(n, position)
    } else {
        crate::testing::roll_back_to_run(n, 1 + u32::from(raw.1 / 16) % runs, position)
    };
    there.actor = crate::Actor::person("ann");
    let before = holdings(&there);
    if there.try_run(when).is_err() {
        return;
    }
    let after = holdings(&there);
    for (item, count) in &before {
        assert_eq!(after.get(item), Some(count), "{item:?} is neither active nor archived");
    }
    let fresh = after.len() - before.len();
    assert!(fresh <= 1, "only the checkpoint that stands at pending again is new");
    there.run(undo(&there));
    for n in 1..=runs {
        let old = scene.state(n);
        let cut = old.executions().any(|(_, e)| e.state.in_flight());
        assert_eq!(visible(there.state(n), cut), visible(old, cut), "run {n}");
    }
    let (old, new) = (scene.pipeline(), there.pipeline());
    assert_eq!((&old.active, &old.runs, old.next_number), (&new.active, &new.runs, new.next_number));
    assert_eq!(holdings(&there), before);
    invariants::check(&there, true);
    invariants::check_log(&there);
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn rules_and_model_agree(
        steps in prop::collection::vec(any_spec(), 1..4),
        tries in prop::collection::vec(any::<Raw>(), 1..90),
    ) {
        let mut pair = Pair::new(steps);
        for raw in tries {
            pair.try_one(raw);
            invariants::check(&pair.scene, true);
        }
        pair.check_fronts();
        invariants::check_log(&pair.scene);
    }

    #[test]
    fn a_rollback_loses_nothing_and_can_be_undone(
        steps in prop::collection::vec(any_spec(), 2..4),
        tries in prop::collection::vec(any::<Raw>(), 20..80),
        back in prop::collection::vec(any::<Raw>(), 3),
    ) {
        let mut pair = Pair::new(steps);
        for raw in tries {
            pair.try_one(raw);
        }
        for raw in back {
            if pair.runs() > 0 {
                back_and_forth(&pair.scene, raw, pair.runs());
            }
        }
    }

    #[test]
    fn events_in_any_order_fold_to_something(
        steps in prop::collection::vec(any_spec(), 1..4),
        tries in prop::collection::vec(any::<Raw>(), 1..60),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..200),
    ) {
        let mut pair = Pair::new(steps);
        for raw in tries {
            pair.try_one(raw);
        }
        let mut events: Vec<_> = super::samples::all();
        super::replay::replay(&pair.scene.log, |_, event, _, _| events.push(event.clone()));
        let actor = crate::Actor::system();
        let command = crate::CommandId(uuid::Uuid::nil());
        let stamp = crate::Stamp { at: crate::Timestamp(7), actor: &actor, command };
        let mut states: Vec<(StreamId, State)> = pair.scene.states.clone().into_iter().collect();
        states.push((StreamId::Run(run_id(99)), State::empty(StreamId::Run(run_id(99)))));
        for (stream, mut state) in states {
            let before = state.clone();
            let chosen: Vec<_> = order.iter().map(|index| index.get(&events).clone()).collect();
            for event in &chosen {
                crate::evolve(&mut state, &stamp, event);
            }
            // A log of another time may lead anywhere; the rows that follow are drawn all the same.
            crate::project(stream, &before, &state, &stamp, &chosen);
        }
    }
}

/// A long walk that is the same every time, for what must be seen at least once.
pub(super) fn walks(mut look: impl FnMut(&Scene)) {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(cases(1), rng);
    let steps = prop::collection::vec(any_spec(), 1..4);
    let tries = prop::collection::vec(any::<Raw>(), 120);
    for _ in 0..150 {
        let mut pair = Pair::new(steps.new_tree(&mut runner).expect("specs").current());
        for raw in tries.new_tree(&mut runner).expect("acts").current() {
            pair.try_one(raw);
        }
        look(&pair.scene);
    }
}

/// Most of what is tried is neither refused nor in effect already, or the properties would prove little.
#[test]
fn random_commands_get_somewhere() {
    let (mut runs, mut done, mut rolled_back) = (0, 0, 0);
    walks(|scene| {
        for state in scene.states.values() {
            if let State::Run(run) = state {
                runs += 1;
                done += u32::from(run.status == RunStatus::Completed);
                rolled_back += run.graph.branches().filter(|(_, branch)| !branch.is_live()).count();
            }
        }
    });
    assert!(done > 100 && rolled_back > 100, "{done} of {runs} runs completed, {rolled_back} rollbacks");
}
