//! At rest: when faults have stopped, every run has ended, waits for a person, or is being worked on.

use std::collections::BTreeSet;

use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{EffectId, ExecutionState, RunStatus, Stage, TimerKind};
use holdpoint_core::{RunId, Timestamp, next_timer, owed};

use super::Found;
use crate::mirror::Mirror;

/// I28: what is owed is being done, no time is waited for otherwise, and whoever waits waits for somebody.
/// What is being done is owed.
pub fn at_rest(mirror: &Mirror, now: Timestamp, working: &[(RunId, EffectId)]) -> Found {
    let mut found = Vec::new();
    for (run, state) in mirror.runs() {
        let (effects, timer) = (owed(state), next_timer(state));
        let idle: Vec<_> = effects.iter().filter(|(effect, _)| !working.contains(&(run, *effect))).collect();
        if !idle.is_empty() {
            found.push(format!("I28: run {run} still owes {idle:?}"));
        }
        // Where the clock was set back, a time may be far away.
        let timer = timer.filter(|(_, at)| *at <= now);
        let waits_for_time = !state.timers.is_empty();
        let limits_work = |x| effects.iter().any(|(effect, _)| effect.x == x);
        if let Some((timer, at)) = timer.filter(|(id, _)| id.kind == TimerKind::Retry || !limits_work(id.x)) {
            found.push(format!("I28: run {run} still waits for {timer:?} at {at:?}"));
        }
        let is_live = state.status == RunStatus::InProgress && state.gone.is_none();
        if is_live && effects.is_empty() && !waits_for_time && !waits_for_somebody(state) {
            let fronts: Vec<_> = state.live_branches().map(|(no, branch)| (no, &branch.front)).collect();
            let at: Vec<_> = state.active().map(|(x, e)| (x, &e.place, e.state)).collect();
            found.push(format!("I28: run {run} waits for nothing: {at:?}, fronts {fronts:#?}"));
        }
    }
    let mut once = BTreeSet::new();
    for (run, effect) in working {
        if !once.insert((run, effect)) {
            found.push(format!("I12: {effect:?} of run {run} is done twice at once"));
        }
        if !mirror.run(*run).is_some_and(|state| owed(state).get(effect).is_some()) {
            found.push(format!("I28: {effect:?} of run {run} is not owed and was not stopped"));
        }
    }
    found
}

fn waits_for_somebody(state: &RunState) -> bool {
    let waits = |at: ExecutionState| {
        use ExecutionState::{Failed, Pending, Working};
        matches!(at, Pending | Failed | Working(Stage::Client))
    };
    !state.gates.is_empty() || state.executions().any(|(_, e)| waits(e.state))
}
