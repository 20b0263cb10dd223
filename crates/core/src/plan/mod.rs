//! What a run executes: a DAG of steps, gates, parallel groups and loops, and the bodies of its steps.
//!
//! A plan is immutable and named by the SHA-256 of its canonical JSON. Every way to write a workflow ends
//! here; the rules know nothing else.

pub mod body;
pub mod condition;
mod load;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use body::Body;
pub use condition::{Condition, Evaluated, Expr, OnError, Op, Test};
pub use load::{LoadedNode, LoadedPlan, NodeShape, PlanFault, Repeat};

use crate::assurance::Level;
use crate::state::run::Layer;
use crate::{Digest, StepId};

/// A skeleton and the bodies that are pinned with it.
///
/// A pipeline's plan has no bodies: an execution pins its checkpoint's definition when it is created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The top level. A run of a plan without steps has snapshots only, and ends by command.
    #[serde(default)]
    pub steps: Vec<PlanStep>,
    /// Bodies by step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bodies: BTreeMap<StepId, Arc<Body>>,
    /// How many attempts may have work owed before the walk begins no new step.
    #[serde(default = "sixteen", skip_serializing_if = "is_sixteen")]
    pub parallel: u32,
    /// Layers of context keys by pattern; the first that matches counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<(Arc<str>, Layer)>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { steps: Vec::new(), bodies: BTreeMap::new(), parallel: sixteen(), layers: Vec::new() }
    }
}

fn sixteen() -> u32 {
    16
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
fn is_sixteen(n: &u32) -> bool {
    *n == 16
}

/// One node of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Its name, unique in the whole plan.
    pub id: StepId,
    /// What people read.
    pub name: Arc<str>,
    /// The siblings that must be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<StepId>,
    /// What it is.
    #[serde(default, skip_serializing_if = "PlanKind::is_step")]
    pub kind: PlanKind,
    /// Whether it is entered when it is reached; none: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}

impl PlanStep {
    /// A node that is always entered.
    pub fn new(id: StepId, after: Vec<StepId>, kind: PlanKind) -> Self {
        Self { name: id.0.clone(), id, after, kind, when: None }
    }
}

/// What a node of a plan is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// A unit of work.
    #[default]
    Step,
    /// A choice that a person makes.
    Gate(Choice),
    /// Nodes that begin together; done when all are.
    Group(Vec<PlanStep>),
    /// Nodes that are repeated.
    Loop(Loop),
}

/// Nodes that are repeated. What ends the loop is tested before each pass, then its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// What is repeated.
    pub body: Vec<PlanStep>,
    /// How often.
    pub over: Over,
    /// Ends the run as failed when it holds before a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_if: Option<Expr>,
    /// How many passes at most.
    #[serde(default = "thousand")]
    pub max: u32,
    /// What happens when another pass would exceed the limit.
    #[serde(default, skip_serializing_if = "AtLimit::is_continue")]
    pub at_limit: AtLimit,
    /// Whether a pause waits for the end of a pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

fn thousand() -> u32 {
    1_000
}

impl Loop {
    /// So many passes.
    pub fn times(body: Vec<PlanStep>, passes: u32) -> Self {
        let over = Over::Times(Count::Fixed(passes));
        Self { body, over, fail_if: None, max: passes, at_limit: AtLimit::Continue, whole: false }
    }
}

/// What decides how often a loop is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// A number of passes.
    Times(Count),
    /// As long as it holds.
    While(Expr),
    /// Until it holds.
    Until(Expr),
    /// Once for each item of a list, which is read when the loop is entered.
    Each(Expr),
}

/// A number of passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// This many.
    Fixed(u32),
    /// What it comes to when the loop is entered.
    Of(Expr),
}

/// What happens when another pass would exceed a loop's limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtLimit {
    /// The run continues behind the loop.
    #[default]
    Continue,
    /// The run has failed.
    Fail,
    /// The run pauses. Resuming it with a higher limit makes more passes.
    Pause,
}

impl AtLimit {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    fn is_continue(&self) -> bool {
        *self == Self::Continue
    }
}

impl PlanKind {
    fn is_step(&self) -> bool {
        matches!(self, Self::Step)
    }
}

/// A question with options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What is asked.
    pub prompt: Arc<str>,
    /// What can be answered.
    pub options: Vec<ChoiceOption>,
    /// The weakest proof that an answer needs.
    #[serde(default, skip_serializing_if = "Level::is_local")]
    pub minimum: Level,
    /// Minutes after which it can no longer be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u32>,
}

/// One answer and what it makes happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceOption {
    /// What people pick.
    pub label: Arc<str>,
    /// What follows.
    pub action: ChoiceAction,
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceAction {
    /// Goes on behind the gate.
    Continue,
    /// Visits an earlier sibling again and comes back to the gate.
    Repeat(StepId),
    /// Goes on, leaving out these steps when they are reached.
    Skip(Vec<StepId>),
    /// Closes the gate and pauses the run; resuming asks again.
    Pause,
    /// Ends the run.
    Abort,
}

impl Plan {
    /// The plan's name.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }

    /// A linear plan: each step after the one before it.
    pub fn linear(steps: impl IntoIterator<Item = (StepId, Arc<str>)>) -> Self {
        let mut before = None;
        let steps = steps
            .into_iter()
            .map(|(id, name)| {
                let after = before.replace(id.clone()).into_iter().collect();
                PlanStep { name, ..PlanStep::new(id, after, PlanKind::Step) }
            })
            .collect();
        Self { steps, ..Self::default() }
    }
}
