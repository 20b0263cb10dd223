//! What is wanted on disk, for what can happen to a pipeline.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::PipelineCommand;
use crate::definition::OnFailure;
use crate::testing::{
    Scene, add, approve, approve_all, end_archive, failing, form, on_pipeline, outcome, outcome_report,
    pause, report, retry, roll_back, roll_back_to_run, run_id, script, start, start_step, submit, undo,
};

/// The tree as lines: the pipeline's own entries only when asked for.
fn shown(scene: &Scene, with_pipeline: bool, keep: Keep) -> String {
    let mut all = BTreeMap::new();
    let (mut gone, mut taken) = (Vec::new(), Vec::new());
    if with_pipeline {
        all.extend(pipeline(scene.pipeline()).entries);
    }
    for n in 1..10 {
        let id = crate::StreamId::Run(run_id(n));
        let Some(crate::State::Run(state)) = scene.states.get(&id) else { break };
        let wanted = run(scene.pipeline(), state, keep);
        gone.extend(wanted.gone.into_values());
        taken.extend(wanted.taken.into_keys());
        all.extend(wanted.entries);
    }
    let mut text = String::new();
    for (path, entry) in &all {
        let what = match entry {
            Entry::Folder => "/".to_owned(),
            Entry::OwnFolder => "/ (ours)".to_owned(),
            Entry::Document(_) => String::new(),
            Entry::Output { size, shared, .. } => {
                format!(" {size} bytes{}", if *shared { ", shared" } else { "" })
            }
            Entry::Link(to) => format!(" -> {to}"),
        };
        writeln!(text, "{path}{what}").expect("text grows");
    }
    for path in gone {
        writeln!(text, "gone: {path}").expect("text grows");
    }
    for path in taken {
        writeln!(text, "taken: {path}").expect("text grows");
    }
    // Ids are long, and the same every time: their ends tell them apart.
    let ids = text.split(['/', '_', '.', ' ', '\n', ':']).filter(|word| word.len() == 36).map(str::to_owned);
    let ids: std::collections::BTreeSet<String> = ids.collect();
    for id in ids {
        text = text.replace(&id, &id[32..]);
    }
    text
}

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn check(scene: &Scene, then: Expect) {
    then.assert_eq(&shown(scene, false, Keep::default()));
}

fn two_forms() -> Scene {
    Scene::new().with_pipeline(&[form("First step"), form("B")]).with_run()
}

#[test]
fn a_fresh_pipeline() {
    let scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
    expect![[r#"
        .archived/
        .errored/
        .pipeline_system/definitions/checkpoints/
        .pipeline_system/definitions/checkpoints/d340.json
        .pipeline_system/definitions/checkpoints/bb3b.json
        .pipeline_system/definitions/pipeline.json
        .pipeline_system/logs/
        .temp/
        runs/
        scripts/
    "#]]
    .assert_eq(&shown(&scene, true, Keep::default()));
}

#[test]
fn a_fresh_run() {
    expect![[r#"
        .archived/
        .errored/
        .pipeline_system/definitions/checkpoints/
        .pipeline_system/definitions/checkpoints/d340.json
        .pipeline_system/definitions/checkpoints/bb3b.json
        .pipeline_system/definitions/pipeline.json
        .pipeline_system/logs/
        .temp/
        .temp/exec_1001/artifacts_staging/
        .temp/exec_1001/workspace/
        runs/
        runs/latest -> v1
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&shown(&two_forms(), true, Keep::default()));
}

#[test]
fn staged_then_promoted_then_cleaned_up() {
    let mut scene = two_forms();
    scene.run(submit(1, 1, json!({"answer": "yes"})));
    check(
        &scene,
        expect![[r#"
            .temp/exec_1001/artifacts_staging/
            .temp/exec_1001/artifacts_staging/a_ecaf8cb3.json 21 bytes, shared
            .temp/exec_1001/workspace/
            runs/v1/run_info.json
            taken: .temp/exec_1001/artifacts_staging/a.json
        "#]],
    );
    scene.run(approve(&scene, 1, 1));
    check(
        &scene,
        expect![[r#"
            .temp/exec_1002/artifacts_staging/
            .temp/exec_1002/workspace/
            runs/v1/checkpoint_0_First_step/outputs/ (ours)
            runs/v1/checkpoint_0_First_step/outputs/a_ecaf8cb3_v1.json 21 bytes
            runs/v1/run_info.json
        "#]],
    );
    scene.run(start_step(&scene, 1));
    check(
        &scene,
        expect![[r#"
            .temp/exec_1002/artifacts_staging/
            .temp/exec_1002/workspace/
            runs/v1/checkpoint_0_First_step/outputs/ (ours)
            runs/v1/checkpoint_0_First_step/outputs/a_ecaf8cb3_v1.json 21 bytes
            runs/v1/run_info.json
            gone: .temp/exec_1001
        "#]],
    );
    approve_all(&mut scene, 1);
    check(
        &scene,
        expect![[r#"
            runs/v1/checkpoint_0_First_step/outputs/ (ours)
            runs/v1/checkpoint_0_First_step/outputs/a_ecaf8cb3_v1.json 21 bytes
            runs/v1/checkpoint_1_B/outputs/ (ours)
            runs/v1/checkpoint_1_B/outputs/a_b757c03e_v1.json 21 bytes
            runs/v1/run_info.json
            gone: .temp/exec_1001
            gone: .temp/exec_1002
        "#]],
    );
    let keep = Keep { clean_up: false, ..Keep::default() };
    assert!(!shown(&scene, false, keep).contains("gone"));
}

#[test]
fn failed_then_tried_again() {
    let mut scene = Scene::new().with_pipeline(&[script("A", 0)]).with_run();
    let failure = crate::event::Failure::new("script_error", "it broke");
    let (artifacts, usage) = (vec![report("half")], crate::event::Usage::default());
    let broke = crate::commands::record_outcome::Outcome::Failed { failure, artifacts, usage };
    scene.run(outcome(&scene, 1, 1, broke));
    check(
        &scene,
        expect![[r#"
            .errored/exec_1001_19700101T000005Z/error_info.json
            .errored/exec_1001_19700101T000005Z/error_logs.txt
            .errored/exec_1001_19700101T000005Z/failed_artifacts/
            .errored/exec_1001_19700101T000005Z/failed_artifacts/report_3b64c57c.txt 4 bytes
            .errored/exec_1001_19700101T000005Z/workspace/
            runs/v1/run_info.json
            taken: .errored/exec_1001_19700101T000005Z/failed_artifacts/report.txt
        "#]],
    );
    let keep = Keep { errors_since: scene.now.plus_seconds(1), ..Keep::default() };
    expect![[r#"
        runs/v1/run_info.json
    "#]]
    .assert_eq(&shown(&scene, false, keep));
    scene.run(retry(1, 1));
    check(
        &scene,
        expect![[r#"
            .temp/exec_1001/artifacts_staging/
            .temp/exec_1001/workspace/
            runs/v1/run_info.json
        "#]],
    );
    scene.run(outcome_report(&scene, 1, 1, "whole"));
    check(
        &scene,
        expect![[r#"
            runs/v1/checkpoint_0_A/outputs/ (ours)
            runs/v1/checkpoint_0_A/outputs/report_26bb6a0d_v1.txt 5 bytes
            runs/v1/run_info.json
            gone: .temp/exec_1001
        "#]],
    );
}

#[test]
fn a_failure_that_goes_back_by_itself() {
    let back = failing(script("A", 0), OnFailure::RollbackCheckpoint);
    let mut scene = Scene::new().with_pipeline(&[back]).with_run();
    let failure = crate::event::Failure::new("script_error", "it broke");
    let (artifacts, usage) = (vec![report("half")], crate::event::Usage::default());
    let broke = crate::commands::record_outcome::Outcome::Failed { failure, artifacts, usage };
    scene.run(outcome(&scene, 1, 1, broke));
    expect![[r#"
        .archived/
        .archived/rollback_99f5_19700101T000005Z/archived_data/
        .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/error_info.json
        .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/error_logs.txt
        .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/failed_artifacts/
        .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/failed_artifacts/report_3b64c57c.txt 4 bytes
        .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/workspace/
        .archived/rollback_99f5_19700101T000005Z/rollback_metadata.json
        .errored/
        .pipeline_system/definitions/checkpoints/
        .pipeline_system/definitions/checkpoints/bb3b.json
        .pipeline_system/definitions/pipeline.json
        .pipeline_system/logs/
        .temp/
        .temp/exec_1002/artifacts_staging/
        .temp/exec_1002/workspace/
        runs/
        runs/latest -> v1
        runs/v1/run_info.json
        scripts/
        taken: .archived/rollback_99f5_19700101T000005Z/archived_data/.errored/exec_1001_19700101T000005Z/failed_artifacts/report.txt
    "#]]
    .assert_eq(&shown(&scene, true, Keep::default()));
}

#[test]
fn one_checkpoint_rolled_back_and_undone() {
    let mut scene = Scene::new().with_pipeline(&[form("A"), form("B"), form("C")]).with_run();
    approve_all(&mut scene, 1);
    let before = shown(&scene, true, Keep::default());
    scene.run(roll_back(1, 0));
    check(
        &scene,
        expect![[r#"
            .archived/rollback_545f_19700101T000015Z/archived_data/v1_checkpoint_1/outputs/ (ours)
            .archived/rollback_545f_19700101T000015Z/archived_data/v1_checkpoint_1/outputs/a_b757c03e_v1.json 21 bytes
            .archived/rollback_545f_19700101T000015Z/archived_data/v1_checkpoint_2/outputs/ (ours)
            .archived/rollback_545f_19700101T000015Z/archived_data/v1_checkpoint_2/outputs/a_c86fc2ec_v1.json 21 bytes
            .temp/exec_1004/artifacts_staging/
            .temp/exec_1004/workspace/
            runs/v1/checkpoint_0_A/outputs/ (ours)
            runs/v1/checkpoint_0_A/outputs/a_ecaf8cb3_v1.json 21 bytes
            runs/v1/run_info.json
        "#]],
    );
    let back = undo(&scene);
    let end = end_archive(&scene);
    let mut ended = scene.clone();
    scene.run(back);
    assert_eq!(shown(&scene, true, Keep::default()), before);
    ended.run(end);
    check(
        &ended,
        expect![[r#"
            .temp/exec_1004/artifacts_staging/
            .temp/exec_1004/workspace/
            runs/v1/checkpoint_0_A/outputs/ (ours)
            runs/v1/checkpoint_0_A/outputs/a_ecaf8cb3_v1.json 21 bytes
            runs/v1/run_info.json
        "#]],
    );
}

#[test]
fn whole_runs_rolled_back_and_undone() {
    let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]);
    for n in 1..=3 {
        scene.run(start(n));
        scene.run(submit(n, 1, json!({"answer": "yes"})));
        scene.run(approve(&scene, n, 1));
    }
    scene.run(start_step(&scene, 3));
    scene.run(submit(3, 2, json!({"answer": "yes"})));
    scene.run(pause(2));
    let before = shown(&scene, true, Keep::default());
    scene.run(roll_back_to_run(3, 1, 0));
    expect![[r#"
        .archived/
        .archived/rollback_a59f_19700101T000017Z/archived_data/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/artifacts_staging/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/workspace/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/artifacts_staging/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/workspace/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/artifacts_staging/
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/artifacts_staging/a_b757c03e.json 21 bytes, shared
        .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/workspace/
        .archived/rollback_a59f_19700101T000017Z/archived_data/v2/checkpoint_0_A/outputs/ (ours)
        .archived/rollback_a59f_19700101T000017Z/archived_data/v2/checkpoint_0_A/outputs/a_ecaf8cb3_v2.json 21 bytes
        .archived/rollback_a59f_19700101T000017Z/archived_data/v2/run_info.json
        .archived/rollback_a59f_19700101T000017Z/archived_data/v3/checkpoint_0_A/outputs/ (ours)
        .archived/rollback_a59f_19700101T000017Z/archived_data/v3/checkpoint_0_A/outputs/a_ecaf8cb3_v3.json 21 bytes
        .archived/rollback_a59f_19700101T000017Z/archived_data/v3/run_info.json
        .archived/rollback_a59f_19700101T000017Z/rollback_metadata.json
        .errored/
        .pipeline_system/definitions/checkpoints/
        .pipeline_system/definitions/checkpoints/d340.json
        .pipeline_system/definitions/checkpoints/bb3b.json
        .pipeline_system/definitions/pipeline.json
        .pipeline_system/logs/
        .temp/
        .temp/exec_1003/artifacts_staging/
        .temp/exec_1003/workspace/
        runs/
        runs/latest -> v1
        runs/v1/checkpoint_0_A/outputs/ (ours)
        runs/v1/checkpoint_0_A/outputs/a_ecaf8cb3_v1.json 21 bytes
        runs/v1/run_info.json
        scripts/
        gone: .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1001
        taken: .archived/rollback_a59f_19700101T000017Z/archived_data/.temp/exec_1002/artifacts_staging/a.json
    "#]]
    .assert_eq(&shown(&scene, true, Keep::default()));
    scene.run(undo(&scene));
    assert_eq!(shown(&scene, true, Keep::default()), before);
}

#[test]
fn runs_of_an_earlier_definition() {
    let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
    approve_all(&mut scene, 1);
    scene.run(add(form("B")));
    expect![[r#"
        .archived/
        .archived/definition_v2_19700101T000007Z/runs/v1/checkpoint_0_A/outputs/ (ours)
        .archived/definition_v2_19700101T000007Z/runs/v1/checkpoint_0_A/outputs/a_ecaf8cb3_v1.json 21 bytes
        .archived/definition_v2_19700101T000007Z/runs/v1/run_info.json
        .errored/
        .pipeline_system/definitions/checkpoints/
        .pipeline_system/definitions/checkpoints/e685.json
        .pipeline_system/definitions/checkpoints/bb3b.json
        .pipeline_system/definitions/pipeline.json
        .pipeline_system/logs/
        .temp/
        runs/
        scripts/
        gone: .temp/exec_1001
    "#]]
    .assert_eq(&shown(&scene, true, Keep::default()));
    let before = shown(&scene, true, Keep::default());
    // A pipeline that is put away stands somewhere else as a whole.
    scene.run(on_pipeline(PipelineCommand::Delete));
    assert_eq!(shown(&scene, true, Keep::default()), before);
}

/// The outputs, and the folders outside `.temp/`: what somebody may look for as soon as a command was carried out.
fn outside(scene: &Scene) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let runs = (1..10).filter_map(|n| match scene.states.get(&crate::StreamId::Run(run_id(n))) {
        Some(crate::State::Run(state)) => Some(run(scene.pipeline(), state, Keep::default())),
        _ => None,
    });
    for wanted in runs.chain([pipeline(scene.pipeline())]) {
        for (path, entry) in wanted.entries {
            if matches!(entry, Entry::Output { .. }) || !is_document(&entry) && !path.starts_with(".temp/") {
                all.insert(path, format!("{entry:?}"));
            }
        }
        let moved = wanted.folders.into_iter().filter(|(_, path)| !path.starts_with(".temp/"));
        all.extend(moved.map(|(key, path)| (format!("{key:?}"), path)));
    }
    all
}

fn is_document(entry: &Entry) -> bool {
    matches!(entry, Entry::Document(_))
}

/// Whether a command is said to change what is outside; it is never said of too few.
fn touched(scene: &mut Scene, when: crate::testing::When) -> bool {
    let (before, known) = (outside(scene), scene.log.len());
    scene.run(when);
    let events = scene.log[known..]
        .iter()
        .flat_map(|row| crate::event::decode(row.stream.kind(), &row.bytes).expect("events"));
    let told = events.fold(false, |told, event| touches(&event) || told);
    assert!(told || before == outside(scene), "{before:#?}\nbecame\n{:#?}", outside(scene));
    told
}

#[test]
fn only_commands_that_change_an_output_or_a_folder_outside_are_waited_for() {
    let mut asks = form("B");
    asks.human_interaction.requires_approval_to_start = true;
    let mut scene = Scene::new().with_pipeline(&[form("A"), asks, script("C", 1)]);
    let failure = || crate::event::Failure::new("script_error", "it broke");
    let broke = || crate::commands::record_outcome::Outcome::Failed {
        failure: failure(),
        artifacts: vec![report("half")],
        usage: crate::event::Usage::default(),
    };
    assert!(touched(&mut scene, start(1)), "the run has a folder");
    assert!(touched(&mut scene, submit(1, 1, json!({"answer": "yes"}))), "an output");
    assert!(touched(&mut scene, crate::testing::revise(1, 1, "longer")), "outputs go");
    assert!(touched(&mut scene, submit(1, 1, json!({"answer": "yes, yes"}))), "another one");
    let when = approve(&scene, 1, 1);
    assert!(touched(&mut scene, when), "it is promoted");
    assert!(!touched(&mut scene, pause(1)));
    assert!(!touched(&mut scene, crate::testing::resume(1)));
    let when = start_step(&scene, 1);
    assert!(!touched(&mut scene, when), "somebody is asked");
    assert!(!touched(&mut scene, crate::testing::approve_start(1, 2)), "nothing is made yet");
    touched(&mut scene, submit(1, 2, json!({"answer": "no"})));
    let when = approve(&scene, 1, 2);
    touched(&mut scene, when);
    let when = start_step(&scene, 1);
    assert!(!touched(&mut scene, when), "work begins");
    // An attempt that fails, another one by itself, and one that a person asks for.
    for _ in 0..2 {
        let when = outcome(&scene, 1, 3, broke());
        touched(&mut scene, when);
        if scene.execution(1, 3).state != crate::state::run::ExecutionState::Failed {
            scene.now = scene.now.plus_seconds(60);
            let when = scene.fire();
            touched(&mut scene, when);
        }
    }
    assert!(touched(&mut scene, retry(1, 3)), "its folder comes back");
    let when = outcome_report(&scene, 1, 3, "whole");
    assert!(touched(&mut scene, when), "done");
    assert!(touched(&mut scene, start(2)), "a second run");
    assert!(touched(&mut scene, roll_back(1, 1)), "outputs are archived");
    let when = undo(&scene);
    assert!(touched(&mut scene, when), "and come back");
}
