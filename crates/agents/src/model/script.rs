//! The `script` provider: answers from a YAML file, for examples, demonstrations and tests.
//!
//! ```yaml
//! turns:
//!   - when: {contains: "Write the outline", turn: 1}
//!     think: The notes come first.
//!     call:
//!       - {tool: file_operations, input: {operation: read, path: inputs/notes.md}}
//!   - when: {tool_result: true}
//!     say: Here is the outline.
//!     usage: {input_tokens: 900, output_tokens: 120}
//! default:
//!   say: I have nothing to add.
//! ```
//!
//! The first turn that fits and is not used up is played; a turn is used once in a conversation, unless it says
//! `repeat: true`. Which one that is follows from the question alone: the conversation so far is played through
//! again. So a conversation that is taken up after a crash goes on rightly. A script without a `default` that has
//! said all and is asked on hands in what it said last.

use std::path::{Component, Path};
use std::time::Duration;

use holdpoint_core::event::Usage;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use super::settings::Settings;
use super::trouble::Failed;
use super::{Answer, Delta, ErrorKind, Message, ModelError, Part, Question, Speaker, Stop, Told};

/// A script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(default)]
    turns: Vec<Turn>,
    /// What is played when no turn fits.
    #[serde(default)]
    default: Option<Turn>,
}

/// One answer and when it is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    when: When,
    /// Whether it may be played any number of times in one conversation.
    #[serde(default)]
    repeat: bool,
    #[serde(default)]
    think: Option<String>,
    #[serde(default)]
    say: Option<String>,
    #[serde(default)]
    call: Vec<Call>,
    /// Why the answer ended, where that does not follow.
    #[serde(default)]
    stop: Option<Stop>,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    error: Option<Trouble>,
    /// How long the answer takes.
    #[serde(default)]
    delay_ms: u64,
}

/// When a turn fits: all that is said must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct When {
    /// Anything that the model was asked or told has this text.
    #[serde(default)]
    contains: Option<String>,
    /// The frame has this text, such as an agent's name.
    #[serde(default)]
    agent: Option<String>,
    /// Whether the last message has results of tools.
    #[serde(default)]
    tool_result: Option<bool>,
    /// The tool that must be called.
    #[serde(default)]
    must_call: Option<String>,
    /// Which answer of the conversation this is, from 1.
    #[serde(default)]
    turn: Option<usize>,
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    input: Value,
}

/// An error instead of an answer, or before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trouble {
    status: u16,
    /// Seconds.
    #[serde(default)]
    retry_after: Option<f64>,
    /// How often it comes before the answer does; always, when not said.
    #[serde(default)]
    times: Option<u32>,
}

/// Plays an answer.
pub(super) async fn ask(
    settings: &Settings,
    file: &str,
    question: &Question,
    told: &Told<'_>,
) -> Result<Answer, ModelError> {
    let script = load(settings, file)?;
    let number = turn_number(&question.messages);
    let Some(turn) = script.next(question) else {
        if let Some(content) = handed_in(question) {
            let usage = Usage { calls: 1, ..Usage::default() };
            let model = format!("script/{file}");
            return Ok(Answer { content, stop: Stop::EndTurn, usage, model, scripted: true });
        }
        let message = format!("the script {file} has no turn for answer {number} of this conversation");
        return Err(fault(message));
    };
    if let Some(error) = &turn.error {
        error.strike(settings, file, told).await?;
    }
    turn.tell(told).await;
    Ok(turn.answer(file, number))
}

/// Reads a script.
pub(super) fn load(settings: &Settings, file: &str) -> Result<Script, ModelError> {
    const MOST: u64 = 2 << 20;
    let Some(folder) = &settings.scripts_folder else {
        return Err(fault("there is no folder of scripts in the settings".to_owned()));
    };
    let plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain {
        return Err(fault(format!("`{file}` is not a path inside the folder of scripts")));
    }
    // A link may lead out of the folder as well as `..` does.
    let found = folder.canonicalize().and_then(|folder| Ok((folder.join(file).canonicalize()?, folder)));
    let path = match found {
        Ok((path, folder)) if path.starts_with(&folder) => path,
        Ok(_) => return Err(fault(format!("`{file}` leads out of the folder of scripts"))),
        Err(error) => return Err(fault(format!("the script {file} cannot be read: {error}"))),
    };
    let size = std::fs::metadata(&path).map(|facts| facts.len());
    if size.is_ok_and(|size| size > MOST) {
        return Err(fault(format!("the script {file} has more than {MOST} bytes")));
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|error| fault(format!("the script {file} cannot be read: {error}")))?;
    parse(file, &text)
}

fn parse(file: &str, text: &str) -> Result<Script, ModelError> {
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location();
        let place =
            place.map(|at| format!(", line {}, column {}", at.line(), at.column())).unwrap_or_default();
        let error = error.without_snippet().to_string();
        let what = error.split(" at line ").next().unwrap_or_default().trim_start_matches("error: ");
        fault(format!("the script {file}{place}: {what}"))
    })
}

fn fault(message: String) -> ModelError {
    Failed::new(ErrorKind::Unknown, message).error
}

/// Which answer comes next, from 1.
fn turn_number(messages: &[Message]) -> usize {
    messages.iter().filter(|message| message.role == Speaker::Assistant).count() + 1
}

/// The tool that a message calls first. What had to be called then is not known any more, but it was called.
fn called(message: &Message) -> Option<&str> {
    message.content.iter().find_map(|part| match part {
        Part::ToolUse { name, .. } => Some(name.as_str()),
        Part::Text { .. } | Part::Thinking { .. } | Part::ToolResult { .. } | Part::Other(_) => None,
    })
}

/// What was handed in last, where nothing else is left to say: whoever asks on after that left a note.
fn handed_in(question: &Question) -> Option<Vec<Part>> {
    let last = question.messages.iter().rfind(|message| message.role == Speaker::Assistant)?;
    (question.must_call.is_none() && called(last).is_none()).then(|| last.content.clone())
}

impl Script {
    /// The turn that answers a question.
    fn next(&self, question: &Question) -> Option<&Turn> {
        let mut used = vec![false; self.turns.len()];
        for (at, message) in question.messages.iter().enumerate() {
            if message.role == Speaker::Assistant
                && let Some(turn) = self.find(question, &question.messages[..at], called(message), &used)
            {
                used[turn] = true;
            }
        }
        let now = question.must_call.as_deref();
        let turn = self.find(question, &question.messages, now, &used).map(|turn| &self.turns[turn]);
        turn.or(self.default.as_ref())
    }

    fn find(
        &self,
        question: &Question,
        messages: &[Message],
        must_call: Option<&str>,
        used: &[bool],
    ) -> Option<usize> {
        let fits = |(turn, used): (&Turn, &bool)| {
            (turn.repeat || !used) && turn.when.fits(&question.system, messages, must_call)
        };
        self.turns.iter().zip(used).position(fits)
    }
}

impl When {
    fn fits(&self, system: &[String], messages: &[Message], must_call: Option<&str>) -> bool {
        let told = || messages.iter().filter(|message| message.role == Speaker::User);
        let has = |wanted: &String| {
            told().flat_map(|message| &message.content).any(|part| match part {
                Part::Text { text } | Part::ToolResult { content: text, .. } => text.contains(wanted),
                Part::Thinking { .. } | Part::ToolUse { .. } | Part::Other(_) => false,
            })
        };
        let result = messages.last().is_some_and(|message| {
            message.content.iter().any(|part| matches!(part, Part::ToolResult { .. }))
        });
        self.contains.as_ref().is_none_or(has)
            && self.agent.as_ref().is_none_or(|name| system.iter().any(|text| text.contains(name)))
            && self.tool_result.is_none_or(|wanted| wanted == result)
            && self.must_call.as_deref().is_none_or(|name| must_call == Some(name))
            && self.turn.is_none_or(|number| number == turn_number(messages))
    }
}

impl Turn {
    async fn tell(&self, told: &Told<'_>) {
        let words = |text: &Option<String>| -> Vec<String> {
            text.iter().flat_map(|text| text.split_inclusive(' ')).map(str::to_owned).collect()
        };
        let mut pieces: Vec<Delta> = words(&self.think).into_iter().map(Delta::Thinking).collect();
        pieces.extend(words(&self.say).into_iter().map(Delta::Text));
        let (start, delay) = (Instant::now(), Duration::from_millis(self.delay_ms));
        let count = pieces.len().max(1) as u32;
        for (at, piece) in pieces.into_iter().enumerate() {
            if !delay.is_zero() {
                sleep_until(start + delay * at as u32 / count).await;
            }
            told(piece);
        }
        if !delay.is_zero() {
            sleep_until(start + delay).await;
        }
    }

    fn answer(&self, file: &str, number: usize) -> Answer {
        let mut content = Vec::new();
        if let Some(thinking) = self.think.clone() {
            content.push(Part::Thinking { thinking, signature: None });
        }
        if let Some(text) = self.say.clone() {
            content.push(Part::Text { text });
        }
        for (at, call) in self.call.iter().enumerate() {
            let input =
                if call.input.is_null() { Value::Object(serde_json::Map::new()) } else { call.input.clone() };
            let id = format!("script_{number}_{}", at + 1);
            content.push(Part::ToolUse { id, name: call.tool.clone(), input });
        }
        let natural = if self.call.is_empty() { Stop::EndTurn } else { Stop::ToolUse };
        Answer {
            content,
            stop: self.stop.clone().unwrap_or(natural),
            usage: Usage { calls: 1, ..self.usage },
            model: format!("script/{file}"),
            scripted: true,
        }
    }
}

impl Trouble {
    /// Fails as often as a real provider would be asked, and no more often than the script says.
    async fn strike(&self, settings: &Settings, file: &str, told: &Told<'_>) -> Result<(), ModelError> {
        let error = self.error(file);
        let tries = if error.kind.passes() { settings.max_retries + 1 } else { 1 };
        let failures = self.times.unwrap_or(u32::MAX);
        for _ in 0..failures.min(tries - 1) {
            let wait = error.retry_after.unwrap_or(settings.delays.first);
            told(Delta::Waits { why: error.message.clone(), wait });
            sleep(wait).await;
        }
        if failures < tries {
            return Ok(());
        }
        let message =
            if tries > 1 { format!("{} (tried {tries} times)", error.message) } else { error.message };
        Err(ModelError { message, ..error })
    }

    fn error(&self, file: &str) -> ModelError {
        let kind = match self.status {
            429 | 503 | 529 => ErrorKind::Overloaded,
            401 | 403 => ErrorKind::Key,
            400..=499 => ErrorKind::Refused,
            _ => ErrorKind::Provider,
        };
        ModelError {
            kind,
            message: format!("the script {file} answers with HTTP {}", self.status),
            status: Some(self.status),
            retry_after: self.retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        }
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
