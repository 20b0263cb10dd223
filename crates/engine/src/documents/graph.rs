//! A run as a graph: the steps of its plan with what became of them, and its durable points.

use holdpoint_core::plan::NodeShape;
use holdpoint_core::state::run::{NodeKind, RunState};
use holdpoint_core::{ExecutionId, RunId, StepId};
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
    /// Its number, from 1.
    pub id: u32,
    /// The point before it.
    pub parent: Option<u32>,
    /// `step`, `checkpoint` or `blocked_attempt`.
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
        for node in &plan.nodes {
            graph.nodes.push(GraphNode {
                id: node.id.0.to_string(),
                name: name_of(state, &node.id).unwrap_or_else(|| node.name.to_string()),
                kind: match node.kind {
                    NodeShape::Step => "step",
                    NodeShape::Gate(_) => "gate",
                    NodeShape::Container { .. } => "group",
                },
                position: node.position,
                parent: node.parent.map(|parent| plan.nodes[parent].id.0.to_string()),
                status: visits(state, &node.id).last().map(|execution| execution.state.name()),
                execution_ids: visits(state, &node.id).map(|execution| execution.id).collect(),
            });
            graph.edges.extend(node.next.iter().map(|next| GraphEdge {
                from: node.id.0.to_string(),
                to: plan.nodes[*next].id.0.to_string(),
            }));
        }
        Ok(graph)
    }
}

fn visits<'a>(
    run: &'a RunState,
    step: &'a StepId,
) -> impl Iterator<Item = &'a holdpoint_core::state::run::Execution> {
    run.executions.values().map(AsRef::as_ref).filter(move |execution| execution.place.step == *step)
}

fn name_of(run: &RunState, step: &StepId) -> Option<String> {
    visits(run, step).last()?.name.as_ref().map(ToString::to_string)
}

fn points(run: &RunState) -> Vec<GraphPoint> {
    let point =
        |(number, node): (&holdpoint_core::NodeNo, &std::sync::Arc<holdpoint_core::state::run::Node>)| {
            let (kind, execution) = match node.kind {
                NodeKind::Step(x) => ("step", run.execution(x).map(|execution| execution.id)),
                NodeKind::Checkpoint => ("checkpoint", None),
                NodeKind::BlockedAttempt => ("blocked_attempt", None),
            };
            GraphPoint {
                id: number.0,
                parent: node.parent.map(|parent| parent.0),
                kind,
                branch: node.branch.0,
                execution_id: execution,
            }
        };
    run.nodes.iter().map(point).collect()
}
