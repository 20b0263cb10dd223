//! Budgets that pause into a question, and what work cost.

use serde_json::{Value, json};

use crate::agents::{agentic, pipeline, single};
use crate::provider::{Provider, Say, answers, call, text};
use crate::server::{Server, id};

/// Each call costs 120 tokens; four of them, and it is done.
fn chatty(question: &Value) -> Say {
    match answers(question) {
        n if n < 3 => {
            let input = json!({"operation": "write", "path": format!("{n}.txt"), "content": "x"});
            Say::Parts(vec![call(&format!("c{n}"), "file_operations", &input)])
        }
        _ => text("It is written."),
    }
}

fn start(provider: &Provider) -> Server {
    Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)])
}

fn answer(server: &Server, execution: &Value, body: &Value) -> Value {
    let gate = id(&execution["waiting_for"]["gate_id"]);
    let at = format!("/api/gates/{gate}/answer");
    server.post(&at, body).refused(428, "digest_missing");
    let mut body = body.clone();
    body["digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    server.post(&at, &body).refused(412, "stale_decision");
    body["digest"] = execution["waiting_for"]["digest"].clone();
    let answered = server.post(&at, &body).expect(200);
    let late = server.post(&at, &body).refused(409, "gate_answered");
    assert!(late["decision"]["by"].is_string() && late["decision"]["option"].is_string(), "{late}");
    answered
}

#[test]
fn a_used_up_budget_asks_and_the_work_goes_on_where_it_stood() {
    let provider = Provider::start(chatty);
    let server = start(&provider);
    let mut step = agentic("Draft", single(&["file_operations"]), json!([]));
    step["execution"]["budget"] = json!({"tokens": 200});
    let pipeline = pipeline(&server, &[step]);
    let run = server.run(&pipeline);
    let waits = |execution: &Value| execution["waiting_for"]["kind"] == "budget";
    let execution = server.until(&run, waits);
    assert_eq!(execution["status"], "in_progress");
    let waiting = &execution["waiting_for"];
    assert_eq!(waiting["budget"]["scope"], "execution");
    assert_eq!((&waiting["budget"]["limit"], &waiting["budget"]["spent"]), (&json!(200.0), &json!(240.0)));
    assert_eq!(waiting["options"], json!(["raise", "stop"]));
    assert_eq!(execution["usage"]["calls"], 2, "what is spent shows while it waits");
    let inbox = server.get("/api/inbox").expect(200);
    assert_eq!(inbox["items"][0]["waiting_for"]["kind"], "budget");

    // Too little does not help, and a word that is no amount is refused.
    let submit = format!("/api/executions/{}/submit", id(&execution["execution_id"]));
    server.post(&submit, &json!({"user_input": "10"})).refused(422, "invalid_fields");
    server.post(&submit, &json!({"user_input": "much"})).refused(422, "invalid_fields");
    assert_eq!(provider.asked().len(), 2);
    server.post(&submit, &json!({"user_input": "100"})).expect(200);
    let execution = server.until(&run, |e| waits(e) && e["waiting_for"]["budget"]["limit"] == 300.0);
    answer(&server, &execution, &json!({"option": "raise", "feedback": "1000"}));
    let done = server.until(&run, |e| e["status"] == "completed");
    assert_eq!((&done["usage"]["calls"], &done["attempt_number"]), (&json!(4), &json!(1)));
    assert_eq!(provider.asked().len(), 4, "nothing was asked twice");
    let said: Vec<&Value> = done["human_interactions"].as_array().expect("a list").iter().collect();
    assert_eq!(said.len(), 2);
    assert_eq!(said[1]["user_input"], "raise by 1000 tokens");
}

#[test]
fn a_budget_outlives_a_crash_and_can_be_refused() {
    let provider = Provider::start(chatty);
    let mut server = start(&provider);
    let step = agentic("Draft", single(&["file_operations"]), json!([]));
    let pipeline = pipeline(&server, &[step]);
    let at = format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]));
    let wrong = json!({"config": {"auto_advance": true, "budgets": {"run": {"tokens": 0}}}});
    server.put(&at, &wrong).refused(422, "invalid_fields");
    let budgets = json!({"run": {"tokens": 10_000}, "pipeline": {"tokens": 300}});
    server.put(&at, &json!({"config": {"auto_advance": true, "budgets": budgets}})).expect(200);
    let run = server.run(&pipeline);
    let execution = server.until(&run, |e| e["waiting_for"]["kind"] == "budget");
    assert_eq!(execution["waiting_for"]["budget"]["scope"], "pipeline");
    server.kill_and_restart();
    let execution = server.until(&run, |e| e["waiting_for"]["kind"] == "budget");
    answer(&server, &execution, &json!({"option": "stop"}));
    let failed = server.until(&run, |e| e["status"] == "failed");
    assert_eq!(failed["error_details"]["last_error"]["error_type"], "budget_reached");
    assert_eq!(server.run_of(&run)["status"], "paused");
    let asked = provider.asked().len();
    // What all runs may spend holds for the next run too.
    let next = server.run(&pipeline);
    let execution = server.until(&next, |e| e["waiting_for"]["kind"] == "budget");
    assert_eq!(provider.asked().len(), asked);
    answer(&server, &execution, &json!({"option": "raise", "feedback": "5000"}));
    server.until(&next, |e| e["status"] == "completed");
}

#[test]
fn usage_is_added_up_by_pipeline_checkpoint_model_agent_and_day() {
    let provider = Provider::start(chatty);
    let server = start(&provider);
    let step = agentic("Draft", single(&["file_operations"]), json!([]));
    let pipeline = pipeline(&server, &[step]);
    for _ in 0..2 {
        let run = server.run(&pipeline);
        server.until(&run, |e| e["status"] == "completed");
    }
    let by = |group: &str| server.get(&format!("/api/usage?group_by={group}")).expect(200);
    let all = by("pipeline");
    assert_eq!((&all["total"]["calls"], &all["total"]["input_tokens"]), (&json!(8), &json!(800)));
    assert_eq!(all["items"][0]["key"], pipeline["pipeline_id"]);
    assert_eq!(all["items"][0]["name"], pipeline["pipeline_name"]);
    assert_eq!(by("checkpoint")["items"][0]["name"], "Draft");
    assert_eq!(by("agent")["items"][0]["key"], "Ann");
    assert_eq!(by("model")["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(by("day")["items"][0]["usage"]["calls"], 8);
    let runs = by("run");
    assert_eq!(
        (runs["items"].as_array().map(Vec::len), &runs["items"][0]["usage"]["calls"]),
        (Some(2), &json!(4))
    );
    server.get("/api/usage?group_by=moon").refused(400, "bad_query");
    let none = server.get("/api/usage?until=2020-01-01T00:00:00Z").expect(200);
    assert_eq!((&none["total"]["calls"], &none["items"]), (&json!(0), &json!([])));
    let disk = server.get("/api/usage/disk").expect(200);
    assert_eq!(disk["items"][0]["pipeline_id"], pipeline["pipeline_id"]);
    assert!(disk["bytes"].as_u64() > Some(0));
    assert_eq!(server.get("/api/usage/retention").expect(200)["folders"], json!([]));
}
