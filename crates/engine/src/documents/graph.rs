//! A run as a graph: the steps of its plan with what became of them, and its durable points.

use std::collections::BTreeMap;

use holdpoint_core::plan::NodeShape;
use holdpoint_core::state::run::{Execution, Node, NodeKind, RunState};
use holdpoint_core::{ExecutionId, NodeNo, RunId, StepId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Engine, SubmitError};

/// A run's graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphDocument {
    /// The run.
    pub run_id: RunId,
    /// The steps of its plan.
    pub nodes: Vec<GraphNode>,
    /// Which step stands behind which.
    pub edges: Vec<GraphEdge>,
    /// What happened, point by point; going back and going on from there makes a branch.
    pub points: Vec<GraphPoint>,
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
    /// Its visits, oldest first.
    pub execution_ids: Vec<ExecutionId>,
}

/// One step behind another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphEdge {
    /// The one before.
    pub from: String,
    /// The one behind.
    pub to: String,
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
    /// The execution that it stands for.
    pub execution_id: Option<ExecutionId>,
}

impl Engine {
    /// The graph of a run that was not rolled back.
    pub async fn graph_document(&self, run: RunId) -> Result<GraphDocument, SubmitError> {
        let source = self.run_source(run).await?;
        let state = source.state();
        let mut graph =
            GraphDocument { run_id: run, nodes: Vec::new(), edges: Vec::new(), points: points(state) };
        let Some(plan) = source.plan() else {
            return Ok(graph);
        };
        let visits = visits(state);
        for node in &plan.nodes {
            let visits = visits.get(&node.id).map_or(&[][..], Vec::as_slice);
            let name = visits.last().and_then(|execution| execution.name.as_ref());
            graph.nodes.push(GraphNode {
                id: node.id.0.to_string(),
                name: name.unwrap_or(&node.name).to_string(),
                kind: match node.kind {
                    NodeShape::Step => "step",
                    NodeShape::Gate(_) => "gate",
                    NodeShape::Container { .. } => "group",
                },
                position: node.position,
                parent: node.parent.map(|parent| plan.nodes[parent].id.0.to_string()),
                status: visits.last().map(|execution| execution.state.name()),
                execution_ids: visits.iter().map(|execution| execution.id).collect(),
            });
            graph.edges.extend(node.next.iter().map(|next| GraphEdge {
                from: node.id.0.to_string(),
                to: plan.nodes[*next].id.0.to_string(),
            }));
        }
        Ok(graph)
    }
}

/// The visits to each step that were not rolled back, in one pass over the run.
fn visits(run: &RunState) -> BTreeMap<&StepId, Vec<&Execution>> {
    let mut visits: BTreeMap<&StepId, Vec<&Execution>> = BTreeMap::new();
    for (_, execution) in run.executions() {
        visits.entry(&execution.place.step).or_default().push(execution);
    }
    visits
}

fn points(run: &RunState) -> Vec<GraphPoint> {
    let point = |(number, node): (NodeNo, &Node)| {
        let (kind, execution) = match &node.kind {
            // The beginning of a run is a point that can be continued from, like a step.
            NodeKind::Start => ("step", None),
            NodeKind::Step(x) => ("step", run.execution(*x).map(|execution| execution.id)),
            NodeKind::Gate(..) => ("gate", None),
            NodeKind::Snapshot(_) => ("snapshot", None),
            NodeKind::Blocked(blocked) => {
                ("blocked", run.graph.any_execution(blocked.x).map(|execution| execution.id))
            }
        };
        GraphPoint {
            id: number.0,
            parent: run.graph.parent(number).map(|parent| parent.0),
            kind,
            branch: node.branch.0,
            execution_id: execution,
        }
    };
    run.graph.nodes(0).map(point).collect()
}
