//! Puts a pipeline away. It can be brought back.

use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId) -> Result<(), Rejection> {
    let pipeline = draft.pipeline(id)?;
    if pipeline.deleted_at.is_some() {
        return Ok(());
    }
    if !pipeline.active.is_empty() {
        return Err(Rejection::RunsActive(pipeline.active.iter().copied().collect()));
    }
    draft.on_pipeline(id, PipelineEvent::Deleted {});
    Ok(())
}

/// A pipeline that was not put away.
pub(super) fn live<'d>(
    draft: &'d Draft<'_>,
    id: PipelineId,
    action: &'static str,
) -> Result<&'d PipelineState, Rejection> {
    let pipeline = draft.pipeline(id)?;
    if pipeline.is_live() {
        return Ok(pipeline);
    }
    let (id, state, possible) = (id.to_string(), "deleted", vec!["restore"]);
    Err(Rejection::WrongState { action, what: "pipeline", id, state, possible })
}

/// A pipeline whose order may change: not put away, and without active runs.
pub(super) fn changeable<'d>(
    draft: &'d Draft<'_>,
    id: PipelineId,
    action: &'static str,
) -> Result<&'d PipelineState, Rejection> {
    let pipeline = live(draft, id, action)?;
    if pipeline.active.is_empty() {
        return Ok(pipeline);
    }
    Err(Rejection::RunsActive(pipeline.active.iter().copied().collect()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::PipelineCommand;
    use crate::testing::{Scene, add, approve_all, auto_advance, form, on_pipeline, roll_back, start};

    #[test]
    fn what_is_put_away_cannot_be_used() {
        let delete = || on_pipeline(PipelineCommand::Delete);
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.check(
            delete(),
            expect![[r#"
            refused (runs_active): 1 active run(s) use this definition
        "#]],
        );
        approve_all(&mut scene, 1);
        scene.check(
            delete(),
            expect![[r#"
            pipeline: Deleted
        "#]],
        );
        scene.check(
            delete(),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check(start(2), expect![[r#"
            refused (wrong_state): cannot start a run: pipeline 00000000-0000-7000-8000-000000000001 is deleted
        "#]]);
        scene.check_code(add(form("C")), "wrong_state");
        scene.check_code(auto_advance(true), "wrong_state");
        scene.check_code(roll_back(1, 0), "wrong_state");
    }
}
