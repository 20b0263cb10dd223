//! What a run waits for: people at gates, work that it owes, and times.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use crate::budget::Reached;
use crate::event::{Place, Text};
use crate::plan::Choice;
use crate::{BranchNo, Digest, ExecNo, Timestamp};

/// A question put to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Its row's ordinal.
    pub n: u32,
    /// What is asked.
    pub kind: GateKind,
    /// By which execution.
    pub x: Option<ExecNo>,
    /// At which revision of it.
    pub revision: u32,
    /// What was shown.
    pub digest: Option<Digest>,
    /// Since when.
    pub opened_at: Timestamp,
    /// Which budget is used up, and whether a check waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<(Reached, bool)>,
    /// Who has approved, where more must.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Text>,
    /// For a gate of the plan: where, and what can be answered.
    pub choice: Option<(BranchNo, Place, Arc<Choice>)>,
}

/// What a gate asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// May it begin?
    ApproveStart,
    /// Is the result good?
    ApproveComplete,
    /// A form.
    Form,
    /// A script's question.
    Input,
    /// What is to be done about a failed check?
    Guidance,
    /// May more be spent?
    Budget,
    /// A choice of the plan.
    Choice,
}

impl GateKind {
    /// The name that tables and answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApproveStart => "approve_start",
            Self::ApproveComplete => "approve_complete",
            Self::Form => "form",
            Self::Input => "script_input",
            Self::Guidance => "guidance",
            Self::Budget => "budget",
            Self::Choice => "choice",
        }
    }
}

/// Names a piece of owed work: which attempt of which execution, and which part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The execution.
    pub x: ExecNo,
    /// The revision.
    pub revision: u32,
    /// The attempt.
    pub attempt: u32,
    /// The part.
    pub part: Part,
}

/// A part of an attempt that the runner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The work itself.
    Work,
    /// The judgement of its outputs.
    Check,
}

/// What kind of work is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// The step's body says what.
    DoWork,
    /// A model judges outputs.
    Judge,
}

/// Names something that happens by itself at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimerId {
    /// The execution.
    pub x: ExecNo,
    /// The revision.
    pub revision: u32,
    /// The attempt.
    pub attempt: u32,
    /// What happens.
    pub kind: TimerKind,
}

/// What happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// The next attempt begins.
    Retry,
    /// The attempt has taken too long.
    Timeout,
}

/// What happens by itself and when, found by its name and by its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(TimerId, Timestamp)>", into = "Vec<(TimerId, Timestamp)>")]
pub struct Timers {
    at: OrdMap<TimerId, Timestamp>,
    /// The same by time: a run that waits for many must not look at all of them for the next one.
    by_time: OrdSet<(Timestamp, TimerId)>,
}

impl Timers {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// How many are set.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// When a timer fires.
    pub fn get(&self, id: &TimerId) -> Option<Timestamp> {
        self.at.get(id).copied()
    }

    /// All timers.
    pub fn iter(&self) -> impl Iterator<Item = (TimerId, Timestamp)> {
        self.at.iter().map(|(id, at)| (*id, *at))
    }

    /// All timers, the next one first.
    pub fn by_time(&self) -> impl Iterator<Item = (TimerId, Timestamp)> {
        self.by_time.iter().map(|(at, id)| (*id, *at))
    }

    /// The next one.
    pub fn next(&self) -> Option<(TimerId, Timestamp)> {
        self.by_time.get_min().map(|(at, id)| (*id, *at))
    }

    /// Sets a timer, in place of one with the same name.
    pub fn set(&mut self, id: TimerId, at: Timestamp) {
        self.remove(&id);
        self.at.insert(id, at);
        self.by_time.insert((at, id));
    }

    /// Removes a timer.
    pub fn remove(&mut self, id: &TimerId) {
        if let Some(at) = self.at.remove(id) {
            self.by_time.remove(&(at, *id));
        }
    }
}

impl From<Vec<(TimerId, Timestamp)>> for Timers {
    fn from(saved: Vec<(TimerId, Timestamp)>) -> Self {
        let mut timers = Self::default();
        saved.into_iter().for_each(|(id, at)| timers.set(id, at));
        timers
    }
}

impl From<Timers> for Vec<(TimerId, Timestamp)> {
    fn from(timers: Timers) -> Self {
        timers.iter().collect()
    }
}
