//! Checkpoint definitions that tests begin with.

use serde_json::{Value, json};

use crate::definition::{CheckpointDefinition, OnFailure, OnValidationFailure, TimeoutConfig, Validation};

fn definition(name: &str, execution: &Value, start: bool, complete: bool) -> CheckpointDefinition {
    serde_json::from_value(json!({
        "checkpoint_name": name,
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": execution,
        "human_interaction": {
            "requires_approval_to_start": start,
            "requires_approval_to_complete": complete,
            "max_revision_iterations": 2
        },
        "output": {"artifacts": [], "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "do it",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt"
            }
        }
    }))
    .expect("a definition")
}

fn form_execution(field: &Value, saved: bool) -> Value {
    let mut config =
        json!({"instructions": "fill it in", "input_fields": [field], "save_as_artifact": saved});
    if saved {
        config["artifact_name"] = json!("a");
        config["artifact_format"] = json!("json");
    }
    json!({
        "mode": "human_only",
        "human_only_config": config,
        "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
        "timeout_config": {"enabled": false}
    })
}

/// A form that begins by itself and is approved at the end.
pub(crate) fn form(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "answer", "type": "text", "label": "Answer", "required": true});
    definition(name, &form_execution(&field, true), false, true)
}

/// A form with approvals at both ends.
pub(crate) fn human(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "answer", "type": "text", "label": "Answer", "required": true});
    definition(name, &form_execution(&field, true), true, true)
}

/// A form with a file.
pub(crate) fn upload(name: &str) -> CheckpointDefinition {
    let field = json!({"name": "doc", "type": "file", "label": "Document", "required": true});
    definition(name, &form_execution(&field, false), false, true)
}

/// A script without approvals.
pub(crate) fn script(name: &str, retries: u32) -> CheckpointDefinition {
    let execution = json!({
        "mode": "script",
        "script_config": {"script_path": "a.py", "requires_user_input": false},
        "retry_config": {"max_auto_retries": retries, "on_failure": "pause_pipeline"},
        "timeout_config": {"enabled": false}
    });
    definition(name, &execution, false, false)
}

/// A script that asks a person something before it runs.
pub(crate) fn asking(name: &str, retries: u32) -> CheckpointDefinition {
    let mut definition = script(name, retries);
    let config = definition.execution.script_config.as_mut().expect("a script");
    config.requires_user_input = true;
    config.user_input_prompt = Some("Which one?".to_owned());
    definition
}

/// With an artifact that must be made.
pub(crate) fn reporting(mut definition: CheckpointDefinition) -> CheckpointDefinition {
    let artifact = json!({"name": "report", "format": "txt"});
    definition.output.artifacts = vec![serde_json::from_value(artifact).expect("an artifact")];
    definition
}

/// With a judge, who may send it back this often.
pub(crate) fn judged_by(
    mut definition: CheckpointDefinition,
    then: OnValidationFailure,
    retries: u32,
) -> CheckpointDefinition {
    let validation = json!({
        "enabled": true,
        "validation_mode": "llm_custom",
        "custom_validation_prompt": "is it good?",
        "max_validation_retries": retries
    });
    let validation: Validation = serde_json::from_value(validation).expect("a validation");
    definition.output.validation = Validation { on_validation_failure: Some(then), ..validation };
    definition
}

/// With what happens after its last failed attempt.
pub(crate) fn failing(mut definition: CheckpointDefinition, then: OnFailure) -> CheckpointDefinition {
    definition.execution.retry_config.on_failure = then;
    definition
}

/// With a limit of one minute on an attempt's work.
pub(crate) fn timed(mut definition: CheckpointDefinition, then: OnFailure) -> CheckpointDefinition {
    definition.execution.timeout_config =
        TimeoutConfig { enabled: true, timeout_minutes: Some(1), on_timeout: Some(then) };
    definition
}

/// With approvals.
pub(crate) fn approved(
    mut definition: CheckpointDefinition,
    start: bool,
    complete: bool,
) -> CheckpointDefinition {
    definition.human_interaction.requires_approval_to_start = start;
    definition.human_interaction.requires_approval_to_complete = complete;
    definition
}
