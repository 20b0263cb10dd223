//! The JSON Schemas of a checkpoint definition and of a pipeline file.
//!
//! Fields and types come from the definitions themselves; what depends on the value of another field is
//! added here. A schema is for editors and for people: the rules that refuse stand in core, and a test keeps
//! the two in step.

use holdpoint_core::definition::{CheckpointDefinition, PipelineConfig};
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

/// Both schemas, by the names under which they are published.
pub fn json_schema() -> Value {
    json!({"checkpoint": checkpoint_schema(), "pipeline-file": pipeline_file_schema()})
}

/// The schema of a checkpoint definition, with ids in references.
pub fn checkpoint_schema() -> Value {
    let mut definitions = definitions();
    let mut root = definitions.remove("CheckpointDefinition").unwrap_or_default();
    read_only(&mut root);
    publish(root, "Holdpoint checkpoint definition", definitions)
}

/// The schema of a pipeline file, with names (or ids) in references.
pub fn pipeline_file_schema() -> Value {
    let mut definitions = definitions();
    let name = json!({"type": "string", "description": "A name or an id"});
    let names = json!({"type": "array", "items": name});
    set(&mut definitions, "/Dependencies/properties/required_checkpoint_ids", names.clone());
    set(&mut definitions, "/OutputReference/properties/checkpoint_id", name);
    set(&mut definitions, "/OutputReference/properties/artifact_ids", or_null(&names));
    let id = json!({"type": ["string", "null"], "format": "uuid"});
    set(&mut definitions, "/CheckpointDefinition/properties/checkpoint_id", id.clone());
    let root = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["pipeline_name"],
        "properties": {
            "pipeline_id": id,
            "pipeline_name": {"type": "string", "minLength": 1, "maxLength": 200},
            "pipeline_description": {"type": ["string", "null"]},
            "config": {"$ref": "#/$defs/PipelineConfig"},
            "checkpoints": {
                "type": "array",
                "maxItems": 1000,
                "items": {"$ref": "#/$defs/CheckpointDefinition"},
            },
        },
    });
    publish(root, "Holdpoint pipeline file", definitions)
}

fn publish(root: Value, title: &str, definitions: Map<String, Value>) -> Value {
    let mut schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title});
    if let (Value::Object(schema), Value::Object(root)) = (&mut schema, root) {
        schema.extend(root);
        schema.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// What the outside shows beside a definition, and accepts unchanged.
fn read_only(root: &mut Value) {
    let text = |format: &str| json!({"type": "string", "format": format, "readOnly": true});
    root["properties"]["checkpoint_id"] = text("uuid");
    root["properties"]["created_at"] = text("date-time");
    root["properties"]["updated_at"] = text("date-time");
}

/// The types of definitions, with their conditions.
fn definitions() -> Map<String, Value> {
    let mut found = vec![
        (CheckpointDefinition::name().into_owned(), CheckpointDefinition::schema()),
        (PipelineConfig::name().into_owned(), PipelineConfig::schema()),
    ];
    CheckpointDefinition::schemas(&mut found);
    PipelineConfig::schemas(&mut found);
    let mut definitions: Map<String, Value> = found
        .into_iter()
        .map(|(name, schema)| (name, serde_json::to_value(schema).expect("a schema is plain data")))
        .collect();
    for schema in definitions.values_mut() {
        local(schema);
    }
    for (name, rules) in conditions() {
        let schema = definitions.entry(name).or_insert_with(|| json!({}));
        schema["allOf"] = rules;
    }
    limits(&mut definitions);
    definitions
}

/// References inside an API's description, as references inside this schema.
fn local(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            members.values_mut().for_each(local);
        }
        Value::Array(items) => items.iter_mut().for_each(local),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn set(definitions: &mut Map<String, Value>, pointer: &str, value: Value) {
    let mut parts = pointer.split('/').skip(1);
    let first = parts.next().unwrap_or_default();
    let mut at = definitions.entry(first).or_insert_with(|| json!({}));
    for part in parts {
        at = &mut at[part];
    }
    *at = value;
}

fn or_null(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

/// Numbers and texts whose limits the types do not say.
fn limits(definitions: &mut Map<String, Value>) {
    for (pointer, limit) in [
        ("/RetryConfig/properties/max_auto_retries/maximum", json!(5)),
        ("/RetryConfig/properties/retry_delay_seconds/maximum", json!(86_400)),
        ("/HumanInteraction/properties/max_revision_iterations/maximum", json!(1_000)),
        ("/AgentConfig/properties/max_agents/minimum", json!(1)),
        ("/AgentConfig/properties/max_agents/maximum", json!(100)),
        ("/AgentConfig/properties/max_turns/minimum", json!(1)),
        ("/AgentConfig/properties/max_turns/maximum", json!(1_000)),
        ("/Validation/properties/max_validation_retries/maximum", json!(100)),
        ("/CheckpointDefinition/properties/checkpoint_name/minLength", json!(1)),
        ("/CheckpointDefinition/properties/checkpoint_name/maxLength", json!(200)),
        ("/ScriptConfig/properties/script_path/minLength", json!(1)),
    ] {
        set(definitions, pointer, limit);
    }
}

/// Fields that must be there, and not null.
fn needs(fields: &[&str]) -> Value {
    let given: Map<_, _> =
        fields.iter().map(|field| ((*field).to_owned(), json!({"not": {"type": "null"}}))).collect();
    json!({"required": fields, "properties": given})
}

/// Fields that must not be there, or be null.
fn lacks(fields: &[&str]) -> Value {
    let none: Map<_, _> = fields.iter().map(|field| ((*field).to_owned(), json!({"type": "null"}))).collect();
    json!({"properties": none})
}

/// When a field has one of these values, then.
fn when(field: &str, values: &[Value], then: &[Value]) -> Value {
    json!({"if": {"required": [field], "properties": {field: {"enum": values}}}, "then": {"allOf": then}})
}

/// The conditions of the document, by type.
fn conditions() -> Vec<(String, Value)> {
    let modes = ["agent_config", "script_config", "human_only_config"];
    let mode = |name: &str, own: &str| {
        let others: Vec<_> = modes.into_iter().filter(|other| *other != own).collect();
        when("mode", &[json!(name)], &[needs(&[own]), lacks(&others)])
    };
    let discussion = ["discussion_mode", "max_turns", "show_conversation"];
    let several = json!({
        "if": {"anyOf": [
            {"required": ["agents"], "properties": {"agents": {"type": "array", "minItems": 2}}},
            {"required": ["max_agents"], "properties": {"max_agents": {"type": "integer", "minimum": 2}}},
        ]},
        "then": needs(&discussion),
    });
    let task = json!({
        "required": ["instructions"],
        "properties": {"instructions": {
            "type": "object",
            "required": ["task_prompt"],
            "properties": {"task_prompt": {"type": "string", "pattern": "\\S"}},
        }},
    });
    let worked = json!({"execution": {"properties": {"mode": {"enum": ["agentic", "script"]}}}});
    let table = [
        ("CheckpointDefinition", vec![json!({"if": {"properties": worked}, "then": task})]),
        (
            "ExecutionConfig",
            vec![
                mode("agentic", "agent_config"),
                mode("script", "script_config"),
                mode("human_only", "human_only_config"),
            ],
        ),
        (
            "AgentConfig",
            vec![
                when(
                    "creation_mode",
                    &[json!("meta_agent")],
                    &[needs(&["meta_agent_instructions", "max_agents"]), lacks(&["agents", "agent"])],
                ),
                when(
                    "creation_mode",
                    &[json!("predefined")],
                    &[
                        needs(&["agents"]),
                        lacks(&["meta_agent_instructions", "max_agents", "agent"]),
                        json!({"properties": {"agents": {"minItems": 1}}}),
                    ],
                ),
                when(
                    "creation_mode",
                    &[json!("single")],
                    &[
                        needs(&["agent"]),
                        lacks(&["meta_agent_instructions", "max_agents", "agents"]),
                        lacks(&discussion),
                    ],
                ),
                several,
            ],
        ),
        ("ScriptConfig", vec![when("requires_user_input", &[json!(true)], &[needs(&["user_input_prompt"])])]),
        (
            "HumanOnlyConfig",
            vec![
                when("save_as_artifact", &[json!(true)], &[needs(&["artifact_name", "artifact_format"])]),
                when("save_as_artifact", &[json!(false)], &[lacks(&["artifact_name", "artifact_format"])]),
            ],
        ),
        (
            "TimeoutConfig",
            vec![when("enabled", &[json!(true)], &[needs(&["timeout_minutes", "on_timeout"])])],
        ),
        ("Validation", validation()),
    ];
    table.into_iter().map(|(name, rules)| (name.to_owned(), rules.into())).collect()
}

fn validation() -> Vec<Value> {
    let all = [
        "validation_mode",
        "schema_validation_strictness",
        "custom_validation_prompt",
        "on_validation_failure",
        "max_validation_retries",
    ];
    let mode = |values: &[&str], field: &str| {
        let values: Vec<_> = values.iter().map(|value| json!(value)).collect();
        let rule =
            json!({"required": ["validation_mode"], "properties": {"validation_mode": {"enum": values}}});
        json!({"if": rule, "then": needs(&[field]), "else": lacks(&[field])})
    };
    vec![
        when(
            "enabled",
            &[json!(true)],
            &[
                needs(&["validation_mode", "on_validation_failure", "max_validation_retries"]),
                mode(&["llm_schema", "both"], "schema_validation_strictness"),
                mode(&["llm_custom", "both"], "custom_validation_prompt"),
            ],
        ),
        when("enabled", &[json!(false)], &[lacks(&all)]),
    ]
}

#[cfg(test)]
mod tests;
