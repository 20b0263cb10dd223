//! What collection keeps and removes, and plans that many runs use at once.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::io::Cursor;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Entry, Usage};
use holdpoint_core::plan::body::Approval;
use holdpoint_core::plan::{Body, Plan};
use holdpoint_core::state::run::AskKind;
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{Actor, Answer, Assurance, Command, Digest, ExecNo, RunCommand, RunId};
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_engine::{Engine, IdemKey, Reply, Settled, SubmitError};
use holdpoint_snapshot::{Name, Node, Tree};
use holdpoint_store::BoxFuture;
use tokio::sync::Semaphore;

use common::{Home, chain, start_plan};

fn ann() -> Actor {
    Actor::person("ann")
}

/// Journals a tool's call with the folder after it, and then waits to be let go.
struct Calls {
    entries: Mutex<Vec<Entry>>,
    journalled: Arc<Semaphore>,
    go: Arc<Semaphore>,
}

impl Calls {
    fn new(entries: Vec<Entry>) -> Arc<Self> {
        let (journalled, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        Arc::new(Self { entries: Mutex::new(entries), journalled, go })
    }
}

impl Executor for Calls {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let entries = self.entries.lock().expect("no panic").clone();
        let (journalled, go) = (self.journalled.clone(), self.go.clone());
        Box::pin(async move {
            job.desk.write(entries).await.expect("written");
            journalled.add_permits(1);
            go.acquire().await.expect("open").forget();
            Outcome::done(None, Vec::new(), Usage::default())
        })
    }
}

async fn keep(engine: &Engine, bytes: Vec<u8>) -> Digest {
    engine.keep(Box::new(Cursor::new(bytes)), u64::MAX).await.expect("kept").0
}

async fn is_there(engine: &Engine, digest: Digest) -> bool {
    engine.blob(digest).await.is_ok()
}

/// A folder with one file, as a tree that names it.
async fn folder(engine: &Engine, content: Vec<u8>) -> (Digest, Digest) {
    let size = content.len() as u64;
    let content = keep(engine, content).await;
    let node = Node::File { mode: 0o600, size, content };
    (keep(engine, tree(node)).await, content)
}

fn tree(node: Node) -> Vec<u8> {
    let name = Name::new(b"entry").expect("a name");
    Tree::new(vec![holdpoint_snapshot::Entry { name, node }]).expect("one name").encode()
}

fn called(workspace: Digest, more: Digest) -> Entry {
    Entry::ToolResult {
        call: "c1".into(),
        content: "done".into(),
        workspace: Some(workspace),
        key: None,
        tool: None,
        agent: None,
        error: false,
        more: Some(more),
        hidden: false,
    }
}

#[tokio::test(start_paused = true)]
async fn trees_are_kept_until_their_execution_ends() {
    let home = Home::new();
    let stock = home.idle_engine();
    // One content is a file, one is in the database, and one lies a folder deeper.
    let (one, a) = folder(&stock, vec![1; 100_000]).await;
    let (two, b) = folder(&stock, vec![2; 100]).await;
    let (inner, c) = folder(&stock, vec![7; 100]).await;
    let deeper = keep(&stock, tree(Node::Folder { mode: 0o700, tree: inner })).await;
    let trees = [one, two];
    let inside = [a, b, c, inner];
    let more = [keep(&stock, vec![3; 100_000]).await, keep(&stock, vec![4; 100]).await];
    let start = deeper;
    let mut entries: Vec<Entry> = trees.iter().zip(more).map(|(tree, more)| called(*tree, more)).collect();
    entries.push(Entry::Pinned { name: "workspace/".into(), digest: start });
    let unnamed = keep(&stock, vec![6; 100]).await;
    let calls = Calls::new(entries);
    let engine = home.engine_with(calls.clone());
    let (command, run) = start_plan(chain(2));
    engine.submit(ann(), None, command).await.expect("started");
    calls.journalled.acquire().await.expect("open").forget();
    let swept = engine.gc(false).await.expect("collected").blobs;
    assert_eq!((swept.blobs, is_there(&engine, unnamed).await), (1, false), "what nothing names is removed");
    for tree in trees.into_iter().chain([start]).chain(inside) {
        assert!(is_there(&engine, tree).await, "the work may have to continue from it");
    }
    // The same trees are those of the second step, which works now.
    calls.go.add_permits(1);
    calls.journalled.acquire().await.expect("open").forget();
    assert_eq!(engine.gc(true).await.expect("collected").blobs.blobs, 0);
    calls.go.add_permits(1);
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    assert_eq!(engine.gc(false).await.expect("collected").blobs.blobs, 7);
    for tree in trees.into_iter().chain([start]).chain(inside) {
        assert!(!is_there(&engine, tree).await, "nobody continues from it any more");
    }
    for more in more {
        assert!(is_there(&engine, more).await, "people read it as long as the log has it");
    }
}

/// A plan that is no other one's, and asks before its step begins.
fn asking(n: u64) -> Plan {
    let mut plan = chain(1);
    for body in plan.bodies.values_mut() {
        let mut asking = Body::command(["note", &n.to_string()]);
        asking.policy.approve_start = Approval::when(true);
        *body = Arc::new(asking);
    }
    plan
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_plans_than_any_cache_holds_are_decided_on_at_once() {
    let home = Home::new();
    let engine = home.idle_engine();
    let mut runs: Vec<RunId> = Vec::new();
    for n in 0..600 {
        let (command, run) = start_plan(asking(n));
        engine.submit(ann(), None, command).await.expect("started");
        runs.push(run);
    }
    // Each is rejected and asked for again, by two at once from both ends.
    let decide = |engine: Engine, runs: Vec<RunId>| async move {
        for run in runs {
            let reject = Answer::of(ExecNo(1), AskKind::Start, "reject");
            let start = Answer::of(ExecNo(1), AskKind::Begin, "start");
            for command in [reject, start].map(RunCommand::Answer) {
                match engine.submit(ann(), None, Command::Run(run, command)).await {
                    Ok(_) => {}
                    Err(SubmitError::Rejected(rejection)) => assert_ne!(rejection.code(), "not_found"),
                    Err(cause) => panic!("{cause}"),
                }
            }
        }
    };
    let backwards = runs.iter().rev().copied().collect();
    let (one, two) =
        tokio::join!(tokio::spawn(decide(engine.clone(), runs)), tokio::spawn(decide(engine, backwards)));
    one.expect("decided");
    two.expect("decided");
}

#[tokio::test(start_paused = true)]
async fn a_large_reply_is_kept_until_its_key_is_over() {
    const DAY: u64 = 24 * 60 * 60;
    let home = Home::new();
    let engine = home.idle_engine();
    let (command, _) = start_plan(chain(1));
    let body: Arc<[u8]> = (0..=255).cycle().take(100_000).collect();
    let key =
        || Some(IdemKey { key: "k".to_owned(), request: Digest::of(b"request"), operation: "start".into() });
    let told = |_: &Settled<'_>| Ok(Reply { status: 201, body: body.clone() });
    let answer = async |engine: &Engine| {
        let command = command.clone();
        engine.answer(ann(), Assurance::default(), key(), command, &told).await.expect("answered")
    };
    assert!(!answer(&engine).await.replayed);
    let unnamed = keep(&engine, vec![6; 100]).await;
    engine.gc(false).await.expect("collected");
    assert!(!is_there(&engine, unnamed).await, "what nothing names is removed");
    let again = answer(&home.idle_engine()).await;
    assert_eq!((again.replayed, again.reply), (true, Reply { status: 201, body: body.clone() }));
    tokio::time::advance(Duration::from_secs(7 * DAY - 60)).await;
    engine.gc(false).await.expect("collected");
    assert!(answer(&engine).await.replayed, "seven days are not over");
    tokio::time::advance(Duration::from_secs(60)).await;
    engine.gc(false).await.expect("collected");
    assert!(!is_there(&engine, Digest::of(&body)).await, "nobody can ask for it any more");
}
