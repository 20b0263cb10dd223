//! Rows of runs, and which rows each event of a run changes.

use std::collections::{BTreeMap, BTreeSet};

use super::executions::{execution_row, outputs};
use super::{Columns, archive};
use crate::budget::Measure;
use crate::event::{Event, Made, Origin, Place, RunEvent};
use crate::places::output_file;
use crate::rows::{Cell, Op, RowChange, Table};
use crate::state::Stamp;
use crate::state::run::{Ask, AskKind, Execution, Gate, Node, NodeKind, Output, RunState};
use crate::{BranchNo, Digest, ExecNo, GateId, Ids, Level, NodeNo, RunId, Timestamp};

pub(super) fn project(
    id: RunId,
    before: &RunState,
    after: &RunState,
    stamp: &Stamp<'_>,
    events: &[Event],
    changes: &mut [Vec<RowChange>],
) {
    let mut rows = Rows {
        before,
        after,
        stamp,
        ids: Ids::beside(stamp.command),
        version: before.rows.events,
        interactions: before.rows.interactions,
        gates: before.rows.gates,
        opened: BTreeMap::new(),
        asking: BTreeMap::new(),
        closed: BTreeSet::new(),
    };
    let mut touched = BTreeSet::new();
    for (event, changes) in events.iter().zip(changes.iter_mut()) {
        rows.version += 1;
        let Event::Run(event) = event else { continue };
        if let RunEvent::ExecutionMade { x, .. } = event {
            // The whole row is written at once, as the command leaves it, and with this event.
            rows.execution(*x, changes);
        } else {
            touched.extend(execution_of(event));
        }
        rows.event(event, changes);
    }
    if let Some(last) = changes.last_mut() {
        for x in touched.into_iter().filter(|x| before.graph.any_execution(*x).is_some()) {
            rows.execution(x, last);
        }
        last.extend(nodes(before, after));
        last.extend(header(id, before, after));
    }
}

/// Rows of new nodes that no execution stands for.
fn nodes(before: &RunState, after: &RunState) -> Vec<RowChange> {
    let fresh = after.graph.nodes(before.graph.node_count());
    let row = |(n, node): (NodeNo, &Node)| {
        let (kind, at, more) = match &node.kind {
            NodeKind::Start | NodeKind::Step(_) => return None,
            NodeKind::Gate(gate, place, at) => {
                ("gate", *at, vec![("gate", gate.0.into()), ("step", Cell::Text(place.step.0.clone()))])
            }
            NodeKind::Snapshot(taken) => {
                let cells = vec![
                    ("snapshot", taken.id.0.into()),
                    ("cause", Cell::Text(taken.trigger.clone())),
                    ("tree", taken.tree.into()),
                ];
                ("snapshot", taken.at, cells)
            }
            NodeKind::Blocked(blocked) => {
                let execution = after.graph.any_execution(blocked.x);
                let mut cells = vec![("x", blocked.x.0.into()), ("attempt", blocked.attempt.into())];
                cells.extend(execution.map(|e| ("step", Cell::Text(e.place.step.0.clone()))));
                ("blocked", blocked.at, cells)
            }
        };
        let mut cells = vec![
            ("node", n.0.into()),
            ("parent", after.graph.parent(n).map(|parent| parent.0).into()),
            ("branch", node.branch.0.into()),
            ("kind", kind.into()),
            ("at", at.into()),
        ];
        cells.extend(more);
        Some(RowChange { table: Table::Node, op: Op::Put(n.0, cells) })
    };
    fresh.filter_map(row).collect()
}

/// The execution that an event is about.
pub(crate) fn execution_of(event: &RunEvent) -> Option<ExecNo> {
    match event {
        RunEvent::ExecutionMade { x, .. }
        | RunEvent::Asked { x, .. }
        | RunEvent::Approved { x, .. }
        | RunEvent::Rejected { x, .. }
        | RunEvent::AttemptBegan { x, .. }
        | RunEvent::AttemptRestarted { x }
        | RunEvent::Submitted { x, .. }
        | RunEvent::ArtifactMade { x, .. }
        | RunEvent::WorkDone { x, .. }
        | RunEvent::Checked { x, .. }
        | RunEvent::BudgetRaised { x, .. }
        | RunEvent::ApprovalGiven { x, .. }
        | RunEvent::RevisionAsked { x, .. }
        | RunEvent::ArtifactPromoted { x, .. }
        | RunEvent::ExecutionCompleted { x, .. }
        | RunEvent::AttemptFailed { x, .. }
        | RunEvent::ExecutionFailed { x, .. }
        | RunEvent::PassedOver { x }
        | RunEvent::HandedIn { x, .. }
        | RunEvent::Blocked { x, .. }
        | RunEvent::RetryGranted { x, .. }
        | RunEvent::NoteQueued { x, .. } => Some(*x),
        RunEvent::Made { .. }
        | RunEvent::Began {}
        | RunEvent::StepSkipped { .. }
        | RunEvent::GateAsked { .. }
        | RunEvent::GateAnswered { .. }
        | RunEvent::FrontMoved { .. }
        | RunEvent::LoopEnded { .. }
        | RunEvent::Warned { .. }
        | RunEvent::Forked { .. }
        | RunEvent::SnapshotTaken { .. }
        | RunEvent::Reopened {}
        | RunEvent::PauseAsked {}
        | RunEvent::PauseDropped {}
        | RunEvent::Paused { .. }
        | RunEvent::Resumed {}
        | RunEvent::Completed {}
        | RunEvent::Failed { .. }
        | RunEvent::Aborted { .. }
        | RunEvent::RolledBack { .. }
        | RunEvent::Recovered { .. }
        | RunEvent::Undone { .. }
        | RunEvent::RunRemoved { .. }
        | RunEvent::RunRestored { .. } => None,
    }
}

pub(super) struct Rows<'a> {
    pub before: &'a RunState,
    pub after: &'a RunState,
    pub stamp: &'a Stamp<'a>,
    pub ids: Ids,
    /// The version of the event that is looked at.
    version: u32,
    pub interactions: u32,
    gates: u32,
    /// Gates that the command opened.
    pub opened: BTreeMap<GateId, Gate>,
    /// The gates among them that executions opened.
    pub asking: BTreeMap<ExecNo, GateId>,
    /// Gates whose answers are written: closing what is left does not overwrite them.
    pub closed: BTreeSet<GateId>,
}

impl<'a> Rows<'a> {
    /// An execution as the events leave it, also when they roll it back in the end.
    pub fn left(&self, x: ExecNo) -> Option<&'a Execution> {
        self.after.graph.any_execution(x).map(AsRef::as_ref)
    }

    fn event(&mut self, event: &RunEvent, changes: &mut Vec<RowChange>) {
        match event {
            RunEvent::Asked { x, gate, ask, digest, minimum, expires } => {
                self.begin_answered(*x, changes);
                let Some(execution) = self.left(*x) else { return };
                let (branch, place) = (execution.branch, execution.place.clone());
                let mut open = self.new_gate(branch, place, ask.clone(), *digest, *minimum, *expires);
                (open.x, open.revision) = (Some(*x), execution.revision);
                self.opened(*gate, open, changes);
            }
            RunEvent::GateAsked { gate, branch, place, choice, digest, minimum, expires } => {
                let ask = Ask::Choice(choice.clone());
                let open = self.new_gate(*branch, place.clone(), ask, *digest, *minimum, *expires);
                self.opened(*gate, open, changes);
            }
            RunEvent::AttemptBegan { x, .. } => self.begin_answered(*x, changes),
            RunEvent::Approved { x, gate, edited, .. } => self.approved(*x, *gate, *edited, changes),
            RunEvent::Rejected { x, gate, feedback, .. } => {
                self.rejected(*x, *gate, feedback.as_ref(), changes);
            }
            RunEvent::Submitted { x, gate, fields, text, .. } => {
                self.submitted(*x, *gate, fields, text.as_ref(), changes);
            }
            RunEvent::BudgetRaised { x, gate, by, .. } => {
                self.answered(*gate, "raised", changes);
                let measure = Measure::ALL.into_iter().find(|measure| by.get(*measure) > 0);
                let said = measure.map(|measure| measure.words(by.get(measure))).unwrap_or_default();
                self.said(Some(*x), "budget", &format!("raise by {said}"), "work goes on", changes);
            }
            RunEvent::ApprovalGiven { x, gate, .. } => {
                let starts = self.kind(*gate) == Some(AskKind::Start);
                let kind = if starts { "approval_to_start" } else { "approval_to_complete" };
                self.said(Some(*x), kind, "approved", "more approvals are needed", changes);
                self.approved_by_one(*gate, changes);
            }
            RunEvent::RevisionAsked { x, gate, feedback, .. } => {
                self.answered(*gate, "revision", changes);
                let is_over = self.before.execution(*x).is_some_and(|e| e.revision >= e.max_revisions);
                let response = if is_over { "revisions used up, failed" } else { "revision started" };
                self.said(Some(*x), "revision_request", feedback, response, changes);
            }
            RunEvent::RetryGranted { x, gate, .. } => {
                self.answered(*gate, "retried", changes);
                self.said(Some(*x), "retry", "retry", "attempt started", changes);
            }
            RunEvent::GateAnswered { gate, option, feedback, .. } => {
                // What executions ask is answered by a choice too, where there are several ways to continue.
                let kind = match self.kind(*gate) {
                    Some(AskKind::Failed) => "retry",
                    Some(AskKind::Blocked) => "blocked",
                    Some(_) | None => "choice",
                };
                let x = self.gate(*gate).and_then(|gate| gate.x);
                self.answered(*gate, option, changes);
                let said = feedback.as_ref().map_or_else(|| option.to_string(), |f| format!("{option}: {f}"));
                self.said(x, kind, &said, "answered", changes);
            }
            RunEvent::ArtifactMade { x, made } => self.made(*x, made, changes),
            RunEvent::ExecutionFailed { x, .. } => {
                let gate = self.asking.get(x).copied();
                if let Some(gate) = gate.or_else(|| self.before.execution(*x).and_then(|e| e.gate)) {
                    self.answered(gate, "closed", changes);
                }
            }
            RunEvent::Completed {} | RunEvent::Failed { .. } | RunEvent::Aborted { .. } => {
                // Gates of other branches of a completed run stay open.
                let open: Vec<GateId> = self.before.gates.keys().copied().collect();
                for gate in open.into_iter().filter(|gate| !self.after.gates.contains_key(gate)) {
                    self.answered(gate, "closed", changes);
                }
                self.put_back_waiting(changes);
            }
            RunEvent::RolledBack { rollback, .. } | RunEvent::Recovered { rollback, .. } => {
                archive::rolled_back(self.before, self.after, *rollback, changes);
            }
            RunEvent::Undone { rollback } => archive::undone(self.before, self.after, *rollback, changes),
            RunEvent::RunRemoved { rollback, archive } => {
                archive::removed(self.before, *rollback, archive, changes);
            }
            RunEvent::RunRestored { .. } => archive::restored(self.before, self.after, changes),
            RunEvent::Made { .. }
            | RunEvent::Began {}
            | RunEvent::ExecutionMade { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::AttemptRestarted { .. }
            | RunEvent::WorkDone { .. }
            | RunEvent::Checked { .. }
            | RunEvent::ArtifactPromoted { .. }
            | RunEvent::ExecutionCompleted { .. }
            | RunEvent::AttemptFailed { .. }
            | RunEvent::PassedOver { .. }
            | RunEvent::NoteQueued { .. }
            | RunEvent::FrontMoved { .. }
            | RunEvent::LoopEnded { .. }
            | RunEvent::Warned { .. }
            | RunEvent::Forked { .. }
            | RunEvent::HandedIn { .. }
            | RunEvent::Blocked { .. }
            | RunEvent::SnapshotTaken { .. }
            | RunEvent::Reopened {}
            | RunEvent::PauseAsked {}
            | RunEvent::PauseDropped {}
            | RunEvent::Paused { .. }
            | RunEvent::Resumed {} => {}
        }
    }

    fn new_gate(
        &mut self,
        branch: BranchNo,
        place: Place,
        ask: Ask,
        digest: Digest,
        minimum: Level,
        expires: Option<Timestamp>,
    ) -> Gate {
        let (n, opened_at) = (self.gates, self.stamp.at);
        self.gates += 1;
        let (x, revision, shown, approvals) = (None, 0, Vec::new(), Vec::new());
        Gate { n, branch, place, x, revision, ask, shown, digest, minimum, expires, opened_at, approvals }
    }

    fn made(&mut self, x: ExecNo, made: &Made, changes: &mut Vec<RowChange>) {
        let n = self.version;
        let Some(execution) = self.left(x) else { return };
        let kept = execution.artifacts.iter().find(|output| output.made.record == made.record);
        let promoted = kept.and_then(|output| output.promoted_at);
        let stood = Output { n, made: made.clone(), created_at: self.stamp.at, promoted_at: promoted };
        let path = output_file(self.after, execution, &stood);
        let cells = vec![
            ("id", made.record.0.into()),
            ("artifact", made.artifact.0.into()),
            ("execution", execution.id.0.into()),
            ("x", x.0.into()),
            ("name", Cell::Text(made.name.clone())),
            ("format", Cell::Text(made.format.clone())),
            ("path", path.as_str().into()),
            ("size", made.size.into()),
            ("digest", made.digest.into()),
            ("revision", execution.revision.into()),
            ("attempt", execution.attempt.into()),
            ("current", kept.is_some().into()),
            ("created_at", self.stamp.at.into()),
            ("promoted_at", promoted.into()),
        ];
        changes.push(RowChange { table: Table::Artifact, op: Op::Put(n, cells) });
    }

    /// The row of an execution, and those of its outputs that changed.
    fn execution(&self, x: ExecNo, changes: &mut Vec<RowChange>) {
        let Some(after) = self.left(x) else { return };
        // A rollback that is undone brings executions back: their rows are there.
        let before = self.before.graph.any_execution(x).map(AsRef::as_ref);
        changes.extend(execution_row(self.after, x, before, after));
        let Some(before) = before else { return };
        outputs(self.after, before, after, changes);
    }

    /// A run that ends puts steps that wait for a start back to pending.
    fn put_back_waiting(&self, changes: &mut Vec<RowChange>) {
        let waiting = self.before.gates.values().filter_map(|gate| gate.x);
        for x in waiting {
            let (before, after) = (self.before.execution(x), self.after.execution(x));
            if let (Some(before), Some(after)) = (before, after) {
                changes.extend(execution_row(self.after, x, Some(before.as_ref()), after));
            }
        }
    }
}

/// The run's own row. What every step changes, its counts and where it stands, is written only when something else is:
/// while a run moves, these are read from its executions.
fn header(id: RunId, before: &RunState, after: &RunState) -> Option<RowChange> {
    let origin = after.origin.as_ref()?;
    let mut row = Columns::new(before.origin.is_none());
    if row.fresh {
        let (kind, title, previous) = match origin {
            Origin::Pipeline { previous, .. } => ("pipeline", None, *previous),
            Origin::File { title, .. } => ("file", Some(title.clone()), None),
        };
        row.set("id", true, || id.0);
        row.set("family", true, || id.family());
        row.set("base", true, || id.base());
        row.set("session", true, || after.session().map(|session| session.0));
        row.set("kind", true, || kind);
        row.set("title", true, || title.map_or(Cell::Null, Cell::Text));
        row.set("plan", true, || after.plan);
        row.set("pipeline", true, || after.pipeline().map(|pipeline| pipeline.0));
        row.set("definition_version", true, || after.number().map(|(_, version)| version));
        row.set("number", true, || after.number().map(|(number, _)| number));
        row.set("total", true, || after.total);
        row.set("previous", true, || previous.map(|(run, _)| run.0));
        row.set("extends", true, || previous.map(|(_, number)| number));
        row.set("created_at", true, || after.times.created);
    }
    row.set("status", before.status != after.status, || after.status.name());
    row.set("pause_requested", before.pause_requested != after.pause_requested, || after.pause_requested);
    row.set("started_at", before.times.started != after.times.started, || after.times.started);
    row.set("completed_at", before.times.completed != after.times.completed, || after.times.completed);
    row.set("paused_at", before.times.paused != after.times.paused, || after.times.paused);
    row.set("resumed_at", before.times.resumed != after.times.resumed, || after.times.resumed);
    row.set("rollback", before.gone != after.gone, || after.gone.as_ref().map(|gone| gone.rollback.0));
    // A rollback and its undoing go on in another branch.
    let turned = before.graph.current() != after.graph.current();
    let counted = turned || before.failed != after.failed || !row.cells.is_empty();
    let current = after.current().map(|(_, execution)| execution);
    row.set("current_step", counted, || current.map_or(Cell::Null, |e| Cell::Text(e.place.step.0.clone())));
    row.set("position", counted, || current.map(|e| e.position));
    row.set("completed", counted, || after.completed);
    row.set("failed", counted, || after.failed);
    row.into_change(Table::Run, 0)
}
