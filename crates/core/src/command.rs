//! Commands: orders that are either carried out whole or refused whole.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::assurance::Assurance;
use crate::commands;
use crate::event::{Entry, Text};
use crate::state::run::{AskKind, Shown};
use crate::{
    Actor, CommandId, Digest, ExecNo, ExecutionId, GateId, NodeNo, PipelineId, RollbackId, RunId, Timestamp,
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
    /// How sure it is that they gave it.
    pub assurance: Assurance,
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
    /// Begins a run that was made without starting.
    Begin,
    /// Answers a gate.
    Answer(Answer),
    /// Lets the run stand still.
    Pause,
    /// Lets it go on. With `decides`, the sender may also decide: a gate at which the run was paused is then passed
    /// and not asked again.
    Resume {
        /// Whether the sender may decide.
        decides: bool,
        /// The limit from now on of a loop that has made as many passes as it may.
        max: Option<u32>,
    },
    /// Ends it.
    Abort(Option<Arc<str>>),
    /// Ends a run of a plan without steps.
    Complete,
    /// Declares it failed.
    Fail(Option<Arc<str>>),
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
    /// A client hands in a result and continues.
    Advance(commands::advance::Advance),
    /// A client saves the state at a node.
    TakeSnapshot(commands::take_snapshot::TakeSnapshot),
    /// A client marks values of the context at a node as critical.
    MarkCritical {
        /// The node.
        node: NodeNo,
        /// The keys.
        keys: Vec<Text>,
    },
    /// Continues from a snapshot whose files were restored.
    Recover(NodeNo),
    /// Undoes that, after the files were put back.
    UndoRecovery(RollbackId),
}

/// An answer to a gate, and to exactly what the gate shows.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Which gate.
    pub target: Target,
    /// What the sender takes the gate to ask.
    pub kind: AskKind,
    /// The option that was picked.
    pub option: Text,
    /// What was shown.
    pub digest: Option<Digest>,
    /// What the person added: a reason, a text, an amount.
    pub feedback: Option<Text>,
    /// The values of a form.
    pub fields: Fields,
    /// Files of a form, already stored.
    pub files: Vec<Upload>,
    /// Outputs that the person changed in approving.
    pub edits: Vec<Edit>,
    /// The shown files as they are now.
    pub shown: Option<Vec<Shown>>,
}

/// Names a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// By its id. One that is not open any more is refused.
    Gate(GateId),
    /// The open gate of an execution. What was asked for may be in effect already.
    Of(ExecNo),
}

impl Answer {
    /// An answer without more.
    pub fn new(target: Target, kind: AskKind, option: impl Into<Text>) -> Self {
        Self {
            target,
            kind,
            option: option.into(),
            digest: None,
            feedback: None,
            fields: Fields::new(),
            files: Vec::new(),
            edits: Vec::new(),
            shown: None,
        }
    }

    /// An answer to the open gate of an execution, without more.
    pub fn of(x: ExecNo, kind: AskKind, option: &str) -> Self {
        Self::new(Target::Of(x), kind, option)
    }
}

/// A file that was uploaded with a form and stored.
#[derive(Clone, Debug)]
pub struct Upload {
    /// The field.
    pub field: Text,
    /// What the person's file was called.
    pub filename: Text,
    /// Its bytes.
    pub digest: Digest,
    /// How many.
    pub size: u64,
}

/// An output that a person changed.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Which, by name.
    pub name: Text,
    /// Its bytes from now on, already stored.
    pub digest: Digest,
    /// How many.
    pub size: u64,
}

/// The values of a form by field name.
pub type Fields = Map<String, Value>;
