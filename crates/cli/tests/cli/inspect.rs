//! `holdpoint inspect`: a file as its plan.

use expect_test::expect;

use super::Sandbox;

const DAG: &str = r#"{
  "session_id": "WFD-login-20260101",
  "nodes": [
    {"id": "N-001", "name": "Plan", "type": "skill", "executor": "workflow-lite-plan", "output_ports": ["plan"]},
    {"id": "CP-04", "name": "Look", "type": "checkpoint", "auto_continue": false},
    {"id": "N-002", "name": "Build", "type": "skill", "executor": "workflow-execute"}
  ],
  "edges": [{"from": "N-001", "to": "CP-04"}, {"from": "CP-04", "to": "N-002"}]
}
"#;

#[test]
fn a_dag_is_shown_as_it_is() {
    let sandbox = Sandbox::new().with_file("project/dag.json", DAG);
    sandbox.check(
        &["inspect", "dag.json"],
        &expect![[r#"
        dag Login sha256:d4f0e3508befe554028e725131692ac5a9aee3dad7f61f52b592ad44d38f5520

             ┌─────────────┐
             │ N-001  Plan │
             └─────────────┘
                    └┐
                     ↓
          ┌────────────────────┐
          │ CP-04 (asks)  Look │
          └────────────────────┘
                     │
                     ↓
             ┌──────────────┐
             │ N-002  Build │
             └──────────────┘
        ---
        exit 0
    "#]],
    );
    sandbox.check(&["inspect", "dag.json", "--json"], &expect![[r#"
        {"format":"dag","name":"Login","digest":"sha256:d4f0e3508befe554028e725131692ac5a9aee3dad7f61f52b592ad44d38f5520","nodes":[{"id":"N-001","name":"Plan","type":"skill"},{"id":"CP-04","name":"Look","type":"checkpoint"},{"id":"N-002","name":"Build","type":"skill"}],"edges":[{"from":"N-001","to":"CP-04"},{"from":"CP-04","to":"N-002"}],"gates":[{"node":"CP-04","kind":"checkpoint"}],"commands":[],"findings":[]}
        ---
        exit 0
    "#]]);
    assert!(!sandbox.path("user").exists(), "no home was made");
}

#[test]
fn a_list_is_shown_as_it_compiles() {
    let sandbox = Sandbox::new().with_file("project/nodes.json", &DAG.replace("\"edges\"", "\"other\""));
    sandbox.check(
        &["inspect", "nodes.json"],
        &expect![[r#"
        node_list Login sha256:9f47c66c6886cf2449acfaf9b9d4f06c01273a8b6b3a84713507bcde3288b1d4

             ┌─────────────┐
             │ N-001  Plan │
             └─────────────┘
                    └┐
                     ↓
          ┌────────────────────┐
          │ CP-01 (asks)  Look │
          └────────────────────┘
                     │
                     ↓
             ┌──────────────┐
             │ N-002  Build │
             └──────────────┘
        ---
        warning: nodes.json:8:3: unknown key `other` is kept
        exit 0
    "#]],
    );
    sandbox.check(
        &["inspect", "nodes.json", "--strict"],
        &expect![[r#"
        error: nodes.json:8:3: unknown key `other` is kept
        hint: correct the file and compile it again; nothing was written
        exit 65
    "#]],
    );
}

#[test]
fn a_pipeline_is_shown_in_its_order() {
    let sandbox = Sandbox::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/first-pipeline.yaml");
    let ran = sandbox.run(&["inspect", file]);
    expect![[r#"
        pipeline First pipeline sha256:e4baad5ac1619d231b212b7b2e0ffacc0c8dab36753daf93a9e836577bb64a39

          ┌──────────────┐
          │ Goals (asks) │
          └──────────────┘
                 ┌┘
                 ↓
          ┌─────────────┐
          │ Plan (asks) │
          └─────────────┘
                 └┐
                  ↓
             ┌────────┐
             │ Report │
             └────────┘
        ---
        exit 0
    "#]]
    .assert_eq(&ran.to_string());
}

#[test]
fn what_is_no_plan_is_refused() {
    let sandbox = Sandbox::new()
        .with_file("project/a.json", "{\"steps\": []}")
        .with_file("project/b.yaml", "pipeline_name: a\nchekpoints: []\n")
        .with_file("project/c.yaml", "hello\n");
    for file in ["a.json", "b.yaml", "c.yaml"] {
        let ran = sandbox.run(&["inspect", file]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(65), ""), "{}", ran.stderr);
        assert!(
            ran.stderr.starts_with(&format!("error: {file}:1:"))
                || ran.stderr.starts_with(&format!("error: {file}:2:")),
            "{}",
            ran.stderr
        );
    }
}
