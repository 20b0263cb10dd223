//! Where agents talk: what they say and do is written into the journal of their execution before it counts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_agents::mcp::{OfferedTool, Session};
use holdpoint_agents::model::{Answer, Delta, Part, Question, Stop as AnswerStop};
use holdpoint_agents::talk::{Call, Halt, Heard, Table, Words};
use holdpoint_agents::tools::{CODE_EXECUTION, Done, FILE_OPERATIONS, Files};
use holdpoint_core::budget::Reached;
use holdpoint_core::event::{Entry, FailureKind, Level, MessageRole, Usage};
use holdpoint_store::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Worker;
use super::offered::Offered;
use super::purse::Purse;
use super::recording::Played;
use super::rehearsal;
use super::stop::Stop;
use super::workspace::{KeptFiles, Workspace};
use holdpoint_engine::WorkContext;
use holdpoint_engine::{Engine, Piece, SubmitError};

/// What was said or done under a key.
pub(super) enum Kept {
    Answer(Answer),
    Result(Part),
    Words(Heard),
    /// A call that began, and whose end is not known.
    Calling,
}

/// The table of one execution.
pub(super) struct Seat<'a> {
    pub worker: &'a Worker,
    pub desk: &'a WorkContext,
    pub workspace: &'a Workspace,
    pub files: Option<Files>,
    pub code: bool,
    /// Whether code reaches the network.
    pub network: bool,
    pub offered: Offered,
    /// Whether what is said is kept and not shown.
    pub hidden: bool,
    pub cancel: CancellationToken,
    purse: &'a Purse,
    kept: BTreeMap<String, Kept>,
    /// Where answers come from instead of a model, if a run is played again.
    played: Option<Arc<Played>>,
    /// What answers instead of a model, if nothing is to be done in earnest.
    pub made_up: Option<rehearsal::Played>,
}

impl<'a> Seat<'a> {
    /// A table that remembers what the journal of this attempt holds.
    pub async fn new(
        worker: &'a Worker,
        desk: &'a WorkContext,
        workspace: &'a Workspace,
        purse: &'a Purse,
        entries: Vec<Entry>,
        cancel: CancellationToken,
    ) -> Result<Self, Stop> {
        let mut kept = BTreeMap::new();
        for entry in entries {
            if let Some((key, what)) = recalled(&desk.engine, entry).await? {
                // What came of a call stands in the place of its beginning.
                kept.insert(key, what);
            }
        }
        let played = worker.played(desk).await?;
        Ok(Self {
            worker,
            desk,
            workspace,
            files: None,
            code: false,
            network: false,
            offered: Offered::default(),
            hidden: false,
            cancel,
            purse,
            kept,
            played,
            made_up: None,
        })
    }

    async fn write(&self, entries: Vec<Entry>) -> Result<(), Halt> {
        self.desk.write(entries).await.map_err(|cause| halted(&cause.into()))
    }

    async fn fit(&self, content: Value) -> Result<(Value, Option<holdpoint_core::Digest>), Halt> {
        self.desk.fit(content).await.map_err(|cause| halted(&cause.into()))
    }

    async fn carry_out(&self, call: Call<'_>) -> Result<Done, Halt> {
        match call.tool {
            FILE_OPERATIONS => match &self.files {
                Some(files) => Ok(tokio::task::block_in_place(|| files.act(call.input))),
                None => Ok(unknown(call.tool)),
            },
            CODE_EXECUTION if self.code => self
                .worker
                .code(&self.workspace.room, self.network, call.input, &self.cancel)
                .await
                .map_err(|stop| halted(&stop)),
            // Whatever is outside is not reached when a run is played again.
            other if self.played.is_some() => {
                match self.played.as_ref().and_then(|p| p.results.get(call.key)) {
                    Some(Part::ToolResult { content, is_error, .. }) => {
                        Ok(Done { content: content.clone(), is_error: *is_error, wrote: false })
                    }
                    Some(_) | None => Ok(unknown(other)),
                }
            }
            other => match self.offered.get(other) {
                Some((session, tool)) => self.call_outside(session, tool, call).await,
                None => Ok(unknown(other)),
            },
        }
    }

    /// Calls a tool of a server. One that may have effects is never called again when nobody knows what came of it.
    async fn call_outside(
        &self,
        session: &Session,
        tool: &OfferedTool,
        call: Call<'_>,
    ) -> Result<Done, Halt> {
        if !tool.repeatable() {
            if matches!(self.kept.get(call.key), Some(Kept::Calling)) {
                return Ok(Done::error(NOT_KNOWN));
            }
            let (key, tool, agent) = (call.key.into(), call.tool.into(), call.agent.into());
            self.write(vec![Entry::Calling { key, tool, agent }]).await?;
        }
        tokio::select! {
            done = session.call(&tool.name, call.input) => Ok(done),
            () = self.cancel.cancelled() => Err(Halt::new("cancelled", "the work was stopped")),
        }
    }
}

fn over_budget(reached: &Reached) -> Halt {
    let (scope, words) = (reached.scope.name(), reached.measure.words(reached.limit));
    Halt::new(FailureKind::OverBudget, format!("the budget of the {scope} is used up: {words}"))
}

/// The beginning of what was said, on one line.
fn said(content: &[Part]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ToolResult { content, .. } => Some(content.as_str()),
        Part::Thinking { .. } | Part::ToolUse { .. } | Part::Other(_) => None,
    });
    texts
        .collect::<Vec<_>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(400)
        .collect()
}
/// What an agent is told of a call that was cut off.
const NOT_KNOWN: &str = "the work was cut off during this call, and it is not known whether it took effect; it was not \
                         made again. Find out before you repeat it.";

fn unknown(tool: &str) -> Done {
    Done::error(format!("refused: there is no tool `{tool}` here"))
}

fn halted(stop: &Stop) -> Halt {
    Halt::new(stop.failure.kind.clone(), stop.failure.message.to_string())
}

pub(super) async fn recalled(engine: &Engine, entry: Entry) -> Result<Option<(String, Kept)>, SubmitError> {
    Ok(match entry {
        Entry::Message {
            role: MessageRole::Assistant, content, usage, key: Some(key), about, more, ..
        } => {
            let content = engine.whole(content, more).await?;
            let Ok(content) = serde_json::from_value(content) else { return Ok(None) };
            let about = about.unwrap_or_default();
            let stop = serde_json::from_value(about["stop"].clone()).unwrap_or(AnswerStop::EndTurn);
            let model = about["model"].as_str().unwrap_or_default().to_owned();
            let scripted = about["scripted"].as_bool().unwrap_or(false);
            Some((key.to_string(), Kept::Answer(Answer { content, stop, usage, model, scripted })))
        }
        Entry::Message { role: MessageRole::User, content, key: Some(key), more, notes, .. } => {
            let content = engine.whole(content, more).await?;
            let heard = |text: &str| Kept::Words(Heard { text: text.to_owned(), notes });
            content.as_str().map(|text| (key.to_string(), heard(text)))
        }
        Entry::ToolResult { call, content, key: Some(key), error, more, .. } => {
            let content = engine.whole(content, more).await?;
            let content = content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned);
            let result = Part::ToolResult { tool_use_id: call.to_string(), content, is_error: error };
            Some((key.to_string(), Kept::Result(result)))
        }
        Entry::Calling { key, .. } => Some((key.to_string(), Kept::Calling)),
        Entry::Message { .. }
        | Entry::ToolResult { .. }
        | Entry::Opened { .. }
        | Entry::Took { .. }
        | Entry::Began { .. }
        | Entry::Pinned { .. }
        | Entry::Log { .. } => None,
    })
}

impl Table for Seat<'_> {
    fn recall_answer(&self, key: &str) -> Option<Answer> {
        match self.kept.get(key) {
            Some(Kept::Answer(answer)) => Some(answer.clone()),
            Some(Kept::Result(_) | Kept::Words(_) | Kept::Calling) | None => None,
        }
    }

    fn recall_result(&self, key: &str) -> Option<Part> {
        match self.kept.get(key) {
            Some(Kept::Result(result)) => Some(result.clone()),
            Some(Kept::Answer(_) | Kept::Words(_) | Kept::Calling) | None => None,
        }
    }

    fn recall_words(&self, key: &str) -> Option<Heard> {
        match self.kept.get(key) {
            Some(Kept::Words(words)) => Some(words.clone()),
            Some(Kept::Answer(_) | Kept::Result(_) | Kept::Calling) | None => None,
        }
    }

    fn play_note(&self, key: &str) -> Option<Heard> {
        self.played.as_ref()?.words.get(key).cloned()
    }

    fn play(&self, key: &str, question: &Question) -> Option<Result<Answer, Halt>> {
        if let Some(made_up) = &self.made_up {
            return Some(made_up.answer(question));
        }
        let played = self.played.as_ref()?;
        let asked = question.messages.last().map(|message| said(&message.content)).unwrap_or_default();
        Some(played.answer(key, &asked).map_err(|stop| halted(&stop)))
    }

    fn keep_answer<'a>(
        &'a self,
        key: &'a str,
        agent: &'a str,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            let (content, more) = self.fit(json!(answer.content)).await?;
            let about = json!({"stop": answer.stop, "model": answer.model, "scripted": answer.scripted});
            let entry = Entry::Message {
                agent: Some(agent.into()),
                role: MessageRole::Assistant,
                content,
                usage: answer.usage,
                key: Some(key.into()),
                about: Some(about),
                more,
                hidden: self.hidden,
                notes: 0,
            };
            self.write(vec![entry]).await
        })
    }

    fn keep_words<'a>(
        &'a self,
        key: &'a str,
        agent: &'a str,
        words: &'a Words<'a>,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            let mut entries = Vec::new();
            let system = words.system.map(|text| (MessageRole::System, text, None));
            let told = Some((MessageRole::User, words.text, Some(key.into())));
            for (role, text, key) in system.into_iter().chain(told) {
                let (content, more) = self.fit(json!(text)).await?;
                let usage = Usage::default();
                entries.push(Entry::Message {
                    agent: Some(agent.into()),
                    role,
                    content,
                    usage,
                    key,
                    about: None,
                    more,
                    hidden: self.hidden,
                    notes: if role == MessageRole::User { words.notes } else { 0 },
                });
            }
            self.write(entries).await
        })
    }

    fn act<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Part, Halt>> {
        Box::pin(async move {
            let done = self.carry_out(call).await?;
            let files = if done.wrote {
                self.workspace.capture().await.map_err(|stop| halted(&stop))?
            } else {
                KeptFiles::default()
            };
            let (content, more) = self.fit(json!(done.content)).await?;
            let entry = Entry::ToolResult {
                call: call.id.into(),
                content,
                workspace: files.tree,
                key: Some(call.key.into()),
                tool: Some(call.tool.into()),
                agent: Some(call.agent.into()),
                error: done.is_error,
                more,
                hidden: self.hidden,
            };
            self.write(std::iter::once(entry).chain(files.log).collect()).await?;
            let (tool_use_id, content) = (call.id.to_owned(), done.content);
            Ok(Part::ToolResult { tool_use_id, content, is_error: done.is_error })
        })
    }

    fn notes(&self) -> BoxFuture<'_, Result<Vec<String>, Halt>> {
        Box::pin(async move {
            let execution = self.desk.execution().await.map_err(|cause| halted(&cause.into()))?;
            Ok(execution.map(|e| e.notes.iter().map(ToString::to_string).collect()).unwrap_or_default())
        })
    }

    fn overhear(&self, agent: &str, delta: Delta) {
        if !self.hidden {
            match delta {
                Delta::Text(text) => self.desk.say_live(agent, Piece::Text(text)),
                Delta::Thinking(text) => self.desk.say_live(agent, Piece::Thinking(text)),
                Delta::Again => self.desk.say_live(agent, Piece::Again),
                // That is in the log.
                Delta::Waits { .. } => {}
            }
        }
    }

    fn cut<'a>(&'a self, agent: &'a str, parts: usize) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            let text =
                format!("{parts} older parts of what {agent} heard were shortened to fit the question");
            let details = json!({"agent": agent, "shortened": parts});
            let entry = Entry::Log { level: Level::Warning, text: text.into(), details: Some(details) };
            self.write(vec![entry]).await
        })
    }

    fn waits<'a>(&'a self, agent: &'a str, why: &'a str, wait: Duration) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move {
            let seconds = wait.as_secs_f64().ceil();
            let text = format!("{agent} waits {seconds} s for the model, and asks again: {why}");
            let details = json!({"agent": agent, "wait_seconds": seconds});
            let entry = Entry::Log { level: Level::Warning, text: text.into(), details: Some(details) };
            self.write(vec![entry]).await
        })
    }

    fn may_ask(&self, _: Usage) -> BoxFuture<'_, Result<(), Halt>> {
        Box::pin(async move {
            if self.cancel.is_cancelled() {
                return Err(Halt::new("cancelled", "the work was stopped"));
            }
            let reached = self.purse.look(self.desk).await.map_err(|cause| halted(&cause.into()))?;
            reached.map_or(Ok(()), |reached| Err(over_budget(&reached)))
        })
    }
}
