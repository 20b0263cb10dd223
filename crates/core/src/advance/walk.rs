//! Walking the plan: entering nodes, joining, going round loops, ending.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::passes::{Stop, is_inside_whole, pause_reason, starts_in_pause};
use super::{begin_attempt, body_of, missing_dependencies};
use crate::asks;
use crate::commands::abort_run::stop_steps;
use crate::context;
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, PauseReason, PipelineEvent, Place, RunEvent, SkipReason, Text};
use crate::plan::body::SnapshotSpec;
use crate::plan::{LoadedPlan, NodeShape, OnError};
use crate::state::run::{
    Branch, ExecutionState, Front, FrontChange, FrontDelta, Layer, Return, Round, RunStatus, Stage,
};
use crate::{BranchNo, ExecNo, Rejection, RunId, SnapshotId, StepId};

/// How many places one command may reach: a group of this width begins at once.
const MAX_REACHED: u32 = 100_000;
/// How many nodes one command may pass without work: a loop over steps that are all left out ends here.
const MAX_PASSED: u32 = 10_000;

/// Something still to be done on the way.
pub(super) enum Todo {
    Enter {
        node: usize,
        path: Vec<(StepId, u32)>,
    },
    Done {
        node: usize,
        path: Vec<(StepId, u32)>,
    },
    /// A loop that stopped between two passes continues.
    Pass {
        node: usize,
        path: Vec<(StepId, u32)>,
        round: Round,
    },
}

/// A walk through the plan. It works on a copy of the branch's front, and writes down at its end what the events on the
/// way do not imply.
pub(super) struct Walk {
    pub run: RunId,
    pub branch: BranchNo,
    pub plan: Arc<LoadedPlan>,
    pub todo: Vec<Todo>,
    /// Whether this walk begins the run: its first steps begin with it.
    first: bool,
    pub front: Front,
    delta: FrontDelta,
    /// What ends the walk before everything is reached.
    pub stop: Option<Stop>,
    /// Nodes that were passed without work.
    passed: u32,
}

/// Enters the nodes that a run begins with.
pub fn start_plan(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let mut walk = Walk::on(draft, run, BranchNo(0))?;
    walk.first = true;
    let plan = walk.plan.clone();
    walk.push_all(plan.roots(), &[]);
    walk.go(draft)
}

/// Continues after a step, gate or container that is done, with what it leaves in the context.
pub fn step_done(
    draft: &mut Draft<'_>,
    run: RunId,
    branch: BranchNo,
    place: &Place,
    context: &Map<String, Value>,
) -> Result<(), Rejection> {
    let mut walk = Walk::on(draft, run, branch)?;
    let node = walk.find(&place.step)?;
    walk.merge_context(context)?;
    walk.todo.push(Todo::Done { node, path: place.path.clone() });
    walk.go(draft)
}

/// Continues after a gate, skipping steps when they are reached.
pub fn skip(
    draft: &mut Draft<'_>,
    run: RunId,
    branch: BranchNo,
    gate: &Place,
    steps: &[StepId],
) -> Result<(), Rejection> {
    let mut walk = Walk::on(draft, run, branch)?;
    for step in steps {
        walk.change(FrontChange::Skip(step.clone(), true));
    }
    let node = walk.find(&gate.step)?;
    walk.todo.push(Todo::Done { node, path: gate.path.clone() });
    walk.go(draft)
}

/// Visits an earlier sibling of a gate again; the way leads back to the gate from there, and nowhere else.
pub fn repeat(
    draft: &mut Draft<'_>,
    run: RunId,
    branch: BranchNo,
    gate: &Place,
    step: &StepId,
    feedback: Option<&Text>,
) -> Result<(), Rejection> {
    let mut walk = Walk::on(draft, run, branch)?;
    let plan = walk.plan.clone();
    let (to, from) = (walk.find(&gate.step)?, walk.find(step)?);
    let again = plan.between(from, to);
    if from == to || !again.contains(&from) {
        return Err(Rejection::NotFound { what: "step", id: step.to_string() });
    }
    walk.refuse_while_repeated(gate, again.iter().map(|&node| &plan.nodes[node].id))?;
    for &node in &again {
        let step = &plan.nodes[node].id;
        let visits = walk.front.visits.get(step).copied().unwrap_or(1) + 1;
        walk.change(FrontChange::Visit(step.clone(), Some(visits)));
        walk.change(FrontChange::Join(step.clone(), None));
        if *step != gate.step {
            let way = Return { gate: gate.step.clone(), feedback: feedback.cloned() };
            walk.change(FrontChange::Return(step.clone(), Some(way)));
        }
    }
    // The steps on the way count as children that are not done, once more.
    if let Some((around, _)) = gate.path.last()
        && let Some(round) = walk.front.rounds.get(around).copied()
    {
        let left = round.left.saturating_add(again.len() as u32);
        walk.change(FrontChange::Round(around.clone(), Some(Round { left, ..round })));
    }
    // Predecessors that are not on the way have arrived before and do not come again.
    let mut inside: BTreeMap<usize, u32> = BTreeMap::new();
    for &next in again.iter().filter(|&&node| node != to).flat_map(|&node| &plan.nodes[node].next) {
        *inside.entry(next).or_default() += 1;
    }
    for &node in again.iter().filter(|&&node| node != from) {
        let coming = inside.get(&node).copied().unwrap_or(0);
        let arrived = plan.nodes[node].needs.saturating_sub(coming);
        if arrived > 0 {
            walk.change(FrontChange::Join(plan.nodes[node].id.clone(), Some(arrived)));
        }
    }
    walk.first = true;
    walk.todo.push(Todo::Enter { node: from, path: gate.path.clone() });
    walk.go(draft)
}

impl Walk {
    pub(super) fn on(draft: &Draft<'_>, run: RunId, branch: BranchNo) -> Result<Self, Rejection> {
        let missing = || Rejection::NotFound { what: "branch", id: format!("{} of run {run}", branch.0) };
        let front = draft.run(run)?.graph.branch(branch).ok_or_else(missing)?.front.clone();
        let (plan, delta) = (draft.plan(run)?, FrontDelta::default());
        Ok(Self { run, branch, plan, todo: Vec::new(), first: false, front, delta, stop: None, passed: 0 })
    }

    fn find(&self, step: &StepId) -> Result<usize, Rejection> {
        let missing = || Rejection::NotFound { what: "step", id: step.to_string() };
        self.plan.find(step).ok_or_else(missing)
    }

    /// Adds what a step leaves in the context. Values that the plan calls ephemeral were for the step that ends here.
    fn merge_context(&mut self, delta: &Map<String, Value>) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let ephemeral = |key: &Text| plan.declared_layer(key) == Some(Layer::Ephemeral);
        let over = self.front.context.iter().filter(|(key, var)| {
            var.layer == Layer::Ephemeral && !delta.contains_key(&***key) && ephemeral(key)
        });
        let over: Vec<Text> = over.map(|(key, _)| key.clone()).collect();
        for key in over {
            self.change(FrontChange::Context(key, None));
        }
        for change in context::changes(&self.front, &plan, delta)? {
            self.change(change);
        }
        Ok(())
    }

    /// Changes the front in a way that no other event implies.
    pub(super) fn change(&mut self, change: FrontChange) {
        self.front.apply(&change);
        self.delta.changes.push(change);
    }

    /// Two gates cannot have the same step repeated at once: it could come back to one of them only.
    fn refuse_while_repeated<'p>(
        &self,
        gate: &Place,
        mut steps: impl Iterator<Item = &'p StepId>,
    ) -> Result<(), Rejection> {
        match steps.find(|step| **step != gate.step && self.front.returns.contains_key(*step)) {
            None => Ok(()),
            Some(step) => Err(Rejection::WrongState {
                action: "repeat the step",
                what: "step",
                id: step.to_string(),
                state: "being repeated already",
                possible: vec!["answer again when it is done", "pick another option"],
            }),
        }
    }

    pub(super) fn push_all(&mut self, nodes: &[usize], path: &[(StepId, u32)]) {
        // The list is worked off from its end, so the first node goes on last.
        for node in nodes.iter().rev() {
            self.todo.push(Todo::Enter { node: *node, path: path.to_vec() });
        }
    }

    pub(super) fn go(mut self, draft: &mut Draft<'_>) -> Result<(), Rejection> {
        let mut reached = 0;
        while self.stop.is_none()
            && let Some(todo) = self.todo.pop()
        {
            reached += u32::from(!matches!(todo, Todo::Done { .. }));
            if reached > MAX_REACHED {
                return Err(Rejection::LimitReached {
                    what: "steps reached at once",
                    limit: MAX_REACHED.into(),
                });
            }
            if self.passed > MAX_PASSED {
                return Err(Rejection::LimitReached {
                    what: "steps passed at once",
                    limit: MAX_PASSED.into(),
                });
            }
            match todo {
                Todo::Enter { node, path } => self.enter(draft, node, path)?,
                Todo::Done { node, path } => self.done(draft, node, path)?,
                Todo::Pass { node, path, round } => self.next_pass(draft, node, path, round)?,
            }
        }
        self.write_moved(draft)?;
        match self.stop {
            Some(Stop::Failed(reason)) => fail_run(draft, self.run, &reason),
            Some(Stop::AtLimit) => {
                if !draft.run(self.run)?.pause_requested {
                    draft.on_run(self.run, RunEvent::PauseAsked {});
                }
                settle(draft, self.run)
            }
            None => settle(draft, self.run),
        }
    }

    /// Writes down what the events of the walk do not imply.
    fn write_moved(&mut self, draft: &mut Draft<'_>) -> Result<(), Rejection> {
        let mut delta = std::mem::take(&mut self.delta);
        if let Some(branch) = draft.run(self.run)?.graph.branch(self.branch) {
            delta.compact(&branch.front);
        }
        if !delta.is_empty() {
            draft.on_run(self.run, RunEvent::FrontMoved { branch: self.branch, delta });
        }
        Ok(())
    }

    fn enter(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let place = self.place(&info.id, &path);
        let branch = self.branch;
        if self.front.skips.contains(&info.id) {
            self.pass_by(draft, node, path, place, SkipReason::Choice);
            return Ok(());
        }
        if let Some(when) = &info.when {
            let found = self.evaluate(draft, &when.expr, &place, &path);
            if !found.map_or(when.on_error == OnError::Enter, |found| found.holds) {
                self.pass_by(draft, node, path, place, SkipReason::Condition);
                return Ok(());
            }
        }
        match &info.kind {
            NodeShape::Step => {
                let body = plan.bodies.get(&info.id);
                if let Some(spec) = body.and_then(|body| body.passing_snapshot()) {
                    self.take_snapshot(draft, spec)?;
                    self.pass(node, path, &place);
                    return Ok(());
                }
                // Fewer than so many work at once. What waits has no execution until its turn comes.
                if draft.run(self.run)?.owed.len() >= plan.parallel as usize {
                    self.front.reach(place.clone());
                    self.delta.reached.push(place);
                    return Ok(());
                }
                let feedback = self.front.returns.get(&info.id).and_then(|way| way.feedback.clone());
                let fresh = Fresh { branch, place, position: info.position, held: false, feedback };
                let x = make_execution(draft, self.run, fresh)?;
                super::start_or_hold(draft, self.run, x, self.first)?;
            }
            NodeShape::Gate(choice) => {
                asks::choice::ask(draft, self.run, branch, place, choice)?;
            }
            NodeShape::Container { .. } => self.enter_container(draft, node, path)?,
        }
        Ok(())
    }

    /// Leaves out a node that was reached.
    fn pass_by(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
        place: Place,
        why: SkipReason,
    ) {
        self.pass(node, path, &place);
        draft.on_run(self.run, RunEvent::StepSkipped { branch: self.branch, place, why });
    }

    /// A node that was reached is done without a visit.
    fn pass(&mut self, node: usize, path: Vec<(StepId, u32)>, place: &Place) {
        self.passed += 1;
        if let Some(change) = self.front.child_done(place) {
            self.change(change);
        }
        self.todo.push(Todo::Done { node, path });
    }

    /// Saves the state in passing. The snapshot hangs off the command's own node, so that what is behind it is in its front.
    fn take_snapshot(&self, draft: &mut Draft<'_>, spec: &SnapshotSpec) -> Result<(), Rejection> {
        let missing = || Rejection::NotFound { what: "branch", id: self.branch.0.to_string() };
        let at = draft.run(self.run)?.graph.branch(self.branch).ok_or_else(missing)?.head;
        let snapshot = SnapshotId(draft.ids.mint());
        let (trigger, tags) = (spec.trigger.clone(), spec.tags.clone());
        let taken = RunEvent::SnapshotTaken { at, snapshot, trigger, tags, tree: None, output: None };
        draft.on_run(self.run, taken);
        Ok(())
    }

    fn done(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let mut ready = Vec::new();
        for &next in &info.next {
            if self.leads_to(&info.id, next) && self.arrive(next) {
                ready.push(next);
            }
        }
        // The visit on the way back to a gate is over.
        if self.front.returns.contains_key(&info.id) {
            self.change(FrontChange::Return(info.id.clone(), None));
        }
        self.push_all(&ready, &path);
        if let Some(parent) = info.parent {
            self.child_done(draft, parent, path)?;
        }
        Ok(())
    }

    /// Whether the way continues to the next sibling: always, but for a step that was visited again for a gate.
    fn leads_to(&self, step: &StepId, next: usize) -> bool {
        let next = &self.plan.nodes[next].id;
        let returns = &self.front.returns;
        returns.get(step).is_none_or(|way| {
            way.gate == *next || returns.get(next).is_some_and(|other| other.gate == way.gate)
        })
    }

    /// Counts an arrival at a node; true when it can be entered.
    fn arrive(&mut self, node: usize) -> bool {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        if info.needs <= 1 {
            return true;
        }
        let arrived = self.front.joins.get(&info.id).copied().unwrap_or(0) + 1;
        let all = arrived >= info.needs;
        self.change(FrontChange::Join(info.id.clone(), (!all).then_some(arrived)));
        all
    }

    /// A child of a container is done. After the last one the pass is.
    fn child_done(
        &mut self,
        draft: &mut Draft<'_>,
        parent: usize,
        mut path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let step = &self.plan.nodes[parent].id;
        let Some(round) = self.front.rounds.get(step).copied().filter(|round| round.left == 0) else {
            return Ok(());
        };
        path.pop();
        self.pass_done(draft, parent, path, round)
    }

    pub(super) fn place(&self, step: &StepId, path: &[(StepId, u32)]) -> Place {
        // Inside a loop the iteration tells visits apart; `visit` counts repeats by a person, of the step
        // itself and of what is around it.
        let repeats = |step: &StepId| self.front.visits.get(step).map_or(0, |times| times - 1);
        let visit = 1 + repeats(step) + path.iter().map(|(around, _)| repeats(around)).sum::<u32>();
        Place { step: step.clone(), path: path.to_vec(), visit }
    }
}

/// An execution to be made.
pub struct Fresh {
    /// The branch.
    pub branch: BranchNo,
    /// Where.
    pub place: Place,
    /// Its position among its siblings.
    pub position: u32,
    /// Whether it begins only when a person starts it.
    pub held: bool,
    /// What a person who asked for a repeat wants changed.
    pub feedback: Option<Text>,
}

/// Makes the execution of a step; its state is pending.
pub fn make_execution(draft: &mut Draft<'_>, run: RunId, fresh: Fresh) -> Result<ExecNo, Rejection> {
    let state = draft.run(run)?;
    let x = state.graph.next_execution();
    let step = &fresh.place.step;
    let (digest, name, body) = if let Some(pipeline) = state.pipeline() {
        let missing = || Rejection::NotFound { what: "checkpoint", id: step.to_string() };
        let checkpoint = step.checkpoint().ok_or_else(missing)?;
        // The step gets the definition of about now: one that is saved at this moment counts from the next step on.
        let pipeline = draft.peek_pipeline(pipeline)?;
        let known = pipeline.checkpoints.get(&checkpoint).ok_or_else(missing)?;
        let compiled = pipeline.bodies.get(&known.body).ok_or_else(missing)?;
        let name = compiled.definition().checkpoint_name.as_str().into();
        (Some(known.body), Some(name), compiled.body().clone())
    } else {
        let missing = || Rejection::NotFound { what: "definition", id: step.to_string() };
        (None, None, draft.plan(run)?.bodies.get(step).cloned().ok_or_else(missing)?)
    };
    draft.on_run(
        run,
        RunEvent::ExecutionMade {
            x,
            branch: fresh.branch,
            place: fresh.place,
            position: fresh.position,
            name,
            body: digest,
            max_attempts: body.policy.max_attempts,
            max_revisions: body.policy.max_revisions,
            held: fresh.held,
            feedback: fresh.feedback,
            outside: body.is_outside(),
        },
    );
    Ok(x)
}

/// Begins steps that wait for others to end, while fewer attempts have work owed than the plan allows.
pub fn begin_queued(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    loop {
        let (state, plan) = (draft.run(run)?, draft.plan(run)?);
        if state.status != RunStatus::InProgress || state.owed.len() >= plan.parallel as usize {
            return Ok(());
        }
        let pauses = state.pause_requested;
        let next = state.live_branches().find_map(|(no, branch)| {
            let place = branch.queued.front().filter(|place| !pauses || starts_in_pause(&plan, place))?;
            let feedback = branch.front.returns.get(&place.step).and_then(|way| way.feedback.clone());
            Some((no, place.clone(), feedback))
        });
        let Some((branch, place, feedback)) = next else { return Ok(()) };
        let position = plan.find(&place.step).map_or(0, |node| plan.nodes[node].position);
        let x = make_execution(draft, run, Fresh { branch, place, position, held: false, feedback })?;
        super::start_or_hold(draft, run, x, true)?;
    }
}

/// The run has failed: what works is stopped.
pub fn fail_run(draft: &mut Draft<'_>, run: RunId, reason: &str) -> Result<(), Rejection> {
    stop_steps(draft, run, &Failure::new(FailureKind::RunFailed, "another step of the run failed"))?;
    draft.on_run(run, RunEvent::Failed { reason: Some(reason.into()) });
    close_run(draft, run)
}

/// After steps have moved: pauses when that was asked for and nothing works any more, and ends the run when
/// nothing is left.
pub fn settle(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    // The run is where its current branch is; work on other branches keeps it open.
    let current = state.graph.branch(state.graph.current());
    let idle = current.is_none_or(Branch::is_done) && state.owed.is_empty();
    // A run of a plan without steps ends only by command.
    if idle && !draft.plan(run)?.nodes.is_empty() && state.status.is_active() {
        // A paused run takes an approval. Its last one leaves nothing to hold back.
        if state.status == RunStatus::Paused {
            draft.on_run(run, RunEvent::Resumed {});
        }
        draft.on_run(run, RunEvent::Completed {});
        return close_run(draft, run);
    }
    // Owed work says at once that something works: a wide group is not looked through for every step that ends.
    if !state.pause_requested || state.status != RunStatus::InProgress || !state.owed.is_empty() {
        return Ok(());
    }
    let mut failed = false;
    for (_, execution) in state.active() {
        match execution.state {
            // A client that may never call again does not hold up a pause.
            ExecutionState::Pending
            | ExecutionState::AwaitingStart
            | ExecutionState::Working(Stage::Client)
            | ExecutionState::Completed => {}
            ExecutionState::Failed => failed = true,
            ExecutionState::AwaitingComplete
            | ExecutionState::Working(
                Stage::Form
                | Stage::Input
                | Stage::Work
                | Stage::Check
                | Stage::Guidance
                | Stage::Budget
                | Stage::Retry,
            ) => return Ok(()),
        }
    }
    let reason = pause_reason(draft, run, failed)?;
    // A loop that pauses between passes only ends its pass first.
    if reason == PauseReason::Asked && is_inside_whole(draft, run)? {
        return Ok(());
    }
    draft.on_run(run, RunEvent::Paused { reason });
    Ok(())
}

/// Goes on after a pause: begins what was only kept from beginning by it, and asks again for what starts by hand and at
/// the gates at which the run was paused. With `decides`, the actor may decide at these.
pub fn start_waiting(draft: &mut Draft<'_>, run: RunId, decides: bool) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let waiting = state.active().filter(|(_, e)| e.state == ExecutionState::Pending);
    let waiting: Vec<(ExecNo, bool)> = waiting.map(|(x, e)| (x, e.held_back)).collect();
    for (x, held_back) in waiting {
        if held_back {
            asks::begin::ask(draft, run, x)?;
        } else {
            super::start_or_hold(draft, run, x, false)?;
        }
    }
    asks::choice::ask_again(draft, run, decides)
}

/// Tells the pipeline that a run has ended.
pub fn close_run(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    if let Some(pipeline) = draft.run(run)?.pipeline() {
        draft.on_pipeline(pipeline, PipelineEvent::RunClosed { run });
    }
    Ok(())
}

/// Begins an execution if it begins by itself and nothing is in its way; else it waits to be started by hand.
pub(super) fn start_if_free(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    automatic: bool,
) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let Some(execution) = state.execution(x) else { return Ok(()) };
    let held = execution.held_back;
    let pauses = state.pause_requested && !starts_in_pause(&*draft.plan(run)?, &execution.place);
    let moving = state.status == RunStatus::InProgress && !pauses;
    if automatic && moving && !held && missing_dependencies(draft, run, x)?.is_empty() {
        let body = body_of(draft, run, x)?;
        return begin_attempt(draft, run, x, 0, 1, &body);
    }
    asks::begin::ask(draft, run, x)
}
