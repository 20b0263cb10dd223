//! The state of a run: where it stands in its plan, what it waits for, what it owes.
//!
//! Maps that grow with a run are persistent ones: a copy of the state costs the same at step 10 and at
//! step 100,000.

mod apply;
mod attempts;
mod branches;
mod client;
pub mod diagram;
mod front;
mod gates;
mod graph;
pub(in crate::state) mod pairs;
mod waits;

pub use client::{Ack, AckKey, AckTo, Call, Handed};
pub use front::{Front, FrontChange, FrontDelta, Layer, Return, Round, Var};
pub use graph::{Blocked, Branch, Cause, Graph, Moved, Node, NodeKind, Retired, Snapshot};
pub use waits::{Ask, AskKind, EffectId, EffectKind, Gate, Part, Shown, TimerId, TimerKind, Timers};

use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::budget::Amounts;
use crate::counter::count;
use crate::event::{
    Failure, Made, Origin, PauseReason, Place, Text, Usage, is_none_u32, is_one, is_zero, one,
};
use crate::{
    BranchNo, Digest, ExecNo, ExecutionId, GateId, NodeNo, PipelineId, RollbackId, RunId, SessionId,
    Timestamp,
};

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Where it comes from; none before it is made.
    pub origin: Option<Origin>,
    /// The plan that it executes.
    pub plan: Option<Digest>,
    /// How many steps people count.
    pub total: u32,
    /// Whether it moves.
    pub status: RunStatus,
    /// Whether it is to stand still when the present step ends.
    pub pause_requested: bool,
    /// Why it stands still.
    pub pause_reason: Option<PauseReason>,
    /// When it was made, began, ended, stood still, went on.
    pub times: RunTimes,
    /// Executions, nodes and branches.
    pub graph: Graph,
    /// Open questions.
    pub gates: OrdMap<GateId, Arc<Gate>>,
    /// Work owed to the world.
    #[serde(with = "pairs")]
    pub owed: OrdMap<EffectId, EffectKind>,
    /// When something happens by itself.
    pub timers: Timers,
    /// What came of the calls of clients, by the node that they continue from.
    #[serde(with = "pairs", default, skip_serializing_if = "OrdMap::is_empty")]
    pub acks: OrdMap<(NodeNo, AckKey), Ack>,
    /// The rollback that removed the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone>,
    /// Steps done and failed.
    pub completed: u32,
    /// Executions that stand at failed.
    pub failed: u32,
    /// Who began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<Text>,
    /// What its work cost.
    pub usage: Usage,
    /// What its budget was raised by.
    #[serde(default, skip_serializing_if = "Amounts::is_zero")]
    pub raised: Amounts,
    /// How many events and rows there are.
    pub rows: RowCounts,
}

/// The rollback that removed a whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// The rollback.
    pub rollback: RollbackId,
    /// The archive's folder.
    pub archive: Text,
}

/// What a run's events have made, which gives each row its ordinal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCounts {
    /// Events: the rows of executions and outputs are named by the version of the event that makes them.
    pub events: u32,
    /// Questions.
    pub gates: u32,
    /// What people said.
    pub interactions: u32,
    /// What rollbacks moved away.
    pub archived: u32,
}

/// Times of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTimes {
    /// When it was made.
    pub created: Timestamp,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub completed: Option<Timestamp>,
    /// When it last stood still.
    pub paused: Option<Timestamp>,
    /// When it last went on.
    pub resumed: Option<Timestamp>,
}

/// Whether a run moves.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It was made and waits to begin.
    #[default]
    NotStarted,
    /// It moves, or waits for work or a person.
    InProgress,
    /// It stands still until somebody resumes it.
    Paused,
    /// All is done.
    Completed,
    /// Somebody declared it failed.
    Failed,
    /// Somebody ended it.
    Aborted,
}

impl RunStatus {
    /// All statuses.
    pub const ALL: [Self; 6] =
        [Self::NotStarted, Self::InProgress, Self::Paused, Self::Completed, Self::Failed, Self::Aborted];

    /// The documented name.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::InProgress => "in_progress",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }

    /// Whether it has not ended.
    pub fn is_active(self) -> bool {
        match self {
            Self::NotStarted | Self::InProgress | Self::Paused => true,
            Self::Completed | Self::Failed | Self::Aborted => false,
        }
    }
}

/// One visit of a run to a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Its id, the same across all attempts: the run's with the execution's number added.
    #[serde(skip)]
    pub id: ExecutionId,
    /// The version of the event that made it, which names its row.
    #[serde(rename = "m")]
    pub row: u32,
    /// The branch that it was made in.
    #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
    pub branch: BranchNo,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The node that it left when it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeNo>,
    /// The rollback that took it out of the active views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<RollbackId>,
    /// Its position among its siblings.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub position: u32,
    /// The step's name, where the plan does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// The body that it pins; none: the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Digest>,
    /// Where it stands.
    pub state: ExecutionState,
    /// Its open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateId>,
    /// How often a person asked for changes.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub revision: u32,
    /// The attempt at this revision.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub attempt: u32,
    /// How many attempts it may have at this revision, those that failed checks cost aside.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub max_attempts: u32,
    /// How many of these a person granted beyond the definition's.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub granted: u32,
    /// How many revisions it may have.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub max_revisions: u32,
    /// How many attempts a failed check has cost.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub check_retries: u32,
    /// How often the work of the present attempt was cut off and started again.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub restarts: u32,
    /// Whether a client does the work: nothing is owed.
    #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// What its work left and nobody has accepted yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<Arc<Handed>>,
    /// The version of the event that last handed in a client's result.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub handed_row: u32,
    /// How many results of a client were refused in a row.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub blocks: u32,
    /// Whether its start was rejected, so that it does not begin by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
    /// When it was made, began, ended.
    pub times: ExecutionTimes,
    /// The outputs of the present attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Output>,
    /// What a judge last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<(bool, Vec<Text>)>,
    /// What a person last wanted changed, or a failed check complained about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Text>,
    /// What people left for its agents to read, in all its attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
    /// What a person answered before a script ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Text>,
    /// What a person filled in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Who filled in the form of the present attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Text>,
    /// Failed attempts so far.
    #[serde(default, skip_serializing_if = "is_none_u32")]
    pub errors: u32,
    /// Why the last one failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<(Timestamp, Failure)>,
    /// What its work cost.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// What its budget was raised by.
    #[serde(default, skip_serializing_if = "Amounts::is_zero")]
    pub raised: Amounts,
}

impl Execution {
    /// Whether the run continued without its result, which failed.
    pub fn is_passed_over(&self) -> bool {
        self.state == ExecutionState::Failed && self.node.is_some()
    }

    /// How many of its attempts are used up; those that a failed check cost count elsewhere.
    pub fn used_attempts(&self) -> u32 {
        self.attempt.saturating_sub(self.check_retries)
    }
}

/// Times of an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionTimes {
    /// When it was made.
    pub created: Timestamp,
    /// When its first attempt began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<Timestamp>,
    /// When it failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Timestamp>,
}

/// An output of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Its row's ordinal.
    pub n: u32,
    /// What was made.
    pub made: Made,
    /// When.
    pub created_at: Timestamp,
    /// When it was promoted.
    pub promoted_at: Option<Timestamp>,
}

/// Where an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionState {
    /// It was made and waits for somebody to start it.
    Pending,
    /// A person is asked whether it may begin.
    AwaitingStart,
    /// It works.
    Working(Stage),
    /// A person is asked whether the result is good.
    AwaitingComplete,
    /// It is done.
    Completed,
    /// It has failed for good.
    Failed,
}

/// What a working execution is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A person fills in its form.
    Form,
    /// A person answers before its script runs.
    Input,
    /// The runner does its work.
    Work,
    /// A client does its work.
    Client,
    /// A judge looks at its outputs.
    Check,
    /// A person gives guidance after a failed check.
    Guidance,
    /// A person says whether more may be spent.
    Budget,
    /// It waits for its next attempt.
    Retry,
}

impl ExecutionState {
    /// The documented name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::AwaitingStart => "waiting_approval_to_start",
            Self::Working(_) => "in_progress",
            Self::AwaitingComplete => "waiting_approval_to_complete",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Whether it waits for a person who must answer before it can go on. One that waits to be started, or has failed,
    /// does not hold up the rest of its run.
    pub fn asks(self) -> bool {
        match self {
            Self::AwaitingStart
            | Self::AwaitingComplete
            | Self::Working(Stage::Form | Stage::Input | Stage::Guidance | Stage::Budget) => true,
            Self::Working(Stage::Work | Stage::Client | Stage::Check | Stage::Retry)
            | Self::Pending
            | Self::Completed
            | Self::Failed => false,
        }
    }

    /// Whether work is under way that must be stopped to end it.
    pub fn in_flight(self) -> bool {
        match self {
            Self::Working(Stage::Work | Stage::Check | Stage::Retry) => true,
            // A client is not stopped: it hears of it when it calls.
            Self::Working(Stage::Client | Stage::Form | Stage::Input | Stage::Guidance | Stage::Budget)
            | Self::Pending
            | Self::AwaitingStart
            | Self::AwaitingComplete
            | Self::Completed
            | Self::Failed => false,
        }
    }
}

impl RunState {
    /// A run that was not made yet.
    pub fn new(id: RunId) -> Self {
        Self {
            origin: None,
            plan: None,
            total: 0,
            status: RunStatus::default(),
            pause_requested: false,
            pause_reason: None,
            times: RunTimes::default(),
            graph: Graph::new(id),
            gates: OrdMap::new(),
            owed: OrdMap::new(),
            timers: Timers::default(),
            acks: OrdMap::new(),
            gone: None,
            completed: 0,
            failed: 0,
            started_by: None,
            usage: Usage::default(),
            raised: Amounts::default(),
            rows: RowCounts::default(),
        }
    }

    /// Its id.
    pub fn id(&self) -> RunId {
        self.graph.run()
    }

    /// Whether the run was made.
    pub fn exists(&self) -> bool {
        self.origin.is_some()
    }

    /// The pipeline that it belongs to.
    pub fn pipeline(&self) -> Option<PipelineId> {
        match self.origin.as_ref()? {
            Origin::Pipeline { pipeline, .. } => Some(*pipeline),
            Origin::File { .. } => None,
        }
    }

    /// Its number and the definition version that it runs under.
    pub fn number(&self) -> Option<(u32, u32)> {
        match self.origin.as_ref()? {
            Origin::Pipeline { number, definition_version, .. } => Some((*number, *definition_version)),
            Origin::File { .. } => None,
        }
    }

    /// The session that it belongs to.
    pub fn session(&self) -> Option<SessionId> {
        match self.origin.as_ref()? {
            Origin::Pipeline { pipeline, .. } => Some((*pipeline).into()),
            Origin::File { session, .. } => Some(*session),
        }
    }

    /// An execution that was not rolled back.
    pub fn execution(&self, x: ExecNo) -> Option<&Arc<Execution>> {
        self.graph.any_execution(x).filter(|execution| execution.rolled_back.is_none())
    }

    /// The executions that were not rolled back, in order of creation.
    pub fn executions(&self) -> impl DoubleEndedIterator<Item = (ExecNo, &Arc<Execution>)> {
        let all = self.graph.all_executions().inspect(|_| count(1));
        all.filter(|(_, execution)| execution.rolled_back.is_none())
    }

    /// The executions whose files are in the archives of rollbacks, with the rollback and the archive's folder.
    pub fn archived(&self) -> impl Iterator<Item = (RollbackId, &Text, ExecNo, &Arc<Execution>)> {
        let archives: Vec<(RollbackId, &Text)> = self
            .graph
            .branches()
            .filter_map(|(_, branch)| branch.retired.as_deref())
            .filter_map(|retired| Some((retired.by, retired.archive.as_ref()?)))
            .collect();
        let executions = if archives.is_empty() { None } else { Some(self.graph.all_executions()) };
        executions.into_iter().flatten().filter_map(move |(x, execution)| {
            let rollback = execution.rolled_back?;
            let (_, archive) = archives.iter().find(|(by, _)| *by == rollback)?;
            Some((rollback, *archive, x, execution))
        })
    }

    /// The live branches.
    pub fn live_branches(&self) -> impl Iterator<Item = (BranchNo, &Branch)> {
        self.graph.branches().filter(|(_, branch)| branch.is_live())
    }

    /// Executions of live branches that are not done.
    pub fn active(&self) -> impl Iterator<Item = (ExecNo, &Arc<Execution>)> {
        let active = self.live_branches().flat_map(|(_, branch)| branch.active.iter());
        active.inspect(|_| count(1)).filter_map(|x| Some((*x, self.execution(*x)?)))
    }

    /// The execution that people call the current one: the oldest of the current branch that is not done.
    pub fn current(&self) -> Option<(ExecNo, &Arc<Execution>)> {
        let x = self.graph.branch(self.graph.current())?.active.get_min()?;
        Some((*x, self.execution(*x)?))
    }

    /// The execution that a person means who wants the run's step started: one that waits for it, else the current one.
    pub fn to_start(&self) -> Option<ExecNo> {
        // While the run pauses, a step that was just reached does not ask; one that waited before still does.
        let asks = |e: &Execution| e.state == ExecutionState::Pending && e.gate.is_some();
        let asking = self.active().find(|(_, e)| asks(e));
        asking.or_else(|| self.current()).map(|(x, _)| x)
    }

    /// When something happens by itself next.
    pub fn next_timer(&self) -> Option<(TimerId, Timestamp)> {
        self.timers.next()
    }
}
