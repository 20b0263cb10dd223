//! Made-up plans, walked at random to their end: joins wait, loops go round, repeats come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::graph::Fronts;
use super::{cases, invariants};
use crate::event::{Event, Place, RunEvent};
use crate::plan::body::{Approval, Policy};
use crate::plan::{
    Body, Choice, ChoiceAction, ChoiceOption, Count, Loop, NodeShape, Over, PlanKind, PlanStep,
};
use crate::state::run::{Ask, ExecutionState, RunStatus, Stage};
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
                PlanKind::Loop(Loop::times(level(dice, depth - 1, bodies, names), times))
            }
            2..=3 => PlanKind::Gate(choice(dice, &steps[..i], &after, *names)),
            _ => {
                bodies.insert(id.clone(), task(dice));
                PlanKind::Step
            }
        };
        steps.push(PlanStep::new(id, after, kind));
    }
    steps
}

fn task(dice: &mut Dice) -> Arc<Body> {
    let policy = Policy {
        max_attempts: 1 + dice.roll(2) as u32,
        retry_delay_seconds: 1,
        approve_start: Approval::when(dice.roll(6) == 0),
        approve_complete: Approval::when(dice.roll(6) == 0),
        max_revisions: 1,
        ..Policy::default()
    };
    Arc::new(Body { policy, ..Body::command(["any"]) })
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
    if dice.roll(4) == 0 {
        options.push(option("later", ChoiceAction::Pause));
    }
    Choice { prompt: "Good?".into(), options, ..Choice::default() }
}

/// How often the children of a container are visited; none: it is no container.
fn passes(kind: &NodeShape) -> Option<u32> {
    let NodeShape::Container { repeat, .. } = kind else { return None };
    match repeat.as_ref().map(|repeat| &repeat.over) {
        None => Some(1),
        Some(Over::Times(Count::Fixed(times))) => Some(*times),
        other => panic!("these plans have no such loop: {other:?}"),
    }
}

/// A node of the plan and the passes of everything around it, outermost first.
type Spot = (Vec<u32>, usize);

/// Follows what happens to every node, from commands and events alone.
struct Tracker<'p> {
    /// Gates at which the run was paused.
    paused: BTreeSet<Spot>,
    plan: &'p LoadedPlan,
    entered: BTreeMap<Spot, u32>,
    skipped: BTreeMap<Spot, u32>,
    again: BTreeMap<Spot, u32>,
    done: BTreeSet<Spot>,
    left_out: BTreeSet<StepId>,
    places: BTreeMap<ExecNo, Place>,
}

impl<'p> Tracker<'p> {
    fn new(plan: &'p LoadedPlan) -> Self {
        Self {
            paused: BTreeSet::new(),
            plan,
            entered: BTreeMap::new(),
            skipped: BTreeMap::new(),
            again: BTreeMap::new(),
            done: BTreeSet::new(),
            left_out: BTreeSet::new(),
            places: BTreeMap::new(),
        }
    }

    fn spot(&self, place: &Place) -> Spot {
        let node = self.plan.find(&place.step).expect("a node of the plan");
        (place.path.iter().map(|(_, pass)| *pass).collect(), node)
    }

    /// Whether a node is done; a group or loop, when everything in its last pass is.
    fn is_done(&self, path: &[u32], node: usize) -> bool {
        if self.done.contains(&(path.to_vec(), node)) {
            return true;
        }
        let Some(times) = passes(&self.plan.nodes[node].kind) else { return false };
        let inner: Vec<u32> = path.iter().copied().chain([times]).collect();
        let mut inside = (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].parent == Some(node));
        inside.all(|n| self.is_done(&inner, n))
    }

    fn enters(&mut self, place: &Place, skipped: bool) {
        let (path, node) = self.spot(place);
        let info = &self.plan.nodes[node];
        assert_eq!(self.left_out.contains(&info.id), skipped, "{}", info.id);
        for before in (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].next.contains(&node)) {
            let id = &self.plan.nodes[before].id;
            assert!(self.is_done(&path, before), "{} begins before {id} is done", info.id);
        }
        let counts = if skipped { &mut self.skipped } else { &mut self.entered };
        *counts.entry((path, node)).or_default() += 1;
    }

    fn see(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ExecutionMade { x, place, .. } => {
                self.enters(place, false);
                self.places.insert(*x, place.clone());
            }
            RunEvent::GateAsked { place, .. } => {
                let spot = self.spot(place);
                if self.paused.remove(&spot) {
                    // It was reached before, and a choice to skip it came too late.
                    *self.entered.entry(spot).or_default() += 1;
                } else {
                    self.enters(place, false);
                }
            }
            RunEvent::StepSkipped { place, .. } => {
                self.enters(place, true);
                self.done.insert(self.spot(place));
            }
            RunEvent::ExecutionCompleted { x, .. } => {
                self.done.insert(self.spot(&self.places[x]));
            }
            _ => {}
        }
    }

    /// A gate is answered.
    fn answered(&mut self, gate: &Place, action: &ChoiceAction) {
        let (path, node) = self.spot(gate);
        if *action == ChoiceAction::Pause {
            // Resuming asks again.
            *self.again.entry((path.clone(), node)).or_default() += 1;
            self.paused.insert((path, node));
            return;
        }
        self.done.insert((path.clone(), node));
        match action {
            ChoiceAction::Continue | ChoiceAction::Pause | ChoiceAction::Abort => {}
            ChoiceAction::Skip(steps) => self.left_out.extend(steps.iter().cloned()),
            ChoiceAction::Repeat(step) => {
                let from = self.plan.find(step).expect("a node of the plan");
                for again in self.plan.between(from, node) {
                    *self.again.entry((path.clone(), again)).or_default() += 1;
                    self.begin_again(&path, again);
                }
            }
        }
    }

    /// A group or loop that is visited again begins with nothing done inside. It has been done itself: what comes after
    /// it and is not on the way back to the gate need not wait for it again.
    fn begin_again(&mut self, path: &[u32], node: usize) {
        let Some(times) = passes(&self.plan.nodes[node].kind) else { return };
        if self.is_done(path, node) {
            self.done.insert((path.to_vec(), node));
        }
        for pass in 1..=times {
            let inner: Vec<u32> = path.iter().copied().chain([pass]).collect();
            for n in (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].parent == Some(node)) {
                self.begin_again(&inner, n);
                self.done.remove(&(inner.clone(), n));
            }
        }
    }

    /// Everything was visited as often as the plan and the repeats say.
    fn check_visits(&self) {
        self.check_level(None, &[], 1);
    }

    fn check_level(&self, parent: Option<usize>, path: &[u32], visits: u32) {
        for node in (0..self.plan.nodes.len()).filter(|&n| self.plan.nodes[n].parent == parent) {
            let count = |of: &BTreeMap<Spot, u32>| of.get(&(path.to_vec(), node)).copied().unwrap_or(0);
            let (entered, skipped, again) = (count(&self.entered), count(&self.skipped), count(&self.again));
            if let Some(times) = passes(&self.plan.nodes[node].kind) {
                for pass in 1..=times {
                    let inner: Vec<u32> = path.iter().copied().chain([pass]).collect();
                    self.check_level(Some(node), &inner, visits + again - skipped);
                }
            } else {
                assert_eq!(entered + skipped, visits + again, "visits to {}", self.plan.nodes[node].id);
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
    for (x, execution) in state.executions().filter(|(_, e)| e.state != ExecutionState::Completed) {
        match execution.state {
            ExecutionState::Pending if moving && execution.gate.is_some() => {
                possible.push(testing::start_step(scene, 1))
            }
            ExecutionState::AwaitingStart if moving && dice.roll(4) == 0 => {
                possible.push(testing::reject_start(1, x.0));
            }
            ExecutionState::AwaitingStart if moving => possible.push(testing::approve_start(1, x.0)),
            ExecutionState::AwaitingComplete if dice.roll(4) == 0 && execution.revision == 0 => {
                possible.push(testing::revise(1, x.0, "shorter"));
            }
            ExecutionState::AwaitingComplete => possible.push(testing::approve(scene, 1, x.0)),
            ExecutionState::Working(Stage::Work) if dice.roll(6) == 0 => {
                possible.push(testing::outcome_failed(scene, 1, x.0));
            }
            ExecutionState::Working(Stage::Work) => possible.push(testing::outcome_done(scene, 1, x.0)),
            ExecutionState::Failed => possible.push(testing::retry(1, x.0)),
            _ => {}
        }
    }
    for (_, gate) in state.gates.iter().filter(|_| moving) {
        let Ask::Choice(choice) = &gate.ask else { continue };
        let option = &choice.options[dice.roll(choice.options.len())].label;
        let option = if &**option == "again" && repeats == 0 { "on" } else { option };
        possible.push(testing::answer(scene, 1, &gate.place.step.0, option));
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
    let mut fronts = Fronts::default();
    for tried in 0.. {
        assert!(tried < 20_000, "the run does not end");
        let answer = match &when.0 {
            crate::Command::Run(_, crate::RunCommand::Answer(answer)) => {
                let open = match answer.target {
                    crate::Target::Gate(gate) => scene.state(1).gates.get(&gate),
                    crate::Target::Of(_) => None,
                };
                open.and_then(|gate| {
                    let Ask::Choice(choice) = &gate.ask else { return None };
                    let picked = choice.options.iter().find(|option| option.label == answer.option)?;
                    Some((gate.place.clone(), picked.action.clone()))
                })
            }
            _ => None,
        };
        let nodes = if tried == 0 { 0 } else { scene.state(1).graph.node_count() };
        match scene.try_run(when.clone()) {
            Ok(decision) => {
                fronts.remember(nodes, scene.state(1));
                if let Some((gate, action)) = &answer {
                    tracker.answered(gate, action);
                    repeats -= u32::from(matches!(action, ChoiceAction::Repeat(_)));
                }
                for event in decision.writes.iter().flat_map(|write| &write.events) {
                    let Event::Run(event) = event else { continue };
                    tracker.see(event);
                }
            }
            // The one thing that may be refused here: a step that two gates want repeated at once.
            Err(refused) => {
                assert!(answer.is_some() && refused.code() == "wrong_state", "{when:?}: {refused}");
            }
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
    fronts.check(state);
    if state.status == RunStatus::Completed {
        tracker.check_visits();
        for (_, branch) in state.graph.branches() {
            let front = &branch.front;
            assert!(
                front.joins.is_empty() && front.rounds.is_empty() && front.returns.is_empty(),
                "{front:?}"
            );
            assert!(front.todo.is_empty() && branch.is_done(), "{branch:?}");
        }
        let mut places: Vec<_> = state.executions().map(|(_, e)| &e.place).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), state.executions().count(), "every visit has a place of its own");
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
        steps.push(PlanStep::new(id, after, kind));
        let plan = Plan { steps, bodies, ..Plan::default() };
        walk(&Arc::new(plan), &mut Dice { bytes: chance.into_iter(), seed });
    }
}
