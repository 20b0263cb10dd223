//! Plans as tests write them, and what clients do with them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Scene, When, on_run, outcome};
use crate::command::RunCommand;
use crate::commands::advance::Advance;
use crate::commands::record_outcome::Outcome;
use crate::commands::take_snapshot::TakeSnapshot;
use crate::event::Usage;
use crate::plan::body::{Task, Work};
use crate::plan::{Body, Condition, Expr, Loop, OnError, Over, PlanKind, PlanStep, Test};
use crate::state::run::{Ack, AckKey};
use crate::{NodeNo, Plan, StepId};

/// A node after others.
pub(crate) fn node(id: &str, after: &[&str], kind: PlanKind) -> PlanStep {
    PlanStep::new(StepId::new(id), after.iter().map(|id| StepId::new(id)).collect(), kind)
}

/// A step after others.
pub(crate) fn step(id: &str, after: &[&str]) -> PlanStep {
    node(id, after, PlanKind::Step)
}

/// A node that is entered when a test holds.
pub(crate) fn when(test: Value, on_error: OnError, step: PlanStep) -> PlanStep {
    PlanStep { when: Some(Condition { expr: expr(test), on_error }), ..step }
}

/// A test as an expression; text is JavaScript as the scenes' evaluator reads it.
pub(crate) fn expr(test: Value) -> Expr {
    match test {
        Value::String(source) => Expr::Js(source.into()),
        test => Expr::Test(serde_json::from_value::<Test>(test).expect("a test")),
    }
}

/// A loop with the usual limit.
pub(crate) fn repeated(id: &str, after: &[&str], over: Over, body: Vec<PlanStep>) -> PlanStep {
    node(id, after, PlanKind::Loop(Loop { over, max: 1_000, ..Loop::times(body, 1) }))
}

/// A plan with one body for all of its steps.
pub(crate) fn plan_of(steps: Vec<PlanStep>, body: &Body) -> Plan {
    let body = Arc::new(body.clone());
    let mut plan = Plan { steps, ..Plan::default() };
    let mut todo: Vec<&PlanStep> = plan.steps.iter().collect();
    let mut ids = Vec::new();
    while let Some(step) = todo.pop() {
        match &step.kind {
            PlanKind::Step => ids.push(step.id.clone()),
            PlanKind::Gate(_) => {}
            PlanKind::Group(inner) => todo.extend(inner),
            PlanKind::Loop(repeated) => todo.extend(&repeated.body),
        }
    }
    plan.bodies = ids.into_iter().map(|id| (id, body.clone())).collect();
    plan
}

/// Work for a client.
pub(crate) fn outside() -> Body {
    Body::new(Work::Outside(Task { prompt: "do it".into() }))
}

/// Work that is done and leaves values in the context.
pub(crate) fn outcome_leaving(scene: &Scene, n: u32, x: u32, output: Option<Value>, context: Value) -> When {
    let context = object(context);
    outcome(scene, n, x, Outcome::Done { output, artifacts: Vec::new(), context, usage: Usage::default() })
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

/// A client hands in notes and continues from a node.
pub(crate) fn hand_in(n: u32, node: u32, attempt: u32, notes: &str) -> When {
    hand_in_with(n, node, attempt, notes, json!({}))
}

/// The same, with values for the context.
pub(crate) fn hand_in_with(n: u32, node: u32, attempt: u32, notes: &str, context: Value) -> When {
    let output = Some(json!({ "notesMarkdown": notes }));
    let (node, context) = (NodeNo(node), object(context));
    on_run(n, RunCommand::Advance(Advance { node, attempt, output, context }))
}

/// A client saves the state at a node.
pub(crate) fn snapshot(n: u32, node: u32, notes: &str) -> When {
    let (node, output, tags) = (NodeNo(node), json!({ "notesMarkdown": notes }), Vec::new());
    on_run(n, RunCommand::TakeSnapshot(TakeSnapshot { node, output, tags }))
}

impl Scene {
    /// What came of a client's call.
    pub fn ack(&self, n: u32, node: u32, attempt: u32) -> Option<Ack> {
        self.state(n).acks.get(&(NodeNo(node), AckKey::Advance(attempt))).copied()
    }

    /// The value of a context key on the current branch.
    pub fn context(&self, n: u32, key: &str) -> Option<Value> {
        let graph = &self.state(n).graph;
        let front = &graph.branch(graph.current()).expect("a branch").front;
        front.context.get(key).map(|var| Value::clone(&var.value))
    }
}

/// The newest rollback or recovery of a run that is not undone.
pub(crate) fn last_rollback(scene: &Scene, n: u32) -> crate::RollbackId {
    let branches = scene.state(n).live_branches().filter_map(|(_, branch)| branch.cause.rollback());
    branches.last().expect("a rollback")
}
