//! Made-up plans, walked at random to their end: joins wait, loops go round, repeats come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::{cases, invariants};
use crate::event::{Event, RunEvent};
use crate::plan::{Body, Choice, ChoiceAction, ChoiceOption, NodeShape, PlanKind, PlanStep, Task};
use crate::state::run::{ExecutionState, RunStatus, Stage};
use crate::testing::{self, Scene, When};
use crate::{ExecNo, LoadedPlan, Plan, StepId};

/// Chance, taken from a list of bytes and then from a sequence that never ends.
struct Dice {
    bytes: std::vec::IntoIter<u8>,
    seed: u64,
}

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        let next = self.bytes.next().map_or_else(
            || {
                self.seed =
                    self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.seed >> 33) as usize
            },
            usize::from,
        );
        next % sides
    }
}

/// Makes a plan of up to `depth` levels; names are numbers in order of creation.
fn level(
    dice: &mut Dice,
    depth: usize,
    bodies: &mut BTreeMap<StepId, Arc<Body>>,
    names: &mut usize,
) -> Vec<PlanStep> {
    let mut steps: Vec<PlanStep> = Vec::new();
    for i in 0..=dice.roll(5) {
        *names += 1;
        let id = StepId::new(&format!("n{names}"));
        let after: Vec<StepId> =
            steps.iter().filter(|_| dice.roll(5) < 2).map(|step| step.id.clone()).collect();
        let kind = match dice.roll(8) {
            0 if depth > 1 => PlanKind::Group(level(dice, depth - 1, bodies, names)),
            1 if depth > 1 => {
                let times = 1 + dice.roll(3) as u32;
                PlanKind::Loop { body: level(dice, depth - 1, bodies, names), times }
            }
            2..=3 => PlanKind::Gate(choice(dice, &steps[..i], &after, *names)),
            _ => {
                bodies.insert(id.clone(), task(dice));
                PlanKind::Step
            }
        };
        steps.push(PlanStep { name: id.0.clone(), id, after, kind });
    }
    steps
}

fn task(dice: &mut Dice) -> Arc<Body> {
    Arc::new(Body::Task(Task {
        executor: "any".into(),
        args: Value::Null,
        retries: dice.roll(2) as u32,
        retry_delay_seconds: 1,
        approve_start: dice.roll(6) == 0,
        approve_complete: dice.roll(6) == 0,
        max_revisions: 1,
        timeout_seconds: None,
    }))
}

fn choice(dice: &mut Dice, before: &[PlanStep], after: &[StepId], names: usize) -> Choice {
    let option = |label: &str, action| ChoiceOption { label: label.into(), action };
    let mut options = vec![option("on", ChoiceAction::Continue)];
    // What stands before: the predecessors and theirs.
    let mut ways: BTreeSet<&StepId> = after.iter().collect();
    for step in before.iter().rev().filter(|step| ways.contains(&step.id)).collect::<Vec<_>>() {
        ways.extend(&step.after);
    }
    let ways: Vec<&StepId> = ways.into_iter().collect();
    if !ways.is_empty() {
        options.push(option("again", ChoiceAction::Repeat(ways[dice.roll(ways.len())].clone())));
    }
    let skipped = (0..=dice.roll(2)).map(|_| StepId::new(&format!("n{}", 1 + dice.roll(names)))).collect();
    options.push(option("without", ChoiceAction::Skip(skipped)));
    if dice.roll(6) == 0 {
        options.push(option("stop", ChoiceAction::Abort));
    }
    Choice { prompt: "Good?".into(), options }
}

/// Follows what happens to every node, from events alone.
struct Tracker<'p> {
    plan: &'p LoadedPlan,
    /// The round that each container is in.
    rounds: BTreeMap<usize, u32>,
    entered: BTreeMap<(Vec<u32>, usize), u32>,
    skipped: BTreeMap<(Vec<u32>, usize), u32>,
    again: BTreeMap<(Vec<u32>, usize), u32>,
    done: BTreeSet<(Vec<u32>, usize)>,
    left_out: BTreeSet<StepId>,
    places: BTreeMap<ExecNo, usize>,
}

impl<'p> Tracker<'p> {
    fn new(plan: &'p LoadedPlan) -> Self {
        Self {
            plan,
            rounds: BTreeMap::new(),
            entered: BTreeMap::new(),
            skipped: BTreeMap::new(),
            again: BTreeMap::new(),
            done: BTreeSet::new(),
            left_out: BTreeSet::new(),
            places: BTreeMap::new(),
        }
    }

    fn node(&self, step: &StepId) -> usize {
        self.plan.find(step).expect("a node of the plan")
    }

    /// The rounds of everything around a node, innermost first.
    fn around(&self, node: usize) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = self.plan.nodes[node].parent;
        while let Some(parent) = at {
            path.push(self.rounds[&parent]);
            at = self.plan.nodes[parent].parent;
        }
        path
    }

    fn enters(&mut self, node: usize, skipped: bool) {
        let (info, path) = (&self.plan.nodes[node], self.around(node));
        assert_eq!(self.left_out.contains(&info.id), skipped, "{}", info.id);
        for before in (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].next.contains(&node)) {
            let id = &self.plan.nodes[before].id;
            assert!(self.done.contains(&(path.clone(), before)), "{} begins before {id} is done", info.id);
        }
        let counts = if skipped { &mut self.skipped } else { &mut self.entered };
        *counts.entry((path, node)).or_default() += 1;
    }

    fn is_done(&mut self, node: usize) {
        self.done.insert((self.around(node), node));
    }

    fn see(&mut self, event: &RunEvent, gate: Option<usize>) {
        match event {
            RunEvent::ExecutionMade { x, place, .. } => {
                let node = self.node(&place.step);
                self.places.insert(*x, node);
                self.enters(node, false);
            }
            RunEvent::GateAsked { place, .. } => self.enters(self.node(&place.step), false),
            RunEvent::StepSkipped { place } => {
                let node = self.node(&place.step);
                self.enters(node, true);
                self.is_done(node);
            }
            RunEvent::RoundBegan { step, iteration, .. } => {
                let node = self.node(step);
                if *iteration == 1 {
                    self.enters(node, false);
                }
                self.rounds.insert(node, *iteration);
                // A container that is visited again begins with nothing done inside.
                let mut outer = vec![*iteration];
                outer.extend(self.around(node));
                let inside = |n: usize| self.plan.nodes[n].parent == Some(node);
                self.done.retain(|(path, n)| !(inside(*n) && *path == outer));
            }
            RunEvent::ExecutionCompleted { x, .. } => self.is_done(self.places[x]),
            RunEvent::RoundsEnded { place } => self.is_done(self.node(&place.step)),
            RunEvent::GateAnswered { .. } => self.is_done(gate.expect("a gate of the plan")),
            RunEvent::SkipsAdded { steps, .. } => self.left_out.extend(steps.iter().cloned()),
            RunEvent::Repeated { place, steps } => {
                let path = self.around(self.node(&place.step));
                for step in steps {
                    let node = self.node(step);
                    *self.again.entry((path.clone(), node)).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Everything was visited as often as the plan and the repeats say.
    fn check_visits(&self) {
        self.check_level(None, &[], 1);
    }

    fn check_level(&self, parent: Option<usize>, path: &[u32], visits: u32) {
        for node in (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].parent == parent) {
            let count =
                |of: &BTreeMap<(Vec<u32>, usize), u32>| of.get(&(path.to_vec(), node)).copied().unwrap_or(0);
            let (entered, skipped, again) = (count(&self.entered), count(&self.skipped), count(&self.again));
            assert_eq!(entered + skipped, visits + again, "visits to {}", self.plan.nodes[node].id);
            if let NodeShape::Container { times, .. } = &self.plan.nodes[node].kind {
                for iteration in 1..=*times {
                    let inner: Vec<u32> = [iteration].into_iter().chain(path.iter().copied()).collect();
                    self.check_level(Some(node), &inner, entered);
                }
            }
        }
    }
}

/// What can be done next, one of which is picked.
fn next(dice: &mut Dice, scene: &mut Scene, repeats: u32) -> Option<When> {
    let state = scene.state(1);
    if state.status == RunStatus::InProgress && dice.roll(25) == 0 {
        return Some(if state.pause_requested && state.failed == 0 {
            testing::resume(1)
        } else {
            testing::pause(1)
        });
    }
    let mut possible: Vec<When> = Vec::new();
    if state.status == RunStatus::Paused && state.failed == 0 {
        possible.push(testing::resume(1));
    }
    let moving = state.status == RunStatus::InProgress;
    for (x, execution) in state.executions.iter().filter(|(_, e)| e.state != ExecutionState::Completed) {
        match execution.state {
            ExecutionState::Pending if moving => possible.push(testing::start_step(1)),
            ExecutionState::AwaitingStart(_) if moving && dice.roll(4) == 0 => {
                possible.push(testing::reject_start(1, x.0));
            }
            ExecutionState::AwaitingStart(_) if moving => possible.push(testing::approve_start(1, x.0)),
            ExecutionState::AwaitingComplete(_) if dice.roll(4) == 0 && execution.revision == 0 => {
                possible.push(testing::revise(1, x.0, "shorter"));
            }
            ExecutionState::AwaitingComplete(_) => possible.push(testing::approve(scene, 1, x.0)),
            ExecutionState::Working(Stage::Work) if dice.roll(6) == 0 => {
                possible.push(testing::outcome_failed(scene, 1, x.0));
            }
            ExecutionState::Working(Stage::Work) => possible.push(testing::outcome_done(scene, 1, x.0)),
            ExecutionState::Failed => possible.push(testing::retry(1, x.0)),
            _ => {}
        }
    }
    for (_, gate) in state.gates.iter().filter(|_| moving) {
        let Some((place, choice)) = &gate.choice else { continue };
        let option = &choice.options[dice.roll(choice.options.len())].label;
        let option = if &**option == "again" && repeats == 0 { "on" } else { option };
        possible.push(testing::answer(scene, 1, &place.step.0, option));
    }
    let timer = scene.state(1).next_timer();
    if let Some((timer, at)) = timer
        && (possible.is_empty() || dice.roll(3) == 0)
    {
        scene.now = scene.now.max(at);
        return Some(testing::fire(1, timer));
    }
    if possible.is_empty() { None } else { Some(possible.swap_remove(dice.roll(possible.len()))) }
}

/// Walks a run of a plan to its end.
fn walk(plan: &Arc<Plan>, dice: &mut Dice) {
    let loaded = plan.load().expect("a plan that can run");
    let mut tracker = Tracker::new(&loaded);
    let mut scene = Scene::new();
    let mut when = testing::start_plan(1, plan);
    let mut repeats = 4;
    for tried in 0.. {
        assert!(tried < 20_000, "the run does not end");
        let gate = match &when.0 {
            crate::Command::Run(_, crate::RunCommand::AnswerGate(answer)) => {
                let open = scene.state(1).gates.get(&answer.gate).and_then(|gate| gate.choice.as_ref());
                open.map(|(place, _)| tracker.node(&place.step))
            }
            _ => None,
        };
        match scene.try_run(when.clone()) {
            Ok(decision) => {
                for event in decision.writes.iter().flat_map(|write| &write.events) {
                    let Event::Run(event) = event else { continue };
                    tracker.see(event, gate);
                    repeats -= u32::from(matches!(event, RunEvent::Repeated { .. }));
                }
            }
            // The one thing that may be refused here: a step that two gates want repeated at once.
            Err(refused) => assert!(gate.is_some() && refused.code() == "wrong_state", "{when:?}: {refused}"),
        }
        invariants::check(&scene, false);
        let state = scene.state(1);
        if !state.status.is_active() {
            break;
        }
        let status = scene.status(1);
        when = next(dice, &mut scene, repeats).unwrap_or_else(|| panic!("stuck at {status}"));
    }
    let state = scene.state(1);
    if state.status == RunStatus::Completed {
        tracker.check_visits();
        for branch in state.branches.values() {
            assert!(
                branch.joins.is_empty() && branch.rounds.is_empty() && branch.ways.is_empty(),
                "{branch:?}"
            );
            assert!(branch.active.is_empty() && branch.asking.is_empty());
        }
        let mut places: Vec<_> = state.executions.values().map(|e| &e.place).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), state.executions.len(), "every visit has a place of its own");
    } else {
        assert_eq!(state.status, RunStatus::Aborted);
    }
    invariants::check_log(&scene);
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn every_plan_is_walked_to_its_end(
        bytes in prop::collection::vec(any::<u8>(), 10..120),
        chance in prop::collection::vec(any::<u8>(), 0..80),
        seed in any::<u64>(),
    ) {
        let mut bodies = BTreeMap::new();
        let mut dice = Dice { bytes: bytes.into_iter(), seed };
        let mut steps = level(&mut dice, 3, &mut bodies, &mut 0);
        // At least one step has a body, else this would be the plan of a pipeline.
        let (id, after, kind) = (StepId::new("n0"), vec![steps[0].id.clone()], PlanKind::Step);
        bodies.insert(id.clone(), task(&mut dice));
        steps.push(PlanStep { name: id.0.clone(), id, after, kind });
        let plan = Plan { steps, bodies };
        walk(&Arc::new(plan), &mut Dice { bytes: chance.into_iter(), seed });
    }
}
