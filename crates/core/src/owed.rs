//! What a run owes the world: work to do now, and when something happens by itself.

use crate::Timestamp;
use crate::state::RunState;
use crate::state::run::{EffectId, EffectKind, TimerId};

/// What a run owes: pieces of work, and the next time that something happens by itself.
pub type Owed = (Vec<(EffectId, EffectKind)>, Option<(TimerId, Timestamp)>);

/// Work due now and the next timer. A run that was rolled back or has ended owes nothing.
pub fn owed(run: &RunState) -> Owed {
    if run.gone.is_some() {
        return (Vec::new(), None);
    }
    (run.owed.iter().map(|(id, kind)| (*id, *kind)).collect(), run.next_timer())
}

/// When a run wants attention next; `None`: it waits for people, or has ended.
pub fn due(run: &RunState, now: Timestamp) -> Option<Timestamp> {
    if run.gone.is_some() {
        return None;
    }
    if !run.owed.is_empty() {
        return Some(now);
    }
    run.next_timer().map(|(_, at)| at)
}
