//! `holdpoint compile`: what it writes, where, and how it ends.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect;

use super::{Ran, Sandbox};

const NODES: &str = r#"{
  "session_id": "WFD-login-20260101",
  "nodes": [
    {"id": "N-001", "seq": 1, "name": "Plan", "type": "skill", "executor": "workflow-lite-plan", "args_template": "{goal}", "output_ports": ["plan"]},
    {"id": "N-002", "seq": 2, "name": "Build", "type": "skill", "executor": "workflow-execute", "args_template": "{N-001.output_path}"}
  ]
}
"#;

const BROKEN: &str = r#"{
  "nodes": [
    {"id": "A", "type": "skill", "executor": "a", "args_template": "{B.output_path}"},
    {"id": "A", "type": "skil", "executor": "b"}
  ]
}
"#;

fn sandbox() -> Sandbox {
    Sandbox::new().with_file("project/nodes.json", NODES).with_file("project/broken.json", BROKEN)
}

#[test]
fn it_writes_to_a_file_or_to_stdout_and_nothing_else() {
    let sandbox = sandbox();
    let out = sandbox.run(&["compile", "nodes.json"]);
    assert_eq!((out.exit, out.stderr.as_str()), (Some(0), ""));
    sandbox.check(
        &["compile", "nodes.json", "-o", "a/b/dag.json"],
        &expect![[r#"
        wrote a/b/dag.json: 3 nodes, 2 edges, 1 checkpoint
        exit 0
    "#]],
    );
    assert_eq!(fs::read_to_string(sandbox.path("project/a/b/dag.json")).expect("a file"), out.stdout);
    sandbox.check(
        &["compile", "nodes.json", "-o", "a/b/dag.json", "--json"],
        &expect![[r#"
        {"path":"a/b/dag.json","nodes":3,"edges":2,"checkpoints":1,"warnings":[]}
        ---
        exit 0
    "#]],
    );
    let again = sandbox.run(&["compile", "a/b/dag.json"]);
    assert_eq!(again, out);
    sandbox.check(
        &["compile", "nodes.json", "--format", "mermaid"],
        &expect![[r#"
        flowchart TD
            N-001["Plan"]
            CP-01{{"Checkpoint: After Plan"}}
            N-002["Build"]
            N-001 --> CP-01
            CP-01 --> N-002
        ---
        exit 0
    "#]],
    );
    assert!(!sandbox.path("user").exists(), "no home was made");
    let mut names: Vec<_> = fs::read_dir(sandbox.path("project"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "broken.json", "nodes.json"]);
}

#[test]
fn stdin_is_a_file() {
    let sandbox = sandbox();
    let mut child = sandbox
        .command(&["compile", "-", "--format", "dot"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(NODES.as_bytes()).expect("a reader");
    let ran = Ran::new(&child.wait_with_output().expect("an end"), sandbox.folder.path());
    expect![[r#"
        digraph holdpoint {
          rankdir=TB;
          node [shape=box];
          "N-001" [label="Plan"];
          "CP-01" [label="Checkpoint: After Plan", shape=hexagon];
          "N-002" [label="Build"];
          "N-001" -> "CP-01";
          "CP-01" -> "N-002";
        }
        ---
        exit 0
    "#]]
    .assert_eq(&ran.to_string());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let sandbox = sandbox();
    sandbox.check(&["compile", "broken.json", "-o", "dag.json"], &expect![[r#"
        error: broken.json:3:51: there is no node `B` to take results from
        error: broken.json:4:6: `A` is the id of node 1 in the list as well
        error: broken.json:4:17: `type`: `skil` is none of `skill`, `command`, `cli`, `agent`, `checkpoint`; did you mean `skill`?
        hint: correct the file and compile it again; nothing was written
        exit 65
    "#]]);
    assert!(!sandbox.path("project/dag.json").exists());
    sandbox.check(&["compile", "broken.json", "--json"], &expect![[r#"
        {"error":{"code":"workflow_invalid","message":"broken.json:3:51: there is no node `B` to take results from","hint":"correct the file and compile it again; nothing was written","findings":[{"file":"broken.json","severity":"error","code":"unknown_node","message":"there is no node `B` to take results from","pointer":"/nodes/0/args_template","line":3,"column":51},{"file":"broken.json","severity":"error","code":"duplicate_id","message":"`A` is the id of node 1 in the list as well","pointer":"/nodes/1/id","line":4,"column":6},{"file":"broken.json","severity":"error","code":"wrong_type","message":"`type`: `skil` is none of `skill`, `command`, `cli`, `agent`, `checkpoint`; did you mean `skill`?","pointer":"/nodes/1/type","line":4,"column":17}]}}
        ---
        exit 65
    "#]]);
    sandbox.check(
        &["compile", "gone.json"],
        &expect![[r#"
        error: `gone.json` cannot be read: No such file or directory (os error 2)
        hint: check the path and its rights
        exit 65
    "#]],
    );
    let many: Vec<String> = (0..30).map(|n| format!("{{\"id\": \"N-{n}\"}}")).collect();
    let sandbox = sandbox.with_file("project/many.json", &format!("{{\"nodes\": [{}]}}", many.join(",\n")));
    let ran = sandbox.run(&["compile", "many.json"]);
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("error: many.json:")).count(), 20);
    assert!(ran.stderr.ends_with(
        "hint: 10 more findings are not shown; correct the file and compile it again; nothing was written\n"
    ));
    let sandbox = sandbox.with_file("project/intent.json", "{\n  \"steps\": {}\n}");
    sandbox.check(
        &["compile", "nodes.json", "--intent", "intent.json"],
        &expect![[r#"
        error: intent.json:2:3: a list is expected, not an object
        hint: correct the file and compile it again; nothing was written
        exit 65
    "#]],
    );
    fs::write(sandbox.path("project/bytes.json"), b"{\n \"\xff\"}").expect("a file");
    sandbox.check(
        &["compile", "bytes.json"],
        &expect![[r#"
        error: bytes.json:2:3: the file is not UTF-8 text
        hint: save it as UTF-8
        exit 65
    "#]],
    );
}

#[test]
fn warnings_are_told_and_can_be_errors() {
    let sandbox = sandbox().with_file(
        "project/odd.json",
        &NODES.replace("\"executor\": \"workflow-l", "\"excutor\": \"workflow-l"),
    );
    let ran = sandbox.run(&["compile", "odd.json"]);
    assert_eq!(ran.exit, Some(0));
    expect![[r#"
        warning: odd.json:4:5: `N-001` has no `executor`, so nothing says who does it
        warning: odd.json:4:64: unknown key `excutor` is kept; did you mean `executor`?
    "#]]
    .assert_eq(&ran.stderr);
    assert!(ran.stdout.contains("\"warnings\": ["));
    assert_eq!(sandbox.run(&["compile", "odd.json", "--quiet"]).stderr, "");
    sandbox.check(
        &["compile", "odd.json", "--strict"],
        &expect![[r#"
        error: odd.json:4:5: `N-001` has no `executor`, so nothing says who does it
        error: odd.json:4:64: unknown key `excutor` is kept; did you mean `executor`?
        hint: correct the file and compile it again; nothing was written
        exit 65
    "#]],
    );
}

#[test]
fn templates_have_a_name_and_a_time() {
    let sandbox = sandbox();
    let named = [
        "compile",
        "nodes.json",
        "--as",
        "template",
        "--name",
        "Sign in",
        "--created-at",
        "2026-03-04T05:06:07Z",
    ];
    let ran = sandbox.run(&named);
    let opening: Vec<&str> = ran.stdout.lines().take(7).collect();
    expect![[r#"
        {
          "template_id": "wft-sign-in-20260101",
          "name": "Sign in",
          "description": "",
          "version": "1.0",
          "created_at": "2026-03-04T05:06:07Z",
          "source_session": "WFD-login-20260101","#]]
    .assert_eq(&opening.join("\n"));
    sandbox.check(
        &["compile", "nodes.json", "--name", "x"],
        &expect![[r#"
        error: --name is for templates
        hint: add `--as template`, or leave it out
        exit 64
    "#]],
    );
    sandbox.check(
        &["compile", "nodes.json", "--as", "template", "--created-at", "today"],
        &expect![[r#"
        error: `today` is not possible for --created-at: it is no time
        hint: write it as 2026-01-31T12:00:00Z
        exit 64
    "#]],
    );
    sandbox.check(
        &["compile", "nodes.json", "--format", "png"],
        &expect![[r#"
        error: `png` is not possible for --format <FORMAT>
        hint: possible are json, mermaid, dot, svg, text
        exit 64
    "#]],
    );
    sandbox.check(
        &["compile", "nodes.json", "--server", "http://127.0.0.1:1"],
        &expect![[r#"
        error: `holdpoint compile` does not work on a server
        hint: leave --server out
        exit 64
    "#]],
    );
}

#[test]
fn a_picture_has_a_limit() {
    let nodes: Vec<String> = (0..10_001)
        .map(|n| {
            format!(
                "{{\"id\": \"N-{n}\", \"type\": \"skill\", \"executor\": \"a\", \"output_ports\": [\"{}\"]}}",
                if n == 0 { "plan" } else { "" }
            )
        })
        .collect();
    let sandbox = sandbox().with_file("project/large.json", &format!("{{\"nodes\": [{}]}}", nodes.join(",")));
    sandbox.check(
        &["compile", "large.json", "--format", "svg", "-o", "dag.svg"],
        &expect![[r#"
        error: 10002 nodes are too many for a picture; at most 10000 are drawn
        hint: `--format text` lists them by stage; `dot` has no limit
        exit 1
    "#]],
    );
    assert!(!sandbox.path("project/dag.svg").exists());
    assert!(sandbox.run(&["compile", "nodes.json", "--format", "svg"]).stdout.starts_with("<svg "));
}

#[test]
fn the_example_compiles() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/dag");
    let (nodes, intent) = (format!("{folder}/nodes.json"), format!("{folder}/intent.json"));
    let sandbox = sandbox();
    sandbox.check(
        &["compile", &nodes, "--intent", &intent, "--format", "text"],
        &expect![[r#"
                                  ┌─────────────┐
                                  │ N-001  Plan │
                                  └─────────────┘
                                         │
                                         ↓
                         ┌───────────────────────────────┐
                         │ CP-01  Checkpoint: After Plan │
                         └───────────────────────────────┘
                           ┌─────────────┴──────────────┐
                           ↓                            ↓
              ┌─────────────────────────┐   ┌───────────────────────┐
              │ N-002  Write the server │   │ N-003  Write the page │
              └─────────────────────────┘   └───────────────────────┘
                           └─────────────┬──────────────┘
                                         ↓
                                  ┌─────────────┐
                                  │ N-004  Test │
                                  └─────────────┘
                                         │
                                         ↓
                   ┌──────────────────────────────────────────┐
                   │ CP-02 (asks)  Checkpoint: Show me what … │
                   └──────────────────────────────────────────┘
                                         │
                                         ↓
                                 ┌───────────────┐
                                 │ N-005  Review │
                                 └───────────────┘
            ---
            exit 0
        "#]],
    );
}
