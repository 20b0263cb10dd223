//! A pipeline's folder through its life.

use std::sync::atomic::Ordering;

use expect_test::expect;
use holdpoint_core::{Command, Digest, ExecNo, PipelineCommand, RunCommand, State, StreamId};
use holdpoint_engine::documents::artifact::ArtifactFilter;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::scene::{PIPELINE, Scene, form, run_id, script};

#[tokio::test(start_paused = true)]
async fn a_run_from_its_start_to_its_end() {
    let scene = Scene::new(&[form("First step"), form("B")]).await;
    scene.start(1).await;
    scene.fill_in(1, 1).await;
    expect![[r#"
        .archived/
        .errored/
        .temp/exec_#1/artifacts_staging/goals_#2.json
        .temp/exec_#1/workspace/
        runs/latest -> v1
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    std::fs::write(scene.find(".temp", "goals").with_file_name("notes.txt"), "mine").expect("written");
    scene.approve(1, 1).await;
    scene.step(1, 2).await;
    expect![[r#"
        .archived/
        .errored/
        .temp/
        runs/latest -> v1
        runs/v1/checkpoint_0_First_step/outputs/goals_#1_v1.json
        runs/v1/checkpoint_1_B/outputs/goals_#2_v1.json
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    scene.assert_clean().await;
    let info: Value = json(&scene, "runs/v1/run_info.json");
    assert_eq!((info["status"].as_str(), info["run_version"].as_u64()), (Some("completed"), Some(1)));
    let definition: Value = json(&scene, ".pipeline_system/definitions/pipeline.json");
    assert_eq!(definition["runs"]["latest_run_version"], 1);
    let log = std::fs::read_to_string(scene.path(".pipeline_system/logs/system.log")).expect("a log");
    assert!(log.lines().any(|line| line.contains(" run.completed run ")), "{log}");
    let positions: Vec<u64> = log.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert!(positions.is_sorted_by(|a, b| a < b), "{log}");
}

fn json(scene: &Scene, path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(scene.path(path)).expect("there")).expect("JSON")
}

#[tokio::test(start_paused = true)]
async fn a_failure_keeps_its_workspace_and_a_retry_gets_it_back() {
    let scene = Scene::new(&[script()]).await;
    let kept = scene.engine.keep(Box::new(&b"half"[..]), 10).await.expect("kept");
    *scene.breaks.report.lock().expect("no panic") = Some(kept);
    scene.breaks.left.store(1, Ordering::Relaxed);
    scene.start(1).await;
    scene.home.until(&scene.engine, run_id(1), |state| state.failed == 1).await;
    expect![[r#"
        .archived/
        .errored/exec_#1_20231114T221320Z/error_info.json
        .errored/exec_#1_20231114T221320Z/error_logs.txt
        .errored/exec_#1_20231114T221320Z/failed_artifacts/report_#2.txt
        .errored/exec_#1_20231114T221320Z/workspace/
        .temp/
        runs/latest -> v1
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    let workspace = scene.find(".errored", "error_info").with_file_name("workspace");
    std::fs::write(workspace.join("mine.txt"), "left by the script").expect("written");
    scene.assert_clean().await;
    scene
        .submit(Command::Run(
            run_id(1),
            RunCommand::Answer(holdpoint_core::Answer::of(
                ExecNo(1),
                holdpoint_core::state::run::AskKind::Failed,
                "retry",
            )),
        ))
        .await;
    scene.home.until(&scene.engine, run_id(1), |state| state.completed == 1).await;
    expect![[r#"
        .archived/
        .errored/
        .temp/
        runs/latest -> v1
        runs/v1/checkpoint_0_Script/outputs/report_#1_v1.txt
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    scene.assert_clean().await;
}

#[tokio::test(start_paused = true)]
async fn rolled_back_and_undone() {
    let scene = Scene::new(&[form("A"), form("B"), form("C")]).await;
    scene.start(1).await;
    for x in 1..=3 {
        scene.step(1, x).await;
    }
    scene.start(2).await;
    scene.step(2, 1).await;
    scene.settle().await;
    std::fs::write(scene.path("runs/v2/mine.txt"), "goes with its folder").expect("written");
    let before = scene.shown().await;
    scene.roll_back(2, Some(1), 1).await;
    expect![[r#"
        .archived/rollback_#1_20231114T221320Z/archived_data/.temp/exec_#2/artifacts_staging/
        .archived/rollback_#1_20231114T221320Z/archived_data/.temp/exec_#2/workspace/
        .archived/rollback_#1_20231114T221320Z/archived_data/v1_checkpoint_2/outputs/goals_#3_v1.json
        .archived/rollback_#1_20231114T221320Z/archived_data/v2/checkpoint_0_A/outputs/goals_#4_v2.json
        .archived/rollback_#1_20231114T221320Z/archived_data/v2/mine.txt
        .archived/rollback_#1_20231114T221320Z/archived_data/v2/run_info.json
        .archived/rollback_#1_20231114T221320Z/rollback_metadata.json
        .errored/
        .temp/exec_#5/artifacts_staging/
        .temp/exec_#5/workspace/
        runs/latest -> v1
        runs/v1/checkpoint_0_A/outputs/goals_#4_v1.json
        runs/v1/checkpoint_1_B/outputs/goals_#6_v1.json
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    scene.assert_clean().await;
    scene.undo().await;
    assert_eq!(scene.shown().await, before);
    scene.assert_clean().await;
    scene.roll_back(1, None, 0).await;
    expect![[r#"
        .archived/rollback_#1_20231114T221320Z/archived_data/v1_checkpoint_1/outputs/goals_#2_v1.json
        .archived/rollback_#1_20231114T221320Z/archived_data/v1_checkpoint_2/outputs/goals_#3_v1.json
        .archived/rollback_#1_20231114T221320Z/rollback_metadata.json
        .errored/
        .temp/exec_#4/artifacts_staging/
        .temp/exec_#4/workspace/
        .temp/exec_#5/artifacts_staging/
        .temp/exec_#5/workspace/
        runs/latest -> v2
        runs/v1/checkpoint_0_A/outputs/goals_#6_v1.json
        runs/v1/run_info.json
        runs/v2/checkpoint_0_A/outputs/goals_#6_v2.json
        runs/v2/mine.txt
        runs/v2/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    scene.assert_clean().await;
    scene.undo().await;
    assert_eq!(scene.shown().await, before);
    scene.assert_clean().await;
}

#[tokio::test(start_paused = true)]
async fn another_order_and_another_place() {
    let scene = Scene::new(&[form("A"), form("B")]).await;
    scene.start(1).await;
    scene.step(1, 1).await;
    scene.step(1, 2).await;
    let order = scene.pipeline().await.order.iter().rev().copied().collect();
    scene.on_pipeline(PipelineCommand::Reorder(order)).await;
    scene.start(2).await;
    expect![[r#"
        .archived/definition_v3_20231114T221320Z/runs/v1/checkpoint_0_A/outputs/goals_#1_v1.json
        .archived/definition_v3_20231114T221320Z/runs/v1/checkpoint_1_B/outputs/goals_#2_v1.json
        .archived/definition_v3_20231114T221320Z/runs/v1/run_info.json
        .errored/
        .temp/exec_#3/artifacts_staging/
        .temp/exec_#3/workspace/
        runs/latest -> v1
        runs/v1/run_info.json
        scripts/
    "#]]
    .assert_eq(&scene.shown().await);
    scene.assert_clean().await;
    let filter = ArtifactFilter { run: Some(run_id(1)), ..ArtifactFilter::default() };
    let bounds = holdpoint_engine::documents::Bounds { after: None, limit: 100 };
    let earlier = scene.engine.artifact_documents(filter, bounds).await.expect("listed").items;
    assert!(earlier.iter().all(|artifact| scene.path(&artifact.file_path).is_file()), "{earlier:?}");
    let executions = scene.engine.execution_documents(run_id(1)).await.expect("listed");
    let folders =
        executions.iter().filter_map(|execution| execution.standing.permanent_output_path.as_deref());
    assert!(folders.clone().count() == 2 && folders.into_iter().all(|folder| scene.path(folder).is_dir()));
    scene.submit(Command::Run(run_id(2), RunCommand::Abort(None))).await;
    scene.on_pipeline(PipelineCommand::Delete).await;
    scene.settle().await;
    assert!(!scene.root().exists());
    let away = scene.folder.path().join(".archived").join(PIPELINE.to_string());
    assert!(away.join("runs/v1/run_info.json").is_file());
    scene.assert_clean().await;
    scene.on_pipeline(PipelineCommand::Restore).await;
    scene.settle().await;
    assert!(scene.path("runs/v1/run_info.json").is_file() && !away.exists());
    scene.assert_clean().await;
}

#[tokio::test(start_paused = true)]
async fn the_paths_that_tables_record_are_the_paths_on_disk() {
    let scene = Scene::new(&[form("A"), form("B")]).await;
    scene.start(1).await;
    scene.step(1, 1).await;
    scene.fill_in(1, 2).await;
    scene.start(2).await;
    scene.step(2, 1).await;
    scene.settle().await;
    let bounds = holdpoint_engine::documents::Bounds { after: None, limit: 100 };
    let all = scene.engine.artifact_documents(ArtifactFilter::default(), bounds).await.expect("listed").items;
    assert_eq!(all.len(), 3);
    for artifact in all {
        let bytes = std::fs::read(scene.path(&artifact.file_path)).expect("there");
        assert_eq!(Digest::of(&bytes).checksum(), artifact.checksum);
    }
    scene.roll_back(2, Some(1), 0).await;
    scene.settle().await;
    let rollback = scene.engine.rollback_document(scene.last_rollback().await).await.expect("there");
    assert_eq!(rollback.rolled_back_items.archived_artifacts.len(), 2);
    for item in rollback.rolled_back_items.archived_artifacts {
        assert!(scene.path(&item.archived_path).is_file(), "{}", item.archived_path);
        assert!(!scene.path(&item.original_path).exists(), "{}", item.original_path);
    }
    let metadata = scene.path(&format!("{}rollback_metadata.json", rollback.archive_location));
    let metadata: Value = serde_json::from_slice(&std::fs::read(metadata).expect("there")).expect("JSON");
    assert_eq!(metadata["rolled_back_items"]["deleted_runs"][0]["run_version"], 2);
}

#[tokio::test(start_paused = true)]
async fn what_another_process_commits_is_written_by_the_one_that_stays() {
    let scene = Scene::new(&[form("A")]).await;
    scene.settle().await;
    let stop = CancellationToken::new();
    let staying = scene.home.engine_with_files(scene.folder.path(), scene.breaks.clone());
    let running = tokio::spawn({
        let (staying, stop) = (staying.clone(), stop.clone());
        async move { staying.run_until(stop).await }
    });
    // A process without files of its own.
    let other = scene.home.idle_engine();
    let source = holdpoint_core::commands::start_run::Source::Pipeline(PIPELINE);
    let start = holdpoint_core::commands::start_run::StartRun { run: run_id(1), source, start: true };
    other.submit(crate::scene::ann(), None, Command::StartRun(start)).await.expect("started");
    let mut head = staying.watch_head();
    head.wait_for(|head| *head >= scene.home.disk.head()).await.expect("open");
    assert!(staying.files_settled(scene.home.disk.head(), std::time::Duration::from_mins(1)).await);
    assert!(scene.path("runs/v1/run_info.json").is_file());
    stop.cancel();
    running.await.expect("ended");
}

#[tokio::test(start_paused = true)]
async fn runs_that_belong_to_no_pipeline_leave_no_files() {
    let (home, folder) = (crate::common::Home::new(), tempfile::tempdir().expect("a folder"));
    let engine =
        home.engine_with_files(folder.path(), std::sync::Arc::new(holdpoint_engine::executor::BuiltIn));
    let (command, run) = crate::common::start_plan(crate::common::chain(5));
    engine.submit(crate::scene::ann(), None, command).await.expect("started");
    home.until(&engine, run, |state| state.completed == 5).await;
    assert!(engine.files_settled(home.disk.head(), std::time::Duration::from_mins(1)).await);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).expect("there").flatten().map(|e| e.file_name()).collect();
    assert!(names.iter().all(|name| name == ".tree"), "{names:?}");
    assert!(matches!(engine.view(StreamId::Run(run)).await.expect("read").state, State::Run(_)));
}

#[tokio::test(start_paused = true)]
async fn another_name_reaches_the_files_of_all_runs() {
    use holdpoint_core::commands::update_pipeline::UpdatePipeline;
    let scene = Scene::new(&[form("A")]).await;
    for n in 1..=2 {
        scene.start(n).await;
        scene.step(n, 1).await;
    }
    scene.settle().await;
    let rename = UpdatePipeline { name: Some("Search".into()), ..UpdatePipeline::default() };
    scene.on_pipeline(PipelineCommand::Update(rename)).await;
    scene.assert_clean().await;
    assert_eq!(json(&scene, "runs/v1/run_info.json")["pipeline_name"], "Search");
}
