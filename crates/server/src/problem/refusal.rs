//! What the engine refuses or fails at, as a problem: the one translation that every route uses.

use holdpoint_core::Rejection;
use holdpoint_engine::SubmitError;
use holdpoint_engine::tree::TreeError;
use holdpoint_store::{BlobError, StoreError};
use serde_json::json;

use super::{Code, Problem};

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        let problem = Self::new(code(&rejection), rejection.to_string()).hint(rejection.hint());
        match rejection {
            Rejection::Gone { rollback, .. } | Rejection::CannotUndo { rollback, .. } => {
                problem.with("rollback_id", rollback.to_string())
            }
            Rejection::WrongState { state, possible, .. } => {
                problem.with("state", state).with("possible", possible)
            }
            Rejection::Invalid(faults) => {
                faults.into_iter().fold(problem, |problem, fault| problem.field(fault.pointer, fault.message))
            }
            Rejection::DependencyNotMet { missing, .. } => problem.with("missing", missing),
            Rejection::RunsActive(runs) => {
                problem.with("runs", runs.iter().map(ToString::to_string).collect::<Vec<_>>())
            }
            Rejection::EarlierDefinition { version, .. } => problem.with("definition_version", version),
            Rejection::Forbidden { needs, role } => problem.with("needs", needs).with("role", role),
            Rejection::Stale { gate }
            | Rejection::DigestMissing { gate }
            | Rejection::GateAnswered { gate } => problem.with("gate_id", gate.to_string()),
            Rejection::GateExpired { gate, at } => {
                problem.with("gate_id", gate.to_string()).with("expired_at", at.rfc3339())
            }
            Rejection::AssuranceTooLow { gate, needs, has } => {
                problem.with("gate_id", gate.to_string()).with("needs", needs.name()).with("has", has.name())
            }
            Rejection::NotAnApprover { approvers } => problem.with("approvers", json!(approvers)),
            Rejection::ContextTooLarge { bytes, limit } => {
                problem.with("bytes", json!(bytes)).with("limit", json!(limit))
            }
            Rejection::LimitReached { limit, .. } => problem.with("limit", json!(limit)),
            Rejection::NotFound { .. }
            | Rejection::Exists { .. }
            | Rejection::NotAPerson
            | Rejection::OwnRequest { .. }
            | Rejection::NotOwed
            | Rejection::NothingToRollBack => problem,
        }
    }
}

fn code(rejection: &Rejection) -> Code {
    match rejection {
        Rejection::NotFound { .. } => Code::NotFound,
        Rejection::Gone { .. } => Code::RolledBack,
        Rejection::Exists { .. } => Code::AlreadyExists,
        Rejection::WrongState { .. } => Code::WrongState,
        Rejection::Stale { .. } => Code::StaleDecision,
        Rejection::DigestMissing { .. } => Code::DigestMissing,
        Rejection::GateAnswered { .. } => Code::GateAnswered,
        Rejection::GateExpired { .. } => Code::GateExpired,
        Rejection::AssuranceTooLow { .. } => Code::AssuranceTooLow,
        Rejection::Invalid(_) => Code::InvalidFields,
        Rejection::DependencyNotMet { .. } => Code::DependencyNotMet,
        Rejection::RunsActive(_) => Code::RunsActive,
        Rejection::EarlierDefinition { .. } => Code::EarlierDefinition,
        Rejection::Forbidden { .. } => Code::Forbidden,
        Rejection::NotAPerson => Code::NotAPerson,
        Rejection::NotAnApprover { .. } => Code::NotAnApprover,
        Rejection::OwnRequest { .. } => Code::OwnRequest,
        Rejection::NotOwed => Code::NotOwed,
        Rejection::NothingToRollBack => Code::NothingToRollBack,
        Rejection::CannotUndo { .. } => Code::CannotUndo,
        Rejection::ContextTooLarge { .. } => Code::ContextTooLarge,
        Rejection::LimitReached { .. } => Code::LimitReached,
    }
}

impl From<TreeError> for Problem {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Source(error) => error.into(),
            TreeError::Io(error) => {
                tracing::error!(%error, "the files of pipelines cannot be looked at");
                Self::new(Code::Storage, "the files cannot be looked at").retry_after(1)
            }
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        let (code, detail) = match error {
            SubmitError::Rejected(rejection) => return rejection.into(),
            SubmitError::KeyReused => (Code::IdempotencyKeyReused, error.to_string()),
            SubmitError::Fenced(_) => (Code::Fenced, error.to_string()),
            SubmitError::Contended => (Code::Contended, error.to_string()),
            SubmitError::DiskFull | SubmitError::Blob(BlobError::DiskFull) => {
                (Code::DiskFull, error.to_string())
            }
            SubmitError::Blob(BlobError::TooLarge(_)) => (Code::TooLarge, error.to_string()),
            SubmitError::Blob(BlobError::Missing(_)) => (Code::BlobMissing, error.to_string()),
            SubmitError::Blob(BlobError::Corrupt(_)) => (Code::BlobCorrupt, error.to_string()),
            SubmitError::Store(StoreError::LogCorrupt { stream, .. }) => {
                tracing::error!(%error, "the log is damaged");
                return Self::new(Code::LogCorrupt, error.to_string()).with("stream", stream.to_string());
            }
            // What the disk said may name paths of this machine: it goes to the log and not to the client.
            SubmitError::Store(_) | SubmitError::Blob(BlobError::Io(_)) => {
                tracing::error!(%error, "the store failed");
                (Code::Storage, "the store cannot do its work".to_owned())
            }
            SubmitError::Unknown(_) => {
                tracing::error!(%error, "a commit's result is unknown");
                (Code::CommitUnknown, "it is unknown whether the request was carried out".to_owned())
            }
        };
        let problem = Self::new(code, detail);
        match code {
            Code::Contended | Code::Storage => problem.retry_after(1),
            _ => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_core::{Level, RollbackId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_code_of_a_refusal_is_the_one_that_core_gives_it() {
        let id = String::new();
        let rollback = RollbackId(Uuid::nil());
        let gate = holdpoint_core::GateId(Uuid::nil());
        let run = holdpoint_core::RunId(Uuid::nil());
        let what = "run";
        let all = [
            Rejection::NotFound { what, id: id.clone() },
            Rejection::Gone { what, id: id.clone(), rollback },
            Rejection::Exists { what, id: id.clone() },
            Rejection::WrongState { action: "", what, id, state: "", possible: Vec::new() },
            Rejection::Stale { gate },
            Rejection::DigestMissing { gate },
            Rejection::GateAnswered { gate },
            Rejection::GateExpired { gate, at: holdpoint_core::Timestamp(0) },
            Rejection::AssuranceTooLow { gate, needs: Level::Terminal, has: Level::Local },
            Rejection::Invalid(Vec::new()),
            Rejection::DependencyNotMet { step: String::new(), missing: Vec::new() },
            Rejection::RunsActive(Vec::new()),
            Rejection::EarlierDefinition { run, version: 1 },
            Rejection::Forbidden { needs: "", role: "" },
            Rejection::NotAPerson,
            Rejection::NotOwed,
            Rejection::NothingToRollBack,
            Rejection::CannotUndo { rollback, reason: String::new() },
            Rejection::LimitReached { what, limit: 1 },
        ];
        for rejection in all {
            assert_eq!(code(&rejection).about().code, rejection.code());
        }
        assert_eq!(Problem::from(SubmitError::KeyReused).code(), SubmitError::KeyReused.code());
        assert_eq!(Problem::from(SubmitError::Contended).code(), SubmitError::Contended.code());
        assert_eq!(Problem::from(SubmitError::DiskFull).code(), SubmitError::DiskFull.code());
    }
}
