//! A client's results were refused too often in a row: try again, accept the last one as it is, or end the run.

use super::Answered;
use crate::advance::{self, Finished};
use crate::commands::abort_run;
use crate::decision::Draft;
use crate::event::RunEvent;
use crate::state::run::Ask;
use crate::{ExecNo, Rejection, RunId};

/// Asks a person what to do.
pub fn ask(draft: &mut Draft<'_>, run: RunId, x: ExecNo) -> Result<(), Rejection> {
    super::open(draft, run, x, Ask::Blocked)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let (run, x, gate, digest, assurance) = (at.run, at.x()?, at.id, at.gate.digest, at.assurance);
    let option = at.answer.option.clone();
    if !matches!(&*option, "retry" | "accept" | "abort") {
        return Err(at.no_such_option());
    }
    let feedback = at.answer.feedback.clone();
    let answered = RunEvent::GateAnswered { gate, digest, assurance, option: option.clone(), feedback };
    draft.on_run(run, answered);
    match &*option {
        // Exactly what was handed in last, with what it leaves in the context. Who accepts it does not answer for those
        // who must approve the step.
        "accept" => {
            let body = advance::body_of(draft, run, x)?;
            let left = draft.execution(run, x)?.handed.as_ref().map(|handed| handed.context.clone());
            let approval = &body.policy.approve_complete;
            if advance::is_approval_needed(draft, run, x, approval, &left.unwrap_or_default())? {
                return super::result::ask(draft, run, x);
            }
            advance::complete(draft, run, x, Finished::default())
        }
        "abort" => abort_run::decide(draft, run, at.answer.feedback.as_ref()),
        _ => Ok(()),
    }
}
