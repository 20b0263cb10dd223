//! The run graph: executions, the durable points (nodes) that they leave, and the branches that lead through them.
//!
//! A node records how the front changed; continuing from a node that is no head creates a branch with the node's
//! front. Nothing is ever taken out of a graph: what a rollback retires is marked and stays.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};
use imbl::{OrdSet, Vector};
use serde::{Deserialize, Serialize};

use super::front::{Front, FrontDelta};
use super::{Execution, Gate, RunStatus};
use crate::event::{Blocker, Content, PauseReason, Place, Text, is_zero};
use crate::{
    BranchNo, CommandId, Digest, ExecNo, ExecutionId, GateId, NodeNo, RollbackId, RunId, SnapshotId,
    Timestamp,
};

/// A front is kept after at least this many bytes of deltas: reading so many costs less than a look-up in the store.
const KEEP_LEAST: u64 = 4 * 1024;

/// The graph of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedGraph")]
pub struct Graph {
    run: RunId,
    executions: Vector<Arc<Execution>>,
    nodes: Vector<Arc<Node>>,
    branches: Vector<Arc<Branch>>,
    /// The live branch that was written last.
    pub(super) current: BranchNo,
}

/// A graph as it is saved: ids of executions and fronts of branches are derived again.
#[derive(Deserialize)]
struct SavedGraph {
    run: RunId,
    executions: Vector<Arc<Execution>>,
    nodes: Vector<Arc<Node>>,
    branches: Vector<Arc<Branch>>,
    current: BranchNo,
}

impl From<SavedGraph> for Graph {
    fn from(saved: SavedGraph) -> Self {
        let SavedGraph { run, executions, nodes, branches, current } = saved;
        let mut graph = Self { run, executions, nodes, branches, current };
        for (i, execution) in graph.executions.iter_mut().enumerate() {
            Arc::make_mut(execution).id = run.execution(ExecNo(i as u32 + 1));
        }
        for b in (0..graph.branches.len()).map(|b| BranchNo(b as u32)) {
            let Some(branch) = graph.branch(b) else { continue };
            let (head, pending) = (branch.head, branch.pending.clone());
            let mut front = graph.front_at(head).unwrap_or_default();
            graph.apply_delta(&mut front, &pending);
            graph.edit_branch(b, |branch| branch.front = front);
        }
        graph
    }
}

/// A durable point of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The point before it; none: the node with the number before. The first node has none before it.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeNo>,
    /// The branch that it was made in.
    #[serde(rename = "b", default, skip_serializing_if = "is_zero")]
    pub branch: BranchNo,
    /// What happened there.
    #[serde(rename = "k")]
    pub kind: NodeKind,
    /// How the front changed; none: the front is that of the point before it.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
}

/// How a node changed the front of its branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The changes by the command that made the node, and by those before it that made none.
    #[serde(rename = "d", default, skip_serializing_if = "FrontDelta::is_empty")]
    pub delta: FrontDelta,
    /// The whole front, every now and then.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Arc<Front>>,
}

/// What happened at a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum NodeKind {
    /// The run began.
    #[serde(rename = "0")]
    Start,
    /// A step was completed or passed over.
    #[serde(rename = "x")]
    Step(ExecNo),
    /// A choice was answered.
    #[serde(rename = "g")]
    Gate(GateId, Place, Timestamp),
    /// The state was saved. It hangs off the node before it and moves no head.
    #[serde(rename = "s")]
    Snapshot(Arc<Snapshot>),
    /// A client's output was refused. It hangs off the node that the client continued from and moves no head.
    #[serde(rename = "b")]
    Blocked(Arc<Blocked>),
}

/// A saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// When it was taken.
    pub at: Timestamp,
    /// What caused it, as documents show it.
    pub trigger: Text,
    /// What it can be found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Text>,
    /// The files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Digest>,
    /// What a client said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Content>,
}

/// A client's output that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blocked {
    /// The execution.
    pub x: ExecNo,
    /// When.
    pub at: Timestamp,
    /// The attempt at the node that it hangs off.
    pub attempt: u32,
    /// Why.
    pub why: Vec<Blocker>,
}

/// A way through the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The node that it begins at.
    pub from: NodeNo,
    /// Its last node; the one that it begins at while it has none.
    pub head: NodeNo,
    /// Why it was made.
    pub cause: Cause,
    /// Changes of the front by commands that made no node.
    #[serde(default, skip_serializing_if = "FrontDelta::is_empty")]
    pub pending: FrontDelta,
    /// The command that made its head; none while the head belongs to another branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<CommandId>,
    /// Bytes of deltas up to the nearest kept front.
    since: u64,
    /// Executions that are not done.
    #[serde(default, skip_serializing_if = "OrdSet::is_empty")]
    pub active: OrdSet<ExecNo>,
    /// Steps that were reached and wait, in order of arrival, until others have ended their work.
    #[serde(default, skip_serializing_if = "Vector::is_empty")]
    pub queued: Vector<Place>,
    /// Open choices of the plan.
    #[serde(default, skip_serializing_if = "OrdSet::is_empty")]
    pub asking: OrdSet<GateId>,
    /// What it had when it was retired; none: the branch is live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<Arc<Retired>>,
    /// The front at the head with what is pending. Never saved: it is derived when a graph is loaded.
    #[serde(skip)]
    pub front: Front,
}

/// Why a branch was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run began.
    Start,
    /// A client continued from an older node.
    Fork,
    /// A person, or a failure policy, went back.
    Rollback(RollbackId),
    /// The files of a snapshot were restored.
    Recover(RollbackId),
}

impl Cause {
    /// The rollback or recovery that made the branch.
    pub fn rollback(self) -> Option<RollbackId> {
        match self {
            Self::Rollback(id) | Self::Recover(id) => Some(id),
            Self::Start | Self::Fork => None,
        }
    }
}

/// What a branch had when it was retired, so that undoing brings it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retired {
    /// The rollback that retired it.
    pub by: RollbackId,
    /// The folder that the files of its executions were moved to; none where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Text>,
    /// Its open gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<(GateId, Arc<Gate>)>,
    /// The run's status.
    pub status: RunStatus,
    /// Why the run was paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_reason: Option<PauseReason>,
    /// Whether a pause was requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pause_requested: bool,
    /// When the run had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
}

impl Branch {
    /// Whether it was not retired.
    pub fn is_live(&self) -> bool {
        self.retired.is_none()
    }

    /// Whether nothing is left to do on it.
    pub fn is_done(&self) -> bool {
        // A gate at which the run was paused is still to do, although nothing works and nothing asks.
        let (todo, rounds) = (&self.front.todo, &self.front.rounds);
        todo.is_empty() && rounds.is_empty() && self.active.is_empty() && self.asking.is_empty()
    }
}

impl Graph {
    /// The graph of a run that has not begun.
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            executions: Vector::new(),
            nodes: Vector::new(),
            branches: Vector::new(),
            current: BranchNo(0),
        }
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// An execution, rolled back or not.
    pub fn any_execution(&self, x: ExecNo) -> Option<&Arc<Execution>> {
        self.executions.get(x.0.checked_sub(1)? as usize)
    }

    /// All executions, rolled back or not, in order of creation.
    pub fn all_executions(&self) -> impl DoubleEndedIterator<Item = (ExecNo, &Arc<Execution>)> {
        self.executions.iter().enumerate().map(|(i, execution)| (ExecNo(i as u32 + 1), execution))
    }

    /// The number that the next execution gets.
    pub fn next_execution(&self) -> ExecNo {
        ExecNo(self.executions.len() as u32 + 1)
    }

    /// The execution with an id, if it is one of this run.
    pub fn find_execution(&self, id: ExecutionId) -> Option<ExecNo> {
        let x = self.run.ordinal_of(id)?;
        self.any_execution(x).map(|_| x)
    }

    /// A node.
    pub fn node(&self, n: NodeNo) -> Option<&Node> {
        self.nodes.get(n.0 as usize).map(Arc::as_ref)
    }

    /// All nodes after the first `skip`, in order of creation.
    pub fn nodes(&self, skip: u32) -> impl Iterator<Item = (NodeNo, &Node)> {
        let from = (skip as usize).min(self.nodes.len());
        let numbered = self.nodes.focus().narrow(from..).into_iter().enumerate();
        numbered.map(move |(i, node)| (NodeNo((from + i) as u32), node.as_ref()))
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// A branch.
    pub fn branch(&self, b: BranchNo) -> Option<&Branch> {
        self.branches.get(b.0 as usize).map(Arc::as_ref)
    }

    /// All branches, live or retired.
    pub fn branches(&self) -> impl Iterator<Item = (BranchNo, &Branch)> {
        self.branches.iter().enumerate().map(|(b, branch)| (BranchNo(b as u32), branch.as_ref()))
    }

    /// The number that the next branch gets.
    pub fn next_branch(&self) -> BranchNo {
        BranchNo(self.branches.len() as u32)
    }

    /// The live branch that was written last.
    pub fn current(&self) -> BranchNo {
        self.current
    }

    /// The node before a node.
    pub fn parent(&self, n: NodeNo) -> Option<NodeNo> {
        let node = self.node(n)?;
        node.parent.or_else(|| n.0.checked_sub(1).map(NodeNo))
    }

    /// A node, or its nearest ancestor that moved a head.
    pub fn anchor(&self, n: NodeNo) -> Option<NodeNo> {
        let mut at = n;
        while self.node(at)?.moved.is_none() {
            at = self.parent(at)?;
        }
        Some(at)
    }

    /// The front at a node: what there was to do when the command that made it was done.
    pub fn front_at(&self, n: NodeNo) -> Option<Front> {
        self.read_front(n).map(|(front, _)| front)
    }

    /// The front at a node, and how many bytes of deltas were read for it.
    fn read_front(&self, n: NodeNo) -> Option<(Front, u64)> {
        let (mut way, mut bytes, mut at) = (Vec::new(), 0, Some(self.anchor(n)?));
        let mut front = Front::default();
        while let Some(n) = at {
            let moved = self.node(n)?.moved.as_ref()?;
            if let Some(kept) = &moved.kept {
                front = Front::clone(kept);
                break;
            }
            bytes += moved.delta.bytes();
            way.push(n);
            at = self.parent(n).and_then(|parent| self.anchor(parent));
        }
        for n in way.into_iter().rev() {
            let node = self.node(n)?;
            if let Some(moved) = &node.moved {
                self.apply_delta(&mut front, &moved.delta);
            }
            self.apply_kind(&mut front, &node.kind);
        }
        Some((front, bytes))
    }

    /// Changes a front as a delta says.
    fn apply_delta(&self, front: &mut Front, delta: &FrontDelta) {
        for x in &delta.made {
            if let Some(execution) = self.any_execution(*x) {
                front.reach(execution.place.clone());
            }
        }
        delta.reached.iter().for_each(|place| front.reach(place.clone()));
        delta.done.iter().for_each(|place| front.finish(place));
        delta.changes.iter().for_each(|change| front.apply(change));
    }

    /// What follows from a node's kind: its own place is done.
    fn apply_kind(&self, front: &mut Front, kind: &NodeKind) {
        match kind {
            NodeKind::Start => {}
            NodeKind::Step(x) => {
                if let Some(execution) = self.any_execution(*x) {
                    front.finish(&execution.place);
                    front.set_last(execution.place.step.clone(), *x);
                }
            }
            NodeKind::Gate(_, place, _) => front.finish(place),
            // Their front is that of the node that they hang off.
            NodeKind::Snapshot(_) | NodeKind::Blocked(_) => {}
        }
    }

    pub(super) fn edit(&mut self, x: ExecNo, change: impl FnOnce(&mut Execution)) {
        let Some(i) = x.0.checked_sub(1) else { return };
        if let Some(execution) = self.executions.get_mut(i as usize) {
            change(Arc::make_mut(execution));
        }
    }

    pub(super) fn edit_branch(&mut self, b: BranchNo, change: impl FnOnce(&mut Branch)) {
        if let Some(branch) = self.branches.get_mut(b.0 as usize) {
            change(Arc::make_mut(branch));
        }
    }

    /// The run begins: the first node and the first branch.
    pub(super) fn start(&mut self, command: CommandId) {
        if !self.nodes.is_empty() {
            return;
        }
        let moved = Some(Moved::default());
        self.nodes.push_back(Arc::new(Node {
            parent: None,
            branch: BranchNo(0),
            kind: NodeKind::Start,
            moved,
        }));
        self.branches.push_back(Arc::new(Branch {
            from: NodeNo(0),
            head: NodeNo(0),
            cause: Cause::Start,
            pending: FrontDelta::default(),
            by: Some(command),
            since: 0,
            active: OrdSet::new(),
            queued: Vector::new(),
            asking: OrdSet::new(),
            retired: None,
            front: Front::default(),
        }));
    }

    /// A visit to a step was made.
    pub(super) fn add_execution(&mut self, x: ExecNo, execution: Execution, command: CommandId) {
        // The log never holds another number; a fold that took one would give later executions wrong ids.
        if x != self.next_execution() {
            return;
        }
        let (b, place) = (execution.branch, execution.place.clone());
        self.executions.push_back(Arc::new(execution));
        self.edit_branch(b, |branch| {
            branch.active.insert(x);
            // Most often it is the first, or none waits.
            if let Some(at) = branch.queued.iter().position(|queued| *queued == place) {
                branch.queued.remove(at);
            }
        });
        self.change_front(b, &FrontDelta { made: vec![x], ..FrontDelta::default() }, command);
    }

    /// A choice of the plan was reached.
    pub(super) fn ask(&mut self, b: BranchNo, gate: GateId, place: &Place, command: CommandId) {
        self.edit_branch(b, |branch| {
            branch.asking.insert(gate);
        });
        self.change_front(b, &FrontDelta { reached: vec![place.clone()], ..FrontDelta::default() }, command);
    }

    /// A front changed in a way that no other event implies. Places that were only reached wait for others to end.
    pub(super) fn moved(&mut self, b: BranchNo, delta: &FrontDelta, command: CommandId) {
        self.change_front(b, delta, command);
        if !delta.reached.is_empty() {
            self.edit_branch(b, |branch| branch.queued.extend(delta.reached.iter().cloned()));
        }
    }

    /// A front changed. Changes by the command that made the head belong to the head; others wait for the next node,
    /// so that the front at a node never depends on what happens after it.
    fn change_front(&mut self, b: BranchNo, delta: &FrontDelta, command: CommandId) {
        self.keep_front(b, command);
        self.current = b;
        let Some(branch) = self.branch(b) else { return };
        let shared = planted(Bug::ForkSharesDelta) && branch.by.is_none();
        let (mut front, head, own) =
            (branch.front.clone(), branch.head, branch.by == Some(command) || shared);
        self.apply_delta(&mut front, delta);
        if own && let Some(node) = self.nodes.get_mut(head.0 as usize) {
            Arc::make_mut(node).moved.get_or_insert_default().delta.extend(delta);
        }
        self.edit_branch(b, |branch| {
            branch.front = front;
            if own {
                branch.since += delta.bytes();
            } else {
                branch.pending.extend(delta);
            }
        });
    }

    /// A step is done or a choice was answered: the branch has a new head.
    ///
    /// A client continues from a node that may hang off the head: it becomes the parent, so that a retry follows the
    /// refused try.
    pub(super) fn add_node(
        &mut self,
        b: BranchNo,
        kind: NodeKind,
        from: Option<NodeNo>,
        command: CommandId,
    ) -> NodeNo {
        self.keep_front(b, command);
        self.current = b;
        let n = NodeNo(self.nodes.len() as u32);
        let from = from.and_then(|from| Some((from, self.anchor(from)?)));
        let Some(branch) = self.branches.get_mut(b.0 as usize).map(Arc::make_mut) else { return n };
        let mut delta = std::mem::take(&mut branch.pending);
        if planted(Bug::FrontWithoutPending) {
            delta = FrontDelta::default();
        }
        let place = match &kind {
            NodeKind::Start => None,
            NodeKind::Step(x) => {
                branch.active.remove(x);
                self.executions.get(x.0 as usize - 1).map(|execution| execution.place.clone())
            }
            NodeKind::Gate(gate, place, _) => {
                branch.asking.remove(gate);
                Some(place.clone())
            }
            NodeKind::Snapshot(_) | NodeKind::Blocked(_) => None,
        };
        if let Some(change) = place.and_then(|place| branch.front.child_done(&place)) {
            branch.front.apply(&change);
            delta.changes.push(change);
        }
        branch.since += delta.bytes();
        branch.by = Some(command);
        // Where the branch has moved on since, its front has too: only its head may be the parent then.
        let parent = from.filter(|(_, anchor)| *anchor == branch.head).map_or(branch.head, |(from, _)| from);
        let parent = (n.0 != parent.0 + 1).then_some(parent);
        branch.head = n;
        let mut front = std::mem::take(&mut branch.front);
        self.apply_kind(&mut front, &kind);
        self.edit_branch(b, |branch| branch.front = front);
        let moved = Some(Moved { delta, kept: None });
        self.nodes.push_back(Arc::new(Node { parent, branch: b, kind, moved }));
        n
    }

    /// A node that hangs off another one: it moves no head, and its front is that of the node. None where that node is
    /// unknown: a parent must be older than its child, or the way up would have no end.
    pub(super) fn hang(&mut self, at: NodeNo, kind: NodeKind) -> Option<NodeNo> {
        let n = NodeNo(self.nodes.len() as u32);
        let branch = self.node(at)?.branch;
        let parent = (n.0 != at.0 + 1).then_some(at);
        self.nodes.push_back(Arc::new(Node { parent, branch, kind, moved: None }));
        Some(n)
    }

    /// Keeps the front in the head when the first event of another command touches the branch and the deltas up to
    /// the last kept front weigh as much as the front: folds stay linear in steps, and a front is read in bounded time.
    fn keep_front(&mut self, b: BranchNo, command: CommandId) {
        let Some(branch) = self.branch(b) else { return };
        let is_settled = branch.by != Some(command) && branch.pending.is_empty();
        if !is_settled || branch.since < KEEP_LEAST.max(branch.front.weight()) {
            return;
        }
        let (head, front) = (branch.head, branch.front.clone());
        self.keep_at(head, front);
        self.edit_branch(b, |branch| branch.since = 0);
    }

    fn keep_at(&mut self, n: NodeNo, front: Front) {
        if let Some(moved) = self.nodes.get_mut(n.0 as usize).and_then(|n| Arc::make_mut(n).moved.as_mut()) {
            moved.kept = Some(Arc::new(front));
        }
    }

    /// Makes a branch that continues from a node.
    pub(super) fn branch_from(&mut self, b: BranchNo, from: NodeNo, cause: Cause) {
        if b != self.next_branch() {
            return;
        }
        let Some(from) = self.anchor(from) else { return };
        let Some((front, mut since)) = self.read_front(from) else { return };
        let limit = KEEP_LEAST.max(front.weight());
        // Chains of forks would make the way to the nearest kept front longer and longer.
        if since > 2 * limit {
            self.keep_at(from, front.clone());
            since = 0;
        }
        self.branches.push_back(Arc::new(Branch {
            from,
            head: from,
            cause,
            pending: FrontDelta::default(),
            by: None,
            // Many forks of one node must not each keep a front of their own at once.
            since: since.min(limit / 2),
            active: OrdSet::new(),
            queued: Vector::new(),
            asking: OrdSet::new(),
            retired: None,
            front,
        }));
    }

    /// The executions of the nodes between a head and an older node, newest first; the older node's is not one.
    pub(super) fn between(&self, head: NodeNo, from: NodeNo) -> Vec<(NodeNo, Option<ExecNo>)> {
        let (mut found, mut at) = (Vec::new(), Some(head));
        while let Some(n) = at.filter(|n| n.0 > from.0) {
            let x = match self.node(n).map(|node| &node.kind) {
                Some(NodeKind::Step(x)) => Some(*x),
                Some(NodeKind::Start | NodeKind::Gate(..) | NodeKind::Snapshot(_) | NodeKind::Blocked(_))
                | None => None,
            };
            found.push((n, x));
            at = self.parent(n);
        }
        found
    }
}
