//! What looking at an execution reads of a long journal, and that the pages of a journal miss nothing.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::sync::{Arc, Mutex};

use common::{Home, chain, start_plan};
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Entry, Level, MessageRole, Usage};
use holdpoint_core::plan::body::When;
use holdpoint_core::state::run::{AskKind, RunStatus};
use holdpoint_core::{Actor, Answer, Command, ExecNo, ExecutionId, RunCommand, RunId, State};
use holdpoint_engine::Engine;
use holdpoint_engine::documents::conversation::Message;
use holdpoint_engine::documents::{Bounds, Listed, Order};
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_store::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Writes these into its journal, a commit each, and ends.
struct Speaks(Mutex<Vec<Vec<Entry>>>);

impl Executor for Speaks {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let commits = std::mem::take(&mut *self.0.lock().expect("no panic"));
        let calls = commits.iter().flatten().filter(|entry| matches!(entry, Entry::Message { .. })).count();
        let usage = Usage { calls: calls as u64, ..Usage::default() };
        Box::pin(async move {
            for entries in commits {
                job.desk.write(entries).await.expect("written");
            }
            Outcome::done(None, Vec::new(), usage)
        })
    }
}

fn message(agent: &str, text: &str, calls: &[&str]) -> Entry {
    let calls = calls.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "look", "input": {}}));
    let parts = std::iter::once(json!({"type": "text", "text": text})).chain(calls);
    Entry::Message {
        agent: Some(agent.into()),
        role: MessageRole::Assistant,
        content: parts.collect(),
        usage: Usage { calls: 1, ..Usage::default() },
        key: None,
        about: None,
        more: None,
        hidden: false,
        notes: 0,
    }
}

fn result(call: &str, text: &str) -> Entry {
    Entry::ToolResult {
        call: call.into(),
        content: text.into(),
        workspace: None,
        key: None,
        tool: Some("look".into()),
        agent: None,
        error: false,
        more: None,
        hidden: false,
    }
}

fn line(text: &str) -> Entry {
    Entry::Log { level: Level::Info, text: text.into(), details: None }
}

/// A step that has said all this and waits for somebody to approve it.
async fn waiting(home: &Home, commits: Vec<Vec<Entry>>) -> (Engine, RunId, ExecutionId) {
    let engine = home.engine_with(Arc::new(Speaks(Mutex::new(commits))));
    let worker = engine.clone();
    tokio::spawn(async move { worker.run_until(CancellationToken::new()).await });
    let mut plan = chain(1);
    for body in plan.bodies.values_mut() {
        Arc::make_mut(body).policy.approve_complete.when = When::Always;
    }
    let (command, run) = start_plan(plan);
    engine.submit(Actor::person("ann"), None, command).await.expect("started");
    home.until(&engine, run, |state| state.gates.iter().any(|(_, gate)| gate.ask.kind() == AskKind::Result))
        .await;
    (engine, run, run.execution(ExecNo(1)))
}

const LAST_20: Bounds = Bounds { after: None, limit: 20 };

#[tokio::test(start_paused = true)]
async fn a_look_and_a_decision_read_no_more_of_a_long_journal_than_of_a_short_one() {
    let home = Home::new();
    let said = (0..5_000).map(|n| vec![message("Ann", &n.to_string(), &[]), line(&n.to_string())]);
    let (engine, run, execution) = waiting(&home, said.collect()).await;
    let before = home.disk.rows_read();
    let read = |from: u64| home.disk.rows_read() - from;

    let seen = engine.execution_document(execution).await.expect("there");
    let words = |messages: &[Message]| messages.iter().map(|said| said.content.clone()).collect::<Vec<_>>();
    let last: Vec<String> = (4_980..5_000).map(|n: u32| n.to_string()).collect();
    assert_eq!(words(&seen.agent_conversation), last);
    assert_eq!(seen.execution_logs.iter().map(|line| line.message.clone()).collect::<Vec<_>>(), last);
    assert_eq!(seen.usage.calls, 5_000);
    assert!(read(before) <= 50, "a look read {} rows", read(before));

    for order in [Order::Oldest, Order::Newest] {
        let before = home.disk.rows_read();
        let page = engine.conversation(execution, false, order, LAST_20).await.expect("read");
        assert_eq!((page.items.len(), page.next.is_some()), (20, true));
        let next = Bounds { after: page.next, limit: 20 };
        engine.conversation(execution, false, order, next).await.expect("read");
        assert!(read(before) <= 50, "two pages of messages read {} rows", read(before));
        let before = home.disk.rows_read();
        let page = engine.log_lines(execution, order, LAST_20).await.expect("read");
        assert_eq!((page.items.len(), page.next.is_some()), (20, true));
        let next = Bounds { after: page.next, limit: 20 };
        engine.log_lines(execution, order, next).await.expect("read");
        assert!(read(before) <= 50, "two pages of the log read {} rows", read(before));
    }

    // Another process has nothing in memory.
    let before = home.disk.rows_read();
    let other = home.idle_engine();
    assert_eq!(other.execution_document(execution).await.expect("there"), seen);
    assert!(read(before) <= 60, "a first look read {} rows", read(before));

    let before = home.disk.rows_read();
    let loaded = engine.run(run).await.expect("read").expect("a run");
    let State::Run(state) = &loaded.state else { panic!("a run") };
    let digest = state.gates.iter().next().map(|(_, gate)| gate.digest);
    let approve = Answer { digest, ..Answer::of(ExecNo(1), AskKind::Result, "approve") };
    let approve = Command::Run(run, RunCommand::Answer(approve));
    engine.submit(Actor::person("ann"), None, approve).await.expect("approved");
    assert!(read(before) <= 50, "an approval read {} rows", read(before));
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
}

/// All pages of a list after another.
async fn all<T, F: Future<Output = Listed<T>>>(limit: u32, page: impl Fn(Bounds) -> F) -> Vec<T> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let mut page = page(Bounds { after, limit }).await;
        assert!(page.items.len() <= limit as usize);
        assert!(page.next.is_none() || page.items.len() == limit as usize, "only the last page is short");
        all.append(&mut page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_of_any_size_in_both_directions_have_every_line_message_and_result_once() {
    let home = Home::new();
    let commits = vec![
        vec![line("a"), message("Ann", "one", &["1", "2"])],
        // Two speak at once, and their calls have the same names.
        vec![message("Bob", "two", &["3"]), message("Ann", "three", &[])],
        vec![result("1", "first of Ann"), line("b")],
        vec![result("3", "first of Bob")],
        vec![message("Bob", "four", &[]), message("Bob", "five", &["1"]), result("1", "second")],
        vec![result("2", "late"), line("c"), line("d")],
        // Cut off: this one has no result.
        vec![message("Ann", "six", &["4", "5"]), result("5", "of five")],
        vec![message("Ann", "seven", &["4"])],
        vec![result("4", "for seven"), line("e")],
        vec![message("Bob", "eight", &[])],
    ];
    let (engine, _, execution) = waiting(&home, commits).await;
    let conversation =
        async |order, bounds| engine.conversation(execution, false, order, bounds).await.expect("read");
    let whole = conversation(Order::Oldest, Bounds { after: None, limit: 500 }).await.items;
    let told: Vec<String> = whole
        .iter()
        .map(|said| {
            let results: Vec<&str> = said.tool_results.iter().map(|result| result.content.as_str()).collect();
            format!("{}: {}", said.content, results.join(", "))
        })
        .collect();
    let wanted = [
        "one: first of Ann, late",
        "two: first of Bob",
        "three: ",
        "four: ",
        "five: second",
        "six: of five",
        "seven: for seven",
        "eight: ",
    ];
    assert_eq!(told, wanted);
    let lines = async |order, bounds| engine.log_lines(execution, order, bounds).await.expect("read");
    for limit in 1..=9 {
        assert_eq!(all(limit, |bounds| conversation(Order::Oldest, bounds)).await, whole, "{limit}");
        let mut back = all(limit, |bounds| conversation(Order::Newest, bounds)).await;
        back.reverse();
        assert_eq!(back, whole, "{limit} back");
        let texts = |lines: Vec<holdpoint_engine::documents::logs::LogLine>| {
            lines.into_iter().map(|line| line.message).collect::<String>()
        };
        assert_eq!(texts(all(limit, |bounds| lines(Order::Oldest, bounds)).await), "abcde", "{limit}");
        assert_eq!(texts(all(limit, |bounds| lines(Order::Newest, bounds)).await), "edcba", "{limit}");
    }
}
