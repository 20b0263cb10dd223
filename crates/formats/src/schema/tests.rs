//! The published schemas, and whether they agree with the rules.

use expect_test::expect_file;
use holdpoint_core::definition::{CheckpointDefinition, examine};
use serde_json::{Value, json};

use super::*;

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).expect("a schema") + "\n"
}

#[test]
fn schemas_are_published() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/schemas");
    expect_file![format!("{folder}/checkpoint.schema.json")].assert_eq(&pretty(&checkpoint_schema()));
    expect_file![format!("{folder}/pipeline-file.schema.json")].assert_eq(&pretty(&pipeline_file_schema()));
}

/// Definitions that stand alone, each with the sections that make it what it is.
fn bases() -> Vec<Value> {
    let base = |execution: Value| {
        json!({
            "checkpoint_name": "A",
            "checkpoint_description": "",
            "inputs": {"include_previous_version": false},
            "execution": execution,
            "human_interaction": {
                "requires_approval_to_start": false,
                "requires_approval_to_complete": true,
                "max_revision_iterations": 2,
            },
            "output": {"artifacts": [{"name": "a", "format": "json", "schema": {"type": "object"}}]},
            "instructions": {
                "task_prompt": "do it",
                "injection_points": {
                    "previous_version_context": "before_task_prompt",
                    "checkpoint_references": "after_task_prompt",
                },
            },
        })
    };
    let execution = |mode: &str, section: &str, config: Value| {
        json!({
            "mode": mode,
            section: config,
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false},
        })
    };
    let agent = json!({"name": "A", "system_prompt": "s", "task_prompt": "t"});
    let member = |name: &str| json!({"name": name, "role": "r", "system_prompt": "s", "task_prompt": "t"});
    let team = json!({
        "creation_mode": "predefined", "agents": [member("A"), member("B")],
        "discussion_mode": "council", "max_turns": 3, "show_conversation": true,
    });
    let meta = json!({
        "creation_mode": "meta_agent", "meta_agent_instructions": "make some", "max_agents": 3,
        "discussion_mode": "debate", "max_turns": 3, "show_conversation": false,
    });
    let script = json!({"script_path": "a.py", "requires_user_input": true, "user_input_prompt": "Which?"});
    let form = json!({
        "instructions": "i", "save_as_artifact": true, "artifact_name": "a", "artifact_format": "json",
        "input_fields": [{"name": "x", "type": "number", "label": "X", "required": true, "default": 1}],
    });
    vec![
        base(execution("agentic", "agent_config", json!({"creation_mode": "single", "agent": agent}))),
        base(execution("agentic", "agent_config", team)),
        base(execution("agentic", "agent_config", meta)),
        base(execution("script", "script_config", script)),
        base(execution("human_only", "human_only_config", form)),
    ]
}

/// Changes of one place each, sensible or not.
fn changes() -> Vec<(&'static str, Value)> {
    let form = json!({"instructions": "i", "save_as_artifact": false});
    let one = json!([{"name": "A", "role": "r", "system_prompt": "s", "task_prompt": "t"}]);
    let mut all = vec![
        ("/execution/human_only_config", form),
        ("/execution/script_config", json!({"script_path": "a.py", "requires_user_input": false})),
        ("/execution/agent_config/agents", one),
        ("/execution/agent_config/agents", json!([])),
        ("/execution/agent_config/max_agents", json!(1)),
        ("/execution/agent_config/max_turns", json!(0)),
        ("/execution/retry_config/max_auto_retries", json!(5)),
        ("/execution/retry_config/max_auto_retries", json!(6)),
        ("/execution/timeout_config", json!({"enabled": true})),
        (
            "/execution/timeout_config",
            json!({"enabled": true, "timeout_minutes": 1, "on_timeout": "pause_pipeline"}),
        ),
        ("/execution/human_only_config/save_as_artifact", json!(false)),
        ("/execution/script_config/requires_user_input", json!(false)),
        ("/execution/script_config/user_input_prompt", Value::Null),
        ("/instructions", Value::Null),
        ("/instructions/task_prompt", json!(" ")),
        ("/instructions/task_prompt", Value::Null),
        ("/checkpoint_name", json!("")),
    ];
    for mode in ["agentic", "script", "human_only"] {
        all.push(("/execution/mode", json!(mode)));
    }
    for mode in ["single", "predefined", "meta_agent"] {
        all.push(("/execution/agent_config/creation_mode", json!(mode)));
    }
    for field in [
        "agents",
        "agent",
        "max_agents",
        "meta_agent_instructions",
        "discussion_mode",
        "max_turns",
        "show_conversation",
    ] {
        all.push((Box::leak(format!("/execution/agent_config/{field}").into_boxed_str()), Value::Null));
    }
    for field in ["artifact_name", "artifact_format"] {
        all.push((Box::leak(format!("/execution/human_only_config/{field}").into_boxed_str()), Value::Null));
    }
    for mode in ["llm_schema", "llm_custom", "both"] {
        for (strictness, prompt) in [(false, false), (true, false), (false, true), (true, true)] {
            for (enabled, failure) in [(true, true), (true, false), (false, true), (false, false)] {
                let mut validation = json!({"enabled": enabled});
                if enabled || failure {
                    validation["validation_mode"] = json!(mode);
                }
                if strictness {
                    validation["schema_validation_strictness"] = json!("strict");
                }
                if prompt {
                    validation["custom_validation_prompt"] = json!("good?");
                }
                if failure {
                    validation["on_validation_failure"] = json!("retry");
                    validation["max_validation_retries"] = json!(1);
                }
                all.push(("/output/validation", validation));
            }
        }
    }
    all
}

/// What the rules say: read, and nothing wrong.
fn allowed(value: &Value) -> bool {
    serde_json::from_value::<CheckpointDefinition>(value.clone())
        .is_ok_and(|definition| examine(&definition, &[], &[]).errors.is_empty())
}

#[test]
fn schema_and_rules_agree() {
    let schema = checkpoint_schema();
    let checkpoint = jsonschema::validator_for(&schema).expect("a schema");
    let schema = pipeline_file_schema();
    let file = jsonschema::validator_for(&schema).expect("a schema");
    let (mut right, mut wrong) = (0, 0);
    let mut compare = |value: &Value| {
        let allowed = allowed(value);
        *(if allowed { &mut right } else { &mut wrong }) += 1;
        let why: Vec<_> = checkpoint.iter_errors(value).map(|error| error.to_string()).collect();
        assert_eq!(why.is_empty(), allowed, "{value:#}\n{why:?}");
        assert_eq!(
            file.is_valid(&json!({"pipeline_name": "P", "checkpoints": [value]})),
            allowed,
            "{value:#}"
        );
    };
    for base in bases() {
        assert!(allowed(&base), "{base:#}");
        compare(&base);
        for (pointer, change) in changes() {
            let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
            let mut value = base.clone();
            let Some(Value::Object(parent)) = value.pointer_mut(parent) else { continue };
            parent.insert(name.to_owned(), change);
            compare(&value);
        }
        for unknown in ["/typo", "/inputs/typo", "/execution/typo", "/output/typo"] {
            let (parent, name) = unknown.rsplit_once('/').expect("a pointer");
            let mut value = base.clone();
            value.pointer_mut(parent).expect("a section")[name] = json!(1);
            compare(&value);
        }
    }
    assert!(right > 50 && wrong > 50, "{right} right, {wrong} wrong");
}

#[test]
fn names_stand_for_ids_in_files_only() {
    let mut value = bases().remove(0);
    value["dependencies"] = json!({"required_checkpoint_ids": ["Other"]});
    value["inputs"]["include_checkpoint_outputs"] =
        json!([{"checkpoint_id": "Other", "artifact_ids": ["a"]}]);
    let file = json!({"pipeline_name": "P", "checkpoints": [value]});
    assert!(jsonschema::is_valid(&pipeline_file_schema(), &file));
    assert!(!allowed(&value));
}
