//! The protocols of `OpenAI`, Gemini and Ollama against a server on the loopback device.

mod loopback;

use holdpoint_agents::model::{Delta, ErrorKind, Message, Part, Providers, Question, Speaker, Stop};
use loopback::{Reply, Server, ask, question};
use serde_json::{Value, json};

fn sse(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect::<Vec<_>>().concat()
}

fn lines(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("{frame}\n")).collect::<Vec<_>>().concat()
}

fn call(id: &str, city: &str) -> Part {
    Part::ToolUse { id: id.to_owned(), name: "weather".to_owned(), input: json!({"city": city}) }
}

fn result(id: &str, content: &str) -> Part {
    Part::ToolResult { tool_use_id: id.to_owned(), content: content.to_owned(), is_error: false }
}

/// The question, what was answered, and what came of the calls.
fn second(first: Question, content: Vec<Part>, results: Vec<Part>) -> Question {
    let mut question = first;
    question.messages.push(Message { role: Speaker::Assistant, content });
    question.messages.push(Message { role: Speaker::User, content: results });
    question
}

fn openai_text() -> String {
    let frames = [
        json!({"model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]}),
        json!({"choices": [{"index": 0, "delta": {"content": "lo."}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 60}}}),
    ];
    sse(&frames) + "data: [DONE]\n\n"
}

fn openai_calls() -> String {
    let piece = |index: u32, id: Option<&str>, name: Option<&str>, arguments: &str| {
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}}]})
    };
    let frames = [
        piece(0, Some("c1"), Some("weather"), ""),
        piece(0, None, None, "{\"city\":"),
        piece(0, None, None, "\"Rome\"}"),
        piece(1, Some("c2"), Some("weather"), "{\"city\":\"Oslo\"}"),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    sse(&frames) + "data: [DONE]\n\n"
}

#[tokio::test]
async fn openai_says_and_calls() {
    let server = Server::start([Reply::stream(&[&openai_calls()]), Reply::stream(&[&openai_text()])]).await;
    let providers = Providers::new(server.settings());
    let first = question("openai/gpt-4o");
    let (answer, _) = ask(&providers, first.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!(
        (answer.stop, &answer.content),
        (Stop::ToolUse, &vec![call("c1", "Rome"), call("c2", "Oslo")])
    );

    let results = vec![result("c1", "20"), result("c2", "-3")];
    let (answer, told) = ask(&providers, second(first, answer.content, results)).await;
    let answer = answer.expect("an answer");
    assert_eq!(told, [Delta::Text("Hel".to_owned()), Delta::Text("lo.".to_owned())]);
    assert_eq!((answer.text().as_str(), answer.model.as_str()), ("Hello.", "openai/gpt-4o-2024-08-06"));
    let usage = answer.usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (40, 60, 10));
    // 40 × 2.5 + 60 × 1.25 + 10 × 10
    assert_eq!(usage.cost_micros, 100 + 75 + 100);

    let seen = &server.seen()[1];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.headers["authorization"], "Bearer sk-secret");
    let roles: Vec<_> =
        seen.body["messages"].as_array().expect("a list").iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(seen.body["messages"][2]["tool_calls"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen.body["messages"][4], json!({"role": "tool", "tool_call_id": "c2", "content": "-3"}));
    assert_eq!(seen.body["temperature"], 0.25);
    assert_eq!(seen.body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn any_other_provider_is_spoken_to_as_openai() {
    let server = Server::start([Reply::stream(&[&openai_text()])]).await;
    let mut settings = server.settings();
    if let Some(local) = settings.providers.get_mut("local") {
        local.api_key = None;
        local.base_url = Some(format!("{}/v1/", server.url));
    }
    let asked = Question { must_call: Some("weather".to_owned()), ..question("local/mistral-medium") };
    let (answer, _) = ask(&Providers::new(settings), asked).await;
    assert_eq!(answer.expect("an answer").usage.cost_micros, 0, "its price is not known");
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.body["model"], "mistral-medium");
    assert!(seen.body["reasoning_effort"].is_null());
    assert_eq!(seen.body["tool_choice"], json!({"type": "function", "function": {"name": "weather"}}));
    assert!(!seen.headers.contains_key("authorization"));
}

#[tokio::test]
async fn openai_cut_off_is_tried_again() {
    let cut = openai_text().replace("data: [DONE]\n\n", "");
    let error = sse(&[json!({"error": {"message": "The server had an error", "type": "server_error"}})]);
    let replies = [cut, error, openai_text()].map(|body| Reply::stream(&[&body]));
    let server = Server::start(replies).await;
    let (answer, told) = ask(&Providers::new(server.settings()), question("openai/gpt-4o")).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert_eq!(told[2], Delta::Again);
}

#[tokio::test]
async fn ollama_says_and_calls() {
    let calls = lines(&[
        json!({"model": "qwen3", "message": {"role": "assistant", "thinking": "Two cities."}, "done": false}),
        json!({"model": "qwen3", "message": {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c1", "function": {"name": "weather", "arguments": {"city": "Rome"}}},
            {"id": "c2", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}]}, "done": false}),
        json!({"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 30, "eval_count": 7}),
    ]);
    let text = lines(&[
        json!({"model": "qwen3", "message": {"role": "assistant", "content": "Hel"}, "done": false}),
        json!({"model": "qwen3", "message": {"role": "assistant", "content": "lo."}, "done": false}),
        json!({"model": "qwen3", "message": {"content": ""}, "done": true, "done_reason": "stop"}),
    ]);
    let cut = lines(&[json!({"model": "qwen3", "message": {"content": "Hel"}, "done": false})]);
    let failed = lines(&[json!({"error": "model runner has unexpectedly stopped"})]);
    let server = Server::start([calls, cut, failed, text].map(|body| Reply::stream(&[&body]))).await;
    let providers = Providers::new(server.settings());
    let first = question("ollama/qwen3");
    let (answer, told) = ask(&providers, first.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!(told, [Delta::Thinking("Two cities.".to_owned())]);
    let thought = Part::Thinking { thinking: "Two cities.".to_owned(), signature: None };
    assert_eq!(answer.content, [thought, call("c1", "Rome"), call("c2", "Oslo")]);
    assert_eq!((answer.stop, answer.usage.input_tokens), (Stop::ToolUse, 30));

    let results = vec![result("c1", "20"), result("c2", "-3")];
    let (answer, told) = ask(&providers, second(first, answer.content, results)).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert_eq!(told[..2], [Delta::Text("Hel".to_owned()), Delta::Again]);
    let seen = &server.seen()[3];
    assert_eq!(seen.path, "/api/chat");
    let contents: Vec<_> =
        seen.body["messages"].as_array().expect("a list").iter().map(|m| m["content"].clone()).collect();
    assert_eq!(contents[3..], ["20", "-3"]);
}

#[tokio::test]
async fn gemini_says_and_calls() {
    let part = |part: Value, finish: Option<&str>| {
        json!({"modelVersion": "gemini-2.5-pro", "candidates": [{"content": {"role": "model", "parts": [part]},
            "finishReason": finish}],
            "usageMetadata": {"promptTokenCount": 50, "cachedContentTokenCount": 20, "candidatesTokenCount": 5}})
    };
    let calls = sse(&[part(
        json!({"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Rome"}}, "thoughtSignature": "c2ln"}),
        Some("STOP"),
    )]);
    let text = sse(&[part(json!({"text": "Hel"}), None), part(json!({"text": "lo."}), Some("STOP"))]);
    let cut = sse(&[part(json!({"text": "Hel"}), None)]);
    let server = Server::start([calls, cut, text].map(|body| Reply::stream(&[&body]))).await;
    let providers = Providers::new(server.settings());
    let first = question("gemini/gemini-2.5-pro");
    let (answer, _) = ask(&providers, first.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.content.last(), Some(&call("c1", "Rome")));
    assert_eq!(answer.stop, Stop::ToolUse);
    let usage = answer.usage;
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (30, 20, 5));

    let (answer, told) = ask(&providers, second(first, answer.content, vec![result("c1", "20")])).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert_eq!(told[1], Delta::Again);
    let seen = &server.seen()[1];
    assert_eq!(seen.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    assert_eq!(seen.headers["x-goog-api-key"], "sk-secret");
    let sent = seen.body["contents"].to_string();
    assert!(sent.contains(r#""thoughtSignature":"c2ln""#), "{sent}");
    assert!(sent.contains(r#""functionResponse":{"#), "{sent}");
}

#[tokio::test]
async fn a_question_that_gemini_blocks_is_refused() {
    let blocked = sse(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    let server = Server::start([Reply::stream(&[&blocked])]).await;
    let (answer, _) = ask(&Providers::new(server.settings()), question("gemini/gemini-2.5-pro")).await;
    let error = answer.expect_err("no answer");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Refused, "gemini refused the question: SAFETY")
    );
}

#[tokio::test]
async fn a_wrong_key_is_one_everywhere() {
    for model in ["openai/gpt-4o", "gemini/gemini-2.5-pro", "ollama/qwen3"] {
        let refused = Reply::Status(403, None, r#"{"error": {"message": "no: sk-secret"}}"#.to_owned());
        let server = Server::start([refused]).await;
        let error = ask(&Providers::new(server.settings()), question(model)).await.0.expect_err("no answer");
        assert_eq!(error.kind, ErrorKind::Key);
        assert!(error.message.ends_with("refused the key (HTTP 403): no: …"), "{error}");
    }
}

fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("read");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("there");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
}

#[tokio::test]
async fn what_has_no_end_is_cut_and_takes_no_memory() {
    let long = axum::body::Bytes::from(vec![b'x'; 1 << 20]);
    let frame = format!("{{\"pad\": \"{}\"}}\n\n", "y".repeat(65_536));
    for model in ["openai/gpt-4o", "gemini/gemini-2.5-pro", "ollama/qwen3", "local/x"] {
        let mark = if model.starts_with("ollama") { "" } else { "data: " };
        let lines = axum::body::Bytes::from(format!("{mark}{frame}"));
        // A line of 100 MB, an endless stream of lines, and an error with a body of 100 MB.
        let replies = [(200, &long, 100), (200, &lines, usize::MAX), (400, &long, 100)];
        for (status, piece, times) in replies {
            // Gemini's frames are no lines: the library hangs up at once, which counts as a cut and is tried again.
            let hangs_up = model.starts_with("gemini") && times == usize::MAX;
            let tries = if hangs_up { 5 } else { 1 };
            let server = Server::start(vec![Reply::Many(status, piece.clone(), times); tries]).await;
            let before = resident_kb();
            let (answer, _) = ask(&Providers::new(server.settings()), question(model)).await;
            let error = answer.expect_err("no answer");
            let kind = if status == 200 { ErrorKind::Garbled } else { ErrorKind::Refused };
            let grown = resident_kb().saturating_sub(before);
            assert!(grown < 96 * 1024, "{model} {status} {times}: {grown} KiB");
            if !hangs_up {
                assert_eq!(error.kind, kind, "{model} {status} {times}: {error}");
            }
            assert_eq!(server.seen().len(), tries, "{model}: {error}");
        }
    }
}
