//! May a step begin? A step that may not is pending until somebody starts it by hand.

use super::approvals::{self, Asker};
use super::{Answered, begin};
use crate::advance;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::{Ask, AskKind};
use crate::{ExecNo, Rejection, RunId};

/// Asks a person whether an execution may begin.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Start)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    match &*at.answer.option {
        "approve" => {
            begin::require_dependencies(draft, run, x)?;
            if !approvals::approve(draft, at, Asker::StartedRun)? {
                return Ok(());
            }
            draft.on_run(
                run,
                RunEvent::Approved { x, gate, digest, assurance, of: AskKind::Start, edited: false },
            );
            let body = advance::body_of(draft, run, x)?;
            advance::begin_attempt(draft, run, x, 0, 1, &body)
        }
        "reject" => {
            approvals::require_approver(draft, run, x)?;
            let feedback = at.answer.feedback.clone();
            draft
                .on_run(run, RunEvent::Rejected { x, gate, digest, assurance, of: AskKind::Start, feedback });
            begin::ask(draft, run, x)
        }
        _ => Err(at.no_such_option()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, approve_start, human, pause, reject_start, resume, start_step};

    #[test]
    fn approval_begins_the_first_attempt() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            approve_start(1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: AttemptBegan x1 revision 0 attempt 1
                run R1: Asked x1 form
            "#]],
        );
        scene.check(
            approve_start(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn an_agent_cannot_approve() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.as_agent().check(
            approve_start(1, 1),
            expect![[r#"
            refused (not_a_person): only a person can decide here
        "#]],
        );
    }

    #[test]
    fn a_stale_digest_is_refused() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        let mut command = approve_start(1, 1);
        command.decision().digest = Some(crate::Digest::of(b"something else"));
        scene.check_code(command, "stale_decision");
    }

    #[test]
    fn a_rejected_start_can_be_asked_for_again() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.check(
            reject_start(1, 1),
            expect![[r#"
            run R1: Rejected x1
            run R1: Asked x1 start
        "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 pending");
        scene.check(
            reject_start(1, 1),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check(
            start_step(&scene, 1),
            expect![[r#"
            run R1: Asked x1 approve_start
        "#]],
        );
    }

    #[test]
    fn a_start_that_is_rejected_in_a_paused_run_waits_for_the_resumption() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]).with_run();
        scene.run(pause(1));
        scene.check(
            reject_start(1, 1),
            expect![[r#"
            run R1: Rejected x1
        "#]],
        );
        scene.check(
            resume(1),
            expect![[r#"
            run R1: Resumed
            run R1: Asked x1 start
        "#]],
        );
    }
}
