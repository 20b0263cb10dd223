//! What an execution waits for: exactly what, since when, who may answer, and about what.

use std::sync::Arc;

use holdpoint_core::budget::{Reached, Scope};
use holdpoint_core::commands::answer_gate::BUDGET;
use holdpoint_core::definition::{CheckpointDefinition, InputField};
use holdpoint_core::event::Role;
use holdpoint_core::state::run::{Execution, ExecutionState, Gate, GateKind, RunState, RunStatus};
use holdpoint_core::{Digest, GateId};
use serde::Serialize;
use utoipa::ToSchema;

use super::Time;

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WaitingFor {
    /// What is asked: `start`, `approve_start`, `form`, `script_input`, `guidance`, `budget`, `approve_complete`,
    /// `choice`, or `retry` where a step has failed for good.
    pub kind: &'static str,
    /// The question; none where nothing but an action is waited for.
    pub gate_id: Option<GateId>,
    /// Since when.
    pub since: Time,
    /// Who may answer.
    pub who: Who,
    /// What was shown: a decision about it carries this.
    pub digest: Option<String>,
    /// The question in words.
    pub question: String,
    /// How it is answered.
    pub actions: Vec<&'static str>,
    /// For a form: what is to be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// For a choice or a budget: what can be picked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// For a budget: which, and what is spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReached>,
    /// For guidance: what the check complained about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// A budget that is used up.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BudgetReached {
    /// Whose: `execution`, `run` or `pipeline`.
    pub scope: Scope,
    /// Of what, in whose unit the numbers are: `tokens`, `cost_usd` or `minutes`.
    pub measure: &'static str,
    /// What it was, with all that it had been raised by.
    pub limit: f64,
    /// What is spent.
    pub spent: f64,
}

impl From<&Reached> for BudgetReached {
    fn from(reached: &Reached) -> Self {
        let Reached { scope, measure, limit, spent } = *reached;
        let (limit, spent) = (measure.written(limit), measure.written(spent));
        Self { scope, measure: measure.name(), limit, spent }
    }
}

/// Who may answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Who {
    /// The least role.
    #[schema(value_type = String)]
    pub role: Role,
    /// Only these, by name, where the definition names some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// How many must approve, where one is not enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_approvals: Option<u32>,
    /// Who has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// Who cannot, having asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
}

impl Who {
    fn with(role: Role) -> Self {
        Self {
            role,
            approvers: Vec::new(),
            required_approvals: None,
            approved_by: Vec::new(),
            asked_by: None,
        }
    }
}

/// A form to fill in.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Form {
    /// What people are told.
    pub instructions: String,
    /// The fields.
    pub input_fields: Vec<InputField>,
}

/// What the definition says that matters for a question.
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) definition: Option<&'a Arc<CheckpointDefinition>>,
}

pub(super) fn waiting_for(run: &RunState, execution: &Execution, about: &About<'_>) -> Option<WaitingFor> {
    if !run.status.is_active() {
        return None;
    }
    if let Some(id) = execution.state.gate() {
        let gate = run.gates.get(&id)?;
        return Some(asked(run, id, gate, about));
    }
    match execution.state {
        ExecutionState::Pending if run.status == RunStatus::InProgress => Some(WaitingFor {
            kind: "start",
            gate_id: None,
            since: execution.times.created.into(),
            who: Who::with(Role::Operator),
            digest: None,
            question: format!("“{}” waits to be started.", about.name),
            actions: vec!["start"],
            form: None,
            options: Vec::new(),
            budget: None,
            reasons: Vec::new(),
        }),
        ExecutionState::Failed if run.status == RunStatus::Paused => Some(WaitingFor {
            kind: "retry",
            gate_id: None,
            since: execution.times.failed.unwrap_or(execution.times.created).into(),
            who: Who::with(Role::Operator),
            digest: None,
            question: format!("“{}” has failed. Try again, roll back, or give the run up?", about.name),
            actions: vec!["retry", "rollback", "fail"],
            form: None,
            options: Vec::new(),
            budget: None,
            reasons: execution.last_error.iter().map(|(_, error)| error.message.to_string()).collect(),
        }),
        ExecutionState::Pending
        | ExecutionState::Failed
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::Working(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed => None,
    }
}

/// What a question asks; one of the plan itself belongs to no execution.
pub(super) fn asked(run: &RunState, id: GateId, gate: &Gate, about: &About<'_>) -> WaitingFor {
    let execution = gate.x.and_then(|x| run.execution(x)).map(AsRef::as_ref);
    let name = about.name;
    let (question, actions): (String, Vec<&'static str>) = match gate.kind {
        GateKind::ApproveStart => (format!("May “{name}” begin?"), vec!["approve-start", "reject"]),
        GateKind::ApproveComplete => {
            (format!("Is the result of “{name}” good?"), vec!["approve-complete", "reject"])
        }
        GateKind::Form => (format!("“{name}” has a form to fill in."), vec!["submit"]),
        GateKind::Input => (script_question(about), vec!["submit"]),
        GateKind::Guidance => {
            (format!("The result of “{name}” did not pass its check. What should be done?"), vec!["submit"])
        }
        GateKind::Budget => (budget_question(gate), vec!["answer", "submit", "cancel"]),
        GateKind::Choice => (
            gate.choice.as_ref().map_or_else(String::new, |(_, _, choice)| choice.prompt.to_string()),
            vec!["answer"],
        ),
    };
    let config = about.definition.and_then(|definition| definition.execution.human_only_config.as_ref());
    WaitingFor {
        kind: gate.kind.name(),
        gate_id: Some(id),
        since: gate.opened_at.into(),
        who: who(run, gate, execution, about),
        digest: gate.digest.as_ref().map(Digest::checksum),
        question,
        actions,
        form: config.filter(|_| gate.kind == GateKind::Form).map(|config| Form {
            instructions: config.instructions.clone(),
            input_fields: config.input_fields.clone(),
        }),
        options: options(gate),
        budget: gate.budget.map(|(reached, _)| BudgetReached::from(&reached)),
        reasons: match execution.and_then(|e| e.verdict.as_ref()) {
            Some((false, reasons)) => reasons.iter().map(ToString::to_string).collect(),
            Some((true, _)) | None => Vec::new(),
        },
    }
}

/// Who may answer a question.
fn who(run: &RunState, gate: &Gate, execution: Option<&Execution>, about: &About<'_>) -> Who {
    let asked_by = match gate.kind {
        GateKind::Form | GateKind::Input => return Who::with(Role::Operator),
        GateKind::Guidance | GateKind::Budget | GateKind::Choice => return Who::with(Role::Approver),
        GateKind::ApproveStart => run.started_by.as_ref(),
        GateKind::ApproveComplete => execution.and_then(|e| e.author.as_ref()),
    };
    let Some(people) = about.definition.map(|definition| &definition.human_interaction) else {
        return Who::with(Role::Approver);
    };
    let several = people.required_approvals > 1;
    Who {
        approvers: people.approvers.clone(),
        required_approvals: several.then_some(people.required_approvals),
        approved_by: gate.approvals.iter().map(ToString::to_string).collect(),
        asked_by: asked_by.filter(|_| several).map(ToString::to_string),
        ..Who::with(Role::Approver)
    }
}

/// What can be picked.
fn options(gate: &Gate) -> Vec<String> {
    if gate.kind == GateKind::Budget {
        return BUDGET.map(ToOwned::to_owned).to_vec();
    }
    let choice = gate.choice.as_ref().map(|(_, _, choice)| choice);
    choice.map_or_else(Vec::new, |c| c.options.iter().map(|option| option.label.to_string()).collect())
}

fn budget_question(gate: &Gate) -> String {
    let Some((reached, _)) = &gate.budget else { return String::new() };
    let Reached { scope, measure, limit, spent } = reached;
    let (limit, spent) = (measure.words(*limit), measure.words(*spent));
    format!("The budget of this {} is used up: {spent} of {limit}. Raise it by how much?", scope.name())
}

fn script_question(about: &About<'_>) -> String {
    let script = about.definition.and_then(|definition| definition.execution.script_config.as_ref());
    script
        .and_then(|script| script.user_input_prompt.clone())
        .unwrap_or_else(|| format!("“{}” asks for input.", about.name))
}
