//! What must hold after every command, read from states, tables and the log.

use std::collections::{BTreeMap, BTreeSet};

use super::replay::replay;
use crate::event::{Event, RunEvent};
use crate::rows::{Cell, Table};
use crate::state::RunState;
use crate::state::run::{
    AskKind, EffectId, EffectKind, Execution, ExecutionState, Part, RunStatus, Stage, TimerKind,
};
use crate::testing::{Drawn, Picture, Scene};
use crate::{ActorKind, Digest, ExecNo, GateId, RunId, State, StreamId};

/// Checks every run and the pipeline, if there is one.
pub(super) fn check(scene: &Scene, linear: bool) {
    for (stream, state) in &scene.states {
        match (stream, state) {
            (StreamId::Run(id), State::Run(run)) => {
                bounds(run);
                waits(run);
                if linear {
                    one_current(run);
                }
                rows(scene, *id, run);
                files(scene, *id, run);
            }
            (StreamId::Pipeline(_), State::Pipeline(pipeline)) => {
                let runs = scene.states.iter().filter_map(|(stream, state)| match (stream, state) {
                    (StreamId::Run(id), State::Run(run)) => Some((*id, run)),
                    (_, _) => None,
                });
                let active = runs.filter(|(_, r)| r.pipeline().is_some());
                let active = active.filter(|(_, r)| r.status.is_active() && r.gone.is_none());
                let active: BTreeSet<RunId> = active.map(|(id, _)| id).collect();
                let said: BTreeSet<RunId> = pipeline.active.iter().copied().collect();
                assert_eq!(said, active, "active runs");
            }
            (_, _) => {}
        }
    }
}

fn bounds(run: &RunState) {
    for (_, execution) in run.executions() {
        assert!(execution.used_attempts() <= execution.max_attempts, "attempts of {execution:?}");
        assert!(execution.revision <= execution.max_revisions, "revisions of {execution:?}");
    }
    let standing = |wanted| run.executions().filter(|(_, e)| e.state == wanted).count() as u32;
    assert_eq!(run.completed, standing(ExecutionState::Completed));
    assert_eq!(run.failed, standing(ExecutionState::Failed));
}

/// Open gates, owed work and timers follow from where executions stand, and from nothing else.
fn waits(run: &RunState) {
    let gone = run.gone.is_some();
    let executions: Vec<_> = run.executions().map(|(x, e)| (x, e.clone())).collect();
    let mut gates: BTreeSet<GateId> = executions.iter().filter_map(|(_, e)| e.gate).collect();
    gates.extend(run.live_branches().flat_map(|(_, branch)| branch.asking.iter().copied()));
    let open: BTreeSet<GateId> = run.gates.keys().copied().collect();
    assert_eq!(open, gates, "open gates");
    for (x, execution) in run.active().filter(|_| !gone && run.status.is_active()) {
        let kind = execution.gate.and_then(|gate| run.gates.get(&gate)).map(|gate| gate.ask.kind());
        let moving = run.status == RunStatus::InProgress && !run.pause_requested;
        match execution.state {
            ExecutionState::Pending if moving => assert_eq!(kind, Some(AskKind::Begin), "{x}"),
            ExecutionState::Pending => assert!(matches!(kind, None | Some(AskKind::Begin)), "{x}"),
            ExecutionState::Failed => assert_eq!(kind, Some(AskKind::Failed), "{x}"),
            ExecutionState::AwaitingStart => assert_eq!(kind, Some(AskKind::Start), "{x}"),
            ExecutionState::AwaitingComplete => assert_eq!(kind, Some(AskKind::Result), "{x}"),
            state => assert_eq!(kind.is_some(), state.asks(), "{x}"),
        }
    }
    let effect =
        |x: ExecNo, e: &Execution, part| EffectId { x, revision: e.revision, attempt: e.attempt, part };
    let owed: BTreeMap<EffectId, EffectKind> = executions
        .iter()
        .filter_map(|(x, e)| match e.state {
            ExecutionState::Working(Stage::Work) => Some((effect(*x, e, Part::Work), EffectKind::DoWork)),
            ExecutionState::Working(Stage::Check) => Some((effect(*x, e, Part::Check), EffectKind::Judge)),
            _ => None,
        })
        .filter(|_| !gone)
        .collect();
    assert_eq!(run.owed.iter().map(|(id, kind)| (*id, *kind)).collect::<BTreeMap<_, _>>(), owed, "owed");
    for (timer, _) in run.timers.iter() {
        let execution = run.execution(timer.x).expect("a timer belongs to an execution");
        assert_eq!((timer.revision, timer.attempt), (execution.revision, execution.attempt), "{timer:?}");
        let stage = match timer.kind {
            TimerKind::Retry => Stage::Retry,
            TimerKind::Timeout => Stage::Work,
        };
        assert_eq!(execution.state, ExecutionState::Working(stage), "{timer:?}");
    }
    let retries = executions.iter().filter(|(_, e)| e.state == ExecutionState::Working(Stage::Retry)).count();
    let set = run.timers.iter().filter(|(timer, _)| timer.kind == TimerKind::Retry).count();
    assert_eq!(set, if gone { 0 } else { retries }, "retries to come");
    if matches!(run.status, RunStatus::Paused | RunStatus::NotStarted) || !run.status.is_active() {
        assert!(owed.is_empty(), "work is owed in a run that is {}", run.status.name());
    }
    assert!(!run.pause_requested || run.status == RunStatus::InProgress);
}

fn one_current(run: &RunState) {
    let open = run.executions().filter(|(_, e)| e.state != ExecutionState::Completed).count();
    assert!(open <= 1, "one checkpoint at a time");
    let mut positions: Vec<u32> = run.executions().map(|(_, e)| e.position).collect();
    positions.dedup();
    assert!(
        positions.iter().enumerate().all(|(i, p)| i == *p as usize),
        "in order, each once: {positions:?}"
    );
    if run.status.is_active() && run.status != RunStatus::NotStarted {
        assert_eq!(open, 1, "a run that is {} stands somewhere", run.status.name());
    }
    let moves = run.status == RunStatus::InProgress;
    assert!(!(moves && run.failed > 0), "a run that stands at a failed checkpoint is paused");
}

/// Tables say what the state says.
fn rows(scene: &Scene, id: RunId, run: &RunState) {
    let (stream, picture) = (StreamId::Run(id), &scene.picture);
    let cell = |table, n, column| picture.cell(table, stream, n, column);
    assert_eq!(cell(Table::Run, 0, "status"), run.status.name().into());
    assert_eq!(cell(Table::Run, 0, "pause_requested"), run.pause_requested.into());
    assert_eq!(cell(Table::Run, 0, "rollback"), run.gone.as_ref().map(|gone| gone.rollback.0).into());
    counts(picture, stream, run);
    let gone = run.gone.as_ref().map(|gone| gone.rollback);
    for (x, execution) in run.graph.all_executions() {
        let rollback = execution.rolled_back.or(gone);
        let mark = Cell::from(rollback.map(|rollback| rollback.0));
        let n = execution.row;
        assert_eq!(cell(Table::Execution, n, "x"), x.0.into(), "{x}");
        assert_eq!(cell(Table::Execution, n, "rollback"), mark, "{x}");
        assert_eq!(cell(Table::Execution, n, "status"), execution.state.name().into(), "{x}");
        assert_eq!(cell(Table::Execution, n, "attempt"), execution.attempt.into(), "{x}");
        assert_eq!(cell(Table::Execution, n, "revision"), execution.revision.into(), "{x}");
        for output in &execution.artifacts {
            assert_eq!(cell(Table::Artifact, output.n, "current"), true.into(), "{x}");
            assert_eq!(cell(Table::Artifact, output.n, "promoted_at"), output.promoted_at.into(), "{x}");
            let path = crate::places::output_file(run, execution, output);
            assert_eq!(cell(Table::Artifact, output.n, "path"), path.as_str().into(), "{x}");
        }
        let own = |row: &&crate::testing::Drawn| row.get("execution") == Some(&execution.id.0.into());
        for table in [Table::Artifact, Table::Interaction] {
            for row in picture.rows(table, stream).map(|(_, row)| row).filter(own) {
                assert_eq!(row.get("rollback").cloned().unwrap_or(Cell::Null), mark, "{table:?} of {x}");
            }
        }
        let current = |row: &&crate::testing::Drawn| row.get("current") == Some(&true.into());
        let rows = picture.rows(Table::Artifact, stream).map(|(_, row)| row).filter(own).filter(current);
        assert_eq!(rows.count(), execution.artifacts.len(), "current outputs of {x}");
    }
    let said = picture.rows(Table::Gate, stream).filter(|(_, row)| row.get("open") == Some(&true.into()));
    let said: BTreeSet<u32> = said.map(|(n, _)| n).collect();
    let open: BTreeSet<u32> = run.gates.values().filter(|_| run.gone.is_none()).map(|gate| gate.n).collect();
    assert_eq!(said, open, "rows of open gates");
    let said = picture.rows(Table::Interaction, stream).count();
    assert_eq!(said, run.rows.interactions as usize, "one interaction per answer");
}

/// Where a run stands and what it counts: in its own row once it has ended, in those of its executions while it moves.
fn counts(picture: &Picture, stream: StreamId, run: &RunState) {
    let cell = |column| picture.cell(Table::Run, stream, 0, column);
    let current = run.current().map(|(_, e)| e.position);
    if !run.status.is_active() {
        assert_eq!(cell("completed"), run.completed.into());
        assert_eq!(cell("failed"), run.failed.into());
        assert_eq!(cell("position"), current.into());
    } else if run.gone.is_none() && run.pipeline().is_some() {
        let here = |row: &&Drawn| row.get("rollback").is_none_or(|rollback| *rollback == Cell::Null);
        let rows: Vec<&Drawn> =
            picture.rows(Table::Execution, stream).map(|(_, row)| row).filter(here).collect();
        let stands = |row: &&&Drawn, status: &str| row.get("status") == Some(&status.into());
        let count = |status| rows.iter().filter(|row| stands(row, status)).count();
        assert_eq!(count("completed"), run.completed as usize, "completed");
        assert_eq!(count("failed"), run.failed as usize, "failed");
        let open = rows.iter().filter(|row| !stands(row, "completed")).min_by_key(|row| row.get("x"));
        let position = open.and_then(|row| row.get("position").cloned());
        assert_eq!(position.unwrap_or(Cell::Null), current.into(), "position");
    }
}

/// What tables say about archives is what stands on disk, and no path leads out of its folder.
fn files(scene: &Scene, id: RunId, run: &RunState) {
    if run.pipeline().is_none() {
        return;
    }
    let pipeline = scene.pipeline();
    let wanted = crate::tree::run(pipeline, run, crate::tree::Keep::default());
    let text = |row: &crate::testing::Drawn, column| match row.get(column) {
        Some(Cell::Text(text)) => text.to_string(),
        other => panic!("{column} is {other:?}"),
    };
    for (_, row) in scene.picture.rows(Table::ArchivedItem, StreamId::Run(id)) {
        let standing = |rollback: &crate::RollbackId| row.get("rollback") == Some(&rollback.0.into());
        if !pipeline.archives.keys().any(standing) {
            continue;
        }
        let to = text(row, "archived_path");
        if text(row, "item_type") == "artifact" {
            assert!(wanted.entries.contains_key(&to), "{to} is recorded and not wanted");
        }
    }
    for path in wanted.entries.keys().chain(wanted.folders.values()).chain(wanted.gone.values()) {
        let mut parts = path.split('/');
        assert!(parts.all(|part| !matches!(part, "" | "." | "..")), "{path}");
    }
}

/// The whole log: it folds to the states, draws the tables, moves only along the diagrams, and every gate was
/// passed by a person who decided on what was shown.
pub(super) fn check_log(scene: &Scene) {
    let mut shown: BTreeMap<GateId, Digest> = BTreeMap::new();
    let mut numbers: BTreeMap<(StreamId, u32), u32> = BTreeMap::new();
    let replayed = replay(&scene.log, |row, event, before, after| {
        if let (State::Run(before), State::Run(after)) = (before, after) {
            super::diagrams::check(event, before, after);
        }
        if let Event::Run(event) = event {
            passed(row.actor.kind, event, &mut shown);
        }
        if let (Event::Pipeline(crate::event::PipelineEvent::RunOpened { number, .. }), State::Pipeline(p)) =
            (event, before)
        {
            let last = numbers.insert((row.stream, p.definition_version), *number);
            assert!(last.is_none_or(|last| last < *number), "run numbers go up");
        }
    });
    assert_eq!(replayed.states, scene.states, "the log folds to the states");
    assert_eq!(replayed.picture, scene.picture, "the log draws the tables");
    for (stream, state) in &scene.states {
        let saved = serde_json::to_vec(state).expect("a state can be saved");
        let read: State = serde_json::from_slice(&saved).expect("a saved state can be read");
        assert_eq!(read, *state, "{stream} as it was saved");
    }
}

fn passed(actor: ActorKind, event: &RunEvent, shown: &mut BTreeMap<GateId, Digest>) {
    let mut answered = |gate: &GateId, digest: &Digest| {
        let asked = shown.remove(gate).unwrap_or_else(|| panic!("{event:?} answers what was not asked"));
        assert_eq!(asked, *digest, "{event:?}");
    };
    match event {
        RunEvent::Asked { gate, digest, .. } | RunEvent::GateAsked { gate, digest, .. } => {
            let same = shown.values().any(|other| other == digest);
            assert!(!same, "every gate has a digest of its own: {event:?}");
            shown.insert(*gate, *digest);
        }
        RunEvent::ApprovalGiven { gate, digest, .. } => {
            assert_eq!(actor, ActorKind::Person, "{event:?}");
            assert_eq!(shown.get(gate), Some(digest), "{event:?}");
        }
        RunEvent::Approved { gate, digest, .. }
        | RunEvent::Rejected { gate, digest, .. }
        | RunEvent::RevisionAsked { gate, digest, .. }
        | RunEvent::Submitted { gate, digest, .. }
        | RunEvent::BudgetRaised { gate, digest, .. }
        | RunEvent::GateAnswered { gate, digest, .. } => {
            assert_eq!(actor, ActorKind::Person, "{event:?}");
            answered(gate, digest);
        }
        RunEvent::RetryGranted { gate, digest, .. } => answered(gate, digest),
        _ => {}
    }
}
