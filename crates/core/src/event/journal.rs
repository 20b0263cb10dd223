//! Entries of an execution's journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parts::{is_none_u32, is_one, one};
use super::{Text, Usage};
use crate::{Digest, ExecNo, PipelineId, RunId, SessionId, StepId};

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
        /// The pipeline that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pipeline: Option<PipelineId>,
        /// The step that it visits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<StepId>,
        /// The session that the run belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
    },
    /// How long work was done, up to its end or to a question.
    #[serde(rename = "took")]
    Took {
        /// Thousandths of a second.
        ms: u64,
    },
    /// An attempt's work, or its check, begins: what follows belongs to it.
    #[serde(rename = "work")]
    Began {
        /// The revision.
        #[serde(rename = "r", default, skip_serializing_if = "is_none_u32")]
        revision: u32,
        /// The attempt.
        #[serde(rename = "a", default = "one", skip_serializing_if = "is_one")]
        attempt: u32,
        /// Whether its outputs are checked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
    },
    /// Bytes that the work uses are these, whatever becomes of the file that they came from. A name that ends in `/`
    /// is a folder's, and the bytes are its files.
    #[serde(rename = "pinned")]
    Pinned {
        /// What they are called.
        name: Text,
        /// The bytes.
        digest: Digest,
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
        /// Where in the conversation it stands: whoever goes on after a crash looks here first.
        #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
        key: Option<Text>,
        /// How the answer ended, and who gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Value>,
        /// All of the content, where that is too much for the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more: Option<Digest>,
        /// Whether it is kept and not shown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hidden: bool,
        /// How many notes of people it hands on.
        #[serde(default, skip_serializing_if = "is_none_u32")]
        notes: u32,
    },
    /// A call of a tool outside begins that must not be made twice: without its result nobody knows what came of it.
    #[serde(rename = "calling")]
    Calling {
        /// Where in the conversation it stands.
        #[serde(rename = "k")]
        key: Text,
        /// The tool.
        tool: Text,
        /// Whose call it is.
        agent: Text,
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
        /// Where in the conversation it stands.
        #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
        key: Option<Text>,
        /// The tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<Text>,
        /// Whose call it was, where several speak.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Text>,
        /// Whether it failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        error: bool,
        /// All of the result, where that is too much for the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more: Option<Digest>,
        /// Whether it is kept and not shown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hidden: bool,
    },
}

kinds!(Entry {
    Opened = "journal" => None,
    Took = "took" => None,
    Began = "work" => None,
    Pinned = "pinned" => None,
    Log = "log" => None,
    Message = "message" => Some("execution.message"),
    Calling = "calling" => None,
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
