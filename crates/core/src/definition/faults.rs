//! What is wrong with a definition: conditional fields, limits, references.
//!
//! Impossible things are errors; what the document leaves to the user is a warning that stays on the
//! definition.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::people::approvals;
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
    later: &[(CheckpointId, &CheckpointDefinition)],
) -> Findings {
    let mut found = Findings::default();
    let errors = &mut found.errors;
    name(errors, "/checkpoint_name", &definition.checkpoint_name);
    modes(errors, definition);
    limits(errors, definition);
    artifacts(errors, definition);
    levels(errors, definition);
    validation(errors, &definition.output.validation);
    if definition.execution.mode != Mode::HumanOnly && task_prompt_missing(definition) {
        errors.push(Fault::at(
            "/instructions/task_prompt",
            "`task_prompt` is required for agentic and script checkpoints",
        ));
    }
    if definition.execution.network == Some(true) {
        let message = "code of this checkpoint reaches the network, and can send on what it is given";
        found.warnings.push(Fault::at("/execution/network", message));
    }
    references(&mut found, definition, earlier, later);
    approvals(&mut found, &definition.human_interaction);
    if unchecked(definition) {
        let message = "no JSON artifact has a schema, so there is nothing to check it with";
        found.warnings.push(Fault::at("/output/validation/validation_mode", message));
    }
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
        } else if config.script_path.contains('\0')
            || config.script_path.split(['/', '\\']).any(|part| part == "..")
        {
            let message = "a path inside the scripts folder, or an absolute one, without `..`";
            errors.push(Fault::at("/execution/script_config/script_path", message));
        }
        if config.entry_function.trim().is_empty() {
            errors.push(Fault::at("/execution/script_config/entry_function", "a name is required"));
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
    // One agent has nobody to discuss with.
    let alone =
        config.agents.as_ref().is_some_and(|agents| agents.len() == 1) || config.max_agents == Some(1);
    for (field, given) in shared {
        if several && !alone && !given {
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
    for (field, value, most) in
        [("max_agents", config.max_agents, 100), ("max_turns", config.max_turns, 1_000)]
    {
        if value.is_some_and(|value| value == 0 || value > most) {
            errors.push(Fault::at(format!("{base}/{field}"), format!("between 1 and {most}")));
        }
    }
    let texts = [("meta_agent_instructions", &config.meta_agent_instructions), ("model", &config.model)];
    for (field, text) in texts {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            errors.push(Fault::at(format!("{base}/{field}"), "a text is required"));
        }
    }
    if let Some(agent) = &config.agent {
        name(errors, &format!("{base}/agent/name"), &agent.name);
    }
    let mut names = BTreeSet::new();
    for (i, agent) in config.agents.iter().flatten().enumerate() {
        let pointer = format!("{base}/agents/{i}/name");
        name(errors, &pointer, &agent.name);
        if !names.insert(agent.name.as_str()) {
            errors.push(Fault::at(pointer, "another agent has this name"));
        }
    }
    let mut tools = BTreeSet::new();
    for (i, tool) in config.tools.iter().enumerate() {
        let pointer = format!("{base}/tools/{i}");
        if tool.trim().is_empty() {
            errors.push(Fault::at(pointer, "a name is required"));
        } else if !tools.insert(tool.as_str()) {
            errors.push(Fault::at(pointer, "this tool is named already"));
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
        let fits = |value: &Value| match field.kind {
            FieldType::Text | FieldType::MultilineText => value.is_string(),
            FieldType::Number => value.is_number(),
            FieldType::Boolean => value.is_boolean(),
            FieldType::File => false,
        };
        if field.kind == FieldType::File && field.default.is_some() {
            errors.push(Fault::at(format!("{pointer}/default"), "a file has no default"));
        } else if field.default.as_ref().is_some_and(|value| !fits(value)) {
            errors.push(Fault::at(format!("{pointer}/default"), "not a value of this type"));
        }
        if field.kind == FieldType::File && field.validation.is_some() {
            errors.push(Fault::at(format!("{pointer}/validation"), "a file is not looked into here"));
        }
    }
}

fn limits(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    let retry = &definition.execution.retry_config;
    if retry.max_auto_retries > 5 {
        errors.push(Fault::at("/execution/retry_config/max_auto_retries", "between 0 and 5"));
    }
    if retry.retry_delay_seconds > Some(86_400) {
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
    if timeout.enabled && timeout.timeout_minutes.is_some_and(|minutes| minutes == 0 || minutes > 43_200) {
        let message = "between 1 and 43200, which are thirty days";
        errors.push(Fault::at("/execution/timeout_config/timeout_minutes", message));
    }
    if definition.output.validation.max_validation_retries.is_some_and(|retries| retries > 100) {
        errors.push(Fault::at("/output/validation/max_validation_retries", "at most 100"));
    }
    if definition.execution.network.is_some() && definition.execution.mode == Mode::HumanOnly {
        errors.push(Fault::at("/execution/network", "a person's work has no sandbox"));
    }
    if let Some(budget) = &definition.execution.budget {
        errors.extend(budget.faults("/execution/budget"));
        if definition.execution.mode == Mode::HumanOnly {
            errors.push(Fault::at("/execution/budget", "a person's work has no budget"));
        }
    }
    if definition.human_interaction.max_revision_iterations > 1_000 {
        errors.push(Fault::at("/human_interaction/max_revision_iterations", "at most 1000"));
    }
}

fn artifacts(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    let config = definition.execution.agent_config.as_ref();
    let by_files = config.is_none_or(|config| config.tools.iter().any(|tool| tool == "file_operations"));
    if definition.execution.mode == Mode::Agentic && !by_files && definition.output.artifacts.len() > 1 {
        let message = "agents without the tool `file_operations` give their answer as the one artifact; add the tool, or \
                       leave one artifact";
        errors.push(Fault::at("/output/artifacts", message));
    }
    let mut names = BTreeSet::new();
    for (i, artifact) in definition.output.artifacts.iter().enumerate() {
        let pointer = format!("/output/artifacts/{i}");
        if !is_plain_name(&artifact.name) {
            errors.push(Fault::at(format!("{pointer}/name"), "not usable as a file name"));
        }
        if !names.insert(artifact.name.as_str()) {
            errors.push(Fault::at(format!("{pointer}/name"), "another artifact has this name"));
        }
        if artifact.schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            errors.push(Fault::at(format!("{pointer}/schema"), "a JSON Schema is an object"));
        }
    }
    let agents = definition.execution.agent_config.as_ref();
    let writes = |config: &AgentConfig| config.tools.iter().any(|tool| tool == "file_operations");
    if names.len() > 1 && agents.is_some_and(|config| !writes(config)) {
        let message = "several artifacts need the tool `file_operations`: without it an agent has one answer";
        errors.push(Fault::at("/output/artifacts", message));
    }
    let form = definition.execution.human_only_config.as_ref();
    if let Some((made, format)) = form.and_then(|form| form.artifact_name.as_ref().zip(form.artifact_format))
        && let Some(i) = definition.output.artifacts.iter().position(|artifact| artifact.name == *made)
        && definition.output.artifacts[i].format != Format::from(format)
    {
        let message = "the form writes this artifact in another format";
        errors.push(Fault::at(format!("/output/artifacts/{i}/format"), message));
    }
}

/// The most levels of a value that people may write freely.
const MAX_LEVELS: usize = 32;

/// Values of any shape are kept, shown, hashed and written to files: none may be deeper than those can go.
fn levels(errors: &mut Vec<Fault>, definition: &CheckpointDefinition) {
    fn is_deep(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left == 0 || items.iter().any(|item| is_deep(item, left - 1)),
            Value::Object(members) => left == 0 || members.values().any(|member| is_deep(member, left - 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let mut check = |pointer: String, value: Option<&Value>| {
        if value.is_some_and(|value| is_deep(value, MAX_LEVELS)) {
            errors.push(Fault::at(pointer, format!("at most {MAX_LEVELS} levels")));
        }
    };
    let execution = &definition.execution;
    let parameters = execution.script_config.as_ref().and_then(|config| config.parameters.as_ref());
    for (name, value) in parameters.into_iter().flatten() {
        let name = name.replace('~', "~0").replace('/', "~1");
        check(format!("/execution/script_config/parameters/{name}"), Some(value));
    }
    let form = execution.human_only_config.as_ref();
    for (i, field) in form.iter().flat_map(|form| form.input_fields.iter().enumerate()) {
        check(format!("/execution/human_only_config/input_fields/{i}/default"), field.default.as_ref());
    }
    for (i, artifact) in definition.output.artifacts.iter().enumerate() {
        check(format!("/output/artifacts/{i}/schema"), artifact.schema.as_ref());
    }
    let examples = definition.instructions.iter().flat_map(|instructions| &instructions.examples);
    for (i, example) in examples.enumerate() {
        check(format!("/instructions/examples/{i}/input"), example.input.as_ref());
        check(format!("/instructions/examples/{i}/output"), example.output.as_ref());
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
            validation.custom_validation_prompt.as_ref().is_some_and(|text| !text.trim().is_empty()),
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

/// Whether schemas are to be checked, and there are none.
fn unchecked(definition: &CheckpointDefinition) -> bool {
    let mode = definition.output.validation.validation_mode;
    let mut artifacts = definition.output.artifacts.iter();
    matches!(mode, Some(ValidationMode::LlmSchema | ValidationMode::Both))
        && !artifacts.any(|artifact| artifact.format == Format::Json && artifact.schema.is_some())
}

fn references(
    found: &mut Findings,
    definition: &CheckpointDefinition,
    earlier: &[(CheckpointId, &CheckpointDefinition)],
    later: &[(CheckpointId, &CheckpointDefinition)],
) {
    let behind = |id: &CheckpointId| {
        later.iter().find(|(other, _)| other == id).map(|(_, other)| &other.checkpoint_name)
    };
    for (i, id) in definition.dependencies.required_checkpoint_ids.iter().enumerate() {
        let pointer = format!("/dependencies/required_checkpoint_ids/{i}");
        if let Some(name) = behind(id) {
            found.warnings.push(Fault::at(pointer, format!("checkpoint `{name}` comes later in the order")));
        } else if !earlier.iter().any(|(known, _)| known == id) {
            found.errors.push(Fault::at(pointer, format!("no checkpoint {id} before this one")));
        }
    }
    for (i, reference) in definition.inputs.include_checkpoint_outputs.iter().enumerate() {
        let pointer = format!("/inputs/include_checkpoint_outputs/{i}");
        let Some((_, target)) = earlier.iter().find(|(known, _)| *known == reference.checkpoint_id) else {
            let id = reference.checkpoint_id;
            let message = if let Some(name) = behind(&id) {
                format!("checkpoint `{name}` comes later, so its outputs cannot be read here")
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{form, script};

    /// What is found in a definition after some of its sections were replaced.
    #[allow(clippy::needless_pass_by_value)] // reads better where it is called
    fn check(base: CheckpointDefinition, changes: Value, then: Expect) {
        let mut value = serde_json::to_value(base).expect("a definition");
        for (pointer, change) in changes.as_object().expect("changes") {
            let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
            value.pointer_mut(parent).expect("a parent")[name] = change.clone();
        }
        let definition: CheckpointDefinition = serde_json::from_value(value).expect("a definition");
        let found = examine(&definition, &[], &[]);
        let mut shown = String::new();
        for (kind, faults) in [("error", found.errors), ("warning", found.warnings)] {
            for Fault { pointer, message } in faults {
                writeln!(shown, "{kind} {pointer}: {message}").expect("text grows");
            }
        }
        then.assert_eq(&shown);
    }

    #[allow(clippy::needless_pass_by_value)] // reads better where it is called
    fn agent(config: Value, artifacts: usize) -> Value {
        let artifacts: Vec<_> =
            (0..artifacts).map(|i| json!({"name": format!("a{i}"), "format": "md"})).collect();
        json!({
            "/execution/mode": "agentic",
            "/execution/script_config": null,
            "/execution/agent_config": config,
            "/output/artifacts": artifacts,
        })
    }

    #[test]
    fn agents() {
        let member = json!({"name": "A", "role": "r", "system_prompt": "s", "task_prompt": "t"});
        let single = json!({"name": "A", "system_prompt": "s", "task_prompt": "t"});
        check(script("A", 0), agent(json!({"creation_mode": "single", "agent": single}), 1), expect![[""]]);
        let lone = json!({"creation_mode": "predefined", "agents": [member]});
        check(script("A", 0), agent(lone, 1), expect![[""]]);
        let team = json!({
            "creation_mode": "predefined", "agents": [member, member], "agent": single, "max_turns": 0,
            "show_conversation": true, "tools": ["web_search", "web_search", "github", ""], "model": " ",
        });
        check(
            script("A", 0),
            agent(team, 2),
            expect![[r#"
                error /execution/agent_config/agent: `agent` belongs to another creation mode
                error /execution/agent_config/discussion_mode: `discussion_mode` is required for several agents
                error /execution/agent_config/max_turns: between 1 and 1000
                error /execution/agent_config/model: a text is required
                error /execution/agent_config/agents/1/name: another agent has this name
                error /execution/agent_config/tools/1: this tool is named already
                error /execution/agent_config/tools/3: a name is required
                error /output/artifacts: agents without the tool `file_operations` give their answer as the one artifact; add the tool, or leave one artifact
                error /output/artifacts: several artifacts need the tool `file_operations`: without it an agent has one answer
            "#]],
        );
        let meta = json!({"creation_mode": "meta_agent", "meta_agent_instructions": "", "max_agents": 101});
        check(
            script("A", 0),
            agent(meta, 0),
            expect![[r#"
            error /execution/agent_config/discussion_mode: `discussion_mode` is required for several agents
            error /execution/agent_config/max_turns: `max_turns` is required for several agents
            error /execution/agent_config/show_conversation: `show_conversation` is required for several agents
            error /execution/agent_config/max_agents: between 1 and 100
            error /execution/agent_config/meta_agent_instructions: a text is required
        "#]],
        );
        let discussing = json!({"creation_mode": "single", "agent": single, "discussion_mode": "debate"});
        check(
            script("A", 0),
            agent(discussing, 0),
            expect![[r#"
            error /execution/agent_config/discussion_mode: `discussion_mode` needs several agents
        "#]],
        );
        let writing = json!({"creation_mode": "single", "agent": single, "tools": ["file_operations"]});
        check(script("A", 0), agent(writing, 2), expect![[""]]);
    }

    #[test]
    fn scripts_and_forms() {
        let path = json!({"script_path": "../x.py", "entry_function": "", "requires_user_input": true});
        check(
            script("A", 0),
            json!({"/execution/script_config": path}),
            expect![[r#"
            error /execution/script_config/user_input_prompt: `user_input_prompt` is required when `requires_user_input` is true
            error /execution/script_config/script_path: a path inside the scripts folder, or an absolute one, without `..`
            error /execution/script_config/entry_function: a name is required
        "#]],
        );
        let both = json!({"/execution/script_config": path, "/execution/mode": "human_only"});
        check(
            form("A"),
            both,
            expect![[r#"
            error /execution/script_config: `script_config` belongs to another mode
            error /execution/script_config/user_input_prompt: `user_input_prompt` is required when `requires_user_input` is true
            error /execution/script_config/script_path: a path inside the scripts folder, or an absolute one, without `..`
            error /execution/script_config/entry_function: a name is required
        "#]],
        );
        let field = |kind: &str, default: Value| {
            let (name, label) = (kind, kind);
            json!({"name": name, "type": kind, "label": label, "required": false, "default": default, "validation": "1"})
        };
        let fields = json!([
            field("text", json!(1)),
            field("number", json!(1)),
            field("boolean", json!("true")),
            field("file", json!("x")),
        ]);
        check(
            form("A"),
            json!({"/execution/human_only_config/input_fields": fields}),
            expect![[r#"
            error /execution/human_only_config/input_fields/0/default: not a value of this type
            error /execution/human_only_config/input_fields/2/default: not a value of this type
            error /execution/human_only_config/input_fields/3/default: a file has no default
            error /execution/human_only_config/input_fields/3/validation: a file is not looked into here
        "#]],
        );
        let declared = json!({"/output/artifacts": [{"name": "a", "format": "md", "schema": 1}]});
        check(
            form("A"),
            declared,
            expect![[r#"
            error /output/artifacts/0/schema: a JSON Schema is an object
            error /output/artifacts/0/format: the form writes this artifact in another format
        "#]],
        );
        let unsaved = json!({"/execution/human_only_config/save_as_artifact": false});
        check(
            form("A"),
            unsaved,
            expect![[r#"
            error /execution/human_only_config/artifact_name: `artifact_name` needs `save_as_artifact`
            error /execution/human_only_config/artifact_format: `artifact_format` needs `save_as_artifact`
        "#]],
        );
    }

    #[test]
    fn limits_and_checks() {
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        let parameters =
            json!({"script_path": "a.py", "requires_user_input": false, "parameters": {"a/b": deep}});
        let changes = json!({
            "/execution/retry_config": {"max_auto_retries": 6, "on_failure": "pause_pipeline", "retry_delay_seconds": 90_000},
            "/execution/timeout_config": {"enabled": true, "timeout_minutes": 50_000},
            "/execution/script_config": parameters,
            "/output/validation": {
                "enabled": true, "validation_mode": "both", "custom_validation_prompt": " ",
                "on_validation_failure": "retry", "max_validation_retries": 101,
            },
            "/instructions": null,
        });
        check(
            script("A", 0),
            changes,
            expect![[r#"
            error /execution/retry_config/max_auto_retries: between 0 and 5
            error /execution/retry_config/retry_delay_seconds: at most one day
            error /execution/timeout_config/on_timeout: `on_timeout` is required when the timeout is enabled
            error /execution/timeout_config/timeout_minutes: between 1 and 43200, which are thirty days
            error /output/validation/max_validation_retries: at most 100
            error /execution/script_config/parameters/a~1b: at most 32 levels
            error /output/validation/schema_validation_strictness: `schema_validation_strictness` is required here
            error /output/validation/custom_validation_prompt: `custom_validation_prompt` is required here
            error /instructions/task_prompt: `task_prompt` is required for agentic and script checkpoints
            warning /output/validation/validation_mode: no JSON artifact has a schema, so there is nothing to check it with
        "#]],
        );
        let off = json!({"/output/validation": {"enabled": false, "validation_mode": "llm_custom"}});
        check(
            script("A", 0),
            off,
            expect![[r#"
            error /output/validation/validation_mode: `validation_mode` does nothing here
        "#]],
        );
    }
}
