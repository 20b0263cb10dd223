//! What was said in an execution, a page at a time.
//!
//! A page is read from its own end of the journal, so that it costs the same however much was said before or after it.

use std::collections::VecDeque;

use holdpoint_core::event::{Entry, Event, MessageRole};
use holdpoint_core::{Digest, ExecutionId, Seq, StreamId, Version};
use holdpoint_store::{EventFilter, Query};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::event::event_id;
use super::lists::Order;
use super::{Bounds, Listed, Position, Time, UsageDocument};
use crate::live::{Recorded, recorded};
use crate::{Engine, SubmitError};

/// How many rows are read at once, at least and at most.
const ROWS: std::ops::RangeInclusive<u32> = 8..=500;
/// How many rows behind a page are looked through for results of tools that its messages call. Agents that speak at once
/// come in between; a call that was cut off has no result.
const ROWS_BEHIND: u32 = 50;
/// The entries of a journal that a conversation consists of.
const KINDS: [&str; 2] = ["message", "tool"];

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Message {
    /// Its id, which is also that of its event.
    pub message_id: String,
    /// When.
    pub timestamp: Time,
    /// Who speaks, where several do.
    pub agent_name: Option<String>,
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// The text; empty where it is not shown.
    pub content: String,
    /// The parts as the provider has them; null where they are not shown.
    pub parts: Value,
    /// What came of the tools that it calls; empty where they are not shown.
    pub tool_results: Vec<ToolResult>,
    /// Whether the conversation is shown (`show_conversation`). One that is not is kept all the same, and an admin reads
    /// it with `/conversation`.
    pub shown: bool,
    /// What it cost.
    pub usage: UsageDocument,
    /// The model that said it; none for what agents are told.
    pub model: Option<String>,
    /// Whether it was played from a file or a recording, and no model was asked.
    pub scripted: bool,
}

/// What came of the call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ToolResult {
    /// The call, as the message's parts name it.
    pub tool_use_id: String,
    /// The tool.
    pub tool: Option<String>,
    /// What the agent was told.
    pub content: String,
    /// Whether it failed or was refused.
    pub is_error: bool,
}

/// A message, and where it stands.
struct Said {
    seq: Seq,
    version: Version,
    message: Message,
}

/// An entry of a conversation.
enum Spoken {
    Message(Box<Said>),
    Result(ToolResult),
}

impl Engine {
    /// What was said in an execution. What its definition does not show has its words only where `all` is wanted.
    pub async fn conversation(
        &self,
        id: ExecutionId,
        all: bool,
        order: Order,
        bounds: Bounds,
    ) -> Result<Listed<Message>, SubmitError> {
        let limit = bounds.limit.max(1) as usize;
        let mut said = match order {
            Order::Oldest => self.said_after(id, all, bounds.after, limit).await?,
            Order::Newest => self.said_before(id, all, bounds.after, limit).await?,
        };
        let more = said.len() > limit;
        said.truncate(limit);
        let next = said.back().filter(|_| more).map(|last| match order {
            Order::Oldest => Position { seq: last.version.0, n: 0 },
            Order::Newest => Position { seq: last.seq.0, n: 0 },
        });
        Ok(Listed { items: said.into_iter().map(|said| said.message).collect(), next })
    }

    /// Messages after a version of the journal, oldest first, one more than the limit if there are so many.
    async fn said_after(
        &self,
        id: ExecutionId,
        all: bool,
        after: Option<Position>,
        limit: usize,
    ) -> Result<VecDeque<Said>, SubmitError> {
        let mut said = VecDeque::new();
        let from = after.map_or(Version(0), |after| Version(after.seq));
        let mut read = from;
        while said.len() <= limit {
            let asked = rows_for(limit + 1 - said.len());
            let rows = self.log().read(StreamId::Journal(id), read, asked).await?;
            for row in &rows {
                read = row.last();
                for each in recorded(row)? {
                    // A row that a page ends in comes again.
                    if each.version <= from {
                        continue;
                    }
                    match self.spoken(each, all).await? {
                        Some(Spoken::Message(message)) => said.push_back(*message),
                        Some(Spoken::Result(result)) => drop(answer_call(said.iter_mut().rev(), result)),
                        None => {}
                    }
                }
            }
            if rows.len() < asked as usize {
                return Ok(said);
            }
        }
        if said.iter().take(limit).any(Said::waits) {
            self.add_results(id, all, (read, Seq(0)), said.make_contiguous()).await?;
        }
        Ok(said)
    }

    /// Messages before a position, newest first, one more than the limit if there are so many.
    async fn said_before(
        &self,
        id: ExecutionId,
        all: bool,
        before: Option<Position>,
        limit: usize,
    ) -> Result<VecDeque<Said>, SubmitError> {
        let kinds = KINDS.to_vec();
        let filter = EventFilter { kinds, stream: Some(StreamId::Journal(id)), ..EventFilter::default() };
        let mut said: VecDeque<Said> = VecDeque::new();
        // Newest first, like what is read.
        let mut results: Vec<ToolResult> = Vec::new();
        let mut read = before.map(|before| Seq(before.seq));
        while said.len() <= limit {
            let asked = rows_for(limit + 1 - said.len());
            let query = Query::Events { filter: filter.clone(), before: read, limit: asked };
            let rows = self.query(query).await?.rows;
            for row in &rows {
                read = Some(row.seq);
                for each in recorded(row)?.into_iter().rev() {
                    // A row that a page ends in comes again.
                    if before.is_some_and(|before| each.seq.0 >= before.seq) {
                        continue;
                    }
                    match self.spoken(each, all).await? {
                        Some(Spoken::Message(mut message)) => {
                            message.take_results(&mut results);
                            said.push_back(*message);
                        }
                        Some(Spoken::Result(result)) => results.push(result),
                        None => {}
                    }
                }
            }
            if rows.len() < asked as usize {
                break;
            }
        }
        // Without a position the page ends where the journal ends: what is not answered there has no answer.
        if let (Some(before), Some(newest)) = (before, said.front().map(|said| said.version))
            && said.iter().take(limit).any(Said::waits)
        {
            let mut oldest_first: Vec<Said> = said.into_iter().rev().collect();
            self.add_results(id, all, (newest, Seq(before.seq)), &mut oldest_first).await?;
            said = oldest_first.into_iter().rev().collect();
        }
        Ok(said)
    }

    /// Adds the results that stand shortly after a version, from a position on, to the messages that wait for them;
    /// oldest first.
    async fn add_results(
        &self,
        id: ExecutionId,
        all: bool,
        (after, from): (Version, Seq),
        said: &mut [Said],
    ) -> Result<(), SubmitError> {
        let rows = self.log().read(StreamId::Journal(id), after, ROWS_BEHIND).await?;
        // Calls of messages that follow may have the same names.
        let mut later: Vec<Said> = Vec::new();
        for row in &rows {
            for each in recorded(row)?.into_iter().filter(|each| each.version > after && each.seq >= from) {
                match self.spoken(each, all).await? {
                    Some(Spoken::Message(message)) => later.push(*message),
                    Some(Spoken::Result(result)) => {
                        if let Some(result) = answer_call(later.iter_mut().rev(), result) {
                            answer_call(said.iter_mut().rev().filter(|said| said.waits()), result);
                        }
                    }
                    None => {}
                }
            }
            if !said.iter().any(Said::waits) {
                break;
            }
        }
        Ok(())
    }

    /// What an entry of a journal adds to the conversation.
    async fn spoken(&self, entry: Recorded, all: bool) -> Result<Option<Spoken>, SubmitError> {
        let message_id = event_id(&entry);
        let (seq, version, at) = (entry.seq, entry.version, entry.at);
        Ok(match entry.event {
            Event::Journal(Entry::Message { agent, role, content, usage, more, about, hidden, .. }) => {
                let open = all || !hidden;
                let parts = if open { self.whole(content, more).await? } else { Value::Null };
                let about = about.unwrap_or_default();
                let message = Message {
                    message_id,
                    timestamp: at.into(),
                    agent_name: agent.map(|agent| agent.to_string()),
                    role: match role {
                        MessageRole::User => "user",
                        MessageRole::Assistant => "assistant",
                        MessageRole::System => "system",
                    },
                    content: if open { plain(&parts) } else { String::new() },
                    parts,
                    tool_results: Vec::new(),
                    shown: !hidden,
                    usage: usage.into(),
                    model: about["model"].as_str().map(str::to_owned),
                    scripted: about["scripted"] == true,
                };
                Some(Spoken::Message(Box::new(Said { seq, version, message })))
            }
            Event::Journal(Entry::ToolResult { call, content, tool, error, more, hidden, .. })
                if all || !hidden =>
            {
                Some(Spoken::Result(self.result(&call, content, more, tool.as_deref(), error).await?))
            }
            Event::Home(_) | Event::Pipeline(_) | Event::Run(_) | Event::Journal(_) => None,
        })
    }

    async fn result(
        &self,
        call: &str,
        content: Value,
        more: Option<Digest>,
        tool: Option<&str>,
        is_error: bool,
    ) -> Result<ToolResult, SubmitError> {
        let content = plain(&self.whole(content, more).await?);
        Ok(ToolResult { tool_use_id: call.to_owned(), tool: tool.map(str::to_owned), content, is_error })
    }
}

impl Said {
    /// The names of the calls that the message makes.
    fn calls(&self) -> impl Iterator<Item = &str> {
        let parts = self.message.parts.as_array().into_iter().flatten();
        parts.filter(|part| part["type"] == "tool_use").filter_map(|part| part["id"].as_str())
    }

    fn makes(&self, call: &str) -> bool {
        self.calls().any(|made| made == call)
    }

    /// Whether one of its calls has no result yet.
    fn waits(&self) -> bool {
        self.calls().count() > self.message.tool_results.len()
    }

    /// Takes the results of its calls out of those that follow it, newest first. Names of calls come again, and a result
    /// belongs to the last call before it.
    fn take_results(&mut self, results: &mut Vec<ToolResult>) {
        let (mut ours, others) =
            std::mem::take(results).into_iter().partition(|r| self.makes(&r.tool_use_id));
        *results = others;
        std::mem::swap(&mut self.message.tool_results, &mut ours);
        self.message.tool_results.reverse();
    }
}

/// Adds a result to the first of some messages that has its call; gives it back if none has.
fn answer_call<'a>(
    mut messages: impl Iterator<Item = &'a mut Said>,
    result: ToolResult,
) -> Option<ToolResult> {
    match messages.find(|said| said.makes(&result.tool_use_id)) {
        Some(said) => {
            said.message.tool_results.push(result);
            None
        }
        None => Some(result),
    }
}

fn rows_for(messages: usize) -> u32 {
    u32::try_from(messages).unwrap_or(u32::MAX).clamp(*ROWS.start(), *ROWS.end())
}

/// The text among the parts of a message.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => content.to_string(),
    }
}
