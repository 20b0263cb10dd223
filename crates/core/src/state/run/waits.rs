//! What a run waits for: people at gates, work that it owes, and times.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use crate::assurance::Level;
use crate::budget::Reached;
use crate::event::{Place, Text};
use crate::event::{is_none_u32, is_zero};
use crate::plan::Choice;
use crate::{BranchNo, Digest, ExecNo, Timestamp};

/// A question put to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Its row's ordinal.
    pub n: u32,
    /// The branch that asks.
    #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
    pub branch: BranchNo,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// By which execution; none: the plan itself asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<ExecNo>,
    /// At which revision of it.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub revision: u32,
    /// What is asked.
    pub ask: Ask,
    /// The files that were captured for the person to see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// Covers everything that the person is shown.
    pub digest: Digest,
    /// The weakest proof that an answer needs.
    #[serde(default, skip_serializing_if = "Level::is_local")]
    pub minimum: Level,
    /// When it can no longer be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Since when.
    pub opened_at: Timestamp,
    /// Who has approved, where more must.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Text>,
}

/// What a gate asks, with what belongs to the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// A step that starts by hand waits for somebody to start it.
    Begin,
    /// May the step begin?
    Start,
    /// A form.
    Form,
    /// A script's question.
    Input,
    /// What is to be done about a failed check?
    Guidance,
    /// May more be spent, and which part of the attempt waits for it?
    Budget(Reached, Part),
    /// Is the result good?
    Result,
    /// A choice of the plan.
    Choice(Arc<Choice>),
    /// A step has failed for good.
    Failed,
    /// A client's output was refused too often in a row.
    Blocked,
}

/// What a gate asks, without what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// Start it?
    Begin,
    /// May it begin?
    Start,
    /// A form.
    Form,
    /// A script's question.
    Input,
    /// What is to be done about a failed check?
    Guidance,
    /// May more be spent?
    Budget,
    /// Is the result good?
    Result,
    /// A choice of the plan.
    Choice,
    /// Try it again?
    Failed,
    /// What is to be done about refused output?
    Blocked,
}

impl Ask {
    /// What it asks.
    pub fn kind(&self) -> AskKind {
        match self {
            Self::Begin => AskKind::Begin,
            Self::Start => AskKind::Start,
            Self::Form => AskKind::Form,
            Self::Input => AskKind::Input,
            Self::Guidance => AskKind::Guidance,
            Self::Budget(..) => AskKind::Budget,
            Self::Result => AskKind::Result,
            Self::Choice(_) => AskKind::Choice,
            Self::Failed => AskKind::Failed,
            Self::Blocked => AskKind::Blocked,
        }
    }
}

impl AskKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Begin,
        Self::Start,
        Self::Form,
        Self::Input,
        Self::Guidance,
        Self::Budget,
        Self::Result,
        Self::Choice,
        Self::Failed,
        Self::Blocked,
    ];

    /// The name that tables and answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "start",
            Self::Start => "approve_start",
            Self::Form => "form",
            Self::Input => "script_input",
            Self::Guidance => "guidance",
            Self::Budget => "budget",
            Self::Result => "approve_complete",
            Self::Choice => "choice",
            Self::Failed => "retry",
            Self::Blocked => "blocked",
        }
    }

    /// The kind with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file that was captured for a person to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its path.
    pub path: Text,
    /// Its bytes.
    pub digest: Digest,
    /// How many.
    pub size: u64,
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
