//! Streams: the units of order and of optimistic concurrency in the log.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{ExecutionId, PipelineId, RunId};

/// A stream of the log.
///
/// The order of the variants is the order in which several streams are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StreamId {
    /// Tokens, users, and seals over the heads of all other streams.
    Home,
    /// Definitions, order, run numbers, active runs and rollbacks of one pipeline.
    Pipeline(PipelineId),
    /// One run of any kind.
    Run(RunId),
    /// What one execution's work said and did, entry by entry.
    Journal(ExecutionId),
}

/// The kinds of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StreamKind {
    /// See [`StreamId::Home`].
    Home,
    /// See [`StreamId::Pipeline`].
    Pipeline,
    /// See [`StreamId::Run`].
    Run,
    /// See [`StreamId::Journal`].
    Journal,
}

impl StreamKind {
    /// The name that stores and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Pipeline => "pipeline",
            Self::Run => "run",
            Self::Journal => "journal",
        }
    }

    /// The stream of this kind with this id; home has none and ignores it.
    pub fn with(self, id: Uuid) -> StreamId {
        match self {
            Self::Home => StreamId::Home,
            Self::Pipeline => StreamId::Pipeline(PipelineId(id)),
            Self::Run => StreamId::Run(RunId(id)),
            Self::Journal => StreamId::Journal(ExecutionId(id)),
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Home, Self::Pipeline, Self::Run, Self::Journal].into_iter().find(|kind| kind.name() == name)
    }
}

impl StreamId {
    /// What kind of stream it is.
    pub fn kind(&self) -> StreamKind {
        match self {
            Self::Home => StreamKind::Home,
            Self::Pipeline(_) => StreamKind::Pipeline,
            Self::Run(_) => StreamKind::Run,
            Self::Journal(_) => StreamKind::Journal,
        }
    }

    /// Its id within its kind; home's is nil.
    pub fn uuid(&self) -> Uuid {
        match self {
            Self::Home => Uuid::nil(),
            Self::Pipeline(id) => id.0,
            Self::Run(id) => id.0,
            Self::Journal(id) => id.0,
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home => f.write_str("home"),
            Self::Pipeline(_) | Self::Run(_) | Self::Journal(_) => {
                write!(f, "{} {}", self.kind().name(), self.uuid().hyphenated())
            }
        }
    }
}

/// How many events a stream holds; events count from 1 without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

/// An event's position in the whole log, from 1. Opaque outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);
