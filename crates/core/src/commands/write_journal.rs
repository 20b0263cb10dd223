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
        let (pipeline, step) = (draft.run(run)?.pipeline(), Some(known.place.step.clone()));
        draft.emit(stream, Event::Journal(Entry::Opened { run, x, pipeline, step }));
    }
    for entry in entries {
        draft.emit(stream, Event::Journal(entry.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::Command;
    use crate::event::Level;
    use crate::testing::{Scene, When, form, journal, outcome_done, run_id, script};

    fn line(text: &str) -> Entry {
        Entry::Log { level: Level::Info, text: text.into(), details: None }
    }

    #[test]
    fn a_journal_is_opened_by_its_first_entry() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        let first = journal(&scene, 1, 1, vec![line("one"), line("two")]);
        assert_eq!(scene.run(first).writes[0].events.len(), 3);
        let second = journal(&scene, 1, 1, vec![line("three")]);
        assert_eq!(scene.run(second).writes[0].events.len(), 1);
        scene.check(
            journal(&scene, 1, 1, vec![]),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn a_journal_belongs_to_its_execution() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0), form("B")]).with_run();
        let stolen = Entry::Opened { run: run_id(2), x: ExecNo(7), pipeline: None, step: None };
        scene.check(
            journal(&scene, 1, 1, vec![stolen]),
            expect![[r#"
            in effect already
        "#]],
        );
        let other = Command::WriteJournal {
            run: run_id(1),
            x: ExecNo(1),
            execution: ExecutionId(uuid::Uuid::nil()),
            entries: vec![line("one")],
        };
        scene.check_code(When(other), "not_found");
        let late = journal(&scene, 1, 1, vec![line("one")]);
        scene.run(outcome_done(&scene, 1, 1));
        scene.check(
            late,
            expect![[r#"
            refused (not_owed): the work is not owed any more
        "#]],
        );
    }

    #[test]
    fn a_journal_has_an_end() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(journal(&scene, 1, 1, vec![line("one")]));
        for state in scene.states.values_mut() {
            if let crate::State::Journal(journal) = state {
                journal.lines = MAX_ENTRIES - 1;
            }
        }
        scene.check_code(journal(&scene, 1, 1, vec![line("two"), line("three")]), "limit_reached");
    }
}
