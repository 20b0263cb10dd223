//! Makes a home. Making it again changes nothing.

use crate::StreamId;
use crate::decision::Draft;
use crate::event::{Event, HomeEvent};

/// The rule.
pub fn decide(draft: &mut Draft<'_>) {
    if draft.home().store.is_none() {
        let store = draft.ids.mint();
        draft.emit(StreamId::Home, Event::Home(HomeEvent::Made { store }));
    }
}
