//! Rows of gates and of what people said.

use super::run::Rows;
use crate::rows::{Cell, Op, RowChange, Table};
use crate::{ExecNo, GateId};

impl Rows<'_> {
    pub(super) fn opened(&self, gate: GateId, changes: &mut Vec<RowChange>) {
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

    pub(super) fn answered(&mut self, gate: GateId, answer: &str, changes: &mut Vec<RowChange>) {
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

    pub(super) fn said(
        &mut self,
        x: ExecNo,
        kind: &str,
        said: &str,
        response: &str,
        changes: &mut Vec<RowChange>,
    ) {
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
}
