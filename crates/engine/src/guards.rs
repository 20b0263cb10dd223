//! The versions that a commit expects: of every stream that its rule read or writes.

use holdpoint_core::{Decision, StreamId, Version};
use holdpoint_planted::{Bug, planted};

/// What the streams must be at when a decision is committed. What the rule only peeked at is left out.
pub(crate) fn expected(
    decision: &Decision,
    written: &[StreamId],
    loaded: impl Iterator<Item = (StreamId, Version)>,
) -> Vec<(StreamId, Version)> {
    let is_guarded = |stream: &StreamId| decision.guards.contains(stream) && !planted(Bug::GuardDropped);
    loaded.filter(|(stream, _)| is_guarded(stream) || written.contains(stream)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;
    use holdpoint_core::{PipelineId, RunId};

    #[test]
    fn what_a_rule_read_and_does_not_write_is_expected_to_be_as_it_was() {
        let run = StreamId::Run(RunId(Uuid::from_u128(1)));
        let [read, peeked] = [2, 3].map(|id| StreamId::Pipeline(PipelineId(Uuid::from_u128(id))));
        let decision = Decision { guards: BTreeSet::from([read]), ..Decision::default() };
        let loaded = [(run, Version(7)), (read, Version(8)), (peeked, Version(9))];
        let expected = expected(&decision, &[run], loaded.into_iter());
        assert_eq!(expected, [(run, Version(7)), (read, Version(8))]);
    }
}
