//! What a decision depends on: commits to other streams leave it valid (P7), and what a rule has read is guarded.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::acts::Raw;
use super::pipelines::Pair;
use super::spec::any_spec;
use super::{cases, invariants};
use crate::decision::{Draft, World};
use crate::event::{PauseReason, RunEvent};
use crate::facts::{Facts, NothingKnown};
use crate::testing::{Scene, form, pause, pipeline_id, run_id};
use crate::{Decision, StreamId};

/// The streams that must be as they were when a decision is committed.
fn held(decision: &Decision) -> BTreeSet<StreamId> {
    decision.guards.iter().copied().chain(written(decision)).collect()
}

fn written(decision: &Decision) -> impl Iterator<Item = StreamId> {
    decision.writes.iter().map(|write| write.stream)
}

proptest! {
    #![proptest_config(cases(400))]

    /// P7: two commands are decided on the same states. If the first writes nothing that the second holds, the second's
    /// events are appended as they were decided.
    #[test]
    fn a_decision_outlives_commits_to_what_it_does_not_hold(
        steps in prop::collection::vec(any_spec(), 1..4),
        tries in prop::collection::vec(any::<Raw>(), 10..60),
        both in prop::collection::vec((any::<Raw>(), any::<Raw>()), 12),
    ) {
        let mut pair = Pair::new(steps);
        for raw in tries {
            pair.try_one(raw);
        }
        for (first, second) in both {
            let ((first, one), (second, other)) = (pair.order(first), pair.order(second));
            let mut scene = pair.scene.clone();
            scene.actor = other;
            let Ok((envelope, late)) = scene.decide(second) else { continue };
            scene.actor = one;
            let Ok(decision) = scene.try_run(first) else { continue };
            if written(&decision).any(|stream| held(&late).contains(&stream)) {
                continue;
            }
            scene.append(&envelope, &late);
            invariants::check(&scene, true);
            invariants::check_log(&scene);
        }
    }
}

#[test]
fn what_a_rule_reads_is_guarded_and_what_it_peeks_at_is_not() {
    let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
    let (envelope, _) = scene.decide(pause(1)).expect("possible");
    let mut world = World::default();
    scene.states.iter().for_each(|(stream, state)| world.insert(*stream, state));
    let facts = || Facts { evaluator: &crate::testing::Lenient, offers: &NothingKnown };
    let pipeline = StreamId::Pipeline(pipeline_id());
    // A rule that pauses a run by what the pipeline says.
    let mut reads = Draft::new(&world, &envelope, facts());
    reads.pipeline(pipeline_id()).expect("there");
    reads.on_run(run_id(1), RunEvent::Paused { reason: PauseReason::Asked });
    assert_eq!(reads.finish().guards, BTreeSet::from([pipeline]));
    let mut peeks = Draft::new(&world, &envelope, facts());
    peeks.peek_pipeline(pipeline_id()).expect("there");
    peeks.on_run(run_id(1), RunEvent::Paused { reason: PauseReason::Asked });
    assert!(peeks.finish().guards.is_empty());
}
