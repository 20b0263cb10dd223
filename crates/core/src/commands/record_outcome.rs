//! Records what came of owed work. An outcome counts once: what is not owed any more is refused.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};
use serde_json::{Map, Value};

use crate::advance::{self, Finished};
use crate::asks;
use crate::budget::Reached;
use crate::commands::{write_journal, wrong_execution};
use crate::decision::Draft;
use crate::event::{Entry, Failure, FailureKind, Made, RunEvent, Text, Usage};
use crate::plan::body::{AfterCheck, Work};
use crate::state::run::{EffectId, Part};
use crate::{ArtifactId, ArtifactRecordId, Digest, ExecNo, Rejection, RunId, SnapshotId, StreamId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RecordOutcome {
    /// The work.
    pub effect: EffectId,
    /// What came of it.
    pub outcome: Outcome,
    /// What the work said last: one commit ends an attempt, or nothing of its end is written.
    pub entries: Vec<Entry>,
}

impl RecordOutcome {
    /// The journal that it writes to, if it does.
    pub fn journal(&self, run: RunId) -> Option<StreamId> {
        (!self.entries.is_empty()).then(|| StreamId::Journal(run.execution(self.effect.x)))
    }
}

/// What came of work.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is done.
    Done {
        /// What it said.
        output: Option<Value>,
        /// What it made.
        artifacts: Vec<Collected>,
        /// What it leaves in the context; null deletes.
        context: Map<String, Value>,
        /// What it cost.
        usage: Usage,
    },
    /// The folder of the run was captured.
    Captured {
        /// Its files, already stored.
        tree: Digest,
        /// What it cost.
        usage: Usage,
    },
    /// It failed.
    Failed {
        /// Why.
        failure: Failure,
        /// What it made before.
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
    /// A budget is used up, and the work goes on where it stands when somebody has raised it.
    OverBudget(Reached),
}

impl Outcome {
    /// Work that is done and leaves nothing in the context.
    pub fn done(output: Option<Value>, artifacts: Vec<Collected>, usage: Usage) -> Self {
        Self::Done { output, artifacts, context: Map::new(), usage }
    }
}

/// An output that was collected.
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
    /// The bytes themselves, which are committed with the outcome; none: they are durable already.
    pub bytes: Option<Arc<[u8]>>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &RecordOutcome) -> Result<(), Rejection> {
    let x = command.effect.x;
    let owed = draft.run(run)?.owed.contains_key(&command.effect);
    if !owed && !planted(Bug::DoubleSettle) {
        return Err(Rejection::NotOwed);
    }
    let execution = draft.execution(run, x)?.id;
    draft.reply.execution = Some(execution);
    // Before the outcome: the journal takes nothing from an attempt that has ended.
    write_journal::write(draft, run, execution, command.effect, &command.entries)?;
    match (&command.outcome, command.effect.part) {
        (Outcome::Done { output, artifacts, context, usage }, Part::Work) => {
            write_outputs(draft, run, x, artifacts)?;
            let finished = Finished { output: output.clone(), context: context.clone(), usage: *usage };
            advance::finish_work(draft, run, x, finished)
        }
        (Outcome::Captured { tree, usage }, Part::Work) => captured(draft, run, x, *tree, *usage),
        (Outcome::Failed { failure, artifacts, usage }, Part::Work | Part::Check) => {
            write_outputs(draft, run, x, artifacts)?;
            advance::fail_attempt(draft, run, x, failure.clone(), *usage)
        }
        (Outcome::Judged { passed, reasons, usage }, Part::Check) => {
            judged(draft, run, x, *passed, reasons, *usage)
        }
        (Outcome::OverBudget(reached), part) => asks::budget::ask(draft, run, x, *reached, part),
        // The work is still owed: its sender must hear that this is no outcome of it.
        (Outcome::Done { .. } | Outcome::Captured { .. }, Part::Check) => {
            Err(wrong_execution(draft, run, x, "end a check without a verdict")?)
        }
        (Outcome::Judged { .. }, Part::Work) => {
            Err(wrong_execution(draft, run, x, "judge work that goes on")?)
        }
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
    let body = advance::body_of(draft, run, x)?;
    let declared = |name: &str| body.output(name).and_then(|output| output.artifact);
    for output in collected {
        let digest = match &output.bytes {
            Some(bytes) => draft.keep_blob(bytes.to_vec()),
            None => output.digest,
        };
        let made = Made {
            record: ArtifactRecordId(draft.ids.mint()),
            artifact: declared(&output.name).unwrap_or_else(|| ArtifactId(draft.ids.mint())),
            name: output.name.clone(),
            format: output.format.clone(),
            digest,
            size: output.size,
        };
        draft.on_run(run, RunEvent::ArtifactMade { x, made });
    }
    Ok(())
}

/// The folder was captured: the step is done, and the snapshot hangs off its node.
fn captured(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    tree: Digest,
    usage: Usage,
) -> Result<(), Rejection> {
    let body = advance::body_of(draft, run, x)?;
    let Work::Snapshot(spec) = &body.work else {
        return Err(wrong_execution(draft, run, x, "end work that is no snapshot with a folder")?);
    };
    let execution = draft.execution(run, x)?;
    let (branch, place) = (execution.branch, execution.place.clone());
    draft.on_run(run, RunEvent::ExecutionCompleted { x, output: None, usage });
    let missing = || Rejection::NotFound { what: "node", id: format!("of {x}") };
    let at = draft.execution(run, x)?.node.ok_or_else(missing)?;
    let snapshot = SnapshotId(draft.ids.mint());
    let (trigger, tags, tree) = (spec.trigger.clone(), spec.tags.clone(), Some(tree));
    draft.on_run(run, RunEvent::SnapshotTaken { at, snapshot, trigger, tags, tree, output: None });
    advance::step_done(draft, run, branch, &place, &Map::new())
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
    let body = advance::body_of(draft, run, x)?;
    if passed {
        let left = draft.execution(run, x)?.handed.as_ref().map(|handed| handed.context.clone());
        let approval = &body.policy.approve_complete;
        if advance::is_approval_needed(draft, run, x, approval, &left.unwrap_or_default())? {
            return asks::result::ask(draft, run, x);
        }
        return advance::complete(draft, run, x, Finished::default());
    }
    let execution = draft.execution(run, x)?;
    let (revision, attempt, used) = (execution.revision, execution.attempt, execution.check_retries);
    let (on_check, allowed) = (&body.policy.on_check, body.policy.on_check.retries);
    let then = if used <= allowed { on_check.then } else { on_check.at_last };
    match then {
        AfterCheck::Retry => advance::begin_attempt(draft, run, x, revision, attempt + 1, &body),
        AfterCheck::Ask => asks::guidance::ask(draft, run, x),
        AfterCheck::Fail => {
            let message = format!("the outputs did not pass their checks: {}", reasons.join("; "));
            let failure = Failure::new(FailureKind::ValidationFailed, &message);
            advance::fail_for_good(draft, run, x, failure, Usage::default(), body.policy.on_failure)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::definition::{OnFailure, OnValidationFailure};
    use crate::event::Level;
    use crate::rows::Table;
    use crate::testing::{
        Scene, approve, approved, failing, judged_by, on_run, outcome_done, outcome_failed, outcome_report,
        pause, report, reporting, retry, run_id, script, start_step, verdict,
    };
    use crate::{Command, Event, RunCommand};

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
                run R1: AttemptBegan x1 revision 0 attempt 2
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
    fn last_words_and_small_outputs_are_committed_with_the_outcome() {
        let mut scene = Scene::new().with_pipeline(&[reporting(script("A", 0))]).with_run();
        let Command::Run(_, RunCommand::RecordOutcome(mut record)) = outcome_report(&scene, 1, 1, "well").0
        else {
            panic!("an outcome")
        };
        let last = Entry::Log { level: Level::Info, text: "last words".into(), details: None };
        record.entries.push(last.clone());
        if let Outcome::Done { artifacts, .. } = &mut record.outcome {
            artifacts[0].bytes = Some(Arc::from(&b"well"[..]));
        }
        let decision = scene.run(on_run(1, RunCommand::RecordOutcome(record)));
        let journal = StreamId::Journal(scene.state(1).execution(ExecNo(1)).expect("one").id);
        let written = decision.writes.iter().find(|write| write.stream == journal).expect("a journal");
        assert_eq!(written.events.last(), Some(&Event::Journal(last)));
        assert!(decision.writes.iter().any(|write| write.stream == StreamId::Run(run_id(1))));
        assert_eq!(
            decision.blobs.iter().map(|(digest, _)| *digest).collect::<Vec<_>>(),
            [Digest::of(b"well")]
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
                run R1: RolledBack to node 0
                run R1: ExecutionMade x2 A at 0
                run R1: Asked x2 start
                pipeline: RolledBack to R1, nothing kept, by CheckpointFailure
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x2 pending");
    }

    #[test]
    fn a_bad_verdict_begins_the_next_attempt_until_there_are_none() {
        let judged = judged_by(script("A", 0), OnValidationFailure::Retry, 1);
        let mut scene = Scene::new().with_pipeline(&[judged]).with_run();
        scene.check(
            outcome_done(&scene, 1, 1),
            expect![[r#"
            run R1: WorkDone x1
        "#]],
        );
        scene.check(
            verdict(&scene, 1, 1, false),
            expect![[r#"
                run R1: Checked x1
                run R1: AttemptBegan x1 revision 0 attempt 2
            "#]],
        );
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            verdict(&scene, 1, 1, false),
            expect![[r#"
                run R1: Checked x1
                run R1: ExecutionFailed x1 validation_failed
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        // A person's retry grants one more attempt, not a new round of them.
        scene.run(retry(1, 1));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(verdict(&scene, 1, 1, false));
        assert_eq!(scene.status(1), "paused: x1 failed");
    }

    #[test]
    fn a_good_verdict_asks_a_person_or_completes() {
        let judged = judged_by(script("A", 0), OnValidationFailure::FailCheckpoint, 0);
        let mut scene =
            Scene::new().with_pipeline(&[approved(judged.clone(), false, true), judged]).with_run();
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            verdict(&scene, 1, 1, true),
            expect![[r#"
                run R1: Checked x1
                run R1: Asked x1 approve_complete
            "#]],
        );
        scene.run(approve(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        scene.run(outcome_done(&scene, 1, 2));
        scene.check(
            verdict(&scene, 1, 2, true),
            expect![[r#"
            run R1: Checked x2
            run R1: ExecutionCompleted x2
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
    }

    #[test]
    fn a_retry_after_a_failed_check_is_one_attempt_and_no_more() {
        let judged = judged_by(script("A", 0), OnValidationFailure::Retry, 2);
        let mut scene = Scene::new().with_pipeline(&[judged]).with_run();
        for _ in 0..2 {
            scene.run(outcome_done(&scene, 1, 1));
            scene.run(verdict(&scene, 1, 1, false));
        }
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
        scene.run(retry(1, 1));
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: Asked x1 retry
                run R1: Paused StepFailed
            "#]],
        );
    }

    #[test]
    fn what_was_declared_must_be_made() {
        let mut scene = Scene::new().with_pipeline(&[reporting(script("A", 1))]).with_run();
        scene.check(
            outcome_done(&scene, 1, 1),
            expect![[r#"
            run R1: AttemptFailed x1 missing_artifacts
        "#]],
        );
        let due = scene.fire();
        scene.run(due);
        scene.check(
            outcome_report(&scene, 1, 1, "all is well"),
            expect![[r#"
            run R1: ArtifactMade x1 report.txt (11 bytes)
            run R1: ArtifactPromoted x1 a
            run R1: ExecutionCompleted x1
            run R1: Completed
            pipeline: RunClosed { run: R1 }
        "#]],
        );
    }

    #[test]
    fn what_failed_and_went_back_at_once_is_kept_in_the_tables() {
        let back = failing(reporting(script("A", 0)), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[back]).with_run();
        let Command::Run(_, RunCommand::RecordOutcome(mut record)) = outcome_failed(&scene, 1, 1).0 else {
            panic!("an outcome")
        };
        if let Outcome::Failed { artifacts, .. } = &mut record.outcome {
            artifacts.push(report("half of it"));
        }
        scene.run(on_run(1, RunCommand::RecordOutcome(record)));
        let stream = StreamId::Run(run_id(1));
        let rollback = scene.pipeline().rollbacks[0].rollback;
        let first = |table| scene.picture.rows(table, stream).next().expect("a row").1;
        assert_eq!(first(Table::Execution).get("status"), Some(&"failed".into()));
        assert_eq!(first(Table::Execution).get("rollback"), Some(&rollback.0.into()));
        assert_eq!(first(Table::Artifact).get("rollback"), Some(&rollback.0.into()));
    }

    #[test]
    fn a_pause_asked_for_during_a_step_outlives_its_going_back() {
        let back = failing(script("A", 0), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[back]).with_run();
        scene.run(pause(1));
        scene.check(
            outcome_failed(&scene, 1, 1),
            expect![[r#"
                run R1: ExecutionFailed x1 script_error
                run R1: RolledBack to node 0
                run R1: ExecutionMade x2 A at 0
                run R1: Asked x2 start
                run R1: PauseAsked
                run R1: Paused Asked
                pipeline: RolledBack to R1, nothing kept, by CheckpointFailure
            "#]],
        );
        assert_eq!(scene.status(1), "paused: x2 pending");
    }
}
