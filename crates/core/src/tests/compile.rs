//! What random definitions compile to, compared with the few words that they were made of.

use std::sync::Arc;

use proptest::prelude::*;

use super::cases;
use super::spec::{Then, Work as Kind, any_spec};
use crate::definition::Compiled;
use crate::plan::body::{AfterCheck, OnFailure, Work};

proptest! {
    #![proptest_config(cases(256))]

    /// Every rule of a definition arrives in its body, and what does not apply to its work does not.
    #[test]
    fn a_body_has_the_rules_of_its_definition(spec in any_spec()) {
            let definition = Arc::new(spec.definition("A"));
        let compiled = Compiled::new(definition.clone());
        let (body, policy) = (compiled.body(), &compiled.body().policy);
        prop_assert_eq!(policy.approve_start.is_needed(|_| true), spec.start);
        prop_assert_eq!(policy.approve_complete.is_needed(|_| true), spec.complete);
        prop_assert_eq!(policy.max_attempts, spec.retries + 1);
        prop_assert_eq!(policy.max_revisions, spec.revisions);
        prop_assert_eq!(policy.on_failure == OnFailure::Rollback, spec.goes_back);
        let late = |back: bool| if back { OnFailure::Rollback } else { OnFailure::Pause };
        prop_assert_eq!(policy.timeout, spec.timeout.map(|back| (60, late(back))));
        let judged = spec.judge.map(|(then, retries)| match then {
            Then::Retry => (AfterCheck::Retry, retries),
            Then::Ask => (AfterCheck::Ask, retries),
            Then::Fail => (AfterCheck::Fail, retries),
        });
        let checked = body.judge().map(|_| (policy.on_check.then, policy.on_check.retries));
        prop_assert_eq!(checked, judged);
        prop_assert_eq!(body.outputs.len(), usize::from(spec.report));
        let (is_form, asks) = match &body.work {
            Work::Form(_) => (true, false),
            Work::Script(script) => (false, script.asks),
            Work::Agents(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => (false, false),
        };
        prop_assert_eq!((is_form, asks), (spec.work == Kind::Form, spec.work == Kind::Asks));
        // Only the definition is stored, and it compiles to the same.
        let stored = serde_json::to_value(&compiled).expect("written");
        prop_assert_eq!(&stored, &serde_json::to_value(&*definition).expect("written"));
        let loaded: Compiled = serde_json::from_value(stored).expect("read");
        prop_assert_eq!(loaded, compiled);
    }
}
