//! What people are asked, and what each answer makes happen: one file per question.

mod approvals;
pub mod begin;
pub mod blocked;
pub mod budget;
pub mod choice;
pub mod failed;
pub mod form;
pub mod guidance;
pub mod input;
pub mod result;
pub mod start;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::advance::body_of;
use crate::assurance::{Assurance, Level};
use crate::command::Answer;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::RunEvent;
use crate::state::run::{Ask, AskKind, Execution, ExecutionState, Gate, Shown};
use crate::{Digest, ExecNo, GateId, Rejection, RunId};

/// An open gate and the answer that came to it.
pub(crate) struct Answered<'a> {
    pub run: RunId,
    pub id: GateId,
    pub gate: Arc<Gate>,
    pub answer: &'a Answer,
    pub assurance: Assurance,
    pub in_pipeline: bool,
}

impl Answered<'_> {
    /// The execution that asks.
    fn x(&self) -> Result<ExecNo, Rejection> {
        self.gate.x.ok_or(Rejection::NotFound { what: "execution of gate", id: self.id.to_string() })
    }

    /// The option that was picked is none of those that are offered.
    fn no_such_option(&self) -> Rejection {
        let offered = options(&self.gate.ask, self.in_pipeline);
        let fault = Fault::at("/option", format!("one of: {}", offered.join(", ")));
        Rejection::Invalid(vec![fault])
    }
}

/// The options of a question. A pipeline goes back where others leave a failed step out.
pub fn options(ask: &Ask, in_pipeline: bool) -> Vec<String> {
    let fixed: &[&str] = match ask {
        Ask::Begin => &["start"],
        Ask::Start => &["approve", "reject"],
        Ask::Form | Ask::Input => &["submit"],
        Ask::Guidance => &["retry", "accept", "stop"],
        Ask::Budget(..) => &["raise", "stop"],
        Ask::Result => &["approve", "revise"],
        Ask::Failed if in_pipeline => &["retry"],
        Ask::Failed => &["retry", "skip", "abort"],
        Ask::Blocked => &["retry", "accept", "abort"],
        Ask::Choice(choice) => {
            return choice.options.iter().map(|option| option.label.to_string()).collect();
        }
    };
    fixed.iter().map(|option| (*option).to_owned()).collect()
}

/// What an answer tries to do, in words for a refusal.
pub(crate) fn action(answer: &Answer) -> &'static str {
    match (answer.kind, &*answer.option) {
        (AskKind::Begin, _) => "start the step",
        (AskKind::Start, "reject") => "reject the start",
        (AskKind::Start, _) => "approve the start",
        (AskKind::Form, _) => "submit the form",
        (AskKind::Result, "revise") => "ask for a change",
        (AskKind::Result, _) => "approve the result",
        (AskKind::Failed, _) => "retry",
        (AskKind::Input | AskKind::Guidance | AskKind::Budget | AskKind::Choice | AskKind::Blocked, _) => {
            "answer"
        }
    }
}

/// Whether what an answer asks for is in effect already, so that sending it twice does no harm.
pub(crate) fn in_effect(execution: &Execution, answer: &Answer) -> bool {
    match (answer.kind, &*answer.option, execution.state) {
        (AskKind::Begin, _, ExecutionState::AwaitingStart | ExecutionState::Working(_))
        | (AskKind::Start, "approve", ExecutionState::Working(_))
        | (AskKind::Failed, "retry", ExecutionState::Working(_)) => true,
        (AskKind::Start, "reject", ExecutionState::Pending) => execution.held_back,
        // Changes would come too late, and must not be lost silently.
        (AskKind::Result, "approve", ExecutionState::Completed) => answer.edits.is_empty(),
        (_, _, _) => false,
    }
}

/// Lets an execution ask a person something.
pub fn open(draft: &mut Draft<'_>, run: RunId, x: ExecNo, ask: Ask) -> Result<(), Rejection> {
    let gate = GateId(draft.ids.mint());
    let digest = shown(draft, run, gate, &ask, Some(x), &[])?;
    let body = body_of(draft, run, x)?;
    let approval = match &ask {
        Ask::Start => Some(&body.policy.approve_start),
        Ask::Result => Some(&body.policy.approve_complete),
        Ask::Begin
        | Ask::Form
        | Ask::Input
        | Ask::Guidance
        | Ask::Budget(..)
        | Ask::Choice(_)
        | Ask::Failed
        | Ask::Blocked => None,
    };
    let minimum = approval.map_or_else(Level::default, |approval| approval.minimum);
    let minutes = approval.and_then(|approval| approval.expires);
    let expires = minutes.map(|minutes| draft.envelope.at.plus_seconds(u64::from(minutes) * 60));
    draft.on_run(run, RunEvent::Asked { x, gate, ask, digest, minimum, expires });
    Ok(())
}

/// The digest of everything that a person is shown. A decision belongs to exactly this: the gate's id is part of it, so
/// that an answer never fits another gate that happens to show the same.
pub fn shown(
    draft: &Draft<'_>,
    run: RunId,
    gate: GateId,
    ask: &Ask,
    x: Option<ExecNo>,
    files: &[Shown],
) -> Result<Digest, Rejection> {
    let mut about = json!({ "run": run, "gate": gate, "ask": ask, "files": files });
    if let Some(x) = x {
        let execution = draft.execution(run, x)?;
        let body = match execution.body {
            Some(digest) => digest,
            None => Digest::of_json(&*body_of(draft, run, x)?),
        };
        let artifact = |output: &crate::state::run::Output| {
            json!([output.made.name, output.made.format, output.made.digest])
        };
        let artifacts: Vec<Value> = execution.artifacts.iter().map(artifact).collect();
        about["execution"] = json!({
            "id": execution.id,
            "revision": execution.revision,
            "attempt": execution.attempt,
            "body": body,
            "artifacts": artifacts,
            "fields": execution.fields,
            "handed": execution.handed.as_ref().map(|handed| (&handed.output, &handed.context)),
            "verdict": execution.verdict,
            "feedback": execution.feedback,
            "failure": execution.last_error.as_ref().map(|(_, failure)| failure),
        });
    }
    Ok(Digest::of_json(&about))
}
