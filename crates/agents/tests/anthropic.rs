//! Anthropic's protocol against a server on the loopback device.

mod loopback;

use expect_test::expect;
use holdpoint_agents::model::{Delta, Message, Part, Providers, Question, Speaker, Stop};
use loopback::{
    Reply, Server, ask, ask_claude, event, hello, message, question, start, text_block, tool_block,
};
use serde_json::json;

#[tokio::test]
async fn text_is_told_as_it_comes_and_counted_once() {
    let server = Server::start([hello()]).await;
    let (answer, told) = ask_claude(&server).await;
    let answer = answer.expect("an answer");
    assert_eq!(told, [Delta::Text("Hel".to_owned()), Delta::Text("lo.".to_owned())]);
    assert_eq!(answer.text(), "Hello.");
    assert_eq!(answer.stop, Stop::EndTurn);
    assert_eq!(answer.model, "anthropic/claude-sonnet-4-5-20250929");
    let usage = answer.usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (1, 10, 20));
    assert_eq!((usage.cache_read_tokens, usage.cache_write_tokens), (1000, 200));
    // 10 × 3 + 20 × 15 + 1000 × 0.3 + 200 × 3.75
    assert_eq!(usage.cost_micros, 30 + 300 + 300 + 750);
}

#[tokio::test]
async fn the_request_has_key_cache_and_tools() {
    let server = Server::start([hello()]).await;
    let (answer, _) = ask_claude(&server).await;
    answer.expect("an answer");
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.headers["x-api-key"], "sk-secret");
    assert_eq!(seen.headers["anthropic-version"], "2023-06-01");
    expect![[r#"
        {
          "model": "claude-sonnet-4-5",
          "stream": true,
          "max_tokens": 500,
          "system": [
            {
              "type": "text",
              "text": "You are terse.",
              "cache_control": {
                "type": "ephemeral"
              }
            },
            {
              "type": "text",
              "text": "Today it rains.",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "How warm is it?",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            }
          ],
          "tools": [
            {
              "name": "weather",
              "description": "Tells the weather.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "city": {
                    "type": "string"
                  }
                }
              }
            }
          ],
          "temperature": 0.25
        }"#]]
    .assert_eq(&format!("{:#}", seen.body));
}

#[tokio::test]
async fn a_call_comes_in_fragments_cut_anywhere() {
    let whole = message(&[tool_block("t1", "weather", &["{\"ci", "ty\": \"Zü", "rich\"}"])], "tool_use");
    // Three bytes at a time cut events, lines and letters.
    let pieces = whole.into_bytes().chunks(3).map(|piece| piece.to_vec().into()).collect();
    let server = Server::start([Reply::Stream(pieces)]).await;
    let (answer, told) = ask_claude(&server).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.stop, Stop::ToolUse);
    assert_eq!(told, []);
    assert_eq!(
        answer.content,
        [Part::ToolUse {
            id: "t1".to_owned(), name: "weather".to_owned(), input: json!({"city": "Zürich"})
        }]
    );
}

#[tokio::test]
async fn thoughts_and_parallel_calls_go_back_in_their_order() {
    let blocks = [
        (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": "Two "}),
                json!({"type": "thinking_delta", "thinking": "cities."}),
                json!({"type": "signature_delta", "signature": "c2ln"}),
            ],
        ),
        (json!({"type": "redacted_thinking", "data": "eHl6"}), vec![]),
        text_block(&["Looking."]),
        tool_block("t1", "weather", &["{\"city\":", "\"Rome\"}"]),
        tool_block("t2", "weather", &["{\"city\":\"Oslo\"}"]),
        tool_block("t3", "weather", &[]),
    ];
    let server = Server::start([Reply::stream(&[&message(&blocks, "tool_use")]), hello()]).await;
    let providers = Providers::new(server.settings());
    let first = Question { model: "claude-sonnet-4-5@high".to_owned(), max_tokens: 8000, ..question("") };
    let (answer, told) = ask(&providers, first.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!(told[..2], [Delta::Thinking("Two ".to_owned()), Delta::Thinking("cities.".to_owned())]);

    let result = |id: &str, content: &str, is_error| Message {
        role: Speaker::User,
        content: vec![Part::ToolResult { tool_use_id: id.to_owned(), content: content.to_owned(), is_error }],
    };
    let mut second = first;
    // As a journal would keep it.
    let kept = serde_json::to_string(&Message { role: Speaker::Assistant, content: answer.content });
    second.messages.push(serde_json::from_str(&kept.expect("JSON")).expect("a message"));
    second.messages.extend([
        result("t1", "20", false),
        result("t2", "no data", true),
        result("t3", "?", false),
    ]);
    ask(&providers, second).await.0.expect("an answer");

    let body = &server.seen()[1].body;
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 4000}));
    assert!(body["temperature"].is_null());
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "Two cities.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "eHl6"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}},
            {"type": "tool_use", "id": "t2", "name": "weather", "input": {"city": "Oslo"}},
            {"type": "tool_use", "id": "t3", "name": "weather", "input": {}},
        ])
    );
    assert_eq!(
        body["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "t1", "content": "20"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no data", "is_error": true},
            {"type": "tool_result", "tool_use_id": "t3", "content": "?", "cache_control": {"type": "ephemeral"}},
        ])
    );
}

#[tokio::test]
async fn a_search_of_the_models_own_is_kept_and_goes_back() {
    let blocks = [
        (
            json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": "{\"query\":\"rome\"}"})],
        ),
        (
            json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                {"type": "web_search_result", "url": "https://example.org", "title": "Rome", "encrypted_content": "eA=="}]}),
            vec![],
        ),
        (
            json!({"type": "text", "text": ""}),
            vec![
                json!({"type": "text_delta", "text": "Warm."}),
                json!({"type": "citations_delta", "citation": {"type": "web_search_result_location",
                    "url": "https://example.org"}}),
            ],
        ),
    ];
    let server = Server::start([Reply::stream(&[&message(&blocks, "end_turn")]), hello()]).await;
    let providers = Providers::new(server.settings());
    let mut asked =
        Question { web_search: true, must_call: Some("weather".to_owned()), ..question("claude-sonnet-4-5") };
    let (answer, _) = ask(&providers, asked.clone()).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.text(), "Warm.");
    asked.messages.push(Message { role: Speaker::Assistant, content: answer.content });
    asked.messages.push(Message::user("Sure?"));
    ask(&providers, asked).await.0.expect("an answer");

    let body = &server.seen()[1].body;
    assert_eq!(body["tools"][1], json!({"type": "web_search_20250305", "name": "web_search"}));
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "weather"}));
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0]["input"], json!({"query": "rome"}));
    assert_eq!(content[1]["content"][0]["encrypted_content"], "eA==");
    assert_eq!(content[2], json!({"type": "text", "text": "Warm."}));
    assert_eq!(content.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn pings_comments_and_new_events_do_no_harm() {
    let whole = message(&[text_block(&["Hello."])], "end_turn");
    let noise =
        [": keep-alive\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", &event(&json!({"type": "news"}))]
            .concat();
    let body = whole.replace("event: content_block_stop", &format!("{noise}event: content_block_stop"));
    let server = Server::start([Reply::stream(&[&body.replace('\n', "\r\n")])]).await;
    assert_eq!(ask_claude(&server).await.0.expect("an answer").text(), "Hello.");
}

#[tokio::test]
async fn an_answer_that_was_too_long_has_no_half_call() {
    let blocks = [text_block(&["I call."]), tool_block("t1", "weather", &["{\"city\": \"Ro"])];
    let server = Server::start([Reply::stream(&[&message(&blocks, "max_tokens")])]).await;
    let answer = ask_claude(&server).await.0.expect("an answer");
    assert_eq!((answer.stop, answer.content.len()), (Stop::MaxTokens, 1));
}

#[tokio::test]
async fn a_refusal_is_one() {
    let server = Server::start([Reply::stream(&[&message(&[], "refusal")])]).await;
    assert_eq!(ask_claude(&server).await.0.expect("an answer").stop, Stop::Refusal);
    assert!(start().contains("message_start"));
}
