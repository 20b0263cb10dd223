//! Providers other than Anthropic, as the library translates them.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, MessageContent, ReasoningEffort,
    StopReason, StreamEnd, Tool, ToolCall, ToolChoice, ToolResponse,
};
use holdpoint_core::event::Usage;
use serde_json::{Value, json};

use super::names::{Effort, Named, Protocol};
use super::prices::Known;
use super::trouble::{Failed, by_event, not_understood};
use super::wire::Reader;
use super::{Answer, Delta, ErrorKind, Part, Question, Speaker, Stop, Told, turns};

/// The type of a part of ours that keeps what proves a call to Gemini. It goes back with the call.
pub(super) const SIGNATURES: &str = "thought_signatures";

/// What is asked, in the library's form.
pub(super) fn request(question: &Question, protocol: Protocol) -> ChatRequest {
    let mut request = ChatRequest::new(vec![]);
    let system: Vec<&str> =
        question.system.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if !system.is_empty() {
        request = request.with_system(system.join("\n\n"));
    }
    for message in turns(&question.messages) {
        match message.role {
            Speaker::Assistant => request = request.append_message(said(&message.content)),
            Speaker::User => request = request.append_messages(asked(&message.content, protocol)),
        }
    }
    let mut tools: Vec<Tool> = question
        .tools
        .iter()
        .map(|tool| {
            Tool::new(tool.name.clone())
                .with_description(tool.description.clone())
                .with_schema(tool.input_schema.clone())
        })
        .collect();
    if question.web_search && protocol.searches() {
        tools.push(Tool::new_web_search());
    }
    if tools.is_empty() { request } else { request.with_tools(tools) }
}

/// How it is asked, in the library's form.
pub(super) fn options(question: &Question, named: &Named<'_>, known: Option<&Known>) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_reasoning_content(true)
        .with_capture_tool_calls(named.protocol != Protocol::OpenAi)
        .with_capture_usage(true)
        .with_max_tokens(u32::try_from(question.max_tokens).unwrap_or(u32::MAX));
    if let Some(name) = &question.must_call {
        options = options.with_tool_choice(ToolChoice::Tool { name: name.clone() });
    }
    if let Some(temperature) = question.temperature
        && known.is_none_or(|known| known.temperature)
    {
        options = options.with_temperature(temperature);
    }
    let effort = match named.effort {
        Some(Effort::Low) => Some(ReasoningEffort::Low),
        Some(Effort::Medium) => Some(ReasoningEffort::Medium),
        Some(Effort::High) => Some(ReasoningEffort::High),
        // A number is not sent to OpenAI, but keeps the library from reading an effort out of names such as
        // `mistral-medium` and cutting it off.
        None if named.protocol == Protocol::OpenAi => Some(ReasoningEffort::Budget(0)),
        None => None,
    };
    if let Some(effort) = effort {
        options = options.with_reasoning_effort(effort);
    }
    options
}

/// What the model said before. Thoughts without a proof go back as they are; others know no proof.
fn said(content: &[Part]) -> ChatMessage {
    let mut parts = Vec::new();
    let mut signatures = None;
    for part in content {
        match part {
            Part::Text { text } => parts.push(ContentPart::Text(text.clone())),
            Part::Thinking { thinking, signature: None } => {
                parts.push(ContentPart::ReasoningContent(thinking.clone()));
            }
            Part::ToolUse { id, name, input } => parts.push(ContentPart::ToolCall(ToolCall {
                call_id: id.clone(),
                fn_name: name.clone(),
                fn_arguments: input.clone(),
                thought_signatures: signatures.take(),
            })),
            Part::Other(value) if value["type"] == SIGNATURES => {
                signatures = serde_json::from_value(value["signatures"].clone()).ok();
            }
            Part::Thinking { .. } | Part::ToolResult { .. } | Part::Other(_) => {}
        }
    }
    ChatMessage::assistant(MessageContent::from_parts(parts))
}

/// What the model is asked or told: first what came of its calls, then words.
fn asked(content: &[Part], protocol: Protocol) -> Vec<ChatMessage> {
    let mut results = Vec::new();
    let mut words = Vec::new();
    for part in content {
        match part {
            Part::ToolResult { tool_use_id, content, is_error } => {
                // Only Anthropic has a place for failure.
                let content = if *is_error { format!("error: {content}") } else { content.clone() };
                results.push(ToolResponse::new(tool_use_id.clone(), content));
            }
            Part::Text { text } => words.push(ContentPart::Text(text.clone())),
            Part::Thinking { .. } | Part::ToolUse { .. } | Part::Other(_) => {}
        }
    }
    let mut messages: Vec<ChatMessage> = match protocol {
        // The library would keep only the last of several.
        Protocol::Ollama => results.into_iter().map(ChatMessage::from).collect(),
        _ if results.is_empty() => Vec::new(),
        _ => vec![ChatMessage::from(results)],
    };
    if !words.is_empty() {
        messages.push(ChatMessage::user(MessageContent::from_parts(words)));
    }
    messages
}

/// Puts an answer together from what the library understood.
pub(super) struct AnswerReader {
    provider: String,
    protocol: Protocol,
    model: String,
    /// The calls, where the library does not gather them.
    calls: Calls,
    end: Option<StreamEnd>,
    begun: bool,
    /// Whether the provider said that this is all. The library takes any end of Ollama's and Gemini's for one.
    ended: bool,
}

impl AnswerReader {
    /// For an answer of the model that was asked.
    pub(super) fn new(named: &Named<'_>) -> Self {
        Self {
            provider: named.provider.to_owned(),
            protocol: named.protocol,
            model: named.model.to_owned(),
            calls: Calls::default(),
            end: None,
            begun: false,
            ended: !matches!(named.protocol, Protocol::Ollama | Protocol::Gemini),
        }
    }

    /// Takes a piece as the library understood it, after its frames.
    pub(super) fn event(&mut self, event: ChatStreamEvent, told: &Told<'_>) {
        match event {
            ChatStreamEvent::Chunk(chunk) => told(Delta::Text(chunk.content)),
            ChatStreamEvent::ReasoningChunk(chunk) => told(Delta::Thinking(chunk.content)),
            ChatStreamEvent::End(end) => self.end = Some(end),
            ChatStreamEvent::Start
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::Heartbeat => {}
        }
    }
}

impl Reader for AnswerReader {
    fn frame(&mut self, data: &str, _: &Told<'_>) -> Result<(), Failed> {
        let Ok(data) = serde_json::from_str::<Value>(data) else { return Ok(()) };
        if !data["error"].is_null() {
            return Err(by_event(&self.provider, &data));
        }
        self.begun |= ["choices", "candidates", "message"].iter().any(|name| !data[name].is_null());
        self.ended |= data["done"] == true || data["candidates"][0]["finishReason"].is_string();
        if let Some(why) = data["promptFeedback"]["blockReason"].as_str() {
            let message = format!("{} refused the question: {why}", self.provider);
            return Err(Failed::new(ErrorKind::Refused, message));
        }
        if let Some(model) = data["model"].as_str().or_else(|| data["modelVersion"].as_str()) {
            model.clone_into(&mut self.model);
        }
        if self.protocol == Protocol::OpenAi {
            let pieces = &data["choices"][0]["delta"]["tool_calls"];
            self.calls.take(pieces).map_err(|error| not_understood(&self.provider, error))?;
        }
        Ok(())
    }

    fn whole(&mut self) -> Result<Option<Answer>, Failed> {
        if !self.ended {
            return Ok(None);
        }
        let Some(end) = self.end.take() else { return Ok(None) };
        let stop = end.captured_stop_reason.as_ref().map(stop);
        let cut = matches!(stop, Some(Stop::MaxTokens));
        let mut content = Vec::new();
        if let Some(thinking) = end.captured_reasoning_content.filter(|thinking| !thinking.is_empty()) {
            content.push(Part::Thinking { thinking, signature: None });
        }
        let parts = end.captured_content.map(MessageContent::into_parts).unwrap_or_default();
        for part in parts.into_iter().chain(self.calls.finish()) {
            match part {
                ContentPart::Text(text) if !text.is_empty() => content.push(Part::Text { text }),
                ContentPart::ToolCall(call) => {
                    take_call(call, cut, self.protocol, &mut content)
                        .map_err(|error| not_understood(&self.provider, error))?;
                }
                _ => {}
            }
        }
        let calls = content.iter().any(|part| matches!(part, Part::ToolUse { .. }));
        // Some say that they are done, or have a word of their own, when they want tools.
        let stop = match stop {
            Some(Stop::EndTurn | Stop::Other(_)) | None if calls => Stop::ToolUse,
            Some(stop) => stop,
            None => Stop::EndTurn,
        };
        let usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
        let model = format!("{}/{}", self.provider, self.model);
        Ok(Some(Answer { content, stop, usage: Usage { calls: 1, ..usage }, model, scripted: false }))
    }

    fn begun(&self) -> bool {
        self.begun
    }
}

/// Calls as `OpenAI` sends them: in pieces, each with the number of its call.
///
/// The library would make room for all numbers up to the one that it is told, so it is kept from gathering them.
#[derive(Default)]
struct Calls(Vec<Call>);

struct Call {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    fn take(&mut self, pieces: &Value) -> Result<(), String> {
        /// More than any model calls at once.
        const MOST: u64 = 1024;
        for (place, piece) in pieces.as_array().into_iter().flatten().enumerate() {
            // Some leave the number out.
            let index = if piece["index"].is_null() { Some(place as u64) } else { piece["index"].as_u64() };
            let Some(index) = index.filter(|index| *index < MOST) else {
                return Err(format!("a call of a tool has the number {}", piece["index"]));
            };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (id, name) = (text(&piece["id"]), text(&piece["function"]["name"]));
            let call = self.of(index);
            if !name.is_empty() {
                call.name = name;
            }
            if !id.is_empty() {
                call.id = id;
            }
            call.arguments.push_str(piece["function"]["arguments"].as_str().unwrap_or_default());
        }
        Ok(())
    }

    fn of(&mut self, index: u64) -> &mut Call {
        let place = self.0.iter().position(|call| call.index == index).unwrap_or_else(|| {
            let id = format!("call_{index}");
            self.0.push(Call { index, id, name: String::new(), arguments: String::new() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    fn finish(&mut self) -> impl Iterator<Item = ContentPart> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|call| {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments));
            ContentPart::ToolCall(ToolCall {
                call_id: call.id,
                fn_name: call.name,
                fn_arguments: arguments,
                thought_signatures: None,
            })
        })
    }
}

/// A call that was cut for length is dropped: half of what a tool is given says nothing.
fn take_call(call: ToolCall, cut: bool, protocol: Protocol, content: &mut Vec<Part>) -> Result<(), String> {
    let input = match call.fn_arguments {
        Value::Object(input) => Value::Object(input),
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        _ if cut => return Ok(()),
        _ => return Err(format!("what the tool `{}` is given is no object", call.fn_name)),
    };
    if let Some(signatures) = call.thought_signatures.filter(|_| protocol == Protocol::Gemini) {
        content.push(Part::Other(json!({"type": SIGNATURES, "signatures": signatures})));
    }
    content.push(Part::ToolUse { id: call.call_id, name: call.fn_name, input });
    Ok(())
}

fn stop(reason: &StopReason) -> Stop {
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => Stop::EndTurn,
        StopReason::ToolCall(_) => Stop::ToolUse,
        StopReason::MaxTokens(_) => Stop::MaxTokens,
        StopReason::ContentFilter(_) => Stop::Refusal,
        StopReason::Other(word) => Stop::Other(word.clone()),
    }
}

/// The library counts tokens of a cache as tokens in as well; here they are counted once.
fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.map_or(0, |tokens| u64::try_from(tokens).unwrap_or(0));
    let details = usage.prompt_tokens_details.as_ref();
    let read = count(details.and_then(|details| details.cached_tokens));
    let written = count(details.and_then(|details| details.cache_creation_tokens));
    Usage {
        calls: 0,
        input_tokens: count(usage.prompt_tokens).saturating_sub(read + written),
        output_tokens: count(usage.completion_tokens),
        cache_read_tokens: read,
        cache_write_tokens: written,
        cost_micros: 0,
    }
}
