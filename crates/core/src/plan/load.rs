//! Loading a plan: its checks, and its edges from each step to the next ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Body, Choice, ChoiceAction, Plan, PlanKind, PlanStep};
use crate::counter::count;
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
    /// Children that are visited `times` times; a group once.
    Container {
        /// The children that need no sibling.
        roots: Vec<usize>,
        /// How many children.
        children: u32,
        /// How often.
        times: u32,
        /// Whether it is a loop and not a group.
        is_loop: bool,
    },
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
    #[error("the plan, or a group or loop in it, has no steps")]
    Empty,
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
            by_id: BTreeMap::new(),
            roots: Vec::new(),
        };
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
        Ok(loaded)
    }
}

impl LoadedPlan {
    /// A node by its name.
    pub fn find(&self, id: &StepId) -> Option<usize> {
        self.by_id.get(id).copied()
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
        if steps.is_empty() {
            return Err(PlanFault::Empty);
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
                PlanKind::Loop { body, times } => self.container(body, index, Some(*times))?,
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

    /// A loop of so many passes, or a group.
    fn container(
        &mut self,
        children: &[PlanStep],
        index: usize,
        passes: Option<u32>,
    ) -> Result<NodeShape, PlanFault> {
        let roots = self.level(children, Some(index))?;
        let (times, is_loop) = (passes.unwrap_or(1).max(1), passes.is_some());
        Ok(NodeShape::Container { roots, children: children.len() as u32, times, is_loop })
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
        }
    }

    fn plan(steps: Vec<PlanStep>) -> Plan {
        Plan { steps, bodies: BTreeMap::new() }
    }

    #[test]
    fn a_plan_that_cannot_run_says_why() {
        let fault = |steps| plan(steps).load().expect_err("a fault");
        assert_eq!(fault(vec![]), PlanFault::Empty);
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
            PlanStep { kind: PlanKind::Loop { body: vec![step("b", &["a"])], times: 3 }, ..step("l", &[]) };
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
