//! What a question looks like on Anthropic's wire.

use serde_json::{Map, Value, json};

use super::super::names::Effort;
use super::super::others::SIGNATURES;
use super::super::prices::{Known, Thinking};
use super::super::{Message, Part, Question, Speaker, turns};
use super::CITATIONS;

/// The body of a request.
pub(in super::super) fn body(
    question: &Question,
    model: &str,
    effort: Option<Effort>,
    known: Option<&Known>,
    search_domains: &[String],
) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("stream".to_owned(), json!(true));
    body.insert("max_tokens".to_owned(), json!(question.max_tokens));
    let system = system(&question.system);
    if !system.is_empty() {
        body.insert("system".to_owned(), Value::Array(system));
    }
    let tools = tools(question, search_domains);
    // Only what will be asked again is worth writing to a cache.
    let goes_on = !tools.is_empty() || question.messages.len() > 1;
    body.insert("messages".to_owned(), Value::Array(messages(&question.messages, goes_on)));
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    if let Some(name) = &question.must_call {
        force(&mut body, name, known);
    }
    let thinks = think(&mut body, question, effort, known);
    if let Some(temperature) = question.temperature
        && !thinks
        && known.is_none_or(|known| known.temperature)
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    Value::Object(body)
}

/// The last part changes from question to question, so the one before it ends what is worth keeping for
/// others, and the last what is worth keeping for this conversation.
fn system(parts: &[String]) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    let stable = blocks.len().saturating_sub(2);
    for block in &mut blocks[stable..] {
        keep(block);
    }
    blocks
}

fn keep(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn messages(conversation: &[Message], goes_on: bool) -> Vec<Value> {
    let mut messages: Vec<Value> = turns(conversation)
        .into_iter()
        .filter_map(|message| {
            let role = match message.role {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            };
            let content: Vec<Value> = message.content.iter().filter_map(block).collect();
            (!content.is_empty()).then(|| json!({"role": role, "content": content}))
        })
        .collect();
    let last = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut());
    if goes_on && let Some(last) = last {
        keep(last);
    }
    messages
}

/// Parts that Anthropic would refuse are left out: empty text, thoughts of others, and what only we know.
fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } if text.is_empty() => None,
        Part::Thinking { signature: None, .. } => None,
        Part::ToolUse { id, name, input } if !input.is_object() => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
        }
        Part::Other(value) if value["type"] == CITATIONS || value["type"] == SIGNATURES => None,
        Part::Text { .. }
        | Part::Thinking { .. }
        | Part::ToolUse { .. }
        | Part::ToolResult { .. }
        | Part::Other(_) => serde_json::to_value(part).ok(),
    }
}

fn tools(question: &Question, search_domains: &[String]) -> Vec<Value> {
    let mut tools: Vec<Value> = question
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
        })
        .collect();
    if question.web_search {
        let mut search = json!({"type": "web_search_20250305", "name": "web_search"});
        if !search_domains.is_empty() {
            search["allowed_domains"] = json!(search_domains);
        }
        tools.push(search);
    }
    tools
}

/// Makes the model call a tool. One that always thinks refuses to be made to and is asked to instead; its caller
/// must look whether it did.
fn force(body: &mut Map<String, Value>, name: &str, known: Option<&Known>) {
    if known.is_none_or(|known| known.thinking != Thinking::Always) {
        body.insert("tool_choice".to_owned(), json!({"type": "tool", "name": name}));
        return;
    }
    let last =
        body.get_mut("messages").and_then(Value::as_array_mut).and_then(|messages| messages.last_mut());
    if let Some(content) = last.and_then(|message| message["content"].as_array_mut()) {
        content.push(json!({"type": "text", "text": format!("Answer by calling the tool `{name}`.")}));
    }
}

/// Says how the model is to think, and whether it will. A model that is made to call a tool may not think.
fn think(
    body: &mut Map<String, Value>,
    question: &Question,
    effort: Option<Effort>,
    known: Option<&Known>,
) -> bool {
    let thinking = known.map(|known| known.thinking).unwrap_or_default();
    if question.must_call.is_some() && thinking != Thinking::Always {
        if thinking == Thinking::On {
            body.insert("thinking".to_owned(), json!({"type": "disabled"}));
        }
        return false;
    }
    let thinks_anyway = matches!(thinking, Thinking::On | Thinking::Always);
    if thinks_anyway {
        // Else its thoughts come empty.
        body.insert("thinking".to_owned(), json!({"type": "adaptive", "display": "summarized"}));
    }
    let Some(effort) = effort else { return thinks_anyway };
    let (word, budget) = match effort {
        Effort::Low => ("low", 2048),
        Effort::Medium => ("medium", 8192),
        Effort::High => ("high", 24_000),
    };
    match thinking {
        Thinking::Never => false,
        Thinking::Adaptive | Thinking::On | Thinking::Always => {
            body.insert("thinking".to_owned(), json!({"type": "adaptive", "display": "summarized"}));
            body.insert("output_config".to_owned(), json!({"effort": word}));
            true
        }
        Thinking::Budget => {
            // Thoughts count as part of the answer, and at least 1024 tokens are asked for: half is left for words.
            let budget = budget.min(question.max_tokens / 2);
            if budget < 1024 {
                return false;
            }
            body.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": budget}));
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::super::prices::Prices;
    use super::*;

    fn question() -> Question {
        Question {
            model: "claude-sonnet-4-5".to_owned(),
            system: vec![],
            messages: vec![Message::user("hello")],
            tools: vec![],
            web_search: false,
            must_call: None,
            max_tokens: 4096,
            temperature: Some(0.5),
        }
    }

    fn check(question: &Question, effort: Option<Effort>, wanted: &Expect) {
        let prices = Prices::built_in();
        let body = body(question, &question.model, effort, prices.known(&question.model), &[]);
        wanted.assert_eq(&body.to_string());
    }

    #[test]
    fn thoughts_fit_into_the_answer_and_leave_no_temperature() {
        check(
            &question(),
            Some(Effort::High),
            &expect![[
                r#"{"model":"claude-sonnet-4-5","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"thinking":{"type":"enabled","budget_tokens":2048}}"#
            ]],
        );
        let short = Question { max_tokens: 1000, ..question() };
        check(
            &short,
            Some(Effort::High),
            &expect![[
                r#"{"model":"claude-sonnet-4-5","stream":true,"max_tokens":1000,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"temperature":0.5}"#
            ]],
        );
        let adaptive = Question { model: "claude-opus-4-6".to_owned(), ..question() };
        check(
            &adaptive,
            Some(Effort::Low),
            &expect![[
                r#"{"model":"claude-opus-4-6","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}}"#
            ]],
        );
    }

    #[test]
    fn a_model_that_must_call_a_tool_does_not_think() {
        let forced = Question { must_call: Some("vote".to_owned()), ..question() };
        check(
            &forced,
            Some(Effort::High),
            &expect![[
                r#"{"model":"claude-sonnet-4-5","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"tool_choice":{"type":"tool","name":"vote"},"temperature":0.5}"#
            ]],
        );
        let on = Question { model: "claude-opus-5".to_owned(), ..forced.clone() };
        check(
            &on,
            None,
            &expect![[
                r#"{"model":"claude-opus-5","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"tool_choice":{"type":"tool","name":"vote"},"thinking":{"type":"disabled"}}"#
            ]],
        );
        let always = Question { model: "claude-opus-5-5".to_owned(), ..forced };
        let prices = Prices::built_in();
        let body = body(&always, &always.model, None, prices.known(&always.model), &[]);
        assert!(body["tool_choice"].is_null() && body["temperature"].is_null());
        assert_eq!(body["thinking"]["type"], "adaptive");
        assert_eq!(body["messages"][0]["content"][1]["text"], "Answer by calling the tool `vote`.");
    }

    #[test]
    fn a_search_keeps_to_the_domains_that_are_named() {
        let asked = Question { web_search: true, ..question() };
        let tools = |domains: &[String]| body(&asked, "m", None, None, domains)["tools"][0].clone();
        assert!(tools(&[]).get("allowed_domains").is_none());
        assert_eq!(tools(&["docs.rs".to_owned()])["allowed_domains"], json!(["docs.rs"]));
    }

    #[test]
    fn results_of_one_turn_are_one_message_and_come_first() {
        let result = |id: &str| Message {
            role: Speaker::User,
            content: vec![Part::ToolResult {
                tool_use_id: id.to_owned(),
                content: "ok".to_owned(),
                is_error: false,
            }],
        };
        let messages = vec![Message::user("go on"), result("a"), result("b")];
        check(
            &Question { messages, temperature: None, ..question() },
            None,
            &expect![[
                r#"{"model":"claude-sonnet-4-5","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"tool_result","tool_use_id":"b","content":"ok"},{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}]}"#
            ]],
        );
    }
}
