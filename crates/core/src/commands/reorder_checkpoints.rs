//! Changes the order of a pipeline's checkpoints: a new definition version, whose runs count from 1.

use std::collections::BTreeSet;

use super::remove_checkpoint::check_order;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::PipelineEvent;
use crate::{CheckpointId, PipelineId, Rejection};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, order: &[CheckpointId]) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::live(draft, id, "reorder checkpoints")?;
    let wanted: BTreeSet<_> = order.iter().copied().collect();
    let present: BTreeSet<_> = pipeline.order.iter().copied().collect();
    if wanted != present || wanted.len() != order.len() {
        let message = "the order must name each checkpoint of the pipeline exactly once";
        return Err(Rejection::Invalid(vec![Fault::at("/checkpoint_order", message)]));
    }
    if pipeline.order.iter().eq(order.iter()) {
        return Ok(());
    }
    let pipeline = super::delete_pipeline::changeable(draft, id, "reorder checkpoints")?;
    check_order(pipeline, order)?;
    draft.on_pipeline(id, PipelineEvent::Reordered { order: order.to_vec() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::PipelineCommand;
    use crate::testing::{Scene, approve_all, form, on_pipeline, roll_back, start};

    #[test]
    fn a_new_order_counts_runs_from_one_and_leaves_earlier_ones_to_be_read() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("B")]).with_run();
        let order: Vec<_> = scene.pipeline().order.iter().copied().collect();
        let reorder = |order: &[_]| on_pipeline(PipelineCommand::Reorder(order.to_vec()));
        let turned = [order[1], order[0]];
        scene.check(
            reorder(&turned),
            expect![[r#"
            refused (runs_active): 1 active run(s) use this definition
        "#]],
        );
        scene.check(
            reorder(&order),
            expect![[r#"
            in effect already
        "#]],
        );
        scene.check_code(reorder(&turned[..1]), "invalid_fields");
        scene.check_code(reorder(&[order[0], order[0]]), "invalid_fields");
        approve_all(&mut scene, 1);
        scene.run(reorder(&turned));
        scene.check(roll_back(1, 0), expect![[r#"
            refused (earlier_definition): run 00000000-0000-7000-8000-000100001000 belongs to definition version 3, which is not the present one
        "#]]);
        scene.check(
            start(2),
            expect![[r#"
                pipeline: RunOpened { run: R2, number: 1 }
                run R2: Made { v1 of definition 4 }
                run R2: Began
                run R2: ExecutionMade x1 B at 0
                run R2: AttemptBegan x1 revision 0 attempt 1
                run R2: Asked x1 form
            "#]],
        );
    }
}
