//! A home with something in it, made by the engine itself, and ways to tamper with its database.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::plan::{Body, Plan};
use holdpoint_core::{Actor, Command, HomeCommand, RunCommand, RunId, StepId};
use holdpoint_engine::clock::{RandomIds, SystemClock};
use holdpoint_engine::executor::BuiltIn;
use holdpoint_engine::{Engine, Parts, PlainEvaluator, Works};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;
use uuid::Uuid;

use super::Sandbox;

/// Where a sandbox has its home, if nothing else is said.
pub const HOME: &str = "user/.local/share/holdpoint";

/// A sandbox whose home has two runs that are sealed and a third that is not; nobody does their work.
pub fn with_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    wait(fill(&sandbox.path(HOME)));
    sandbox
}

pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Does what [`with_runs`] says to a home, which may be in use.
pub async fn fill(home: &Path) {
    let log = Arc::new(SqliteLog::open(&home.join("db"), Options::default()).expect("the log opens"));
    let blobs = LocalBlobs::open(&home.join("blobs"), log.clone()).expect("the blobs open");
    let engine = Engine::new(Parts {
        log,
        blobs: Arc::new(blobs),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        evaluator: Arc::new(PlainEvaluator),
        offers: Arc::new(holdpoint_core::facts::NothingKnown),
        executor: Arc::new(BuiltIn),
        works: Works::Nothing,
        max_parallel: holdpoint_engine::MAX_PARALLEL,
        files: None,
    });
    let submit = async |command| {
        engine.submit(Actor::person("ada"), None, command).await.expect("carried out");
    };
    submit(Command::Home(HomeCommand::Create)).await;
    for n in 1..=2 {
        submit(start(n)).await;
        submit(Command::Run(run(n), RunCommand::Pause)).await;
        submit(Command::Run(run(n), RunCommand::Resume { decides: false, max: None })).await;
    }
    assert!(engine.seal().await.expect("sealed"));
    submit(start(3)).await;
}

pub fn run(n: u32) -> RunId {
    RunId(Uuid::from_u128(u128::from(n) << 32))
}

/// Two notes, one after the other.
fn start(n: u32) -> Command {
    let steps = ["first", "second"].map(StepId::new);
    let body = Arc::new(Body::command(["note", "x"]));
    let mut plan = Plan::linear(steps.clone().map(|step| (step.clone(), step.0)));
    plan.bodies = steps.map(|step| (step, body.clone())).into_iter().collect::<BTreeMap<_, _>>();
    let source = Source::Plan { plan: Arc::new(plan), title: "notes".into(), session: None };
    Command::StartRun(StartRun { run: run(n), source, start: true })
}

/// The database of a sandbox's home, opened behind Holdpoint's back.
pub struct Database(Connection);

impl Database {
    pub fn of(sandbox: &Sandbox) -> Self {
        Self(Connection::open(sandbox.path(HOME).join("db/state.db")).expect("a database"))
    }

    /// Runs SQL that changes something.
    pub fn change(&self, sql: &str) {
        let changed = self.0.execute(sql, []).expect("good SQL");
        assert!(changed > 0, "{sql} changes nothing");
    }

    /// The positions of a run's rows in the log.
    pub fn rows_of(&self, n: u32) -> Vec<i64> {
        let sql = "SELECT log.seq FROM log JOIN stream ON stream.id = log.stream
                   WHERE stream.uuid = ? AND stream.kind = 'run' ORDER BY log.seq";
        let mut statement = self.0.prepare(sql).expect("good SQL");
        let rows = statement.query_map([run(n).0.as_bytes().as_slice()], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("numbers")
    }

    /// Removes a row from the log.
    pub fn remove(&self, seq: i64) {
        self.change(&format!("DELETE FROM log WHERE seq = {seq}"));
    }

    /// Closes the gaps that removed rows left, as somebody would who wants to hide them.
    pub fn close_gaps(&self) {
        let mut statement = self.0.prepare("SELECT seq, count FROM log ORDER BY seq").expect("good SQL");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        let rows: Vec<(i64, i64)> = rows.collect::<Result<_, _>>().expect("numbers");
        let mut next = 1;
        for (seq, count) in rows {
            self.change(&format!("UPDATE log SET seq = {next} WHERE seq = {seq}"));
            next += count;
        }
    }
}
