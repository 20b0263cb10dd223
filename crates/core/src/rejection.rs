//! Refused commands: ordinary answers that say why and what to do. Nothing was written.

use std::sync::Arc;

use crate::assurance::Level;
use crate::definition::Fault;
use crate::event::Text;
use crate::{GateId, RollbackId, RunId, Timestamp};

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// There is no such thing.
    #[error("no {what} {id}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// It was rolled back.
    #[error("{what} {id} was rolled back")]
    Gone {
        /// What was looked for.
        what: &'static str,
        /// Its id.
        id: String,
        /// The rollback that removed it, which can be undone.
        rollback: RollbackId,
    },
    /// It exists already.
    #[error("{what} {id} exists already")]
    Exists {
        /// What.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The present state does not allow it.
    #[error("cannot {action}: {what} {id} is {state}")]
    WrongState {
        /// What was asked for.
        action: &'static str,
        /// Whose state.
        what: &'static str,
        /// Its id.
        id: String,
        /// The state.
        state: &'static str,
        /// What is possible instead.
        possible: Vec<&'static str>,
    },
    /// The decision was about content that has changed since.
    #[error("what gate {gate} asks about has changed since it was shown")]
    Stale {
        /// The gate.
        gate: GateId,
    },
    /// A decision on a result must say what it is about.
    #[error("the digest of what was shown is missing")]
    DigestMissing {
        /// The gate.
        gate: GateId,
    },
    /// The gate was answered before, or closed without an answer.
    #[error("gate {gate} is not open any more")]
    GateAnswered {
        /// The gate.
        gate: GateId,
    },
    /// The time to answer is over.
    #[error("gate {gate} expired at {}", .at.rfc3339())]
    GateExpired {
        /// The gate.
        gate: GateId,
        /// When.
        at: Timestamp,
    },
    /// The answer is not proved well enough.
    #[error("gate {gate} needs an answer at level {}, and this one is {}", .needs.name(), .has.name())]
    AssuranceTooLow {
        /// The gate.
        gate: GateId,
        /// What it needs.
        needs: Level,
        /// What the answer has.
        has: Level,
    },
    /// Fields are wrong, each named.
    #[error("{} of the request is not valid", first_pointer(.0))]
    Invalid(Vec<Fault>),
    /// Steps that must be done before are not.
    #[error("{step} cannot start before {} is completed", .missing.join(", "))]
    DependencyNotMet {
        /// The step's name.
        step: String,
        /// The names of what is missing.
        missing: Vec<String>,
    },
    /// The definition cannot change while runs depend on it.
    #[error("{} active run(s) use this definition", .0.len())]
    RunsActive(Vec<RunId>),
    /// The run belongs to an earlier version of the definition and can only be read.
    #[error("run {run} belongs to definition version {version}, which is not the present one")]
    EarlierDefinition {
        /// The run.
        run: RunId,
        /// The version that it ran under.
        version: u32,
    },
    /// The caller's role or scope does not reach so far.
    #[error("this needs {needs}; the caller is {role}")]
    Forbidden {
        /// What is needed: a role, or another kind of caller.
        needs: &'static str,
        /// The role that the caller has.
        role: &'static str,
    },
    /// An agent tried to decide for a person.
    #[error("only a person can decide here")]
    NotAPerson,
    /// Others decide here.
    #[error("only {} can decide here", .approvers.join(" or "))]
    NotAnApprover {
        /// Their names.
        approvers: Arc<[Text]>,
    },
    /// Where several must agree, nobody agrees with themselves.
    #[error("{needed} others must approve what you asked for")]
    OwnRequest {
        /// How many.
        needed: u32,
    },
    /// The outcome was recorded before, or the work is not wanted any more.
    #[error("the work is not owed any more")]
    NotOwed,
    /// There is nothing behind the target.
    #[error("nothing stands behind the target, so there is nothing to roll back")]
    NothingToRollBack,
    /// The rollback cannot be undone (any more).
    #[error("rollback {rollback} cannot be undone: {reason}")]
    CannotUndo {
        /// The rollback.
        rollback: RollbackId,
        /// What stands in the way.
        reason: String,
    },
    /// The context would hold too much.
    #[error("the context would have {bytes} bytes of JSON; {limit} are allowed")]
    ContextTooLarge {
        /// How many it would have.
        bytes: u64,
        /// How many it may have.
        limit: u64,
    },
    /// A stated limit would be passed.
    #[error("the limit of {limit} {what} is reached")]
    LimitReached {
        /// Of what.
        what: &'static str,
        /// How many.
        limit: u64,
    },
}

fn first_pointer(faults: &[Fault]) -> &str {
    faults.first().map_or("a part", |fault| fault.pointer.as_str())
}

impl Rejection {
    /// The stable code, which has a page in the documentation.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Gone { .. } => "rolled_back",
            Self::Exists { .. } => "already_exists",
            Self::WrongState { .. } => "wrong_state",
            Self::Stale { .. } => "stale_decision",
            Self::DigestMissing { .. } => "digest_missing",
            Self::GateAnswered { .. } => "gate_answered",
            Self::GateExpired { .. } => "gate_expired",
            Self::AssuranceTooLow { .. } => "assurance_too_low",
            Self::Invalid(_) => "invalid_fields",
            Self::DependencyNotMet { .. } => "dependency_not_met",
            Self::RunsActive(_) => "runs_active",
            Self::EarlierDefinition { .. } => "earlier_definition",
            Self::Forbidden { .. } => "forbidden",
            Self::NotAPerson => "not_a_person",
            Self::NotAnApprover { .. } => "not_an_approver",
            Self::OwnRequest { .. } => "own_request",
            Self::NotOwed => "not_owed",
            Self::NothingToRollBack => "nothing_to_roll_back",
            Self::CannotUndo { .. } => "cannot_undo",
            Self::ContextTooLarge { .. } => "context_too_large",
            Self::LimitReached { .. } => "limit_reached",
        }
    }

    /// What to do next, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { what, .. } => format!("List what exists and use the id of a {what} from there."),
            Self::Gone { rollback, .. } => format!("Undo rollback {rollback} to bring it back."),
            Self::Exists { .. } => "Use another id, or change the one that exists.".to_owned(),
            Self::WrongState { possible, .. } if possible.is_empty() => {
                "Nothing more can be done here.".to_owned()
            }
            Self::WrongState { possible, .. } => format!("Possible now: {}.", possible.join(", ")),
            Self::Stale { .. } => "Look at it again and decide with the digest that is shown now.".to_owned(),
            Self::DigestMissing { .. } => "Send the digest from `waiting_for.digest`.".to_owned(),
            Self::GateAnswered { .. } => {
                "Look at what was decided; what waits now is in the inbox.".to_owned()
            }
            Self::GateExpired { .. } => "Pause and resume the run to ask again.".to_owned(),
            Self::AssuranceTooLow { needs, .. } => {
                format!("Answer in a way that reaches the level {}.", needs.name())
            }
            Self::Invalid(_) => "Correct the fields named in `errors` and send it again.".to_owned(),
            Self::DependencyNotMet { .. } => {
                "Complete what it depends on first, or change its dependencies.".to_owned()
            }
            Self::RunsActive(_) => "Complete or abort these runs first.".to_owned(),
            Self::EarlierDefinition { .. } => "Start a new run under the present definition.".to_owned(),
            Self::Forbidden { .. } => "Ask an admin for a token that may do this.".to_owned(),
            Self::NotAPerson => "Ask a person to decide in the inbox.".to_owned(),
            Self::NotAnApprover { .. } => {
                "Ask one of them, or change `human_interaction.approvers` in the definition.".to_owned()
            }
            Self::OwnRequest { .. } => "Ask somebody else to approve it.".to_owned(),
            Self::NotOwed => "Nothing is lost: the recorded outcome stands.".to_owned(),
            Self::NothingToRollBack => "Choose an earlier checkpoint.".to_owned(),
            Self::CannotUndo { .. } => {
                "Roll back what stands in the way first, or leave it as it is.".to_owned()
            }
            Self::ContextTooLarge { .. } => {
                "Leave less in the context, or put it into an artifact.".to_owned()
            }
            Self::LimitReached { .. } => {
                "Remove something first, or raise the limit in the configuration.".to_owned()
            }
        }
    }
}
