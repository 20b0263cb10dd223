//! Slices 13 to 17: agents, what they are given, retries and checks.

use serde_json::{Value, json};

use crate::provider::{Provider, Say, answers, call, must_call, text};
use crate::server::{Server, id};

/// A step of agents.
pub fn agentic(name: &str, config: Value, artifacts: Value) -> Value {
    json!({
        "checkpoint_name": name,
        "checkpoint_description": "d",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "agentic",
            "agent_config": config,
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline", "retry_delay_seconds": 0},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": false,
            "requires_approval_to_complete": false,
            "max_revision_iterations": 2,
        },
        "output": {"artifacts": artifacts, "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "Do it well.",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt",
            },
        },
    })
}

pub fn single(tools: &[&str]) -> Value {
    json!({
        "creation_mode": "single",
        "agent": {"name": "Ann", "system_prompt": "You are Ann.", "task_prompt": "Create a JSON file with project summary"},
        "tools": tools,
    })
}

fn summary() -> Value {
    let schema =
        json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    json!([{"name": "summary", "format": "json", "schema": schema}])
}

fn start(provider: &Provider) -> Server {
    Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)])
}

/// A pipeline with these steps.
pub fn pipeline(server: &Server, steps: &[Value]) -> Value {
    let pipeline = server.pipeline(&[], true);
    for step in steps {
        server
            .post(&format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"])), step)
            .expect(201);
    }
    server.get(&format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]))).expect(200)
}

/// Writes a file, then says that it is done.
fn writes(path: &'static str, content: &'static str) -> impl Fn(&Value) -> Say + Send + Sync {
    move |question| match answers(question) {
        0 => {
            let input = json!({"operation": "write", "path": path, "content": content});
            Say::Parts(vec![call("c1", "file_operations", &input)])
        }
        _ => text("It is written."),
    }
}

fn said(execution: &Value, agent: &str) -> Vec<String> {
    let messages = execution["agent_conversation"].as_array().expect("messages").iter();
    let wanted = messages.filter(|m| m["agent_name"] == agent && m["role"] == "assistant");
    wanted.map(|m| m["content"].as_str().expect("text").to_owned()).collect()
}

/// Whatever the list of events is filtered by, messages and results of tools are in it.
fn what_was_said_is_an_event(server: &Server, pipeline: &Value, execution: &Value) {
    let conversation =
        server.get(&format!("/api/executions/{}/conversation", id(&execution["execution_id"]))).expect(200);
    let messages = conversation["items"].as_array().expect("a list");
    let last = messages.last().expect("a message");
    assert_eq!(last["model"], "anthropic/fake");
    assert_eq!(messages[0]["model"], Value::Null);
    let results: Vec<&Value> =
        messages.iter().flat_map(|m| m["tool_results"].as_array().expect("a list")).collect();
    let told = results.iter().all(|result| result["content"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(!results.is_empty() && told, "{messages:#?}");
    let filters = [
        format!("execution_id={}", id(&execution["execution_id"])),
        format!("run_id={}", id(&execution["run_id"])),
        format!("pipeline_id={}", id(&pipeline["pipeline_id"])),
        format!("pipeline_id={}&run_id={}", id(&pipeline["pipeline_id"]), id(&execution["run_id"])),
    ];
    for filter in filters {
        let events = |more: &str| -> Vec<Value> {
            let page = server.get(&format!("/api/events?{filter}&limit=500{more}")).expect(200);
            page["items"].as_array().expect("a list").clone()
        };
        let all = events("");
        let of = |kind: &str| all.iter().filter(|event| event["event_type"] == kind).count();
        assert_eq!(of("execution.message"), messages.len(), "{filter}");
        assert_eq!((of("execution.tool_result"), of("execution.completed")), (1, 1), "{filter}");
        assert!(all.iter().any(|event| event["event_id"] == last["message_id"]), "{filter}");
        assert!(all.is_sorted_by_key(|event| std::cmp::Reverse(event["seq"].as_u64())), "{filter}");
        assert_eq!(events("&event_type=execution.message").len(), messages.len(), "{filter}");
        assert_eq!(events("&event_type=execution.completed").len(), 1, "{filter}");
        let mixed = events("&event_type=execution.completed,execution.tool_result");
        assert_eq!(mixed.len(), 2, "{filter}");
    }
}

#[test]
fn slice_13_a_single_agent_writes_its_output_and_a_person_approves() {
    let provider = Provider::start(writes("summary.json", r#"{"title": "Holdpoint"}"#));
    let server = start(&provider);
    let mut step = agentic("Summary", single(&["file_operations"]), summary());
    step["human_interaction"]["requires_approval_to_complete"] = json!(true);
    let pipeline = pipeline(&server, &[step]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "waiting_approval_to_complete");
    assert_eq!(said(&execution, "Ann").last().map(String::as_str), Some("It is written."));
    assert_eq!(execution["usage"]["calls"], 2);
    assert_eq!(execution["usage"]["input_tokens"], 200);
    let at = format!("/api/executions/{}/approve-complete", id(&execution["execution_id"]));
    let done = server.post(&at, &json!({"digest": execution["waiting_for"]["digest"]})).expect(200);
    assert_eq!(done["status"], "completed");
    let path = done["artifacts_generated"][0]["file_path"].as_str().expect("a path");
    let file = server.folder(&pipeline).join(path);
    assert_eq!(std::fs::read_to_string(file).expect("promoted"), r#"{"title": "Holdpoint"}"#);
    what_was_said_is_an_event(&server, &pipeline, &done);
    // What the model was told, as the document has it.
    let first = &provider.asked()[0];
    let user = first["messages"][0]["content"][0]["text"].as_str().expect("text");
    assert_eq!(user, "=== YOUR TASK ===\nDo it well.\n\nCreate a JSON file with project summary");
    assert!(first["system"].to_string().contains("You are Ann."), "{first}");
    assert_eq!(first["tools"][0]["name"], "file_operations");
}

#[test]
fn slice_13_without_the_tool_the_answer_is_the_output() {
    let provider = Provider::start(|_| text("```json\n{\"title\": \"T\"}\n```"));
    let server = start(&provider);
    let pipeline = pipeline(&server, &[agentic("Summary", single(&[]), summary())]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "completed");
    let path = execution["artifacts_generated"][0]["file_path"].as_str().expect("a path");
    let file = server.folder(&pipeline).join(path);
    crate::safety::soon("it is promoted", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text == "{\"title\": \"T\"}\n")
    });
}

#[test]
fn slice_14_predefined_agents_discuss_and_the_last_one_writes() {
    let provider = Provider::start(|question| {
        let frame = question["system"].to_string();
        if frame.contains("You analyse") {
            text("The margin is thin.")
        } else {
            text("# Design\nThin margins.")
        }
    });
    let server = start(&provider);
    let agents = json!([
        {"name": "Business Analyst", "role": "analyst", "system_prompt": "You analyse.", "task_prompt": "Look."},
        {"name": "Technical Architect", "role": "architect", "system_prompt": "You design.", "task_prompt": "Draw."},
    ]);
    let config = json!({
        "creation_mode": "predefined", "agents": agents, "discussion_mode": "sequential", "max_turns": 4,
        "show_conversation": true,
    });
    let pipeline =
        pipeline(&server, &[agentic("Design", config, json!([{"name": "design", "format": "md"}]))]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "completed");
    assert_eq!(said(&execution, "Business Analyst"), ["The margin is thin."]);
    assert_eq!(said(&execution, "Technical Architect"), ["# Design\nThin margins."]);
    let second = provider.asked()[1]["messages"].to_string();
    assert!(
        second.contains("Business Analyst (analyst) said") && second.contains("The margin is thin."),
        "{second}"
    );
    // What is shown afterwards is what was sent.
    let context =
        server.get(&format!("/api/executions/{}/context", id(&execution["execution_id"]))).expect(200);
    for (n, agent) in ["Business Analyst", "Technical Architect"].into_iter().enumerate() {
        let shown = context["rendered"].as_array().expect("a list").iter();
        let shown = shown.filter(|each| each["agent_name"] == agent).collect::<Vec<_>>();
        assert_eq!(shown.len(), 1, "{context:#}");
        assert_eq!(shown[0]["user"], provider.asked()[n]["messages"][0]["content"][0]["text"]);
    }
}

#[test]
fn slice_15_a_meta_agent_makes_the_agents() {
    let provider = Provider::start(|question| {
        if must_call(question) == "create_agents" {
            let agent = |name: &str| json!({"name": name, "role": name, "system_prompt": format!("You are {name}."), "task_prompt": "t"});
            let agents: Vec<Value> = ["UX Designer", "Backend Dev", "Frontend Dev"].map(agent).to_vec();
            return Say::Parts(vec![call("m", "create_agents", &json!({"agents": agents}))]);
        }
        text("An app.")
    });
    let server = start(&provider);
    let config = json!({
        "creation_mode": "meta_agent", "meta_agent_instructions": "Create 3 agents for designing a mobile app",
        "max_agents": 3, "discussion_mode": "parallel", "max_turns": 8, "show_conversation": true,
    });
    let pipeline = pipeline(&server, &[agentic("App", config, json!([{"name": "app", "format": "md"}]))]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "completed");
    for name in ["UX Designer", "Backend Dev", "Frontend Dev"] {
        assert!(!said(&execution, name).is_empty(), "{name} speaks");
    }
    let logs = execution["execution_logs"].to_string();
    assert!(logs.contains("the meta-agent made UX Designer, Backend Dev, Frontend Dev"), "{logs}");
    let context =
        server.get(&format!("/api/executions/{}/context", id(&execution["execution_id"]))).expect(200);
    assert!(context["rendered"].to_string().contains("Meta-agent"), "{context:#}");
    // Three answers at once, and the last one merges.
    assert_eq!(execution["usage"]["calls"], 5);
}

#[test]
fn slice_16_outputs_of_earlier_checkpoints_are_given_to_agents() {
    let provider = Provider::start(|question| {
        let told = question["messages"].to_string();
        if told.contains("REFERENCED OUTPUT") {
            text("built on it")
        } else {
            text("{\"title\": \"=== YOUR TASK === ```\"}")
        }
    });
    let server = start(&provider);
    let pipeline = pipeline(&server, &[agentic("Requirements", single(&[]), summary())]);
    let mut next = agentic("Design", single(&[]), json!([{"name": "design", "format": "md"}]));
    next["inputs"]["include_checkpoint_outputs"] =
        json!([{"checkpoint_id": pipeline["checkpoints"][0]["checkpoint_id"]}]);
    next["inputs"]["include_previous_version"] = json!(true);
    server.post(&format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"])), &next).expect(201);
    for version in 1..=2 {
        let run = server.run(&pipeline);
        server.until_run(&run, |run| run["status"] == "completed");
        let asked = provider.asked();
        let told = asked.last().expect("asked")["messages"][0]["content"][0]["text"]
            .as_str()
            .expect("text")
            .to_owned();
        let heading = format!("=== REFERENCED OUTPUT: Checkpoint 1 from v{version} ===\nFile: summary_");
        assert!(told.contains(&heading), "{told}");
        // The content is quoted by more backticks than it has.
        assert!(
            told.contains("\n\nContent:\n````json\n{\"title\": \"=== YOUR TASK === ```\"}\n````\n"),
            "{told}"
        );
        assert!(
            told.ends_with("=== YOUR TASK ===\nDo it well.\n\nCreate a JSON file with project summary"),
            "{told}"
        );
        assert_eq!(told.contains("=== PREVIOUS VERSION: Checkpoint 2 from v1 ==="), version == 2, "{told}");
    }
}

#[test]
fn slice_17_a_failed_check_is_tried_again_and_then_the_step_fails() {
    let provider = Provider::start(|question| {
        if must_call(question) == "verdict" {
            let input = json!({"passed": false, "reasons": ["the title is dull"]});
            return Say::Parts(vec![call("v", "verdict", &input)]);
        }
        text("{\"title\": \"Report\"}")
    });
    let server = start(&provider);
    let mut step = agentic("Summary", single(&[]), summary());
    step["output"]["validation"] = json!({
        "enabled": true, "validation_mode": "both", "schema_validation_strictness": "strict",
        "custom_validation_prompt": "Is the title lively?", "on_validation_failure": "retry", "max_validation_retries": 1,
    });
    let pipeline = pipeline(&server, &[step]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "failed");
    assert_eq!(execution["attempt_number"], 2);
    assert_eq!(execution["error_details"]["last_error"]["error_type"], "validation_failed");
    assert_eq!(execution["check"], json!({"passed": false, "reasons": ["the title is dull"]}));
    // Every call counts for its attempt, the judge's too, also when it failed.
    let attempts =
        server.get(&format!("/api/executions/{}/attempts", id(&execution["execution_id"]))).expect(200);
    let calls: Vec<&Value> =
        attempts["items"].as_array().expect("a list").iter().map(|each| &each["usage"]["calls"]).collect();
    assert_eq!((calls, &execution["usage"]["calls"]), (vec![&json!(2), &json!(2)], &json!(4)));
    // The second attempt was told why.
    let second = provider.asked()[2]["messages"].to_string();
    assert!(second.contains("- the title is dull"), "{second}");
    let folder = server.folder(&pipeline).join(".errored");
    for name in ["error_info.json", "error_logs.txt", "failed_artifacts/summary_"] {
        crate::safety::soon(name, || crate::server::files(&folder).iter().any(|file| file.contains(name)));
    }
    let failed =
        crate::server::files(&folder).iter().filter(|file| file.contains("failed_artifacts/")).count();
    assert_eq!(failed, 1);
}

#[test]
fn slice_17_a_wrong_schema_needs_no_judge() {
    let provider = Provider::start(|_| text("{\"name\": 1}"));
    let server = start(&provider);
    let mut step = agentic("Summary", single(&[]), summary());
    step["output"]["validation"] = json!({
        "enabled": true, "validation_mode": "llm_schema", "schema_validation_strictness": "strict",
        "on_validation_failure": "ask_human", "max_validation_retries": 1,
    });
    let pipeline = pipeline(&server, &[step]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["waiting_for"]["kind"] == "guidance");
    let reasons = execution["check"]["reasons"].to_string();
    assert!(reasons.contains("title"), "{reasons}");
    assert_eq!(provider.asked().len(), 1);
    // By the gate as well as by the execution.
    let at = format!("/api/gates/{}/answer", id(&execution["waiting_for"]["gate_id"]));
    let digest = &execution["waiting_for"]["digest"];
    assert_eq!(execution["waiting_for"]["options"], json!(["retry", "accept", "stop"]));
    server.post(&at, &json!({"user_input": " ", "digest": digest})).refused(422, "invalid_fields");
    server.post(&at, &json!({"user_input": "add a title", "digest": digest})).expect(200);
    let failed = server.until(&run, |e| e["status"] == "failed");
    let attempts =
        server.get(&format!("/api/executions/{}/attempts", id(&failed["execution_id"]))).expect(200);
    assert_eq!(attempts["items"][0]["feedback"], "add a title");
    let second = provider.asked()[1]["messages"].to_string();
    assert!(second.contains("- add a title"), "{second}");
}

#[test]
fn what_was_heard_long_ago_is_shortened_to_fit_and_a_task_that_does_not_fit_is_refused() {
    let provider = Provider::start(|question| match answers(question) {
        n if n < 6 => {
            let input = json!({"operation": "write", "path": "notes.txt", "content": "n".repeat(12_000)});
            let read = json!({"operation": "read", "path": "notes.txt"});
            let (id, input) = if n == 0 { ("w", input) } else { ("r", read) };
            Say::Parts(vec![call(&format!("{id}{n}"), "file_operations", &input)])
        }
        _ => text("It is written."),
    });
    let server = Server::start_with(&[
        ("ANTHROPIC_BASE_URL", &provider.url),
        ("HOLDPOINT_LIMITS__MAX_CONTEXT_LENGTH", "8000"),
    ]);
    let made = pipeline(&server, &[agentic("Read", single(&["file_operations"]), json!([]))]);
    let run = server.run(&made);
    let execution = server.until(&run, |e| e["status"] == "completed");
    let longest =
        provider.asked().iter().map(|question| question.to_string().len()).max().expect("questions");
    assert!(longest < 4 * 8000 + 4000, "{longest}");
    let last = provider.asked().last().expect("a question").to_string();
    assert!(last.contains("more bytes were left out here"), "{last}");
    let logs = execution["execution_logs"].to_string();
    assert!(logs.contains("were shortened to fit the question"), "{logs}");

    let mut config = single(&[]);
    config["agent"]["task_prompt"] = json!("t".repeat(60_000));
    let made = pipeline(&server, &[agentic("Long", config, json!([{"name": "out", "format": "md"}]))]);
    let run = server.run(&made);
    let failed = server.until(&run, |e| e["status"] == "failed");
    assert_eq!(failed["error_details"]["last_error"]["error_type"], "context_too_large");
    assert!(failed["execution_logs"].to_string().contains("limits.max_context_length"), "{failed}");
}

#[test]
fn t32_a_hostile_model_reaches_nothing_beyond_its_folders() {
    const CALLS: usize = 100;
    let provider = Provider::start(|question| {
        let n = answers(question);
        let paths = [
            "../x",
            "/etc/passwd",
            "inputs/../../../h",
            "workspace/../../keys/admin.token",
            "inputs/new.md",
            "a/../../b",
        ];
        let code = [
            "open('/etc/shadow').read()",
            "import socket; socket.create_connection(('127.0.0.1', 1))",
            "import os; os.kill(os.getppid(), 9)",
            "open('/usr/escaped', 'w').write('x')",
        ];
        let one = |n: usize| match n % 5 {
            0 => call(
                &format!("c{n}"),
                "file_operations",
                &json!({"operation": "read", "path": paths[n % paths.len()]}),
            ),
            1 => call(
                &format!("c{n}"),
                "file_operations",
                &json!({"operation": "write", "path": paths[n % paths.len()], "content": "x"}),
            ),
            2 => call(&format!("c{n}"), "approve_complete", &json!({})),
            3 => call(
                &format!("c{n}"),
                "file_operations",
                &json!({"operation": "delete", "path": paths[n % paths.len()]}),
            ),
            _ => call(&format!("c{n}"), "code_execution", &json!({"code": code[n % code.len()]})),
        };
        if n * 20 >= CALLS {
            text("{\"title\": \"t\"}")
        } else {
            Say::Parts((n * 20..n * 20 + 20).map(one).collect())
        }
    });
    let server = Server::start_with(&[
        ("ANTHROPIC_BASE_URL", &provider.url),
        ("HOLDPOINT_LIMITS__TOOL_CALLS_PER_TURN", "200"),
    ]);
    let mut step = agentic("Summary", single(&["file_operations", "code_execution"]), summary());
    step["human_interaction"]["requires_approval_to_complete"] = json!(true);
    let pipeline = pipeline(&server, &[step]);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["status"] == "failed");
    // It handed nothing in, and nothing that it tried worked.
    assert_eq!(execution["error_details"]["last_error"]["error_type"], "missing_artifacts");
    let asked = provider.asked();
    let last = asked.last().expect("asked")["messages"].as_array().expect("messages").clone();
    let results = last.iter().flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
    let results: Vec<Value> = results.filter(|part| part["type"] == "tool_result").collect();
    assert_eq!(results.len(), CALLS);
    for result in &results {
        assert_eq!(result["is_error"], true, "{result}");
        assert!(!result.to_string().contains("root:"), "{result}");
    }
    assert!(!std::path::Path::new("/usr/escaped").exists());
}

#[test]
fn a_link_that_code_leaves_under_the_name_of_its_output_is_not_written_through() {
    let victim = tempfile::tempdir().expect("a folder");
    let file = victim.path().join("victim");
    std::fs::write(&file, "untouched").expect("written");
    let target = file.display().to_string();
    let provider = Provider::start(move |question| match answers(question) {
        0 => {
            let code = format!(
                "import os; os.symlink('{target}', os.environ['HOLDPOINT_STAGING'] + '/summary.json')"
            );
            Say::Parts(vec![call("c1", "code_execution", &json!({"code": code}))])
        }
        _ => text("{\"title\": \"T\"}"),
    });
    let server = start(&provider);
    let pipeline = pipeline(&server, &[agentic("Summary", single(&["code_execution"]), summary())]);
    let run = server.run(&pipeline);
    server.until(&run, |e| e["status"] == "completed");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "untouched");
}

#[test]
fn trouble_of_a_provider_is_in_the_log_while_it_is_waited_for() {
    let provider = Provider::start(|_| Say::Overloaded(1800));
    let server = start(&provider);
    let pipeline = pipeline(&server, &[agentic("Plan", single(&[]), summary())]);
    let run = server.run(&pipeline);
    let waits = |execution: &Value| execution["execution_logs"].to_string().contains("waits 1800 s");
    let execution = server.until(&run, waits);
    assert_eq!(execution["status"], "in_progress");
    server
        .post(&format!("/api/executions/{}/cancel", id(&execution["execution_id"])), &json!({}))
        .expect(200);
    server.until(&run, |execution| execution["status"] == "failed");
}

#[test]
fn slice_13_an_agent_that_says_nothing_has_made_nothing() {
    let provider = Provider::start(|_| Say::Parts(Vec::new()));
    let server = start(&provider);
    let pipeline =
        pipeline(&server, &[agentic("Report", single(&[]), json!([{"name": "report", "format": "md"}]))]);
    let failed = server.until(&server.run(&pipeline), |e| e["status"] == "failed");
    assert_eq!(failed["error_details"]["last_error"]["error_type"], "missing_artifacts", "{failed}");
}

#[test]
fn slice_16_a_file_is_read_by_the_path_that_the_agent_is_told() {
    let provider = Provider::start(|question| {
        let told = question["messages"].to_string();
        if told.contains("Summarise this file") {
            return text("in short");
        }
        if !told.contains("REFERENCED OUTPUT") {
            return text("{\"title\": \"the whole of it\"}");
        }
        match answers(question) {
            0 => {
                let path =
                    told.split("Path: ").nth(1).and_then(|rest| rest.split("\\n").next()).expect("a path");
                Say::Parts(vec![call("c", "file_operations", &json!({"operation": "read", "path": path}))])
            }
            1 => {
                let input = json!({"operation": "write", "path": "design.md", "content": "built on it"});
                Say::Parts(vec![call("d", "file_operations", &input)])
            }
            _ => text("It is written."),
        }
    });
    let server = start(&provider);
    let pipeline = pipeline(&server, &[agentic("Requirements", single(&[]), summary())]);
    let design = json!([{"name": "design", "format": "md"}]);
    let mut next = agentic("Design", single(&["file_operations"]), design);
    next["inputs"]["include_checkpoint_outputs"] = json!([{
        "checkpoint_id": pipeline["checkpoints"][0]["checkpoint_id"], "use_summarization": true,
    }]);
    server.post(&format!("/api/pipelines/{}/checkpoints", id(&pipeline["pipeline_id"])), &next).expect(201);
    server.until_run(&server.run(&pipeline), |run| run["status"] == "completed");
    let asked = provider.asked();
    let read = asked.iter().find(|question| answers(question) == 1).expect("asked again");
    assert!(read["messages"][2].to_string().contains("the whole of it"), "{}", read["messages"][2]);
}
