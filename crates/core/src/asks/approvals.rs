//! Who may decide at a gate, and how many must agree.
//!
//! A definition may name its approvers, and ask for more than one. Where it asks for more, nobody approves what
//! they asked for themselves, and each person counts once.

use super::Answered;
use crate::advance::body_of;
use crate::decision::Draft;
use crate::event::{RunEvent, Text};
use crate::{ExecNo, Rejection, RunId};

/// Whose own request an approval would be.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    /// Of the person who began the run.
    StartedRun,
    /// Of the person who filled in the form that the result comes from.
    Author,
}

/// Refuses who is not among the approvers that the definition names.
pub(super) fn require_approver(draft: &Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let body = body_of(draft, run, x)?;
    // A checkpoint names the same people for its start, its result and what is asked in between.
    let (approvers, actor) = (&body.policy.approve_complete.approvers, &draft.envelope.actor);
    if approvers.is_empty() || approvers.contains(&actor.name) {
        return Ok(());
    }
    Err(Rejection::NotAnApprover { approvers: approvers.clone() })
}

/// Takes one approval; whether it is the last that was missing. One that is not is kept with the gate.
pub(super) fn approve(draft: &mut Draft<'_>, at: &Answered<'_>, asker: Asker) -> Result<bool, Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    require_approver(draft, run, x)?;
    let policy = &body_of(draft, run, x)?.policy;
    let needed = match asker {
        Asker::StartedRun => policy.approve_start.needed,
        Asker::Author => policy.approve_complete.needed,
    };
    if needed <= 1 {
        return Ok(true);
    }
    let actor = draft.envelope.actor.name.clone();
    if asked_by(draft, run, x, asker)?.as_ref() == Some(&actor) {
        return Err(Rejection::OwnRequest { needed });
    }
    let given = &at.gate.approvals;
    if given.contains(&actor) {
        return Ok(false);
    }
    if given.len() as u32 + 1 < needed {
        draft.on_run(run, RunEvent::ApprovalGiven { x, gate, digest, assurance });
        return Ok(false);
    }
    Ok(true)
}

fn asked_by(draft: &Draft<'_>, run: RunId, x: ExecNo, asker: Asker) -> Result<Option<Text>, Rejection> {
    match asker {
        Asker::StartedRun => Ok(draft.run(run)?.started_by.clone()),
        Asker::Author => Ok(draft.execution(run, x)?.author.clone()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use crate::Actor;
    use crate::command::Edit;
    use crate::definition::CheckpointDefinition;
    use crate::testing::{Scene, When, approve, approve_start, form, human, reject_start, revise, submit};
    use crate::{Command, Digest, RunCommand};

    fn agreed(mut definition: CheckpointDefinition, approvers: &[&str], needed: u32) -> CheckpointDefinition {
        definition.human_interaction.approvers = approvers.iter().map(|name| (*name).to_owned()).collect();
        definition.human_interaction.required_approvals = needed;
        definition
    }

    fn check(scene: &mut Scene, name: &str, when: When, expect: Expect) {
        scene.actor = Actor::person(name);
        scene.check(when, expect);
    }

    #[test]
    fn named_approvers_decide_alone() {
        let mut scene = Scene::new().with_pipeline(&[agreed(human("A"), &["bob", "eve"], 1)]).with_run();
        check(
            &mut scene,
            "ann",
            approve_start(1, 1),
            expect![[r#"
            refused (not_an_approver): only bob or eve can decide here
        "#]],
        );
        check(
            &mut scene,
            "ann",
            reject_start(1, 1),
            expect![[r#"
            refused (not_an_approver): only bob or eve can decide here
        "#]],
        );
        check(
            &mut scene,
            "bob",
            approve_start(1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: AttemptBegan x1 revision 0 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let approval = approve(&scene, 1, 1);
        check(
            &mut scene,
            "ann",
            approval.clone(),
            expect![[r#"
            refused (not_an_approver): only bob or eve can decide here
        "#]],
        );
        check(
            &mut scene,
            "ann",
            revise(1, 1, "more"),
            expect![[r#"
            refused (not_an_approver): only bob or eve can decide here
        "#]],
        );
        check(
            &mut scene,
            "bob",
            approval,
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: Completed
                pipeline: RunClosed { run: R1 }
            "#]],
        );
    }

    #[test]
    fn two_must_agree_and_neither_is_the_one_who_asked() {
        let mut scene = Scene::new().with_pipeline(&[agreed(human("A"), &[], 2)]).with_run();
        check(
            &mut scene,
            "ann",
            approve_start(1, 1),
            expect![[r#"
            refused (own_request): 2 others must approve what you asked for
        "#]],
        );
        check(
            &mut scene,
            "bob",
            approve_start(1, 1),
            expect![[r#"
            run R1: ApprovalGiven x1
        "#]],
        );
        check(
            &mut scene,
            "bob",
            approve_start(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 waiting_approval_to_start");
        check(
            &mut scene,
            "eve",
            approve_start(1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: AttemptBegan x1 revision 0 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.actor = Actor::person("bob");
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let approval = approve(&scene, 1, 1);
        check(
            &mut scene,
            "bob",
            approval.clone(),
            expect![[r#"
            refused (own_request): 2 others must approve what you asked for
        "#]],
        );
        check(
            &mut scene,
            "ann",
            approval.clone(),
            expect![[r#"
            run R1: ApprovalGiven x1
        "#]],
        );
        check(
            &mut scene,
            "eve",
            approval,
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: Completed
                pipeline: RunClosed { run: R1 }
            "#]],
        );
    }

    #[test]
    fn a_change_takes_approvals_back() {
        let mut scene = Scene::new().with_pipeline(&[agreed(form("A"), &[], 2)]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let approval = approve(&scene, 1, 1);
        check(
            &mut scene,
            "bob",
            approval,
            expect![[r#"
            run R1: ApprovalGiven x1
        "#]],
        );
        check(
            &mut scene,
            "eve",
            revise(1, 1, "more"),
            expect![[r#"
                run R1: RevisionAsked x1 more
                run R1: AttemptBegan x1 revision 1 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.actor = Actor::person("ann");
        scene.run(submit(1, 1, json!({"answer": "more"})));
        let approval = approve(&scene, 1, 1);
        check(
            &mut scene,
            "eve",
            approval,
            expect![[r#"
            run R1: ApprovalGiven x1
        "#]],
        );
    }

    #[test]
    fn what_several_approve_is_the_same_for_all() {
        let mut scene = Scene::new().with_pipeline(&[agreed(form("A"), &[], 2)]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let mut edited = approve(&scene, 1, 1);
        if let Command::Run(_, RunCommand::Answer(command)) = &mut edited.0 {
            command.edits = vec![Edit { name: "a".into(), digest: Digest::of(b"better"), size: 6 }];
        }
        check(
            &mut scene,
            "bob",
            edited,
            expect![[r#"
            refused (invalid_fields): /edits of the request is not valid
        "#]],
        );
    }
}
