//! Answers a gate of the plan: goes on, repeats, leaves out, or ends.

use super::wrong_run;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{RunEvent, Text};
use crate::flow;
use crate::plan::ChoiceAction;
use crate::state::run::RunStatus;
use crate::{GateId, Rejection, RunId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AnswerGate {
    /// The question.
    pub gate: GateId,
    /// The label that was picked.
    pub option: Text,
    /// What the person added.
    pub feedback: Option<Text>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &AnswerGate) -> Result<(), Rejection> {
    draft.require_person()?;
    let state = draft.run(run)?;
    if state.status != RunStatus::InProgress {
        return Err(wrong_run(draft, run, "answer")?);
    }
    let missing = || Rejection::NotFound { what: "open gate", id: command.gate.to_string() };
    let gate = state.gates.get(&command.gate).cloned().ok_or_else(missing)?;
    let (place, choice) = gate.choice.as_ref().ok_or_else(missing)?;
    let Some(option) = choice.options.iter().find(|option| option.label == command.option) else {
        let labels: Vec<_> = choice.options.iter().map(|option| &*option.label).collect();
        let fault = Fault::at("/option", format!("one of: {}", labels.join(", ")));
        return Err(Rejection::Invalid(vec![fault]));
    };
    draft.on_run(
        run,
        RunEvent::GateAnswered {
            gate: command.gate,
            option: command.option.clone(),
            feedback: command.feedback.clone(),
        },
    );
    match &option.action {
        ChoiceAction::Continue => flow::step_done(draft, run, place),
        ChoiceAction::Skip(steps) => {
            draft.on_run(run, RunEvent::SkipsAdded { branch: place.branch, steps: steps.clone() });
            flow::step_done(draft, run, place)
        }
        ChoiceAction::Repeat(step) => flow::repeat(draft, run, place, step),
        ChoiceAction::Abort => super::abort_run::decide(draft, run, command.feedback.as_ref()),
    }
}
