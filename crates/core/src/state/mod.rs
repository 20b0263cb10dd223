//! States: what the events of a stream add up to.
//!
//! Folding is total: any list of known events gives a state, so that a log written by any past version
//! still folds. Whether an event should have been written is decided elsewhere.

pub mod home;
pub mod journal;
pub mod pipeline;
pub mod run;

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::{Actor, CommandId, RunId, StreamId, StreamKind, Timestamp};

pub use home::HomeState;
pub use journal::JournalState;
pub use pipeline::PipelineState;
pub use run::RunState;

/// The version of the folding code. A saved fold of another version is ignored.
pub const FOLD_CODE: u32 = 12;

/// The state of one stream.
#[allow(clippy::large_enum_variant)] // a state is held where it is, and runs, of which there are most, are boxed
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum State {
    /// Of the home stream.
    Home(HomeState),
    /// Of a pipeline stream.
    Pipeline(PipelineState),
    /// Of a run stream.
    Run(Box<RunState>),
    /// Of an execution's journal.
    Journal(JournalState),
}

/// What is recorded beside an event and matters to its folding.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: &'a Actor,
    /// By which command.
    pub command: CommandId,
}

impl State {
    /// The state of a stream without events.
    pub fn empty(stream: StreamId) -> Self {
        match stream.kind() {
            StreamKind::Home => Self::Home(HomeState::default()),
            StreamKind::Pipeline => Self::Pipeline(PipelineState::default()),
            StreamKind::Run => Self::Run(Box::new(RunState::new(RunId(stream.uuid())))),
            StreamKind::Journal => Self::Journal(JournalState::default()),
        }
    }
}

/// Folds one event in.
///
/// An event of another kind of stream changes nothing; the log never holds one.
pub fn evolve(state: &mut State, stamp: &Stamp<'_>, event: &Event) {
    match (state, event) {
        (State::Home(state), Event::Home(event)) => state.apply(stamp, event),
        (State::Pipeline(state), Event::Pipeline(event)) => state.apply(stamp, event),
        (State::Run(state), Event::Run(event)) => state.apply(stamp, event),
        (State::Journal(state), Event::Journal(entry)) => state.apply(stamp, entry),
        (State::Home(_) | State::Pipeline(_) | State::Run(_) | State::Journal(_), _) => {}
    }
}
