//! How agents talk: one alone, or several in one of the documented ways.
//!
//! A conversation is told anew from its beginning whenever it goes on; what was said and done before comes from
//! the journal under the same key, so nothing that was finished is asked, done or paid twice.

mod ask;
mod fit;
mod meta;
mod modes;
mod turn;

use std::time::Duration;

use futures_util::future::BoxFuture;
use holdpoint_core::definition::DiscussionMode;
use holdpoint_core::event::{FailureKind, Usage};
use serde_json::Value;

use crate::model::{Answer, Delta, Message, Model, ModelError, Part, Question, ToolSpec};
pub use ask::{Asked, ask_for};
pub use meta::{Made, make_agents};
pub use modes::discuss;

/// What a conversation is held at: it remembers, acts, and is heard.
pub trait Table: Send + Sync {
    /// The answer that was given under a key.
    fn recall_answer(&self, key: &str) -> Option<Answer>;
    /// The result of a tool under a key.
    fn recall_result(&self, key: &str) -> Option<Part>;
    /// What was told to an agent under a key.
    fn recall_words(&self, key: &str) -> Option<Heard>;
    /// What a recording says that people left at this place; it is told as if they left it now.
    fn play_note(&self, _key: &str) -> Option<Heard> {
        None
    }
    /// The answer that a recording gives in place of a model; none where models are asked.
    fn play(&self, _key: &str, _question: &Question) -> Option<Result<Answer, Halt>> {
        None
    }
    /// Writes an answer down; durable when this comes back.
    fn keep_answer<'a>(
        &'a self,
        key: &'a str,
        agent: &'a str,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Result<(), Halt>>;
    /// Writes down what an agent is told; durable when this comes back.
    fn keep_words<'a>(
        &'a self,
        key: &'a str,
        agent: &'a str,
        words: &'a Words<'a>,
    ) -> BoxFuture<'a, Result<(), Halt>>;
    /// Does what a tool is asked for and writes the result down; durable when this comes back.
    fn act<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Part, Halt>>;
    /// Everything that people have left for the agents so far.
    fn notes(&self) -> BoxFuture<'_, Result<Vec<String>, Halt>>;
    /// Hears what a model says while it says it.
    fn overhear(&self, agent: &str, delta: Delta);
    /// Hears that a question was made to fit by shortening this many of its parts.
    fn cut<'a>(&'a self, _agent: &'a str, _parts: usize) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }
    /// Hears that a provider had trouble and is left alone for a while.
    fn waits<'a>(
        &'a self,
        _agent: &'a str,
        _why: &'a str,
        _wait: Duration,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }
    /// Whether there may be another call, after what was spent.
    fn may_ask(&self, spent: Usage) -> BoxFuture<'_, Result<(), Halt>>;
}

/// What an agent is told.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The frame, where it is told.
    pub system: Option<&'a str>,
    /// The words.
    pub text: &'a str,
    /// How many notes of people are among them.
    pub notes: u32,
}

/// What an agent heard before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The words.
    pub text: String,
    /// How many notes of people were among them. Counting them in the text would count what a note quotes.
    pub notes: u32,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Where in the conversation.
    pub key: &'a str,
    /// Whose.
    pub agent: &'a str,
    /// Names the call.
    pub id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// What it is given.
    pub input: &'a Value,
}

/// Why a conversation ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// Its kind.
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
}

impl Halt {
    /// An end with a reason.
    pub fn new(kind: impl Into<FailureKind>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }
}

impl From<ModelError> for Halt {
    fn from(error: ModelError) -> Self {
        Self::new(error.kind.name(), error.message)
    }
}

/// One who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What it is called.
    pub name: String,
    /// What it is there for.
    pub role: Option<String>,
    /// Its frame, first to last.
    pub system: Vec<String>,
    /// Its first message: what it is given and its task.
    pub first: String,
}

/// What all agents of a conversation share.
#[derive(Clone)]
pub struct Setting<'a> {
    /// Who answers.
    pub model: &'a dyn Model,
    /// The model's name.
    pub model_name: &'a str,
    /// How many tokens an answer may have.
    pub max_tokens: u64,
    /// How free answers are.
    pub temperature: Option<f64>,
    /// What agents may call.
    pub tools: &'a [ToolSpec],
    /// Whether the model may search the web.
    pub web_search: bool,
    /// How many calls of tools one turn may have.
    pub tool_calls_per_turn: u32,
    /// How many tokens a question may have.
    pub max_context: u64,
    /// Where the conversation is held.
    pub table: &'a dyn Table,
}

/// How agents discuss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// In which way; none: one agent alone.
    pub mode: Option<DiscussionMode>,
    /// How many turns there may be.
    pub max_turns: u32,
}

/// What came of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The last words of the one who writes.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// What was left out, in words.
    pub left_out: Vec<String>,
}

/// One agent's view of a conversation: what it has heard and said.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub messages: Vec<Message>,
}

#[cfg(test)]
mod tests;
