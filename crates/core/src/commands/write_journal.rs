//! Records what an execution's work said and did, before anything uses it.

use crate::decision::Draft;
use crate::event::{Entry, Event};
use crate::state::run::ExecutionState;
use crate::{ExecNo, ExecutionId, Rejection, RunId, StreamId};

/// How many entries a journal may hold.
const MAX_ENTRIES: u32 = 1_000_000;

/// The rule: only a working execution has something to record.
pub fn decide(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    execution: ExecutionId,
    entries: &[Entry],
) -> Result<(), Rejection> {
    let known = draft.execution(run, x)?;
    if known.id != execution {
        return Err(Rejection::NotFound { what: "execution", id: execution.to_string() });
    }
    draft.reply.execution = Some(execution);
    match known.state {
        ExecutionState::Working(_) => {}
        ExecutionState::Pending
        | ExecutionState::AwaitingStart(_)
        | ExecutionState::AwaitingComplete(_)
        | ExecutionState::Completed
        | ExecutionState::Failed => return Err(Rejection::NotOwed),
    }
    let journal = draft.journal(execution);
    // Whose journal it is was settled when it was opened.
    let entries: Vec<&Entry> = entries.iter().filter(|e| !matches!(e, Entry::Opened { .. })).collect();
    if entries.is_empty() {
        return Ok(());
    }
    let held = [journal.lines, journal.messages, journal.tools].into_iter().map(u64::from).sum::<u64>();
    if held + entries.len() as u64 > u64::from(MAX_ENTRIES) {
        return Err(Rejection::LimitReached { what: "journal entries", limit: MAX_ENTRIES.into() });
    }
    let stream = StreamId::Journal(execution);
    if journal.owner.is_none() {
        draft.emit(stream, Event::Journal(Entry::Opened { run, x }));
    }
    for entry in entries {
        draft.emit(stream, Event::Journal(entry.clone()));
    }
    Ok(())
}
