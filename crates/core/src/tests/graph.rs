//! The run graph: fronts do not depend on what happens later (P1), folds grow with steps and forks (P4), and every
//! node has its place (P6).

use std::collections::BTreeMap;

use serde_json::json;

use crate::event::{Place, RunEvent, Usage};
use crate::state::run::{Front, FrontChange, FrontDelta, Layer, RunState, Var};
use crate::testing::run_id;
use crate::{Actor, BranchNo, CommandId, ExecNo, NodeNo, RollbackId, Stamp, StepId, Timestamp};

/// Fronts as they were when the commands that made their nodes were done.
#[derive(Default)]
pub(super) struct Fronts(BTreeMap<NodeNo, Front>);

impl Fronts {
    /// Remembers the fronts of the nodes that a command made.
    pub fn remember(&mut self, before: u32, after: &RunState) {
        for (n, node) in after.graph.nodes(before) {
            if let Some(branch) = after.graph.branch(node.branch).filter(|branch| branch.head == n) {
                self.0.insert(n, branch.front.clone());
            }
        }
    }

    /// P1: every node still has the front that it had, also after saving and loading. P6: parents exist and come
    /// before their children, and every head has a front.
    pub fn check(&self, run: &RunState) {
        for (n, _) in run.graph.nodes(0) {
            assert!(run.graph.parent(n).is_none_or(|parent| parent < n), "the parent of node {}", n.0);
            assert_eq!(run.graph.parent(n).is_none(), n == NodeNo(0));
        }
        let saved = serde_json::to_vec(run).expect("a state can be saved");
        let loaded: RunState = serde_json::from_slice(&saved).expect("a saved state can be read");
        for (n, front) in &self.0 {
            assert_eq!(run.graph.front_at(*n).as_ref(), Some(front), "front at node {}", n.0);
            assert_eq!(loaded.graph.front_at(*n).as_ref(), Some(front), "front at node {} when loaded", n.0);
        }
        for (b, branch) in run.graph.branches() {
            assert_eq!(run.graph.anchor(branch.head), Some(branch.head), "the head of branch {}", b.0);
            let front = loaded.graph.branch(b).map(|loaded| &loaded.front);
            assert_eq!(front, Some(&branch.front), "the front of branch {} when loaded", b.0);
        }
    }
}

/// A run that is folded event by event, each command with an id of its own.
struct Fold {
    run: RunState,
    commands: u128,
}

impl Fold {
    fn new() -> Self {
        let mut fold = Self { run: RunState::new(run_id(1)), commands: 0 };
        fold.command(&[RunEvent::Began {}]);
        fold
    }

    fn command(&mut self, events: &[RunEvent]) {
        self.commands += 1;
        let actor = Actor::system();
        let command = CommandId(uuid::Uuid::from_u128(self.commands));
        let stamp = Stamp { at: Timestamp(1_000_000), actor: &actor, command };
        for event in events {
            self.run.apply(&stamp, event);
        }
    }

    /// One step of a branch, as a chain does it: the last execution is done, the next one is made.
    fn step(&mut self, branch: BranchNo, step: &str, more: impl IntoIterator<Item = FrontChange>) {
        let active = self.run.graph.branch(branch).and_then(|b| b.active.get_min().copied());
        let done = active.map(|x| RunEvent::ExecutionCompleted { x, output: None, usage: Usage::default() });
        let x = self.run.graph.next_execution();
        let visit = x.0;
        let place = Place { step: StepId::new(step), path: Vec::new(), visit };
        let made = RunEvent::ExecutionMade {
            x,
            branch,
            place,
            position: 0,
            name: None,
            body: None,
            max_attempts: 1,
            max_revisions: 0,
            held: false,
            feedback: None,
            outside: false,
        };
        let changes: Vec<FrontChange> = more.into_iter().collect();
        let delta = FrontDelta { changes, ..FrontDelta::default() };
        let moved = (!delta.is_empty()).then_some(RunEvent::FrontMoved { branch, delta });
        let events: Vec<RunEvent> = done.into_iter().chain([made]).chain(moved).collect();
        self.command(&events);
    }

    fn fork(&mut self, from: NodeNo) -> BranchNo {
        let branch = self.run.graph.next_branch();
        self.command(&[RunEvent::Forked { branch, from }]);
        branch
    }

    fn head(&self, branch: BranchNo) -> NodeNo {
        self.run.graph.branch(branch).expect("a branch").head
    }

    fn bytes(&self) -> usize {
        serde_json::to_vec(&self.run).expect("a state can be saved").len()
    }
}

fn note(n: u32, size: usize) -> FrontChange {
    let var = Var { value: json!("x".repeat(size)).into(), layer: Layer::Useful };
    FrontChange::Context(format!("note{}", n % 50).into(), Some(var))
}

/// P4: twice the work takes at most 2.2 times the bytes, and each unit of it at most so many. Without the second, a whole front
/// per fork would pass: that grows evenly too.
#[track_caller]
fn grows_evenly(n: u32, most: usize, work: impl Fn(&mut Fold, u32)) {
    let bytes = |n: u32| {
        let mut fold = Fold::new();
        work(&mut fold, n);
        fold.bytes()
    };
    let (once, twice) = (bytes(n), bytes(2 * n));
    assert!(twice * 10 <= once * 22, "{once} bytes for {n}, {twice} for {}", 2 * n);
    let each = (twice - once) / n as usize;
    assert!(each <= most, "{each} bytes for each of {n}, at most {most}");
}

#[test]
fn a_fold_grows_with_its_steps() {
    grows_evenly(2_000, 400, |fold, n| (0..n).for_each(|_| fold.step(BranchNo(0), "again", [])));
    grows_evenly(2_000, 600, |fold, n| (0..n).for_each(|i| fold.step(BranchNo(0), &format!("step{i}"), [])));
    // 50 context values of 1 kB each: whole fronts of 50 kB must not be kept at every step.
    grows_evenly(1_000, 3_000, |fold, n| (0..n).for_each(|i| fold.step(BranchNo(0), "a", [note(i, 1_000)])));
}

#[test]
fn a_fold_grows_with_its_forks() {
    let prepared = |fold: &mut Fold| (0..200).for_each(|i| fold.step(BranchNo(0), "a", [note(i, 500)]));
    // Many forks of one node.
    grows_evenly(300, 6_000, |fold, n| {
        prepared(fold);
        let from = NodeNo(150);
        for _ in 0..n {
            let branch = fold.fork(from);
            (0..4).for_each(|i| fold.step(branch, "b", [note(i, 500)]));
        }
    });
    // A chain of forks, each from the node before its branch's head.
    grows_evenly(300, 6_000, |fold, n| {
        prepared(fold);
        let mut branch = BranchNo(0);
        for i in 0..n {
            let from = fold.run.graph.parent(fold.head(branch)).expect("a node before");
            branch = fold.fork(from);
            (0..3).for_each(|k| fold.step(branch, "c", [note(i + k, 500)]));
        }
    });
}

#[test]
fn a_step_of_a_chain_is_a_few_bytes() {
    let mut fold = Fold::new();
    (0..100).for_each(|_| fold.step(BranchNo(0), "again", []));
    let node = fold.run.graph.node(NodeNo(60)).expect("a node");
    let saved = serde_json::to_string(node).expect("a node can be saved");
    assert_eq!(saved, r#"{"k":{"x":60},"m":{"d":{"m":[61]}}}"#);
}

#[test]
fn changes_by_other_commands_belong_to_the_next_node() {
    let mut fold = Fold::new();
    fold.step(BranchNo(0), "a", []);
    fold.step(BranchNo(0), "b", []);
    let first = fold.run.graph.front_at(NodeNo(1)).expect("a front");
    let moved = FrontDelta { changes: vec![note(1, 3)], ..FrontDelta::default() };
    fold.command(&[RunEvent::FrontMoved { branch: BranchNo(0), delta: moved }]);
    assert_eq!(fold.run.graph.front_at(NodeNo(1)), Some(first), "a later command changes no earlier front");
    fold.step(BranchNo(0), "c", []);
    let second = fold.run.graph.front_at(NodeNo(2)).expect("a front");
    assert_eq!(second.context.len(), 1, "it is in the front of the next node");
    assert_eq!(second.last.get(&StepId::new("b")), Some(&ExecNo(2)));
    assert_eq!(second.todo.iter().map(|place| &*place.step.0).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn a_rollback_marks_only_what_no_other_branch_has_in_its_past() {
    let mut fold = Fold::new();
    (0..6).for_each(|_| fold.step(BranchNo(0), "a", []));
    let fork = fold.fork(NodeNo(3));
    fold.step(fork, "b", []);
    let rollback = RollbackId(uuid::Uuid::from_u128(9));
    fold.command(&[RunEvent::RolledBack {
        branch: fold.run.graph.next_branch(),
        from: NodeNo(1),
        retires: BranchNo(0),
        rollback,
        archive: "archive/".into(),
    }]);
    let marked = |fold: &Fold| -> Vec<u32> {
        let all = fold.run.graph.all_executions();
        all.filter(|(_, e)| e.rolled_back.is_some()).map(|(x, _)| x.0).collect()
    };
    assert_eq!(marked(&fold), [4, 5, 6], "1 stays, and so do 2 and 3, which the fork comes from");
    fold.command(&[RunEvent::Undone { rollback }]);
    assert_eq!(marked(&fold), [0; 0]);
    assert!(fold.run.graph.branch(BranchNo(0)).is_some_and(crate::state::run::Branch::is_live));
    assert!(fold.run.graph.branch(BranchNo(2)).is_some_and(|branch| !branch.is_live()));
}
