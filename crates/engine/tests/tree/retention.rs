//! What goes with time: archives and failures, announced before and recorded.

use std::sync::atomic::Ordering;
use std::time::Duration;

use holdpoint_core::Command;
use holdpoint_engine::SubmitError;
use holdpoint_engine::retention::GcKind;

use crate::scene::{PIPELINE, Scene, ann, form, run_id, script};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test(start_paused = true)]
async fn an_archive_ends_after_its_time_and_cannot_be_undone() {
    let scene = Scene::new(&[form("A"), form("B")]).await;
    scene.start(1).await;
    scene.step(1, 1).await;
    scene.step(1, 2).await;
    scene.roll_back(1, None, 0).await;
    scene.settle().await;
    let rollback = scene.engine.rollback_document(scene.last_rollback().await).await.expect("there");
    let archive = scene.path(&rollback.archive_location);
    std::fs::write(archive.join("archived_data/mine.txt"), "goes too").expect("written");
    tokio::time::advance(364 * DAY).await;
    assert_eq!(scene.engine.gc(false).await.expect("looked at").folders, []);
    tokio::time::advance(2 * DAY).await;
    let would = scene.engine.gc(true).await.expect("looked at");
    let [folder] = &would.folders[..] else { panic!("{would:?}") };
    assert_eq!(
        (folder.kind, folder.path.as_str()),
        (GcKind::Archive, rollback.archive_location.trim_end_matches('/'))
    );
    assert!(folder.bytes > 8 && archive.exists());
    assert_eq!(scene.engine.gc(false).await.expect("done"), would);
    scene.assert_clean().await;
    assert!(!archive.exists());
    assert!(scene.path("runs/v1/checkpoint_0_A/outputs").is_dir());
    let undo = Command::UndoRollback { pipeline: PIPELINE, rollback: rollback.rollback_id };
    let refused = scene.engine.submit(ann(), None, undo).await;
    assert!(matches!(&refused, Err(error) if error.code() == "cannot_undo"), "{refused:?}");
    assert_eq!(scene.engine.gc(false).await.expect("done").folders, []);
    assert!(matches!(refused, Err(SubmitError::Rejected(_))));
}

#[tokio::test(start_paused = true)]
async fn the_folder_of_a_failure_ends_after_its_time() {
    let scene = Scene::new(&[script()]).await;
    scene.breaks.left.store(1, Ordering::Relaxed);
    scene.start(1).await;
    scene.home.until(&scene.engine, run_id(1), |state| state.failed == 1).await;
    scene.settle().await;
    let folder = scene.find(".errored", "error_info").parent().expect("a folder").to_owned();
    std::fs::create_dir(scene.path(".errored/mine")).expect("made");
    tokio::time::advance(89 * DAY).await;
    assert_eq!(scene.engine.gc(false).await.expect("done").folders, []);
    tokio::time::advance(2 * DAY).await;
    let gone = scene.engine.gc(false).await.expect("done");
    assert_eq!(gone.folders.iter().map(|folder| folder.kind).collect::<Vec<_>>(), [GcKind::Error]);
    assert!(!folder.exists() && scene.path(".errored/mine").exists());
    // Nobody writes it again.
    let repaired = scene.check(true, false).await;
    assert_eq!(repaired.drifted, []);
    scene.assert_clean().await;
    assert!(!folder.exists());
}
