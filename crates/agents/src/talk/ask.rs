//! Asking for something of a given form: through a tool that must be called, and checked before it counts.

use holdpoint_core::event::Usage;
use serde::de::DeserializeOwned;

use super::{Agent, Halt, Setting, View, turn};
use crate::model::{Message, Part, Speaker, ToolSpec};

/// Something that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked<T> {
    /// What came.
    pub value: T,
    /// What it cost.
    pub usage: Usage,
}

/// Asks until the answer has the form, at most `tries` times. `check` says what is wrong with a value of the form.
#[expect(clippy::too_many_arguments, reason = "each of them is one part of the question")]
pub async fn ask_for<T: DeserializeOwned>(
    setting: &Setting<'_>,
    agent: &Agent,
    before: &[Message],
    key: &str,
    words: &str,
    tool: &ToolSpec,
    tries: u32,
    check: &(dyn Fn(&T) -> Result<(), String> + Send + Sync),
) -> Result<Asked<T>, Halt> {
    let mut view = View { messages: before.to_vec() };
    turn::tell(setting, agent, &mut view, key, words).await?;
    let mut usage = Usage::default();
    let mut last = String::new();
    for number in 1..=tries {
        let answer = turn::ask(setting, agent, &view, &format!("{key}/{number}"), Some(tool), usage).await?;
        usage = usage.plus(answer.usage);
        let called = answer.content.iter().find_map(|part| match part {
            Part::ToolUse { id, name, input } if *name == tool.name => Some((id.clone(), input.clone())),
            _ => None,
        });
        view.messages.push(Message { role: Speaker::Assistant, content: answer.content.clone() });
        let Some((id, input)) = called else {
            last = format!("the tool `{}` was not called", tool.name);
            view.messages.push(Message::user(format!("Call the tool `{}` now.", tool.name)));
            continue;
        };
        let read = serde_json::from_value::<T>(input).map_err(|cause| cause.to_string());
        match read.and_then(|value| check(&value).map(|()| value)) {
            Ok(value) => return Ok(Asked { value, usage }),
            Err(why) => {
                // Every call of an answer gets its result, or the provider refuses the next question.
                let others = answer.content.iter().filter_map(|part| match part {
                    Part::ToolUse { id: other, .. } if *other != id => {
                        let content = "refused: one call is enough".to_owned();
                        Some(Part::ToolResult { tool_use_id: other.clone(), content, is_error: true })
                    }
                    _ => None,
                });
                let content = format!("refused: {why}. Call the tool again with that mended.");
                let result = Part::ToolResult { tool_use_id: id.clone(), content, is_error: true };
                let results = std::iter::once(result).chain(others).collect();
                last = why;
                view.messages.push(Message { role: Speaker::User, content: results });
            }
        }
    }
    let message = format!("{} gave no valid `{}` in {tries} tries: {last}", agent.name, tool.name);
    Err(Halt::new("invalid_answer", message))
}
