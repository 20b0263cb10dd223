//! Rows of runs, executions, artifacts, gates and what people said.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Columns, archive};
use crate::budget::Measure;
use crate::event::{Event, Made, Opening, Origin, RunEvent};
use crate::places::{output_file, output_folder};
use crate::rows::{Cell, Op, RowChange, Table};
use crate::state::Stamp;
use crate::state::run::{Execution, GateKind, Output, Removed, RunState};
use crate::{ExecNo, GateId, Ids, RunId};

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
        artifacts: before.rows.artifacts,
        interactions: before.rows.interactions,
        closed: BTreeSet::new(),
        taken_out: None,
    };
    rows.taken_out = events.iter().find_map(|event| match event {
        Event::Run(RunEvent::Rewound { rollback, .. }) => after.removed.get(rollback).map(Arc::as_ref),
        Event::Run(_) | Event::Home(_) | Event::Pipeline(_) | Event::Journal(_) => None,
    });
    let mut touched = BTreeSet::new();
    for (event, changes) in events.iter().zip(changes.iter_mut()) {
        if let Event::Run(event) = event {
            touched.extend(execution_of(event));
            rows.event(event, changes);
        }
    }
    if let Some(last) = changes.last_mut() {
        for x in touched {
            rows.execution(x, last);
        }
        last.extend(header(id, before, after));
    }
}

/// The execution that an event is about.
pub(crate) fn execution_of(event: &RunEvent) -> Option<ExecNo> {
    match event {
        RunEvent::ExecutionMade { x, .. }
        | RunEvent::StartAsked { x, .. }
        | RunEvent::StartApproved { x, .. }
        | RunEvent::StartRejected { x, .. }
        | RunEvent::AttemptBegan { x, .. }
        | RunEvent::AttemptRestarted { x }
        | RunEvent::FormSubmitted { x, .. }
        | RunEvent::InputGiven { x, .. }
        | RunEvent::ArtifactMade { x, .. }
        | RunEvent::WorkDone { x, .. }
        | RunEvent::Checked { x, .. }
        | RunEvent::GuidanceAsked { x, .. }
        | RunEvent::GuidanceGiven { x, .. }
        | RunEvent::BudgetAsked { x, .. }
        | RunEvent::BudgetRaised { x, .. }
        | RunEvent::CompletionAsked { x, .. }
        | RunEvent::ApprovalGiven { x, .. }
        | RunEvent::CompletionApproved { x, .. }
        | RunEvent::RevisionAsked { x, .. }
        | RunEvent::ArtifactPromoted { x, .. }
        | RunEvent::ExecutionCompleted { x, .. }
        | RunEvent::AttemptFailed { x, .. }
        | RunEvent::ExecutionFailed { x, .. }
        | RunEvent::RetryGranted { x, .. }
        | RunEvent::NoteQueued { x, .. } => Some(*x),
        RunEvent::Made { .. }
        | RunEvent::Began {}
        | RunEvent::StepSkipped { .. }
        | RunEvent::GateAsked { .. }
        | RunEvent::GateAnswered { .. }
        | RunEvent::Repeated { .. }
        | RunEvent::SkipsAdded { .. }
        | RunEvent::Joined { .. }
        | RunEvent::RoundBegan { .. }
        | RunEvent::RoundsEnded { .. }
        | RunEvent::Forked { .. }
        | RunEvent::Checkpointed { .. }
        | RunEvent::AttemptBlocked { .. }
        | RunEvent::ContextMerged { .. }
        | RunEvent::PauseAsked {}
        | RunEvent::PauseDropped {}
        | RunEvent::Paused { .. }
        | RunEvent::Resumed {}
        | RunEvent::Completed {}
        | RunEvent::Failed { .. }
        | RunEvent::Aborted { .. }
        | RunEvent::Rewound { .. }
        | RunEvent::Removed { .. }
        | RunEvent::Unwound { .. } => None,
    }
}

struct Rows<'a> {
    before: &'a RunState,
    after: &'a RunState,
    stamp: &'a Stamp<'a>,
    ids: Ids,
    artifacts: u32,
    interactions: u32,
    /// Gates whose answers are written: closing what is left does not overwrite them.
    closed: BTreeSet<GateId>,
    /// What a rollback among the events took out.
    taken_out: Option<&'a Removed>,
}

impl<'a> Rows<'a> {
    /// An execution as the events leave it, also when they take it out in the end.
    fn left(&self, x: ExecNo) -> Option<&'a Execution> {
        let taken_out = || {
            let (_, execution) = self.taken_out?.executions.iter().find(|(other, _)| *other == x)?;
            Some(execution.as_ref())
        };
        self.after.execution(x).or_else(taken_out)
    }

    fn event(&mut self, event: &RunEvent, changes: &mut Vec<RowChange>) {
        match event {
            RunEvent::StartAsked { gate, .. }
            | RunEvent::GuidanceAsked { gate, .. }
            | RunEvent::BudgetAsked { gate, .. }
            | RunEvent::CompletionAsked { gate, .. }
            | RunEvent::GateAsked { gate, .. } => self.opened(*gate, changes),
            RunEvent::AttemptBegan { opening, .. } => match opening {
                Opening::Form(gate) | Opening::Input(gate) => self.opened(*gate, changes),
                Opening::Work => {}
            },
            RunEvent::StartApproved { x, gate } => {
                self.answered(*gate, "approved", changes);
                self.said(*x, "approval_to_start", "approved", "started", changes);
            }
            RunEvent::StartRejected { x, gate, feedback } => {
                self.answered(*gate, "rejected", changes);
                let said = feedback.as_deref().unwrap_or("rejected");
                self.said(*x, "approval_to_start", said, "not started", changes);
            }
            RunEvent::FormSubmitted { gate, .. } => self.answered(*gate, "submitted", changes),
            RunEvent::InputGiven { x, gate, text, .. } => {
                self.answered(*gate, "submitted", changes);
                self.said(*x, "script_input", text, "script started", changes);
            }
            RunEvent::GuidanceGiven { x, gate, text } => {
                self.answered(*gate, "submitted", changes);
                self.said(*x, "validation_feedback", text, "attempt started", changes);
            }
            RunEvent::BudgetRaised { x, gate, by, .. } => {
                self.answered(*gate, "raised", changes);
                let measure = Measure::ALL.into_iter().find(|measure| by.get(*measure) > 0);
                let said = measure.map(|measure| measure.words(by.get(measure))).unwrap_or_default();
                self.said(*x, "budget", &format!("raise by {said}"), "work goes on", changes);
            }
            RunEvent::ApprovalGiven { x, gate } => {
                let starts = self.before.gates.get(gate).is_some_and(|g| g.kind == GateKind::ApproveStart);
                let kind = if starts { "approval_to_start" } else { "approval_to_complete" };
                self.said(*x, kind, "approved", "more approvals are needed", changes);
            }
            RunEvent::CompletionApproved { x, gate, edited, .. } => {
                self.answered(*gate, "approved", changes);
                let said = if *edited { "approved with changes" } else { "approved" };
                self.said(*x, "approval_to_complete", said, "completed", changes);
            }
            RunEvent::RevisionAsked { x, gate, feedback } => {
                self.answered(*gate, "revision", changes);
                let is_over = self.before.execution(*x).is_some_and(|e| e.revision >= e.max_revisions);
                let response = if is_over { "revisions used up, failed" } else { "revision started" };
                self.said(*x, "revision_request", feedback, response, changes);
            }
            RunEvent::GateAnswered { gate, option, .. } => {
                self.answered(*gate, option, changes);
                // Keeps the ordinals of what people said in step with the state.
                self.interactions += 1;
            }
            RunEvent::ArtifactMade { x, made } => self.made(*x, made, changes),
            RunEvent::ExecutionFailed { x, .. } => {
                if let Some(gate) = self.before.execution(*x).and_then(|e| e.state.gate()) {
                    self.answered(gate, "closed", changes);
                }
            }
            RunEvent::Completed {} | RunEvent::Failed { .. } | RunEvent::Aborted { .. } => {
                let open: Vec<GateId> = self.before.gates.keys().copied().collect();
                for gate in open.into_iter().filter(|gate| !self.after.gates.contains_key(gate)) {
                    self.answered(gate, "closed", changes);
                }
                self.put_back_waiting(changes);
            }
            RunEvent::Rewound { rollback, .. } => {
                archive::rewound(self.before, self.after, *rollback, changes);
            }
            RunEvent::Removed { rollback, .. } => {
                archive::removed(self.before, self.after, *rollback, changes);
            }
            RunEvent::Unwound { rollback } => archive::unwound(self.before, self.after, *rollback, changes),
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
            | RunEvent::RetryGranted { .. }
            | RunEvent::NoteQueued { .. }
            | RunEvent::Repeated { .. }
            | RunEvent::SkipsAdded { .. }
            | RunEvent::Joined { .. }
            | RunEvent::RoundBegan { .. }
            | RunEvent::RoundsEnded { .. }
            | RunEvent::Forked { .. }
            | RunEvent::Checkpointed { .. }
            | RunEvent::AttemptBlocked { .. }
            | RunEvent::ContextMerged { .. }
            | RunEvent::PauseAsked {}
            | RunEvent::PauseDropped {}
            | RunEvent::Paused { .. }
            | RunEvent::Resumed {} => {}
        }
    }

    fn opened(&self, gate: GateId, changes: &mut Vec<RowChange>) {
        let Some(open) = self.after.gates.get(&gate) else { return };
        let execution = open.x.and_then(|x| self.after.execution(x)).map(|e| e.id.0);
        let cells = vec![
            ("id", gate.0.into()),
            ("execution", execution.into()),
            ("kind", open.kind.name().into()),
            ("digest", open.digest.into()),
            ("open", true.into()),
            ("opened_at", open.opened_at.into()),
        ];
        changes.push(RowChange { table: Table::Gate, op: Op::Put(open.n, cells) });
    }

    fn answered(&mut self, gate: GateId, answer: &str, changes: &mut Vec<RowChange>) {
        let Some(open) = self.before.gates.get(&gate) else { return };
        if !self.closed.insert(gate) {
            return;
        }
        let cells = vec![
            ("open", false.into()),
            ("closed_at", self.stamp.at.into()),
            ("answer", answer.into()),
            ("answered_by", Cell::Text(self.stamp.actor.name.clone())),
        ];
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(open.n, cells) });
    }

    fn said(&mut self, x: ExecNo, kind: &str, said: &str, response: &str, changes: &mut Vec<RowChange>) {
        let Some(execution) = self.left(x) else { return };
        let cells = vec![
            ("id", self.ids.mint().into()),
            ("execution", execution.id.0.into()),
            ("at", self.stamp.at.into()),
            ("type", kind.into()),
            ("user_input", said.into()),
            ("system_response", response.into()),
            ("actor", Cell::Text(self.stamp.actor.name.clone())),
        ];
        changes.push(RowChange { table: Table::Interaction, op: Op::Put(self.interactions, cells) });
        self.interactions += 1;
    }

    fn made(&mut self, x: ExecNo, made: &Made, changes: &mut Vec<RowChange>) {
        let n = self.artifacts;
        self.artifacts += 1;
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
        let before = self.before.execution(x);
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
                changes.extend(execution_row(self.after, x, Some(before), after));
            }
        }
    }
}

/// The rows of an execution's outputs that changed.
pub(super) fn outputs(run: &RunState, before: &Execution, after: &Execution, changes: &mut Vec<RowChange>) {
    for old in &before.artifacts {
        let new = after.artifacts.iter().find(|output| output.n == old.n);
        let mut row = Columns::new(false);
        row.set("current", new.is_none(), || false);
        let promoted = new.and_then(|new| new.promoted_at);
        row.set("promoted_at", promoted.is_some() && promoted != old.promoted_at, || promoted);
        let path = new.map(|new| output_file(run, after, new));
        let moved = path.filter(|path| *path != output_file(run, before, old));
        row.set("path", moved.is_some(), || Cell::text_or_null(moved.as_deref()));
        changes.extend(row.into_change(Table::Artifact, old.n));
    }
}

pub(super) fn execution_row(
    run: &RunState,
    x: ExecNo,
    before: Option<&Execution>,
    after: &Execution,
) -> Option<RowChange> {
    let changed =
        |differs: fn(&Execution, &Execution) -> bool| before.is_some_and(|before| differs(before, after));
    let mut row = Columns::new(before.is_none());
    row.set("id", false, || after.id.0);
    row.set("step", false, || Cell::Text(after.place.step.0.clone()));
    row.set("position", false, || after.position);
    if after.place.visit > 1 {
        row.set("visit", false, || after.place.visit);
    }
    row.set("status", changed(|b, a| b.state.name() != a.state.name()), || after.state.name());
    row.set("attempt", changed(|b, a| b.attempt != a.attempt), || after.attempt);
    row.set("max_attempts", changed(|b, a| b.max_attempts != a.max_attempts), || after.max_attempts);
    row.set("revision", changed(|b, a| b.revision != a.revision), || after.revision);
    row.set("max_revisions", changed(|b, a| b.max_revisions != a.max_revisions), || after.max_revisions);
    if let Some(path) = output_folder(run, after) {
        row.set("output_path", false, || path.as_str());
    }
    row.set("created_at", false, || after.times.created);
    row.set("started_at", changed(|b, a| b.times.started != a.times.started), || after.times.started);
    row.set("completed_at", changed(|b, a| b.times.completed != a.times.completed), || after.times.completed);
    row.set("failed_at", changed(|b, a| b.times.failed != a.times.failed), || after.times.failed);
    row.into_change(Table::Execution, x.0)
}

fn header(id: RunId, before: &RunState, after: &RunState) -> Option<RowChange> {
    let origin = after.origin.as_ref()?;
    let mut row = Columns::new(before.origin.is_none());
    let (current_before, current) = (position_of(before), position_of(after));
    if row.fresh {
        let (kind, title, previous) = match origin {
            Origin::Pipeline { previous, .. } => ("pipeline", None, *previous),
            Origin::File { title, .. } => ("file", Some(title.clone()), None),
        };
        row.set("id", true, || id.0);
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
    row.set("current_step", current_before != current, || {
        after.current().map_or(Cell::Null, |(_, e)| Cell::Text(e.place.step.0.clone()))
    });
    row.set("position", current_before.map(|(_, p)| p) != current.map(|(_, p)| p), || {
        current.map(|(_, p)| p)
    });
    row.set("completed", before.completed != after.completed, || after.completed);
    row.set("failed", before.failed != after.failed, || after.failed);
    row.set("started_at", before.times.started != after.times.started, || after.times.started);
    row.set("completed_at", before.times.completed != after.times.completed, || after.times.completed);
    row.set("paused_at", before.times.paused != after.times.paused, || after.times.paused);
    row.set("resumed_at", before.times.resumed != after.times.resumed, || after.times.resumed);
    row.set("rollback", before.gone != after.gone, || after.gone.map(|rollback| rollback.0));
    row.into_change(Table::Run, 0)
}

fn position_of(run: &RunState) -> Option<(ExecNo, u32)> {
    run.current().map(|(x, execution)| (x, execution.position))
}
