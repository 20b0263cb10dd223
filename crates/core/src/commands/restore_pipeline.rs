//! Brings a pipeline back that was put away.

use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::{PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId) -> Result<(), Rejection> {
    if draft.pipeline(id)?.deleted_at.is_some() {
        draft.on_pipeline(id, PipelineEvent::Restored {});
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::PipelineCommand;
    use crate::testing::{Scene, form, on_pipeline, start};

    #[test]
    fn what_was_put_away_comes_back() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        scene.run(on_pipeline(PipelineCommand::Delete));
        scene.check(
            on_pipeline(PipelineCommand::Restore),
            expect![[r#"
            pipeline: Restored
        "#]],
        );
        scene.check(
            on_pipeline(PipelineCommand::Restore),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.run(start(1));
    }
}
