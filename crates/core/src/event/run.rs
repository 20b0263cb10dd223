//! Events of a run of any kind.

mod kinds;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Text;
use super::client::{Blocker, Content};
use super::failure::Failure;
use super::parts::{
    LoopEnd, Made, Origin, PauseReason, Place, SkipReason, Usage, Warning, is_none_u32, is_one, is_zero, one,
};
use crate::assurance::{Assurance, Level};
use crate::budget::{Amounts, Scope};
use crate::plan::Choice;
use crate::state::run::{Ask, AskKind, FrontDelta};
use crate::{ArtifactRecordId, BranchNo, Digest, ExecNo, GateId, NodeNo, RollbackId, SnapshotId, Timestamp};

/// Events of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RunEvent {
    /// The run was made.
    #[serde(rename = "run_made")]
    Made {
        /// Where it comes from.
        origin: Origin,
        /// The plan that it executes.
        plan: Digest,
        /// How many steps people count.
        total: u32,
    },
    /// The run began.
    #[serde(rename = "run_began")]
    Began {},
    /// A visit to a step was made.
    #[serde(rename = "exec")]
    ExecutionMade {
        /// Its number; its id is derived from it and the run's.
        x: ExecNo,
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// Where.
        #[serde(flatten)]
        place: Place,
        /// Its position among its siblings.
        #[serde(rename = "i")]
        position: u32,
        /// The step's name.
        #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
        name: Option<Text>,
        /// The body that it pins; none: the plan's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Digest>,
        /// Attempts without a person's doing.
        #[serde(rename = "ma", default = "one", skip_serializing_if = "is_one")]
        max_attempts: u32,
        /// Revisions that a person may ask for.
        #[serde(rename = "mr", default, skip_serializing_if = "is_none_u32")]
        max_revisions: u32,
        /// Whether it begins only when somebody says so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
        /// What a person who asked for the repeat wants changed.
        #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
        feedback: Option<Text>,
        /// Whether a client does the work: nothing is owed.
        #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
    },
    /// A step was left out.
    #[serde(rename = "skipped")]
    StepSkipped {
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// Where.
        #[serde(flatten)]
        place: Place,
        /// What decided it.
        why: SkipReason,
    },
    /// An execution opened a gate. A gate that it had open before is answered by this.
    #[serde(rename = "asked")]
    Asked {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What is asked.
        ask: Ask,
        /// Covers everything that the person is shown.
        digest: Digest,
        /// The weakest proof that an answer needs.
        #[serde(default, skip_serializing_if = "Level::is_local")]
        minimum: Level,
        /// When it can no longer be answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
    },
    /// A person approved a start or a result, or accepted a result that failed its check.
    #[serde(rename = "approved")]
    Approved {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// What the gate asked.
        of: AskKind,
        /// Whether the person changed outputs in approving.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        edited: bool,
    },
    /// A person rejected a start, or stopped work that had failed its check or used up its budget.
    #[serde(rename = "rejected")]
    Rejected {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// What the gate asked.
        of: AskKind,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<Text>,
    },
    /// An attempt began.
    #[serde(rename = "attempt")]
    AttemptBegan {
        /// Which execution.
        x: ExecNo,
        /// The revision.
        #[serde(rename = "r", default, skip_serializing_if = "is_none_u32")]
        revision: u32,
        /// The attempt at that revision, from 1.
        #[serde(rename = "a", default = "one", skip_serializing_if = "is_one")]
        attempt: u32,
        /// When its work must be done.
        #[serde(rename = "by", default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// Work that was cut off by a crash began again as the same attempt.
    #[serde(rename = "restarted")]
    AttemptRestarted {
        /// Which execution.
        x: ExecNo,
    },
    /// A person filled in a form, answered a script's question, or said what to change after a failed check.
    #[serde(rename = "submitted")]
    Submitted {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// The values of a form.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        fields: Map<String, Value>,
        /// The answer to a question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Text>,
        /// When the work that follows must be done.
        #[serde(rename = "by", default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// An output was made.
    #[serde(rename = "artifact")]
    ArtifactMade {
        /// By which execution.
        x: ExecNo,
        /// The output.
        #[serde(flatten)]
        made: Made,
    },
    /// The work of an attempt is done, and somebody looks at it next.
    #[serde(rename = "worked")]
    WorkDone {
        /// Which execution.
        x: ExecNo,
        /// Whether a judge looks first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        judge: bool,
        /// What it said.
        #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
        /// What it leaves in the context when the step is completed; null deletes.
        #[serde(rename = "ctx", default, skip_serializing_if = "Map::is_empty")]
        context: Map<String, Value>,
    },
    /// A judge looked at the outputs.
    #[serde(rename = "checked")]
    Checked {
        /// Which execution.
        x: ExecNo,
        /// Whether they are good.
        passed: bool,
        /// Why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<Text>,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// A person raised a budget, and the work goes on.
    #[serde(rename = "budget")]
    BudgetRaised {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// Whose budget.
        scope: Scope,
        /// By how much.
        by: Amounts,
        /// When the work that follows must be done.
        #[serde(rename = "until", default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// A person approved, and more must.
    #[serde(rename = "agreed")]
    ApprovalGiven {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
    },
    /// A person wants a result changed.
    #[serde(rename = "revise")]
    RevisionAsked {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// What is to be changed.
        feedback: Text,
    },
    /// An output stands in the run's permanent folder.
    #[serde(rename = "promoted")]
    ArtifactPromoted {
        /// Of which execution.
        x: ExecNo,
        /// Which output.
        record: ArtifactRecordId,
    },
    /// A step is done.
    #[serde(rename = "done")]
    ExecutionCompleted {
        /// Which execution.
        x: ExecNo,
        /// What its work said, where nothing came between.
        #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// What it cost, where nothing came between.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// An attempt failed and another one follows.
    #[serde(rename = "attempt_failed")]
    AttemptFailed {
        /// Which execution.
        x: ExecNo,
        /// Why.
        failure: Failure,
        /// When the next attempt begins.
        retry_at: Timestamp,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// A step has failed for good.
    #[serde(rename = "failed")]
    ExecutionFailed {
        /// Which execution.
        x: ExecNo,
        /// Why.
        failure: Failure,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// The run continues without the result of a step that has failed for good.
    #[serde(rename = "passed")]
    PassedOver {
        /// Which execution.
        x: ExecNo,
    },
    /// A failed step is tried once more.
    #[serde(rename = "retried")]
    RetryGranted {
        /// Which execution.
        x: ExecNo,
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// Whether a revision is granted and not an attempt.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        revision: bool,
    },
    /// A person left a note for a running agent.
    #[serde(rename = "note")]
    NoteQueued {
        /// Which execution.
        x: ExecNo,
        /// The note.
        text: Text,
    },
    /// A gate of the plan was reached.
    #[serde(rename = "ask")]
    GateAsked {
        /// The gate.
        gate: GateId,
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// Where.
        #[serde(flatten)]
        place: Place,
        /// What can be answered.
        choice: Arc<Choice>,
        /// Covers everything that the person is shown.
        digest: Digest,
        /// The weakest proof that an answer needs.
        #[serde(default, skip_serializing_if = "Level::is_local")]
        minimum: Level,
        /// When it can no longer be answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
    },
    /// A gate of the plan was answered.
    #[serde(rename = "answered")]
    GateAnswered {
        /// The gate.
        gate: GateId,
        /// What was shown.
        digest: Digest,
        /// How the answer was proved.
        #[serde(default, skip_serializing_if = "Assurance::is_local")]
        assurance: Assurance,
        /// The label that was picked.
        option: Text,
        /// What the person added.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<Text>,
    },
    /// The front of a branch changed in a way that no other event of the command implies.
    #[serde(rename = "moved")]
    FrontMoved {
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// How.
        #[serde(flatten)]
        delta: FrontDelta,
    },
    /// A loop made its last pass.
    #[serde(rename = "left")]
    LoopEnded {
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// Where.
        #[serde(flatten)]
        place: Place,
        /// What ended it.
        why: LoopEnd,
    },
    /// Something is not as the plan expects, and the run continues.
    #[serde(rename = "warned")]
    Warned {
        /// The branch.
        #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
        branch: BranchNo,
        /// Where.
        #[serde(flatten)]
        place: Place,
        /// What.
        what: Warning,
    },
    /// A client continued from an older node: a branch beside the others.
    #[serde(rename = "forked")]
    Forked {
        /// The new branch.
        #[serde(rename = "b")]
        branch: BranchNo,
        /// The node that it continues from.
        from: NodeNo,
    },
    /// A client handed in the result of a step.
    #[serde(rename = "handed")]
    HandedIn {
        /// The execution.
        x: ExecNo,
        /// The node that the client continues from.
        at: NodeNo,
        /// The attempt at that node.
        #[serde(rename = "a", default = "one", skip_serializing_if = "is_one")]
        attempt: u32,
        /// The result.
        #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
        output: Option<Content>,
        /// What it leaves in the context; null deletes.
        #[serde(rename = "ctx", default, skip_serializing_if = "Map::is_empty")]
        context: Map<String, Value>,
    },
    /// What a client handed in is refused.
    #[serde(rename = "blocked")]
    Blocked {
        /// The execution.
        x: ExecNo,
        /// The node that the client continued from.
        at: NodeNo,
        /// The attempt at that node.
        #[serde(rename = "a", default = "one", skip_serializing_if = "is_one")]
        attempt: u32,
        /// Why.
        why: Vec<Blocker>,
        /// Whether a person asked for changes: that does not count as a failed try.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        changes: bool,
    },
    /// The state at a node was saved.
    #[serde(rename = "snapshot")]
    SnapshotTaken {
        /// The node.
        at: NodeNo,
        /// The snapshot.
        snapshot: SnapshotId,
        /// What caused it, as documents show it.
        trigger: Text,
        /// What it can be found by.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<Text>,
        /// The files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<Digest>,
        /// What a client said with it.
        #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
        output: Option<Content>,
    },
    /// A completed run continues on another branch.
    #[serde(rename = "reopened")]
    Reopened {},
    /// The run will pause when the present step ends.
    #[serde(rename = "pause_asked")]
    PauseAsked {},
    /// It will not, after all.
    #[serde(rename = "pause_dropped")]
    PauseDropped {},
    /// The run stands still.
    #[serde(rename = "paused")]
    Paused {
        /// Why.
        reason: PauseReason,
    },
    /// The run goes on.
    #[serde(rename = "resumed")]
    Resumed {},
    /// All is done.
    #[serde(rename = "run_done")]
    Completed {},
    /// Somebody declared the run failed.
    #[serde(rename = "run_failed")]
    Failed {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// Somebody ended the run.
    #[serde(rename = "run_aborted")]
    Aborted {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// The run went back to a node: a new branch continues from there, and the old one is retired.
    #[serde(rename = "rewound")]
    RolledBack {
        /// The new branch.
        #[serde(rename = "b")]
        branch: BranchNo,
        /// The node that it continues from.
        from: NodeNo,
        /// The branch that is retired.
        retires: BranchNo,
        /// The rollback.
        rollback: RollbackId,
        /// The archive's folder.
        archive: Text,
    },
    /// The files of a snapshot were restored: a new branch continues from its node, and the old one is retired.
    #[serde(rename = "recovered")]
    Recovered {
        /// The new branch.
        #[serde(rename = "b")]
        branch: BranchNo,
        /// The node that it continues from.
        from: NodeNo,
        /// The branch that is retired.
        retires: BranchNo,
        /// The recovery.
        rollback: RollbackId,
    },
    /// A rollback or recovery was undone: the branch that it retired is live again.
    #[serde(rename = "unwound")]
    Undone {
        /// Which.
        rollback: RollbackId,
    },
    /// A rollback to an earlier run removed this one from the active views.
    #[serde(rename = "removed")]
    RunRemoved {
        /// The rollback.
        rollback: RollbackId,
        /// The archive's folder.
        archive: Text,
    },
    /// The rollback that had removed the run was undone.
    #[serde(rename = "restored")]
    RunRestored {
        /// The rollback.
        rollback: RollbackId,
    },
}
