//! Names of things: UUIDs on the outside, small ordinals inside a run.
//!
//! Nothing here invents an id. A command arrives with its own id, and every id it needs is derived from
//! that and an ordinal, so that deciding again after a conflict gives the same names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = String, format = Uuid)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.hyphenated())
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    )*};
}

uuid_id! {
    /// A pipeline; also the session that groups its runs.
    PipelineId;
    /// A checkpoint definition inside a pipeline.
    CheckpointId;
    /// One execution of a plan.
    RunId;
    /// One visit of a run to a step, across all its attempts.
    ExecutionId;
    /// One question put to a person.
    GateId;
    /// An artifact as declared in a checkpoint definition.
    ArtifactId;
    /// An artifact as produced by one execution.
    ArtifactRecordId;
    /// A form field.
    FieldId;
    /// An agent declared in a checkpoint definition.
    AgentId;
    /// One rollback.
    RollbackId;
    /// A saved state of a run as a file, with or without the files of a folder.
    SnapshotId;
    /// One command: the source of every id that it needs.
    CommandId;
    /// A workstream that groups runs.
    SessionId;
    /// An access token (its public name, never its secret).
    TokenId;
    /// A named user of a home.
    UserId;
}

impl From<PipelineId> for SessionId {
    fn from(id: PipelineId) -> Self {
        Self(id.0)
    }
}

impl RunId {
    /// The id of an execution of this run: the run's id with the execution's number added to its last four bytes.
    /// So the id needs no place in events, rows or indexes.
    pub fn execution(self, x: ExecNo) -> ExecutionId {
        let (mut bytes, base) = (*self.0.as_bytes(), self.base());
        bytes[12..].copy_from_slice(&base.wrapping_add(x.0).to_be_bytes());
        ExecutionId(Uuid::from_bytes(bytes))
    }

    /// The number of the execution with an id; none, if the id cannot be one of this run's.
    pub fn ordinal_of(self, id: ExecutionId) -> Option<ExecNo> {
        let (own, other) = (self.0.as_bytes(), id.0.as_bytes());
        if own[..12] != other[..12] {
            return None;
        }
        let x = last_word(other).wrapping_sub(self.base());
        (x > 0).then_some(ExecNo(x))
    }

    /// What its id and those of its executions have in common: the last four bytes are zero.
    pub fn family(self) -> Uuid {
        family(self.0)
    }

    /// Its last four bytes as a number, to which executions add theirs.
    pub fn base(self) -> u32 {
        last_word(self.0.as_bytes())
    }
}

impl ExecutionId {
    /// What it has in common with its run's id.
    pub fn family(self) -> Uuid {
        family(self.0)
    }
}

fn family(id: Uuid) -> Uuid {
    let mut bytes = *id.as_bytes();
    bytes[12..].fill(0);
    Uuid::from_bytes(bytes)
}

fn last_word(bytes: &[u8; 16]) -> u32 {
    u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]])
}

impl ArtifactId {
    /// The artifact that a form makes and no definition declares: derived from its step and name.
    pub fn of_form(step: &StepId, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"holdpoint.artifact.1");
        hash.update((step.0.len() as u64).to_be_bytes());
        hash.update(step.0.as_bytes());
        hash.update(name.as_bytes());
        let mut bytes = [0u8; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        // Version 8 of RFC 9562: bits of the maker's own choice.
        bytes[6] = 0x80 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        Self(Uuid::from_bytes(bytes))
    }
}

impl From<RunId> for SessionId {
    fn from(id: RunId) -> Self {
        Self(id.0)
    }
}

/// The ordinal of an execution inside its run, from 1 in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecNo(pub u32);

/// The ordinal of a branch inside its run; the first branch is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchNo(pub u32);

/// The number of a node in its run's graph, in order of creation; the first is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeNo(pub u32);

impl fmt::Display for ExecNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// The name of a step inside a plan: a checkpoint id, a phase id, a node id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub std::sync::Arc<str>);

impl StepId {
    /// Names a step.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The checkpoint that this step stands for, in a pipeline's plan.
    pub fn checkpoint(&self) -> Option<CheckpointId> {
        self.0.parse().ok()
    }
}

impl From<CheckpointId> for StepId {
    fn from(id: CheckpointId) -> Self {
        Self(id.to_string().into())
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Derives the ids that one command needs, always the same ones in the same order.
#[derive(Clone, Debug)]
pub struct Ids {
    command: CommandId,
    next: u32,
}

impl Ids {
    /// Starts at the first id of a command.
    pub fn of(command: CommandId) -> Self {
        Self { command, next: 0 }
    }

    /// Starts at the first id for rows beside the log that the events of a command have not named.
    pub fn beside(command: CommandId) -> Self {
        Self { command, next: 1 << 31 }
    }

    /// The next id: version 7, with the command's time, and hash bits for the rest (the last eight hex
    /// digits end up in file names and must differ between siblings).
    pub fn mint(&mut self) -> Uuid {
        self.next += 1;
        let mut hash = Sha256::new();
        hash.update(b"holdpoint.id.1");
        hash.update(self.command.0.as_bytes());
        hash.update(self.next.to_be_bytes());
        let hash = hash.finalize();
        let mut bytes = [0u8; 16];
        bytes.copy_from_slice(&hash[..16]);
        bytes[..6].copy_from_slice(&self.command.0.as_bytes()[..6]);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        Uuid::from_bytes(bytes)
    }

    /// A number below `bound` that is fixed by the command: the jitter of a retry.
    pub fn jitter(&self, bound: u64) -> u64 {
        let mut hash = Sha256::new();
        hash.update(b"holdpoint.jitter.1");
        hash.update(self.command.0.as_bytes());
        let hash = hash.finalize();
        let mut word = [0u8; 8];
        word.copy_from_slice(&hash[..8]);
        if bound == 0 { 0 } else { u64::from_be_bytes(word) % bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_repeat_for_the_same_command() {
        let command = CommandId(Uuid::from_u128(0x0190_1111_2222_7333_8444_5555_6666_7777));
        let mut first = Ids::of(command);
        let mut again = Ids::of(command);
        let (a, b) = (first.mint(), first.mint());
        assert_eq!((a, b), (again.mint(), again.mint()));
        assert_ne!(a.as_bytes()[12..], b.as_bytes()[12..]);
        assert_eq!(a.get_version_num(), 7);
        assert_eq!(a.as_bytes()[..6], command.0.as_bytes()[..6]);
        assert!(![a, b].contains(&Ids::beside(command).mint()));
    }

    #[test]
    fn execution_ids_are_the_runs_with_a_number_added() {
        let run = RunId(Uuid::from_u128(0x0190_1111_2222_7333_8444_5555_ffff_fffe));
        let ids = [run.execution(ExecNo(1)), run.execution(ExecNo(2)), run.execution(ExecNo(3))];
        assert_eq!(ids[0].0.as_u128(), 0x0190_1111_2222_7333_8444_5555_ffff_ffff);
        assert_eq!(ids[1].0.as_u128(), 0x0190_1111_2222_7333_8444_5555_0000_0000, "modulo 2^32");
        assert_eq!(ids.map(|id| run.ordinal_of(id)), [1, 2, 3].map(|x| Some(ExecNo(x))));
        assert_eq!(run.ordinal_of(ExecutionId(run.0)), None);
        assert_eq!(run.ordinal_of(ExecutionId(Uuid::from_u128(1))), None);
    }
}
