//! Finds a result good, as it was shown or with changes: outputs are promoted and the run goes on.

use holdpoint_planted::{Bug, planted};

use super::{check_decision, wrong_execution};
use crate::command::Decide;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Made, RunEvent, Text, Usage};
use crate::flow;
use crate::state::run::{ExecutionState, GateKind};
use crate::{ArtifactRecordId, Digest, Rejection, RunId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ApproveComplete {
    /// The decision, with the digest of what was shown.
    pub decision: Decide,
    /// Outputs that the person changed in approving.
    pub edits: Vec<Edit>,
}

/// An output that a person changed.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Which, by name.
    pub name: Text,
    /// Its bytes from now on, already stored.
    pub digest: Digest,
    /// How many.
    pub size: u64,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &ApproveComplete) -> Result<(), Rejection> {
    draft.require_person()?;
    let x = command.decision.x;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    let gate = match execution.state {
        ExecutionState::AwaitingComplete(gate) => gate,
        // What was asked for is in effect; changes would come too late, and must not be lost silently.
        ExecutionState::Completed if command.edits.is_empty() => return Ok(()),
        ExecutionState::Completed
        | ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::Working(_)
        | ExecutionState::Failed => return Err(wrong_execution(draft, run, x, "approve the result")?),
    };
    if !planted(Bug::UncheckedDigest) {
        check_decision(draft, run, &command.decision, gate, GateKind::ApproveComplete)?;
    }
    if !command.edits.is_empty() && flow::policy_of(draft, run, x)?.approvals > 1 {
        let message = "where several must approve, all approve the same: ask for a change instead";
        return Err(Rejection::Invalid(vec![Fault::at("/edits", message)]));
    }
    if !flow::approve(draft, run, x, gate, GateKind::ApproveComplete)? {
        return Ok(());
    }
    let mut edited = Vec::new();
    for (i, edit) in command.edits.iter().enumerate() {
        let Some(shown) = execution.artifacts.iter().find(|output| output.made.name == edit.name) else {
            let message = format!("the result has no artifact `{}`", edit.name);
            return Err(Rejection::Invalid(vec![Fault::at(format!("/edits/{i}/name"), message)]));
        };
        let record = ArtifactRecordId(draft.ids.mint());
        edited.push(Made { record, digest: edit.digest, size: edit.size, ..shown.made.clone() });
    }
    let shown = flow::shown_digest(&execution);
    let changed = !edited.is_empty();
    draft.on_run(run, RunEvent::CompletionApproved { x, gate, digest: shown, edited: changed });
    for made in edited {
        draft.on_run(run, RunEvent::ArtifactMade { x, made });
    }
    flow::complete(draft, run, x, None, Usage::default())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::rows::Table;
    use crate::testing::{Scene, approve, form, run_id, submit};
    use crate::{Command, RunCommand, StreamId};

    #[test]
    fn approval_promotes_and_goes_on() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
            run R1: CompletionApproved x1
            run R1: ArtifactPromoted x1 a
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 B at 1
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
            run R1: CompletionApproved x1
            run R1: ArtifactPromoted x1 a
            run R1: ExecutionCompleted x1
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        assert!(scene.pipeline().active.is_empty());
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
        if let Command::Run(_, RunCommand::ApproveComplete(command)) = &mut edited.0 {
            command.edits = vec![Edit { name: "a".into(), digest: Digest::of(b"better"), size: 6 }];
        }
        scene.check(
            edited.clone(),
            expect![[r#"
            run R1: CompletionApproved x1
            run R1: ArtifactMade x1 a.json (6 bytes)
            run R1: ArtifactPromoted x1 a
            run R1: ExecutionCompleted x1
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
        let current = |n| scene.picture.cell(Table::Artifact, StreamId::Run(run_id(1)), n, "current");
        assert_eq!((current(0), current(1)), (false.into(), true.into()));
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
}
