//! Calls of clients: each counts once, what came of it never changes, and the nodes that it led to stay.

use holdpoint_core::event::RunEvent;
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{AckKey, AckTo};
use holdpoint_core::{Event, NodeNo};

use super::{Entry, Found};

/// I30: one commit changes nothing about calls and nodes that were there before it. Only a gate that waits may become
/// a node, or another gate.
pub fn calls_count_once(entry: &Entry, before: &RunState, after: &RunState) -> Found {
    let seq = entry.row.seq.0;
    let mut found = Vec::new();
    for (call, ack) in &before.acks {
        let now = after.acks.get(call);
        let stays = now.is_some_and(|now| match ack.to {
            AckTo::Node(_) => now == ack,
            AckTo::Waiting(_) => now.mark == ack.mark,
        });
        if !stays {
            found.push(format!("I30: the call {call:?} led to {ack:?}, and to {now:?} at {seq}"));
        }
    }
    for event in &entry.events {
        if let Event::Run(RunEvent::HandedIn { at, attempt, .. }) = event
            && before.acks.contains_key(&(*at, AckKey::Advance(*attempt)))
        {
            found.push(format!("I30: attempt {attempt} at node {} counts twice, at {seq}", at.0));
        }
    }
    let nodes = |state: &RunState| {
        let parents = (0..state.graph.node_count()).map(|n| state.graph.parent(NodeNo(n)));
        parents.collect::<Vec<_>>()
    };
    if !nodes(after).starts_with(&nodes(before)) {
        found.push(format!("I30: nodes changed at {seq}"));
    }
    found
}
