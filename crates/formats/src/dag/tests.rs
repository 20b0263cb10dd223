//! Scenes: a file in, edges and checkpoints or findings out.

mod properties;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn told(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let place = finding.line.zip(finding.column).map(|(line, column)| format!("{line}:{column}"));
        format!("{} {} {}\n", place.unwrap_or_default(), finding.code, finding.message)
    };
    findings.iter().map(line).collect::<Vec<_>>().concat()
}

/// Edges as `from > to`, checkpoints as one line each, then warnings.
fn shown(result: Result<Compiled, Vec<Finding>>) -> String {
    let compiled = match result {
        Ok(compiled) => compiled,
        Err(findings) => return told(&findings),
    };
    let id = |place: u32| &compiled.nodes[place as usize].id;
    let edges: Vec<String> =
        compiled.edges.iter().map(|(from, to)| format!("{} > {}", id(*from), id(*to))).collect();
    let mut out = edges.join(", ") + "\n";
    let dag: Value = serde_json::from_str(&compiled.to_dag()).expect("JSON");
    for node in dag["nodes"].as_array().expect("nodes").iter().filter(|node| node["type"] == "checkpoint") {
        let stops = if node["auto_continue"] == true { "" } else { ", asks" };
        let made = if node["injected"] == true { "" } else { ", own" };
        let rules: Vec<&str> =
            node["rules"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let text = |key: &str| node[key].as_str().unwrap_or_default().to_owned();
        let line = format!(
            "{} {} ({}) {}{stops}{made}\n",
            text("id"),
            text("name"),
            text("description"),
            rules.join("+")
        );
        out.push_str(&line);
    }
    out + &told(&compiled.warnings)
}

fn check(file: &Value, expected: &Expect) {
    expected.assert_eq(&shown(compile(&file.to_string(), None, Options::default())));
}

fn check_with(file: &Value, intent: &Value, expected: &Expect) {
    expected.assert_eq(&shown(compile(&file.to_string(), Some(&intent.to_string()), Options::default())));
}

fn list(nodes: Value) -> Value {
    let mut list = json!({"session_id": "WFD-login-20260101"});
    list["nodes"] = nodes;
    list
}

fn skill(id: &str, seq: u32, executor: &str, port: &str) -> Value {
    let ports: Vec<&str> = [port].into_iter().filter(|port| !port.is_empty()).collect();
    json!({"id": id, "seq": seq, "name": id.to_lowercase(), "type": "skill", "executor": executor, "output_ports": ports})
}

/// Lines with a bar before them: snapshots lose spaces at the beginning.
fn framed(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("|{line}")).collect();
    lines.join("\n") + "\n"
}

fn grouped(mut node: Value, group: &str) -> Value {
    node["parallel_group"] = json!(group);
    node
}

fn example() -> Value {
    list(json!([
        {"id": "N-001", "seq": 1, "name": "Plan", "type": "skill", "executor": "workflow-lite-plan", "args_template": "{goal}", "output_ports": ["plan"], "on_fail": "abort"},
        {"id": "N-002", "seq": 2, "name": "Build", "type": "skill", "executor": "workflow-execute", "args_template": "--plan {N-001.output_path}", "output_ports": ["code"]},
    ]))
}

#[test]
fn a_node_list_becomes_a_dag() {
    let compiled = compile(&example().to_string(), None, Options::default()).expect("a graph");
    expect![[r#"
        {
          "session_id": "WFD-login-20260101",
          "nodes": [
            {
              "id": "N-001",
              "seq": 1,
              "name": "Plan",
              "type": "skill",
              "executor": "workflow-lite-plan",
              "args_template": "{goal}",
              "output_ports": [
                "plan"
              ],
              "on_fail": "abort"
            },
            {
              "id": "CP-01",
              "name": "Checkpoint: After Plan",
              "type": "checkpoint",
              "description": "Plan completed",
              "auto_continue": true,
              "save_fields": [
                "session_id",
                "artifacts",
                "output_path"
              ],
              "injected": true,
              "rules": [
                "artifact_boundary",
                "execution_gate"
              ]
            },
            {
              "id": "N-002",
              "seq": 2,
              "name": "Build",
              "type": "skill",
              "executor": "workflow-execute",
              "args_template": "--plan {N-001.output_path}",
              "output_ports": [
                "code"
              ]
            }
          ],
          "edges": [
            {
              "from": "N-001",
              "to": "CP-01"
            },
            {
              "from": "CP-01",
              "to": "N-002"
            }
          ],
          "checkpoints": [
            "CP-01"
          ],
          "parallel_groups": {},
          "context_schema": {
            "goal": {
              "type": "string",
              "required": true,
              "description": ""
            }
          },
          "topological_order": [
            "N-001",
            "CP-01",
            "N-002"
          ]
        }
    "#]]
    .assert_eq(&compiled.to_dag());
}

#[test]
fn a_node_list_becomes_a_template() {
    let compiled = compile(&example().to_string(), None, Options::default()).expect("a graph");
    let template: Value =
        serde_json::from_str(&compiled.to_template(&TemplateOptions::default())).expect("JSON");
    let keys: Vec<&String> = template.as_object().expect("an object").keys().collect();
    expect![[r#"
        [
            "template_id",
            "name",
            "description",
            "version",
            "created_at",
            "source_session",
            "tags",
            "context_schema",
            "nodes",
            "edges",
            "checkpoints",
            "atomic_groups",
            "execution_mode",
            "metadata",
        ]
    "#]]
    .assert_debug_eq(&keys);
    let short =
        ["template_id", "name", "version", "created_at", "source_session", "execution_mode", "metadata"];
    let short: Vec<String> = short.iter().map(|key| template[key].to_string()).collect();
    expect![[r#"
        "wft-login-20260101"
        "Login"
        "1.0"
        "2026-01-01T00:00:00Z"
        "WFD-login-20260101"
        "serial"
        {"node_count":2,"checkpoint_count":1}"#]]
    .assert_eq(&short.join("\n"));
    let options = TemplateOptions {
        name: Some("Sign in, again!".to_owned()),
        created_at: Some("2026-02-03T04:05:06Z".to_owned()),
    };
    let template: Value = serde_json::from_str(&compiled.to_template(&options)).expect("JSON");
    assert_eq!(template["template_id"], "wft-sign-in-again-20260101");
    assert_eq!(template["created_at"], "2026-02-03T04:05:06Z");
    let again = compile(&template.to_string(), None, Options::default()).expect("a graph");
    assert_eq!(again.to_dag(), compiled.to_dag());
    assert_eq!(
        serde_json::from_str::<Value>(&again.to_template(&TemplateOptions::default())).expect("JSON"),
        template
    );
}

#[test]
fn each_rule_asks_for_a_checkpoint() {
    let pair = |first: Value, second: Value| {
        shown(compile(&list(json!([first, second])).to_string(), None, Options::default()))
    };
    let plain = || skill("A", 1, "a", "");
    let typed = |kind: &str, executor: &str| json!({"id": "B", "seq": 2, "name": "b", "type": kind, "executor": executor});
    let scenes = [
        pair(skill("A", 1, "a", "detailed-plan"), skill("B", 2, "b", "")),
        pair(skill("A", 1, "a", "specification"), skill("B", 2, "b", "")),
        pair(skill("A", 1, "a", "brainstorm-analysis"), skill("B", 2, "b", "")),
        pair(skill("A", 1, "a", "review-findings"), skill("B", 2, "b", "")),
        pair(skill("A", 1, "a", "inspection"), skill("B", 2, "b", "")),
        pair(plain(), skill("B", 2, "workflow-execute", "")),
        pair(plain(), typed("command", "issue:execute")),
        pair(plain(), typed("agent", "code-developer")),
        pair(plain(), typed("command", "workflow:collaborative-plan-with-file")),
        pair(plain(), typed("skill", "workflow-lite-plan")),
        pair(skill("A", 1, "workflow:integration-test-cycle", ""), skill("B", 2, "b", "")),
        pair(skill("A", 1, "workflow-test-fix", "plan"), skill("B", 2, "workflow-execute", "")),
        pair(skill("A", 1, "workflow-execute", "plan"), skill("B", 2, "review-cycle", "review-findings")),
    ];
    expect![[r#"
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Detailed Plan (a completed) artifact_boundary
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Specification (a completed) artifact_boundary
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Brainstorm Analysis (a completed) artifact_boundary
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Review Findings (a completed) artifact_boundary
        -
        1:36 no_checkpoint no rule asks for a checkpoint, and nobody does
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: Before Execution (a completed) execution_gate
        -
        1:36 no_checkpoint no rule asks for a checkpoint, and nobody does
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: Before Agent code-developer (a completed) agent_spawn
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: Before workflow:collaborative-plan-with-file (a completed) long_running
        -
        1:36 no_checkpoint no rule asks for a checkpoint, and nobody does
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Tests (a completed) post_testing
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Plan (a completed) artifact_boundary+execution_gate+post_testing
        -
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: After Plan (a completed) artifact_boundary, asks
    "#]]
    .assert_eq(&scenes.join("-\n"));
}

#[test]
fn exact_ports_take_names_as_they_are() {
    let nodes = list(json!([
        skill("A", 1, "a", "detailed-plan"),
        skill("B", 2, "b", "plan"),
        skill("C", 3, "c", "")
    ]));
    let options = Options { exact_ports: true, ..Options::default() };
    expect![[r#"
        A > B, B > CP-01, CP-01 > C
        CP-01 Checkpoint: After Plan (b completed) artifact_boundary
    "#]]
    .assert_eq(&shown(compile(&nodes.to_string(), None, options)));
}

#[test]
fn groups_fan_out_and_in() {
    let (plan, end) = (skill("A", 1, "a", "plan"), skill("D", 4, "d", ""));
    let (b, c) = (grouped(skill("B", 2, "b", ""), "g"), grouped(skill("C", 3, "c", "analysis"), "g"));
    check(
        &list(json!([plan, b, c, end])),
        &expect![[r#"
        A > CP-01, CP-01 > B, CP-01 > C, B > CP-02, C > CP-02, CP-02 > D
        CP-01 Checkpoint: After Plan (a completed) artifact_boundary
        CP-02 Checkpoint: After Analysis (b and c completed) artifact_boundary
    "#]],
    );
    // Two groups one behind the other, and a group of one.
    let (d, e) = (grouped(skill("D", 4, "d", ""), "h"), grouped(skill("E", 5, "e", ""), "h"));
    let alone = grouped(skill("F", 6, "workflow-execute", ""), "alone");
    check(
        &list(json!([b, c, d, e, alone])),
        &expect![[r#"
        B > CP-01, C > CP-01, CP-01 > D, CP-01 > E, D > CP-02, E > CP-02, CP-02 > F
        CP-01 Checkpoint: After Analysis (b and c completed) artifact_boundary
        CP-02 Checkpoint: Before Execution (d and e completed) execution_gate
    "#]],
    );
    // Members that do not stand together.
    let late = grouped(skill("Z", 9, "z", ""), "g");
    check(
        &list(json!([plan, b, end, late])),
        &expect![[r#"
        A > CP-01, CP-01 > B, CP-01 > Z, B > D, Z > D
        CP-01 Checkpoint: After Plan (a completed) artifact_boundary
        1:383 group_moved `Z` runs together with `B` of its group, before its own place
    "#]],
    );
    // Members of a group do not wait for each other.
    let mut sibling = c.clone();
    sibling["args_template"] = json!("{B.output_path}");
    check(
        &list(json!([plan, b, sibling, end])),
        &expect![[r#"
        1:336 later_reference `B` is not finished when `C` begins
    "#]],
    );
    let mut needs = late.clone();
    needs["args_template"] = json!("{D.output_path}");
    check(
        &list(json!([plan, b, end, needs])),
        &expect![[r#"
        1:404 later_reference `D` is not finished when `Z` begins
    "#]],
    );
}

#[test]
fn the_order_is_that_of_numbers_then_of_the_list() {
    let mut unnumbered = skill("B", 0, "b", "");
    unnumbered.as_object_mut().expect("an object").remove("seq");
    check(
        &list(json!([
            skill("C", 3, "c", ""),
            unnumbered,
            skill("D", 3, "d", ""),
            skill("A", 1, "a", "plan")
        ])),
        &expect![[r#"
            A > CP-01, CP-01 > B, B > C, C > D
            CP-01 Checkpoint: After Plan (a completed) artifact_boundary
        "#]],
    );
}

#[test]
fn steps_of_the_intent_ask_for_checkpoints() {
    let nodes = list(json!([
        skill("A", 1, "a", "plan"),
        skill("B", 2, "workflow-execute", ""),
        skill("C", 4, "c", "")
    ]));
    let step = |seq: u32| json!({"seq": seq, "description": "Pause and show me", "type_hint": "checkpoint"});
    for seq in [1, 2, 3, 9] {
        let intent = json!({"steps": [{"seq": 1, "description": "x", "type_hint": "planning"}, step(seq)]});
        let first =
            compile(&nodes.to_string(), Some(&intent.to_string()), Options::default()).expect("a graph");
        let again = compile(&first.to_dag(), Some(&intent.to_string()), Options::default()).expect("a graph");
        assert_eq!(again.to_dag(), first.to_dag());
    }
    check_with(
        &nodes,
        &json!({"steps": [step(2)]}),
        &expect![[r#"
        A > CP-01, CP-01 > B, B > C
        CP-01 Checkpoint: Pause and show me (a completed) artifact_boundary+execution_gate+user_defined, asks, own
    "#]],
    );
    check_with(
        &nodes,
        &json!({"steps": [step(3), step(1), step(9)]}),
        &expect![[r#"
        CP-01 > A, A > CP-02, CP-02 > B, B > CP-03, CP-03 > C, C > CP-04
        CP-01 Checkpoint: Pause and show me (Nothing completed yet) user_defined, asks, own
        CP-02 Checkpoint: After Plan (a completed) artifact_boundary+execution_gate
        CP-03 Checkpoint: Pause and show me (b completed) user_defined, asks, own
        CP-04 Checkpoint: Pause and show me (c completed) user_defined, asks, own
    "#]],
    );
    let own = json!({"id": "N-3", "seq": 2, "name": "Look", "type": "checkpoint", "parallel_group": "g", "auto_continue": true});
    let nodes = list(json!([skill("A", 1, "a", "plan"), own, skill("B", 3, "workflow-execute", "")]));
    check(
        &nodes,
        &expect![[r#"
        A > CP-01, CP-01 > B
        CP-01 Look (a completed) artifact_boundary+execution_gate+user_defined, own
        1:183 group_ignored `N-3` is a checkpoint; its `parallel_group` is ignored
    "#]],
    );
    check_with(
        &nodes,
        &json!({"steps": [step(2)]}),
        &expect![[r#"
        A > CP-01, CP-01 > B
        CP-01 Checkpoint: Pause and show me (a completed) artifact_boundary+execution_gate+user_defined, asks, own
        1:183 group_ignored `N-3` is a checkpoint; its `parallel_group` is ignored
    "#]],
    );
}

#[test]
fn checkpoints_stand_alone() {
    let own = |id: &str, seq: u32| json!({"id": id, "seq": seq, "name": id, "type": "checkpoint"});
    let nodes = json!([
        own("first", 1),
        skill("A", 2, "a", "plan"),
        own("x", 3),
        own("y", 4),
        skill("B", 5, "b", ""),
        own("last", 6)
    ]);
    check(
        &list(nodes),
        &expect![[r#"
        CP-01 > A, A > CP-02, CP-02 > B, B > CP-03
        CP-01 first (Nothing completed yet) user_defined, asks, own
        CP-02 x (a completed) artifact_boundary+user_defined, asks, own
        CP-03 last (b completed) user_defined, asks, own
        1:237 checkpoints_joined `y` stands right behind the checkpoint `x`, which is enough
    "#]],
    );
}

#[test]
fn a_graph_without_a_checkpoint_has_to_be_wanted() {
    let nodes = list(json!([skill("A", 1, "a", ""), skill("B", 2, "b", "")]));
    check(
        &nodes,
        &expect![[r#"
        1:36 no_checkpoint no rule asks for a checkpoint, and nobody does
    "#]],
    );
    let options = Options { checkpoints: Checkpoints::None, ..Options::default() };
    expect![[r#"
        A > B
    "#]]
    .assert_eq(&shown(compile(&nodes.to_string(), None, options)));
    let mut opted_out = nodes;
    opted_out["checkpoints"] = json!("none");
    check(
        &opted_out,
        &expect![[r#"
        A > B
    "#]],
    );
    check(
        &list(json!([skill("A", 1, "a", "plan")])),
        &expect![[r#"

        1:36 no_checkpoint there is one stage and so no place for a checkpoint
    "#]],
    );
    let compiled = compile(&example().to_string(), None, options).expect("a graph");
    let again = compile(&compiled.to_dag(), None, Options::default()).expect("a graph");
    assert_eq!(again.to_dag(), compiled.to_dag());
    assert!(again.checkpoints().is_empty());
}

#[test]
fn what_was_edited_stays() {
    let compiled = compile(&example().to_string(), None, Options::default()).expect("a graph").to_dag();
    let mut dag: Value = serde_json::from_str(&compiled).expect("JSON");
    check(
        &dag,
        &expect![[r#"
        N-001 > CP-01, CP-01 > N-002
        CP-01 Checkpoint: After Plan (Plan completed) artifact_boundary+execution_gate
    "#]],
    );
    dag["nodes"][1]["auto_continue"] = json!(false);
    check(
        &dag,
        &expect![[r#"
        N-001 > CP-01, CP-01 > N-002
        CP-01 Checkpoint: After Plan (Plan completed) artifact_boundary+execution_gate, asks, own
        1:196 checkpoint_edited `CP-01` is not what the rules inject there; it is kept as a checkpoint of your own
    "#]],
    );
    // Without the flag it is somebody's own from the beginning, whatever it is called.
    dag["nodes"][1] = json!({"id": "gate", "type": "checkpoint", "name": "Gate"});
    dag["edges"] = json!([{"from": "N-001", "to": "gate"}, {"from": "gate", "to": "N-002"}]);
    check(
        &dag,
        &expect![[r#"
        N-001 > gate, gate > N-002
        gate Gate () , asks, own
    "#]],
    );
}

#[test]
fn edges_of_a_file_make_stages() {
    let nodes = json!([
        skill("A", 1, "a", "plan"),
        skill("B", 2, "b", ""),
        skill("C", 3, "c", ""),
        skill("D", 4, "workflow-execute", "")
    ]);
    let edge = |from: &str, to: &str| json!({"from": from, "to": to});
    let mut dag = list(nodes);
    dag["edges"] = json!([edge("A", "C"), edge("A", "B"), edge("B", "D"), edge("C", "D"), edge("A", "D")]);
    check(
        &dag,
        &expect![[r#"
        A > CP-01, A > CP-02, CP-01 > B, CP-01 > C, B > CP-02, C > CP-02, CP-02 > D
        CP-01 Checkpoint: After Plan (a completed) artifact_boundary
        CP-02 Checkpoint: After Plan (a, b and c completed) artifact_boundary+execution_gate
    "#]],
    );
    dag["edges"] = json!([]);
    check(
        &dag,
        &expect![[r#"

        1:36 no_checkpoint there is one stage and so no place for a checkpoint
    "#]],
    );
}

#[test]
fn variables_are_those_that_are_used() {
    let mut nodes = example();
    nodes["nodes"][1]["args_template"] =
        json!("{goal} {depth} {prev_output} {\"a\": 1} {N-001.artifacts[0]}");
    let intent = json!({
        "session_id": "WFD-login-20260101",
        "variables": {
            "goal": {"type": "path", "required": false, "description": "Why", "default": "x"},
            "unused": {"type": "string", "required": true, "description": ""},
        },
    });
    let compiled =
        compile(&nodes.to_string(), Some(&intent.to_string()), Options::default()).expect("a graph");
    let dag: Value = serde_json::from_str(&compiled.to_dag()).expect("JSON");
    expect![[r#"{"goal":{"type":"path","required":false,"description":"Why","default":"x"},"depth":{"type":"string","required":true,"description":""}}"#]].assert_eq(&dag["context_schema"].to_string());
    expect![[r#"
        1:123 unused_variable no node uses the variable `unused`; it is left out
    "#]]
    .assert_eq(&told(&compiled.warnings));
    let again = compile(&compiled.to_dag(), None, Options::default()).expect("a graph");
    let again: Value = serde_json::from_str(&again.to_dag()).expect("JSON");
    assert_eq!(again["context_schema"], dag["context_schema"]);
}

#[test]
fn everything_that_is_wrong_is_found_at_once() {
    let text = r#"{
  "session_id": 7,
  "sesion": "x",
  "nodes": [
    {"id": "A", "type": "skil", "executor": "a", "args_template": "{B.output_path} {A.output_path} {Q.output_path}"},
    {"id": "A", "type": "skill", "executor": "a", "output_ports": ["plan", 3]},
    {"id": "B", "type": "skill", "excutor": "a", "on_fail": "retri"},
    {"type": "skill", "seq": "1"},
    3
  ]
}"#;
    expect![[r#"
        2:3 wrong_type a string is expected, not a number
        5:17 wrong_type `type`: `skil` is none of `skill`, `command`, `cli`, `agent`, `checkpoint`; did you mean `skill`?
        5:50 later_reference `B` is not finished when `A` begins
        5:50 later_reference `A` refers to its own results
        5:50 unknown_node there is no node `Q` to take results from
        6:6 duplicate_id `A` is the id of node 1 in the list as well
        6:76 wrong_type a string is expected, not a number
        7:50 unknown_action `on_fail`: `retri` is none of `abort`, `skip`, `retry`; did you mean `retry`?
        8:5 missing_key `id` is required: a name that no other node has
        8:23 wrong_type a number is expected, not a string
        9:5 wrong_type an object is expected, not a number
    "#]].assert_eq(&shown(compile(text, None, Options::default())));
}

#[test]
fn edges_are_checked() {
    let text = r#"{
  "nodes": [
    {"id": "A", "type": "skill", "executor": "a"},
    {"id": "B", "type": "skill", "executor": "b"},
    {"id": "C", "type": "skill", "executor": "c"},
    {"id": "D", "type": "skill", "executor": "d"}
  ],
  "edges": [
    {"from": "A", "to": "A"},
    {"from": "A", "to": "B"},
    {"from": "A", "to": "B", "label": "x"},
    {"from": "B", "to": "Z"},
    {"from": "B", "to": "C"},
    {"from": "C", "to": "A"},
    {"to": "A"}
  ]
}"#;
    expect![[r#"
        6:5 orphan_node `D` has no edge: nothing leads to it or on from it
        9:5 self_edge `A` leads to itself
        11:5 duplicate_edge there is an edge from `A` to `B` already
        12:19 unknown_node there is no node `Z`
        14:5 cycle a cycle: A → B → C → A
        15:5 missing_key `from` is required: the id of a node
    "#]]
    .assert_eq(&shown(compile(text, None, Options::default())));
}

#[test]
fn files_of_other_kinds_are_refused() {
    let deep = format!("{{\"nodes\": {}{}}}", "[".repeat(200), "]".repeat(200));
    let texts = [
        "[]",
        "{",
        "{\"steps\": []}",
        "{\"phases\": []}",
        "{\"template_id\": \"x\", \"nodes\": [{\"id\": \"A\", \"type\": \"agent\", \"executor\": \"a\"}]}",
        "phases: []",
        "{\"nodes\": []}",
        "{\"nodes\": 1, \"nodes\": 2}",
        "\u{feff}{\"nodes\": {}}",
        &deep,
    ];
    let all: Vec<String> = texts.iter().map(|text| shown(compile(text, None, Options::default()))).collect();
    expect![[r#"
        1:1 format_unknown the file is an object with `nodes`, not another value
        1:1 malformed_json EOF while parsing an object
        1:1 format_unknown this is an intent, which has no nodes; compile a node list with `--intent`
        1:1 format_unknown a node list has `nodes`, a DAG `nodes` and `edges`, a template `template_id` as well
        1:1 missing_key `edges` is required: a template is a graph, not a list
        1:1 malformed_json expected value
        1:2 missing_work there is no node
        1:20 duplicate_key `nodes` is given twice
        1:1 wrong_type a list is expected, not an object
        1:137 too_deep values are nested more than 128 deep
    "#]].assert_eq(&all.concat());
}

#[test]
fn strict_takes_warnings_as_errors() {
    let mut nodes = example();
    nodes["nodes"][0]["excutor"] = json!("x");
    check(
        &nodes,
        &expect![[r#"
            N-001 > CP-01, CP-01 > N-002
            CP-01 Checkpoint: After Plan (Plan completed) artifact_boundary+execution_gate
            1:195 unknown_key unknown key `excutor` is kept; did you mean `executor`?
        "#]],
    );
    let options = Options { strict: true, ..Options::default() };
    expect![[r#"
        1:195 unknown_key unknown key `excutor` is kept; did you mean `executor`?
    "#]]
    .assert_eq(&shown(compile(&nodes.to_string(), None, options)));
}

#[test]
fn names_in_drawings_are_text() {
    let hostile = "\"]; click A \"x\" <script>alert(1)</script> \\ \u{202e}\n`|{}end";
    let mut nodes = example();
    nodes["nodes"][0]["name"] = json!(hostile);
    nodes["nodes"][1]["id"] = json!("end\"] --> x\\");
    let compiled = compile(&nodes.to_string(), None, Options::default()).expect("a graph");
    expect![[r##"
        flowchart TD
            N-001["#34;#93;#59; click A #34;x#34; #60;script#62;alert(1)#60;/script#62; #92; ��#96;#124;#123;#125;end"]
            CP-01{{"Checkpoint: After Plan"}}
            n3["Build"]
            N-001 --> CP-01
            CP-01 --> n3
    "##]].assert_eq(&mermaid(&compiled));
    expect![[r#"
        digraph holdpoint {
          rankdir=TB;
          node [shape=box];
          "N-001" [label="\"]; click A \"x\" <script>alert(1)</script> \\ ��`|{}end"];
          "CP-01" [label="Checkpoint: After Plan", shape=hexagon];
          "end\"] --> x\\" [label="Build"];
          "N-001" -> "CP-01";
          "CP-01" -> "end\"] --> x\\";
        }
    "#]]
    .assert_eq(&dot(&compiled));
    expect![[r#"
        |  ┌──────────────────────────────────────────┐
        |  │ N-001  "]; click A "x" <script>alert(1)… │
        |  └──────────────────────────────────────────┘
        |                       ┌┘
        |                       ↓
        |       ┌───────────────────────────────┐
        |       │ CP-01  Checkpoint: After Plan │
        |       └───────────────────────────────┘
        |                       │
        |                       ↓
        |            ┌─────────────────────┐
        |            │ end"] --> x\  Build │
        |            └─────────────────────┘
    "#]]
    .assert_eq(&framed(&text(&compiled)));
    let svg = svg(&compiled).expect("a picture");
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"), "{svg}");
    assert!(!svg.contains('\u{202e}'));
}

#[test]
fn a_parallel_graph_is_drawn() {
    let nodes = json!([
        skill("A", 1, "a", "plan"),
        grouped(skill("B", 2, "b", ""), "g"),
        grouped(skill("C", 3, "c", ""), "g"),
        skill("D", 4, "d", "")
    ]);
    let compiled = compile(&list(nodes).to_string(), None, Options::default()).expect("a graph");
    expect![[r#"
        |              ┌──────┐
        |              │ A  a │
        |              └──────┘
        |                  │
        |                  ↓
        |  ┌───────────────────────────────┐
        |  │ CP-01  Checkpoint: After Plan │
        |  └───────────────────────────────┘
        |             ┌────┴─────┐
        |             ↓          ↓
        |         ┌──────┐   ┌──────┐
        |         │ B  b │   │ C  c │
        |         └──────┘   └──────┘
        |             └────┬─────┘
        |                  ↓
        |              ┌──────┐
        |              │ D  d │
        |              └──────┘
    "#]]
    .assert_eq(&framed(&text(&compiled)));
}

#[test]
fn large_graphs_are_listed_and_not_drawn() {
    let nodes: Vec<Value> =
        (0..10_001).map(|n| skill(&format!("N-{n}"), n, "a", if n == 0 { "plan" } else { "" })).collect();
    let compiled = compile(&list(json!(nodes)).to_string(), None, Options::default()).expect("a graph");
    assert!(svg(&compiled).is_none());
    assert!(
        text(&compiled)
            .starts_with("10002 nodes, 10001 edges, 10002 stages\nstage 1\n  N-0  n-0\nstage 2\n  CP-01")
    );
}

#[test]
fn wide_groups_cost_their_nodes_and_not_their_pairs() {
    let group = |from: u32, name: &str, executor: &str| {
        (from..from + 3_000)
            .map(|n| grouped(skill(&format!("N-{n}"), n, executor, ""), name))
            .collect::<Vec<_>>()
    };
    let gated: Vec<Value> = [group(0, "a", "a"), group(3_000, "b", "workflow-execute")].concat();
    let compiled = compile(&list(json!(gated)).to_string(), None, Options::default()).expect("a graph");
    assert_eq!(compiled.edges.len(), 6_000);
    let open: Vec<Value> = [group(0, "a", "a"), group(3_000, "b", "b")].concat();
    let options = Options { checkpoints: Checkpoints::None, ..Options::default() };
    expect![[r#"
        1:36 too_large the graph has 9000000 edges; at most 5000000 are written
    "#]]
    .assert_eq(&shown(compile(&list(json!(open)).to_string(), None, options)));
}

#[test]
fn a_run_takes_a_dag_as_it_is() {
    let as_it_is = Options { checkpoints: Checkpoints::Keep, ..Options::default() };
    let compiled = compile(&example().to_string(), None, as_it_is).expect("a graph");
    assert_eq!(compiled.checkpoints(), ["CP-01"]);
    let mut dag: Value = serde_json::from_str(&compiled.to_dag()).expect("JSON");
    dag["nodes"][1]["id"] = json!("CP-07");
    dag["edges"] = json!([{"from": "N-001", "to": "N-002"}, {"from": "N-002", "to": "CP-07"}]);
    expect![[r#"
        N-001 > N-002, N-002 > CP-07
        CP-07 Checkpoint: After Plan (Plan completed) artifact_boundary+execution_gate
    "#]]
    .assert_eq(&shown(compile(&dag.to_string(), None, as_it_is)));
}
