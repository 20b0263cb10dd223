//! Says that the time of a rollback's archive is over. Its files go afterwards; undoing it ends here.

use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::{PipelineId, Rejection, RollbackId};

/// The rule. Whether the time is over is for the settings to say; an archive that is gone stays gone.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, rollback: RollbackId) -> Result<(), Rejection> {
    let pipeline = draft.pipeline(id)?;
    match (pipeline.archives.contains_key(&rollback), pipeline.rollback_rows.contains_key(&rollback)) {
        (true, _) => {
            draft.on_pipeline(id, PipelineEvent::ArchiveEnded { rollback });
            Ok(())
        }
        (false, true) => Ok(()),
        (false, false) => Err(Rejection::NotFound { what: "rollback", id: rollback.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, approve_all, end_archive, form, roll_back, undo};

    #[test]
    fn what_is_gone_cannot_be_undone() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 0));
        let (end, back) = (end_archive(&scene), undo(&scene));
        scene.check(
            end.clone(),
            expect![[r#"
            pipeline: ArchiveEnded
        "#]],
        );
        assert!(scene.pipeline().archives.is_empty(), "what has ended takes no room in the state");
        scene.check(
            end,
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check(
            back,
            expect![[r#"
                refused (cannot_undo): rollback 01900000-0000-7433-93e9-567250e7f1e3 cannot be undone: the time of its archive was over, and it was removed at 1970-01-01T00:00:12.000000Z
            "#]],
        );
    }

    #[test]
    fn an_archive_that_was_undone_is_not_there_to_end() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        approve_all(&mut scene, 1);
        scene.run(roll_back(1, 0));
        let end = end_archive(&scene);
        scene.run(undo(&scene));
        scene.check(
            end,
            expect![[r#"
            in effect already
        "#]],
        );
    }
}
