//! Goes back: everything behind a target leaves the active views, and nothing restarts by itself.
//!
//! Nothing is lost: the log keeps what was removed, and the rollback can be undone.

use crate::advance;
use crate::decision::{Draft, World};
use crate::definition::Fault;
use crate::event::{PipelineEvent, RollbackRecord, RollbackType, RunEvent, Text, TriggeredBy};
use crate::paths::archive_folder;
use crate::state::RunState;
use crate::state::run::{Branch, ExecutionState};
use crate::{CheckpointId, ExecNo, NodeNo, PipelineId, Rejection, RollbackId, RunId, StreamId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct RollBack {
    /// How far it reaches.
    pub level: RollbackType,
    /// The run from which it is asked for.
    pub source: RunId,
    /// The run to go back to; at checkpoint level the source itself.
    pub target: Option<RunId>,
    /// The checkpoint that stays completed.
    pub checkpoint: Target,
    /// Why.
    pub reason: Option<Text>,
}

/// Names a checkpoint of a run.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// By its id.
    Id(CheckpointId),
    /// By its position.
    Position(u32),
}

/// What a rollback would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impact {
    /// The run that goes on.
    pub target: RunId,
    /// The last position that stays.
    pub keep: u32,
    /// Executions of the target run that go.
    pub executions: Vec<ExecNo>,
    /// Later runs that go whole, with their numbers.
    pub runs: Vec<(RunId, u32)>,
}

/// The streams that the rule looks at.
pub(super) fn needs(command: &RollBack, world: &World<'_>, wanted: &mut Vec<StreamId>) {
    wanted.push(StreamId::Run(command.source));
    wanted.extend(command.target.map(StreamId::Run));
    let Some(pipeline) = world.run(command.source).and_then(RunState::pipeline) else { return };
    wanted.push(StreamId::Pipeline(pipeline));
    let Some(state) = world.pipeline(pipeline) else { return };
    if command.level == RollbackType::RunLevel
        && let Some(target) = command.target.and_then(|run| state.number_of(run))
    {
        wanted.extend(later(state, target).map(|(run, _)| StreamId::Run(run)));
    }
}

fn later(pipeline: &crate::state::PipelineState, number: u32) -> impl Iterator<Item = (RunId, u32)> {
    let after = pipeline.runs.range(number + 1..);
    after.filter(|(_, entry)| entry.removed.is_none()).map(|(number, entry)| (entry.run, *number))
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, command: &RollBack) -> Result<(), Rejection> {
    let (pipeline, impact) = impact(draft, command)?;
    let target = draft.run(impact.target)?;
    let missing = || Rejection::NotFound { what: "node", id: format!("of checkpoint {}", impact.keep) };
    let (_, kept) = target.executions().find(|(_, e)| e.position == impact.keep).ok_or_else(missing)?;
    let from = kept.node.ok_or_else(missing)?;
    let checkpoint = kept.place.step.checkpoint().map(|id| (id, impact.keep));
    let request = Request {
        pipeline,
        level: command.level,
        source: command.source,
        target: impact.target,
        checkpoint,
        from,
        runs: impact.runs,
        triggered_by: TriggeredBy::UserRequest,
        reason: command.reason.clone(),
    };
    carry_out(draft, request)
}

/// What a rollback would do, or why it cannot be done.
pub fn impact(draft: &Draft<'_>, command: &RollBack) -> Result<(PipelineId, Impact), Rejection> {
    let source = draft.run(command.source)?;
    let not_a_pipeline = Rejection::NotFound { what: "pipeline run", id: command.source.to_string() };
    let pipeline = source.pipeline().ok_or(not_a_pipeline)?;
    super::delete_pipeline::live(draft, pipeline, "roll back")?;
    advance::require_present_definition(draft, command.source)?;
    let target = target_run(command)?;
    let run = draft.run(target)?;
    if run.pipeline() != Some(pipeline) {
        return Err(invalid("/target_run_id", "the run belongs to another pipeline"));
    }
    advance::require_present_definition(draft, target)?;
    let keep = position(run, target, command.checkpoint)?;
    let state = draft.pipeline(pipeline)?;
    let runs = match command.level {
        RollbackType::CheckpointLevel => Vec::new(),
        RollbackType::RunLevel => {
            let number = state.number_of(target).unwrap_or(0);
            if number >= state.number_of(command.source).unwrap_or(0) {
                return Err(invalid("/target_run_id", "a run-level rollback goes to an earlier run"));
            }
            later(state, number).collect()
        }
    };
    let executions: Vec<ExecNo> =
        run.executions().filter(|(_, e)| e.position > keep).map(|(x, _)| x).collect();
    if executions.is_empty() && runs.is_empty() {
        return Err(Rejection::NothingToRollBack);
    }
    Ok((pipeline, Impact { target, keep, executions, runs }))
}

fn target_run(command: &RollBack) -> Result<RunId, Rejection> {
    match (command.level, command.target) {
        (RollbackType::CheckpointLevel, None) => Ok(command.source),
        (RollbackType::CheckpointLevel, Some(target)) if target == command.source => Ok(target),
        (RollbackType::CheckpointLevel, Some(_)) => {
            Err(invalid("/target_run_id", "a checkpoint-level rollback stays within its run"))
        }
        (RollbackType::RunLevel, Some(target)) => Ok(target),
        (RollbackType::RunLevel, None) => {
            Err(invalid("/target_run_id", "a run-level rollback needs a target run"))
        }
    }
}

fn position(run: &RunState, id: RunId, target: Target) -> Result<u32, Rejection> {
    let wanted = |e: &crate::state::run::Execution| match target {
        Target::Id(checkpoint) => e.place.step.checkpoint() == Some(checkpoint),
        Target::Position(position) => e.position == position,
    };
    let field = match target {
        Target::Id(_) => "/target_checkpoint_id",
        Target::Position(_) => "/target_checkpoint_position",
    };
    let Some((_, execution)) = run.executions().find(|(_, e)| wanted(e)) else {
        return Err(invalid(field, &format!("run {id} has not reached this checkpoint")));
    };
    if execution.state != ExecutionState::Completed {
        return Err(Rejection::WrongState {
            action: "roll back to this checkpoint",
            what: "execution",
            id: execution.id.to_string(),
            state: execution.state.name(),
            possible: vec!["roll back to a completed checkpoint"],
        });
    }
    Ok(execution.position)
}

fn invalid(pointer: &str, message: &str) -> Rejection {
    Rejection::Invalid(vec![Fault::at(pointer, message)])
}

/// A rollback that is decided.
struct Request {
    pipeline: PipelineId,
    level: RollbackType,
    source: RunId,
    target: RunId,
    checkpoint: Option<(CheckpointId, u32)>,
    /// The node that the target run continues from.
    from: NodeNo,
    runs: Vec<(RunId, u32)>,
    triggered_by: TriggeredBy,
    reason: Option<Text>,
}

fn carry_out(draft: &mut Draft<'_>, request: Request) -> Result<(), Rejection> {
    let rollback = RollbackId(draft.ids.mint());
    let archive: Text = archive_folder(rollback, draft.envelope.at).into();
    let number = |draft: &Draft<'_>, run| draft.run(run).map(|r| r.number().map_or(0, |(n, _)| n));
    let record = RollbackRecord {
        rollback,
        level: request.level,
        source: (request.source, number(draft, request.source)?),
        target: (request.target, number(draft, request.target)?),
        checkpoint: request.checkpoint,
        removed_runs: request.runs.clone(),
        next_number: draft.pipeline(request.pipeline)?.next_number,
        triggered_by: request.triggered_by,
        reason: request.reason,
    };
    draft.on_pipeline(request.pipeline, PipelineEvent::RolledBack(record));
    for (run, _) in &request.runs {
        draft.on_run(*run, RunEvent::RunRemoved { rollback, archive: archive.clone() });
    }
    let cause = advance::BranchCause::Rollback { rollback, archive };
    go_back(draft, request.pipeline, request.target, request.from, cause)?;
    draft.reply.rollback = Some(rollback);
    Ok(())
}

/// The target run continues from a node; the pipeline learns whether it is active.
fn go_back(
    draft: &mut Draft<'_>,
    pipeline: PipelineId,
    run: RunId,
    from: NodeNo,
    cause: advance::BranchCause,
) -> Result<(), Rejection> {
    let was_active = draft.run(run)?.status.is_active();
    let branch = advance::branch_from(draft, run, from, cause)?;
    let is_active = !draft.run(run)?.graph.branch(branch).is_none_or(Branch::is_done);
    if !is_active {
        // The target is the last checkpoint: the run is as complete as it was when that was done.
        draft.on_run(run, RunEvent::Completed {});
    }
    match (was_active, is_active) {
        (false, true) => draft.on_pipeline(pipeline, PipelineEvent::RunReopened { run }),
        (true, false) => draft.on_pipeline(pipeline, PipelineEvent::RunClosed { run }),
        (true, true) | (false, false) => {}
    }
    Ok(())
}

/// A checkpoint's failure policy: the failed execution is archived, and the checkpoint stands at pending
/// again.
pub(crate) fn after_failure(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    let position = draft.execution(run, x)?.position;
    let state = draft.run(run)?;
    let Some(pipeline) = state.pipeline() else { return Ok(()) };
    let pausing = state.pause_requested;
    let before = position.checked_sub(1);
    let kept = before.and_then(|before| state.executions().find(|(_, e)| e.position == before));
    let checkpoint = kept.and_then(|(_, e)| e.place.step.checkpoint()).zip(before);
    let branch = state.graph.branch(draft.execution(run, x)?.branch);
    let missing = || Rejection::NotFound { what: "branch", id: format!("of run {run}") };
    let from = branch.ok_or_else(missing)?.head;
    let request = Request {
        pipeline,
        level: RollbackType::CheckpointLevel,
        source: run,
        target: run,
        checkpoint,
        from,
        runs: Vec::new(),
        triggered_by: TriggeredBy::CheckpointFailure,
        reason: None,
    };
    carry_out(draft, request)?;
    // Somebody asked for a pause at the end of the step, and this is its end.
    if pausing {
        draft.on_run(run, RunEvent::PauseAsked {});
        advance::settle(draft, run)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{
        Scene, abort, approve, approve_all, auto_advance, cancel, fail_run, form, on_run, outcome_done,
        pause, roll_back, roll_back_to_run, script, start, start_later, start_step, submit, undo,
    };
    use serde_json::json;

    #[test]
    fn what_stands_behind_the_target_goes() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B"), form("C")]).with_run();
        approve_all(&mut scene, 1);
        assert_eq!(scene.status(1), "completed");
        scene.check(
            roll_back(1, 1),
            expect![[r#"
                pipeline: RolledBack to R1 keeping 1, by UserRequest
                pipeline: RunReopened { run: R1 }
                run R1: RolledBack to node 2
                run R1: ExecutionMade x4 C at 2
                run R1: Asked x4 start
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x4 pending");
        scene.run(start_step(&scene, 1));
        approve_all(&mut scene, 1);
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn going_back_to_an_earlier_run_removes_the_later_ones() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
        for n in 1..=3 {
            scene.run(start(n));
            approve_all(&mut scene, n);
        }
        scene.check(
            roll_back_to_run(3, 1, 1),
            expect![[r#"
                pipeline: RolledBack to R1 keeping 1, removing v2 v3, by UserRequest
                run R2: RunRemoved
                run R3: RunRemoved
                run R1: RolledBack to node 2
                run R1: Completed
            "#]],
        );
        scene.check_code(start_step(&scene, 2), "rolled_back");
        scene.run(start(4));
        assert_eq!(scene.state(4).number(), Some((4, 3)));
        assert_eq!(scene.extends(4), Some(1));
    }

    #[test]
    fn there_must_be_something_behind_the_target() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        approve_all(&mut scene, 1);
        scene.check_code(roll_back(1, 0), "nothing_to_roll_back");
        scene.check_code(roll_back(1, 7), "invalid_fields");
    }

    #[test]
    fn open_questions_and_work_go_with_what_is_rolled_back() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), script("B", 0)]).with_run();
        approve_all(&mut scene, 1);
        scene.run(start_step(&scene, 1));
        let late = outcome_done(&scene, 1, 2);
        scene.run(roll_back(1, 0));
        scene.check(
            late,
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
        scene.check(
            cancel(1, 2),
            expect![[r#"
                refused (rolled_back): execution 00000000-0000-7000-8000-000100001002 was rolled back
            "#]],
        );
    }

    #[test]
    fn a_run_that_had_ended_goes_on() {
        for end in [abort(1), fail_run(1)] {
            let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
            scene.run(submit(1, 1, json!({"answer": "yes"})));
            scene.run(approve(&scene, 1, 1));
            scene.run(end);
            scene.run(roll_back(1, 0));
            assert_eq!(scene.status(1), "in_progress: x3 pending");
            assert_eq!(scene.pipeline().active.len(), 1);
        }
    }

    #[test]
    fn later_runs_go_whatever_they_are_at() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
        for n in 1..=3 {
            scene.run(start(n));
            scene.run(submit(n, 1, json!({"answer": "yes"})));
            scene.run(approve(&scene, n, 1));
        }
        scene.run(pause(2));
        scene.run(abort(3));
        scene.run(start_later(4));
        scene.check_code(roll_back_to_run(1, 3, 0), "invalid_fields");
        scene.check_code(roll_back_to_run(2, 2, 0), "invalid_fields");
        scene.check(
            roll_back_to_run(4, 1, 0),
            expect![[r#"
                pipeline: RolledBack to R1 keeping 0, removing v2 v3 v4, by UserRequest
                run R2: RunRemoved
                run R3: RunRemoved
                run R4: RunRemoved
                run R1: RolledBack to node 1
                run R1: ExecutionMade x3 B at 1
                run R1: Asked x3 start
            "#]],
        );
        assert_eq!(scene.pipeline().active.len(), 1);
        scene.run(undo(&scene));
        let statuses: Vec<_> = (1..=4).map(|n| scene.status(n)).collect();
        assert_eq!(
            statuses,
            ["in_progress: x2 pending", "paused: x2 pending", "aborted: x2 pending", "not_started"]
        );
        assert_eq!(scene.pipeline().active.len(), 3);
    }

    #[test]
    fn the_target_must_be_completed() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.check(roll_back(1, 0), expect![[r#"
            refused (wrong_state): cannot roll back to this checkpoint: execution 00000000-0000-7000-8000-000100001001 is in_progress
        "#]]);
    }

    #[test]
    fn a_rollback_retires_open_gates() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(auto_advance(true));
        scene.run(submit(1, 1, json!({"answer": "yes"})));
        scene.run(approve(&scene, 1, 1));
        let state = scene.state(1);
        let (gate, digest) = state.gates.iter().map(|(id, gate)| (*id, gate.digest)).next().expect("a form");
        let answer =
            crate::Answer::new(crate::Target::Gate(gate), crate::state::run::AskKind::Form, "submit");
        let late = on_run(1, crate::RunCommand::Answer(crate::Answer { digest: Some(digest), ..answer }));
        scene.run(roll_back(1, 0));
        assert!(!scene.state(1).gates.contains_key(&gate));
        scene.check_code(late.clone(), "rolled_back");
        scene.run(undo(&scene));
        let back = scene.state(1).gates.get(&gate).expect("the gate is back");
        assert_eq!(back.digest, digest, "as it was asked");
        scene.check_code(late, "invalid_fields");
    }
}
