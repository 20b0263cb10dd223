//! Says that files of a pipeline were not as the log says, and were written again.

use crate::decision::Draft;
use crate::event::{Drifted, PipelineEvent, Text};
use crate::{PipelineId, Rejection};

/// How many files are named in one event; the others are counted.
const MAX_FILES: usize = 100;

/// What was found.
#[derive(Clone, Debug)]
pub struct RecordDrift {
    /// Where what stood there was put, inside the pipeline's folder.
    pub folder: Option<Text>,
    /// The files.
    pub files: Vec<Drifted>,
}

/// The rule: nothing found is nothing to record. A pipeline that was put away has files too.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &RecordDrift) -> Result<(), Rejection> {
    draft.pipeline(id)?;
    if command.files.is_empty() {
        return Ok(());
    }
    let (folder, count) = (command.folder.clone(), command.files.len() as u64);
    let files = command.files.iter().take(MAX_FILES).cloned().collect();
    draft.on_pipeline(id, PipelineEvent::DriftRepaired { folder, files, count });
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::PipelineCommand;
    use crate::event::Drift;
    use crate::testing::{Scene, form, on_pipeline};

    #[test]
    fn what_was_found_is_recorded_within_bounds() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        let drift = |n: usize| {
            let files = (0..n).map(|i| Drifted { path: format!("runs/v1/{i}").into(), how: Drift::Changed });
            on_pipeline(PipelineCommand::RecordDrift(RecordDrift { folder: None, files: files.collect() }))
        };
        scene.check(
            drift(0),
            expect![[r#"
            in effect already
        "#]],
        );
        let before = scene.pipeline().clone();
        scene.check(
            drift(1),
            expect![[r#"
                pipeline: DriftRepaired { folder: None, files: [Drifted { path: "runs/v1/0", how: Changed }], count: 1 }
            "#]],
        );
        assert_eq!(*scene.pipeline(), before);
        let decision = scene.run(drift(150));
        let named = decision.writes.iter().flat_map(|write| &write.events).find_map(|event| match event {
            crate::Event::Pipeline(PipelineEvent::DriftRepaired { files, count, .. }) => {
                Some((files.len(), *count))
            }
            _ => None,
        });
        assert_eq!(named, Some((100, 150)));
    }
}
