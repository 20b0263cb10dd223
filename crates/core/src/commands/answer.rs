//! Answers a gate: checks that it is open and shows what the person saw, who answers and how that is proved, and then
//! does what the question's own rule says.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};

use super::{advance, wrong_execution, wrong_run};
use crate::asks::{self, Answered};
use crate::assurance::Level;
use crate::command::{Answer, Target};
use crate::decision::Draft;
use crate::state::run::{AskKind, Gate, RunStatus};
use crate::{GateId, Rejection, RunId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, answer: &Answer) -> Result<(), Rejection> {
    require_actor(draft, answer)?;
    let Some((id, gate)) = find(draft, run, answer)? else { return Ok(()) };
    require_moving(draft, run, answer)?;
    if let Some(at) = gate.expires.filter(|at| *at <= draft.envelope.at) {
        return Err(Rejection::GateExpired { gate: id, at });
    }
    require_level(draft, id, &gate)?;
    require_digest(answer, id, &gate)?;
    // A gate of another branch of a completed run opens the run again.
    advance::reopen(draft, run)?;
    let in_pipeline = draft.run(run)?.pipeline().is_some();
    let answered = Answered { run, id, gate, answer, assurance: draft.envelope.assurance, in_pipeline };
    match answer.kind {
        AskKind::Begin => asks::begin::answer(draft, &answered),
        AskKind::Start => asks::start::answer(draft, &answered),
        AskKind::Form => asks::form::answer(draft, &answered),
        AskKind::Input => asks::input::answer(draft, &answered),
        AskKind::Guidance => asks::guidance::answer(draft, &answered),
        AskKind::Budget => asks::budget::answer(draft, &answered),
        AskKind::Result => asks::result::answer(draft, &answered),
        AskKind::Choice => asks::choice::answer(draft, &answered),
        AskKind::Failed => asks::failed::answer(draft, &answered),
        AskKind::Blocked => asks::blocked::answer(draft, &answered),
    }
}

/// Only people decide. An agent may start a step that waits for that, and have failed work tried again.
fn require_actor(draft: &Draft<'_>, answer: &Answer) -> Result<(), Rejection> {
    match (answer.kind, &*answer.option) {
        (AskKind::Begin, _) | (AskKind::Failed, "retry") => Ok(()),
        (_, _) => draft.require_person(),
    }
}

/// The gate that is answered; none where what is asked for is in effect already.
fn find(
    draft: &mut Draft<'_>,
    run: RunId,
    answer: &Answer,
) -> Result<Option<(GateId, Arc<Gate>)>, Rejection> {
    let open = match answer.target {
        Target::Gate(id) => id,
        Target::Of(x) => {
            let execution = draft.execution(run, x)?;
            draft.reply.execution = Some(execution.id);
            let gates = &draft.run(run)?.gates;
            let asks = |id: &GateId| gates.get(id).is_some_and(|gate| gate.ask.kind() == answer.kind);
            match execution.gate.filter(asks) {
                Some(id) => id,
                None if asks::in_effect(&execution, answer) => {
                    // In a paused run nothing is started, also not what was started before.
                    if answer.kind == AskKind::Begin {
                        require_moving(draft, run, answer)?;
                    }
                    return Ok(None);
                }
                None => return Err(wrong_execution(draft, run, x, asks::action(answer))?),
            }
        }
    };
    let Some(gate) = draft.run(run)?.gates.get(&open).cloned() else {
        return Err(closed(draft, run, open)?);
    };
    if gate.ask.kind() != answer.kind {
        return Err(Rejection::Stale { gate: open });
    }
    if let Some(x) = gate.x {
        draft.reply.execution = Some(draft.execution(run, x)?.id);
    }
    Ok(Some((open, gate)))
}

/// Why a gate is not open: a rollback retired it, or it was answered.
fn closed(draft: &Draft<'_>, run: RunId, gate: GateId) -> Result<Rejection, Rejection> {
    let state = draft.run(run)?;
    let retired = state.graph.branches().filter_map(|(_, branch)| branch.retired.as_deref());
    let mut by = retired.filter(|retired| retired.gates.iter().any(|(id, _)| *id == gate));
    Ok(match by.next() {
        Some(retired) => Rejection::Gone { what: "gate", id: gate.to_string(), rollback: retired.by },
        None => Rejection::GateAnswered { gate },
    })
}

/// A paused run takes decisions about what is there: a result, a failure, and a start that may not be.
fn require_moving(draft: &Draft<'_>, run: RunId, answer: &Answer) -> Result<(), Rejection> {
    let status = draft.run(run)?.status;
    if status == RunStatus::Completed {
        // Its gate is open, so it is one of another branch.
        return Ok(());
    }
    let takes = match (answer.kind, &*answer.option) {
        (AskKind::Result | AskKind::Failed, _) | (AskKind::Start, "reject") => status.is_active(),
        (_, _) => status == RunStatus::InProgress,
    };
    if takes { Ok(()) } else { Err(wrong_run(draft, run, asks::action(answer))?) }
}

/// Where access is enough, an answer that was prepared is as good as one that is given now.
fn require_level(draft: &Draft<'_>, id: GateId, gate: &Gate) -> Result<(), Rejection> {
    let has = draft.envelope.assurance.level;
    if gate.minimum <= Level::Local || has >= gate.minimum || planted(Bug::LevelUnchecked) {
        return Ok(());
    }
    Err(Rejection::AssuranceTooLow { gate: id, needs: gate.minimum, has })
}

/// A decision is about what was shown. Where a gate is named by its id the digest is required; the older paths name an
/// execution, and require it for approving a result only.
fn require_digest(answer: &Answer, id: GateId, gate: &Gate) -> Result<(), Rejection> {
    let unchecked = match answer.kind {
        AskKind::Result => planted(Bug::UncheckedDigest),
        AskKind::Choice => planted(Bug::ChoiceWithoutDigest),
        AskKind::Begin
        | AskKind::Start
        | AskKind::Form
        | AskKind::Input
        | AskKind::Guidance
        | AskKind::Budget
        | AskKind::Failed
        | AskKind::Blocked => false,
    };
    if unchecked {
        return Ok(());
    }
    let approves = answer.kind == AskKind::Result && &*answer.option == "approve";
    match (answer.digest, answer.target) {
        (Some(digest), _) if digest == gate.digest => Ok(()),
        (Some(_), _) => Err(Rejection::Stale { gate: id }),
        (None, Target::Gate(_)) => Err(Rejection::DigestMissing { gate: id }),
        (None, Target::Of(_)) if approves => Err(Rejection::DigestMissing { gate: id }),
        (None, Target::Of(_)) => Ok(()),
    }
}
