//! Commands: orders that are either carried out whole or refused whole.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::commands;
use crate::event::Entry;
use crate::{
    Actor, CommandId, Digest, ExecNo, ExecutionId, GateId, PipelineId, RollbackId, RunId, Timestamp,
};

/// A command with what the engine adds to it.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Names the command; every id that it needs is derived from this.
    pub id: CommandId,
    /// When it was given.
    pub at: Timestamp,
    /// By whom.
    pub actor: Actor,
    /// What is to be done.
    pub command: Command,
}

/// All orders.
#[allow(clippy::large_enum_variant)] // one exists per request, and definitions are rarely sent
#[derive(Clone, Debug)]
pub enum Command {
    /// About the home.
    Home(HomeCommand),
    /// About a pipeline's definition.
    Pipeline(PipelineId, PipelineCommand),
    /// Makes a run.
    StartRun(commands::start_run::StartRun),
    /// About one run.
    Run(RunId, RunCommand),
    /// Goes back.
    RollBack(commands::roll_back::RollBack),
    /// Undoes going back.
    UndoRollback {
        /// The pipeline that was rolled back.
        pipeline: PipelineId,
        /// The rollback.
        rollback: RollbackId,
    },
    /// Records what an execution's work said and did.
    WriteJournal {
        /// The run.
        run: RunId,
        /// The execution.
        execution: ExecutionId,
        /// The work whose part of the journal it is.
        effect: crate::state::run::EffectId,
        /// What to record.
        entries: Vec<Entry>,
    },
}

/// Orders about a home.
#[derive(Clone, Debug)]
pub enum HomeCommand {
    /// Makes the home.
    Create,
    /// Makes a token.
    IssueToken(commands::issue_token::IssueToken),
    /// Withdraws a token.
    RevokeToken(crate::TokenId),
    /// Seals the heads of the streams that moved.
    SealHeads(commands::seal_heads::SealHeads),
}

/// Orders about a pipeline's definition.
#[derive(Clone, Debug)]
pub enum PipelineCommand {
    /// Makes it.
    Create(commands::create_pipeline::CreatePipeline),
    /// Makes it, or makes it be, what a description says.
    Apply(commands::apply_pipeline::ApplyPipeline),
    /// Changes name, description or settings.
    Update(commands::update_pipeline::UpdatePipeline),
    /// Puts it away.
    Delete,
    /// Brings it back.
    Restore,
    /// Adds a checkpoint.
    AddCheckpoint(commands::add_checkpoint::AddCheckpoint),
    /// Changes a checkpoint.
    UpdateCheckpoint(commands::update_checkpoint::UpdateCheckpoint),
    /// Takes a checkpoint out.
    RemoveCheckpoint(crate::CheckpointId),
    /// Changes the order.
    Reorder(Vec<crate::CheckpointId>),
    /// Says that the time of a rollback's archive is over.
    EndArchive(RollbackId),
    /// Says that files were not as the log says.
    RecordDrift(commands::record_drift::RecordDrift),
}

/// Orders about a run.
#[derive(Clone, Debug)]
pub enum RunCommand {
    /// Begins the run, or its pending step.
    StartStep,
    /// Lets a step begin.
    ApproveStart(Decide),
    /// Does not let it begin.
    RejectStart(Decide),
    /// Fills in a form.
    SubmitForm(commands::submit_form::SubmitForm),
    /// Answers a question inside a step.
    GiveInput {
        /// The execution.
        x: ExecNo,
        /// The answer.
        text: Arc<str>,
    },
    /// Finds a result good.
    ApproveComplete(commands::approve_complete::ApproveComplete),
    /// Wants a result changed.
    RequestRevision(Decide),
    /// Answers a gate of the plan.
    AnswerGate(commands::answer_gate::AnswerGate),
    /// Lets the run stand still.
    Pause,
    /// Lets it go on.
    Resume,
    /// Ends it.
    Abort(Option<Arc<str>>),
    /// Declares it failed.
    Fail(Option<Arc<str>>),
    /// Tries a failed step once more.
    Retry(ExecNo),
    /// Stops a step's work.
    Cancel(ExecNo),
    /// Leaves a note for a running agent.
    QueueNote {
        /// The execution.
        x: ExecNo,
        /// The note.
        text: Arc<str>,
    },
    /// Says what came of owed work.
    RecordOutcome(commands::record_outcome::RecordOutcome),
    /// Says that work which was cut off starts again.
    RestartAttempt(crate::state::run::EffectId),
    /// Says that a time has come.
    FireTimer(crate::state::run::TimerId),
}

/// A person's decision about one execution, and about exactly what was shown.
#[derive(Clone, Debug)]
pub struct Decide {
    /// The execution.
    pub x: ExecNo,
    /// The question, where the person saw which; else whichever is open.
    pub gate: Option<GateId>,
    /// The digest of what was shown.
    pub digest: Option<Digest>,
    /// What the person added.
    pub feedback: Option<Arc<str>>,
}

impl Decide {
    /// A decision about an execution, without more.
    pub fn on(x: ExecNo) -> Self {
        Self { x, gate: None, digest: None, feedback: None }
    }
}

/// The values of a form by field name.
pub type Fields = Map<String, Value>;
