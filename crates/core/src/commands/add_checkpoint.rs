//! Adds a checkpoint to a pipeline's order.

use std::sync::Arc;

use crate::decision::Draft;
use crate::definition::{CheckpointDefinition, Fault, Findings, examine, examine_offered, examine_syntax};
use crate::event::PipelineEvent;
use crate::facts::Facts;
use crate::state::PipelineState;
use crate::{AgentId, ArtifactId, CheckpointId, FieldId, Ids, PipelineId, Rejection};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AddCheckpoint {
    /// The definition; ids inside it may be left out.
    pub definition: CheckpointDefinition,
    /// Its place in the order; the end, if not given.
    pub position: Option<u32>,
}

/// How many checkpoints a pipeline may have.
pub(super) const MAX_CHECKPOINTS: usize = 1_000;

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &AddCheckpoint) -> Result<(), Rejection> {
    let pipeline = super::delete_pipeline::changeable(draft, id, "add a checkpoint")?;
    let count = pipeline.order.len();
    if count >= MAX_CHECKPOINTS {
        return Err(Rejection::LimitReached { what: "checkpoints", limit: MAX_CHECKPOINTS as u64 });
    }
    let position = command.position.unwrap_or(count as u32);
    if position as usize > count {
        let fault = Fault::at("/position", format!("between 0 and {count}"));
        return Err(Rejection::Invalid(vec![fault]));
    }
    let facts = draft.facts;
    let warnings = check_new(facts, pipeline, &command.definition, position as usize, None)?;
    let checkpoint = CheckpointId(draft.ids.mint());
    let mut definition = command.definition.clone();
    fill_in(draft, &mut definition, None);
    let definition = Arc::new(definition);
    draft.on_pipeline(id, PipelineEvent::CheckpointAdded { checkpoint, position, definition, warnings });
    draft.reply.checkpoint = Some(checkpoint);
    Ok(())
}

/// Examines a definition that was not kept before: also whether its rules and schemas can be read, and whether its
/// tools are there.
pub(super) fn check_new(
    facts: Facts<'_>,
    pipeline: &PipelineState,
    definition: &CheckpointDefinition,
    position: usize,
    instead_of: Option<CheckpointId>,
) -> Result<Vec<Fault>, Rejection> {
    let mut more = examine_syntax(definition, facts.evaluator);
    let Findings { errors, warnings: told } = examine_offered(definition, facts.offers);
    more.extend(errors);
    match check(pipeline, definition, position, instead_of) {
        Ok(warnings) if more.is_empty() => Ok([warnings, told].concat()),
        Ok(_) => Err(Rejection::Invalid(more)),
        Err(Rejection::Invalid(faults)) => Err(Rejection::Invalid([faults, more].concat())),
        Err(rejection) => Err(rejection),
    }
}

/// Examines a definition at a place in the order; `instead_of` is the checkpoint that it replaces.
pub(super) fn check(
    pipeline: &PipelineState,
    definition: &CheckpointDefinition,
    position: usize,
    instead_of: Option<CheckpointId>,
) -> Result<Vec<Fault>, Rejection> {
    let all: Vec<_> = pipeline.ordered().map(|(id, definition)| (id, definition.as_ref())).collect();
    let earlier: Vec<_> = all.iter().take(position).copied().collect();
    let later: Vec<_> =
        all.iter().skip(position).filter(|(id, _)| Some(*id) != instead_of).copied().collect();
    let found = examine(definition, &earlier, &later);
    if found.errors.is_empty() { Ok(found.warnings) } else { Err(Rejection::Invalid(found.errors)) }
}

/// Fills in what a definition leaves out: ids, and what the settings say.
pub(super) fn fill_in(
    draft: &mut Draft<'_>,
    definition: &mut CheckpointDefinition,
    before: Option<&CheckpointDefinition>,
) {
    let delay = &mut definition.execution.retry_config.retry_delay_seconds;
    *delay = delay.or_else(|| Some(draft.facts.offers.retry_delay_seconds()));
    fill_ids(&mut draft.ids, definition, before);
}

/// Gives ids to what has none: those of the definition before, matched by name, else new ones.
fn fill_ids(ids: &mut Ids, definition: &mut CheckpointDefinition, before: Option<&CheckpointDefinition>) {
    for artifact in &mut definition.output.artifacts {
        let known = before.and_then(|b| b.output.artifacts.iter().find(|a| a.name == artifact.name));
        let known = known.and_then(|a| a.artifact_id);
        artifact.artifact_id = artifact.artifact_id.or(known).or_else(|| Some(ArtifactId(ids.mint())));
    }
    let form = |d: &CheckpointDefinition| d.execution.human_only_config.clone();
    if let Some(config) = &mut definition.execution.human_only_config {
        let old = before.and_then(form);
        for field in &mut config.input_fields {
            let known = old.as_ref().and_then(|o| o.input_fields.iter().find(|f| f.name == field.name));
            let known = known.and_then(|f| f.field_id);
            field.field_id = field.field_id.or(known).or_else(|| Some(FieldId(ids.mint())));
        }
    }
    let team = |d: &CheckpointDefinition| d.execution.agent_config.as_ref().and_then(|c| c.agents.clone());
    if let Some(agents) = definition.execution.agent_config.as_mut().and_then(|c| c.agents.as_mut()) {
        let old = before.and_then(team).unwrap_or_default();
        for agent in agents {
            let known = old.iter().find(|a| a.name == agent.name).and_then(|a| a.agent_id);
            agent.agent_id = agent.agent_id.or(known).or_else(|| Some(AgentId(ids.mint())));
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use serde_json::json;

    use crate::testing::{Scene, add, edit, form, human};

    #[test]
    fn adding_raises_the_definition_version() {
        let mut scene = Scene::new().with_pipeline(&[human("A")]);
        assert_eq!(scene.pipeline().definition_version, 2);
        scene.run(add(human("B")));
        assert_eq!(scene.pipeline().definition_version, 3);
        assert_eq!(scene.pipeline().order.len(), 2);
    }

    #[test]
    fn a_field_of_another_mode_is_refused() {
        let mut definition = human("A");
        definition.execution.human_only_config = None;
        Scene::new().with_pipeline(&[]).check(
            add(definition),
            expect![[r#"
            refused (invalid_fields): /execution/human_only_config of the request is not valid
        "#]],
        );
    }

    #[test]
    fn rules_and_schemas_are_read_when_they_are_saved() {
        let mut definition = form("A");
        let config = definition.execution.human_only_config.as_mut().expect("a form");
        config.input_fields[0].validation = Some("broken".to_owned());
        let artifact = |name: &str, format: &str| {
            let artifact = json!({"name": name, "format": format, "schema": {"broken": true}});
            serde_json::from_value(artifact).expect("an artifact")
        };
        definition.output.artifacts = vec![artifact("a", "json"), artifact("b", "md")];
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        for when in [add(definition.clone()), edit(&scene, 0, definition)] {
            scene.check_faults(
                when,
                expect![[r#"
                    /execution/human_only_config/input_fields/0/validation: line 1, column 1: broken
                    /output/artifacts/0/schema: broken
                "#]],
            );
        }
    }

    #[test]
    fn nothing_is_added_while_a_run_is_active() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]).with_run();
        scene.check(
            add(human("B")),
            expect![[r#"
            refused (runs_active): 1 active run(s) use this definition
        "#]],
        );
    }
}
