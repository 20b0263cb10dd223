//! Rows of gates and of what people said.

use serde_json::{Map, Value, json};

use super::run::Rows;
use crate::asks::options;
use crate::digest::canonical;
use crate::event::Text;
use crate::rows::{Cell, Cells, Op, RowChange, Table};
use crate::state::RunState;
use crate::state::run::{Ask, AskKind, Execution, Gate};
use crate::{ExecNo, GateId};

/// The largest form whose values are repeated in the row of its submission.
const LARGEST_SAID: usize = 4096;

impl Rows<'_> {
    /// A gate was opened. The row is made from the event: the gate may be closed again by the same command.
    pub(super) fn opened(&mut self, id: GateId, gate: Gate, changes: &mut Vec<RowChange>) {
        let execution = gate.x.and_then(|x| self.left(x));
        let name = execution.and_then(|e| e.name.clone()).unwrap_or_else(|| gate.place.step.0.clone());
        let mut cells = vec![
            ("id", id.0.into()),
            ("execution", execution.map(|e| e.id.0).into()),
            ("kind", gate.ask.kind().name().into()),
            ("pipeline", self.after.pipeline().map(|pipeline| pipeline.0).into()),
            ("step", Cell::Text(gate.place.step.0.clone())),
            ("name", Cell::Text(name)),
            ("position", execution.map(|e| e.position).into()),
            ("body", execution.and_then(|e| e.body).into()),
            ("about", Cell::from(&about(self.after, &gate, execution))),
            ("digest", gate.digest.into()),
            ("minimum", gate.minimum.name().into()),
            ("expires_at", gate.expires.into()),
            ("opened_at", gate.opened_at.into()),
        ];
        cells.extend(openness(self.after, true));
        changes.push(RowChange { table: Table::Gate, op: Op::Put(gate.n, cells) });
        if let Some(x) = gate.x {
            self.asking.insert(x, id);
        }
        self.opened.insert(id, gate);
    }

    /// A gate as it was before the command, or as the command opened it.
    pub(super) fn gate(&self, id: GateId) -> Option<&Gate> {
        self.opened.get(&id).or_else(|| self.before.gates.get(&id).map(AsRef::as_ref))
    }

    /// What a gate asks.
    pub(super) fn kind(&self, id: GateId) -> Option<AskKind> {
        self.gate(id).map(|gate| gate.ask.kind())
    }

    /// A step that waited to be started has begun, or asks for more: that is the answer.
    pub(super) fn begin_answered(&mut self, x: ExecNo, changes: &mut Vec<RowChange>) {
        let before = || self.before.execution(x).and_then(|e| e.gate);
        let Some(gate) = self.asking.get(&x).copied().or_else(before) else { return };
        if self.kind(gate) == Some(AskKind::Begin) && !self.closed.contains(&gate) {
            self.answered(gate, "started", changes);
            self.said(Some(x), "start", "start", "started", changes);
        }
    }

    pub(super) fn answered(&mut self, gate: GateId, answer: &str, changes: &mut Vec<RowChange>) {
        let Some(n) = self.gate(gate).map(|gate| gate.n) else { return };
        if !self.closed.insert(gate) {
            return;
        }
        let mut cells = vec![
            ("closed_at", self.stamp.at.into()),
            ("answer", answer.into()),
            ("answered_by", Cell::Text(self.stamp.actor.name.clone())),
        ];
        cells.extend(openness(self.after, false));
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(n, cells) });
    }

    /// Somebody approved, and more must.
    pub(super) fn approved_by_one(&mut self, id: GateId, changes: &mut Vec<RowChange>) {
        let Some(gate) = self.after.gates.get(&id) else { return };
        let execution = gate.x.and_then(|x| self.left(x));
        let cells = vec![("about", Cell::from(&about(self.after, gate, execution)))];
        changes.push(RowChange { table: Table::Gate, op: Op::Patch(gate.n, cells) });
    }

    /// Writes down what somebody said; a choice of the plan belongs to no execution.
    pub(super) fn said(
        &mut self,
        x: Option<ExecNo>,
        kind: &str,
        said: &str,
        response: &str,
        changes: &mut Vec<RowChange>,
    ) {
        let execution = x.and_then(|x| self.left(x)).map(|execution| execution.id.0);
        let cells = vec![
            ("id", self.ids.mint().into()),
            ("execution", execution.into()),
            ("at", self.stamp.at.into()),
            ("type", kind.into()),
            ("user_input", said.into()),
            ("system_response", response.into()),
            ("actor", Cell::Text(self.stamp.actor.name.clone())),
        ];
        changes.push(RowChange { table: Table::Interaction, op: Op::Put(self.interactions, cells) });
        self.interactions += 1;
    }

    /// A form, or a text that was asked for.
    pub(super) fn submitted(
        &mut self,
        x: ExecNo,
        gate: GateId,
        fields: &Map<String, Value>,
        text: Option<&Text>,
        changes: &mut Vec<RowChange>,
    ) {
        let text = text.map_or("", |text| text.as_ref());
        let kind = self.kind(gate);
        self.answered(gate, "submitted", changes);
        match kind {
            Some(AskKind::Form) => {
                let written = Value::Object(fields.clone()).to_string();
                let short = format!("{} fields", fields.len());
                let said = if written.len() <= LARGEST_SAID { written } else { short };
                self.said(Some(x), "form", &said, "submitted", changes);
            }
            Some(AskKind::Guidance) => {
                self.said(Some(x), "validation_feedback", text, "attempt started", changes);
            }
            Some(_) | None => self.said(Some(x), "script_input", text, "script started", changes),
        }
    }

    /// A start or a result was approved, or a result that failed its check was accepted.
    pub(super) fn approved(&mut self, x: ExecNo, gate: GateId, edited: bool, changes: &mut Vec<RowChange>) {
        let kind = self.kind(gate);
        match kind {
            Some(AskKind::Start) => {
                self.answered(gate, "approved", changes);
                self.said(Some(x), "approval_to_start", "approved", "started", changes);
            }
            Some(AskKind::Guidance) => {
                self.answered(gate, "accepted", changes);
                self.said(Some(x), "validation_feedback", "accepted", "accepted as it is", changes);
            }
            Some(_) | None => {
                self.answered(gate, "approved", changes);
                let said = if edited { "approved with changes" } else { "approved" };
                self.said(Some(x), "approval_to_complete", said, "completed", changes);
            }
        }
    }

    /// A start was rejected, or work was stopped.
    pub(super) fn rejected(
        &mut self,
        x: ExecNo,
        gate: GateId,
        feedback: Option<&Text>,
        changes: &mut Vec<RowChange>,
    ) {
        let said = feedback.map(AsRef::as_ref);
        match self.kind(gate) {
            Some(AskKind::Guidance) => {
                self.answered(gate, "stopped", changes);
                self.said(Some(x), "validation_feedback", said.unwrap_or("stop"), "stopped", changes);
            }
            Some(AskKind::Budget) => {
                self.answered(gate, "stopped", changes);
                self.said(Some(x), "budget", said.unwrap_or("stop"), "stopped", changes);
            }
            Some(_) | None => {
                self.answered(gate, "rejected", changes);
                let said = said.unwrap_or("rejected");
                self.said(Some(x), "approval_to_start", said, "not started", changes);
            }
        }
    }
}

/// The columns that find open gates, also by their pipeline.
pub(super) fn openness(run: &RunState, open: bool) -> Cells {
    let pipeline = run.pipeline().filter(|_| open).map(|pipeline| pipeline.0);
    vec![("open", open.into()), ("open_in", pipeline.into())]
}

/// The largest form data, as JSON, that stands in a question's row; the execution has all of it.
const MAX_FORM_DATA: usize = 16 * 1024;

/// What the inbox shows of a gate beside its columns.
pub fn about(run: &RunState, gate: &Gate, execution: Option<&Execution>) -> Value {
    let mut about = json!({ "options": options(&gate.ask, run.pipeline().is_some()) });
    let asked_by = match &gate.ask {
        Ask::Start => run.started_by.as_ref(),
        Ask::Result => execution.and_then(|e| e.author.as_ref()),
        Ask::Begin
        | Ask::Form
        | Ask::Input
        | Ask::Guidance
        | Ask::Budget(..)
        | Ask::Choice(_)
        | Ask::Failed
        | Ask::Blocked => None,
    };
    if let Some(asked_by) = asked_by {
        about["asked_by"] = json!(asked_by);
    }
    if !gate.approvals.is_empty() {
        about["approved_by"] = json!(gate.approvals);
    }
    // What is approved may be in no output.
    if let (Ask::Result, Some(execution)) = (&gate.ask, execution)
        && !execution.fields.is_empty()
    {
        let fits = canonical(&execution.fields).len() <= MAX_FORM_DATA;
        about["form_data"] = if fits { json!(execution.fields) } else { json!({}) };
        about["form_data_cut"] = json!(!fits);
    }
    match &gate.ask {
        Ask::Choice(choice) => about["question"] = json!(choice.prompt),
        Ask::Budget(reached, _) => about["budget"] = json!(reached),
        Ask::Failed => {
            about["reasons"] =
                json!(execution.and_then(|e| e.last_error.as_ref()).map(|(_, f)| [&f.message]));
        }
        Ask::Begin | Ask::Start | Ask::Form | Ask::Input | Ask::Guidance | Ask::Result | Ask::Blocked => {
            if let Some((false, reasons)) = execution.and_then(|e| e.verdict.as_ref()) {
                about["reasons"] = json!(reasons);
            }
        }
    }
    about
}
