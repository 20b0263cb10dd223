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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::HomeCommand;
    use crate::testing::{Scene, When, on_home};

    fn seal(from: u64, upto: u64, streams: u64) -> When {
        let (from, upto, heads) = (Seq(from), Seq(upto), Digest::of(b"heads"));
        on_home(HomeCommand::SealHeads(SealHeads { from, upto, streams, heads }))
    }

    #[test]
    fn seals_follow_each_other_without_a_gap() {
        let mut scene = Scene::new();
        assert_eq!(scene.run(seal(0, 5, 2)).writes.len(), 1);
        scene.check(
            seal(0, 7, 2),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check(
            seal(5, 9, 0),
            expect![[r#"
            in effect already
        "#]],
        );
        assert_eq!(scene.run(seal(5, 9, 1)).writes.len(), 1);
    }
}
