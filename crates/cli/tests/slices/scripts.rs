//! Slice 18: scripts.

use serde_json::{Value, json};

use crate::server::{Server, id};

pub fn script(name: &str, path: &str, artifacts: Value) -> Value {
    json!({
        "checkpoint_name": name,
        "checkpoint_description": "d",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "script",
            "script_config": {"script_path": path, "requires_user_input": false},
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline", "retry_delay_seconds": 0},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": false,
            "requires_approval_to_complete": false,
            "max_revision_iterations": 0,
        },
        "output": {"artifacts": artifacts, "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "Make the report.",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt",
            },
        },
    })
}

/// A pipeline with one script, whose file is in place.
pub fn with_script(server: &Server, step: &Value, file: &str, text: &str) -> Value {
    let pipeline = server.pipeline(&[], true);
    let path = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
    server.post(&path, step).expect(201);
    let folder = server.folder(&pipeline).join("scripts");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join(file), text).expect("written");
    pipeline
}

fn lines(execution: &Value) -> Vec<String> {
    let logs = execution["execution_logs"].as_array().expect("lines").iter();
    logs.map(|line| line["message"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn slice_18_a_script_writes_its_report_and_returns_a_value() {
    let server = Server::start();
    let artifacts =
        json!([{"name": "figures", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let mut step = script("Report", "generate_report.py", artifacts);
    step["execution"]["script_config"]["parameters"] = json!({"title": "Q3"});
    step["execution"]["script_config"]["requires_user_input"] = json!(true);
    step["execution"]["script_config"]["user_input_prompt"] = json!("Which quarter?");
    let text = "import os\n\
                def main(title, inputs, user_input):\n\
                \x20   print('working on', title)\n\
                \x20   with open(os.environ['HOLDPOINT_STAGING'] + '/report.pdf', 'wb') as file:\n\
                \x20       file.write(b'%PDF-1.7')\n\
                \x20   return {'title': title, 'asked': user_input, 'secrets': os.access('/etc/shadow', os.R_OK)}\n";
    let pipeline = with_script(&server, &step, "generate_report.py", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["waiting_for"]["kind"] == "script_input");
    let at = format!("/api/executions/{}/submit", id(&execution["execution_id"]));
    server.post(&at, &json!({"user_input": "the third"})).expect(200);
    let execution = server.until(&run, |e| e["status"] == "completed");
    assert!(lines(&execution).contains(&"working on Q3".to_owned()), "{:?}", lines(&execution));
    let made = execution["artifacts_generated"].as_array().expect("some").clone();
    let read = |name: &str| {
        let artifact =
            made.iter().find(|a| a["artifact_name"] == name).unwrap_or_else(|| panic!("{name} in {made:?}"));
        let file = server.folder(&pipeline).join(artifact["file_path"].as_str().expect("a path"));
        crate::safety::soon("it is promoted", || file.exists());
        std::fs::read(file).expect("readable")
    };
    assert_eq!(read("report"), b"%PDF-1.7");
    let figures: Value = serde_json::from_slice(&read("figures")).expect("JSON");
    assert_eq!(figures, json!({"title": "Q3", "asked": "the third", "secrets": false}));
}

#[test]
fn a_script_that_runs_again_is_given_the_feedback() {
    let server = Server::start();
    let artifacts =
        json!([{"name": "made", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let mut step = script("Draw", "draw.py", artifacts);
    step["human_interaction"]["requires_approval_to_complete"] = json!(true);
    step["human_interaction"]["max_revision_iterations"] = json!(2);
    let text = "import os\n\
                def main(feedback):\n\
                \x20   return {'feedback': feedback, 'variable': os.environ.get('HOLDPOINT_FEEDBACK')}\n";
    let pipeline = with_script(&server, &step, "draw.py", text);
    let run = server.run(&pipeline);
    let made = |execution: &Value| {
        let path = execution["artifacts_generated"][0]["file_path"].as_str().expect("a path");
        let file = server.folder(&pipeline).join(path);
        crate::safety::soon("it is written", || file.exists());
        crate::server::json_file(&file)
    };
    let first = server.until(&run, |e| e["status"] == "waiting_approval_to_complete");
    assert_eq!(made(&first), json!({"feedback": [], "variable": null}));
    let at = format!("/api/executions/{}/reject", id(&first["execution_id"]));
    server.post(&at, &json!({"feedback": "make it blue"})).expect(200);
    let second =
        server.until(&run, |e| e["status"] == "waiting_approval_to_complete" && e["revision_iteration"] == 1);
    assert_eq!(made(&second), json!({"feedback": ["make it blue"], "variable": "make it blue"}));
}

#[test]
fn outputs_that_do_not_fit_into_memory_together_are_taken() {
    let server = Server::start();
    let text = "import os\n\
                def main():\n\
                \x20   for n in range(30):\n\
                \x20       with open(f\"{os.environ['HOLDPOINT_STAGING']}/part{n}.bin\", 'wb') as file:\n\
                \x20           file.write(bytes([n]))\n\
                \x20           file.truncate(10 << 20)\n";
    let pipeline = with_script(&server, &script("Report", "parts.py", json!([])), "parts.py", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "completed");
    let made = execution["artifacts_generated"].as_array().expect("some");
    assert_eq!(made.len(), 30);
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 200 * 1024, "300 MiB of outputs took {peak} kB of memory");
}

#[test]
fn slice_18_an_error_has_its_trace_and_leaves_its_folder() {
    let server = Server::start();
    let text =
        "def helper():\n    raise ValueError('no luck')\n\ndef main():\n    print('begin')\n    helper()\n";
    let pipeline = with_script(&server, &script("Report", "bad.py", json!([])), "bad.py", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "failed");
    let error = &execution["error_details"]["last_error"];
    assert_eq!(error["error_type"], "script_error");
    assert_eq!(error["error_message"], "bad.py raised ValueError: no luck");
    let trace = error["stack_trace"].as_str().expect("a trace");
    assert!(trace.contains("line 2, in helper") && trace.contains("ValueError: no luck"), "{trace}");
    assert!(!trace.contains(".caller.py"), "{trace}");
    crate::safety::soon("its folder is with the failed ones", || {
        let errored = crate::server::files(&server.folder(&pipeline).join(".errored"));
        errored.iter().any(|file| file.ends_with("error_info.json"))
    });
}

#[test]
fn slice_18_any_executable_is_run_with_facts_on_standard_input() {
    let server = Server::start();
    let mut step = script(
        "Report",
        "report.sh",
        json!([{"name": "facts", "format": "json", "schema": {"type": "object", "properties": {}}}]),
    );
    step["execution"]["script_config"]["parameters"] = json!({"depth": 2});
    let text = "#!/bin/sh\ncat > \"$HOLDPOINT_STAGING/facts.json\"\necho to the error stream >&2\n";
    let pipeline = with_script(&server, &step, "report.sh", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "completed");
    let path = execution["artifacts_generated"][0]["file_path"].as_str().expect("a path");
    let file = server.folder(&pipeline).join(path);
    crate::safety::soon("it is promoted", || file.exists());
    let facts = crate::server::json_file(&file);
    assert_eq!(facts["parameters"], json!({"depth": 2}));
    let logs = execution["execution_logs"].as_array().expect("lines").clone();
    let line = logs.iter().find(|line| line["message"] == "to the error stream").expect("the line");
    assert_eq!(line["level"], "warning");
}

#[test]
fn slice_18_what_is_declared_must_be_made_and_parse() {
    let server = Server::start();
    let declared =
        json!([{"name": "figures", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    for (text, kind, message) in [
        ("def main(): pass\n", "missing_artifacts", "figures"),
        (
            "import os\ndef main(): open(os.environ['HOLDPOINT_STAGING'] + '/figures.json', 'w').write('{')\n",
            "invalid_artifact",
            "`figures.json` is not JSON",
        ),
        (
            "import os\ndef main(): os.symlink('/etc/passwd', os.environ['HOLDPOINT_STAGING'] + '/figures.json')\n",
            "invalid_artifact",
            "not an ordinary file",
        ),
        ("def other(): pass\n", "script_error", "no function `main`"),
        ("def main(): return {'a': float('nan')}\n", "script_error", "cannot be written as JSON"),
    ] {
        let pipeline = with_script(&server, &script("Report", "made.py", declared.clone()), "made.py", text);
        let run = server.run(&pipeline);
        let execution = server.until(&run, |e| e["status"] == "failed");
        let error = &execution["error_details"]["last_error"];
        assert_eq!(error["error_type"], kind, "{error}");
        assert!(error["error_message"].as_str().expect("a message").contains(message), "{error}");
    }
}

#[test]
fn slice_18_a_script_that_is_cancelled_or_too_slow_ends_with_everything_it_started() {
    let server = Server::start();
    let text = "import os, subprocess, time\n\
                def main():\n\
                \x20   subprocess.Popen(['sleep', '86399'], start_new_session=True)\n\
                \x20   print('asleep', flush=True)\n\
                \x20   time.sleep(86399)\n";
    let pipeline = with_script(&server, &script("Report", "slow.py", json!([])), "slow.py", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| lines(e).contains(&"asleep".to_owned()));
    server
        .post(&format!("/api/executions/{}/cancel", id(&execution["execution_id"])), &json!({}))
        .expect(200);
    let execution = server.until(&run, |e| e["status"] == "failed");
    assert_eq!(execution["error_details"]["last_error"]["error_type"], "cancelled");
    crate::safety::soon("nothing of it is left", || {
        let all = std::fs::read_dir("/proc").expect("processes").flatten();
        let told = all.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
        !told.into_iter().any(|line| line.contains("sleep\u{0}86399"))
    });
}

#[test]
fn slice_18_only_scripts_of_the_pipeline_are_run() {
    let server = Server::start();
    for (path, code) in [("../x.py", 422), ("/etc/x.py", 0), ("missing.py", 0)] {
        let pipeline = server.pipeline(&[], true);
        let at = format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"]));
        let answer = server.post(&at, &script("Report", path, json!([])));
        if code != 0 {
            assert_eq!(answer.status, code, "{path}");
            continue;
        }
        answer.expect(201);
        let run = server.run(&pipeline);
        let execution = server.until(&run, |e| e["status"] == "failed");
        let kind =
            execution["error_details"]["last_error"]["error_type"].as_str().expect("a type").to_owned();
        assert!(["script_missing", "script_not_allowed"].contains(&kind.as_str()), "{path}: {kind}");
    }
}

#[test]
fn a_link_that_a_script_leaves_for_its_value_is_not_read_through() {
    let server = Server::start();
    let secret = tempfile::tempdir().expect("a folder");
    let file = secret.path().join("secret.json");
    std::fs::write(&file, r#"{"value": {"secret": "hunter2"}}"#).expect("written");
    // It ends before its caller writes the value, and leaves a link to somebody else's file instead.
    let text = format!(
        "import os, sys\n\
         def main():\n\
         \x20   os.symlink('{}', os.path.dirname(os.path.abspath(__file__)) + '/told.json')\n\
         \x20   os._exit(0)\n",
        file.display()
    );
    let declared =
        json!([{"name": "figures", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let pipeline = with_script(&server, &script("Report", "link.py", declared), "link.py", &text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "failed");
    assert_eq!(execution["error_details"]["last_error"]["error_type"], "missing_artifacts", "{execution:#}");
    assert!(!execution.to_string().contains("hunter2"));
}

#[test]
fn slice_18_what_failed_attempts_wrote_is_kept_and_listed() {
    let server = Server::start();
    let artifacts = json!([{"name": "out", "format": "json", "schema": {"type": "object"}}]);
    let mut step = script("Report", "bad.py", artifacts);
    step["execution"]["retry_config"]["max_auto_retries"] = json!(2);
    let text = "import os\n\
                def main():\n\
                \x20   staging, mark = os.environ['HOLDPOINT_STAGING'], os.environ['HOLDPOINT_WORKSPACE'] + '/tries'\n\
                \x20   open(mark, 'a').write('x')\n\
                \x20   tries = len(open(mark).read())\n\
                \x20   if tries == 3:\n\
                \x20       return\n\
                \x20   open(staging + '/out.json', 'w').write('{bad' if tries == 1 else '{\"tries\": 2}')\n\
                \x20   if tries == 2:\n\
                \x20       raise ValueError('no luck')\n";
    let pipeline = with_script(&server, &step, "bad.py", text);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "failed");
    let execution_id = id(&execution["execution_id"]);
    let attempts = server.get(&format!("/api/executions/{execution_id}/attempts")).expect(200);
    let told: Vec<_> = attempts["items"].as_array().expect("attempts").iter().collect();
    let kinds: Vec<_> = told.iter().map(|each| &each["error"]["error_type"]).collect();
    assert_eq!(kinds, ["invalid_artifact", "script_error", "missing_artifacts"]);
    let bytes = |n: usize| {
        let record = id(&told[n]["artifacts"][0]["artifact_record_id"]);
        server.get(&format!("/api/artifacts/{record}/download")).body
    };
    assert_eq!((bytes(0), bytes(1)), (b"{bad".to_vec(), b"{\"tries\": 2}".to_vec()));
    assert_eq!(told[2]["artifacts"], json!([]));
    // The log says why, also where only the rules could know.
    let logs = server.get(&format!("/api/executions/{execution_id}/logs")).expect(200).to_string();
    assert!(logs.contains("`out.json` is not JSON"), "{logs}");
    assert!(logs.contains("declared artifacts were not made: out"), "{logs}");
    let errored = server.folder(&pipeline).join(".errored");
    crate::safety::soon("its folder is with the failed ones", || {
        crate::server::files(&errored).iter().any(|file| file.ends_with("error_logs.txt"))
    });
    let named = crate::server::files(&errored).into_iter().find(|file| file.ends_with("error_logs.txt"));
    let text = std::fs::read_to_string(errored.join(named.expect("a log"))).expect("readable");
    assert!(text.contains("declared artifacts were not made: out"), "{text}");
}

#[test]
fn slice_18_the_last_outputs_of_a_failure_stand_in_its_folder_and_its_list() {
    let server = Server::start();
    let artifacts = json!([{"name": "out", "format": "txt"}]);
    let text = "import os\n\
                def main():\n\
                \x20   open(os.environ['HOLDPOINT_STAGING'] + '/out.txt', 'w').write('half')\n\
                \x20   raise ValueError('no luck')\n";
    let pipeline = with_script(&server, &script("Report", "bad.py", artifacts), "bad.py", text);
    let run = server.run(&pipeline);
    server.until(&run, |e| e["status"] == "failed");
    let errored = server.folder(&pipeline).join(".errored");
    let find = |end: &str| crate::server::files(&errored).into_iter().find(|file| file.ends_with(end));
    crate::safety::soon("its folder is with the failed ones", || find("error_info.json").is_some());
    let info = crate::server::json_file(&errored.join(find("error_info.json").expect("a file")));
    let name = info["failed_artifacts"][0].as_str().expect("a name");
    let path = find(&format!("failed_artifacts/{name}")).expect("the file that is listed");
    assert_eq!(std::fs::read(errored.join(path)).expect("readable"), b"half");
    let in_all =
        crate::server::files(&errored).into_iter().filter(|file| file.contains("failed_artifacts/out"));
    assert_eq!(in_all.count(), 1, "it stands there once");
}

#[test]
fn slice_18_a_value_that_is_too_deep_is_told_as_that() {
    let server = Server::start();
    let artifacts = json!([{"name": "out", "format": "json", "schema": {"type": "object"}}]);
    let text = "def main():\n    x = {}\n    for i in range(200):\n        x = {'a': x}\n    return x\n";
    let pipeline = with_script(&server, &script("Report", "deep.py", artifacts), "deep.py", text);
    let failed = server.until(&server.run(&pipeline), |e| e["status"] == "failed");
    let told = &failed["error_details"]["last_error"]["error_message"];
    assert_eq!(told, "the returned value is nested more than 120 deep; write a file instead");
}

#[test]
fn a_script_reaches_the_network_only_where_the_definition_says_so() {
    let server = Server::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let text = format!(
        "import socket\ndef main():\n    socket.create_connection(('127.0.0.1', {port}), 5).close()\n    return {{}}\n"
    );
    let artifacts = json!([{"name": "out", "format": "json", "schema": {"type": "object"}}]);
    let mut step = script("Report", "reach.py", artifacts);
    let closed = with_script(&server, &step, "reach.py", &text);
    server.until(&server.run(&closed), |e| e["status"] == "failed");
    step["execution"]["network"] = json!(true);
    let open = with_script(&server, &step, "reach.py", &text);
    server.until(&server.run(&open), |e| e["status"] == "completed");
    let shown = server.get(&format!("/api/pipelines/{}", id(&open["pipeline_id"]))).expect(200);
    assert!(shown["warnings"].to_string().contains("reaches the network"), "{}", shown["warnings"]);
}

#[test]
fn a_log_comes_in_pages_where_that_is_asked_for() {
    let server = Server::start();
    let text = "def main():\n    for i in range(7):\n        print('line', i)\n";
    let pipeline = with_script(&server, &script("Report", "talk.py", json!([])), "talk.py", text);
    let done = server.until(&server.run(&pipeline), |e| e["status"] == "completed");
    let at = format!("/api/executions/{}/logs", id(&done["execution_id"]));
    let all = server.get(&at).expect(200);
    assert!(all["next_cursor"].is_null());
    let mut read = Vec::new();
    let mut cursor = String::new();
    for _ in 0..all["items"].as_array().expect("lines").len() {
        let page = server.get(&format!("{at}?limit=3{cursor}")).expect(200);
        read.extend(page["items"].as_array().expect("lines").clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(json!(read), all["items"]);
    server.get(&format!("{at}?limit=5&cursor=abc")).refused(400, "bad_cursor");
    server.get(&format!("{at}?limit=100000")).refused(400, "bad_query");
}
