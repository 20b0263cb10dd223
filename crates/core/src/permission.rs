//! Who may give which command: one table, used by every face.
//!
//! A role says how far somebody may go, a scope says where, the kind of actor says who can never decide.
//! Existence is not told to those who may not look: what lies outside a scope is simply not there.

use crate::command::{Command, HomeCommand, PipelineCommand, RunCommand};
use crate::event::Role;
use crate::state::run::AskKind;
use crate::{ActorKind, PipelineId, Rejection};

/// What a caller may do, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// How far.
    pub role: Role,
    /// As what kind of actor.
    pub kind: ActorKind,
    /// Only in these pipelines; empty: everywhere.
    pub pipelines: Vec<PipelineId>,
}

impl Rights {
    /// The rights of a role everywhere.
    pub fn everywhere(role: Role, kind: ActorKind) -> Self {
        Self { role, kind, pipelines: Vec::new() }
    }

    /// Whether the caller may look at things of a pipeline; `None`: at things of no pipeline.
    pub fn sees(&self, pipeline: Option<PipelineId>) -> bool {
        self.pipelines.is_empty() || pipeline.is_some_and(|pipeline| self.pipelines.contains(&pipeline))
    }

    /// Refuses who does not have a role; an agent never decides, so no token helps it there.
    pub fn require(&self, role: Role) -> Result<(), Rejection> {
        match (self.kind, role) {
            (ActorKind::Agent, Role::Approver | Role::Admin) => Err(Rejection::NotAPerson),
            _ if self.role >= role => Ok(()),
            _ => Err(forbidden(role.name(), self.role)),
        }
    }

    /// Refuses a command that the caller may not give. `pipeline` is the one that it concerns, if any.
    pub fn check(&self, command: &Command, pipeline: Option<PipelineId>) -> Result<(), Rejection> {
        match (self.kind, required(command)) {
            (ActorKind::System, _) => return Ok(()),
            (ActorKind::Person | ActorKind::Agent, None) => {
                return Err(forbidden("holdpoint itself", self.role));
            }
            (ActorKind::Agent | ActorKind::Person, Some(role)) => self.require(role)?,
        }
        match pipeline {
            _ if self.sees(pipeline) => Ok(()),
            Some(pipeline) => Err(Rejection::NotFound { what: "pipeline", id: pipeline.to_string() }),
            None => Err(forbidden("a token that is not limited to pipelines", self.role)),
        }
    }
}

fn forbidden(needs: &'static str, role: Role) -> Rejection {
    Rejection::Forbidden { needs, role: role.name() }
}

/// The role that a command needs; `None`: only Holdpoint itself gives it.
pub fn required(command: &Command) -> Option<Role> {
    match command {
        Command::Home(command) => of_home(command),
        Command::Pipeline(_, command) => of_pipeline(command),
        Command::StartRun(_) => Some(Role::Operator),
        Command::Run(_, command) => of_run(command),
        Command::RollBack(_) | Command::UndoRollback { .. } => Some(Role::Approver),
        Command::WriteJournal { .. } => None,
    }
}

fn of_home(command: &HomeCommand) -> Option<Role> {
    match command {
        HomeCommand::IssueToken(_) | HomeCommand::RevokeToken(_) => Some(Role::Admin),
        HomeCommand::Create | HomeCommand::SealHeads(_) => None,
    }
}

fn of_pipeline(command: &PipelineCommand) -> Option<Role> {
    match command {
        PipelineCommand::Create(_)
        | PipelineCommand::Apply(_)
        | PipelineCommand::Update(_)
        | PipelineCommand::Delete
        | PipelineCommand::Restore
        | PipelineCommand::AddCheckpoint(_)
        | PipelineCommand::UpdateCheckpoint(_)
        | PipelineCommand::RemoveCheckpoint(_)
        | PipelineCommand::Reorder(_) => Some(Role::Admin),
        PipelineCommand::EndArchive(_) | PipelineCommand::RecordDrift(_) => None,
    }
}

/// The role that may answer a gate.
pub fn answers(kind: AskKind) -> Role {
    match kind {
        AskKind::Begin | AskKind::Form | AskKind::Input | AskKind::Failed => Role::Operator,
        AskKind::Start
        | AskKind::Guidance
        | AskKind::Budget
        | AskKind::Result
        | AskKind::Choice
        | AskKind::Blocked => Role::Approver,
    }
}

fn of_run(command: &RunCommand) -> Option<Role> {
    match command {
        RunCommand::Begin
        | RunCommand::Pause
        | RunCommand::Resume { .. }
        | RunCommand::Abort(_)
        | RunCommand::Complete
        | RunCommand::Fail(_)
        | RunCommand::Cancel(_)
        | RunCommand::QueueNote { .. }
        | RunCommand::Advance(_)
        | RunCommand::TakeSnapshot(_)
        | RunCommand::MarkCritical { .. } => Some(Role::Operator),
        // They retire a branch, like a rollback.
        RunCommand::Recover(_) | RunCommand::UndoRecovery(_) => Some(Role::Approver),
        RunCommand::Answer(answer) => Some(answers(answer.kind)),
        RunCommand::RecordOutcome(_) | RunCommand::RestartAttempt(_) | RunCommand::FireTimer(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{Answer, ExecNo, RollbackId, RunId};

    fn told(rights: &Rights, command: &Command, pipeline: Option<PipelineId>) -> &'static str {
        rights.check(command, pipeline).map_or_else(|refused| refused.code(), |()| "allowed")
    }

    #[test]
    fn a_role_may_do_what_the_ones_below_it_may() {
        let run = RunId(Uuid::nil());
        let approve = Command::Run(run, RunCommand::Answer(Answer::of(ExecNo(1), AskKind::Start, "approve")));
        let rollback = RollbackId(Uuid::nil());
        let pipeline = PipelineId(Uuid::nil());
        let commands = [
            Command::Run(run, RunCommand::Pause),
            approve,
            Command::UndoRollback { pipeline, rollback },
            Command::Pipeline(pipeline, PipelineCommand::Delete),
            Command::Home(HomeCommand::Create),
        ];
        let line = |role, kind| {
            let rights = Rights::everywhere(role, kind);
            commands.each_ref().map(|command| told(&rights, command, Some(pipeline)))
        };
        let no = "forbidden";
        assert_eq!(line(Role::Viewer, ActorKind::Person), [no; 5]);
        assert_eq!(line(Role::Operator, ActorKind::Person), ["allowed", no, no, no, no]);
        assert_eq!(line(Role::Approver, ActorKind::Person), ["allowed", "allowed", "allowed", no, no]);
        let all = ["allowed", "allowed", "allowed", "allowed", no];
        assert_eq!(line(Role::Admin, ActorKind::Person), all);
        let person = "not_a_person";
        assert_eq!(line(Role::Admin, ActorKind::Agent), ["allowed", person, person, person, no]);
        assert_eq!(line(Role::Viewer, ActorKind::System), ["allowed"; 5]);
    }

    #[test]
    fn what_lies_outside_a_scope_is_not_there() {
        let (inside, outside) = (PipelineId(Uuid::from_u128(1)), PipelineId(Uuid::from_u128(2)));
        let rights = Rights { pipelines: vec![inside], ..Rights::everywhere(Role::Admin, ActorKind::Person) };
        let pause = Command::Run(RunId(Uuid::nil()), RunCommand::Pause);
        assert_eq!(told(&rights, &pause, Some(inside)), "allowed");
        assert_eq!(told(&rights, &pause, Some(outside)), "not_found");
        assert_eq!(told(&rights, &pause, None), "forbidden");
        assert!(rights.sees(Some(inside)) && !rights.sees(Some(outside)) && !rights.sees(None));
    }
}
