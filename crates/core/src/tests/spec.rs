//! Checkpoints in a few words, so that random ones can be made and a model can read them.

use proptest::prelude::*;

use crate::definition::{CheckpointDefinition, OnFailure, OnValidationFailure};
use crate::testing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Form,
    Script,
    Asks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Retry,
    Ask,
    Fail,
}

/// A checkpoint.
#[allow(clippy::struct_excessive_bools)] // as the definition has them
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec {
    pub work: Work,
    pub start: bool,
    pub complete: bool,
    pub retries: u32,
    pub revisions: u32,
    pub goes_back: bool,
    /// Whether attempts are timed, and whether being late goes back.
    pub timeout: Option<bool>,
    pub judge: Option<(Then, u32)>,
    /// Whether it must make a report.
    pub report: bool,
}

impl Spec {
    pub fn definition(&self, name: &str) -> CheckpointDefinition {
        let then = |back: bool| if back { OnFailure::RollbackCheckpoint } else { OnFailure::PausePipeline };
        let mut definition = match self.work {
            Work::Form => testing::form(name),
            Work::Script => testing::script(name, self.retries),
            Work::Asks => testing::asking(name, self.retries),
        };
        if self.report {
            definition = testing::reporting(definition);
        }
        if let Some(back) = self.timeout {
            definition = testing::timed(definition, then(back));
        }
        if let Some((judged, retries)) = self.judge {
            let judged = match judged {
                Then::Retry => OnValidationFailure::Retry,
                Then::Ask => OnValidationFailure::AskHuman,
                Then::Fail => OnValidationFailure::FailCheckpoint,
            };
            definition = testing::judged_by(definition, judged, retries);
        }
        definition.execution.retry_config.max_auto_retries = self.retries;
        definition.human_interaction.max_revision_iterations = self.revisions;
        testing::failing(testing::approved(definition, self.start, self.complete), then(self.goes_back))
    }
}

/// Any checkpoint.
pub(super) fn any_spec() -> impl Strategy<Value = Spec> {
    let work = prop_oneof![Just(Work::Form), Just(Work::Script), Just(Work::Asks)];
    let judge = (prop_oneof![Just(Then::Retry), Just(Then::Ask), Just(Then::Fail)], 0..3u32);
    (
        work,
        any::<[bool; 4]>(),
        0..3u32,
        0..3u32,
        prop::option::weighted(0.4, any::<bool>()),
        prop::option::weighted(0.4, judge),
    )
        .prop_map(|(work, [start, complete, goes_back, report], retries, revisions, timeout, judge)| {
            let form = work == Work::Form;
            Spec {
                work,
                start,
                complete,
                retries,
                revisions,
                goes_back,
                timeout: timeout.filter(|_| !form),
                judge,
                report: report && !form,
            }
        })
}
