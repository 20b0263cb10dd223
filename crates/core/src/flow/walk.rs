//! Walking the plan: entering nodes, joining, going round loops, ending.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{begin_attempt, body_of, missing_dependencies, policy_of};
use crate::decision::Draft;
use crate::event::{PauseReason, PipelineEvent, Place, RunEvent};
use crate::plan::{LoadedPlan, NodeShape};
use crate::state::run::{ExecutionState, RunStatus, Stage};
use crate::{BranchNo, ExecNo, ExecutionId, GateId, Rejection, RunId, StepId};

/// How many nodes one command may pass: a loop over steps that are all left out ends here.
const MAX_PASSED: u32 = 10_000;

/// Something still to be done on the way.
enum Todo {
    Enter { node: usize, path: Vec<(StepId, u32)> },
    Done { node: usize, path: Vec<(StepId, u32)> },
}

struct Walk {
    run: RunId,
    branch: BranchNo,
    plan: Arc<LoadedPlan>,
    todo: Vec<Todo>,
    /// Whether this walk begins the run: its first steps begin with it.
    first: bool,
}

/// Enters the nodes that a run begins with.
pub fn start_plan(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let plan = draft.plan(run)?;
    let mut walk = Walk { run, branch: BranchNo(0), plan: plan.clone(), todo: Vec::new(), first: true };
    walk.push_all(plan.roots(), &[]);
    walk.go(draft)
}

/// Goes on behind a step, gate or container that is done.
pub fn step_done(draft: &mut Draft<'_>, run: RunId, place: &Place) -> Result<(), Rejection> {
    let plan = draft.plan(run)?;
    let missing = || Rejection::NotFound { what: "step", id: place.step.to_string() };
    let node = plan.find(&place.step).ok_or_else(missing)?;
    let todo = vec![Todo::Done { node, path: place.path.clone() }];
    Walk { run, branch: place.branch, plan, todo, first: false }.go(draft)
}

/// Visits an earlier sibling of a gate again; the way leads back to the gate from there, and nowhere else.
pub fn repeat(draft: &mut Draft<'_>, run: RunId, gate: &Place, step: &StepId) -> Result<(), Rejection> {
    let plan = draft.plan(run)?;
    let missing = || Rejection::NotFound { what: "step", id: step.to_string() };
    let to = plan.find(&gate.step).ok_or_else(missing)?;
    let from = plan.find(step).ok_or_else(missing)?;
    let again = plan.between(from, to);
    if from == to || !again.contains(&from) {
        return Err(missing());
    }
    refuse_while_repeated(draft, run, gate, again.iter().map(|&node| &plan.nodes[node].id))?;
    let steps = again.iter().map(|&node| plan.nodes[node].id.clone()).collect();
    draft.on_run(run, RunEvent::Repeated { place: gate.clone(), steps });
    // What comes from beside the way has arrived before and does not come again.
    let mut inside: BTreeMap<usize, u32> = BTreeMap::new();
    for &next in again.iter().filter(|&&node| node != to).flat_map(|&node| &plan.nodes[node].next) {
        *inside.entry(next).or_default() += 1;
    }
    for &node in again.iter().filter(|&&node| node != from) {
        let coming = inside.get(&node).copied().unwrap_or(0);
        let arrived = plan.nodes[node].needs.saturating_sub(coming);
        if arrived > 0 {
            let step = plan.nodes[node].id.clone();
            draft.on_run(run, RunEvent::Joined { branch: gate.branch, step, arrived });
        }
    }
    let todo = vec![Todo::Enter { node: from, path: gate.path.clone() }];
    Walk { run, branch: gate.branch, plan, todo, first: true }.go(draft)
}

/// Two gates cannot have the same step repeated at once: it could come back to one of them only.
fn refuse_while_repeated<'p>(
    draft: &Draft<'_>,
    run: RunId,
    gate: &Place,
    mut steps: impl Iterator<Item = &'p StepId>,
) -> Result<(), Rejection> {
    let Some(branch) = draft.run(run)?.branches.get(&gate.branch) else { return Ok(()) };
    let busy = |step: &StepId| *step != gate.step && branch.ways.get(step).is_some_and(|way| !way.done);
    match steps.find(|step| busy(step)) {
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

impl Walk {
    fn push_all(&mut self, nodes: &[usize], path: &[(StepId, u32)]) {
        // The list is worked off from its end, so the first node goes on last.
        for node in nodes.iter().rev() {
            self.todo.push(Todo::Enter { node: *node, path: path.to_vec() });
        }
    }

    fn go(mut self, draft: &mut Draft<'_>) -> Result<(), Rejection> {
        let mut passed = 0;
        while let Some(todo) = self.todo.pop() {
            passed += 1;
            if passed > MAX_PASSED {
                return Err(Rejection::LimitReached {
                    what: "steps passed at once",
                    limit: MAX_PASSED.into(),
                });
            }
            match todo {
                Todo::Enter { node, path } => self.enter(draft, node, path)?,
                Todo::Done { node, path } => self.done(draft, node, path)?,
            }
        }
        settle(draft, self.run)
    }

    fn enter(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let place = self.place(draft, &info.id, &path)?;
        if self.is_skipped(draft, &info.id)? {
            draft.on_run(self.run, RunEvent::StepSkipped { place });
            self.todo.push(Todo::Done { node, path });
            return Ok(());
        }
        match &info.kind {
            NodeShape::Step => {
                let x = make_execution(draft, self.run, place, info.position, false)?;
                super::start_or_hold(draft, self.run, x, self.first)?;
            }
            NodeShape::Gate(choice) => {
                let gate = GateId(draft.ids.mint());
                draft.on_run(self.run, RunEvent::GateAsked { gate, place, choice: choice.clone() });
            }
            NodeShape::Container { roots, children, .. } => {
                self.round(draft, &info.id, 1, *children);
                let mut inner = path;
                inner.push((info.id.clone(), 1));
                self.push_all(roots, &inner);
            }
        }
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
            if self.leads_to(draft, &info.id, next)? && self.arrive(draft, next)? {
                ready.push(next);
            }
        }
        self.push_all(&ready, &path);
        match info.parent {
            Some(parent) => self.child_done(draft, parent, path),
            None => Ok(()),
        }
    }

    /// Whether the way goes on to a sibling behind: always, but for a step that was visited again for a gate.
    fn leads_to(&self, draft: &Draft<'_>, step: &StepId, next: usize) -> Result<bool, Rejection> {
        let Some(branch) = draft.run(self.run)?.branches.get(&self.branch) else { return Ok(true) };
        let next = &self.plan.nodes[next].id;
        Ok(branch.ways.get(step).is_none_or(|way| {
            way.gate == *next || branch.ways.get(next).is_some_and(|other| other.gate == way.gate)
        }))
    }

    /// Counts an arrival at a node; true when it can be entered.
    fn arrive(&self, draft: &mut Draft<'_>, node: usize) -> Result<bool, Rejection> {
        let info = &self.plan.nodes[node];
        if info.needs <= 1 {
            return Ok(true);
        }
        let branch = draft.run(self.run)?.branches.get(&self.branch);
        let before = branch.and_then(|b| b.joins.get(&info.id)).copied().unwrap_or(0);
        let all = before + 1 >= info.needs;
        let arrived = if all { 0 } else { before + 1 };
        draft.on_run(self.run, RunEvent::Joined { branch: self.branch, step: info.id.clone(), arrived });
        Ok(all)
    }

    /// A child of a container is done: goes round, or leaves it.
    fn child_done(
        &mut self,
        draft: &mut Draft<'_>,
        parent: usize,
        mut path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[parent];
        let NodeShape::Container { roots, children, times } = &info.kind else { return Ok(()) };
        let branch = draft.run(self.run)?.branches.get(&self.branch);
        let Some(round) = branch.and_then(|b| b.rounds.get(&info.id)).copied() else { return Ok(()) };
        if round.left > 0 {
            return Ok(());
        }
        path.pop();
        if round.iteration < *times {
            self.round(draft, &info.id, round.iteration + 1, *children);
            let mut inner = path;
            inner.push((info.id.clone(), round.iteration + 1));
            self.push_all(roots, &inner);
        } else {
            let place = Place { branch: self.branch, step: info.id.clone(), path: path.clone(), visit: 1 };
            draft.on_run(self.run, RunEvent::RoundsEnded { place });
            self.todo.push(Todo::Done { node: parent, path });
        }
        Ok(())
    }

    fn round(&self, draft: &mut Draft<'_>, step: &StepId, iteration: u32, children: u32) {
        let step = step.clone();
        draft.on_run(self.run, RunEvent::RoundBegan { branch: self.branch, step, iteration, children });
    }

    fn is_skipped(&self, draft: &Draft<'_>, step: &StepId) -> Result<bool, Rejection> {
        Ok(draft.run(self.run)?.branches.get(&self.branch).is_some_and(|b| b.skips.contains(step)))
    }

    fn place(&self, draft: &Draft<'_>, step: &StepId, path: &[(StepId, u32)]) -> Result<Place, Rejection> {
        // Inside a loop the iteration tells visits apart; `visit` counts repeats by a person, of the step
        // itself and of what is around it.
        let branch = draft.run(self.run)?.branches.get(&self.branch);
        let repeats = |step: &StepId| branch.and_then(|b| b.repeats.get(step)).map_or(0, |times| times - 1);
        let visit = 1 + repeats(step) + path.iter().map(|(around, _)| repeats(around)).sum::<u32>();
        Ok(Place { branch: self.branch, step: step.clone(), path: path.to_vec(), visit })
    }
}

/// Makes the execution of a step; it stands at pending.
pub fn make_execution(
    draft: &mut Draft<'_>,
    run: RunId,
    place: Place,
    position: u32,
    held: bool,
) -> Result<ExecNo, Rejection> {
    let state = draft.run(run)?;
    let x = ExecNo(state.visits + 1);
    let (body, name, policy) = if let Some(pipeline) = state.pipeline() {
        let missing = || Rejection::NotFound { what: "checkpoint", id: place.step.to_string() };
        let checkpoint = place.step.checkpoint().ok_or_else(missing)?;
        // The step gets the definition of about now: one that is saved at this moment counts from the next step on.
        let pipeline = draft.peek_pipeline(pipeline)?;
        let known = pipeline.checkpoints.get(&checkpoint).ok_or_else(missing)?;
        let definition = pipeline.bodies.get(&known.body).ok_or_else(missing)?;
        let policy = crate::plan::Body::Checkpoint(definition.clone()).policy();
        (Some(known.body), Some(definition.checkpoint_name.as_str().into()), policy)
    } else {
        let missing = || Rejection::NotFound { what: "definition", id: place.step.to_string() };
        (None, None, draft.plan(run)?.bodies.get(&place.step).ok_or_else(missing)?.policy())
    };
    let id = ExecutionId(draft.ids.mint());
    draft.on_run(
        run,
        RunEvent::ExecutionMade {
            x,
            id,
            place,
            position,
            name,
            body,
            max_attempts: policy.max_attempts,
            max_revisions: policy.max_revisions,
            held,
        },
    );
    Ok(x)
}

/// Asks a person whether an execution may begin.
pub fn ask_to_start(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let digest = match draft.execution(run, x)?.body {
        Some(digest) => digest,
        None => crate::Digest::of_json(&*body_of(draft, run, x)?),
    };
    let gate = GateId(draft.ids.mint());
    draft.on_run(run, RunEvent::StartAsked { x, gate, digest });
    Ok(())
}

/// After steps have moved: pauses when that was asked for and nothing works any more, and ends the run when
/// nothing is left.
pub fn settle(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let idle =
        state.branches.values().all(|b| b.active.is_empty() && b.asking.is_empty() && b.rounds.is_empty());
    if idle && state.status.is_active() {
        draft.on_run(run, RunEvent::Completed {});
        return close_run(draft, run);
    }
    if !state.pause_requested || state.status != RunStatus::InProgress {
        return Ok(());
    }
    let mut failed = false;
    for execution in state.branches.values().flat_map(|b| b.active.iter()).filter_map(|x| state.execution(*x))
    {
        match execution.state {
            ExecutionState::Pending | ExecutionState::AwaitingStart(_) | ExecutionState::Completed => {}
            ExecutionState::Failed => failed = true,
            ExecutionState::AwaitingComplete(_)
            | ExecutionState::Working(
                Stage::Form(_)
                | Stage::Input(_)
                | Stage::Work
                | Stage::Check
                | Stage::Guidance(_)
                | Stage::Budget(_)
                | Stage::Retry,
            ) => return Ok(()),
        }
    }
    let reason = if failed { PauseReason::StepFailed } else { PauseReason::Asked };
    draft.on_run(run, RunEvent::Paused { reason });
    Ok(())
}

/// Begins what is pending and was only kept from beginning by a pause.
pub fn start_waiting(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let waiting: Vec<ExecNo> = (state.branches.values().flat_map(|b| b.active.iter()))
        .copied()
        .filter(|x| state.execution(*x).is_some_and(|e| e.state == ExecutionState::Pending && !e.held_back))
        .collect();
    for x in waiting {
        super::start_or_hold(draft, run, x, false)?;
    }
    Ok(())
}

/// Tells the pipeline that a run has ended.
pub fn close_run(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    if let Some(pipeline) = draft.run(run)?.pipeline() {
        draft.on_pipeline(pipeline, PipelineEvent::RunClosed { run });
    }
    Ok(())
}

/// Begins an execution if it begins by itself and nothing stands in its way.
pub(super) fn start_if_free(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    automatic: bool,
) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let moving = state.status == RunStatus::InProgress && !state.pause_requested;
    let held = state.execution(x).is_some_and(|e| e.held_back);
    if automatic && moving && !held && missing_dependencies(draft, run, x)?.is_empty() {
        let policy = policy_of(draft, run, x)?;
        begin_attempt(draft, run, x, 0, 1, &policy);
    }
    Ok(())
}
