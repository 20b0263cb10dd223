//! Seals the log: one hash over the heads of all streams that moved, chained in the home stream, so that
//! the removal of a whole stream is found.

use crate::decision::Draft;
use crate::event::{Event, HomeEvent};
use crate::{Digest, Seq, StreamId};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SealHeads {
    /// The position up to which the log was sealed when it was looked at.
    pub from: Seq,
    /// The position up to which the log was looked at.
    pub upto: Seq,
    /// How many streams had moved.
    pub streams: u64,
    /// The hash over their heads.
    pub heads: Digest,
}

/// The rule: a seal begins where the one before it ended, and an empty one is not written. Of two that were
/// made at once only the first counts: the other covers a stretch that is not there any more.
pub fn decide(draft: &mut Draft<'_>, command: &SealHeads) {
    let SealHeads { from, upto, streams, heads } = *command;
    if streams > 0 && from == draft.home().sealed && upto > from {
        draft.emit(StreamId::Home, Event::Home(HomeEvent::Sealed { upto, streams, heads }));
    }
}
