//! Folding what clients hand in: acknowledgements, refused outputs, snapshots.
//!
//! A call is named by the node that it continues from and the attempt at it, and counts once. What came of it is kept
//! as long as the run, so that any process can answer a repeated call as the first one was answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Blocked, ExecutionState, NodeKind, RunState, Snapshot, Stage};
use crate::context::NODES;
use crate::event::{Blocker, Content, Mark, mark};
use crate::state::Stamp;
use crate::{Digest, ExecNo, GateId, NodeNo};

/// Names a call of a client at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AckKey {
    /// An attempt at continuing from it, from 1.
    #[serde(rename = "a")]
    Advance(u32),
    /// A snapshot with this output.
    #[serde(rename = "c")]
    Checkpoint(Digest),
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// Where it led.
    #[serde(rename = "t")]
    pub to: AckTo,
    /// Tells whether a repeated call hands in the same.
    #[serde(rename = "m")]
    pub mark: Mark,
}

/// Where a call led. Only a gate that waits may become a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckTo {
    /// To this node.
    #[serde(rename = "n")]
    Node(NodeNo),
    /// To a person who decides.
    #[serde(rename = "w")]
    Waiting(GateId),
}

/// What a step's work left and nobody has accepted yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handed {
    /// The call that handed it in; none: an executor did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Content>,
    /// What it leaves in the context; null deletes.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

/// The call of a client that handed something in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The node that the client continues from.
    pub at: NodeNo,
    /// The attempt at that node.
    pub attempt: u32,
    /// Tells whether a repeated call hands in the same.
    pub mark: Mark,
    /// The node of its refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<NodeNo>,
}

impl RunState {
    /// The attempt at a node that a client makes next: the first one that did not lead to a node.
    pub fn next_attempt(&self, at: NodeNo) -> u32 {
        // Attempts follow each other without a gap, so the last one says it.
        let of_node = (at, AckKey::Advance(0))..=(at, AckKey::Advance(u32::MAX));
        match self.acks.range(of_node).next_back() {
            Some(((_, AckKey::Advance(last)), Ack { to: AckTo::Node(_), .. })) => last.saturating_add(1),
            Some(((_, AckKey::Advance(last)), Ack { to: AckTo::Waiting(_), .. })) => *last,
            Some(((_, AckKey::Checkpoint(_)), _)) | None => 1,
        }
    }

    /// A client handed in the result of a step.
    pub(super) fn hand_in(
        &mut self,
        x: ExecNo,
        at: NodeNo,
        attempt: u32,
        output: Option<&Content>,
        context: &Map<String, Value>,
    ) {
        // The output among the context is the result once more, and no part of what the client sent beside it.
        let sent = context.iter().filter(|(key, _)| !key.starts_with(NODES));
        let sent = sent.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mark = mark(output.map(Content::digest), &sent);
        let call = Some(Call { at, attempt, mark, blocked: None });
        let handed = Handed { call, output: output.cloned(), context: context.clone() };
        self.edit(x, |e| e.handed = Some(Arc::new(handed)));
        if let Some(branch) = self.execution(x).map(|e| e.branch) {
            self.graph.current = branch;
        }
    }

    /// What a client handed in is refused. It may try again, from the new node.
    pub(super) fn block(
        &mut self,
        x: ExecNo,
        at: NodeNo,
        attempt: u32,
        why: &[Blocker],
        changes: bool,
        stamp: &Stamp<'_>,
    ) {
        let blocked = Blocked { x, at: stamp.at, attempt, why: why.to_vec() };
        let Some(node) = self.graph.hang(at, NodeKind::Blocked(Arc::new(blocked))) else { return };
        self.edit(x, |e| {
            e.state = ExecutionState::Working(Stage::Client);
            e.blocks = if changes { 0 } else { e.blocks + 1 };
            if let Some(call) = e.handed.as_mut().and_then(|handed| Arc::make_mut(handed).call.as_mut()) {
                call.blocked = Some(node);
            }
        });
        self.acknowledge(x, AckTo::Node(node));
    }

    /// Remembers where the last call for an execution led.
    pub(super) fn acknowledge(&mut self, x: ExecNo, to: AckTo) {
        let Some(call) = self.execution(x).and_then(|e| e.handed.as_ref()?.call) else { return };
        self.acks.insert((call.at, AckKey::Advance(call.attempt)), Ack { to, mark: call.mark });
    }

    /// The state at a node was saved.
    pub(super) fn take_snapshot(&mut self, at: NodeNo, snapshot: Snapshot) {
        let output = snapshot.output.as_ref().map(Content::digest);
        let Some(node) = self.graph.hang(at, NodeKind::Snapshot(Arc::new(snapshot))) else { return };
        if let Some(digest) = output {
            let mark = mark(Some(digest), &Map::new());
            self.acks.insert((at, AckKey::Checkpoint(digest)), Ack { to: AckTo::Node(node), mark });
        }
    }
}
