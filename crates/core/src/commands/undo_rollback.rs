//! Undoes a rollback: everything that it removed comes back, as long as nothing newer stands in its place.

use std::sync::Arc;

use crate::asks;
use crate::decision::{Draft, World};
use crate::event::{PipelineEvent, RollbackRecord, RunEvent};
use crate::state::pipeline::{RollbackEnd, RollbackRow};
use crate::state::run::{ExecutionState, RunState, RunStatus, Stage};
use crate::{PipelineId, Rejection, RollbackId, RunId, StreamId};

/// The streams that the rule looks at.
pub(super) fn needs(
    pipeline: PipelineId,
    rollback: RollbackId,
    world: &World<'_>,
    wanted: &mut Vec<StreamId>,
) {
    wanted.push(StreamId::Pipeline(pipeline));
    let Some(state) = world.pipeline(pipeline) else { return };
    if let Some(record) = state.rollbacks.iter().find(|record| record.rollback == rollback) {
        wanted.push(StreamId::Run(record.target.0));
        wanted.extend(record.removed_runs.iter().map(|(run, _)| StreamId::Run(*run)));
    }
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, pipeline: PipelineId, rollback: RollbackId) -> Result<(), Rejection> {
    draft.reply.rollback = Some(rollback);
    let state = super::delete_pipeline::live(draft, pipeline, "undo a rollback")?;
    let refuse = |reason: String| Err(Rejection::CannotUndo { rollback, reason });
    let Some(record) = state.rollbacks.iter().find(|record| record.rollback == rollback).cloned() else {
        return match state.rollback_rows.get(&rollback) {
            Some(RollbackRow { end: Some(RollbackEnd::Undone), .. }) => Ok(()),
            Some(_) => refuse("the order of the checkpoints has changed since".to_owned()),
            None => Err(Rejection::NotFound { what: "rollback", id: rollback.to_string() }),
        };
    };
    if let Some(at) = state.archive_ended(rollback) {
        return refuse(format!("the time of its archive was over, and it was removed at {}", at.rfc3339()));
    }
    if let Some(newer) = state.rollbacks.last().filter(|newer| newer.rollback != rollback) {
        return refuse(format!("rollback {} came later and must be undone first", newer.rollback));
    }
    if let Some((number, _)) = state.runs.range(record.next_number..).next() {
        return refuse(format!("run v{number} was started since"));
    }
    if let Some(reason) = moved_on(draft.run(record.target.0)?, &record) {
        return refuse(reason);
    }
    restore(draft, pipeline, &record)
}

/// What has happened in the target run since, if anything has.
fn moved_on(run: &RunState, record: &RollbackRecord) -> Option<String> {
    match run.status {
        RunStatus::Aborted => return Some("the run was aborted since".to_owned()),
        RunStatus::Failed => return Some("the run was declared failed since".to_owned()),
        RunStatus::NotStarted | RunStatus::InProgress | RunStatus::Paused | RunStatus::Completed => {}
    }
    let made = run.graph.branches().find(|(_, branch)| branch.cause.rollback() == Some(record.rollback))?.0;
    let mut fresh = run.executions().map(|(_, e)| e).filter(|e| e.branch == made);
    let begun = fresh.find(|e| e.state != ExecutionState::Pending);
    begun.map(|e| format!("checkpoint {} was started since", e.position))
}

fn restore(
    draft: &mut Draft<'_>,
    pipeline: PipelineId,
    record: &Arc<RollbackRecord>,
) -> Result<(), Rejection> {
    let rollback = record.rollback;
    draft.on_pipeline(pipeline, PipelineEvent::RollbackUndone { rollback });
    let target = record.target.0;
    let was_active = draft.run(target)?.status.is_active();
    draft.on_run(target, RunEvent::Undone { rollback });
    asks::failed::ask_all(draft, target)?;
    pause_at_the_end(draft, target)?;
    let is_active = draft.run(target)?.status.is_active();
    match (was_active, is_active) {
        (false, true) => draft.on_pipeline(pipeline, PipelineEvent::RunReopened { run: target }),
        (true, false) => draft.on_pipeline(pipeline, PipelineEvent::RunClosed { run: target }),
        (true, true) | (false, false) => {}
    }
    for (run, _) in &record.removed_runs {
        draft.on_run(*run, RunEvent::RunRestored { rollback });
        asks::failed::ask_all(draft, *run)?;
        if draft.run(*run)?.status.is_active() {
            draft.on_pipeline(pipeline, PipelineEvent::RunReopened { run: *run });
        }
    }
    Ok(())
}

/// A pause that came after the rollback stays. Inside a step it holds from the step's end, as any pause does: an answer
/// at the step's gate may begin work, which a paused run must not have.
fn pause_at_the_end(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let inside = state.active().any(|(_, execution)| {
        matches!(
            execution.state,
            ExecutionState::AwaitingComplete
                | ExecutionState::Working(Stage::Form | Stage::Input | Stage::Guidance | Stage::Budget)
        )
    });
    if state.status == RunStatus::Paused && inside {
        draft.on_run(run, RunEvent::Resumed {});
        draft.on_run(run, RunEvent::PauseAsked {});
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::PipelineCommand;
    use crate::definition::OnFailure;
    use crate::testing::{
        Scene, approve, approve_all, failing, form, on_pipeline, outcome_failed, pause, retry, revise,
        roll_back, roll_back_to_run, script, start, start_step, submit, undo,
    };
    use serde_json::json;

    #[test]
    fn what_was_done_since_stands_in_the_way() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B"), form("C")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 0));
        scene.run(start_step(&scene, 1));
        scene.run(submit(1, 4, json!({"answer": "yes"})));
        scene.run(approve(&scene, 1, 4));
        scene.check(
            undo(&scene),
            expect![[r#"
                refused (cannot_undo): rollback 01900000-0000-7a90-bb88-41071295545f cannot be undone: checkpoint 1 was started since
            "#]],
        );
    }

    #[test]
    fn everything_comes_back() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        approve_all(&mut scene, 1);
        let executions =
            |scene: &Scene| -> Vec<_> { scene.state(1).executions().map(|(x, e)| (x, e.clone())).collect() };
        let before = executions(&scene);
        scene.run(roll_back(1, 0));
        scene.check(
            undo(&scene),
            expect![[r#"
                pipeline: RollbackUndone
                pipeline: RunClosed { run: R1 }
                run R1: Undone
            "#]],
        );
        assert_eq!(scene.status(1), "completed");
        assert_eq!(executions(&scene), before);
    }

    #[test]
    fn not_when_something_newer_stands_in_its_place() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 0));
        let undo_it = undo(&scene);
        scene.run(start_step(&scene, 1));
        scene.check_code(undo_it.clone(), "cannot_undo");
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 0));
        let undo_it = undo(&scene);
        scene.run(start(2));
        scene.check_code(undo_it, "cannot_undo");
    }

    #[test]
    fn work_that_was_running_comes_back_failed_in_a_paused_run() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), script("B", 0)]).with_run();
        approve_all(&mut scene, 1);
        scene.run(start_step(&scene, 1));
        assert_eq!(scene.state(1).owed.len(), 1);
        scene.run(roll_back(1, 0));
        assert!(scene.state(1).owed.is_empty());
        scene.run(undo(&scene));
        assert_eq!(scene.status(1), "paused: x2 failed");
    }

    #[test]
    fn the_latest_rollback_is_undone_first() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B"), form("C")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 1));
        let first = undo(&scene);
        scene.run(roll_back(1, 0));
        let second = undo(&scene);
        scene.check_code(first.clone(), "cannot_undo");
        scene.run(second.clone());
        scene.run(first);
        assert_eq!(scene.status(1), "completed");
        scene.check(
            second,
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn open_questions_come_back_as_they_were_shown() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.run(approve(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        scene.run(submit(1, 2, json!({"answer": "yes"})));
        let seen = approve(&scene, 1, 2);
        scene.run(roll_back(1, 0));
        scene.check_code(seen.clone(), "rolled_back");
        scene.run(undo(&scene));
        scene.run(seen);
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn a_failure_that_went_back_by_itself_comes_back_paused() {
        let back = failing(script("A", 0), OnFailure::RollbackCheckpoint);
        let mut scene = Scene::new().with_pipeline(&[back]).with_run();
        scene.run(outcome_failed(&scene, 1, 1));
        scene.run(undo(&scene));
        assert_eq!(scene.status(1), "paused: x1 failed");
        scene.run(retry(1, 1));
    }

    #[test]
    fn not_in_a_pipeline_that_was_put_away_nor_in_another_order() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
        for n in 1..=2 {
            scene.run(start(n));
            approve_all(&mut scene, n);
        }
        scene.run(roll_back_to_run(2, 1, 1));
        let undo_it = undo(&scene);
        scene.run(on_pipeline(PipelineCommand::Delete));
        scene.check_code(undo_it.clone(), "wrong_state");
        scene.run(on_pipeline(PipelineCommand::Restore));
        let order = scene.pipeline().order.iter().rev().copied().collect();
        scene.run(on_pipeline(PipelineCommand::Reorder(order)));
        scene.check_code(undo_it, "cannot_undo");
    }

    #[test]
    fn a_pause_that_came_later_holds_from_the_end_of_the_step() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.run(approve(&scene, 1, 1));
        scene.run(start_step(&scene, 1));
        scene.run(submit(1, 2, json!({"answer": "yes"})));
        scene.run(roll_back(1, 0));
        scene.run(pause(1));
        assert_eq!(scene.status(1), "paused: x3 pending");
        scene.check(
            undo(&scene),
            expect![[r#"
            pipeline: RollbackUndone
            run R1: Undone
            run R1: Resumed
            run R1: PauseAsked
        "#]],
        );
        // A change begins work, which a paused run must not have.
        scene.run(revise(1, 2, "more"));
        assert_eq!(scene.status(1), "in_progress: x2 in_progress");
        scene.run(submit(1, 2, json!({"answer": "more"})));
        scene.run(approve(&scene, 1, 2));
        assert_eq!(scene.status(1), "completed");
    }
}
