//! Events: facts in the past tense, as they are stored.
//!
//! The enums are closed and only ever grow: names and fields of stored events never change, so that every
//! log ever written still folds. Stored names are short because each is written millions of times.

use std::sync::Arc;

use serde::Deserialize;

use crate::StreamKind;

macro_rules! kinds {
    ($name:ident { $($variant:ident = $kind:literal => $wire:expr,)* }) => {
        impl $name {
            /// The stored name of the event's kind.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $kind,)* }
            }

            /// Stored names with the types that the outside sees.
            pub const KINDS: &'static [(&'static str, Option<&'static str>)] = &[$(($kind, $wire),)*];
        }
    };
}

mod blobs;
mod client;
mod failure;
mod home;
mod journal;
mod parts;
mod pipeline;
mod run;

pub use blobs::{BlobKind, BlobRef, Keep};
pub use client::{Blocker, Content, Mark, mark};
pub use failure::{Failure, FailureKind};
pub use home::{HomeEvent, Role};
pub use journal::{Entry, Level, MessageRole};
pub use parts::{LoopEnd, Made, Origin, PauseReason, Place, SkipReason, Usage, Warning};
pub(crate) use parts::{is_none_u32, is_one, is_zero, one};
pub use pipeline::{Drift, Drifted, PipelineEvent, RollbackRecord, RollbackType, TriggeredBy};
pub use run::RunEvent;

/// Text that people or programs wrote.
pub type Text = Arc<str>;

/// One event of any stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Of the home stream.
    Home(HomeEvent),
    /// Of a pipeline stream.
    Pipeline(PipelineEvent),
    /// Of a run stream.
    Run(RunEvent),
    /// Of an execution's journal.
    Journal(Entry),
}

impl Event {
    /// The stored name of the event's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Home(event) => event.kind(),
            Self::Pipeline(event) => event.kind(),
            Self::Run(event) => event.kind(),
            Self::Journal(entry) => entry.kind(),
        }
    }
}

/// The type that the outside sees for a stored kind; `None` where an event is internal.
pub fn wire_type(kind: &str) -> Option<&'static str> {
    all_kinds().find(|(stored, _)| *stored == kind).and_then(|(_, wire)| wire)
}

/// The stored kinds behind an outside type.
pub fn stored_kinds(wire: &str) -> Vec<&'static str> {
    all_kinds().filter(|(_, outside)| *outside == Some(wire)).map(|(stored, _)| stored).collect()
}

/// All stored kinds with the types that the outside sees.
pub fn all_kinds() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    [HomeEvent::KINDS, PipelineEvent::KINDS, RunEvent::KINDS, Entry::KINDS].into_iter().flatten().copied()
}

/// Stored bytes that are not a list of known events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of {kind} events: {cause}")]
pub struct NotEvents {
    kind: &'static str,
    cause: String,
}

/// The bytes of one row: a JSON array of the events of one stream.
pub fn encode(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.push(b'[');
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            bytes.push(b',');
        }
        let written = match event {
            Event::Home(event) => serde_json::to_writer(&mut bytes, event),
            Event::Pipeline(event) => serde_json::to_writer(&mut bytes, event),
            Event::Run(event) => serde_json::to_writer(&mut bytes, event),
            Event::Journal(entry) => serde_json::to_writer(&mut bytes, entry),
        };
        written.expect("events have string keys and finite numbers");
    }
    bytes.push(b']');
    bytes
}

/// Reads the bytes of one row.
pub fn decode(kind: StreamKind, bytes: &[u8]) -> Result<Vec<Event>, NotEvents> {
    fn list<'a, T: Deserialize<'a>>(bytes: &'a [u8], wrap: fn(T) -> Event) -> serde_json::Result<Vec<Event>> {
        Ok(serde_json::from_slice::<Vec<T>>(bytes)?.into_iter().map(wrap).collect())
    }
    let read = match kind {
        StreamKind::Home => list(bytes, Event::Home),
        StreamKind::Pipeline => list(bytes, Event::Pipeline),
        StreamKind::Run => list(bytes, Event::Run),
        StreamKind::Journal => list(bytes, Event::Journal),
    };
    read.map_err(|cause| NotEvents { kind: kind.name(), cause: cause.to_string() })
}

/// The kinds of some events, as a row's shape.
pub fn shape(events: &[Event]) -> String {
    let mut shape = String::with_capacity(32);
    for (i, event) in events.iter().enumerate() {
        if i > 0 {
            shape.push(',');
        }
        shape.push_str(event.kind());
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExecNo;

    #[test]
    fn stored_names_are_unique() {
        let mut kinds: Vec<_> = all_kinds().map(|(kind, _)| kind).collect();
        let count = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), count);
    }

    #[test]
    fn the_stored_name_is_what_is_written() {
        let event = Event::Run(RunEvent::ExecutionCompleted {
            x: ExecNo(3),
            output: Some(serde_json::json!({"i": 1})),
            usage: Usage::default(),
        });
        let bytes = encode(std::slice::from_ref(&event));
        assert_eq!(String::from_utf8_lossy(&bytes), r#"[{"done":{"x":3,"out":{"i":1}}}]"#);
        assert_eq!(decode(StreamKind::Run, &bytes), Ok(vec![event]));
    }

    #[test]
    fn unit_events_survive_their_bytes() {
        let events = [Event::Run(RunEvent::Began {}), Event::Run(RunEvent::Resumed {})];
        let bytes = encode(&events);
        assert_eq!(decode(StreamKind::Run, &bytes).expect("events"), events);
        assert!(decode(StreamKind::Run, b"[{\"never\":1}]").is_err());
    }
}
