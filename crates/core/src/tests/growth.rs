//! Work grows with what there is to do: twice as wide a group, or twice as many gates, take at most 2.2 times the work.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::counter::counted;
use crate::plan::{Body, Choice, ChoiceAction, ChoiceOption, PlanKind, PlanStep};
use crate::state::run::RunStatus;
use crate::testing::{Scene, outcome_done, outcome_failed, pause, start_plan};
use crate::{Plan, StepId};

fn step(id: &str, after: &[&str], kind: PlanKind) -> PlanStep {
    PlanStep::new(StepId::new(id), after.iter().map(|id| StepId::new(id)).collect(), kind)
}

fn task() -> Arc<Body> {
    Arc::new(Body::command(["any"]))
}

/// A group of so many steps, and one behind it.
fn group(width: u32) -> Arc<Plan> {
    let names: Vec<String> = (0..width).map(|n| format!("s{n}")).collect();
    let children = names.iter().map(|name| step(name, &[], PlanKind::Step)).collect();
    let steps =
        vec![step("group", &[], PlanKind::Group(children)), step("behind", &["group"], PlanKind::Step)];
    let all = names.iter().map(String::as_str).chain(["behind"]);
    let bodies: BTreeMap<_, _> = all.map(|name| (StepId::new(name), task())).collect();
    Arc::new(Plan { steps, bodies, parallel: width, ..Plan::default() })
}

/// Checks that something twice as large takes at most 2.2 times the work.
fn grows_evenly(n: u32, work: impl Fn(u32) -> u64) {
    let (once, twice) = (work(n), work(2 * n));
    assert!(twice * 10 <= once * 22, "{once} for {n}, {twice} for {}", 2 * n);
}

/// How many bytes of events a scene wrote.
fn written(scene: &Scene) -> u64 {
    scene.log.iter().map(|row| row.bytes.len() as u64).sum()
}

fn in_order(width: u32, does: impl Fn(&mut Scene, u32)) -> u64 {
    let mut scene = Scene::new();
    let looked = counted(|| {
        scene.run(start_plan(1, &group(width)));
        (1..=width).for_each(|x| does(&mut scene, x));
    });
    // A byte that is written costs about as much as ten looks at an execution.
    looked + written(&scene) / 10
}

#[test]
fn a_wide_group_is_done_in_linear_work() {
    grows_evenly(1_000, |width| {
        in_order(width, |scene, x| {
            scene.run(outcome_done(scene, 1, x));
        })
    });
}

#[test]
fn a_wide_group_that_fails_pauses_in_linear_work() {
    grows_evenly(1_000, |width| {
        in_order(width, |scene, x| {
            scene.run(outcome_failed(scene, 1, x));
            let last = x == width;
            assert_eq!(scene.state(1).status == RunStatus::Paused, last, "step {x} of {width}");
        })
    });
}

#[test]
fn a_wide_group_pauses_in_linear_work() {
    grows_evenly(1_000, |width| {
        in_order(width, |scene, x| {
            if x == 1 {
                scene.run(pause(1));
            }
            scene.run(outcome_done(scene, 1, x));
        })
    });
}

/// Many gates that each repeat the step before them, beside a long way that leads on from every one of those steps.
fn ladder(gates: u32) -> Plan {
    let choice = |repeats: &str| Choice {
        prompt: "Good?".into(),
        options: vec![
            ChoiceOption { label: "yes".into(), action: ChoiceAction::Continue },
            ChoiceOption { label: "again".into(), action: ChoiceAction::Repeat(StepId::new(repeats)) },
        ],
        ..Choice::default()
    };
    let mut steps = vec![step("w0", &[], PlanKind::Step)];
    let mut before = "w0".to_owned();
    for n in 1..=gates {
        let [s, g, w, last] = [format!("s{n}"), format!("g{n}"), format!("w{n}"), format!("w{}", n - 1)];
        steps.push(step(&s, &[&before], PlanKind::Step));
        steps.push(step(&g, &[&s], PlanKind::Gate(choice(&s))));
        steps.push(step(&w, &[&s, &last], PlanKind::Step));
        before = g;
    }
    Plan { steps, ..Plan::default() }
}

#[test]
fn repeats_are_checked_between_their_two_ranks() {
    grows_evenly(300, |gates| {
        counted(|| {
            ladder(gates).load().expect("a plan");
        })
    });
}
