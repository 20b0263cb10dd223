//! One turn: an agent's answer with all its calls of tools.

use std::sync::atomic::{AtomicUsize, Ordering};

use holdpoint_core::event::Usage;
use tokio::sync::mpsc::unbounded_channel;

use super::{Agent, Call, Halt, Heard, Setting, View, Words, fit};
use crate::model::{Answer, Delta, Message, Part, Question, Speaker, Stop};

/// The most questions of one turn: an agent that calls nothing but refused tools ends somewhere.
const MOST_QUESTIONS: u32 = 200;

/// What came of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    pub text: String,
    pub usage: Usage,
}

/// How a turn listens to people.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ears<'a> {
    /// How many notes were handed on so far.
    pub heard: &'a AtomicUsize,
    /// Whether nobody speaks after this turn: what comes while it answers is answered in it as well.
    pub is_last: bool,
}

/// Lets an agent take a turn after hearing `words`. `key` names the turn.
pub(crate) async fn take(
    setting: &Setting<'_>,
    agent: &Agent,
    view: &mut View,
    key: &str,
    words: &str,
    ears: Ears<'_>,
) -> Result<Turn, Halt> {
    tell(setting, agent, view, key, words).await?;
    let mut usage = Usage::default();
    let (mut calls, mut was_refused, mut is_late) = (0, false, false);
    for number in 1..=MOST_QUESTIONS {
        let next = format!("{key}/{}", number + 1);
        let key = format!("{key}/{number}");
        hear_notes(setting, agent, view, &key, ears.heard, is_late).await?;
        is_late = false;
        let answer = ask(setting, agent, view, &key, None, usage).await?;
        usage = usage.plus(answer.usage);
        view.messages.push(Message { role: Speaker::Assistant, content: answer.content.clone() });
        let wanted: Vec<(&str, &str, &serde_json::Value)> = answer
            .content
            .iter()
            .filter_map(|part| match part {
                Part::ToolUse { id, name, input } => Some((id.as_str(), name.as_str(), input)),
                Part::Text { .. } | Part::Thinking { .. } | Part::ToolResult { .. } | Part::Other(_) => None,
            })
            .collect();
        if answer.stop == Stop::Other("pause_turn".to_owned()) {
            // The provider's own tools take longer: it goes on with its answer when it is asked again.
            continue;
        }
        if wanted.is_empty() {
            let is_done = matches!(answer.stop, Stop::EndTurn | Stop::ToolUse | Stop::Other(_));
            if is_done && ears.is_last && is_noted(setting, &next, ears.heard).await? {
                is_late = true;
                continue;
            }
            return match answer.stop {
                Stop::EndTurn | Stop::ToolUse | Stop::Other(_) => Ok(Turn { text: answer.text(), usage }),
                Stop::MaxTokens => Err(Halt::new(
                    "answer_cut",
                    format!(
                        "{}'s answer is longer than {} tokens (llm.default_max_tokens)",
                        agent.name, setting.max_tokens
                    ),
                )),
                Stop::Refusal => {
                    Err(Halt::new("model_declined", format!("the model would not answer {}", agent.name)))
                }
            };
        }
        let mut results = Vec::with_capacity(wanted.len());
        for (id, tool, input) in wanted {
            calls += 1;
            let key = format!("{key}/{id}");
            results.push(match setting.table.recall_result(&key) {
                Some(result) => result,
                None if calls > setting.tool_calls_per_turn => too_many(id, setting.tool_calls_per_turn),
                None => setting.table.act(Call { key: &key, agent: &agent.name, id, tool, input }).await?,
            });
        }
        // It is told once that there are no more, and every question costs.
        let is_refused = calls > setting.tool_calls_per_turn;
        if is_refused && was_refused {
            let message =
                format!("{} went on calling tools after {} calls", agent.name, setting.tool_calls_per_turn);
            return Err(Halt::new("too_many_tool_calls", message));
        }
        was_refused = is_refused;
        view.messages.push(Message { role: Speaker::User, content: results });
    }
    Err(Halt::new("too_many_questions", format!("{} did not come to an end", agent.name)))
}

fn too_many(id: &str, limit: u32) -> Part {
    let content = format!(
        "refused: at most {limit} calls of tools in one turn (limits.tool_calls_per_turn); answer now"
    );
    Part::ToolResult { tool_use_id: id.to_owned(), content, is_error: true }
}

/// Tells an agent something, and writes it down before it counts.
pub(crate) async fn tell(
    setting: &Setting<'_>,
    agent: &Agent,
    view: &mut View,
    key: &str,
    words: &str,
) -> Result<(), Halt> {
    let key = format!("{key}/told");
    let words = if let Some(heard) = setting.table.recall_words(&key) {
        heard.text
    } else {
        let system = view.messages.is_empty().then(|| agent.system.join("\n\n"));
        let told = Words { system: system.as_deref(), text: words, notes: 0 };
        setting.table.keep_words(&key, &agent.name, &told).await?;
        words.to_owned()
    };
    say(view, words);
    Ok(())
}

/// Whether people left something while the last answer came.
async fn is_noted(setting: &Setting<'_>, next: &str, heard: &AtomicUsize) -> Result<bool, Halt> {
    let key = format!("{next}/note");
    if setting.table.recall_words(&key).is_some() || setting.table.play_note(&key).is_some() {
        return Ok(true);
    }
    Ok(setting.table.notes().await?.len() > heard.load(Ordering::SeqCst))
}

/// What people have left since the last question reaches the agent now.
async fn hear_notes(
    setting: &Setting<'_>,
    agent: &Agent,
    view: &mut View,
    key: &str,
    heard: &AtomicUsize,
    is_late: bool,
) -> Result<(), Halt> {
    let key = format!("{key}/note");
    if let Some(recalled) = setting.table.recall_words(&key) {
        heard.fetch_add(recalled.notes as usize, Ordering::SeqCst);
        say(view, recalled.text);
        return Ok(());
    }
    // What was asked before needs no news: the answer is known.
    if setting.table.recall_answer(key.trim_end_matches("/note")).is_some() {
        return Ok(());
    }
    let now = if let Some(played) = setting.table.play_note(&key) {
        played
    } else {
        let notes = setting.table.notes().await?;
        let new: Vec<String> =
            notes.iter().skip(heard.load(Ordering::SeqCst)).map(|note| format!("{NOTE}{note}")).collect();
        if new.is_empty() {
            return Ok(());
        }
        let notes = new.len() as u32;
        Heard { text: new.join("\n\n") + if is_late { TAKE_UP } else { "" }, notes }
    };
    let words = Words { system: None, text: &now.text, notes: now.notes };
    setting.table.keep_words(&key, &agent.name, &words).await?;
    heard.fetch_add(now.notes as usize, Ordering::SeqCst);
    say(view, now.text);
    Ok(())
}

/// What stands before a person's note.
const NOTE: &str = "A note from a person who watches: ";
/// What stands after notes that came when the work was finished: the next answer is what is handed in.
const TAKE_UP: &str = "\n\nTake this up, and hand in the finished work again, the whole of it.";

/// Words of the one who asks stand in one message, whoever they come from.
fn say(view: &mut View, words: String) {
    match view.messages.last_mut() {
        Some(last) if last.role == Speaker::User => last.content.push(Part::Text { text: words }),
        Some(_) | None => view.messages.push(Message::user(words)),
    }
}

/// The answer under a key: as it was recorded, or asked for and recorded.
pub(crate) async fn ask(
    setting: &Setting<'_>,
    agent: &Agent,
    view: &View,
    key: &str,
    must_call: Option<&crate::model::ToolSpec>,
    spent: Usage,
) -> Result<Answer, Halt> {
    if let Some(answer) = setting.table.recall_answer(key) {
        return Ok(answer);
    }
    setting.table.may_ask(spent).await?;
    let tools = must_call.map_or_else(|| setting.tools.to_vec(), |tool| vec![tool.clone()]);
    let question = Question {
        model: setting.model_name.to_owned(),
        system: agent.system.clone(),
        messages: view.messages.clone(),
        tools,
        web_search: setting.web_search && must_call.is_none(),
        must_call: must_call.map(|tool| tool.name.clone()),
        max_tokens: setting.max_tokens,
        temperature: setting.temperature,
    };
    let fit::Fitted { question, shortened } = fit::fit(question, setting.max_context)?;
    if shortened > 0 {
        setting.table.cut(&agent.name, shortened).await?;
    }
    let answer = match setting.table.play(key, &question) {
        Some(played) => played?,
        None => answered(setting, &agent.name, question).await?,
    };
    setting.table.keep_answer(key, &agent.name, &answer).await?;
    Ok(answer)
}

/// The model's answer. What is said meanwhile is heard at once, and trouble of the provider written down.
async fn answered(setting: &Setting<'_>, agent: &str, question: Question) -> Result<Answer, Halt> {
    let (trouble, mut troubles) = unbounded_channel();
    let overheard = |delta| match delta {
        // Nobody hears it after the answer, which then has come already.
        Delta::Waits { why, wait } => drop(trouble.send((why, wait))),
        delta => setting.table.overhear(agent, delta),
    };
    let mut asking = setting.model.ask(question, &overheard);
    loop {
        tokio::select! {
            biased;
            Some((why, wait)) = troubles.recv() => setting.table.waits(agent, &why, wait).await?,
            answer = &mut asking => return Ok(answer?),
        }
    }
}
