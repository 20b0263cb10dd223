//! An answer as it arrives on Anthropic's wire, block by block.

use holdpoint_core::event::Usage;
use serde_json::{Value, json};

use super::super::trouble::{Failed, by_event, not_understood};
use super::super::wire::Reader;
use super::super::{Answer, Delta, Part, Stop, Told};
use super::CITATIONS;

/// Puts an answer of Anthropic's together.
pub(in super::super) struct AnswerReader {
    provider: String,
    model: String,
    blocks: Vec<Block>,
    stop: Option<String>,
    usage: Usage,
    begun: bool,
    ended: bool,
}

/// A block that is still being written.
struct Block {
    index: u64,
    /// What it began with.
    start: Value,
    /// Its text or thoughts.
    text: String,
    signature: String,
    /// What a tool is given, as far as it is written.
    input: String,
    citations: Vec<Value>,
}

impl AnswerReader {
    /// For an answer of the model that was asked.
    pub(in super::super) fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            blocks: Vec::new(),
            stop: None,
            usage: Usage { calls: 1, ..Usage::default() },
            begun: false,
            ended: false,
        }
    }

    fn start_block(&mut self, data: &Value, told: &Told<'_>) {
        let start = data["content_block"].clone();
        let text = |name: &str| start[name].as_str().unwrap_or_default().to_owned();
        let written = if start["type"] == "thinking" { text("thinking") } else { text("text") };
        let block = Block {
            index: data["index"].as_u64().unwrap_or(self.blocks.len() as u64),
            text: String::new(),
            signature: text("signature"),
            input: String::new(),
            citations: Vec::new(),
            start,
        };
        self.blocks.push(block);
        if let Some(block) = self.blocks.last_mut() {
            block.write(written, told);
        }
    }

    fn extend_block(&mut self, data: &Value, told: &Told<'_>) -> Result<(), Failed> {
        let index = data["index"].as_u64();
        let Some(block) = self.blocks.iter_mut().rev().find(|block| Some(block.index) == index) else {
            return Err(not_understood(&self.provider, "a piece belongs to no block"));
        };
        let delta = &data["delta"];
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => block.write(text("text").to_owned(), told),
            "thinking_delta" => block.write(text("thinking").to_owned(), told),
            "signature_delta" => block.signature.push_str(text("signature")),
            "input_json_delta" => block.input.push_str(text("partial_json")),
            "citations_delta" => block.citations.push(delta["citation"].clone()),
            // New kinds of pieces may come; what they belong to is still whole without them.
            _ => {}
        }
        Ok(())
    }

    /// Counts come at the start and again, complete, at the end.
    fn count(&mut self, usage: &Value) {
        let fields = [
            ("input_tokens", &mut self.usage.input_tokens),
            ("output_tokens", &mut self.usage.output_tokens),
            ("cache_read_input_tokens", &mut self.usage.cache_read_tokens),
            ("cache_creation_input_tokens", &mut self.usage.cache_write_tokens),
        ];
        for (name, field) in fields {
            if let Some(tokens) = usage[name].as_u64() {
                *field = tokens;
            }
        }
    }

    fn stop(&self, content: &[Part]) -> Stop {
        match self.stop.as_deref() {
            Some("end_turn" | "stop_sequence") => Stop::EndTurn,
            Some("tool_use") => Stop::ToolUse,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::MaxTokens,
            Some("refusal") => Stop::Refusal,
            Some(other) => Stop::Other(other.to_owned()),
            None if content.iter().any(|part| matches!(part, Part::ToolUse { .. })) => Stop::ToolUse,
            None => Stop::EndTurn,
        }
    }
}

impl Reader for AnswerReader {
    fn frame(&mut self, data: &str, told: &Told<'_>) -> Result<(), Failed> {
        let data: Value =
            serde_json::from_str(data).map_err(|error| not_understood(&self.provider, error))?;
        match data["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.begun = true;
                if let Some(model) = data["message"]["model"].as_str() {
                    model.clone_into(&mut self.model);
                }
                self.count(&data["message"]["usage"]);
            }
            "content_block_start" => {
                self.begun = true;
                self.start_block(&data, told);
            }
            "content_block_delta" => self.extend_block(&data, told)?,
            "message_delta" => {
                if let Some(stop) = data["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop.to_owned());
                }
                self.count(&data["usage"]);
            }
            "message_stop" => self.ended = true,
            "error" => return Err(by_event(&self.provider, &data)),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self) -> Result<Option<Answer>, Failed> {
        if !self.ended {
            return Ok(None);
        }
        let cut = matches!(self.stop(&[]), Stop::MaxTokens);
        let mut content = Vec::new();
        for block in std::mem::take(&mut self.blocks) {
            block.finish(cut, &mut content).map_err(|error| not_understood(&self.provider, error))?;
        }
        let stop = self.stop(&content);
        let model = format!("{}/{}", self.provider, self.model);
        Ok(Some(Answer { content, stop, usage: self.usage, model, scripted: false }))
    }

    fn begun(&self) -> bool {
        self.begun
    }
}

impl Block {
    fn write(&mut self, piece: String, told: &Told<'_>) {
        if piece.is_empty() {
            return;
        }
        self.text.push_str(&piece);
        told(if self.start["type"] == "thinking" { Delta::Thinking(piece) } else { Delta::Text(piece) });
    }

    /// Turns a block into parts. A call that was cut for length is dropped: half of what a tool is given says
    /// nothing.
    fn finish(mut self, cut: bool, content: &mut Vec<Part>) -> Result<(), serde_json::Error> {
        let input = match serde_json::from_str::<Value>(&self.input) {
            _ if self.input.trim().is_empty() => None,
            Ok(input) => Some(input),
            Err(_) if cut => return Ok(()),
            Err(error) => return Err(error),
        };
        match self.start["type"].as_str().unwrap_or_default() {
            "text" => {
                if !self.text.is_empty() {
                    content.push(Part::Text { text: self.text });
                }
                if !self.citations.is_empty() {
                    content.push(Part::Other(json!({"type": CITATIONS, "citations": self.citations})));
                }
            }
            "thinking" => {
                let signature = (!self.signature.is_empty()).then_some(self.signature);
                content.push(Part::Thinking { thinking: self.text, signature });
            }
            "tool_use" => {
                let text = |name: &str| self.start[name].as_str().unwrap_or_default().to_owned();
                let begun = self.start["input"].clone();
                let input = input.unwrap_or(if begun.is_object() { begun } else { json!({}) });
                content.push(Part::ToolUse { id: text("id"), name: text("name"), input });
            }
            _ => {
                if let Some(input) = input {
                    self.start["input"] = input;
                }
                content.push(Part::Other(self.start));
            }
        }
        Ok(())
    }
}
