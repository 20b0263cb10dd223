//! Loading a plan: its checks, and its edges from each step to the next ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    AtLimit, Body, Choice, ChoiceAction, Condition, Count, Expr, Loop, Over, Plan, PlanKind, PlanStep,
};
use crate::context::{layer_of, matches};
use crate::counter::count;
use crate::facts::Evaluator;
use crate::state::run::Layer;
use crate::{Digest, StepId};

/// A plan with its edges turned round, ready for the rules.
#[derive(Debug)]
pub struct LoadedPlan {
    /// The plan's name.
    pub digest: Digest,
    /// Bodies by step.
    pub bodies: BTreeMap<StepId, Arc<Body>>,
    /// All nodes at all levels, outer before inner, in the order of the plan.
    pub nodes: Vec<LoadedNode>,
    /// How many attempts may have work owed before the walk begins no new step.
    pub parallel: u32,
    layers: Vec<(Arc<str>, Layer)>,
    /// The steps whose outputs expressions name; `None` stands for all of them.
    named: BTreeSet<Option<StepId>>,
    by_id: BTreeMap<StepId, usize>,
    roots: Vec<usize>,
}

/// One node with its neighbours, as indexes into [`LoadedPlan::nodes`].
#[derive(Debug)]
pub struct LoadedNode {
    /// Its name.
    pub id: StepId,
    /// What people read.
    pub name: Arc<str>,
    /// What it is.
    pub kind: NodeShape,
    /// Whether it is entered when it is reached; none: always.
    pub when: Option<Condition>,
    /// How many siblings must be done before.
    pub needs: u32,
    /// The siblings behind it.
    pub next: Vec<usize>,
    /// The group or loop around it.
    pub parent: Option<usize>,
    /// Its place among its siblings.
    pub position: u32,
    /// The length of the longest way to it among its siblings. Every edge leads to a higher rank.
    rank: u32,
}

/// What a loaded node is.
#[derive(Debug)]
pub enum NodeShape {
    /// A unit of work.
    Step,
    /// A choice.
    Gate(Arc<Choice>),
    /// Children that are visited together.
    Container {
        /// The children that need no sibling.
        roots: Vec<usize>,
        /// How many children.
        children: u32,
        /// How a loop repeats them; none: a group, which visits them once.
        repeat: Option<Box<Repeat>>,
    },
}

/// How a loop repeats its children.
#[derive(Debug)]
pub struct Repeat {
    /// How often.
    pub over: Over,
    /// Ends the run as failed when it holds before a pass.
    pub fail_if: Option<Expr>,
    /// How many passes at most.
    pub max: u32,
    /// What happens when another pass would exceed the limit.
    pub at_limit: AtLimit,
    /// Whether a pause waits for the end of a pass.
    pub whole: bool,
}

/// Why a plan cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// Two nodes share a name.
    #[error("two steps are called `{0}`")]
    Twice(StepId),
    /// An edge begins at nothing.
    #[error("step `{0}` comes after `{1}`, which is not beside it")]
    Unknown(StepId, StepId),
    /// Steps wait for each other.
    #[error("steps wait for each other: {0:?}")]
    Cycle(Vec<StepId>),
    /// A step has no body.
    #[error("step `{0}` has no body")]
    NoBody(StepId),
    /// There is nothing to do.
    #[error("group or loop `{0}` has no steps")]
    Empty(StepId),
    /// An expression cannot be read.
    #[error("step `{0}`: {1}")]
    Expression(StepId, String),
    /// No step could ever begin.
    #[error("a plan runs at least one step at a time")]
    Parallel,
    /// A gate cannot be answered, or not clearly.
    #[error("gate `{0}` needs options with different labels")]
    Options(StepId),
    /// A gate repeats something that does not stand before it.
    #[error("gate `{0}` repeats `{1}`, which does not stand before it")]
    Repeat(StepId, StepId),
    /// A gate leaves out something that is not there.
    #[error("gate `{0}` leaves out `{1}`, which is not in the plan")]
    Skip(StepId, StepId),
}

impl Plan {
    /// Checks the plan and turns its edges round. Linear in nodes and edges.
    pub fn load(&self) -> Result<LoadedPlan, PlanFault> {
        let mut loaded = LoadedPlan {
            digest: self.digest(),
            bodies: self.bodies.clone(),
            nodes: Vec::with_capacity(self.steps.len()),
            parallel: self.parallel,
            layers: self.layers.clone(),
            named: BTreeSet::new(),
            by_id: BTreeMap::new(),
            roots: Vec::new(),
        };
        if self.parallel == 0 {
            return Err(PlanFault::Parallel);
        }
        loaded.roots = loaded.level(&self.steps, None)?;
        for node in &loaded.nodes {
            if matches!(node.kind, NodeShape::Step)
                && !self.bodies.is_empty()
                && !self.bodies.contains_key(&node.id)
            {
                return Err(PlanFault::NoBody(node.id.clone()));
            }
        }
        loaded.check_choices()?;
        loaded.named = loaded.named_steps();
        Ok(loaded)
    }
}

impl LoadedPlan {
    /// A node by its name.
    pub fn find(&self, id: &StepId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Whether all expressions of the plan can be read.
    pub fn check_expressions(&self, evaluator: &dyn Evaluator) -> Result<(), PlanFault> {
        for (step, expr) in self.expressions() {
            expr.check(evaluator).map_err(|why| PlanFault::Expression(step.clone(), why))?;
        }
        Ok(())
    }

    /// The layer of a context key: the plan's, else that of its name.
    pub fn layer(&self, key: &str) -> Layer {
        self.declared_layer(key).unwrap_or_else(|| layer_of(key))
    }

    /// The layer that the plan itself gives a context key.
    pub fn declared_layer(&self, key: &str) -> Option<Layer> {
        self.layers.iter().find(|(pattern, _)| matches(pattern, key)).map(|(_, layer)| *layer)
    }

    /// Whether an expression of the plan reads the output of a step.
    pub fn reads_output(&self, step: &StepId) -> bool {
        !self.named.is_empty() && (self.named.contains(&None) || self.named.contains(&Some(step.clone())))
    }

    fn named_steps(&self) -> BTreeSet<Option<StepId>> {
        let mut named = BTreeSet::new();
        self.expressions().for_each(|(_, expr)| expr.named_steps(&mut named));
        named
    }

    /// All expressions with the steps that have them.
    fn expressions(&self) -> impl Iterator<Item = (&StepId, &Expr)> {
        let of_nodes = self.nodes.iter().flat_map(|node| {
            let repeat = match &node.kind {
                NodeShape::Container { repeat, .. } => repeat.as_deref(),
                NodeShape::Step | NodeShape::Gate(_) => None,
            };
            let over = repeat.and_then(|repeat| match &repeat.over {
                Over::Times(Count::Fixed(_)) => None,
                Over::Times(Count::Of(expr)) | Over::While(expr) | Over::Until(expr) | Over::Each(expr) => {
                    Some(expr)
                }
            });
            let when = node.when.as_ref().map(|when| &when.expr);
            let found = when.into_iter().chain(over).chain(repeat.and_then(|repeat| repeat.fail_if.as_ref()));
            found.map(|expr| (&node.id, expr))
        });
        let of_bodies = self.bodies.iter().flat_map(|(step, body)| {
            let approvals = [&body.policy.approve_start, &body.policy.approve_complete];
            approvals.into_iter().filter_map(move |approval| Some((step, approval.when.expression()?)))
        });
        of_nodes.chain(of_bodies)
    }

    /// The nodes that a run begins with.
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// How many units of work stand at the top level: what people count as a pipeline's checkpoints.
    pub fn total(&self) -> u32 {
        self.nodes.iter().filter(|node| node.parent.is_none()).count() as u32
    }

    /// The siblings on the way from one node to another, both included; nothing when no way leads there.
    pub fn between(&self, from: usize, to: usize) -> Vec<usize> {
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut seen = BTreeSet::from([from]);
        let mut todo = vec![from];
        // No way leads back from a rank, so what is beyond that of `to` is not looked at.
        let is_before = |node: usize| node == to || self.nodes[node].rank < self.nodes[to].rank;
        while let Some(node) = todo.pop() {
            count(1);
            for &next in self.nodes[node].next.iter().filter(|&&next| node != to && is_before(next)) {
                before.entry(next).or_default().push(node);
                if seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        let mut on_way = BTreeSet::new();
        let mut todo = if seen.contains(&to) { vec![to] } else { Vec::new() };
        while let Some(node) = todo.pop() {
            if on_way.insert(node) {
                todo.extend(before.get(&node).into_iter().flatten());
            }
        }
        on_way.into_iter().collect()
    }

    /// Every option of every gate leads somewhere.
    fn check_choices(&self) -> Result<(), PlanFault> {
        for (index, node) in self.nodes.iter().enumerate() {
            let NodeShape::Gate(choice) = &node.kind else { continue };
            let labels: BTreeSet<_> = choice.options.iter().map(|option| &option.label).collect();
            if labels.is_empty() || labels.len() != choice.options.len() {
                return Err(PlanFault::Options(node.id.clone()));
            }
            for option in &choice.options {
                match &option.action {
                    ChoiceAction::Continue | ChoiceAction::Pause | ChoiceAction::Abort => {}
                    ChoiceAction::Repeat(step) => {
                        let before = |from: usize| from != index && !self.between(from, index).is_empty();
                        if !self.find(step).is_some_and(before) {
                            return Err(PlanFault::Repeat(node.id.clone(), step.clone()));
                        }
                    }
                    ChoiceAction::Skip(steps) => {
                        if let Some(unknown) = steps.iter().find(|step| self.find(step).is_none()) {
                            return Err(PlanFault::Skip(node.id.clone(), unknown.clone()));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn level(&mut self, steps: &[PlanStep], parent: Option<usize>) -> Result<Vec<usize>, PlanFault> {
        if let (true, Some(parent)) = (steps.is_empty(), parent) {
            return Err(PlanFault::Empty(self.nodes[parent].id.clone()));
        }
        let mut here = Vec::with_capacity(steps.len());
        for (position, step) in steps.iter().enumerate() {
            let index = self.nodes.len();
            if self.by_id.insert(step.id.clone(), index).is_some() {
                return Err(PlanFault::Twice(step.id.clone()));
            }
            self.nodes.push(LoadedNode {
                id: step.id.clone(),
                name: step.name.clone(),
                kind: NodeShape::Step,
                when: step.when.clone(),
                needs: step.after.len() as u32,
                next: Vec::new(),
                parent,
                position: position as u32,
                rank: 0,
            });
            here.push(index);
            let shape = match &step.kind {
                PlanKind::Step => NodeShape::Step,
                PlanKind::Gate(choice) => NodeShape::Gate(Arc::new(choice.clone())),
                PlanKind::Group(members) => self.container(members, index, None)?,
                PlanKind::Loop(repeated) => {
                    let Loop { body, over, fail_if, max, at_limit, whole } = repeated;
                    let (over, fail_if) = (over.clone(), fail_if.clone());
                    let repeat = Repeat { over, fail_if, max: *max, at_limit: *at_limit, whole: *whole };
                    self.container(body, index, Some(Box::new(repeat)))?
                }
            };
            self.nodes[index].kind = shape;
        }
        for (step, &index) in steps.iter().zip(&here) {
            for before in &step.after {
                let unknown = || PlanFault::Unknown(step.id.clone(), before.clone());
                let from =
                    self.find(before).filter(|&i| self.nodes[i].parent == parent).ok_or_else(unknown)?;
                self.nodes[from].next.push(index);
            }
        }
        self.acyclic(&here)?;
        Ok(here.into_iter().filter(|&index| self.nodes[index].needs == 0).collect())
    }

    /// A loop, or a group.
    fn container(
        &mut self,
        children: &[PlanStep],
        index: usize,
        repeat: Option<Box<Repeat>>,
    ) -> Result<NodeShape, PlanFault> {
        let roots = self.level(children, Some(index))?;
        Ok(NodeShape::Container { roots, children: children.len() as u32, repeat })
    }

    fn acyclic(&mut self, level: &[usize]) -> Result<(), PlanFault> {
        let mut needs: BTreeMap<usize, u32> = level.iter().map(|&i| (i, self.nodes[i].needs)).collect();
        let mut free: Vec<usize> = level.iter().copied().filter(|&i| self.nodes[i].needs == 0).collect();
        while let Some(index) = free.pop() {
            needs.remove(&index);
            let (rank, behind) = (self.nodes[index].rank + 1, std::mem::take(&mut self.nodes[index].next));
            for &next in &behind {
                self.nodes[next].rank = self.nodes[next].rank.max(rank);
                if let Some(left) = needs.get_mut(&next) {
                    *left -= 1;
                    if *left == 0 {
                        free.push(next);
                    }
                }
            }
            self.nodes[index].next = behind;
        }
        if needs.is_empty() {
            return Ok(());
        }
        Err(PlanFault::Cycle(needs.keys().map(|&i| self.nodes[i].id.clone()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ChoiceOption;

    fn step(id: &str, after: &[&str]) -> PlanStep {
        PlanStep {
            id: StepId::new(id),
            name: id.into(),
            after: after.iter().map(|a| StepId::new(a)).collect(),
            kind: PlanKind::Step,
            when: None,
        }
    }

    fn plan(steps: Vec<PlanStep>) -> Plan {
        Plan { steps, ..Plan::default() }
    }

    #[test]
    fn a_plan_that_cannot_run_says_why() {
        let fault = |steps| plan(steps).load().expect_err("a fault");
        let empty = PlanStep { kind: PlanKind::Group(Vec::new()), ..step("g", &[]) };
        assert_eq!(fault(vec![empty]), PlanFault::Empty(StepId::new("g")));
        assert!(plan(vec![]).load().is_ok(), "a run may have snapshots only");
        let none = Plan { parallel: 0, ..plan(vec![step("a", &[])]) };
        assert_eq!(none.load().expect_err("a fault"), PlanFault::Parallel);
        assert_eq!(fault(vec![step("a", &[]), step("a", &[])]), PlanFault::Twice(StepId::new("a")));
        assert_eq!(fault(vec![step("a", &["z"])]), PlanFault::Unknown(StepId::new("a"), StepId::new("z")));
        assert_eq!(
            fault(vec![step("a", &[]), step("b", &["c"]), step("c", &["b"])]),
            PlanFault::Cycle(vec![StepId::new("b"), StepId::new("c")])
        );
    }

    #[test]
    fn an_edge_into_a_loop_is_refused() {
        let inner =
            PlanStep { kind: PlanKind::Loop(Loop::times(vec![step("b", &["a"])], 3)), ..step("l", &[]) };
        let fault = plan(vec![step("a", &[]), inner]).load().expect_err("a fault");
        assert_eq!(fault, PlanFault::Unknown(StepId::new("b"), StepId::new("a")));
    }

    #[test]
    fn the_name_of_a_plan_is_its_content() {
        let one = Plan::linear([(StepId::new("a"), "A".into()), (StepId::new("b"), "B".into())]);
        let two = plan(vec![
            PlanStep { name: "A".into(), ..step("a", &[]) },
            PlanStep { name: "B".into(), ..step("b", &["a"]) },
        ]);
        assert_eq!(one.digest(), two.digest());
        assert_eq!(one.load().expect("a plan").total(), 2);
    }

    #[test]
    fn every_option_of_a_gate_leads_somewhere() {
        let gate = |options: &[(&str, ChoiceAction)]| PlanStep {
            kind: PlanKind::Gate(Choice {
                prompt: "Good?".into(),
                options: options
                    .iter()
                    .map(|(label, action)| ChoiceOption { label: (*label).into(), action: action.clone() })
                    .collect(),
                ..Choice::default()
            }),
            ..step("g", &["a"])
        };
        let fault = |options: &[(&str, ChoiceAction)]| {
            plan(vec![step("a", &[]), gate(options), step("b", &["g"])]).load().err()
        };
        let (a, b, g) = (StepId::new("a"), StepId::new("b"), StepId::new("g"));
        let repeat = |id: &StepId| [("again", ChoiceAction::Repeat(id.clone()))];
        assert_eq!(fault(&repeat(&a)), None);
        assert_eq!(fault(&repeat(&b)), Some(PlanFault::Repeat(g.clone(), b)));
        assert_eq!(fault(&repeat(&g)), Some(PlanFault::Repeat(g.clone(), g.clone())));
        assert_eq!(fault(&[]), Some(PlanFault::Options(g.clone())));
        let twice = [("on", ChoiceAction::Continue), ("on", ChoiceAction::Abort)];
        assert_eq!(fault(&twice), Some(PlanFault::Options(g.clone())));
        let skip = [("without", ChoiceAction::Skip(vec![StepId::new("z")]))];
        assert_eq!(fault(&skip), Some(PlanFault::Skip(g, StepId::new("z"))));
    }
}
