//! Conditions, context, loops of every kind, and how many steps work at once.

use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};

use crate::event::RunEvent;
use crate::plan::{AtLimit, Body, Count, Loop, OnError, Over, PlanKind, PlanStep};
use crate::state::run::{AskKind, Layer, RunStatus};
use crate::testing::{
    Scene, When, expr, node, on_run, outcome_done, outcome_failed, outcome_leaving, pause, plan_of, repeated,
    resume, retry, start_plan, step, when,
};
use crate::{Answer, Event, Plan, RunCommand, Target};

fn command() -> Body {
    Body::command(["any"])
}

fn started(plan: Plan) -> Scene {
    let mut scene = Scene::new();
    scene.run(start_plan(1, &Arc::new(plan)));
    scene
}

fn of(steps: Vec<PlanStep>) -> Plan {
    plan_of(steps, &command())
}

#[test]
fn a_step_is_entered_when_its_condition_holds() {
    let is_high = json!({"is": ["severity", "equals", "high"]});
    let steps = vec![
        step("look", &[]),
        when(is_high.clone(), OnError::Skip, step("fix", &["look"])),
        when(json!({"not": is_high}), OnError::Skip, step("note", &["fix"])),
        step("end", &["note"]),
    ];
    let mut scene = started(of(steps));
    scene.check(
        outcome_leaving(&scene, 1, 1, None, json!({"severity": "High"})),
        expect![[r#"
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 fix at 1
            run R1: AttemptBegan x2 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: StepSkipped
            run R1: ExecutionMade x3 end at 3
            run R1: AttemptBegan x3 revision 0 attempt 1
        "#]],
    );
}

#[test]
fn a_condition_that_cannot_be_evaluated_is_warned_about() {
    let broken = || json!("context.nothing.here");
    let steps = vec![
        when(broken(), OnError::Skip, step("skipped", &[])),
        when(broken(), OnError::Enter, step("entered", &["skipped"])),
    ];
    let mut scene = Scene::new();
    scene.check(
        start_plan(1, &Arc::new(of(steps))),
        expect![[r#"
            run R1: Made
            run R1: Began
            run R1: Warned
            run R1: StepSkipped
            run R1: Warned
            run R1: ExecutionMade x1 entered at 1
            run R1: AttemptBegan x1 revision 0 attempt 1
        "#]],
    );
    let unread = of(vec![when(json!("broken("), OnError::Skip, step("a", &[]))]);
    Scene::new().check_faults(
        start_plan(1, &Arc::new(unread)),
        expect![[r#"
            /plan: step `a`: line 1, column 8: it ends too early
        "#]],
    );
}

#[test]
fn a_loop_makes_passes_until_its_condition_holds() {
    let until = Over::Until(expr(json!({"is": ["nodes.check.exit", "equals", 0]})));
    let body = vec![step("work", &[]), step("check", &["work"])];
    let mut scene = started(of(vec![repeated("fix", &[], until, body), step("end", &["fix"])]));
    scene.run(outcome_done(&scene, 1, 1));
    scene.check(
        outcome_leaving(&scene, 1, 2, Some(json!({"exit": 1})), json!({})),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: ExecutionMade x3 work at 0
            run R1: AttemptBegan x3 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    assert_eq!(scene.execution(1, 3).place.path[0].1, 2, "the second pass");
    assert_eq!(scene.context(1, "nodes.check"), Some(json!({"exit": 1})));
    assert_eq!(scene.context(1, "nodes.work"), None, "nothing in the plan reads it");
    scene.run(outcome_done(&scene, 1, 3));
    scene.check(
        outcome_leaving(&scene, 1, 4, Some(json!({"exit": 0})), json!({})),
        expect![[r#"
            run R1: ExecutionCompleted x4
            run R1: LoopEnded
            run R1: ExecutionMade x5 end at 1
            run R1: AttemptBegan x5 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
}

#[test]
fn an_output_that_is_too_large_stays_out_of_the_context() {
    let until = Over::Until(expr(json!({"var": "nodes.work.done"})));
    let mut scene = started(of(vec![repeated("again", &[], until, vec![step("work", &[])])]));
    let large = json!({"done": true, "more": "x".repeat(20_000)});
    scene.check(
        outcome_leaving(&scene, 1, 1, Some(large), json!({})),
        expect![[r#"
            run R1: Warned
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 work at 0
            run R1: AttemptBegan x2 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
}

#[test]
fn a_loop_goes_through_a_list() {
    let each = Over::Each(expr(json!({"var": "files"})));
    let is_last = json!({"is": ["currentItem.name", "equals", "b"]});
    let body = vec![step("work", &[]), when(is_last, OnError::Skip, step("only_b", &["work"]))];
    let mut scene = started(of(vec![step("list", &[]), repeated("each", &["list"], each, body)]));
    let files = json!({"files": [{"name": "a"}, {"name": "b"}]});
    scene.run(outcome_leaving(&scene, 1, 1, None, files));
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: StepSkipped
            run R1: ExecutionMade x3 work at 0
            run R1: AttemptBegan x3 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    scene.check(
        outcome_done(&scene, 1, 3),
        expect![[r#"
            run R1: ExecutionCompleted x3
            run R1: ExecutionMade x4 only_b at 1
            run R1: AttemptBegan x4 revision 0 attempt 1
        "#]],
    );
    scene.run(outcome_done(&scene, 1, 4));
    assert_eq!(scene.status(1), "completed");
    assert!(scene.state(1).graph.branch(crate::BranchNo(0)).is_some_and(|b| b.front.items.is_empty()));
}

#[test]
fn a_loop_without_its_list_is_passed_with_a_warning() {
    let each = Over::Each(expr(json!({"var": "files"})));
    let mut scene = Scene::new();
    scene.check(
        start_plan(1, &Arc::new(of(vec![repeated("each", &[], each, vec![step("work", &[])])]))),
        expect![[r#"
            run R1: Made
            run R1: Began
            run R1: Warned
            run R1: LoopEnded
            run R1: Completed
        "#]],
    );
}

#[test]
fn passes_are_counted_when_the_loop_is_entered() {
    let times = Over::Times(Count::Of(expr(json!({"var": "passes"}))));
    let mut scene =
        started(of(vec![step("count", &[]), repeated("l", &["count"], times, vec![step("work", &[])])]));
    scene.run(outcome_leaving(&scene, 1, 1, None, json!({"passes": "2"})));
    scene.run(outcome_leaving(&scene, 1, 2, None, json!({"passes": 9})));
    scene.run(outcome_done(&scene, 1, 3));
    assert_eq!(scene.status(1), "completed");
}

/// The answer to the only open gate, which is about a failed step.
fn answer_failed(scene: &Scene, option: &str) -> When {
    let (gate, open) = scene.state(1).gates.iter().next().expect("a gate");
    let answer = Answer::new(Target::Gate(*gate), AskKind::Failed, option);
    on_run(1, RunCommand::Answer(Answer { digest: Some(open.digest), ..answer }))
}

fn limited(at_limit: AtLimit) -> Plan {
    let over = Over::While(expr(json!({"all": []})));
    let repeat = Loop { over, max: 2, at_limit, ..Loop::times(vec![step("work", &[])], 1) };
    of(vec![node("loop", &[], PlanKind::Loop(repeat)), step("end", &["loop"])])
}

#[test]
fn a_loop_at_its_limit_continues_fails_or_pauses() {
    let at_limit = |at_limit| {
        let mut scene = started(limited(at_limit));
        scene.run(outcome_done(&scene, 1, 1));
        scene
    };
    let mut scene = at_limit(AtLimit::Continue);
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: Warned
            run R1: LoopEnded
            run R1: ExecutionMade x3 end at 1
            run R1: AttemptBegan x3 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    let mut scene = at_limit(AtLimit::Fail);
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: Failed
        "#]],
    );
    let mut scene = at_limit(AtLimit::Pause);
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: PauseAsked
            run R1: Paused LimitReached
        "#]],
    );
    scene.check_faults(
        resume(1),
        expect![[r#"
            /max_iterations: a loop has made 2 passes, which is its limit: give a higher one
        "#]],
    );
    scene.check(
        on_run(1, RunCommand::Resume { decides: false, max: Some(3) }),
        expect![[r#"
            run R1: Resumed
            run R1: ExecutionMade x3 work at 0
            run R1: AttemptBegan x3 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    scene.run(outcome_done(&scene, 1, 3));
    assert_eq!(scene.status(1), "paused", "the new limit is reached as well");
}

#[test]
fn a_limit_can_be_raised_while_a_pass_is_under_way() {
    let resume = |max| on_run(1, RunCommand::Resume { decides: false, max: Some(max) });
    let mut scene = started(limited(AtLimit::Pause));
    scene.run(pause(1));
    scene.check_faults(
        resume(2),
        expect![[r#"
            /max_iterations: no open loop of this run has a limit below 2 that can be raised
        "#]],
    );
    scene.check(
        resume(3),
        expect![[r#"
            run R1: PauseDropped
            run R1: FrontMoved
        "#]],
    );
    scene.run(outcome_done(&scene, 1, 1));
    scene.run(outcome_done(&scene, 1, 2));
    assert_eq!(scene.status(1), "in_progress: x3 in_progress");
    // Nor does the run have to be asked to pause first.
    scene.check(
        resume(9),
        expect![[r#"
            run R1: FrontMoved
        "#]],
    );
    scene.run(outcome_done(&scene, 1, 3));
    assert_eq!(scene.status(1), "in_progress: x4 in_progress");
    scene.check_code(resume(8), "invalid_fields");
    // A loop that does not wait at its limit keeps it.
    let mut scene = started(limited(AtLimit::Continue));
    scene.run(pause(1));
    scene.check_code(resume(3), "invalid_fields");
}

#[test]
fn a_retry_beside_a_loop_at_its_limit_keeps_the_pause_of_the_loop() {
    let over = Over::While(expr(json!({"all": []})));
    let repeat = Loop { over, max: 1, at_limit: AtLimit::Pause, ..Loop::times(vec![step("work", &[])], 1) };
    let beside = || {
        let nodes = vec![node("loop", &[], PlanKind::Loop(repeat.clone())), step("beside", &[])];
        let mut scene = started(of(nodes));
        scene.run(outcome_failed(&scene, 1, 2));
        scene.run(outcome_done(&scene, 1, 1));
        assert_eq!(scene.status(1), "paused: x2 failed");
        scene
    };
    let mut scene = beside();
    scene.run(retry(1, 2));
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
        run R1: ExecutionCompleted x2
        run R1: Paused LimitReached
    "#]],
    );
    let mut scene = beside();
    scene.check(
        answer_failed(&scene, "skip"),
        expect![[r#"
        run R1: GateAnswered
        run R1: PassedOver x2
        run R1: Resumed
        run R1: PauseAsked
        run R1: Paused LimitReached
    "#]],
    );
}

#[test]
fn a_loop_can_say_that_the_run_has_failed() {
    let fails = Some(expr(json!({"is": ["failures", "gte", 2]})));
    let repeat = Loop { fail_if: fails, ..Loop::times(vec![step("work", &[])], 9) };
    let mut scene = started(of(vec![node("loop", &[], PlanKind::Loop(repeat))]));
    scene.run(outcome_leaving(&scene, 1, 1, None, json!({"failures": 1})));
    scene.check(
        outcome_leaving(&scene, 1, 2, None, json!({"failures": 2})),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: FrontMoved
            run R1: Failed
        "#]],
    );
}

#[test]
fn a_whole_loop_pauses_between_passes_only() {
    let body = vec![step("work", &[]), step("check", &["work"])];
    let repeat = Loop { whole: true, ..Loop::times(body, 2) };
    let mut scene = started(of(vec![node("loop", &[], PlanKind::Loop(repeat))]));
    scene.run(pause(1));
    scene.check(
        outcome_done(&scene, 1, 1),
        expect![[r#"
            run R1: ExecutionCompleted x1
            run R1: ExecutionMade x2 check at 1
            run R1: AttemptBegan x2 revision 0 attempt 1
        "#]],
    );
    scene.check(
        outcome_done(&scene, 1, 2),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: Paused Asked
        "#]],
    );
    scene.check(
        resume(1),
        expect![[r#"
            run R1: Resumed
            run R1: ExecutionMade x3 work at 0
            run R1: AttemptBegan x3 revision 0 attempt 1
            run R1: FrontMoved
        "#]],
    );
    scene.run(outcome_done(&scene, 1, 3));
    scene.run(outcome_done(&scene, 1, 4));
    assert_eq!(scene.status(1), "completed");
}

#[test]
fn values_are_set_deleted_and_forgotten_after_their_step() {
    let mut plan = of(vec![step("a", &[]), step("b", &["a"]), step("c", &["b"])]);
    plan.layers = vec![("scratch*".into(), Layer::Ephemeral), ("goal".into(), Layer::Useful)];
    let mut scene = started(plan);
    let left = json!({"scratch_pad": 1, "debugOutput": 2, "goal": 3, "gone": 4});
    scene.run(outcome_leaving(&scene, 1, 1, None, left));
    assert_eq!(scene.context(1, "scratch_pad"), Some(json!(1)));
    scene.run(outcome_leaving(&scene, 1, 2, None, json!({"gone": null})));
    let layer = |key: &str| {
        let front = &scene.state(1).graph.branch(crate::BranchNo(0)).expect("a branch").front;
        front.context.get(key).map(|var| var.layer)
    };
    assert_eq!(layer("scratch_pad"), None, "the plan calls it ephemeral, and its step is over");
    assert_eq!(layer("debugOutput"), Some(Layer::Ephemeral), "a name alone removes nothing");
    assert_eq!((layer("goal"), layer("gone")), (Some(Layer::Useful), None));
}

#[test]
fn a_context_has_a_limit() {
    let mut scene = started(of(vec![step("a", &[]), step("b", &["a"])]));
    let much = json!({"a": "x".repeat(300 * 1024)});
    scene.check_code(outcome_leaving(&scene, 1, 1, None, much), "context_too_large");
    scene.check_code(outcome_leaving(&scene, 1, 1, None, json!({"nodes.a": 1})), "invalid_fields");
}

/// How many steps began in the events of a command.
fn begun(scene: &mut Scene, when: crate::testing::When) -> usize {
    let decision = scene.run(when);
    let events = decision.writes.iter().flat_map(|write| &write.events);
    events.filter(|event| matches!(event, Event::Run(RunEvent::AttemptBegan { .. }))).count()
}

fn wide(width: u32, parallel: u32) -> Plan {
    let names: Vec<String> = (0..width).map(|n| format!("s{n}")).collect();
    let children = names.iter().map(|name| step(name, &[])).collect();
    let steps = vec![node("group", &[], PlanKind::Group(children)), step("behind", &["group"])];
    Plan { parallel, ..of(steps) }
}

/// P8: no new step begins while as many as the plan allows have work owed.
#[test]
fn so_many_steps_work_at_once() {
    let mut scene = Scene::new();
    assert_eq!(begun(&mut scene, start_plan(1, &Arc::new(wide(10, 3)))), 3);
    for x in 1..=10 {
        assert!(scene.state(1).owed.len() <= 3);
        let expected = usize::from(x <= 7 || x == 10);
        let done = outcome_done(&scene, 1, x);
        assert_eq!(begun(&mut scene, done), expected, "after {x}");
    }
    let order: Vec<String> = scene.state(1).executions().map(|(_, e)| e.place.step.to_string()).collect();
    assert_eq!(order[..4], ["s0", "s1", "s2", "s3"], "in order of arrival");
    scene.run(outcome_done(&scene, 1, 11));
    assert_eq!(scene.status(1), "completed");
}

#[test]
fn one_command_reaches_many_places_and_passes_fewer() {
    let mut scene = Scene::new();
    assert_eq!(begun(&mut scene, start_plan(1, &Arc::new(wide(20_000, 3)))), 3);
    let queued = |scene: &Scene| scene.state(1).graph.branch(crate::BranchNo(0)).map(|b| b.queued.len());
    assert_eq!(queued(&scene), Some(20_000 - 3));
    // A loop over a step that is always left out would make a command that never ends.
    let never = when(json!({"var": "ready"}), OnError::Skip, step("never", &[]));
    let passes = |n| of(vec![node("loop", &[], PlanKind::Loop(Loop::times(vec![never.clone()], n)))]);
    Scene::new().run(start_plan(1, &Arc::new(passes(10_000))));
    Scene::new().check_code(start_plan(1, &Arc::new(passes(10_002))), "limit_reached");
}

#[test]
fn what_waits_for_others_survives_pauses_and_failures() {
    let mut scene = started(wide(4, 2));
    scene.run(outcome_failed(&scene, 1, 1));
    assert_eq!(scene.state(1).graph.branch(crate::BranchNo(0)).map(|b| b.queued.len()), Some(2));
    // A failed step pauses the run when nothing works any more: nothing begins beside it.
    scene.run(outcome_done(&scene, 1, 2));
    assert_eq!(scene.state(1).status, RunStatus::Paused);
    assert_eq!(begun(&mut scene, retry(1, 1)), 2, "the retry and one that waited");
    let saved = serde_json::to_vec(scene.state(1)).expect("saved");
    let loaded: crate::state::RunState = serde_json::from_slice(&saved).expect("loaded");
    assert_eq!(&loaded, scene.state(1));
    for x in [1, 3] {
        scene.run(outcome_done(&scene, 1, x));
    }
    scene.run(outcome_done(&scene, 1, 4));
    scene.run(outcome_done(&scene, 1, 5));
    assert_eq!(scene.status(1), "completed");
}

#[test]
fn a_failed_step_outside_pipelines_can_be_left_out_or_end_the_run() {
    let mut scene = started(of(vec![step("a", &[]), step("b", &["a"])]));
    scene.run(outcome_failed(&scene, 1, 1));
    scene.check(
        answer_failed(&scene, "skip"),
        expect![[r#"
            run R1: GateAnswered
            run R1: PassedOver x1
            run R1: Resumed
            run R1: ExecutionMade x2 b at 1
            run R1: AttemptBegan x2 revision 0 attempt 1
        "#]],
    );
    let mut scene = started(of(vec![step("a", &[]), step("b", &["a"])]));
    scene.run(outcome_failed(&scene, 1, 1));
    let abort = answer_failed(&scene, "abort");
    scene.as_agent().check_code(abort, "not_a_person");
    scene.actor = crate::Actor::person("ann");
    scene.check(
        answer_failed(&scene, "abort"),
        expect![[r#"
            run R1: GateAnswered
            run R1: Aborted
        "#]],
    );
}

#[test]
fn an_approval_may_depend_on_the_context() {
    let mut body = command();
    body.policy.approve_complete.when = crate::plan::body::When::If(expr(json!({"var": "risky"})));
    let mut scene = started(plan_of(vec![step("a", &[]), step("b", &["a"])], &body));
    scene.check(
        outcome_leaving(&scene, 1, 1, None, json!({"risky": true})),
        expect![[r#"
            run R1: WorkDone x1
            run R1: Asked x1 approve_complete
        "#]],
    );
    scene.run(crate::testing::approve(&scene, 1, 1));
    assert_eq!(scene.context(1, "risky"), Some(Value::Bool(true)), "what was approved counts");
    scene.check(
        outcome_leaving(&scene, 1, 2, None, json!({"risky": false})),
        expect![[r#"
            run R1: ExecutionCompleted x2
            run R1: FrontMoved
            run R1: Completed
        "#]],
    );
}
