//! Folding gates and their answers.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{AckTo, Ask, AskKind, ExecutionState, Gate, NodeKind, Part, RunState, Stage};
use crate::assurance::Level;
use crate::budget::{Amounts, Scope};
use crate::event::{Place, Text};
use crate::plan::{Choice, ChoiceAction};
use crate::state::Stamp;
use crate::{BranchNo, Digest, ExecNo, GateId, Timestamp};

/// What an event says of a gate that an execution opens.
pub(super) struct Opened<'a> {
    pub gate: GateId,
    pub ask: &'a Ask,
    pub digest: Digest,
    pub minimum: Level,
    pub expires: Option<Timestamp>,
}

impl RunState {
    /// An execution opens a gate. The one that it had open before is answered by this: a step that was started by
    /// hand and needs an approval asks for it.
    pub(super) fn ask(&mut self, x: ExecNo, opened: &Opened<'_>, at: Timestamp) {
        self.answer_begin(x);
        match opened.ask.kind() {
            AskKind::Form | AskKind::Input | AskKind::Budget => self.stop_work(x),
            AskKind::Result => self.settle(x, Part::Work),
            AskKind::Begin
            | AskKind::Start
            | AskKind::Guidance
            | AskKind::Choice
            | AskKind::Failed
            | AskKind::Blocked => {}
        }
        let Some(execution) = self.execution(x) else { return };
        let gate = Gate {
            n: self.rows.gates,
            branch: execution.branch,
            place: execution.place.clone(),
            x: Some(x),
            revision: execution.revision,
            ask: opened.ask.clone(),
            shown: Vec::new(),
            digest: opened.digest,
            minimum: opened.minimum,
            expires: opened.expires,
            opened_at: at,
            approvals: Vec::new(),
        };
        self.put_gate(opened.gate, gate);
        let (id, kind) = (opened.gate, opened.ask.kind());
        self.edit(x, |e| {
            e.gate = Some(id);
            match kind {
                // A client's step waits to be started by hand too.
                AskKind::Begin if e.outside => e.state = ExecutionState::Pending,
                AskKind::Start => e.state = ExecutionState::AwaitingStart,
                AskKind::Form => e.state = ExecutionState::Working(Stage::Form),
                AskKind::Input => {
                    e.state = ExecutionState::Working(Stage::Input);
                    e.input = None;
                }
                AskKind::Guidance => e.state = ExecutionState::Working(Stage::Guidance),
                AskKind::Budget => e.state = ExecutionState::Working(Stage::Budget),
                AskKind::Result => e.state = ExecutionState::AwaitingComplete,
                AskKind::Begin | AskKind::Choice | AskKind::Failed | AskKind::Blocked => {}
            }
        });
        match kind {
            AskKind::Result | AskKind::Blocked => self.acknowledge(x, AckTo::Waiting(id)),
            AskKind::Begin
            | AskKind::Start
            | AskKind::Form
            | AskKind::Input
            | AskKind::Guidance
            | AskKind::Budget
            | AskKind::Choice
            | AskKind::Failed => {}
        }
    }

    /// A step that waited to be started has begun, or asks for more.
    pub(super) fn answer_begin(&mut self, x: ExecNo) {
        let Some(id) = self.execution(x).and_then(|e| e.gate) else { return };
        if self.gates.get(&id).is_some_and(|gate| gate.ask.kind() == AskKind::Begin) {
            self.answered(id);
        }
    }

    /// A person has answered a gate of an execution.
    pub(super) fn answered(&mut self, gate: GateId) {
        self.close(gate);
        self.rows.interactions += 1;
    }

    fn close(&mut self, gate: GateId) {
        let Some(closed) = self.gates.remove(&gate) else { return };
        self.graph.current = closed.branch;
        if let Some(x) = closed.x {
            self.edit(x, |e| e.gate = None);
        }
    }

    /// Closes the gate of an execution.
    pub(super) fn close_of(&mut self, x: ExecNo) {
        if let Some(gate) = self.execution(x).and_then(|e| e.gate) {
            self.close(gate);
        }
    }

    fn put_gate(&mut self, id: GateId, gate: Gate) {
        self.rows.gates += 1;
        self.gates.insert(id, Arc::new(gate));
    }

    fn kind_of(&self, gate: GateId) -> Option<AskKind> {
        self.gates.get(&gate).map(|gate| gate.ask.kind())
    }

    /// A person said no: a step that may not begin waits until it is started by hand.
    pub(super) fn rejected(&mut self, x: ExecNo, gate: GateId) {
        let starts = self.kind_of(gate) == Some(AskKind::Start);
        self.answered(gate);
        if starts {
            self.edit(x, |e| {
                e.state = ExecutionState::Pending;
                e.held_back = true;
            });
        }
    }

    /// A person filled in a form or gave a text.
    pub(super) fn submitted(
        &mut self,
        x: ExecNo,
        gate: GateId,
        fields: &Map<String, Value>,
        text: Option<&Text>,
        deadline: Option<Timestamp>,
        by: Option<Text>,
    ) {
        let kind = self.kind_of(gate);
        self.answered(gate);
        match kind {
            Some(AskKind::Form) => self.edit(x, |e| {
                e.author = by;
                e.fields = fields.clone();
            }),
            Some(AskKind::Input) => {
                self.edit(x, |e| e.input = text.cloned());
                self.owe(x, Part::Work, deadline);
            }
            Some(AskKind::Guidance) => self.edit(x, |e| e.feedback.extend(text.cloned())),
            Some(
                AskKind::Begin
                | AskKind::Start
                | AskKind::Budget
                | AskKind::Result
                | AskKind::Choice
                | AskKind::Failed
                | AskKind::Blocked,
            )
            | None => {}
        }
    }

    pub(super) fn raise_budget(
        &mut self,
        x: ExecNo,
        gate: GateId,
        scope: Scope,
        by: Amounts,
        deadline: Option<Timestamp>,
    ) {
        let part = match self.gates.get(&gate).map(|gate| &gate.ask) {
            Some(Ask::Budget(_, part)) => *part,
            Some(_) | None => Part::Work,
        };
        self.answered(gate);
        match scope {
            Scope::Execution => self.edit(x, |e| e.raised = e.raised.plus(by)),
            Scope::Run => self.raised = self.raised.plus(by),
            // What all runs may spend together is kept in the pipeline's state.
            Scope::Pipeline => {}
        }
        self.owe(x, part, deadline);
    }

    /// The plan asks.
    pub(super) fn ask_choice(
        &mut self,
        opened: &Opened<'_>,
        branch: BranchNo,
        place: &Place,
        stamp: &Stamp<'_>,
    ) {
        let asked = Gate {
            n: self.rows.gates,
            branch,
            place: place.clone(),
            x: None,
            revision: 0,
            ask: opened.ask.clone(),
            shown: Vec::new(),
            digest: opened.digest,
            minimum: opened.minimum,
            expires: opened.expires,
            opened_at: stamp.at,
            approvals: Vec::new(),
        };
        self.put_gate(opened.gate, asked);
        self.graph.ask(branch, opened.gate, place, stamp.command);
    }

    /// A gate of the plan was answered. It makes a node, except where the run pauses at the gate: its place is still
    /// to do, and resuming asks anew.
    pub(super) fn answer_choice(&mut self, gate: GateId, option: &Text, stamp: &Stamp<'_>) {
        let Some(asked) = self.gates.remove(&gate) else { return };
        self.rows.interactions += 1;
        if let Some(x) = asked.x {
            // A refused result: the client tries again, unless what follows says otherwise.
            self.edit(x, |e| (e.gate, e.blocks) = (None, 0));
            let call = self.execution(x).and_then(|e| e.handed.as_ref()?.call);
            if let Some(node) = call.and_then(|call| call.blocked) {
                self.acknowledge(x, AckTo::Node(node));
            }
            return;
        }
        let Ask::Choice(choice) = &asked.ask else { return };
        if pauses(choice, option) {
            self.graph.edit_branch(asked.branch, |branch| {
                branch.asking.remove(&gate);
            });
            return;
        }
        let node = NodeKind::Gate(gate, asked.place.clone(), stamp.at);
        self.graph.add_node(asked.branch, node, None, stamp.command);
    }
}

fn pauses(choice: &Choice, label: &Text) -> bool {
    choice.options.iter().any(|option| option.label == *label && option.action == ChoiceAction::Pause)
}
