//! Folding questions put to people, and their answers.

use std::sync::Arc;

use super::{Gate, GateKind, NodeKind, RunState};
use crate::budget::{Amounts, Reached, Scope};
use crate::event::Place;
use crate::plan::Choice;
use crate::state::Stamp;
use crate::{BranchNo, Digest, ExecNo, GateId, Timestamp};

use super::{ExecutionState, Part, Stage};

impl RunState {
    pub(super) fn open(
        &mut self,
        id: GateId,
        kind: GateKind,
        x: Option<ExecNo>,
        digest: Option<Digest>,
        at: Timestamp,
    ) {
        let revision = x.and_then(|x| self.execution(x)).map_or(0, |e| e.revision);
        let gate = Gate {
            n: self.rows.gates,
            kind,
            x,
            revision,
            digest,
            opened_at: at,
            budget: None,
            approvals: Vec::new(),
            choice: None,
        };
        self.put_gate(id, gate);
    }

    pub(super) fn close(&mut self, gate: &GateId) {
        self.gates.remove(gate);
    }

    /// Closes all questions of an execution.
    pub(super) fn close_of(&mut self, x: ExecNo) {
        if let Some(gate) = self.execution(x).and_then(|e| e.state.gate()) {
            self.gates.remove(&gate);
        }
    }

    fn put_gate(&mut self, id: GateId, gate: Gate) {
        self.rows.gates += 1;
        self.gates.insert(id, Arc::new(gate));
    }

    pub(super) fn ask_about_budget(
        &mut self,
        x: ExecNo,
        gate: GateId,
        reached: Reached,
        check: bool,
        at: Timestamp,
    ) {
        self.stop_work(x);
        self.open(gate, GateKind::Budget, Some(x), None, at);
        if let Some(gate) = self.gates.get_mut(&gate) {
            Arc::make_mut(gate).budget = Some((reached, check));
        }
        self.edit(x, |e| e.state = ExecutionState::Working(Stage::Budget(gate)));
    }

    pub(super) fn raise_budget(
        &mut self,
        x: ExecNo,
        gate: GateId,
        scope: Scope,
        by: Amounts,
        check: bool,
        deadline: Option<Timestamp>,
    ) {
        self.close(&gate);
        self.rows.interactions += 1;
        match scope {
            Scope::Execution => self.edit(x, |e| e.raised = e.raised.plus(by)),
            Scope::Run => self.raised = self.raised.plus(by),
            // What all runs may spend together is kept in the pipeline's state.
            Scope::Pipeline => {}
        }
        self.owe(x, if check { Part::Check } else { Part::Work }, deadline);
    }

    pub(super) fn ask_choice(
        &mut self,
        gate: GateId,
        branch: BranchNo,
        place: &Place,
        choice: &Arc<Choice>,
        stamp: &Stamp<'_>,
    ) {
        let asked = Gate {
            n: self.rows.gates,
            kind: GateKind::Choice,
            x: None,
            revision: 0,
            digest: None,
            opened_at: stamp.at,
            budget: None,
            approvals: Vec::new(),
            choice: Some((branch, place.clone(), choice.clone())),
        };
        self.put_gate(gate, asked);
        self.graph.ask(branch, gate, place, stamp.command);
    }

    pub(super) fn answer_choice(&mut self, gate: GateId, stamp: &Stamp<'_>) {
        let Some(asked) = self.gates.remove(&gate) else { return };
        self.rows.interactions += 1;
        if let Some((branch, place, _)) = &asked.choice {
            let node = NodeKind::Gate(gate, place.clone(), stamp.at);
            self.graph.add_node(*branch, node, stamp.command);
        }
    }
}
