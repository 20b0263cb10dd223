//! What is wrong with who must approve.

use std::collections::BTreeSet;

use super::{Fault, Findings, HumanInteraction};

/// The most approvals that one decision may need.
const MOST_APPROVALS: u32 = 10;
/// The most approvers that may be named.
const MOST_APPROVERS: usize = 50;

pub(super) fn approvals(found: &mut Findings, people: &HumanInteraction) {
    let HumanInteraction { approvers, required_approvals: needed, .. } = people;
    let pointer = "/human_interaction/required_approvals";
    if !(1..=MOST_APPROVALS).contains(needed) {
        found.errors.push(Fault::at(pointer, format!("between 1 and {MOST_APPROVALS}")));
    }
    if approvers.len() > MOST_APPROVERS {
        found.errors.push(Fault::at("/human_interaction/approvers", format!("at most {MOST_APPROVERS}")));
    }
    let mut known = BTreeSet::new();
    for (i, name) in approvers.iter().enumerate() {
        let pointer = format!("/human_interaction/approvers/{i}");
        if name.trim().is_empty() || name.len() > 200 {
            found.errors.push(Fault::at(pointer, "a name has 1 to 200 bytes"));
        } else if !known.insert(name) {
            found.errors.push(Fault::at(pointer, "this name is there already"));
        }
    }
    let named = known.len() as u64;
    if named > 0 && u64::from(*needed) > named {
        found.errors.push(Fault::at(pointer, format!("only {named} approvers are named")));
    } else if *needed > 1 && u64::from(*needed) == named {
        let message = "all named approvers must agree, so none of them can start a run or fill in the form";
        found.warnings.push(Fault::at(pointer, message));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(approvers: &[&str], needed: u32, expect: &Expect) {
        let people = HumanInteraction {
            requires_approval_to_start: true,
            requires_approval_to_complete: true,
            max_revision_iterations: 3,
            approvers: approvers.iter().map(|name| (*name).to_owned()).collect(),
            required_approvals: needed,
        };
        let mut found = Findings::default();
        approvals(&mut found, &people);
        let line = |kind: &str, fault: &Fault| format!("{kind} {}: {}\n", fault.pointer, fault.message);
        let errors = found.errors.iter().map(|fault| line("error", fault));
        let warnings = found.warnings.iter().map(|fault| line("warning", fault));
        expect.assert_eq(&errors.chain(warnings).collect::<String>());
    }

    #[test]
    fn approvers_and_their_number_fit_together() {
        check(&[], 1, &expect![""]);
        check(&[], 3, &expect![""]);
        check(&["ann", "bob", "eve"], 2, &expect![""]);
        check(
            &[],
            0,
            &expect![[r#"
            error /human_interaction/required_approvals: between 1 and 10
        "#]],
        );
        check(
            &["ann"],
            2,
            &expect![[r#"
            error /human_interaction/required_approvals: only 1 approvers are named
        "#]],
        );
        check(
            &["ann", "bob"],
            2,
            &expect![[r#"
            warning /human_interaction/required_approvals: all named approvers must agree, so none of them can start a run or fill in the form
        "#]],
        );
        check(
            &["ann", " ", "ann"],
            1,
            &expect![[r#"
            error /human_interaction/approvers/1: a name has 1 to 200 bytes
            error /human_interaction/approvers/2: this name is there already
        "#]],
        );
    }
}
