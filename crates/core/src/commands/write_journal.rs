//! Records what an execution's work said and did, before anything uses it.

use crate::decision::Draft;
use crate::event::{Entry, Event};
use crate::state::run::{EffectId, ExecutionState, Part};
use crate::{ExecutionId, Rejection, RunId, StreamId};

/// How many entries a journal may hold.
const MAX_ENTRIES: u32 = 1_000_000;

/// The rule: only the work that began last has something to record. Its first entry begins its part.
pub fn decide(
    draft: &mut Draft<'_>,
    run: RunId,
    execution: ExecutionId,
    effect: EffectId,
    entries: &[Entry],
) -> Result<(), Rejection> {
    let known = draft.peek_execution(run, effect.x)?;
    if known.id != execution {
        return Err(Rejection::NotFound { what: "execution", id: execution.to_string() });
    }
    draft.reply.execution = Some(execution);
    write(draft, run, execution, effect, entries)
}

/// Writes the entries of a piece of work into the journal of its execution.
pub(super) fn write(
    draft: &mut Draft<'_>,
    run: RunId,
    execution: ExecutionId,
    effect: EffectId,
    entries: &[Entry],
) -> Result<(), Rejection> {
    if entries.is_empty() {
        return Ok(());
    }
    // The fence says that the sender owns the run's work, and a part is closed by the next one that begins: an old
    // state of the run lets late words into the part of the work that spoke them, where they belong.
    let known = draft.peek_execution(run, effect.x)?;
    let works = matches!(known.state, ExecutionState::Working(_));
    let journal = draft.journal(execution);
    let present = journal.present();
    let begins = present.is_none_or(|present| present < effect);
    if !works || present.is_some_and(|present| effect < present) {
        return Err(Rejection::NotOwed);
    }
    let asked = entries.iter().any(|entry| matches!(entry, Entry::Began { .. }));
    // Whose journal it is, and whose part, is settled here.
    let entries = entries.iter().filter(|e| !matches!(e, Entry::Opened { .. } | Entry::Began { .. }));
    let entries: Vec<&Entry> = entries.collect();
    if entries.is_empty() && !(asked && begins) {
        return Ok(());
    }
    let held = [journal.lines, journal.messages, journal.tools].into_iter().map(u64::from).sum::<u64>();
    if held + entries.len() as u64 > u64::from(MAX_ENTRIES) {
        return Err(Rejection::LimitReached { what: "journal entries", limit: MAX_ENTRIES.into() });
    }
    let stream = StreamId::Journal(execution);
    if journal.owner.is_none() {
        let state = draft.peek_run(run)?;
        let (pipeline, session, step) = (state.pipeline(), state.session(), Some(known.place.step.clone()));
        draft.emit(stream, Event::Journal(Entry::Opened { run, x: effect.x, pipeline, step, session }));
    }
    if begins {
        let EffectId { revision, attempt, part, .. } = effect;
        let check = part == Part::Check;
        draft.emit(stream, Event::Journal(Entry::Began { revision, attempt, check }));
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
    use crate::event::Level;
    use crate::testing::{
        Scene, When, cancel, form, journal, outcome_done, outcome_failed, retry, run_id, script,
    };
    use crate::{Command, ExecNo};

    fn line(text: &str) -> Entry {
        Entry::Log { level: Level::Info, text: text.into(), details: None }
    }

    #[test]
    fn a_journal_is_opened_by_its_first_entry() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        let first = journal(&scene, 1, 1, vec![line("one"), line("two")]);
        assert_eq!(scene.run(first).writes[0].events.len(), 4);
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
        let stolen =
            Entry::Opened { run: run_id(2), x: ExecNo(7), pipeline: None, step: None, session: None };
        scene.check(
            journal(&scene, 1, 1, vec![stolen]),
            expect![[r#"
            in effect already
        "#]],
        );
        let other = Command::WriteJournal {
            run: run_id(1),
            execution: ExecutionId(uuid::Uuid::nil()),
            effect: EffectId { x: ExecNo(1), revision: 0, attempt: 1, part: Part::Work },
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
    fn a_cancelled_attempt_writes_nothing_into_the_part_of_the_next() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        scene.run(journal(&scene, 1, 1, vec![line("first")]));
        let late = journal(&scene, 1, 1, vec![line("late words of the first")]);
        scene.run(cancel(1, 1));
        scene.check_code(late.clone(), "not_owed");
        scene.run(retry(1, 1));
        let next = journal(&scene, 1, 1, vec![line("second")]);
        // Nothing has begun in its place yet: these words still belong to the first.
        scene.run(late.clone());
        scene.run(next);
        scene.check_code(late, "not_owed");
    }

    #[test]
    fn a_journal_does_not_hold_its_run_still() {
        let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
        let decision = scene.run(journal(&scene, 1, 1, vec![line("one")]));
        assert!(decision.guards.is_empty(), "{:?}", decision.guards);
        let outcome = scene.run(outcome_failed(&scene, 1, 1));
        assert!(outcome.guards.is_empty(), "{:?}", outcome.guards);
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
