//! Entries of an execution's journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Text, Usage};
use crate::{Digest, ExecNo, RunId};

/// What an execution's work said and did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// Which execution this journal belongs to.
    #[serde(rename = "journal")]
    Opened {
        /// The run.
        run: RunId,
        /// The execution's ordinal in it.
        x: ExecNo,
    },
    /// Lines of output.
    #[serde(rename = "log")]
    Log {
        /// How serious.
        level: Level,
        /// The text.
        text: Text,
        /// More.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// A message of a conversation, complete.
    #[serde(rename = "message")]
    Message {
        /// Whose, where several speak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Text>,
        /// In which role.
        role: MessageRole,
        /// The parts as the provider's protocol has them.
        content: Value,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Usage::is_zero")]
        usage: Usage,
    },
    /// A tool's result, before anything uses it.
    #[serde(rename = "tool")]
    ToolResult {
        /// The call that it answers.
        call: Text,
        /// The result.
        content: Value,
        /// The workspace afterwards, where the tool may have written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<Digest>,
    },
}

kinds!(Entry {
    Opened = "journal" => None,
    Log = "log" => None,
    Message = "message" => Some("execution.message"),
    ToolResult = "tool" => Some("execution.tool_result"),
});

/// How serious a line of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// For reading along.
    Info,
    /// Somebody should look.
    Warning,
    /// Something went wrong.
    Error,
}

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The one who asks.
    User,
    /// The model.
    Assistant,
    /// The frame.
    System,
}
