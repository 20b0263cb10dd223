//! What people change in the folders: it is put aside, the right thing is written again, and it is recorded.

use std::os::unix::fs::symlink;
use std::path::Path;

use futures_util::StreamExt as _;
use holdpoint_core::event::{Drift, PipelineEvent};
use holdpoint_core::{Event, Seq, StreamId};
use holdpoint_engine::Filter;

use crate::scene::{PIPELINE, Scene, form};

async fn two_steps_done() -> Scene {
    let scene = Scene::new(&[form("A"), form("B")]).await;
    scene.start(1).await;
    scene.step(1, 1).await;
    scene.step(1, 2).await;
    scene.assert_clean().await;
    scene
}

/// What was recorded about drift, oldest first.
async fn recorded(scene: &Scene) -> Vec<(Option<String>, Vec<(String, Drift)>)> {
    let head = scene.home.disk.head();
    let filter = Filter { stream: Some(StreamId::Pipeline(PIPELINE)), session: None };
    let mut events = scene.engine.subscribe(Seq(0), filter);
    let mut all = Vec::new();
    let last = scene.engine.view(StreamId::Pipeline(PIPELINE)).await.expect("read").version;
    while let Some(recorded) = events.next().await {
        let recorded = recorded.expect("readable");
        if let Event::Pipeline(PipelineEvent::DriftRepaired { folder, files, .. }) = recorded.event {
            let files = files.into_iter().map(|file| (file.path.to_string(), file.how)).collect();
            all.push((folder.map(|folder| folder.to_string()), files));
        }
        if recorded.version == last || recorded.seq >= head {
            break;
        }
    }
    all
}

fn put_aside(scene: &Scene, folder: &str, path: &str) -> Vec<u8> {
    std::fs::read(scene.path(folder).join(path)).unwrap_or_else(|error| panic!("{folder}/{path}: {error}"))
}

#[tokio::test(start_paused = true)]
async fn a_changed_file_is_put_aside_and_written_again() {
    let scene = two_steps_done().await;
    let output = scene.find("runs/v1/checkpoint_0_A", "goals");
    let inside = output.strip_prefix(scene.root()).expect("inside").to_string_lossy().into_owned();
    let before = std::fs::read(&output).expect("there");
    std::fs::write(&output, "mine").expect("written");
    std::fs::write(scene.path("runs/v1/run_info.json"), "{}").expect("written");
    let found = scene.check(false, false).await;
    assert_eq!((found.drifted.len(), std::fs::read(&output).expect("there")), (2, b"mine".to_vec()));
    let repaired = scene.check(true, false).await;
    assert_eq!(repaired.drifted.len(), 2);
    assert_eq!(std::fs::read(&output).expect("there"), before);
    let all = recorded(&scene).await;
    let [(Some(folder), files)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(put_aside(&scene, folder, &inside), b"mine");
    assert_eq!(put_aside(&scene, folder, "runs/v1/run_info.json"), b"{}");
    assert!(files.contains(&(inside, Drift::Changed)));
    scene.assert_clean().await;
    assert!(scene.check(true, true).await.is_clean());
    assert_eq!(recorded(&scene).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn deleted_files_are_written_again_and_extra_ones_put_aside() {
    let scene = two_steps_done().await;
    let output = scene.find("runs/v1/checkpoint_0_A", "goals");
    std::fs::remove_file(&output).expect("removed");
    std::fs::remove_dir_all(scene.path(".pipeline_system/definitions")).expect("removed");
    std::fs::write(output.with_file_name("extra.txt"), "mine").expect("written");
    std::fs::write(scene.path("runs/v1/notes.txt"), "mine").expect("written");
    std::fs::write(scene.path("scripts/x.py"), "mine").expect("written");
    scene.check(true, false).await;
    scene.assert_clean().await;
    assert!(output.is_file() && !output.with_file_name("extra.txt").exists());
    assert!(scene.path("runs/v1/notes.txt").is_file() && scene.path("scripts/x.py").is_file());
    let all = recorded(&scene).await;
    let files: Vec<Drift> = all.iter().flat_map(|(_, files)| files).map(|(_, how)| *how).collect();
    let count = |wanted| files.iter().filter(|how| **how == wanted).count();
    assert_eq!((count(Drift::Deleted), count(Drift::Extra), count(Drift::Changed)), (4, 1, 0), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_was_deleted_is_made_again() {
    let scene = two_steps_done().await;
    let before = scene.shown().await;
    std::fs::remove_dir_all(scene.root()).expect("removed");
    scene.check(true, false).await;
    assert_eq!(scene.shown().await, before);
    scene.assert_clean().await;
    std::fs::remove_dir_all(scene.path(".pipeline_system/manifest")).expect("removed");
    scene.check(true, false).await;
    assert_eq!(scene.shown().await, before);
    scene.assert_clean().await;
    assert_eq!(recorded(&scene).await, []);
}

/// A link in place of a folder is never followed: what it points to stays as it is.
#[tokio::test(start_paused = true)]
async fn links_that_somebody_made_are_not_followed() {
    let scene = two_steps_done().await;
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "theirs").expect("written");
    let swap = |path: &str, to: &Path| {
        let at = scene.path(path);
        if at.is_dir() && !at.is_symlink() {
            std::fs::remove_dir_all(&at).expect("removed");
        } else {
            std::fs::remove_file(&at).expect("removed");
        }
        symlink(to, &at).expect("linked");
    };
    swap("runs/v1/checkpoint_0_A", outside.path());
    swap("runs/v1/run_info.json", &outside.path().join("secret"));
    swap(".pipeline_system/definitions", outside.path());
    swap("runs/latest", outside.path());
    scene.check(true, false).await;
    scene.assert_clean().await;
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).expect("there"), "theirs");
    assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1);
    assert_eq!(std::fs::read_link(scene.path("runs/latest")).expect("a link"), Path::new("v1"));
    let all = recorded(&scene).await;
    assert!(all.iter().flat_map(|(_, files)| files).all(|(_, how)| *how == Drift::Replaced), "{all:?}");
    // The whole of it, swapped: going on with the run leads nowhere else either.
    swap("runs", outside.path());
    scene.start(2).await;
    scene.step(2, 1).await;
    scene.settle().await;
    scene.check(true, false).await;
    scene.assert_clean().await;
    assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1);
}

/// What work writes in its own folder is left alone, whatever the log says.
#[tokio::test(start_paused = true)]
async fn work_folders_belong_to_the_work() {
    let scene = Scene::new(&[form("A"), form("B")]).await;
    scene.start(1).await;
    scene.fill_in(1, 1).await;
    scene.settle().await;
    let staged = scene.find(".temp", "goals");
    std::fs::write(&staged, "written over").expect("written");
    scene.check(true, false).await;
    assert_eq!(std::fs::read_to_string(&staged).expect("there"), "written over");
    scene.approve(1, 1).await;
    scene.assert_clean().await;
    // What was promoted is what was approved, not what somebody made of the file.
    let output = scene.find("runs/v1/checkpoint_0_A", "goals");
    assert!(std::fs::read_to_string(output).expect("there").contains("goal 1 1"));
    assert_eq!(recorded(&scene).await, []);
}
