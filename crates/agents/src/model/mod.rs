//! Calling a model: one question with everything that it needs, one complete answer.
//!
//! The parts of messages have the shape of Anthropic's protocol, which is what journals keep and people see;
//! other providers are translated from and to it.

mod anthropic;
mod client;
mod library;
mod names;
mod others;
mod prices;
mod relay;
mod replay;
mod script;
mod settings;
mod sse;
mod trouble;
mod wire;

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use holdpoint_core::event::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use client::Providers;
pub use prices::{Price, Prices, price_of};
pub use replay::{Replay, digest};
pub use settings::{Delays, Provider, Secret, Settings};

/// Answers questions. One per configuration; cheap to share.
pub trait Model: Send + Sync {
    /// Asks a model and waits for its whole answer. What arrives meanwhile is told to `told`. Overload and cut
    /// answers were tried again before an error comes back.
    fn ask<'a>(&'a self, question: Question, told: &'a Told<'a>)
    -> BoxFuture<'a, Result<Answer, ModelError>>;

    /// Whether the model named so can search the web by itself.
    fn can_search(&self, model: &str) -> bool;
}

/// Hears what a model says while it says it.
pub type Told<'a> = dyn Fn(Delta) + Send + Sync + 'a;

/// A piece of an answer that is still being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Text.
    Text(String),
    /// Thoughts.
    Thinking(String),
    /// The answer begins anew: what came before is void.
    Again,
    /// The provider had trouble, and is asked again after a while.
    Waits {
        /// One sentence, without secrets.
        why: String,
        /// How long it is left alone.
        wait: Duration,
    },
}

/// One question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// `provider/model`, or a bare name of Anthropic's.
    pub model: String,
    /// The frame, first to last; the parts before the last are the same from question to question.
    pub system: Vec<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may search the web by itself.
    pub web_search: bool,
    /// The tool that it must call, if any.
    pub must_call: Option<String>,
    /// How many tokens the answer may have.
    pub max_tokens: u64,
    /// How free it is.
    pub temperature: Option<f64>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The one who asks, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// What is said.
    pub content: Vec<Part>,
}

impl Message {
    /// Words of the one who asks.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Speaker::User, content: vec![Part::Text { text: text.into() }] }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought, to be handed back unchanged.
    Thinking {
        /// The thoughts.
        thinking: String,
        /// What proves them to the provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A call of a tool.
    ToolUse {
        /// Names the call.
        id: String,
        /// The tool.
        name: String,
        /// What it is given.
        input: Value,
    },
    /// What came of a call.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// The result.
        content: String,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// Anything else that a provider sends, to be handed back unchanged.
    #[serde(untagged)]
    Other(Value),
}

/// Something that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of what it is given.
    pub input_schema: Value,
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was said.
    pub content: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it cost.
    pub usage: Usage,
    /// Who really answered.
    pub model: String,
    /// Whether it was played from a file or a recording, and no model was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scripted: bool,
}

impl Answer {
    /// All its text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Thinking { .. } | Part::ToolUse { .. } | Part::ToolResult { .. } | Part::Other(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was done.
    EndTurn,
    /// It wants tools.
    ToolUse,
    /// It was too long.
    MaxTokens,
    /// The model would not.
    Refusal,
    /// Something else, in the provider's word.
    Other(String),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// A stable word.
    pub kind: ErrorKind,
    /// One sentence, without secrets.
    pub message: String,
    /// The provider's status, if it answered.
    pub status: Option<u16>,
    /// How long it asked to be left alone.
    pub retry_after: Option<Duration>,
}

/// What kind of trouble there was with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Too many requests, or too much load (429, 529, 503).
    Overloaded,
    /// The provider failed (other 5xx).
    Provider,
    /// The answer broke off.
    CutOff,
    /// Nobody was reached, or nothing came in time.
    Unreachable,
    /// The key was missing or refused (401, 403).
    Key,
    /// The question was refused (other 4xx).
    Refused,
    /// What came was not understood, or was too large.
    Garbled,
    /// The provider, or the model of a provider, is not known here.
    Unknown,
}

impl ErrorKind {
    /// The word that people and tables see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overloaded => "model_overloaded",
            Self::Provider => "model_failed",
            Self::CutOff => "model_cut_off",
            Self::Unreachable => "model_unreachable",
            Self::Key => "model_key",
            Self::Refused => "model_refused",
            Self::Garbled => "model_garbled",
            Self::Unknown => "model_unknown",
        }
    }

    /// Whether trying again may help.
    pub fn passes(self) -> bool {
        match self {
            Self::Overloaded | Self::Provider | Self::CutOff | Self::Unreachable | Self::Garbled => true,
            Self::Key | Self::Refused | Self::Unknown => false,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

/// A conversation as turns: what one speaker says in a row is one message, and what came of calls stands
/// before words, as providers want it.
fn turns(conversation: &[Message]) -> Vec<Message> {
    let mut turns: Vec<Message> = Vec::new();
    for message in conversation {
        match turns.last_mut() {
            Some(last) if last.role == message.role => last.content.extend(message.content.iter().cloned()),
            _ => turns.push(message.clone()),
        }
    }
    for turn in turns.iter_mut().filter(|turn| turn.role == Speaker::User) {
        turn.content.sort_by_key(|part| !matches!(part, Part::ToolResult { .. }));
    }
    turns
}
