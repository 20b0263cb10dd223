//! Answers from a recording: the same question gets the answer that it got then.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::trouble::Failed;
use super::{Answer, Delta, ErrorKind, Model, ModelError, Part, Question, Told};

/// A recording. Whoever asks, the model's name does not matter.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    answers: BTreeMap<String, Answer>,
    /// What was asked, where that is known, to say what differs.
    questions: Vec<Value>,
}

impl Replay {
    /// From answers by the digest of their question, as [`digest`] makes it. Of several answers to one question
    /// the last counts.
    pub fn new(answers: impl IntoIterator<Item = (String, Answer)>) -> Self {
        Self { answers: answers.into_iter().collect(), questions: Vec::new() }
    }

    /// From questions and their answers. A question that has no answer here is compared with these.
    pub fn of_questions(recorded: impl IntoIterator<Item = (Question, Answer)>) -> Self {
        let mut replay = Self::default();
        for (question, answer) in recorded {
            replay.answers.insert(digest(&question), answer);
            replay.questions.push(canonical(&question));
        }
        replay
    }

    pub(super) fn answer(&self, question: &Question, told: &Told<'_>) -> Result<Answer, ModelError> {
        let Some(answer) = self.answers.get(&digest(question)) else {
            let message =
                format!("the recording has no such question{}", self.difference(&canonical(question)));
            return Err(Failed::new(ErrorKind::Unknown, message).error);
        };
        for part in &answer.content {
            match part {
                Part::Text { text } => told(Delta::Text(text.clone())),
                Part::Thinking { thinking, .. } => told(Delta::Thinking(thinking.clone())),
                Part::ToolUse { .. } | Part::ToolResult { .. } | Part::Other(_) => {}
            }
        }
        Ok(Answer { scripted: true, ..answer.clone() })
    }

    /// What differs from the recorded question that has most messages in common with this one.
    fn difference(&self, asked: &Value) -> String {
        let nearness = |recorded: &&Value| {
            (common(recorded, asked), length(recorded) == length(asked), same(recorded, asked))
        };
        let Some(nearest) = self.questions.iter().max_by_key(nearness) else { return String::new() };
        let (there, here, at) = (length(nearest), length(asked), common(nearest, asked));
        if at < there.min(here) {
            return format!("; the nearest recorded one differs first in message {}", at + 1);
        }
        if there != here {
            return format!("; the nearest recorded one has {there} messages, this one {here}");
        }
        let other: Vec<&str> = FIELDS.into_iter().filter(|field| nearest[*field] != asked[*field]).collect();
        format!("; the nearest recorded one has the same messages and differs in {}", other.join(", "))
    }
}

impl Model for Replay {
    fn ask<'a>(
        &'a self,
        question: Question,
        told: &'a Told<'a>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        async move { self.answer(&question, told) }.boxed()
    }

    fn can_search(&self, _: &str) -> bool {
        true
    }
}

/// What a question is recognised by, besides its messages.
const FIELDS: [&str; 6] = ["system", "tools", "web_search", "must_call", "max_tokens", "temperature"];

/// The digest of a question, its model left out: 64 hexadecimal digits.
pub fn digest(question: &Question) -> String {
    let bytes = Sha256::digest(sorted(&canonical(question)).to_string());
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn canonical(question: &Question) -> Value {
    let mut value = json!(question);
    if let Some(fields) = value.as_object_mut() {
        fields.remove("model");
    }
    value
}

/// Keys in one order, whatever order they were written in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let ordered: BTreeMap<&String, Value> =
                fields.iter().map(|(name, value)| (name, sorted(value))).collect();
            ordered.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}

fn length(question: &Value) -> usize {
    question["messages"].as_array().map_or(0, Vec::len)
}

/// How many messages two questions have in common, from the first.
fn common(one: &Value, other: &Value) -> usize {
    let messages = |question: &Value| question["messages"].as_array().cloned().unwrap_or_default();
    messages(one).iter().zip(&messages(other)).take_while(|(one, other)| one == other).count()
}

fn same(one: &Value, other: &Value) -> usize {
    FIELDS.iter().filter(|field| one[**field] == other[**field]).count()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use holdpoint_core::event::Usage;

    use super::super::{Message, Speaker, Stop, ToolSpec};
    use super::*;

    fn question(messages: &[&str]) -> Question {
        Question {
            model: "claude-sonnet-4-5".to_owned(),
            system: vec!["Be brief.".to_owned()],
            messages: messages.iter().map(|text| Message::user(*text)).collect(),
            tools: vec![],
            web_search: false,
            must_call: None,
            max_tokens: 100,
            temperature: None,
        }
    }

    fn answer(text: &str) -> Answer {
        Answer {
            content: vec![Part::Text { text: text.to_owned() }],
            stop: Stop::EndTurn,
            usage: Usage::default(),
            model: "anthropic/claude-sonnet-4-5".to_owned(),
            scripted: false,
        }
    }

    async fn check(asked: Question, wanted: &Expect) {
        let recorded = [(question(&["a", "b"]), answer("second")), (question(&["a"]), answer("first"))];
        let answered = Replay::of_questions(recorded).ask(asked, &|_| {}).await;
        wanted.assert_eq(&answered.map_or_else(|error| error.message, |answer| answer.text()));
    }

    #[tokio::test]
    async fn the_same_question_has_the_same_answer_whoever_is_asked() {
        check(question(&["a"]), &expect!["first"]).await;
        check(Question { model: "replay/".to_owned(), ..question(&["a", "b"]) }, &expect!["second"]).await;
        let replay = Replay::new([(digest(&question(&["a"])), answer("first"))]);
        let answered = replay.ask(question(&["a"]), &|_| {}).await.expect("an answer");
        assert!(answered.scripted);
    }

    #[tokio::test]
    async fn another_question_is_told_what_differs() {
        check(
            question(&["a", "x"]),
            &expect![
                "the recording has no such question; the nearest recorded one differs first in message 2"
            ],
        )
        .await;
        check(
            question(&["a", "b", "c"]),
            &expect![
                "the recording has no such question; the nearest recorded one has 2 messages, this one 3"
            ],
        )
        .await;
        let wordy = Question { max_tokens: 200, system: vec![], ..question(&["a"]) };
        check(wordy, &expect!["the recording has no such question; the nearest recorded one has the same messages and differs in system, max_tokens"]).await;
    }

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let with = |schema: &str| {
            let input_schema = serde_json::from_str(schema).expect("JSON");
            let tool = ToolSpec { name: "t".to_owned(), description: String::new(), input_schema };
            digest(&Question { tools: vec![tool], ..question(&["a"]) })
        };
        assert_eq!(with(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#), with(r#"{"b": {"d": 3, "c": 2}, "a": 1}"#));
        assert_ne!(with(r#"{"a": 1}"#), with(r#"{"a": 2}"#));
        let other = Message { role: Speaker::Assistant, ..Message::user("a") };
        assert_ne!(digest(&Question { messages: vec![other], ..question(&[]) }), digest(&question(&["a"])));
    }
}
