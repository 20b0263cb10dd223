//! A run as a graph: the steps of its plan with what became of them, and its durable points.

use std::collections::{BTreeMap, VecDeque};

use holdpoint_core::plan::{LoadedNode, NodeShape};
use holdpoint_core::state::run::{Branch, Cause, Execution, Node, NodeKind, RunState};
use holdpoint_core::{
    BranchNo, ExecutionId, GateId, LoadedPlan, NodeNo, RollbackId, RunId, SnapshotId, StepId,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::Time;
use crate::{Engine, SubmitError};

/// How many visits of a step the graph names.
const VISITS: usize = 20;

/// A run's graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphDocument {
    /// The run.
    pub run_id: RunId,
    /// The steps of its plan. They come with the first page only.
    pub nodes: Vec<GraphNode>,
    /// Which step follows which. They come with the first page only.
    pub edges: Vec<GraphEdge>,
    /// The ways that the run has taken. They come with the first page only.
    pub branches: Vec<GraphBranch>,
    /// What happened, point by point, oldest first; going back and continuing from there makes a branch.
    pub points: Vec<GraphPoint>,
    /// The number of the next point, if there are more.
    #[serde(skip)]
    pub next: Option<u32>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphNode {
    /// Its name in the plan; for a pipeline the checkpoint's id.
    pub id: String,
    /// What people read.
    pub name: String,
    /// `step`, `gate` or `group`.
    pub kind: &'static str,
    /// Its place among its siblings.
    pub position: u32,
    /// The group around it.
    pub parent: Option<String>,
    /// Where its latest visit stands; none: it was not reached yet.
    pub status: Option<&'static str>,
    /// How many visits it had that were not rolled back.
    pub visits: u32,
    /// The last 20 of them, oldest first.
    pub execution_ids: Vec<ExecutionId>,
}

/// One step after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphEdge {
    /// The step before.
    pub from: String,
    /// The step after it.
    pub to: String,
}

/// A way through the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphBranch {
    /// Its number, from 0.
    pub id: u32,
    /// The point that it continues from.
    pub from: u32,
    /// Its newest point that is no snapshot and no refused result.
    pub head: u32,
    /// Why it was made: `start`, `fork`, `rollback` or `recover`.
    pub cause: &'static str,
    /// The rollback or recovery that made it.
    pub rollback_id: Option<RollbackId>,
    /// The rollback or recovery that retired it; null: it can be continued.
    pub retired_by: Option<RollbackId>,
    /// Whether the run is where this branch is.
    pub current: bool,
}

/// A durable point of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphPoint {
    /// Its number, from 0.
    pub id: u32,
    /// The point before it.
    pub parent: Option<u32>,
    /// `step`, `gate`, `snapshot` or `blocked`.
    pub kind: &'static str,
    /// The branch in which it was made.
    pub branch: u32,
    /// The step of the plan; null for the start of a run and for snapshots.
    pub step: Option<String>,
    /// When it was made.
    pub created_at: Option<Time>,
    /// The execution that it stands for.
    pub execution_id: Option<ExecutionId>,
    /// The rollback that took the execution out of the active views.
    pub rollback_id: Option<RollbackId>,
    /// The gate that was answered.
    pub gate_id: Option<GateId>,
    /// The snapshot that was taken.
    pub snapshot_id: Option<SnapshotId>,
}

/// Which points of a graph are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Points {
    /// The number of the first one.
    pub from: u32,
    /// How many at most.
    pub limit: u32,
}

impl Engine {
    /// The graph of a run that was not rolled back. What grows with the plan comes with the first points only.
    pub async fn graph_document(&self, run: RunId, points: Points) -> Result<GraphDocument, SubmitError> {
        let source = self.run_source(run).await?;
        let state = source.state();
        let end = points.from.saturating_add(points.limit);
        let is_first = points.from == 0;
        Ok(GraphDocument {
            run_id: run,
            nodes: source.plan().filter(|_| is_first).map(|plan| plan_nodes(plan, state)).unwrap_or_default(),
            edges: source.plan().filter(|_| is_first).map(plan_edges).unwrap_or_default(),
            branches: if is_first { branches(state) } else { Vec::new() },
            points: state
                .graph
                .nodes(points.from)
                .take(points.limit as usize)
                .map(|(n, node)| point(state, n, node))
                .collect(),
            next: (end < state.graph.node_count()).then_some(end),
        })
    }
}

fn plan_nodes(plan: &LoadedPlan, run: &RunState) -> Vec<GraphNode> {
    let visits = visits(run);
    let node = |node: &LoadedNode| {
        let visits = visits.get(&node.id);
        let newest = visits.and_then(|visits| visits.newest.back().copied());
        let name = newest.and_then(|execution| execution.name.as_ref());
        let newest_ids = visits.iter().flat_map(|visits| visits.newest.iter());
        GraphNode {
            id: node.id.0.to_string(),
            name: name.unwrap_or(&node.name).to_string(),
            kind: match node.kind {
                NodeShape::Step => "step",
                NodeShape::Gate(_) => "gate",
                NodeShape::Container { .. } => "group",
            },
            position: node.position,
            parent: node.parent.map(|parent| plan.nodes[parent].id.0.to_string()),
            status: newest.map(|execution| execution.state.name()),
            visits: visits.map_or(0, |visits| visits.count),
            execution_ids: newest_ids.map(|execution| execution.id).collect(),
        }
    };
    plan.nodes.iter().map(node).collect()
}

fn plan_edges(plan: &LoadedPlan) -> Vec<GraphEdge> {
    let edges = |node: &LoadedNode| {
        let to = |next: &usize| plan.nodes[*next].id.0.to_string();
        let from = node.id.0.to_string();
        node.next.iter().map(|next| GraphEdge { from: from.clone(), to: to(next) }).collect::<Vec<_>>()
    };
    plan.nodes.iter().flat_map(edges).collect()
}

/// The visits to a step that were not rolled back.
#[derive(Default)]
struct Visits<'a> {
    count: u32,
    /// The last of them.
    newest: VecDeque<&'a Execution>,
}

/// The visits to each step, in one pass over the run.
fn visits(run: &RunState) -> BTreeMap<&StepId, Visits<'_>> {
    let mut all: BTreeMap<&StepId, Visits<'_>> = BTreeMap::new();
    for (_, execution) in run.executions() {
        let visits = all.entry(&execution.place.step).or_default();
        visits.count += 1;
        if visits.newest.len() == VISITS {
            visits.newest.pop_front();
        }
        visits.newest.push_back(execution);
    }
    all
}

fn branches(run: &RunState) -> Vec<GraphBranch> {
    let current = run.graph.current();
    let branch = |(no, branch): (BranchNo, &Branch)| GraphBranch {
        id: no.0,
        from: branch.from.0,
        head: branch.head.0,
        cause: match branch.cause {
            Cause::Start => "start",
            Cause::Fork => "fork",
            Cause::Rollback(_) => "rollback",
            Cause::Recover(_) => "recover",
        },
        rollback_id: branch.cause.rollback(),
        retired_by: branch.retired.as_ref().map(|retired| retired.by),
        current: no == current,
    };
    run.graph.branches().map(branch).collect()
}

fn point(run: &RunState, n: NodeNo, node: &Node) -> GraphPoint {
    let mut point = GraphPoint {
        id: n.0,
        parent: run.graph.parent(n).map(|parent| parent.0),
        kind: "step",
        branch: node.branch.0,
        step: None,
        created_at: None,
        execution_id: None,
        rollback_id: None,
        gate_id: None,
        snapshot_id: None,
    };
    let mut of_execution = |x| {
        let execution = run.graph.any_execution(x)?;
        (point.execution_id, point.rollback_id) = (Some(execution.id), execution.rolled_back);
        point.step = Some(execution.place.step.to_string());
        Some(execution)
    };
    match &node.kind {
        // The beginning of a run is a point that can be continued from, like a step.
        NodeKind::Start => point.created_at = run.times.started.map(Time::from),
        NodeKind::Step(x) => {
            point.created_at =
                of_execution(*x).and_then(|execution| execution.times.completed).map(Time::from)
        }
        NodeKind::Gate(gate, place, at) => {
            (point.kind, point.created_at, point.gate_id) = ("gate", Some((*at).into()), Some(*gate));
            point.step = Some(place.step.to_string());
        }
        NodeKind::Snapshot(taken) => {
            (point.kind, point.created_at, point.snapshot_id) =
                ("snapshot", Some(taken.at.into()), Some(taken.id));
        }
        NodeKind::Blocked(blocked) => {
            of_execution(blocked.x);
            (point.kind, point.created_at) = ("blocked", Some(blocked.at.into()));
        }
    }
    point
}
