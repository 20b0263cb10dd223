//! Wants a result changed: the step is done again with the feedback, up to its maximum.

use super::{check_decision, wrong_execution};
use crate::command::Decide;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Failure, FailureKind, RunEvent, Usage};
use crate::flow;
use crate::state::run::{ExecutionState, GateKind};
use crate::{Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, decision: &Decide) -> Result<(), Rejection> {
    draft.require_person()?;
    let x = decision.x;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    let ExecutionState::AwaitingComplete(gate) = execution.state else {
        return Err(wrong_execution(draft, run, x, "ask for a change")?);
    };
    // Asking for a change of something that has changed is harmless, so the digest may be left out.
    check_decision(draft, run, decision, gate, GateKind::ApproveStart)?;
    flow::require_approver(draft, run, x)?;
    let Some(feedback) = decision.feedback.clone().filter(|text| !text.trim().is_empty()) else {
        return Err(Rejection::Invalid(vec![Fault::at("/feedback", "say what is to be changed")]));
    };
    let (revision, allowed) = (execution.revision + 1, execution.max_revisions);
    draft.on_run(run, RunEvent::RevisionAsked { x, gate, feedback });
    let policy = flow::policy_of(draft, run, x)?;
    if revision > allowed {
        let message = format!("a change was asked for after {allowed} revisions, which is the maximum");
        let failure = Failure::new(FailureKind::RevisionsExhausted, &message);
        return flow::fail_for_good(draft, run, x, failure, Usage::default(), policy.on_failure);
    }
    flow::begin_attempt(draft, run, x, revision, 1, &policy);
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use crate::StreamId;
    use crate::definition::OnFailure;
    use crate::rows::Table;
    use crate::testing::{Scene, failing, form, revise, run_id, submit};

    #[test]
    fn a_revision_starts_again_at_attempt_one() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "no"})));
        scene.check(
            revise(1, 1, "more detail"),
            expect![[r#"
            run R1: RevisionAsked x1 more detail
            run R1: AttemptBegan x1 revision 1 attempt 1 form
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
        let responses: Vec<_> = scene
            .picture
            .rows(Table::Interaction, stream)
            .map(|(_, row)| row["system_response"].clone())
            .collect();
        let expected = ["revision started", "revision started", "revisions used up, failed"];
        assert_eq!(responses, expected.map(Into::into));
        let answers = scene.picture.rows(Table::Gate, stream).map(|(_, row)| row["answer"].clone());
        assert_eq!(answers.filter(|answer| *answer == "revision".into()).count(), 3);
    }
}
