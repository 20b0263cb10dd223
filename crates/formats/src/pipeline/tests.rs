//! Files that are right and wrong, and that what is written reads the same.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use holdpoint_core::facts::{Evaluator, Facts, NothingKnown, Verdict};
use holdpoint_core::plan::Evaluated;
use holdpoint_core::state::PipelineState;
use holdpoint_core::{
    Actor, Command, CommandId, Envelope, PipelineCommand, PipelineId, State, StreamId, Timestamp, World,
    decide,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::*;
use crate::Syntax;

struct Lenient;

impl Evaluator for Lenient {
    fn expression(&self, source: &str, _: &[(&'static str, Value)]) -> Result<Evaluated, String> {
        Err(format!("`{source}` is in no pipeline file"))
    }
    fn expression_syntax(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn field(&self, _: &str, _: &Value) -> Verdict {
        Verdict::Yes
    }
    fn schema(&self, _: &Value, _: &Value) -> Verdict {
        Verdict::Yes
    }
    fn field_syntax(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
    fn schema_syntax(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }
}

/// Applies a file.
fn apply(file: &PipelineFile, before: Option<&PipelineState>) -> PipelineState {
    let id = PipelineId(Uuid::from_u128(1));
    let stream = StreamId::Pipeline(id);
    let state = before.map_or_else(|| State::empty(stream), |state| State::Pipeline(state.clone()));
    let mut world = World::default();
    world.insert(stream, &state);
    let command = Command::Pipeline(id, PipelineCommand::Apply(file.content.clone()));
    let id = CommandId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000));
    let envelope = Envelope {
        id,
        at: Timestamp(1),
        actor: Actor::person("ann"),
        assurance: holdpoint_core::Assurance::default(),
        command,
    };
    let decision = decide(&world, &envelope, Facts { evaluator: &Lenient, offers: &NothingKnown });
    let mut decision = decision.unwrap_or_else(|rejection| panic!("{rejection:?}"));
    match decision.after.remove(&stream) {
        Some(State::Pipeline(state)) => state,
        _ => before.cloned().expect("a pipeline"),
    }
}

fn changes(file: &PipelineFile, present: Option<&PipelineState>) -> String {
    let mut shown = String::new();
    for change in plan_changes(file, present, &Lenient, &NothingKnown).expect("allowed") {
        writeln!(shown, "{change}").expect("text grows");
    }
    shown
}

const FILE: &str = "\
pipeline_name: Research
config:
  auto_advance: true
checkpoints:
  - checkpoint_name: Draft
    checkpoint_description: Writes
    inputs:
      include_previous_version: true
    execution: &script
      mode: script
      script_config:
        script_path: draft.py
        requires_user_input: false
        parameters: {answer: no, country: NO, ratio: 0.5}
      retry_config: {max_auto_retries: 1, on_failure: pause_pipeline}
      timeout_config: {enabled: false}
    human_interaction: &nobody
      requires_approval_to_start: false
      requires_approval_to_complete: false
      max_revision_iterations: 0
    output:
      artifacts:
        - {name: text, format: md}
        - {name: facts, format: json, schema: {type: object}}
    instructions: &how
      task_prompt: |
        Write it.

        With care: \"really\".
      injection_points:
        previous_version_context: before_task_prompt
        checkpoint_references: after_task_prompt
  - checkpoint_name: Check
    checkpoint_description: Reads
    dependencies: {required_checkpoint_ids: [Draft]}
    inputs:
      include_previous_version: false
      include_checkpoint_outputs:
        - checkpoint_id: Draft
          artifact_ids: [text]
    execution: *script
    human_interaction: *nobody
    output: {}
    instructions: *how
";

fn read(text: &str) -> PipelineFile {
    parse(text, Syntax::Yaml).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

#[test]
fn a_file_is_applied_once_and_written_again() {
    let file = read(FILE);
    expect![[r#"
        create pipeline `Research`
        add checkpoint `Draft` at 0
        add checkpoint `Check` at 1
    "#]]
    .assert_eq(&changes(&file, None));
    let state = apply(&file, None);
    assert_eq!(changes(&file, Some(&state)), "");
    let written = export(&state);
    expect![[r#"
        pipeline_name: Research
        config:
          auto_advance: true
        checkpoints:
          - checkpoint_name: Draft
            checkpoint_description: Writes
            inputs:
              include_previous_version: true
            execution:
              mode: script
              script_config:
                script_path: draft.py
                entry_function: main
                requires_user_input: false
                parameters:
                  answer: "no"
                  country: "NO"
                  ratio: 0.5
              retry_config:
                max_auto_retries: 1
                on_failure: pause_pipeline
                retry_delay_seconds: 5
              timeout_config:
                enabled: false
            human_interaction:
              requires_approval_to_start: false
              requires_approval_to_complete: false
              max_revision_iterations: 0
            output:
              artifacts:
                - name: text
                  format: md
                - name: facts
                  format: json
                  schema:
                    type: object
              validation:
                enabled: false
            instructions:
              task_prompt: |
                Write it.

                With care: "really".
              examples: []
              injection_points:
                previous_version_context: before_task_prompt
                checkpoint_references: after_task_prompt
              injection_format:
                include_file_paths: true
                include_file_contents: true
                content_format: markdown
          - checkpoint_name: Check
            checkpoint_description: Reads
            dependencies:
              required_checkpoint_ids:
                - Draft
            inputs:
              include_previous_version: false
              include_checkpoint_outputs:
                - checkpoint_id: Draft
                  artifact_ids:
                    - text
                  use_summarization: false
            execution:
              mode: script
              script_config:
                script_path: draft.py
                entry_function: main
                requires_user_input: false
                parameters:
                  answer: "no"
                  country: "NO"
                  ratio: 0.5
              retry_config:
                max_auto_retries: 1
                on_failure: pause_pipeline
                retry_delay_seconds: 5
              timeout_config:
                enabled: false
            human_interaction:
              requires_approval_to_start: false
              requires_approval_to_complete: false
              max_revision_iterations: 0
            output:
              artifacts: []
              validation:
                enabled: false
            instructions:
              task_prompt: |
                Write it.

                With care: "really".
              examples: []
              injection_points:
                previous_version_context: before_task_prompt
                checkpoint_references: after_task_prompt
              injection_format:
                include_file_paths: true
                include_file_contents: true
                content_format: markdown
    "#]]
    .assert_eq(&written);
    assert_eq!(changes(&read(&written), Some(&state)), "");
    assert_eq!(export(&apply(&read(&written), None)), written);
}

#[test]
fn what_a_changed_file_does_is_said() {
    let state = apply(&read(FILE), None);
    let text = FILE
        .replace("Research", "Search")
        .replace("draft.py", "other.py")
        .replace("name: Check", "name: Judge");
    expect![[r#"
        change pipeline `Search`
        remove checkpoint `Check`
        change checkpoint `Draft`
        add checkpoint `Judge` at 1
    "#]]
    .assert_eq(&changes(&read(&text), Some(&state)));
}

#[test]
fn a_file_may_be_json() {
    let text =
        r#"{"pipeline_id": "00000000-0000-0000-0000-000000000001", "pipeline_name": "A", "checkpoints": []}"#;
    let file = parse(text, Syntax::Json).expect("a file");
    assert_eq!((file.pipeline_id, &*file.content.name), (Some(PipelineId(Uuid::from_u128(1))), "A"));
    problems(
        Syntax::Json,
        "{\"pipeline_name\": \"A\", \"pipeline_name\": \"B\"}",
        expect!["line 1, column 38: `pipeline_name` is given twice"],
    );
    problems(
        Syntax::Json,
        "{\"pipeline_name\": \"A\",\n \"config\": no}",
        expect!["line 2, column 13: expected ident"],
    );
}

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
fn problems(syntax: Syntax, text: &str, then: Expect) {
    let problems = parse(text, syntax).expect_err("problems");
    let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
    then.assert_eq(&shown.join("\n"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let check = |from: &str, to: &str, then: Expect| {
        assert!(FILE.contains(from), "{from}");
        problems(Syntax::Yaml, &FILE.replacen(from, to, 1), then);
    };
    check(
        "config:",
        "confg:",
        expect!["line 2, column 1: /confg: unknown key `confg`; did you mean `config`?"],
    );
    check(
        "mode: script",
        "mode: scrpt",
        expect![[r#"
        line 10, column 7: /checkpoints/0/execution/mode: `scrpt` is none of `agentic`, `script`, `human_only`; did you mean `script`?
        line 41, column 16: /checkpoints/1/execution/mode: `scrpt` is none of `agentic`, `script`, `human_only`; did you mean `script`?"#]],
    );
    check(
        "      mode: script",
        "      mode: script\n      script: 1\n      retry_confg: 2",
        expect![[r#"
            line 11, column 7: /checkpoints/0/execution/script: unknown key `script`; known are `mode`, `agent_config`, `script_config`, `human_only_config`, `retry_config`, `timeout_config`, `budget`, `network`
            line 12, column 7: /checkpoints/0/execution/retry_confg: unknown key `retry_confg`; did you mean `retry_config`?
            line 43, column 16: /checkpoints/1/execution/script: unknown key `script`; known are `mode`, `agent_config`, `script_config`, `human_only_config`, `retry_config`, `timeout_config`, `budget`, `network`
            line 43, column 16: /checkpoints/1/execution/retry_confg: unknown key `retry_confg`; did you mean `retry_config`?"#]],
    );
    check(
        "max_auto_retries: 1",
        "max_auto_retries: one",
        expect![[r#"
            line 15, column 22: /checkpoints/0/execution/retry_config/max_auto_retries: a whole number from 0 is expected, not string "one"
            line 41, column 16: /checkpoints/1/execution/retry_config/max_auto_retries: a whole number from 0 is expected, not string "one""#]],
    );
    check(
        "auto_advance: true",
        "auto_advance: yes",
        expect![[r#"line 3, column 3: /config/auto_advance: a boolean is expected, not string "yes""#]],
    );
    check(
        "    checkpoint_description: Writes\n",
        "",
        expect![
            "line 5, column 5: /checkpoints/0/checkpoint_description: `checkpoint_description` is required"
        ],
    );
    check(
        "artifact_ids: [text]",
        "artifact_ids: text",
        expect![[
            r#"line 40, column 11: /checkpoints/1/inputs/include_checkpoint_outputs/0/artifact_ids: a list is expected, not string "text""#
        ]],
    );
    check(
        "required_checkpoint_ids",
        "required",
        expect![
            "line 35, column 20: /checkpoints/1/dependencies/required: unknown key `required`; known are `required_checkpoint_ids`"
        ],
    );
    check(
        "pipeline_name: Research",
        "pipeline_name: Research\npipeline_name: Again",
        expect!["line 2, column 1: `pipeline_name` is given twice"],
    );
    check(
        "pipeline_name: Research",
        "pipeline_name: [",
        expect!["line 3, column 15: while parsing a flow mapping, did not find expected ',' or '}'"],
    );
    check(
        "pipeline_name: Research",
        "pipeline_name: !!python/object x",
        expect!["line 1, column 32: unsupported tag `!!python/object`"],
    );
    check(
        "{answer: no",
        "{<<: {a: 1}, answer: no",
        expect!["line 14, column 22: merge keys (`<<`) are not supported; an alias (`*name`) is"],
    );
    problems(
        Syntax::Yaml,
        "",
        expect!["line 1, column 1: a pipeline file is an object with `pipeline_name` and `checkpoints`"],
    );
    problems(
        Syntax::Yaml,
        "- 1",
        expect!["line 1, column 1: a pipeline file is an object with `pipeline_name` and `checkpoints`"],
    );
    problems(
        Syntax::Yaml,
        "pipeline_name: A\n---\npipeline_name: B\n",
        expect!["line 2, column 1: a file is one document"],
    );
}

#[test]
fn faults_of_the_content_have_places_too() {
    let file = read(&FILE.replace("max_auto_retries: 1", "max_auto_retries: 9"));
    let Err(holdpoint_core::Rejection::Invalid(faults)) = plan_changes(&file, None, &Lenient, &NothingKnown)
    else {
        panic!("a refusal");
    };
    let shown: Vec<_> = faults.into_iter().map(|fault| file.locate(fault).to_string()).collect();
    expect![[r#"
        line 15, column 22: /checkpoints/0/execution/retry_config/max_auto_retries: between 0 and 5
        line 41, column 16: /checkpoints/1/execution/retry_config/max_auto_retries: between 0 and 5"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_file_cannot_be_a_bomb() {
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let before = vec![format!("*a{}", i - 1); 10].join(", ");
        writeln!(laughs, "a{i}: &a{i} [{before}]").expect("text grows");
    }
    assert!(parse(&laughs, Syntax::Yaml).is_err());
    for deep in ["[".repeat(10_000), "{a: ".repeat(10_000), "- ".repeat(10_000)] {
        assert!(parse(&deep, Syntax::Yaml).is_err());
        assert!(parse(&deep, Syntax::Json).is_err());
    }
    let long = format!("pipeline_name: {}", "x".repeat(3 << 20));
    problems(Syntax::Yaml, &long, expect!["a file has at most 2097152 bytes"]);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z :#'\"\\-\n\t]{0,30}",
        "( {0,2}[a-z]{0,3}\n){1,5}[a-z]{0,3}",
        prop::sample::select(vec![
            "no",
            "true",
            "~",
            "null",
            "1.0",
            "0x1f",
            "1e3",
            "",
            " ",
            "- a",
            "a: b",
            "#",
            "|",
            ">",
            "=",
            "<<",
            "2026-01-01",
            ".inf",
            "0o7",
            "!x",
            "&a",
            "*a",
            "%a",
            "@a",
            "`a",
            "---",
            "...",
            "\u{85}",
            "\u{feff}x",
            "1_000",
            "0777",
            "12:30:45"
        ])
        .prop_map(str::to_owned),
    ]
}

fn name() -> impl Strategy<Value = String> {
    text().prop_map(|text| {
        let text: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        if text.trim().is_empty() { "x".to_owned() } else { text }
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A checkpoint of any mode.
fn checkpoint() -> impl Strategy<Value = Value> {
    (0..3u8, name(), text(), value(), value(), text(), any::<bool>()).prop_map(
        |(mode, name, words, first, second, prompt, flag)| {
            let parameters = json!({"one": first, "two": second});
            let field = |name: &str| json!({"name": name, "type": "text", "label": words, "required": flag});
            let member = |name: &str| json!({"name": name, "role": words, "system_prompt": prompt, "task_prompt": words});
            let (mode, section, config) = match mode {
                0 => ("script", "script_config", json!({"script_path": "a.py", "requires_user_input": false, "parameters": parameters})),
                1 => ("human_only", "human_only_config", json!({
                    "instructions": words, "input_fields": [field("a"), field("b")], "save_as_artifact": false,
                })),
                _ => ("agentic", "agent_config", json!({
                    "creation_mode": "predefined", "agents": [member("A"), member("B")], "tools": ["file_operations"],
                    "discussion_mode": "council", "max_turns": 3, "show_conversation": flag,
                })),
            };
            json!({
                "checkpoint_name": name,
                "checkpoint_description": words,
                "inputs": {"include_previous_version": flag},
                "execution": {
                    "mode": mode,
                    section: config,
                    "retry_config": {"max_auto_retries": 2, "on_failure": "rollback_checkpoint"},
                    "timeout_config": {"enabled": false},
                },
                "human_interaction": {
                    "requires_approval_to_start": flag,
                    "requires_approval_to_complete": !flag,
                    "max_revision_iterations": 2,
                },
                "output": {"artifacts": [
                    {"name": "report", "format": "json", "description": prompt, "schema": {"type": "object"}},
                    {"name": "notes", "format": "md"},
                ]},
                "instructions": {
                    "system_prompt": prompt,
                    "task_prompt": format!("do it\n{prompt}"),
                    "examples": [{"input": parameters}],
                    "injection_points": {
                        "previous_version_context": "before_system_prompt",
                        "checkpoint_references": "before_task_prompt",
                    },
                },
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn what_is_written_reads_the_same(
        title in name(),
        about in prop::option::of(text()),
        mut checkpoints in prop::collection::vec(checkpoint(), 0..4),
        links in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 4),
    ) {
        let mut names = std::collections::BTreeSet::new();
        checkpoints.retain(|checkpoint| names.insert(checkpoint["checkpoint_name"].to_string()));
        for i in 1..checkpoints.len() {
            let (to, all) = &links[i];
            let other = checkpoints[to.index(i)]["checkpoint_name"].clone();
            checkpoints[i]["dependencies"] = json!({"required_checkpoint_ids": [other]});
            let mut reference = json!({"checkpoint_id": other, "use_summarization": all});
            if !all {
                reference["artifact_ids"] = json!(["notes", "report"]);
            }
            checkpoints[i]["inputs"]["include_checkpoint_outputs"] = json!([reference]);
        }
        let file = json!({"pipeline_name": title, "pipeline_description": about, "checkpoints": checkpoints});
        let file = parse(&file.to_string(), Syntax::Json).expect("a file");
        let state = apply(&file, None);
        prop_assert_eq!(changes(&file, Some(&state)), "");
        let written = export(&state);
        let again = parse(&written, Syntax::Yaml);
        let again = again.unwrap_or_else(|problems| panic!("{problems:?}\n{written}"));
        prop_assert_eq!(changes(&again, Some(&state)), "", "{}", written);
    }

    #[test]
    fn nothing_that_is_written_panics(text in any::<String>(), spot in any::<prop::sample::Index>()) {
        let _ = parse(&text, Syntax::Yaml);
        let _ = parse(&text, Syntax::Json);
        let at = FILE.char_indices().map(|(at, _)| at).nth(spot.index(FILE.len())).unwrap_or_default();
        let _ = parse(&format!("{}{text}{}", &FILE[..at], &FILE[at..]), Syntax::Yaml);
    }
}
