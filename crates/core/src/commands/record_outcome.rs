//! Records what came of owed work. An outcome counts once: what is not owed any more is refused.

use serde_json::Value;

use crate::decision::Draft;
use crate::definition::OnValidationFailure;
use crate::event::{Failure, Made, RunEvent, Text, Usage};
use crate::flow;
use crate::plan::Body;
use crate::state::run::{EffectId, Part};
use crate::{ArtifactId, ArtifactRecordId, Digest, ExecNo, GateId, Rejection, RunId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RecordOutcome {
    /// The work.
    pub effect: EffectId,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of work.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is done.
    Done {
        /// What it said.
        output: Option<Value>,
        /// What it made, already stored.
        artifacts: Vec<Collected>,
        /// What it cost.
        usage: Usage,
    },
    /// It failed.
    Failed {
        /// Why.
        failure: Failure,
        /// What it made before, already stored.
        artifacts: Vec<Collected>,
        /// What it cost.
        usage: Usage,
    },
    /// A judge has spoken.
    Judged {
        /// Whether the outputs are good.
        passed: bool,
        /// Why.
        reasons: Vec<Text>,
        /// What it cost.
        usage: Usage,
    },
}

/// An output that was collected and stored.
#[derive(Clone, Debug)]
pub struct Collected {
    /// Its name.
    pub name: Text,
    /// Its format.
    pub format: Text,
    /// Its bytes.
    pub digest: Digest,
    /// How many.
    pub size: u64,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &RecordOutcome) -> Result<(), Rejection> {
    let x = command.effect.x;
    let owed = draft.run(run)?.owed.contains_key(&command.effect);
    if !owed && !cfg!(feature = "bug-double-settle") {
        return Err(Rejection::NotOwed);
    }
    draft.reply.execution = Some(draft.execution(run, x)?.id);
    match (&command.outcome, command.effect.part) {
        (Outcome::Done { output, artifacts, usage }, Part::Work) => {
            write_outputs(draft, run, x, artifacts)?;
            flow::finish_work(draft, run, x, output.clone(), *usage)
        }
        (Outcome::Failed { failure, artifacts, usage }, Part::Work | Part::Check) => {
            write_outputs(draft, run, x, artifacts)?;
            flow::fail_attempt(draft, run, x, failure.clone(), *usage)
        }
        (Outcome::Judged { passed, reasons, usage }, Part::Check) => {
            judged(draft, run, x, *passed, reasons, *usage)
        }
        (Outcome::Done { .. }, Part::Check) | (Outcome::Judged { .. }, Part::Work) => Err(Rejection::NotOwed),
    }
}

fn write_outputs(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    collected: &[Collected],
) -> Result<(), Rejection> {
    if collected.is_empty() {
        return Ok(());
    }
    let body = flow::body_of(draft, run, x)?;
    let declared = |name: &str| match &*body {
        Body::Checkpoint(definition) => {
            definition.output.artifacts.iter().find(|a| a.name == name).and_then(|a| a.artifact_id)
        }
        Body::Task(_) => None,
    };
    for output in collected {
        let made = Made {
            record: ArtifactRecordId(draft.ids.mint()),
            artifact: declared(&output.name).unwrap_or_else(|| ArtifactId(draft.ids.mint())),
            name: output.name.clone(),
            format: output.format.clone(),
            digest: output.digest,
            size: output.size,
        };
        draft.on_run(run, RunEvent::ArtifactMade { x, made });
    }
    Ok(())
}

fn judged(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    passed: bool,
    reasons: &[Text],
    usage: Usage,
) -> Result<(), Rejection> {
    draft.on_run(run, RunEvent::Checked { x, passed, reasons: reasons.to_vec(), usage });
    let policy = flow::policy_of(draft, run, x)?;
    if passed {
        return match policy.approve_complete {
            true => flow::ask_to_complete(draft, run, x),
            false => flow::complete(draft, run, x, None, Usage::default()),
        };
    }
    let execution = draft.execution(run, x)?;
    let (revision, attempt, used) = (execution.revision, execution.attempt, execution.check_retries);
    let (then, allowed) = policy.judge.unwrap_or((OnValidationFailure::FailCheckpoint, 0));
    match then {
        OnValidationFailure::Retry if used <= allowed => {
            flow::begin_attempt(draft, run, x, revision, attempt + 1, &policy);
            Ok(())
        }
        OnValidationFailure::AskHuman if used <= allowed => {
            let gate = GateId(draft.ids.mint());
            draft.on_run(run, RunEvent::GuidanceAsked { x, gate });
            Ok(())
        }
        OnValidationFailure::Retry | OnValidationFailure::AskHuman | OnValidationFailure::FailCheckpoint => {
            let message = format!("the outputs did not pass their checks: {}", reasons.join("; "));
            let failure = Failure::new("validation_failed", &message);
            flow::fail_for_good(draft, run, x, failure, Usage::default(), policy.on_failure)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, outcome_done, outcome_failed, script};

    #[test]
    fn a_failed_attempt_is_tried_again_after_a_delay() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 1)]).with_run();
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
            run R1: AttemptFailed x1 script_error
        "#]],
        );
        assert_eq!(scene.state(1).timers.len(), 1);
        assert!(scene.state(1).owed.is_empty());
        let late = scene.fire();
        scene.check(
            late,
            expect![[r#"
            run R1: AttemptBegan x1 revision 0 attempt 2 work
        "#]],
        );
        scene.check(
            outcome_done(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionCompleted x1
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
    }

    #[test]
    fn an_outcome_counts_once() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 1), script("B", 0)]).with_run();
        let first = outcome_done(&scene, 1, 1);
        scene.run(first.clone());
        scene.check(
            first,
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
    }

    #[test]
    fn after_a_final_failure_the_checkpoint_can_stand_at_pending_again() {
        let mut definition = script("A", 0);
        definition.execution.retry_config.on_failure = crate::definition::OnFailure::RollbackCheckpoint;
        let mut scene = Scene::new().with_pipeline(&[definition]).with_run();
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
            run R1: ExecutionFailed x1 script_error
            run R1: Rewound keeping None
            run R1: ExecutionMade x2 A at 0
            pipeline: RolledBack to R1, nothing kept, by CheckpointFailure
        "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x2 pending");
    }
}
