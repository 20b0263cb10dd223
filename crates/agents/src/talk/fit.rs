//! Making a question fit: what was heard long ago is shortened before anything is refused.
//!
//! Invariant: the first message, which has the task, is never shortened, and whatever is shortened says so.

use super::Halt;
use crate::model::{Message, Part, Question};
use crate::prompt::tokens;

/// How much is left of something that is shortened.
const KEPT: usize = 400;

/// A question that fits, and how many of its parts were shortened for that.
#[derive(Debug)]
pub(super) struct Fitted {
    pub question: Question,
    pub shortened: usize,
}

/// Shortens results of tools and words of conversations, the oldest first, until a question has at most `budget`
/// tokens.
pub(super) fn fit(mut question: Question, budget: u64) -> Result<Fitted, Halt> {
    let mut needed = size(&question);
    let mut shortened = 0;
    // Results can be had again by calling the tool; words cannot.
    for wanted in [is_result, is_words] {
        for message in question.messages.iter_mut().skip(1) {
            for part in &mut message.content {
                if needed <= budget {
                    return Ok(Fitted { question, shortened });
                }
                let before = part_size(part);
                if wanted(part) && shorten(part) {
                    needed -= before - part_size(part);
                    shortened += 1;
                }
            }
        }
    }
    if needed <= budget {
        return Ok(Fitted { question, shortened });
    }
    let message = format!(
        "about {needed} tokens are needed and {budget} fit (limits.max_context_length), although everything was \
         shortened that may be"
    );
    Err(Halt::new("context_too_large", message))
}

fn is_result(part: &Part) -> bool {
    matches!(part, Part::ToolResult { .. })
}

fn is_words(part: &Part) -> bool {
    matches!(part, Part::Text { .. })
}

fn shorten(part: &mut Part) -> bool {
    let text = match part {
        Part::Text { text } | Part::ToolResult { content: text, .. } => text,
        Part::Thinking { .. } | Part::ToolUse { .. } | Part::Other(_) => return false,
    };
    if text.len() <= 2 * KEPT {
        return false;
    }
    let end = (0..=KEPT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    *text = format!(
        "{}\n[{} more bytes were left out here, because the conversation does not fit otherwise]",
        &text[..end],
        text.len() - end
    );
    true
}

fn size(question: &Question) -> u64 {
    let frame = question.system.iter().map(|text| tokens(text)).sum::<u64>();
    let tools = question
        .tools
        .iter()
        .map(|tool| tokens(&tool.name) + tokens(&tool.description) + tokens(&tool.input_schema.to_string()));
    let said = question.messages.iter().flat_map(|Message { content, .. }| content).map(part_size);
    frame + tools.sum::<u64>() + said.sum::<u64>()
}

fn part_size(part: &Part) -> u64 {
    match part {
        Part::Text { text } | Part::ToolResult { content: text, .. } => tokens(text),
        Part::Thinking { thinking, .. } => tokens(thinking),
        Part::ToolUse { input, .. } | Part::Other(input) => tokens(&input.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Speaker;

    fn result(id: &str, bytes: usize) -> Message {
        let content = "r".repeat(bytes);
        let result = Part::ToolResult { tool_use_id: id.to_owned(), content, is_error: false };
        Message { role: Speaker::User, content: vec![result] }
    }

    fn question(task: usize) -> Question {
        Question {
            model: "m".to_owned(),
            system: vec!["frame".to_owned()],
            messages: vec![
                Message::user("t".repeat(task)),
                result("1", 40_000),
                Message { role: Speaker::Assistant, content: vec![Part::Text { text: "w".repeat(8_000) }] },
                result("2", 4_000),
            ],
            tools: Vec::new(),
            web_search: false,
            must_call: None,
            max_tokens: 100,
            temperature: None,
        }
    }

    fn sizes(fitted: &Fitted) -> Vec<u64> {
        fitted.question.messages.iter().flat_map(|message| &message.content).map(part_size).collect()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let fitted = fit(question(400), 20_000).expect("it fits");
        assert_eq!((fitted.shortened, sizes(&fitted)), (0, vec![100, 10_000, 2_000, 1_000]));
    }

    #[test]
    fn the_oldest_results_go_first_then_words_and_never_the_task() {
        let fitted = fit(question(400), 4_000).expect("it fits");
        assert_eq!(fitted.shortened, 1);
        assert!(sizes(&fitted)[1] < 200 && sizes(&fitted)[2..] == [2_000, 1_000], "{:?}", sizes(&fitted));
        let fitted = fit(question(400), 700).expect("it fits");
        assert_eq!((fitted.shortened, sizes(&fitted)[0]), (3, 100));
        let text = serde_json::to_string(&fitted.question).expect("JSON");
        assert!(text.contains("[39600 more bytes were left out here"), "{text}");
        let halt = fit(question(40_000), 4_000).expect_err("the task alone is too large");
        assert_eq!(halt.kind.name(), "context_too_large");
    }
}
