//! What an execution waits for: exactly what, since when, who may answer, and about what.

use holdpoint_core::budget::{Reached, Scope};
use holdpoint_core::definition::InputField;
use holdpoint_core::event::Role;
use holdpoint_core::plan::body::{self, Work};
use holdpoint_core::state::run::{AskKind, Execution, Gate, RunState, RunStatus};
use holdpoint_core::{Body, Digest, GateId, Level, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Time;

/// What somebody is asked.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WaitingFor {
    /// What is asked: `start`, `approve_start`, `form`, `script_input`, `guidance`, `budget`, `approve_complete`,
    /// `choice`, or `retry` where a step has failed for good.
    pub kind: &'static str,
    /// The gate.
    pub gate_id: Option<GateId>,
    /// Since when.
    pub since: Time,
    /// Who may answer.
    pub who: Who,
    /// What was shown: a decision about it carries this.
    pub digest: Option<String>,
    /// How an answer must be proved.
    pub assurance: AssuranceNeeded,
    /// The question in words.
    pub question: String,
    /// How it is answered.
    pub actions: Vec<&'static str>,
    /// For a form: what is to be filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// For a choice, a budget or guidance: what can be picked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// For a budget: which, and what is spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReached>,
    /// For guidance: what the check complained about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// For the result of a form: what was filled in, by field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub form_data: Option<Map<String, Value>>,
    /// That it is too large to be shown here: the execution's `form_data` has it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub form_data_cut: bool,
}

/// How an answer must be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AssuranceNeeded {
    /// The weakest level that counts.
    pub minimum: Level,
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

    /// How far several approvals have come, once the first was given.
    fn progress(&self) -> Option<String> {
        let needed = self.required_approvals.filter(|_| !self.approved_by.is_empty())?;
        let given = self.approved_by.len();
        let can = |name: &&String| !self.approved_by.contains(name) && self.asked_by.as_ref() != Some(*name);
        let names: Vec<&str> = self.approvers.iter().filter(can).map(String::as_str).collect();
        let whom = if names.is_empty() { "another approver".to_owned() } else { names.join(" or ") };
        Some(format!("{given} of {needed} approved; waiting for {whom}."))
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

/// An open gate, as its row or its run's state describes it.
pub(super) struct Question {
    pub(super) kind: AskKind,
    pub(super) gate: GateId,
    pub(super) since: Timestamp,
    pub(super) digest: Digest,
    pub(super) minimum: Level,
    /// What the step is called.
    pub(super) name: String,
    pub(super) about: Asked,
}

/// What belongs to a question: the column `about` of its row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    question: Option<String>,
    options: Vec<String>,
    budget: Option<Reached>,
    reasons: Option<Vec<String>>,
    asked_by: Option<String>,
    approved_by: Vec<String>,
    form_data: Option<Map<String, Value>>,
    form_data_cut: bool,
}

impl Question {
    /// The gate that an execution has open.
    fn of(run: &RunState, id: GateId, gate: &Gate, name: &str) -> Self {
        let execution = gate.x.and_then(|x| run.execution(x)).map(AsRef::as_ref);
        let about = holdpoint_core::project::about(run, gate, execution);
        Self {
            kind: gate.ask.kind(),
            gate: id,
            since: gate.opened_at,
            digest: gate.digest,
            minimum: gate.minimum,
            name: name.to_owned(),
            // Written by this program, so that it can be read.
            about: serde_json::from_value(about).unwrap_or_default(),
        }
    }
}

/// What an execution waits for. A step of a paused run is started by resuming the run.
pub(super) fn waiting_for(
    run: &RunState,
    execution: &Execution,
    name: &str,
    body: Option<&Body>,
) -> Option<WaitingFor> {
    if !run.status.is_active() {
        return None;
    }
    let id = execution.gate?;
    let gate = run.gates.get(&id)?;
    let question = Question::of(run, id, gate, name);
    is_answerable(question.kind, run.status.name()).then(|| asked(question, body))
}

/// Whether a gate can be answered while its run has a status.
pub(super) fn is_answerable(kind: AskKind, status: &str) -> bool {
    kind != AskKind::Begin || status == RunStatus::InProgress.name()
}

/// What a question asks; one of the plan itself has no body.
pub(super) fn asked(question: Question, body: Option<&Body>) -> WaitingFor {
    let Question { kind, gate, since, digest, minimum, name, about } = question;
    let (mut words, actions) = words(kind, &name, &about, body);
    let who = who(kind, &about, body);
    words.extend(who.progress().map(|progress| format!(" {progress}")));
    let form = body.and_then(Body::form);
    let picks = matches!(kind, AskKind::Choice | AskKind::Budget | AskKind::Guidance);
    WaitingFor {
        kind: kind.name(),
        gate_id: Some(gate),
        since: since.into(),
        who,
        digest: Some(digest.checksum()),
        assurance: AssuranceNeeded { minimum },
        question: words,
        actions,
        form: form.filter(|_| kind == AskKind::Form).map(|form| Form {
            instructions: form.instructions.to_string(),
            input_fields: form.fields.clone(),
        }),
        options: if picks { about.options } else { Vec::new() },
        budget: about.budget.as_ref().map(BudgetReached::from),
        reasons: about.reasons.unwrap_or_default(),
        form_data: about.form_data.filter(|_| !about.form_data_cut),
        form_data_cut: about.form_data_cut,
    }
}

/// The question in words, and how it is answered.
fn words(kind: AskKind, name: &str, about: &Asked, body: Option<&Body>) -> (String, Vec<&'static str>) {
    match kind {
        AskKind::Begin => (format!("“{name}” waits to be started."), vec!["start"]),
        AskKind::Start => (format!("May “{name}” begin?"), vec!["approve-start", "reject"]),
        AskKind::Result => (format!("Is the result of “{name}” good?"), vec!["approve-complete", "reject"]),
        AskKind::Form => (format!("“{name}” has a form to fill in."), vec!["submit"]),
        AskKind::Input => (script_question(name, body), vec!["submit"]),
        AskKind::Guidance => (
            format!("The result of “{name}” did not pass its check. What should be done?"),
            vec!["submit", "answer"],
        ),
        AskKind::Budget => (budget_question(about), vec!["answer", "submit", "cancel"]),
        AskKind::Choice => (about.question.clone().unwrap_or_default(), vec!["answer"]),
        AskKind::Failed => (
            format!("“{name}” has failed. Try again, roll back, or give the run up?"),
            vec!["retry", "rollback", "fail"],
        ),
        AskKind::Blocked => (format!("The output of “{name}” was refused too often."), vec!["answer"]),
    }
}

/// Who may answer a question.
fn who(kind: AskKind, about: &Asked, body: Option<&Body>) -> Who {
    let role = holdpoint_core::permission::answers(kind);
    let Some(approval) = body.and_then(|body| approval(kind, &body.policy)) else { return Who::with(role) };
    let several = approval.needed > 1;
    Who {
        approvers: approval.approvers.iter().map(ToString::to_string).collect(),
        required_approvals: several.then_some(approval.needed),
        approved_by: about.approved_by.clone(),
        asked_by: about.asked_by.clone().filter(|_| several),
        ..Who::with(role)
    }
}

/// The approval that a question asks for.
fn approval(kind: AskKind, policy: &body::Policy) -> Option<&body::Approval> {
    match kind {
        AskKind::Start => Some(&policy.approve_start),
        AskKind::Result => Some(&policy.approve_complete),
        AskKind::Begin
        | AskKind::Form
        | AskKind::Input
        | AskKind::Guidance
        | AskKind::Budget
        | AskKind::Choice
        | AskKind::Failed
        | AskKind::Blocked => None,
    }
}

fn budget_question(about: &Asked) -> String {
    let Some(Reached { scope, measure, limit, spent }) = &about.budget else { return String::new() };
    let (limit, spent) = (measure.words(*limit), measure.words(*spent));
    format!("The budget of this {} is used up: {spent} of {limit}. Raise it by how much?", scope.name())
}

fn script_question(name: &str, body: Option<&Body>) -> String {
    let question = body.and_then(|body| match &body.work {
        Work::Script(script) => script.question.as_deref(),
        Work::Form(_) | Work::Agents(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => None,
    });
    question.map_or_else(|| format!("“{name}” asks for input."), str::to_owned)
}
