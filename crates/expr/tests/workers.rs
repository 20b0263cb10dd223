//! Workers: what cannot be stopped is killed, and everybody else is answered.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use holdpoint_core::facts::{Evaluator, Verdict};
use holdpoint_expr::{ExprError, Expressions, HELPER_COMMAND, Limit, Limits, RealEvaluator};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The engine does not look up from these for minutes.
const HOSTILE: [&str; 2] = [
    r#"new Array(2**32-1).join("")==="""#,
    r#"(()=>{let s="a".repeat(3e6);for(let i=0;i<1e5;i++) if(s.indexOf("ab")>0) return false;return true})()"#,
];

/// Long enough for any test: then only what the test does can end a question.
const FOR_EVER: Duration = Duration::from_mins(30);

fn helper() -> PathBuf {
    env!("CARGO_BIN_EXE_holdpoint-expr-helper").into()
}

fn evaluator() -> RealEvaluator {
    RealEvaluator::default().in_workers(helper())
}

fn expressions(time: Duration) -> Expressions {
    Expressions::with(Limits { time, ..Limits::default() }).in_workers(helper())
}

/// Tests that look at this process's children must not see each other's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the system says of a process.
struct Child {
    pid: i32,
    /// `Z` for one that is dead and was not waited for.
    state: String,
    /// How long it has worked, in the system's ticks.
    worked: u64,
}

/// The processes that a process has started and not waited for.
fn children_of(parent: u32) -> Vec<Child> {
    let parent = parent.to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name before them may hold anything.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        if fields.get(1) == Some(&parent.as_str()) {
            let worked = fields[11].parse().expect("a number");
            found.push(Child { pid, state: fields[0].to_owned(), worked });
        }
    }
    found
}

/// The numbers of this process's own.
fn children() -> Vec<i32> {
    children_of(std::process::id()).into_iter().map(|child| child.pid).collect()
}

/// The threads of this process that evaluate.
fn evaluating() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("threads").filter_map(Result::ok);
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.trim() == "expression").count()
}

fn kill(pid: i32) {
    // It may be gone already.
    let _ = kill_process(Pid::from_raw(pid).expect("a number"), Signal::KILL);
}

/// Waits until something holds, for as long as a slow machine may need.
fn soon(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        // tidy: sleep, because another process does it in its own time
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came to this: {what}");
}

#[test]
fn what_cannot_be_stopped_is_killed() {
    let _alone = alone();
    let evaluator = evaluator();
    // More often than there are workers.
    for hostile in HOSTILE.into_iter().chain([HOSTILE[0]]) {
        let verdict = evaluator.field(hostile, &json!("x"));
        assert_eq!(verdict, Verdict::Broken("it takes too long".to_owned()), "{hostile}");
        assert!(children().is_empty(), "{hostile}");
        assert_eq!(evaluating(), 0, "{hostile}");
    }
    assert_eq!(evaluator.field("value > 3", &json!(4)), Verdict::Yes);
}

#[test]
fn others_are_answered_meanwhile() {
    let _alone = alone();
    let expressions = expressions(FOR_EVER);
    thread::scope(|scope| {
        let hostile = scope.spawn(|| expressions.holds(HOSTILE[0], &[]));
        soon("it has a worker", || children().len() == 1);
        assert_eq!(expressions.holds("1 < 2", &[]), Ok(true));
        assert_eq!(children().len(), 2);
        assert!(!hostile.is_finished());
        // Once more it is tried: whatever ended the first worker may have been no fault of the expression.
        soon("its workers are killed", || {
            children().into_iter().for_each(kill);
            hostile.is_finished()
        });
        let answer = hostile.join().expect("no panic");
        assert!(matches!(&answer, Err(ExprError::Worker(_))), "{answer:?}");
    });
    assert_eq!(expressions.holds("1 < 2", &[]), Ok(true));
}

#[test]
fn who_finds_all_at_work_waits() {
    let _alone = alone();
    let expressions = Expressions::default().in_workers(helper());
    thread::scope(|scope| {
        let hostile = HOSTILE.map(|source| {
            let expressions = &expressions;
            scope.spawn(move || expressions.holds(source, &[]))
        });
        soon("both have a worker", || children().len() == 2);
        assert_eq!(expressions.holds("1 < 2", &[]), Ok(true));
        for hostile in hostile {
            assert_eq!(hostile.join().expect("no panic"), Err(ExprError::Limit(Limit::Time)));
        }
    });
    assert!(children().len() <= 2, "{:?}", children());
}

#[test]
fn one_worker_serves_many_and_is_replaced_when_it_was_killed() {
    let _alone = alone();
    let evaluator = evaluator();
    assert_eq!(evaluator.field("value > 3", &json!(4)), Verdict::Yes);
    let first = children();
    assert_eq!(first.len(), 1);
    for n in 0..20 {
        assert_eq!(evaluator.field(&format!("value === {n}"), &json!(n)), Verdict::Yes);
        assert_eq!(evaluator.schema(&json!({"const": n}), &json!(n)), Verdict::Yes);
    }
    assert_eq!(children(), first);
    kill(first[0]);
    soon("it is dead", || children_of(std::process::id()).iter().all(|child| child.state == "Z"));
    assert_eq!(evaluator.field("value > 3", &json!(4)), Verdict::Yes);
    let second = children();
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
    drop(evaluator);
    assert!(children().is_empty());
}

#[test]
fn what_is_no_worker_is_not_believed() {
    let _alone = alone();
    for program in ["/usr/bin/yes", "/bin/true", "/nowhere/to/be/found"] {
        let evaluator = RealEvaluator::default().in_workers(program.into());
        let verdict = evaluator.field("true", &json!(1));
        let Verdict::Broken(why) = &verdict else { panic!("{program}: {verdict:?}") };
        assert!(why.starts_with("its worker cannot be started: "), "{program}: {why}");
        assert!(children().is_empty(), "{program}");
    }
}

#[test]
fn a_worker_ends_when_nobody_can_ask_it_any_more() {
    let _alone = alone();
    let mut worker = Command::new(helper())
        .arg(HELPER_COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(worker.stdin.take());
    assert!(worker.wait().expect("it ends").success());
}

/// A server that is killed while its worker is busy: this test runs itself as that server.
#[test]
fn a_busy_worker_does_not_outlive_its_server_for_long() {
    const SERVER: &str = "HOLDPOINT_TEST_SERVER";
    if std::env::var_os(SERVER).is_some() {
        drop(expressions(Duration::from_secs(3)).holds(HOSTILE[0], &[]));
        return;
    }
    let _alone = alone();
    let mut server = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_busy_worker_does_not_outlive_its_server_for_long"])
        .env(SERVER, "1")
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let worker = Cell::new(0);
    soon("it has a worker that works", || {
        let working = children_of(server.id()).into_iter().find(|child| child.worked >= 10);
        worker.set(working.as_ref().map_or(0, |child| child.pid));
        working.is_some()
    });
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    soon("the worker has ended", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", worker.get())).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
}

/// Everything that comes to a value or to an error, deep and long ones too, survives the way there and back.
#[test]
fn a_worker_says_what_the_engine_says() {
    let here = Expressions::default();
    let there = Expressions::default().in_workers(helper());
    let deep = (0..100).fold(json!("Zoë 🦀"), |inner, _| json!([inner]));
    for source in [
        "value",
        "({a: [1.5, null, '\\u2028'], b: value})",
        "undefined",
        "1 +",
        "value.nope.x",
        "throw_me",
        "(() => { throw {a: 1} })()",
        "NaN",
        "() => 1",
        "(() => { while (true) {} })()",
        "((f) => f(f))((f) => f(f))",
        "'x'.repeat(2 ** 28)",
        "'x'.repeat(70000)",
        "'x'.repeat(60000)",
        "typeof process",
    ] {
        let variables = [("value", &deep)];
        assert_eq!(there.evaluate(source, &variables), here.evaluate(source, &variables), "{source}");
        assert_eq!(there.holds(source, &variables), here.holds(source, &variables), "{source}");
        assert_eq!(there.check_syntax(source), here.check_syntax(source), "{source}");
    }
    let large = json!("x".repeat(1_000_000));
    assert_eq!(there.evaluate("value.length", &[("value", &large)]), Ok(json!(1_000_000)));
}

#[test]
fn schemas_are_answered_alike() {
    let (here, there) = (RealEvaluator::default(), evaluator());
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for (schema, value) in [
        (json!({"type": "object"}), json!({})),
        (json!({"type": "object", "required": ["a"]}), json!({})),
        (json!({"type": "array"}), deep),
        (json!({"$ref": "#"}), json!(1)),
        (json!({"type": "objekt"}), json!(1)),
        (json!("text"), json!(1)),
    ] {
        assert_eq!(there.schema(&schema, &value), here.schema(&schema, &value), "{schema}");
        assert_eq!(there.schema_syntax(&schema), here.schema_syntax(&schema), "{schema}");
    }
}

/// Patterns are matched in linear time, but the line is steep: many of them, all tried at every place.
#[test]
fn a_schema_is_stopped_too() {
    let _alone = alone();
    let patterns: Vec<Value> =
        (0..1000).map(|n| json!({"pattern": format!("a[ab]{{{}}}[^ab]", 900 + n)})).collect();
    let (schema, value) = (json!({"allOf": patterns}), json!("aab".repeat(100_000)));
    let evaluator = evaluator();
    assert_eq!(evaluator.schema(&schema, &value), Verdict::Broken("it takes too long".to_owned()));
    assert!(children().is_empty());
    assert_eq!(evaluator.schema(&json!({"const": 1}), &json!(1)), Verdict::Yes);
}
