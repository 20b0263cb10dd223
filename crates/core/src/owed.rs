//! What a run owes the world: work to do now, and when something happens by itself.

use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use crate::Timestamp;
use crate::state::RunState;
use crate::state::run::{EffectId, EffectKind, TimerId};

/// The work that a run owes. It shares its memory with the run's state, so keeping one to compare with costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Owed(OrdMap<EffectId, EffectKind>);

/// How owed work has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwedChange {
    /// It is owed now.
    Owed(EffectId),
    /// It is not owed any more.
    Over(EffectId),
}

/// Work due now. A run that was rolled back or has ended owes nothing.
pub fn owed(run: &RunState) -> Owed {
    Owed(if run.gone.is_some() { OrdMap::new() } else { run.owed.clone() })
}

/// When something happens by itself next in a run that was not rolled back.
pub fn next_timer(run: &RunState) -> Option<(TimerId, Timestamp)> {
    if run.gone.is_some() { None } else { run.next_timer() }
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

impl Owed {
    /// All pieces of work.
    pub fn iter(&self) -> impl Iterator<Item = (EffectId, EffectKind)> {
        self.0.iter().map(|(effect, kind)| (*effect, *kind))
    }

    /// What kind of work is owed under a name.
    pub fn get(&self, effect: &EffectId) -> Option<EffectKind> {
        self.0.get(effect).copied()
    }

    /// Whether nothing is owed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What changed since an earlier look. It takes as long as there are changes, not as there is work: a group of a
    /// thousand steps is looked at a thousand times.
    pub fn since<'a>(&'a self, earlier: &'a Self) -> impl Iterator<Item = OwedChange> + 'a {
        earlier.0.diff(&self.0).map(|change| match change {
            DiffItem::Add(effect, _) | DiffItem::Update { new: (effect, _), .. } => OwedChange::Owed(*effect),
            DiffItem::Remove(effect, _) => OwedChange::Over(*effect),
        })
    }
}
