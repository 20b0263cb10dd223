//! Makes a pipeline.

use crate::decision::Draft;
use crate::definition::{Fault, PipelineConfig};
use crate::event::{PipelineEvent, Text};
use crate::{PipelineId, Rejection};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct CreatePipeline {
    /// What people call it.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// Its settings.
    pub config: PipelineConfig,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &CreatePipeline) -> Result<(), Rejection> {
    if draft.pipeline(id).is_ok() {
        return Err(Rejection::Exists { what: "pipeline", id: id.to_string() });
    }
    check_name(&command.name)?;
    check_config(&command.config)?;
    let CreatePipeline { name, description, config } = command.clone();
    draft.on_pipeline(id, PipelineEvent::Made { name, description, config });
    Ok(())
}

/// Refuses settings that cannot hold.
pub(super) fn check_config(config: &PipelineConfig) -> Result<(), Rejection> {
    let faults = config.faults();
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}

/// Refuses names that nobody could read.
pub(super) fn check_name(name: &str) -> Result<(), Rejection> {
    let refuse = |message: &str| Err(Rejection::Invalid(vec![Fault::at("/pipeline_name", message)]));
    if name.trim().is_empty() {
        return refuse("a name is required");
    }
    if name.chars().count() > 200 {
        return refuse("a name has at most 200 characters");
    }
    if name.chars().any(char::is_control) {
        return refuse("a name has no control characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, create};

    #[test]
    fn a_pipeline_is_made_once() {
        let mut scene = Scene::new();
        scene.check(create("Research"), expect![[r#"
            pipeline: Made { name: "Research", description: None, config: PipelineConfig { auto_advance: false, budgets: None } }
        "#]]);
        scene.check(
            create("Research"),
            expect![[r#"
            refused (already_exists): pipeline 00000000-0000-7000-8000-000000000001 exists already
        "#]],
        );
    }

    #[test]
    fn a_name_is_needed() {
        Scene::new().check(
            create("  "),
            expect![[r#"
            refused (invalid_fields): /pipeline_name of the request is not valid
        "#]],
        );
    }
}
