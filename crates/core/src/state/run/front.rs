//! The front of a branch: everything that is needed to continue from a point of a run.
//!
//! A front is never stored per step. Nodes store what changed (`FrontDelta`), and now and then a whole front, so that
//! reading one costs the same at the hundred-thousandth step as at the tenth.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Place, Text};
use crate::{ExecNo, StepId};

/// Everything that is needed to continue from a point of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "SavedFront")]
pub struct Front {
    /// Places that were reached and are not done.
    #[serde(skip_serializing_if = "OrdSet::is_empty")]
    pub todo: OrdSet<Place>,
    /// Arrivals at steps with several predecessors.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub joins: OrdMap<StepId, u32>,
    /// Open groups and loops.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub rounds: OrdMap<StepId, Round>,
    /// Items of open loops over a list: written once, not per pass.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub items: OrdMap<StepId, Arc<Value>>,
    /// Visit counts of the steps that were visited more than once.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub visits: OrdMap<StepId, u32>,
    /// Steps that are visited again on the way back to a gate.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub returns: OrdMap<StepId, Return>,
    /// Steps to skip when they are reached.
    #[serde(skip_serializing_if = "OrdSet::is_empty")]
    pub skips: OrdSet<StepId>,
    /// The newest finished execution of each step.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub last: OrdMap<StepId, ExecNo>,
    /// Values that steps have left for later ones.
    #[serde(skip_serializing_if = "OrdMap::is_empty")]
    pub context: OrdMap<Text, Var>,
    /// About how many bytes it takes when saved. Kept up to date with every change: measuring anew at every step
    /// would cost more the longer a run is.
    #[serde(skip)]
    weight: u64,
}

/// Two fronts are equal when they lead to the same future, however they were made.
impl PartialEq for Front {
    fn eq(&self, other: &Self) -> bool {
        self.todo == other.todo
            && self.joins == other.joins
            && self.rounds == other.rounds
            && self.items == other.items
            && self.visits == other.visits
            && self.returns == other.returns
            && self.skips == other.skips
            && self.last == other.last
            && self.context == other.context
    }
}

/// A front as it is saved: its weight is measured when it is loaded.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedFront {
    todo: OrdSet<Place>,
    joins: OrdMap<StepId, u32>,
    rounds: OrdMap<StepId, Round>,
    items: OrdMap<StepId, Arc<Value>>,
    visits: OrdMap<StepId, u32>,
    returns: OrdMap<StepId, Return>,
    skips: OrdSet<StepId>,
    last: OrdMap<StepId, ExecNo>,
    context: OrdMap<Text, Var>,
}

impl From<SavedFront> for Front {
    fn from(saved: SavedFront) -> Self {
        let mut front = Self::default();
        saved.todo.into_iter().for_each(|place| front.reach(place));
        for (step, arrived) in saved.joins {
            front.apply(&FrontChange::Join(step, Some(arrived)));
        }
        for (step, round) in saved.rounds {
            front.apply(&FrontChange::Round(step, Some(round)));
        }
        for (step, items) in saved.items {
            front.apply(&FrontChange::Items(step, Some(items)));
        }
        for (step, visits) in saved.visits {
            front.apply(&FrontChange::Visit(step, Some(visits)));
        }
        for (step, way) in saved.returns {
            front.apply(&FrontChange::Return(step, Some(way)));
        }
        for step in saved.skips {
            front.apply(&FrontChange::Skip(step, true));
        }
        for (step, x) in saved.last {
            front.set_last(step, x);
        }
        for (key, var) in saved.context {
            front.apply(&FrontChange::Context(key, Some(var)));
        }
        front
    }
}

/// One pass of a group or loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// 1-based number of the pass.
    #[serde(rename = "i")]
    pub iteration: u32,
    /// How many passes there will be, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// The limit on passes.
    #[serde(default, skip_serializing_if = "crate::event::is_none_u32")]
    pub max: u32,
    /// Children that are not done.
    #[serde(rename = "l")]
    pub left: u32,
}

/// The way of a step that is visited again: back to a gate, and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Return {
    /// The gate.
    pub gate: StepId,
    /// What the person who asked for the repeat wants changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Text>,
}

/// A value in a branch's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Var {
    /// The value.
    #[serde(rename = "v")]
    pub value: Arc<Value>,
    /// How long it is shown to whom.
    #[serde(rename = "l", default, skip_serializing_if = "Layer::is_useful")]
    pub layer: Layer,
}

/// How important a context value is when not everything fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Never left out.
    Critical,
    /// Left out last.
    Important,
    /// Left out when space is short.
    #[default]
    Useful,
    /// Removed after its step.
    Ephemeral,
}

impl Layer {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    fn is_useful(&self) -> bool {
        *self == Self::Useful
    }
}

/// How a front changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrontDelta {
    /// Executions whose places were reached.
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<ExecNo>,
    /// Other places that were reached.
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<Place>,
    /// Places that are done without a node of their own.
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Place>,
    /// Keys with their new values; a later change of the same key wins.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FrontChange>,
}

/// A key of one of a front's maps with its new value; none removes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FrontChange {
    /// Arrivals at a step.
    #[serde(rename = "j")]
    Join(StepId, Option<u32>),
    /// A group or loop.
    #[serde(rename = "r")]
    Round(StepId, Option<Round>),
    /// The items of a loop.
    #[serde(rename = "i")]
    Items(StepId, Option<Arc<Value>>),
    /// Visits to a step.
    #[serde(rename = "v")]
    Visit(StepId, Option<u32>),
    /// The way back to a gate.
    #[serde(rename = "w")]
    Return(StepId, Option<Return>),
    /// Whether a step is skipped.
    #[serde(rename = "s")]
    Skip(StepId, bool),
    /// A context value.
    #[serde(rename = "c")]
    Context(Text, Option<Var>),
}

impl FrontDelta {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty() && self.reached.is_empty() && self.done.is_empty() && self.changes.is_empty()
    }

    /// Adds what changes after it.
    pub fn extend(&mut self, other: &Self) {
        self.made.extend(&other.made);
        self.reached.extend(other.reached.iter().cloned());
        self.done.extend(other.done.iter().cloned());
        self.changes.extend(other.changes.iter().cloned());
    }

    /// Leaves out changes that a later one of the same key replaces, and those that change nothing.
    pub fn compact(&mut self, before: &Front) {
        let mut seen = BTreeSet::new();
        let mut kept: Vec<FrontChange> = Vec::with_capacity(self.changes.len());
        for change in self.changes.drain(..).rev() {
            if seen.insert(change.key()) && !change.is_in_effect(before) {
                kept.push(change);
            }
        }
        kept.reverse();
        self.changes = kept;
    }

    /// About how many bytes it takes when saved.
    pub(super) fn bytes(&self) -> u64 {
        let places = self.reached.iter().chain(&self.done).map(place_bytes).sum::<u64>();
        let changes = self.changes.iter().map(FrontChange::bytes).sum::<u64>();
        NODE_BYTES + 8 * self.made.len() as u64 + places + changes
    }
}

/// What a node costs beside its delta.
const NODE_BYTES: u64 = 30;

fn place_bytes(place: &Place) -> u64 {
    let path = place.path.iter().map(|(around, _)| around.0.len() as u64 + 8).sum::<u64>();
    place.step.0.len() as u64 + 12 + path
}

impl FrontChange {
    /// The map, and the key in it.
    fn key(&self) -> (u8, Text) {
        match self {
            Self::Join(step, _) => (0, step.0.clone()),
            Self::Round(step, _) => (1, step.0.clone()),
            Self::Items(step, _) => (2, step.0.clone()),
            Self::Visit(step, _) => (3, step.0.clone()),
            Self::Return(step, _) => (4, step.0.clone()),
            Self::Skip(step, _) => (5, step.0.clone()),
            Self::Context(key, _) => (6, key.clone()),
        }
    }

    /// Whether a front is so already.
    fn is_in_effect(&self, front: &Front) -> bool {
        match self {
            Self::Join(step, value) => front.joins.get(step) == value.as_ref(),
            Self::Round(step, value) => front.rounds.get(step) == value.as_ref(),
            Self::Items(step, value) => front.items.get(step) == value.as_ref(),
            Self::Visit(step, value) => front.visits.get(step) == value.as_ref(),
            Self::Return(step, value) => front.returns.get(step) == value.as_ref(),
            Self::Skip(step, value) => front.skips.contains(step) == *value,
            Self::Context(key, value) => front.context.get(key) == value.as_ref(),
        }
    }

    fn bytes(&self) -> u64 {
        let entry = |key: &str, value: u64| key.len() as u64 + value + 12;
        match self {
            Self::Join(step, _) | Self::Visit(step, _) | Self::Skip(step, _) => entry(&step.0, 6),
            Self::Round(step, _) => entry(&step.0, 20),
            Self::Items(step, items) => entry(&step.0, items.as_deref().map_or(4, value_bytes)),
            Self::Return(step, way) => {
                let text =
                    |way: &Return| way.gate.0.len() + way.feedback.as_ref().map_or(0, |text| text.len());
                entry(&step.0, way.as_ref().map_or(4, |way| text(way) as u64 + 24))
            }
            Self::Context(key, var) => entry(key, var.as_ref().map_or(4, |var| value_bytes(&var.value) + 8)),
        }
    }
}

/// About how many bytes a value takes, without writing it.
fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => items.iter().map(|item| value_bytes(item) + 1).sum::<u64>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, field)| key.len() as u64 + 4 + value_bytes(field)).sum::<u64>() + 2
        }
    }
}

impl Front {
    /// About how many bytes it takes when saved.
    pub(super) fn weight(&self) -> u64 {
        self.weight
    }

    /// Sets a value, for tests of what reads it.
    #[cfg(test)]
    pub(crate) fn set_context(&mut self, key: &str, value: Value) {
        let var = Var { value: Arc::new(value), layer: Layer::Useful };
        self.apply(&FrontChange::Context(key.into(), Some(var)));
    }

    /// A place was reached.
    pub(crate) fn reach(&mut self, place: Place) {
        let bytes = place_bytes(&place);
        if self.todo.insert(place).is_none() {
            self.weight += bytes;
        }
    }

    /// A place is done.
    pub(crate) fn finish(&mut self, place: &Place) {
        if self.todo.remove(place).is_some() {
            self.weight = self.weight.saturating_sub(place_bytes(place));
        }
    }

    /// An execution of a step was completed.
    pub(crate) fn set_last(&mut self, step: StepId, x: ExecNo) {
        let bytes = step.0.len() as u64 + 12;
        if self.last.insert(step, x).is_none() {
            self.weight += bytes;
        }
    }

    /// One child of the group or loop around a place is done; the change, where there is one.
    pub(crate) fn child_done(&self, place: &Place) -> Option<FrontChange> {
        let (around, _) = place.path.last()?;
        let round = *self.rounds.get(around)?;
        let left = round.left.saturating_sub(1);
        Some(FrontChange::Round(around.clone(), Some(Round { left, ..round })))
    }

    /// Changes a key of one of the maps.
    pub(crate) fn apply(&mut self, change: &FrontChange) {
        let before = self.weight_of(change);
        match change {
            FrontChange::Join(step, value) => put(&mut self.joins, step, *value),
            FrontChange::Round(step, value) => put(&mut self.rounds, step, *value),
            FrontChange::Items(step, value) => put(&mut self.items, step, value.clone()),
            FrontChange::Visit(step, value) => put(&mut self.visits, step, *value),
            FrontChange::Return(step, value) => put(&mut self.returns, step, value.clone()),
            FrontChange::Skip(step, true) => drop(self.skips.insert(step.clone())),
            FrontChange::Skip(step, false) => drop(self.skips.remove(step)),
            FrontChange::Context(key, value) => put(&mut self.context, key, value.clone()),
        }
        let after = self.weight_of(change);
        self.weight = (self.weight + after).saturating_sub(before);
    }

    /// What the entry of a change's key weighs now.
    fn weight_of(&self, change: &FrontChange) -> u64 {
        let present = match change {
            FrontChange::Join(step, _) => {
                self.joins.get(step).map(|value| FrontChange::Join(step.clone(), Some(*value)))
            }
            FrontChange::Round(step, _) => {
                self.rounds.get(step).map(|value| FrontChange::Round(step.clone(), Some(*value)))
            }
            FrontChange::Items(step, _) => {
                self.items.get(step).map(|value| FrontChange::Items(step.clone(), Some(value.clone())))
            }
            FrontChange::Visit(step, _) => {
                self.visits.get(step).map(|value| FrontChange::Visit(step.clone(), Some(*value)))
            }
            FrontChange::Return(step, _) => {
                self.returns.get(step).map(|value| FrontChange::Return(step.clone(), Some(value.clone())))
            }
            FrontChange::Skip(step, _) => {
                self.skips.contains(step).then(|| FrontChange::Skip(step.clone(), true))
            }
            FrontChange::Context(key, _) => {
                self.context.get(key).map(|value| FrontChange::Context(key.clone(), Some(value.clone())))
            }
        };
        present.map_or(0, |entry| entry.bytes())
    }
}

fn put<K: Ord + Clone, V: Clone>(map: &mut OrdMap<K, V>, key: &K, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key.clone(), value)),
        None => drop(map.remove(key)),
    }
}
