//! Takes a checkpoint out of a pipeline's order.

use super::add_checkpoint::check;
use crate::decision::Draft;
use crate::event::PipelineEvent;
use crate::state::PipelineState;
use crate::{CheckpointId, PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, checkpoint: CheckpointId) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::changeable(draft, id, "remove a checkpoint")?;
    if pipeline.position(checkpoint).is_none() {
        return Err(Rejection::NotFound { what: "checkpoint", id: checkpoint.to_string() });
    }
    let order: Vec<_> = pipeline.order.iter().copied().filter(|other| *other != checkpoint).collect();
    check_order(pipeline, &order)?;
    draft.on_pipeline(id, PipelineEvent::CheckpointRemoved { checkpoint });
    draft.reply.checkpoint = Some(checkpoint);
    Ok(())
}

/// Refuses an order in which some definition could not stand.
pub(super) fn check_order(pipeline: &PipelineState, order: &[CheckpointId]) -> Result<(), Rejection> {
    let mut reordered = pipeline.clone();
    reordered.order = order.iter().copied().collect();
    let mut faults = Vec::new();
    for (position, (id, definition)) in reordered.ordered().enumerate() {
        if let Err(Rejection::Invalid(found)) = check(&reordered, definition, position, Some(id)) {
            faults.extend(found.into_iter().map(|mut fault| {
                fault.pointer = format!("/checkpoints/{id}{}", fault.pointer);
                fault
            }));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use serde_json::json;

    use crate::PipelineCommand;
    use crate::testing::{Scene, add, checkpoint, form, on_pipeline, reporting, script, start};

    #[test]
    fn removing_begins_a_new_version_and_refuses_what_others_need() {
        let mut scene = Scene::new().with_pipeline(&[reporting(script("A", 0)), form("B")]);
        let (first, second) = (checkpoint(&scene, 0), checkpoint(&scene, 1));
        let mut reader = form("C");
        let reference = json!({"checkpoint_id": first});
        reader.inputs.include_checkpoint_outputs =
            vec![serde_json::from_value(reference).expect("a reference")];
        scene.run(add(reader));
        let remove = |id| on_pipeline(PipelineCommand::RemoveCheckpoint(id));
        scene.check_code(remove(first), "invalid_fields");
        let version = scene.pipeline().definition_version;
        scene.run(remove(second));
        assert_eq!((scene.pipeline().order.len(), scene.pipeline().definition_version), (2, version + 1));
        scene.check_code(remove(second), "not_found");
        scene.run(start(1));
        scene.check(
            remove(first),
            expect![[r#"
            refused (runs_active): 1 active run(s) use this definition
        "#]],
        );
    }
}
