//! Is a result good? Approved, as it was shown or with changes, its outputs are promoted and the run goes on. Else the
//! step is done again with what the person wants changed, up to its maximum.

use super::Answered;
use super::approvals::{self, Asker};
use crate::advance::{self, Finished};
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Blocker, Failure, FailureKind, Made, RunEvent, Usage};
use crate::state::run::{Ask, AskKind, Execution};
use crate::{ArtifactRecordId, ExecNo, Rejection, RunId};

/// Asks a person whether the result is good.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Result)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    match &*at.answer.option {
        "approve" => approve(draft, at),
        "revise" => revise(draft, at),
        _ => Err(at.no_such_option()),
    }
}

fn approve(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let execution = draft.execution(run, x)?;
    if !at.answer.edits.is_empty() && advance::body_of(draft, run, x)?.policy.approve_complete.needed > 1 {
        let message = "where several must approve, all approve the same: ask for a change instead";
        return Err(Rejection::Invalid(vec![Fault::at("/edits", message)]));
    }
    if !approvals::approve(draft, at, Asker::Author)? {
        return Ok(());
    }
    let made = edited(draft, at, &execution)?;
    let edited = !made.is_empty();
    draft.on_run(run, RunEvent::Approved { x, gate, digest, assurance, of: AskKind::Result, edited });
    for made in made {
        draft.on_run(run, RunEvent::ArtifactMade { x, made });
    }
    advance::complete(draft, run, x, Finished::default())
}

/// The outputs that the person changed.
fn edited(draft: &mut Draft<'_>, at: &Answered<'_>, execution: &Execution) -> Result<Vec<Made>, Rejection> {
    let mut edited = Vec::with_capacity(at.answer.edits.len());
    for (i, edit) in at.answer.edits.iter().enumerate() {
        let Some(shown) = execution.artifacts.iter().find(|output| output.made.name == edit.name) else {
            let message = format!("the result has no artifact `{}`", edit.name);
            return Err(Rejection::Invalid(vec![Fault::at(format!("/edits/{i}/name"), message)]));
        };
        let record = ArtifactRecordId(draft.ids.mint());
        edited.push(Made { record, digest: edit.digest, size: edit.size, ..shown.made.clone() });
    }
    Ok(edited)
}

fn revise(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    approvals::require_approver(draft, run, x)?;
    let Some(feedback) = at.answer.feedback.clone().filter(|text| !text.trim().is_empty()) else {
        return Err(Rejection::Invalid(vec![Fault::at("/feedback", "say what is to be changed")]));
    };
    let execution = draft.execution(run, x)?;
    let (revision, allowed) = (execution.revision + 1, execution.max_revisions);
    let message = feedback.clone();
    draft.on_run(run, RunEvent::RevisionAsked { x, gate, digest, assurance, feedback });
    if let Some(call) = execution.handed.as_ref().and_then(|handed| handed.call) {
        // A client hears of it where its call led to, and hands in another result from there.
        let why = vec![Blocker { code: "CHANGES_REQUESTED".into(), message, about: None }];
        let (at, attempt) = (call.at, call.attempt);
        draft.on_run(run, RunEvent::Blocked { x, at, attempt, why, changes: true });
        return Ok(());
    }
    let body = advance::body_of(draft, run, x)?;
    if revision > allowed {
        let message = format!("a change was asked for after {allowed} revisions, which is the maximum");
        let failure = Failure::new(FailureKind::RevisionsExhausted, &message);
        return advance::fail_for_good(draft, run, x, failure, Usage::default(), body.policy.on_failure);
    }
    advance::begin_attempt(draft, run, x, revision, 1, &body)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use crate::Digest;
    use crate::command::Edit;
    use crate::definition::OnFailure;
    use crate::rows::Table;
    use crate::testing::{
        Scene, approve, failing, form, pause, revise, roll_back, run_id, start_step, submit, undo,
    };
    use crate::{Command, RunCommand, StreamId};

    #[test]
    fn approval_promotes_and_goes_on() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: ExecutionMade x2 B at 1
                run R1: Asked x2 start
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x2 pending");
    }

    #[test]
    fn the_last_approval_completes_the_run() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: Completed
                pipeline: RunClosed { run: R1 }
            "#]],
        );
        assert!(scene.pipeline().active.is_empty());
    }

    #[test]
    fn the_last_approval_completes_a_run_that_was_to_pause() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.run(approve(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        scene.run(submit(1, 2, json!({"answer": "yes"})));
        // A pause that comes after a rollback stays when the rollback is undone.
        scene.run(roll_back(1, 0));
        scene.run(pause(1));
        scene.run(undo(&scene));
        assert_eq!(scene.status(1), "in_progress: x2 waiting_approval_to_complete");
        scene.check(
            approve(&scene, 1, 2),
            expect![[r#"
                run R1: Approved x2
                run R1: ArtifactPromoted x2 a
                run R1: ExecutionCompleted x2
                run R1: Completed
                pipeline: RunClosed { run: R1 }
            "#]],
        );
    }

    #[test]
    fn what_changed_since_it_was_shown_cannot_be_approved() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "first"})));
        let seen = approve(&scene, 1, 1);
        scene.run(crate::testing::revise(1, 1, "again"));
        scene.run(submit(1, 1, json!({"answer": "second"})));
        scene.check_code(seen, "stale_decision");
        let mut blind = approve(&scene, 1, 1);
        blind.decision().digest = None;
        scene.check_code(blind, "digest_missing");
    }

    #[test]
    fn changes_made_in_approving_are_kept_beside_what_was_shown() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let mut edited = approve(&scene, 1, 1);
        if let Command::Run(_, RunCommand::Answer(command)) = &mut edited.0 {
            command.edits = vec![Edit { name: "a".into(), digest: Digest::of(b"better"), size: 6 }];
        }
        scene.check(
            edited.clone(),
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactMade x1 a.json (6 bytes)
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: Completed
                pipeline: RunClosed { run: R1 }
            "#]],
        );
        let rows = scene.picture.rows(Table::Artifact, StreamId::Run(run_id(1)));
        let current: Vec<_> = rows.map(|(_, row)| row.get("current").cloned()).collect();
        assert_eq!(current, [Some(false.into()), Some(true.into())]);
        // Once more without changes is in effect; with changes they would be lost.
        scene.check_code(edited, "wrong_state");
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn an_agent_never_approves() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        let approval = approve(&scene, 1, 1);
        scene.as_agent().check_code(approval, "not_a_person");
    }

    #[test]
    fn a_revision_starts_again_at_attempt_one() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "no"})));
        scene.check(
            revise(1, 1, "more detail"),
            expect![[r#"
            run R1: RevisionAsked x1 more detail
            run R1: AttemptBegan x1 revision 1 attempt 1
            run R1: Asked x1 form
        "#]],
        );
    }

    #[test]
    fn after_the_maximum_the_failure_policy_applies() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        for _ in 0..2 {
            scene.run(submit(1, 1, json!({"answer": "no"})));
            scene.run(revise(1, 1, "again"));
        }
        scene.run(submit(1, 1, json!({"answer": "no"})));
        scene.check(
            revise(1, 1, "again"),
            expect![[r#"
            run R1: RevisionAsked x1 again
            run R1: ExecutionFailed x1 revisions_exhausted
            run R1: Asked x1 retry
            run R1: Paused StepFailed
        "#]],
        );
        assert_eq!(scene.status(1), "paused: x1 failed");
    }

    #[test]
    fn feedback_is_needed() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "no"})));
        scene.check_code(revise(1, 1, " "), "invalid_fields");
    }

    #[test]
    fn the_last_request_is_on_record_when_the_checkpoint_goes_back() {
        let back = failing(form("A"), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[back]).with_run();
        for _ in 0..3 {
            scene.run(submit(1, 1, json!({"answer": "no"})));
            scene.run(revise(1, 1, "again"));
        }
        assert_eq!(scene.status(1), "in_progress: x2 pending");
        let stream = StreamId::Run(run_id(1));
        let said = scene.picture.rows(Table::Interaction, stream).map(|(_, row)| row);
        let requests = said.filter(|row| row["type"] == "revision_request".into());
        let responses: Vec<_> = requests.map(|row| row["system_response"].clone()).collect();
        let expected = ["revision started", "revision started", "revisions used up, failed"];
        assert_eq!(responses, expected.map(Into::into));
        let answers =
            scene.picture.rows(Table::Gate, stream).filter_map(|(_, row)| row.get("answer").cloned());
        assert_eq!(answers.filter(|answer| *answer == "revision".into()).count(), 3);
    }

    #[test]
    fn what_a_form_says_is_part_of_what_is_approved() {
        let shown = |answer: &str| {
            let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
            scene.run(submit(1, 1, json!({"answer": answer})));
            (scene.shown(1, 1), scene.execution(1, 1).artifacts[0].made.artifact)
        };
        let ((yes, first), (no, second)) = (shown("yes"), shown("no"));
        assert_ne!(yes, no);
        assert_eq!(first, second, "the artifact of a form keeps its id");
    }
}
