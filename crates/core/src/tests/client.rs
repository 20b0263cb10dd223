//! Work by a client: advance, block, fork, snapshots, acknowledgements, recoveries.

use std::sync::Arc;

use expect_test::expect;
use serde_json::json;

use crate::plan::body::{Approval, Check, Criteria, SnapshotSpec, Work};
use crate::plan::{AtLimit, Body, Loop, OnError, Over, PlanKind, PlanStep};
use crate::state::run::{AckTo, AskKind, NodeKind, RunStatus};
use crate::testing::{
    Scene, When, approve, expr, hand_in, hand_in_with, node, on_run, outside, plan_of, repeated, resume,
    revise, snapshot, start_plan, step, when,
};
use crate::{Answer, BranchNo, ExecNo, NodeNo, Plan, RunCommand, StepId, Target};

fn steps(names: &[&str]) -> Vec<PlanStep> {
    let mut before: Vec<&str> = Vec::new();
    names
        .iter()
        .map(|name| {
            let made = step(name, &before);
            before = vec![name];
            made
        })
        .collect()
}

fn with_notes() -> Body {
    let mut body = outside();
    body.checks = vec![Check::Notes(Criteria::default())];
    body
}

fn started(plan: Plan) -> Scene {
    let mut scene = Scene::new();
    scene.run(start_plan(1, &Arc::new(plan)));
    scene
}

fn chain(body: &Body) -> Scene {
    started(plan_of(steps(&["a", "b", "c"]), body))
}

fn led_to(scene: &Scene, node: u32, attempt: u32) -> String {
    match scene.ack(1, node, attempt).map(|ack| ack.to) {
        Some(AckTo::Node(n)) => format!("n{}", n.0),
        Some(AckTo::Waiting(_)) => "waiting".to_owned(),
        None => "nothing".to_owned(),
    }
}

#[test]
fn a_client_does_a_run_step_by_step() {
    let mut scene = chain(&with_notes());
    assert!(scene.state(1).owed.is_empty(), "nothing is owed for a client's step");
    scene.as_agent().check(
        hand_in_with(1, 0, 1, "done", json!({"found": 3})),
        expect![[r#"
            run R1: HandedIn x1
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 b at 1
            run R1: FrontMoved
        "#]],
    );
    assert_eq!(scene.context(1, "found"), Some(json!(3)));
    assert_eq!(led_to(&scene, 0, 1), "n1");
    scene.run(hand_in(1, 1, 1, "done"));
    scene.check(
        hand_in(1, 2, 1, "done"),
        expect![[r#"
            run R1: HandedIn x3
            run R1: ExecutionCompleted x3
            run R1: Completed
        "#]],
    );
}

#[test]
fn a_call_counts_once() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in(1, 0, 1, "done"));
    let before = scene.state(1).clone();
    scene.check(
        hand_in(1, 0, 1, "something else"),
        expect![[r#"
            in effect already
        "#]],
    );
    assert_eq!(&before, scene.state(1));
    scene.check_faults(
        hand_in(1, 1, 2, "too early"),
        expect![[r#"
            /attempt: attempts at this node are 1 to 1
        "#]],
    );
}

#[test]
fn refused_results_make_a_chain() {
    let mut scene = chain(&with_notes());
    scene.check(
        hand_in(1, 0, 1, ""),
        expect![[r#"
            run R1: HandedIn x1
            run R1: Blocked x1
        "#]],
    );
    assert_eq!(led_to(&scene, 0, 1), "n1");
    // The retry continues from the refused try, and so does the one after it.
    scene.run(hand_in(1, 1, 1, " "));
    scene.run(hand_in(1, 2, 1, "done"));
    let graph = &scene.state(1).graph;
    let parents: Vec<_> = (1..=3).map(|n| graph.parent(NodeNo(n)).map(|parent| parent.0)).collect();
    assert_eq!(parents, [Some(0), Some(1), Some(2)]);
    assert_eq!(graph.anchor(NodeNo(2)), Some(NodeNo(0)));
    assert_eq!(graph.branch(BranchNo(0)).map(|branch| branch.head), Some(NodeNo(3)));
    assert_eq!(graph.branches().count(), 1, "a retry is no fork");
    assert!(matches!(graph.node(NodeNo(3)).map(|node| &node.kind), Some(NodeKind::Step(ExecNo(1)))));
    // The node that was blocked first can be tried again as well: its head is the same no more, so that forks.
    scene.run(hand_in(1, 0, 2, "done differently"));
    assert_eq!(scene.state(1).graph.branches().count(), 2);
}

#[test]
fn continuing_from_an_older_node_forks() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in_with(1, 0, 1, "first", json!({"way": "first"})));
    scene.run(hand_in(1, 1, 1, "second"));
    scene.check(
        hand_in_with(1, 0, 2, "other", json!({"way": "other"})),
        expect![[r#"
            run R1: Forked
            run R1: ExecutionMade x4 a at 0
            run R1: HandedIn x4
            run R1: ExecutionCompleted x4
            run R1: ExecutionMade x5 b at 1
            run R1: FrontMoved
        "#]],
    );
    let graph = &scene.state(1).graph;
    assert_eq!(graph.current(), BranchNo(1));
    let way = |b: u32| {
        let front = &graph.branch(BranchNo(b)).expect("a branch").front;
        front.context.get("way").map(|var| var.value.to_string())
    };
    assert_eq!((way(0), way(1)), (Some("\"first\"".to_owned()), Some("\"other\"".to_owned())));
    // The old branch is live, and its head continues without a fork.
    scene.run(hand_in(1, 2, 1, "third"));
    assert_eq!(scene.state(1).graph.branches().count(), 2);
    assert_eq!(scene.status(1), "completed");
    // The other one is not done: continuing there opens the run again.
    scene.check(
        hand_in(1, 3, 1, "second"),
        expect![[r#"
            run R1: Reopened
            run R1: HandedIn x5
            run R1: ExecutionCompleted x5
            run R1: ExecutionMade x6 c at 2
        "#]],
    );
    assert_eq!(scene.state(1).status, RunStatus::InProgress);
}

#[test]
fn a_fork_is_made_also_when_its_result_is_refused() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in(1, 0, 1, "first"));
    scene.check(
        hand_in(1, 0, 2, ""),
        expect![[r#"
            run R1: Forked
            run R1: ExecutionMade x3 a at 0
            run R1: HandedIn x3
            run R1: Blocked x3
        "#]],
    );
    // The retry stays on the fork.
    scene.run(hand_in(1, 2, 1, "done"));
    assert_eq!(scene.state(1).graph.branches().count(), 2);
    assert_eq!(scene.state(1).graph.node(NodeNo(3)).map(|node| node.branch), Some(BranchNo(1)));
}

#[test]
fn a_confirmation_holds_exactly_what_was_handed_in() {
    let mut body = with_notes();
    body.policy.approve_complete = Approval::when(true);
    let mut scene = chain(&body);
    scene.check(
        hand_in_with(1, 0, 1, "a plan", json!({"plan": "a"})),
        expect![[r#"
            run R1: HandedIn x1
            run R1: Asked x1 approve_complete
        "#]],
    );
    assert_eq!(led_to(&scene, 0, 1), "waiting");
    let shown = scene.shown(1, 1);
    scene.check(
        hand_in_with(1, 0, 1, "another plan", json!({"plan": "b"})),
        expect![[r#"
            in effect already
        "#]],
    );
    assert_eq!(scene.shown(1, 1), shown);
    let approval = approve(&scene, 1, 1);
    scene.as_agent().check_code(approval, "not_a_person");
    scene.actor = crate::Actor::person("ann");
    scene.check(
        revise(1, 1, "shorter"),
        expect![[r#"
            run R1: RevisionAsked x1 shorter
            run R1: Blocked x1
        "#]],
    );
    assert_eq!(led_to(&scene, 0, 1), "n1");
    assert_eq!(scene.execution(1, 1).blocks, 0, "a person's wish is no failed try");
    scene.run(hand_in_with(1, 1, 1, "a short plan", json!({"plan": "c"})));
    scene.check(
        approve(&scene, 1, 1),
        expect![[r#"
            run R1: Approved x1
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 b at 1
            run R1: FrontMoved
        "#]],
    );
    assert_eq!((led_to(&scene, 0, 1), led_to(&scene, 1, 1)), ("n1".to_owned(), "n2".to_owned()));
    assert_eq!(scene.context(1, "plan"), Some(json!("c")));
}

fn blocked_answer(scene: &Scene, option: &str) -> When {
    let (gate, open) = scene.state(1).gates.iter().next().expect("a gate");
    let answer = Answer::new(Target::Gate(*gate), AskKind::Blocked, option);
    on_run(1, RunCommand::Answer(Answer { digest: Some(open.digest), ..answer }))
}

#[test]
fn too_many_refusals_in_a_row_ask_a_person() {
    let mut body = with_notes();
    body.policy.max_blocked = 2;
    let blocked = || {
        let mut scene = chain(&body);
        scene.run(hand_in_with(1, 0, 1, "", json!({"kept": 1})));
        scene.check(
            hand_in_with(1, 1, 1, "", json!({"kept": 2})),
            expect![[r#"
                run R1: HandedIn x1
                run R1: Blocked x1
                run R1: Asked x1 blocked
            "#]],
        );
        scene
    };
    let mut scene = blocked();
    assert_eq!((led_to(&scene, 0, 1), led_to(&scene, 1, 1)), ("n1".to_owned(), "waiting".to_owned()));
    scene.check(
        hand_in(1, 0, 2, "good"),
        expect![[r#"
            in effect already
        "#]],
    );
    scene.check(
        blocked_answer(&scene, "retry"),
        expect![[r#"
            run R1: GateAnswered
        "#]],
    );
    assert_eq!(led_to(&scene, 1, 1), "n2");
    scene.run(hand_in(1, 2, 1, "good"));
    assert_eq!(scene.state(1).current().map(|(x, _)| x), Some(ExecNo(2)));
    let mut scene = blocked();
    scene.check(
        blocked_answer(&scene, "accept"),
        expect![[r#"
            run R1: GateAnswered
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 b at 1
            run R1: FrontMoved
        "#]],
    );
    assert_eq!((led_to(&scene, 1, 1), scene.context(1, "kept")), ("n3".to_owned(), Some(json!(2))));
    let mut scene = blocked();
    scene.run(blocked_answer(&scene, "abort"));
    assert_eq!(scene.state(1).status, RunStatus::Aborted);
}

#[test]
fn accepting_a_refused_result_does_not_approve_it() {
    let mut body = with_notes();
    body.policy.max_blocked = 1;
    body.policy.approve_complete = Approval::when(true);
    let mut scene = chain(&body);
    scene.run(hand_in(1, 0, 1, ""));
    assert_eq!(led_to(&scene, 0, 1), "waiting");
    scene.check(
        blocked_answer(&scene, "accept"),
        expect![[r#"
            run R1: GateAnswered
            run R1: Asked x1 approve_complete
        "#]],
    );
    assert_eq!(led_to(&scene, 0, 1), "waiting");
    scene.run(approve(&scene, 1, 1));
    assert_eq!(led_to(&scene, 0, 1), "n2");
}

#[test]
fn later_conditions_read_a_result_that_a_person_approved() {
    let mut body = outside();
    body.policy.approve_complete = Approval::when(true);
    let reads = when(json!({"var": "nodes.a.notesMarkdown"}), OnError::Skip, step("b", &["a"]));
    let mut scene = started(plan_of(vec![step("a", &[]), reads], &body));
    scene.run(hand_in(1, 0, 1, "found it"));
    scene.run(approve(&scene, 1, 1));
    assert_eq!(scene.state(1).current().map(|(_, e)| e.place.step.clone()), Some(StepId::new("b")));
}

#[test]
fn a_loop_without_its_list_refuses_the_result_before_it() {
    let each = Over::Each(expr(json!({"var": "files"})));
    let plan = plan_of(
        vec![step("list", &[]), repeated("each", &["list"], each, vec![step("one", &[])])],
        &with_notes(),
    );
    let mut scene = started(plan);
    scene.check(
        hand_in(1, 0, 1, "done"),
        expect![[r#"
            run R1: HandedIn x1
            run R1: Blocked x1
        "#]],
    );
    scene.run(hand_in_with(1, 1, 1, "done", json!({"files": ["a"]})));
    assert_eq!(scene.execution(1, 2).place.step, StepId::new("one"));
}

#[test]
fn snapshots_hang_off_their_node() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in(1, 0, 1, "done"));
    scene.check(
        snapshot(1, 1, "before the change"),
        expect![[r#"
            run R1: SnapshotTaken
        "#]],
    );
    scene.check(
        snapshot(1, 1, "before the change"),
        expect![[r#"
            in effect already
        "#]],
    );
    scene.run(snapshot(1, 1, "another"));
    assert_eq!(scene.state(1).graph.node_count(), 4);
    assert_eq!(scene.state(1).graph.front_at(NodeNo(2)), scene.state(1).graph.front_at(NodeNo(1)));
    // Continuing from the snapshot or from its node is no fork.
    scene.run(hand_in(1, 2, 1, "done"));
    assert_eq!(scene.state(1).graph.branches().count(), 1);
    assert_eq!(scene.state(1).graph.parent(NodeNo(4)), Some(NodeNo(2)));
}

fn snapshot_step(tree: bool) -> Body {
    Body::new(Work::Snapshot(SnapshotSpec { trigger: "iteration".into(), tags: Vec::new(), tree }))
}

#[test]
fn the_plan_takes_snapshots_in_passing() {
    let mut plan = plan_of(steps(&["a", "save", "b"]), &with_notes());
    plan.bodies.insert(StepId::new("save"), Arc::new(snapshot_step(false)));
    let mut scene = started(plan);
    scene.check(
        hand_in(1, 0, 1, "done"),
        expect![[r#"
            run R1: HandedIn x1
            run R1: ExecutionCompleted x1
            run R1: SnapshotTaken
            run R1: ExecutionMade x2 b at 2
        "#]],
    );
    let graph = &scene.state(1).graph;
    let front = graph.front_at(NodeNo(2)).expect("the front of the snapshot");
    assert_eq!(
        front.todo.iter().map(|place| &*place.step.0).collect::<Vec<_>>(),
        ["b"],
        "it is not taken again"
    );
}

#[test]
fn a_snapshot_with_a_folder_is_work() {
    use crate::commands::record_outcome::Outcome;
    let mut plan = plan_of(steps(&["a", "save", "b"]), &Body::command(["any"]));
    plan.bodies.insert(StepId::new("save"), Arc::new(snapshot_step(true)));
    let mut scene = started(plan);
    scene.run(crate::testing::outcome_done(&scene, 1, 1));
    let tree = crate::Digest::of(b"a tree");
    let captured = Outcome::Captured { tree, usage: crate::event::Usage::default() };
    scene.check(
        crate::testing::outcome(&scene, 1, 2, captured),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: SnapshotTaken
            run R1: ExecutionMade x3 b at 2
            run R1: AttemptBegan x3 revision 0 attempt 1
        "#]],
    );
    scene.check(
        on_run(1, RunCommand::Recover(NodeNo(3))),
        expect![[r#"
            run R1: Recovered
            run R1: ExecutionMade x4 b at 2
            run R1: Asked x4 start
            run R1: Paused Recovered
        "#]],
    );
    assert_eq!(scene.state(1).execution(ExecNo(3)), None, "the branch before was retired");
    let recovery = crate::testing::last_rollback(&scene, 1);
    scene.run(on_run(1, RunCommand::UndoRecovery(recovery)));
    assert_eq!(scene.status(1), "paused: x3 failed", "its work was cut off");
    scene.check_code(resume(1), "wrong_state");
}

#[test]
fn a_run_that_was_recovered_to_its_end_completes_when_it_is_resumed() {
    let mut scene = chain(&with_notes());
    for (parent, notes) in [(0, "first"), (1, "second"), (2, "third")] {
        scene.run(hand_in(1, parent, 1, notes));
    }
    assert_eq!(scene.status(1), "completed");
    scene.run(on_run(1, RunCommand::Recover(NodeNo(3))));
    assert_eq!(scene.status(1), "paused");
    scene.check(
        resume(1),
        expect![[r#"
            run R1: Resumed
            run R1: Completed
        "#]],
    );
}

#[test]
fn a_fork_changes_no_front_that_was_there() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in_with(1, 0, 1, "first", json!({"way": "first"})));
    scene.run(hand_in(1, 1, 1, "second"));
    let before: Vec<_> = (0..3).map(|n| scene.state(1).graph.front_at(NodeNo(n))).collect();
    scene.run(hand_in_with(1, 1, 2, "", json!({"way": "other"})));
    scene.run(hand_in_with(1, 0, 2, "other", json!({"way": "third"})));
    let after: Vec<_> = (0..3).map(|n| scene.state(1).graph.front_at(NodeNo(n))).collect();
    assert_eq!(before, after);
}

#[test]
fn what_changes_before_the_first_node_of_a_branch_is_its_own() {
    let passes = Loop { max: 2, at_limit: AtLimit::Pause, ..Loop::times(vec![step("work", &[])], 9) };
    let mut scene = started(plan_of(vec![node("loop", &[], PlanKind::Loop(passes))], &with_notes()));
    scene.run(hand_in(1, 0, 1, "first"));
    scene.run(hand_in(1, 1, 1, "second"));
    let fronts =
        |scene: &Scene| -> Vec<_> { (0..3).map(|n| scene.state(1).graph.front_at(NodeNo(n))).collect() };
    let before = fronts(&scene);
    scene.run(on_run(1, RunCommand::Recover(NodeNo(1))));
    scene.check(
        on_run(1, RunCommand::Resume { decides: true, max: Some(5) }),
        expect![[r#"
            run R1: Resumed
            run R1: FrontMoved
        "#]],
    );
    assert_eq!(fronts(&scene), before);
}

#[test]
fn values_are_marked_as_critical() {
    let mut scene = chain(&with_notes());
    scene.run(hand_in_with(1, 0, 1, "first", json!({"snippet": 1})));
    let mark = |keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).into()).collect();
        on_run(1, RunCommand::MarkCritical { node: NodeNo(1), keys })
    };
    scene.check(
        mark(&["snippet", "unknown"]),
        expect![[r#"
            run R1: FrontMoved
        "#]],
    );
    scene.check(
        mark(&["snippet"]),
        expect![[r#"
            in effect already
        "#]],
    );
    scene.run(hand_in_with(1, 1, 1, "second", json!({"snippet": 2})));
    let front = &scene.state(1).graph.branch(BranchNo(0)).expect("a branch").front;
    assert_eq!(front.context.get("snippet").map(|var| var.layer), Some(crate::state::run::Layer::Critical));
}
