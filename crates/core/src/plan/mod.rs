//! What a run executes: a DAG of steps, gates, parallel groups and loops, and the bodies of its steps.
//!
//! A plan is immutable and named by the SHA-256 of its canonical JSON. Every way to write a workflow ends
//! here; the rules know nothing else.

pub mod body;
mod load;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use body::Body;
pub use load::{LoadedNode, LoadedPlan, NodeShape, PlanFault};

use crate::assurance::Level;
use crate::{Digest, StepId};

/// A skeleton and the bodies that are pinned with it.
///
/// A pipeline's plan has no bodies: an execution pins its checkpoint's definition when it is created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The top level.
    pub steps: Vec<PlanStep>,
    /// Bodies by step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bodies: BTreeMap<StepId, Arc<Body>>,
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
    Loop {
        /// What is repeated.
        body: Vec<PlanStep>,
        /// How often.
        times: u32,
    },
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
                PlanStep { id, name, after, kind: PlanKind::Step }
            })
            .collect();
        Self { steps, bodies: BTreeMap::new() }
    }
}
