//! What is wrong with a definition: conditional fields, limits, references.
//!
//! Impossible things are errors; what the document leaves to the user is a warning that stays on the
//! definition.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    AgentConfig, CheckpointDefinition, CreationMode, FieldType, Format, HumanOnlyConfig, Mode, Validation,
    ValidationMode,
};
use crate::CheckpointId;
use crate::paths::is_plain_name;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Fault {
    /// A JSON pointer into the request.
    pub pointer: String,
    /// One sentence.
    pub message: String,
}

impl Fault {
    /// Says what is wrong at a place.
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The definition cannot be kept like this.
    pub errors: Vec<Fault>,
    /// It can, but somebody should know.
    pub warnings: Vec<Fault>,
}

/// The most characters that a name may have.
pub const MAX_NAME: usize = 200;

/// Examines a definition that stands (or would stand) at a place in an order.
///
/// `earlier` are the checkpoints before it with their definitions, `later` those behind it.
pub fn examine(
    definition: &CheckpointDefinition,
    earlier: &[(CheckpointId, &CheckpointDefinition)],
    later: &[CheckpointId],
) -> Findings {
    let mut found = Findings::default();
    let errors = &mut found.errors;
    name(errors, "/checkpoint_name", &definition.checkpoint_name);
    modes(errors, definition);
    limits(errors, definition);
    artifacts(errors, definition);
    validation(errors, &definition.output.validation);
    if definition.execution.mode != Mode::HumanOnly && task_prompt_missing(definition) {
        errors.push(Fault::at(
            "/instructions/task_prompt",
            "`task_prompt` is required for agentic and script checkpoints",
        ));
    }
    references(&mut found, definition, earlier, later);
    if definition.execution.mode == Mode::HumanOnly && definition.execution.timeout_config.enabled {
        found.warnings.push(Fault::at(
            "/execution/timeout_config",
            "a human_only checkpoint waits for a person, so its timeout never fires",
        ));
    }
    found
}

fn name(errors: &mut Vec<Fault>, pointer: &str, name: &str) {
    if name.trim().is_empty() {
        errors.push(Fault::at(pointer, "a name is required"));
    } else if name.chars().count() > MAX_NAME {
        errors.push(Fault::at(pointer, format!("a name has at most {MAX_NAME} characters")));
    } else if name.chars().any(char::is_control) {
        errors.push(Fault::at(pointer, "a name has no control characters"));
    }
}

fn task_prompt_missing(definition: &CheckpointDefinition) -> bool {
    definition
        .instructions
        .as_ref()
        .and_then(|i| i.task_prompt.as_deref())
        .is_none_or(|text| text.trim().is_empty())
}

/// A field of another mode is an error: it would look as if it did something.
fn modes(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    let execution = &definition.execution;
    let sections = [
        ("agent_config", Mode::Agentic, execution.agent_config.is_some()),
        ("script_config", Mode::Script, execution.script_config.is_some()),
        ("human_only_config", Mode::HumanOnly, execution.human_only_config.is_some()),
    ];
    for (field, mode, given) in sections {
        let pointer = format!("/execution/{field}");
        if given && mode != execution.mode {
            errors.push(Fault::at(pointer, format!("`{field}` belongs to another mode")));
        } else if !given && mode == execution.mode {
            errors.push(Fault::at(pointer, format!("`{field}` is required for this mode")));
        }
    }
    if let Some(config) = &execution.agent_config {
        agents(errors, config);
    }
    if let Some(config) = &execution.script_config {
        let prompt = config.user_input_prompt.as_deref().is_some_and(|text| !text.trim().is_empty());
        if config.requires_user_input && !prompt {
            errors.push(Fault::at(
                "/execution/script_config/user_input_prompt",
                "`user_input_prompt` is required when `requires_user_input` is true",
            ));
        }
        if config.script_path.trim().is_empty() {
            errors.push(Fault::at("/execution/script_config/script_path", "a path is required"));
        }
    }
    if let Some(config) = &execution.human_only_config {
        form(errors, config);
    }
}

fn agents(errors: &mut Vec<Fault>, config: &AgentConfig) {
    let base = "/execution/agent_config";
    let mode = config.creation_mode;
    let given = [
        ("meta_agent_instructions", CreationMode::MetaAgent, config.meta_agent_instructions.is_some()),
        ("max_agents", CreationMode::MetaAgent, config.max_agents.is_some()),
        ("agents", CreationMode::Predefined, config.agents.is_some()),
        ("agent", CreationMode::Single, config.agent.is_some()),
    ];
    for (field, owner, given) in given {
        if given && owner != mode {
            errors.push(Fault::at(
                format!("{base}/{field}"),
                format!("`{field}` belongs to another creation mode"),
            ));
        } else if !given && owner == mode {
            errors.push(Fault::at(
                format!("{base}/{field}"),
                format!("`{field}` is required for this creation mode"),
            ));
        }
    }
    let shared = [
        ("discussion_mode", config.discussion_mode.is_some()),
        ("max_turns", config.max_turns.is_some()),
        ("show_conversation", config.show_conversation.is_some()),
    ];
    let several = mode != CreationMode::Single;
    for (field, given) in shared {
        if several && !given {
            errors.push(Fault::at(
                format!("{base}/{field}"),
                format!("`{field}` is required for several agents"),
            ));
        } else if !several && given {
            errors.push(Fault::at(format!("{base}/{field}"), format!("`{field}` needs several agents")));
        }
    }
    if config.agents.as_ref().is_some_and(Vec::is_empty) {
        errors.push(Fault::at(format!("{base}/agents"), "at least one agent is required"));
    }
    for (field, value) in [("max_agents", config.max_agents), ("max_turns", config.max_turns)] {
        if value == Some(0) {
            errors.push(Fault::at(format!("{base}/{field}"), "at least 1"));
        }
    }
}

fn form(errors: &mut Vec<Fault>, config: &HumanOnlyConfig) {
    let base = "/execution/human_only_config";
    let sections = [
        ("artifact_name", config.artifact_name.is_some()),
        ("artifact_format", config.artifact_format.is_some()),
    ];
    for (field, given) in sections {
        if config.save_as_artifact && !given {
            errors.push(Fault::at(
                format!("{base}/{field}"),
                format!("`{field}` is required when `save_as_artifact` is true"),
            ));
        } else if !config.save_as_artifact && given {
            errors.push(Fault::at(format!("{base}/{field}"), format!("`{field}` needs `save_as_artifact`")));
        }
    }
    if let Some(artifact) = &config.artifact_name
        && !is_plain_name(artifact)
    {
        errors.push(Fault::at(format!("{base}/artifact_name"), "not usable as a file name"));
    }
    let mut names = BTreeSet::new();
    for (i, field) in config.input_fields.iter().enumerate() {
        let pointer = format!("{base}/input_fields/{i}");
        name(errors, &format!("{pointer}/name"), &field.name);
        if !names.insert(field.name.as_str()) {
            errors.push(Fault::at(format!("{pointer}/name"), "another field has this name"));
        }
        if field.kind == FieldType::File && !is_plain_name(&field.name) {
            errors.push(Fault::at(format!("{pointer}/name"), "not usable as a file name"));
        }
        if field.kind == FieldType::File && field.default.is_some() {
            errors.push(Fault::at(format!("{pointer}/default"), "a file has no default"));
        }
    }
}

fn limits(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    let retry = &definition.execution.retry_config;
    if retry.max_auto_retries > 5 {
        errors.push(Fault::at("/execution/retry_config/max_auto_retries", "between 0 and 5"));
    }
    if retry.retry_delay_seconds > 86_400 {
        errors.push(Fault::at("/execution/retry_config/retry_delay_seconds", "at most one day"));
    }
    let timeout = &definition.execution.timeout_config;
    let fields = [
        ("timeout_minutes", timeout.timeout_minutes.is_some()),
        ("on_timeout", timeout.on_timeout.is_some()),
    ];
    for (field, given) in fields {
        if timeout.enabled && !given {
            errors.push(Fault::at(
                format!("/execution/timeout_config/{field}"),
                format!("`{field}` is required when the timeout is enabled"),
            ));
        }
    }
    if timeout.enabled && timeout.timeout_minutes == Some(0) {
        errors.push(Fault::at("/execution/timeout_config/timeout_minutes", "at least 1"));
    }
    if definition.human_interaction.max_revision_iterations > 1_000 {
        errors.push(Fault::at("/human_interaction/max_revision_iterations", "at most 1000"));
    }
}

fn artifacts(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    let mut names = BTreeSet::new();
    for (i, artifact) in definition.output.artifacts.iter().enumerate() {
        let pointer = format!("/output/artifacts/{i}");
        if !is_plain_name(&artifact.name) {
            errors.push(Fault::at(format!("{pointer}/name"), "not usable as a file name"));
        }
        if !names.insert(artifact.name.as_str()) {
            errors.push(Fault::at(format!("{pointer}/name"), "another artifact has this name"));
        }
        if artifact.format == Format::Json && artifact.schema.as_ref().is_some_and(|s| !s.is_object()) {
            errors.push(Fault::at(format!("{pointer}/schema"), "a JSON Schema is an object"));
        }
    }
}

fn validation(errors: &mut Vec<Fault>, validation: &Validation) {
    let mode = validation.validation_mode;
    let schema = matches!(mode, Some(ValidationMode::LlmSchema | ValidationMode::Both));
    let custom = matches!(mode, Some(ValidationMode::LlmCustom | ValidationMode::Both));
    let fields = [
        ("validation_mode", validation.enabled, mode.is_some()),
        (
            "schema_validation_strictness",
            validation.enabled && schema,
            validation.schema_validation_strictness.is_some(),
        ),
        (
            "custom_validation_prompt",
            validation.enabled && custom,
            validation.custom_validation_prompt.is_some(),
        ),
        ("on_validation_failure", validation.enabled, validation.on_validation_failure.is_some()),
        ("max_validation_retries", validation.enabled, validation.max_validation_retries.is_some()),
    ];
    for (field, wanted, given) in fields {
        let pointer = format!("/output/validation/{field}");
        if wanted && !given {
            errors.push(Fault::at(pointer, format!("`{field}` is required here")));
        } else if given && !wanted {
            errors.push(Fault::at(pointer, format!("`{field}` does nothing here")));
        }
    }
}

fn references(
    found: &mut Findings,
    definition: &CheckpointDefinition,
    earlier: &[(CheckpointId, &CheckpointDefinition)],
    later: &[CheckpointId],
) {
    for (i, id) in definition.dependencies.required_checkpoint_ids.iter().enumerate() {
        let pointer = format!("/dependencies/required_checkpoint_ids/{i}");
        if later.contains(id) {
            found.warnings.push(Fault::at(pointer, format!("checkpoint {id} comes later in the order")));
        } else if !earlier.iter().any(|(known, _)| known == id) {
            found.errors.push(Fault::at(pointer, format!("no checkpoint {id} before this one")));
        }
    }
    for (i, reference) in definition.inputs.include_checkpoint_outputs.iter().enumerate() {
        let pointer = format!("/inputs/include_checkpoint_outputs/{i}");
        let Some((_, target)) = earlier.iter().find(|(known, _)| *known == reference.checkpoint_id) else {
            let id = reference.checkpoint_id;
            let message = if later.contains(&id) {
                format!("checkpoint {id} comes later, so its outputs cannot be read here")
            } else {
                format!("no checkpoint {id} before this one")
            };
            found.errors.push(Fault::at(format!("{pointer}/checkpoint_id"), message));
            continue;
        };
        for (j, id) in reference.artifact_ids.iter().flatten().enumerate() {
            if !target.output.artifacts.iter().any(|declared| declared.artifact_id == Some(*id)) {
                found.errors.push(Fault::at(
                    format!("{pointer}/artifact_ids/{j}"),
                    format!("`{}` declares no artifact {id}", target.checkpoint_name),
                ));
            }
        }
    }
}
