//! Changes a checkpoint's definition. What has started keeps the one that it pinned; what has not started
//! yet gets the new one.

use std::sync::Arc;

use super::add_checkpoint::{check_new, fill_in};
use super::remove_checkpoint::check_order;
use crate::decision::Draft;
use crate::definition::{CheckpointDefinition, Compiled};
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{CheckpointId, PipelineId, Rejection};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct UpdateCheckpoint {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// Its whole definition from now on; ids inside it are kept when left out.
    pub definition: CheckpointDefinition,
}

/// Refuses a change that later checkpoints could not stand: they refer to what it takes away.
fn check_later(
    pipeline: &PipelineState,
    checkpoint: CheckpointId,
    definition: &CheckpointDefinition,
) -> Result<(), Rejection> {
    let mut changed = pipeline.clone();
    let body = definition.digest();
    changed.bodies.insert(body, Compiled::new(Arc::new(definition.clone())));
    if let Some(known) = changed.checkpoints.get_mut(&checkpoint) {
        known.body = body;
    }
    let order: Vec<_> = changed.order.iter().copied().collect();
    check_order(&changed, &order)
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &UpdateCheckpoint) -> Result<(), Rejection> {
    let checkpoint = command.checkpoint;
    let pipeline = super::delete_pipeline::live(draft, id, "change a checkpoint")?.clone();
    let missing = || Rejection::NotFound { what: "checkpoint", id: checkpoint.to_string() };
    let position = pipeline.position(checkpoint).ok_or_else(missing)?;
    let before = pipeline.definition(checkpoint).cloned().ok_or_else(missing)?;
    let (facts, at) = (draft.facts, position as usize);
    let warnings = check_new(facts, &pipeline, &command.definition, at, Some(checkpoint))?;
    let mut definition = command.definition.clone();
    fill_in(draft, &mut definition, Some(&before));
    if definition != *before {
        check_later(&pipeline, checkpoint, &definition)?;
        let definition = Arc::new(definition);
        draft.on_pipeline(id, PipelineEvent::CheckpointChanged { checkpoint, definition, warnings });
    }
    draft.reply.checkpoint = Some(checkpoint);
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use serde_json::json;

    use crate::testing::{Scene, approve, checkpoint, edit, form, human, reporting, script, submit};

    #[test]
    fn what_was_made_keeps_its_definition_and_what_comes_sees_the_new_one() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        scene.run(edit(&scene, 0, human("A2")));
        scene.run(edit(&scene, 1, human("B2")));
        scene.check(
            submit(1, 1, json!({"answer": "yes"})),
            expect![[r#"
                run R1: Submitted x1 {"answer":"yes"}
                run R1: ArtifactMade x1 a.json (21 bytes)
                run R1: Asked x1 approve_complete
            "#]],
        );
        scene.check(
            approve(&scene, 1, 1),
            expect![[r#"
                run R1: Approved x1
                run R1: ArtifactPromoted x1 a
                run R1: ExecutionCompleted x1
                run R1: ExecutionMade x2 B2 at 1
                run R1: Asked x2 approve_start
            "#]],
        );
        let same = human("B2");
        scene.check(
            edit(&scene, 1, same),
            expect![[r#"
            in effect already
        "#]],
        );
        assert_eq!(scene.pipeline().definition_version, 3);
    }

    #[test]
    fn nested_ids_are_kept_and_later_references_hold() {
        let mut scene = Scene::new().with_pipeline(&[reporting(script("A", 0)), form("B")]);
        let first = checkpoint(&scene, 0);
        let report = |scene: &Scene| scene.pipeline().definition(first).cloned().expect("a definition");
        let artifact = report(&scene).output.artifacts[0].artifact_id;
        scene.run(edit(&scene, 0, reporting(script("A again", 0))));
        assert_eq!(report(&scene).output.artifacts[0].artifact_id, artifact);
        let mut reader = form("B");
        let reference = json!({"checkpoint_id": first, "artifact_ids": [artifact]});
        reader.inputs.include_checkpoint_outputs =
            vec![serde_json::from_value(reference).expect("a reference")];
        scene.run(edit(&scene, 1, reader));
        scene.check_code(edit(&scene, 0, script("A", 0)), "invalid_fields");
    }
}
