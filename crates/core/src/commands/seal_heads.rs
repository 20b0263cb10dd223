//! Seals the log: one hash over the heads of all streams that moved, chained in the home stream, so that
//! the removal of a whole stream is found.

use crate::decision::Draft;
use crate::event::{Event, HomeEvent};
use crate::{Digest, Seq, StreamId};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SealHeads {
    /// The position up to which the log was looked at.
    pub upto: Seq,
    /// How many streams had moved.
    pub streams: u64,
    /// The hash over their heads.
    pub heads: Digest,
}

/// The rule: a seal never goes back, and an empty one is not written.
pub fn decide(draft: &mut Draft<'_>, command: &SealHeads) {
    let SealHeads { upto, streams, heads } = *command;
    if streams > 0 && upto > draft.home().sealed {
        draft.emit(StreamId::Home, Event::Home(HomeEvent::Sealed { upto, streams, heads }));
    }
}
