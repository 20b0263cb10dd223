//! Conversations with a model that answers by rule, cut off anywhere and gone on with.

use std::collections::BTreeMap;
use std::sync::Mutex;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::model::{Question, Stop, Told};

/// Answers by a rule, and remembers what it was asked.
struct Rule<F>(F, Mutex<Vec<String>>);

impl<F: Fn(&str, &Question) -> Vec<Part> + Send + Sync> Model for Rule<F> {
    fn ask<'a>(&'a self, question: Question, _: &'a Told<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let who = question.system.join(" ");
        self.1.lock().expect("unbroken").push(format!("{who}: {}", shape(&question)));
        let content = (self.0)(&who, &question);
        let calls = content.iter().any(|part| matches!(part, Part::ToolUse { .. }));
        let usage = Usage { calls: 1, input_tokens: 10, output_tokens: 1, ..Usage::default() };
        let stop = if calls { Stop::ToolUse } else { Stop::EndTurn };
        Box::pin(async move { Ok(Answer { content, stop, usage, model: "rule".into(), scripted: true }) })
    }

    fn can_search(&self, _: &str) -> bool {
        false
    }
}

/// Which voices a question holds.
fn shape(question: &Question) -> String {
    let voices = question.messages.iter().flat_map(|message| &message.content).map(|part| match part {
        Part::Text { text } => {
            let heard: Vec<&str> =
                ["A said", "B said", "C said"].into_iter().filter(|s| text.contains(s)).collect();
            let note = if text.contains("A note from") { "note" } else { "text" };
            format!("{note}({})", heard.join(", "))
        }
        Part::Thinking { .. } | Part::Other(_) => "other".to_owned(),
        Part::ToolUse { name, .. } => format!("use {name}"),
        Part::ToolResult { content, is_error, .. } => {
            format!("result {content}{}", if *is_error { "!" } else { "" })
        }
    });
    voices.collect::<Vec<_>>().join(" ")
}

/// Remembers in memory, and breaks off after so many writes.
#[derive(Default)]
struct Memory {
    kept: Mutex<BTreeMap<String, Value>>,
    acts: Mutex<Vec<String>>,
    writes_left: Mutex<Option<u32>>,
    notes: Mutex<Vec<String>>,
}

impl Memory {
    fn keep(&self, key: &str, value: &impl serde::Serialize) -> Result<(), Halt> {
        let mut left = self.writes_left.lock().expect("unbroken");
        if let Some(left) = left.as_mut() {
            if *left == 0 {
                return Err(Halt::new("killed", "killed"));
            }
            *left -= 1;
        }
        let value = serde_json::to_value(value).expect("JSON");
        let old = self.kept.lock().expect("unbroken").insert(key.to_owned(), value);
        assert_eq!(old, None, "{key} is written once");
        Ok(())
    }

    fn recall<T: serde::de::DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.kept
            .lock()
            .expect("unbroken")
            .get(key)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
    }
}

impl Table for Memory {
    fn recall_answer(&self, key: &str) -> Option<Answer> {
        self.recall(key)
    }

    fn recall_result(&self, key: &str) -> Option<Part> {
        self.recall(key)
    }

    fn recall_words(&self, key: &str) -> Option<Heard> {
        let (text, notes) = self.recall(key)?;
        Some(Heard { text, notes })
    }

    fn keep_answer<'a>(
        &'a self,
        key: &'a str,
        _: &'a str,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move { self.keep(key, answer) })
    }

    fn keep_words<'a>(
        &'a self,
        key: &'a str,
        _: &'a str,
        words: &'a Words<'a>,
    ) -> BoxFuture<'a, Result<(), Halt>> {
        Box::pin(async move { self.keep(key, &(words.text, words.notes)) })
    }

    fn act<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Part, Halt>> {
        Box::pin(async move {
            let content = format!("{} did {}", call.agent, call.tool);
            let result = Part::ToolResult {
                tool_use_id: call.id.to_owned(),
                content: content.clone(),
                is_error: false,
            };
            self.keep(call.key, &result)?;
            self.acts.lock().expect("unbroken").push(content);
            Ok(result)
        })
    }

    fn notes(&self) -> BoxFuture<'_, Result<Vec<String>, Halt>> {
        Box::pin(async move { Ok(self.notes.lock().expect("unbroken").clone()) })
    }

    fn overhear(&self, _: &str, _: Delta) {}

    fn may_ask(&self, _: Usage) -> BoxFuture<'_, Result<(), Halt>> {
        Box::pin(async { Ok(()) })
    }
}

fn agent(name: &str) -> Agent {
    Agent { name: name.into(), role: None, system: vec![name.into()], first: "the task".into() }
}

fn words(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.into() }]
}

fn call(id: &str, name: &str, input: Value) -> Vec<Part> {
    vec![Part::ToolUse { id: id.into(), name: name.into(), input }]
}

fn setting<'a>(model: &'a dyn Model, table: &'a dyn Table) -> Setting<'a> {
    Setting {
        model,
        model_name: "rule",
        max_tokens: 100,
        temperature: None,
        tools: &[],
        web_search: false,
        tool_calls_per_turn: 3,
        max_context: 100_000,
        table,
    }
}

/// Holds a conversation; then again and again, killed after each of its writes, and gone on with.
async fn check(
    names: &[&str],
    discussion: Discussion,
    rule: impl Fn(&str, &Question) -> Vec<Part> + Send + Sync + Copy,
    expected: Expect,
) {
    let agents: Vec<Agent> = names.iter().map(|name| agent(name)).collect();
    let (model, table) = (Rule(rule, Mutex::default()), Memory::default());
    let whole = discuss(&setting(&model, &table), &agents, discussion).await;
    let mut story = model.1.lock().expect("unbroken").clone();
    story.push(match &whole {
        Ok(outcome) => format!("=> {} ({} calls) {:?}", outcome.text, outcome.usage.calls, outcome.left_out),
        Err((halt, _)) => format!("=> {}: {}", halt.kind, halt.message),
    });
    expected.assert_eq(&(story.join("\n") + "\n"));
    let writes = table.kept.lock().expect("unbroken").len() as u32;
    for cut in 0..writes {
        let (model, table) = (Rule(rule, Mutex::default()), Memory::default());
        *table.writes_left.lock().expect("unbroken") = Some(cut);
        let broken = discuss(&setting(&model, &table), &agents, discussion).await;
        assert!(broken.is_err_and(|(halt, _)| halt.kind.name() == "killed"), "cut after {cut}");
        *table.writes_left.lock().expect("unbroken") = None;
        let again = discuss(&setting(&model, &table), &agents, discussion).await;
        assert_eq!(again, whole, "cut after {cut} writes");
        assert_eq!(table.kept.lock().expect("unbroken").len() as u32, writes);
        // At most those answers are asked for again that nobody had written down: one, or one each at once.
        let asked = model.1.lock().expect("unbroken").len();
        assert!(
            asked < story.len() + names.len(),
            "cut after {cut}: {asked} questions, {} at first",
            story.len() - 1
        );
    }
}

fn mode(mode: DiscussionMode, max_turns: u32) -> Discussion {
    Discussion { mode: Some(mode), max_turns }
}

#[tokio::test]
async fn one_agent_uses_tools_until_it_is_done() {
    let rule = |_: &str, question: &Question| match question.messages.len() {
        1 => call("c1", "look", json!({})),
        3 => call("c2", "look", json!({})),
        _ => words("done"),
    };
    let alone = Discussion { mode: None, max_turns: 1 };
    check(
        &["A"],
        alone,
        rule,
        expect![[r#"
        A: text()
        A: text() use look result A did look
        A: text() use look result A did look use look result A did look
        => done (3 calls) []
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_agent_that_goes_on_calling_is_stopped() {
    let rule =
        |_: &str, question: &Question| call(&format!("c{}", question.messages.len()), "look", json!({}));
    let alone = Discussion { mode: None, max_turns: 1 };
    check(&["A"], alone, rule, expect![[r#"
        A: text()
        A: text() use look result A did look
        A: text() use look result A did look use look result A did look
        A: text() use look result A did look use look result A did look use look result A did look
        A: text() use look result A did look use look result A did look use look result A did look use look result refused: at most 3 calls of tools in one turn (limits.tool_calls_per_turn); answer now!
        => too_many_tool_calls: A went on calling tools after 3 calls
    "#]]).await;
}

#[tokio::test]
async fn in_sequence_each_hears_those_before() {
    let rule = |who: &str, _: &Question| words(&format!("{who}'s view"));
    check(
        &["A", "B", "C"],
        mode(DiscussionMode::Sequential, 9),
        rule,
        expect![[r#"
        A: text()
        B: text(A said)
        C: text(A said, B said)
        => C's view (3 calls) []
    "#]],
    )
    .await;
    check(
        &["A", "B", "C"],
        mode(DiscussionMode::Sequential, 2),
        rule,
        expect![[r#"
        A: text()
        C: text(A said)
        => C's view (2 calls) ["B had no turn: max_turns is 2"]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_does_not_fit_is_handed_on_as_an_extract_and_that_is_told() {
    let rule = |who: &str, _: &Question| match who {
        "A" => words(&"long ".repeat(80_000)),
        _ => words("short"),
    };
    check(
        &["A", "B"],
        mode(DiscussionMode::Sequential, 9),
        rule,
        expect![[r#"
        A: text()
        B: text(A said)
        => short (2 calls) ["what agents said was handed on as extracts, 1 in all, to fit the question"]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn in_parallel_none_hears_the_others_and_the_last_merges() {
    let rule = |who: &str, _: &Question| words(&format!("{who}'s view"));
    check(
        &["A", "B"],
        mode(DiscussionMode::Parallel, 9),
        rule,
        expect![[r#"
        A: text()
        B: text()
        B: text(A said)
        => B's view (3 calls) []
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_council_goes_on_until_all_agree_and_the_first_writes() {
    let rule = |who: &str, question: &Question| match &question.must_call {
        Some(vote) => {
            let text = format!("{:?}", question.messages);
            let agree = text.contains("second thoughts") || who == "A";
            call("v", vote, json!({"agree": agree, "reason": "r"}))
        }
        None if format!("{:?}", question.messages).contains("Answer again") => words("second thoughts"),
        None => words("first thoughts"),
    };
    check(
        &["A", "B"],
        mode(DiscussionMode::Council, 9),
        rule,
        expect![[r#"
        A: text()
        B: text()
        A: text(B said)
        B: text(A said)
        A: text(B said)
        B: text(A said)
        A: text(B said)
        B: text(A said)
        A: text(B said)
        => first thoughts (9 calls) []
    "#]],
    )
    .await;
}

#[tokio::test]
async fn in_a_debate_two_argue_and_the_last_judges() {
    let rule = |who: &str, _: &Question| words(&format!("{who}'s view"));
    check(
        &["A", "B", "C"],
        mode(DiscussionMode::Debate, 4),
        rule,
        expect![[r#"
        A: text()
        B: text(A said)
        A: text(B said)
        C: text(A said, B said)
        => C's view (4 calls) []
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_note_reaches_the_agent_with_its_next_question() {
    let table = Memory::default();
    let rule = |_: &str, question: &Question| match question.messages.len() {
        1 => call("c1", "look", json!({})),
        _ => words("done"),
    };
    let model = Rule(rule, Mutex::default());
    table.notes.lock().expect("unbroken").push("mind the gap".into());
    let alone = Discussion { mode: None, max_turns: 1 };
    discuss(&setting(&model, &table), &[agent("A")], alone).await.expect("done");
    expect![[r#"
        A: text() note()
        A: text() note() use look result A did look
    "#]]
    .assert_eq(&(model.1.lock().expect("unbroken").join("\n") + "\n"));
}

#[tokio::test]
async fn a_note_that_quotes_what_precedes_notes_counts_once() {
    let table = Memory::default();
    let rule = |_: &str, question: &Question| match question.messages.len() {
        1 => call("c1", "look", json!({})),
        _ => words("done"),
    };
    let model = Rule(rule, Mutex::default());
    let quote = "it said: A note from a person who watches: stop";
    table.notes.lock().expect("unbroken").push(quote.into());
    let alone = Discussion { mode: None, max_turns: 1 };
    discuss(&setting(&model, &table), &[agent("A")], alone).await.expect("done");
    let kept = table.kept.lock().expect("unbroken");
    let counts: Vec<&Value> =
        kept.iter().filter(|(key, _)| key.ends_with("/note")).map(|(_, v)| &v[1]).collect();
    assert_eq!(counts, [&json!(1)]);
}

#[tokio::test]
async fn a_note_that_comes_during_the_last_answer_is_answered_too() {
    let table = Memory::default();
    let rule = |who: &str, _: &Question| {
        // Somebody writes while A, who is not the last, and then C, who is, answer for the first time.
        let mut notes = table.notes.lock().expect("unbroken");
        match (who, notes.len()) {
            ("A", 0) => notes.push("for whoever comes".into()),
            ("C", 1) => notes.push("for the last".into()),
            _ => {}
        }
        words(&format!("{who} after {}", notes.len()))
    };
    let model = Rule(rule, Mutex::default());
    let agents = [agent("A"), agent("B"), agent("C")];
    let sequence = mode(DiscussionMode::Sequential, 5);
    let said = discuss(&setting(&model, &table), &agents, sequence).await.expect("done");
    expect![[r#"
        A: text()
        B: text(A said) note()
        C: text(A said, B said)
        C: text(A said, B said) text() note()
        => C after 2 []
    "#]]
    .assert_eq(&format!(
        "{}\n=> {} {:?}\n",
        model.1.lock().expect("unbroken").join("\n"),
        said.text,
        said.left_out
    ));
    // Going on after a crash asks nobody again, though all notes are there from the beginning now.
    let again = Rule(|_: &str, _: &Question| words("asked again"), Mutex::default());
    let said = discuss(&setting(&again, &table), &agents, sequence).await.expect("done");
    assert_eq!((said.text.as_str(), again.1.lock().expect("unbroken").len()), ("C after 2", 0));
    // What came after the crash is news.
    table.notes.lock().expect("unbroken").push("one more".into());
    let said = discuss(&setting(&again, &table), &agents, sequence).await.expect("done");
    assert_eq!((said.text.as_str(), again.1.lock().expect("unbroken").len()), ("asked again", 1));
}

#[tokio::test]
async fn a_meta_agent_that_makes_too_many_is_asked_once_more() {
    let made = |count: usize| {
        let agent = |n: usize| json!({"name": format!("N{n}"), "role": "r", "system_prompt": "s", "task_prompt": "t"});
        json!({"agents": (0..count).map(agent).collect::<Vec<_>>()})
    };
    for (counts, expected) in [
        ([5, 2], "2 agents"),
        (
            [5, 4],
            "invalid_answer: Meta gave no valid `create_agents` in 2 tries: 4 agents were defined; at least 1 and at most 3 are wanted",
        ),
    ] {
        let rule = |_: &str, question: &Question| {
            call("m", "create_agents", made(counts[question.messages.len() / 2]))
        };
        let (model, table) = (Rule(rule, Mutex::default()), Memory::default());
        let meta = agent("Meta");
        let told = match make_agents(&setting(&model, &table), &meta, 3).await {
            Ok((made, _)) => format!("{} agents", made.len()),
            Err(halt) => format!("{}: {}", halt.kind, halt.message),
        };
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn no_way_to_discuss_takes_more_turns_than_there_are() {
    let rule = |who: &str, question: &Question| match &question.must_call {
        Some(vote) => call("v", vote, json!({"agree": false, "reason": "r"})),
        None => words(&format!("{who}'s view")),
    };
    check(
        &["A", "B", "C"],
        mode(DiscussionMode::Council, 1),
        rule,
        expect![[r#"
        A: text()
        => A's view (1 calls) ["B had no turn: max_turns is 1", "C had no turn: max_turns is 1"]
    "#]],
    )
    .await;
    check(
        &["A", "B", "C"],
        mode(DiscussionMode::Council, 3),
        rule,
        expect![[r#"
        A: text()
        B: text()
        A: text(B said)
        => A's view (3 calls) ["C had no turn: max_turns is 3"]
    "#]],
    )
    .await;
    check(
        &["A", "B"],
        mode(DiscussionMode::Council, 3),
        rule,
        expect![[r#"
        A: text()
        B: text()
        A: text(B said)
        B: text(A said)
        A: text(B said)
        => A's view (5 calls) ["the council did not agree in 3 turns (max_turns)"]
    "#]],
    )
    .await;
    check(
        &["A", "B", "C", "D"],
        mode(DiscussionMode::Parallel, 3),
        rule,
        expect![[r#"
        A: text()
        B: text()
        D: text(A said, B said)
        => D's view (3 calls) ["C had no turn: max_turns is 3"]
    "#]],
    )
    .await;
    check(
        &["A", "B"],
        mode(DiscussionMode::Parallel, 1),
        rule,
        expect![[r#"
        B: text()
        => B's view (1 calls) ["A had no turn: max_turns is 1"]
    "#]],
    )
    .await;
    check(
        &["A", "B", "C", "D"],
        mode(DiscussionMode::Debate, 3),
        rule,
        expect![[r#"
        A: text()
        B: text(A said)
        D: text(A said, B said)
        => D's view (3 calls) ["C had no turn: only two sides argue, and the last agent judges"]
    "#]],
    )
    .await;
}
