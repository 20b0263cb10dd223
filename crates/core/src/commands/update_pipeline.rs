//! Changes a pipeline's name, description or settings. Runs go on as they are.

use crate::decision::Draft;
use crate::definition::PipelineConfig;
use crate::event::{PipelineEvent, Text};
use crate::{PipelineId, Rejection};

/// What is asked for; what is not given stays.
#[derive(Clone, Debug, Default)]
pub struct UpdatePipeline {
    /// What people call it.
    pub name: Option<Text>,
    /// What it is for; `Some(None)` takes it away.
    pub description: Option<Option<Text>>,
    /// Its settings.
    pub config: Option<PipelineConfig>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &UpdatePipeline) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::live(draft, id, "update")?;
    let name = command.name.clone().unwrap_or_else(|| pipeline.name.clone());
    let description = command.description.clone().unwrap_or_else(|| pipeline.description.clone());
    let config = command.config.clone().unwrap_or_else(|| pipeline.config.clone());
    let unchanged =
        (&name, &description, &config) == (&pipeline.name, &pipeline.description, &pipeline.config);
    super::create_pipeline::check_name(&name)?;
    super::create_pipeline::check_config(&config)?;
    if !unchanged {
        draft.on_pipeline(id, PipelineEvent::Changed { name, description, config });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::PipelineCommand;
    use crate::testing::{Scene, on_pipeline};

    #[test]
    fn what_is_not_given_stays() {
        let mut scene = Scene::new().with_pipeline(&[]);
        let update = |update| on_pipeline(PipelineCommand::Update(update));
        let name = Some("Research".into());
        scene.check(update(UpdatePipeline { name, ..UpdatePipeline::default() }), expect![[r#"
            pipeline: Changed { name: "Research", description: None, config: PipelineConfig { auto_advance: false, budgets: None } }
        "#]]);
        let description = Some(Some("Why".into()));
        scene.check(update(UpdatePipeline { description, ..UpdatePipeline::default() }), expect![[r#"
            pipeline: Changed { name: "Research", description: Some("Why"), config: PipelineConfig { auto_advance: false, budgets: None } }
        "#]]);
        scene.check(
            update(UpdatePipeline::default()),
            expect![[r#"
            in effect already
        "#]],
        );
        let name = Some("\n".into());
        scene.check_code(update(UpdatePipeline { name, ..UpdatePipeline::default() }), "invalid_fields");
    }
}
