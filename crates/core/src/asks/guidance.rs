//! What is to be done about a result that did not pass its check: try again with advice, accept it as it is, or stop.

use super::{Answered, input};
use crate::advance::{self, Finished};
use crate::decision::Draft;
use crate::event::{Failure, FailureKind, RunEvent, Usage};
use crate::plan::body::OnFailure;
use crate::state::run::{Ask, AskKind};
use crate::{ExecNo, Rejection, RunId};

/// Asks a person what to do.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Guidance)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    match &*at.answer.option {
        "retry" => {
            // In a pipeline a person says what should be different; elsewhere the step may just run again.
            let text = if at.in_pipeline { Some(input::given(at)?) } else { at.answer.feedback.clone() };
            let fields = crate::command::Fields::new();
            let execution = draft.execution(run, x)?;
            let submitted = RunEvent::Submitted { x, gate, digest, assurance, fields, text, deadline: None };
            draft.on_run(run, submitted);
            let body = advance::body_of(draft, run, x)?;
            advance::begin_attempt(draft, run, x, execution.revision, execution.attempt + 1, &body)
        }
        "accept" => {
            draft.on_run(
                run,
                RunEvent::Approved { x, gate, digest, assurance, of: AskKind::Guidance, edited: false },
            );
            let body = advance::body_of(draft, run, x)?;
            let left = draft.execution(run, x)?.handed.as_ref().map(|handed| handed.context.clone());
            let approval = &body.policy.approve_complete;
            if advance::is_approval_needed(draft, run, x, approval, &left.unwrap_or_default())? {
                return super::result::ask(draft, run, x);
            }
            advance::complete(draft, run, x, Finished::default())
        }
        "stop" => {
            let feedback = at.answer.feedback.clone();
            draft.on_run(
                run,
                RunEvent::Rejected { x, gate, digest, assurance, of: AskKind::Guidance, feedback },
            );
            let message = "the outputs did not pass their checks, and a person stopped the step";
            let failure = Failure::new(FailureKind::ValidationFailed, message);
            // Only a pipeline can go back; elsewhere a run without the result is over.
            let then = if at.in_pipeline { OnFailure::Pause } else { OnFailure::Fail };
            advance::fail_for_good(draft, run, x, failure, Usage::default(), then)
        }
        _ => Err(at.no_such_option()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::definition::OnValidationFailure;
    use crate::testing::{Scene, approved, guide, judged_by, outcome_done, script, verdict};

    /// A result that did not pass its check.
    fn questioned(approve: bool) -> Scene {
        let judged = judged_by(script("A", 0), OnValidationFailure::AskHuman, 1);
        let mut scene = Scene::new().with_pipeline(&[approved(judged, false, approve)]).with_run();
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            verdict(&scene, 1, 1, false),
            expect![[r#"
                run R1: Checked x1
                run R1: Asked x1 guidance
            "#]],
        );
        scene
    }

    #[test]
    fn advice_begins_the_next_attempt() {
        let mut scene = questioned(false);
        scene.as_agent().check_code(guide(1, 1, "retry", "look again"), "not_a_person");
        scene.actor = crate::Actor::person("ann");
        scene.check_code(guide(1, 1, "retry", ""), "invalid_fields");
        scene.check(
            guide(1, 1, "retry", "look again"),
            expect![[r#"
            run R1: Submitted x1 look again
            run R1: AttemptBegan x1 revision 0 attempt 2
        "#]],
        );
        let feedback = &scene.execution(1, 1).feedback;
        assert_eq!(feedback.iter().map(|text| &**text).collect::<Vec<_>>(), ["too short", "look again"]);
    }

    #[test]
    fn a_result_is_accepted_as_it_is() {
        questioned(false).check(
            guide(1, 1, "accept", ""),
            expect![[r#"
            run R1: Approved x1
            run R1: ExecutionCompleted x1
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        // The approval of the result is still needed.
        questioned(true).check(
            guide(1, 1, "accept", ""),
            expect![[r#"
            run R1: Approved x1
            run R1: Asked x1 approve_complete
        "#]],
        );
    }

    #[test]
    fn stopping_fails_the_step() {
        questioned(false).check(
            guide(1, 1, "stop", ""),
            expect![[r#"
            run R1: Rejected x1
            run R1: ExecutionFailed x1 validation_failed
            run R1: Asked x1 retry
            run R1: Paused StepFailed
        "#]],
        );
        questioned(false).check_faults(
            guide(1, 1, "maybe", ""),
            expect![[r#"
            /option: one of: retry, accept, stop
        "#]],
        );
    }
}
