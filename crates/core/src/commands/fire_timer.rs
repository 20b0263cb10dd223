//! Says that a time has come: the next attempt begins, or the present one has taken too long.

use crate::decision::Draft;
use crate::definition::OnFailure;
use crate::event::{Failure, Usage};
use crate::flow;
use crate::state::run::{TimerId, TimerKind};
use crate::{Rejection, RunId};

/// The rule. A timer that is not set any more, or not due yet, is refused: it fires once, and not early.
pub fn decide(draft: &mut Draft<'_>, run: RunId, timer: TimerId) -> Result<(), Rejection> {
    let set = draft.run(run)?.timers.get(&timer).copied();
    if set.is_none_or(|due| due > draft.envelope.at) {
        return Err(Rejection::NotOwed);
    }
    let policy = flow::policy_of(draft, run, timer.x)?;
    draft.reply.execution = Some(draft.execution(run, timer.x)?.id);
    match timer.kind {
        TimerKind::Retry => {
            flow::begin_attempt(draft, run, timer.x, timer.revision, timer.attempt + 1, &policy);
            Ok(())
        }
        TimerKind::Timeout => {
            let (seconds, then) = policy.timeout.unwrap_or((0, OnFailure::PausePipeline));
            let message = format!("the attempt took longer than {seconds} seconds");
            let failure = Failure::new("timeout", &message);
            flow::fail_for_good(draft, run, timer.x, failure, Usage::default(), then)
        }
    }
}
