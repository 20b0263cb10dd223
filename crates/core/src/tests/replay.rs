//! Folding a log again, row by row, as a store does after a restart.

use std::collections::BTreeMap;

use crate::event::{Event, decode};
use crate::project::project;
use crate::testing::{Picture, Row};
use crate::{Stamp, State, StreamId, evolve};

/// States and tables that a log adds up to.
#[derive(Default)]
pub(super) struct Replayed {
    pub states: BTreeMap<StreamId, State>,
    pub picture: Picture,
}

/// Folds a log from nothing and draws its tables; `look` sees the state around every event.
pub(super) fn replay(log: &[Row], mut look: impl FnMut(&Row, &Event, &State, &State)) -> Replayed {
    let mut replayed = Replayed::default();
    for row in log {
        let events = decode(row.stream.kind(), &row.bytes).expect("stored events");
        let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
        let before = replayed.states.get(&row.stream).cloned().unwrap_or_else(|| State::empty(row.stream));
        let mut state = before.clone();
        for event in &events {
            let earlier = state.clone();
            evolve(&mut state, &stamp, event);
            look(row, event, &earlier, &state);
        }
        for changes in project(row.stream, &before, &state, &stamp, &events) {
            replayed.picture.apply(row.stream, &changes);
        }
        replayed.states.insert(row.stream, state);
    }
    replayed
}
