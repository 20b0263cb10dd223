//! The passes of loops: what ends a loop is tested before each pass, then its limit.

use serde_json::Value;

use super::walk::{Todo, Walk};
use crate::context::Scope;
use crate::decision::Draft;
use crate::event::{LoopEnd, PauseReason, Place, RunEvent, Warning};
use crate::plan::{AtLimit, Count, Evaluated, Expr, NodeShape, Over, Repeat};
use crate::state::run::{Front, FrontChange, Round};
use crate::{BranchNo, LoadedPlan, Rejection, RunId, StepId};

/// How a walk ends the movement of its run.
pub(super) enum Stop {
    /// A loop says that the run has failed.
    Failed(String),
    /// A loop has made as many passes as it may.
    AtLimit,
}

impl Walk {
    /// Enters a group, or a loop whose first pass is due.
    pub(super) fn enter_container(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let NodeShape::Container { children, repeat, .. } = &plan.nodes[node].kind else { return Ok(()) };
        let Some(repeat) = repeat else {
            self.begin_pass(node, path, Round { iteration: 1, of: None, max: 1, left: *children });
            return Ok(());
        };
        let of = self.passes(draft, node, repeat, &path)?;
        self.next_pass(draft, node, path, Round { iteration: 0, of, max: repeat.max, left: 0 })
    }

    /// All children of a container are done.
    pub(super) fn pass_done(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
        round: Round,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        match &plan.nodes[node].kind {
            NodeShape::Container { repeat: Some(_), .. } => self.next_pass(draft, node, path, round),
            NodeShape::Container { repeat: None, .. } | NodeShape::Step | NodeShape::Gate(_) => {
                self.leave(node, path);
                Ok(())
            }
        }
    }

    /// Makes a loop's next pass, leaves the loop, or stops before the pass.
    pub(super) fn next_pass(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
        round: Round,
    ) -> Result<(), Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let NodeShape::Container { children, repeat: Some(repeat), .. } = &info.kind else { return Ok(()) };
        let made = round.iteration;
        let place = self.place(&info.id, &path);
        let inner: Vec<_> = path.iter().cloned().chain([(info.id.clone(), made + 1)]).collect();
        if let Some(fails) = &repeat.fail_if
            && self.holds(draft, fails, &place, &inner)
        {
            self.stop = Some(Stop::Failed(format!("loop “{}” has failed", info.name)));
            return Ok(());
        }
        let end = match &repeat.over {
            Over::Times(_) => (made >= round.of.unwrap_or(0)).then_some(LoopEnd::Count),
            Over::Each(_) => (made >= round.of.unwrap_or(0)).then_some(LoopEnd::Items),
            Over::While(expr) => (!self.holds(draft, expr, &place, &inner)).then_some(LoopEnd::Condition),
            Over::Until(expr) => self.holds(draft, expr, &place, &inner).then_some(LoopEnd::Condition),
        };
        if let Some(why) = end {
            self.leave_loop(draft, node, path, place, why);
            return Ok(());
        }
        if made >= round.max {
            match repeat.at_limit {
                AtLimit::Continue => {
                    self.warn(draft, place.clone(), Warning::LimitReached(round.max));
                    self.leave_loop(draft, node, path, place, LoopEnd::Limit);
                }
                AtLimit::Fail => {
                    let reason =
                        format!("loop “{}” has made {} passes, which is the limit", info.name, round.max);
                    self.stop = Some(Stop::Failed(reason));
                }
                AtLimit::Pause => {
                    self.hold(&info.id, round);
                    self.stop = Some(Stop::AtLimit);
                }
            }
            return Ok(());
        }
        if made > 0 && repeat.whole && draft.run(self.run)?.pause_requested {
            self.hold(&info.id, round);
            return Ok(());
        }
        self.begin_pass(node, path, Round { iteration: made + 1, left: *children, ..round });
        Ok(())
    }

    /// Leaves a loop open between two passes.
    fn hold(&mut self, step: &StepId, round: Round) {
        self.change(FrontChange::Round(step.clone(), Some(Round { left: 0, ..round })));
    }

    fn begin_pass(&mut self, node: usize, mut path: Vec<(StepId, u32)>, round: Round) {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let NodeShape::Container { roots, .. } = &info.kind else { return };
        self.change(FrontChange::Round(info.id.clone(), Some(round)));
        path.push((info.id.clone(), round.iteration));
        self.push_all(roots, &path);
    }

    fn leave_loop(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        path: Vec<(StepId, u32)>,
        place: Place,
        why: LoopEnd,
    ) {
        draft.on_run(self.run, RunEvent::LoopEnded { branch: self.branch, place, why });
        self.leave(node, path);
    }

    fn leave(&mut self, node: usize, path: Vec<(StepId, u32)>) {
        let plan = self.plan.clone();
        let step = &plan.nodes[node].id;
        if self.front.items.contains_key(step) {
            self.change(FrontChange::Items(step.clone(), None));
        }
        self.change(FrontChange::Round(step.clone(), None));
        let place = self.place(step, &path);
        if let Some(change) = self.front.child_done(&place) {
            self.change(change);
        }
        self.todo.push(Todo::Done { node, path });
    }

    /// How many passes a loop makes, where that is known when it is entered.
    fn passes(
        &mut self,
        draft: &mut Draft<'_>,
        node: usize,
        repeat: &Repeat,
        path: &[(StepId, u32)],
    ) -> Result<Option<u32>, Rejection> {
        let plan = self.plan.clone();
        let info = &plan.nodes[node];
        let place = self.place(&info.id, path);
        match &repeat.over {
            Over::Times(Count::Fixed(passes)) => Ok(Some(*passes)),
            Over::Times(Count::Of(expr)) => {
                let found = self.evaluate(draft, expr, &place, path);
                let passes = found.and_then(|found| number(&found.value)).unwrap_or(0);
                Ok(Some(passes))
            }
            Over::Each(expr) => {
                let found = self.evaluate(draft, expr, &place, path).map(|found| found.value);
                let Some(items @ Value::Array(_)) = found else {
                    let what = Warning::NoItems(format!("“{}” has no list to go through", info.name).into());
                    self.warn(draft, place, what);
                    return Ok(Some(0));
                };
                let count = items.as_array().map_or(0, Vec::len) as u32;
                self.change(FrontChange::Items(info.id.clone(), Some(items.into())));
                Ok(Some(count))
            }
            Over::While(_) | Over::Until(_) => Ok(None),
        }
    }

    /// Whether an expression holds. One that cannot be evaluated does not, and the run says so.
    fn holds(&self, draft: &mut Draft<'_>, expr: &Expr, place: &Place, path: &[(StepId, u32)]) -> bool {
        self.evaluate(draft, expr, place, path).is_some_and(|found| found.holds)
    }

    /// What an expression comes to; none where it cannot be evaluated, which is warned about.
    pub(super) fn evaluate(
        &self,
        draft: &mut Draft<'_>,
        expr: &Expr,
        place: &Place,
        path: &[(StepId, u32)],
    ) -> Option<Evaluated> {
        let scope = Scope::at(&self.front, &self.plan, path);
        match expr.evaluate(draft.facts.evaluator, &scope) {
            Ok(found) => Some(found),
            Err(why) => {
                self.warn(draft, place.clone(), Warning::Condition(why.into()));
                None
            }
        }
    }

    pub(super) fn warn(&self, draft: &mut Draft<'_>, place: Place, what: Warning) {
        draft.on_run(self.run, RunEvent::Warned { branch: self.branch, place, what });
    }
}

fn number(value: &Value) -> Option<u32> {
    let text = value.as_str().map(str::trim);
    let number = text.map_or_else(|| value.as_f64(), |text| text.parse().ok())?;
    (number >= 0.0 && number.is_finite()).then(|| number.min(f64::from(u32::MAX)) as u32)
}

/// Continues with loops that stopped between two passes. A higher limit counts for those that [`raised`] names.
pub fn resume_loops(draft: &mut Draft<'_>, run: RunId, max: Option<u32>) -> Result<(), Rejection> {
    let plan = draft.plan(run)?;
    let higher = match max {
        Some(max) => raised(draft, run, max)?,
        None => Vec::new(),
    };
    let limit_of = |branch: BranchNo, step: &StepId, round: &Round| {
        let is_raised = higher.iter().any(|(at, raised)| *at == branch && raised == step);
        max.filter(|_| is_raised).unwrap_or(round.max)
    };
    let mut open: Vec<(BranchNo, StepId, Round)> = Vec::new();
    for (branch, live) in draft.run(run)?.live_branches() {
        let rounds = live
            .front
            .rounds
            .iter()
            .filter(|(step, round)| round.left == 0 || limit_of(branch, step, round) != round.max);
        open.extend(rounds.map(|(step, round)| (branch, step.clone(), *round)));
    }
    for (branch, step, round) in open {
        let Some(node) = plan.find(&step) else { continue };
        let round = Round { max: limit_of(branch, &step, &round), ..round };
        let mut walk = Walk::on(draft, run, branch)?;
        match round.left {
            0 => {
                let path = path_to(&plan, &walk.front, node);
                walk.todo.push(Todo::Pass { node, path, round });
            }
            // A pass is under way: only its loop's limit changes.
            _ => walk.change(FrontChange::Round(step, Some(round))),
        }
        walk.go(draft)?;
    }
    Ok(())
}

/// The open loops whose limit a higher one replaces: those that wait at theirs, else all that would wait there. A run that
/// went back to an earlier pass waits for another reason, and its limit can be raised all the same.
pub fn raised(draft: &Draft<'_>, run: RunId, max: u32) -> Result<Vec<(BranchNo, StepId)>, Rejection> {
    let (state, plan) = (draft.run(run)?, draft.plan(run)?);
    let (mut waiting, mut others) = (Vec::new(), Vec::new());
    for (branch, live) in state.live_branches() {
        for (step, round) in live.front.rounds.iter().filter(|(step, _)| waits_at_limit(&plan, step)) {
            if round.left == 0 && round.iteration >= round.max {
                waiting.push((branch, step.clone(), round.max));
            } else {
                others.push((branch, step.clone(), round.max));
            }
        }
    }
    let found = if waiting.is_empty() { others } else { waiting };
    Ok(found.into_iter().filter(|(.., limit)| *limit < max).map(|(branch, step, _)| (branch, step)).collect())
}

fn waits_at_limit(plan: &LoadedPlan, step: &StepId) -> bool {
    plan.find(step).is_some_and(|node| match &plan.nodes[node].kind {
        NodeShape::Container { repeat: Some(repeat), .. } => repeat.at_limit == AtLimit::Pause,
        NodeShape::Container { repeat: None, .. } | NodeShape::Step | NodeShape::Gate(_) => false,
    })
}

/// The groups and loops around a node, with the passes that they are at.
fn path_to(plan: &LoadedPlan, front: &Front, node: usize) -> Vec<(StepId, u32)> {
    let mut path = Vec::new();
    let mut at = plan.nodes[node].parent;
    while let Some(around) = at {
        let info = &plan.nodes[around];
        path.push((info.id.clone(), front.rounds.get(&info.id).map_or(1, |round| round.iteration)));
        at = info.parent;
    }
    path.reverse();
    path
}

/// The limit of a loop that has made as many passes as it may and waits for a higher one.
pub fn limit_reached(draft: &Draft<'_>, run: RunId) -> Result<Option<u32>, Rejection> {
    let state = draft.run(run)?;
    let branch = state.graph.branch(state.graph.current());
    let rounds = branch.into_iter().flat_map(|branch| branch.front.rounds.values());
    Ok(rounds.filter(|round| round.left == 0 && round.iteration >= round.max).map(|round| round.max).max())
}

/// Whether a pass of a loop that pauses between passes only is under way.
pub(super) fn is_inside_whole(draft: &Draft<'_>, run: RunId) -> Result<bool, Rejection> {
    let (state, plan) = (draft.run(run)?, draft.plan(run)?);
    let branch = state.graph.branch(state.graph.current());
    let mut rounds = branch.into_iter().flat_map(|branch| branch.front.rounds.iter());
    Ok(rounds.any(|(step, round)| round.left > 0 && is_whole(&plan, step)))
}

/// Whether a step stands inside a loop that pauses between passes only.
pub(super) fn starts_in_pause(plan: &LoadedPlan, place: &Place) -> bool {
    place.path.iter().any(|(step, _)| is_whole(plan, step))
}

fn is_whole(plan: &LoadedPlan, step: &StepId) -> bool {
    plan.find(step).is_some_and(|node| match &plan.nodes[node].kind {
        NodeShape::Container { repeat: Some(repeat), .. } => repeat.whole,
        NodeShape::Container { repeat: None, .. } | NodeShape::Step | NodeShape::Gate(_) => false,
    })
}

/// Why a run pauses.
pub(super) fn pause_reason(draft: &Draft<'_>, run: RunId, failed: bool) -> Result<PauseReason, Rejection> {
    Ok(match failed {
        true => PauseReason::StepFailed,
        false if limit_reached(draft, run)?.is_some() => PauseReason::LimitReached,
        false => PauseReason::Asked,
    })
}
