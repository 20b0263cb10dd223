//! One plan of each kind of source, made of core types only: a pipeline's steps are in `engine.rs` and the command
//! line's tests; here are phases, a list of nodes with groups, work by a client, and a loop with snapshots.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use common::{Home, start_plan};
use holdpoint_core::commands::advance::Advance;
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::commands::take_snapshot::TakeSnapshot;
use holdpoint_core::event::{Failure, Text, Usage};
use holdpoint_core::plan::body::{AfterCheck, Check, Criteria, Gap, OnCheck, SnapshotSpec, Task, Work};
use holdpoint_core::plan::{
    AtLimit, Body, Choice, ChoiceAction, ChoiceOption, Condition, Expr, Loop, OnError, Op, Over, Plan,
    PlanKind, PlanStep, Test,
};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{AckKey, AckTo, AskKind, NodeKind, Part, RunStatus};
use holdpoint_core::{
    Actor, Answer, Command, Digest, NodeNo, Rejection, RunCommand, RunId, State, StepId, StreamId, Target,
};
use holdpoint_engine::executor::{Executor, Job};
use holdpoint_engine::{Engine, SubmitError, Submitted, audit, doctor};
use holdpoint_store::BoxFuture;
use serde_json::{Map, Value, json};

/// Does work as a table says, and counts how often each step was done.
#[derive(Default)]
struct Scripted {
    done: Mutex<BTreeMap<(String, Part), u32>>,
    /// The feedback that each piece of work was given.
    feedback: Mutex<Vec<(String, Vec<Text>)>>,
    /// What comes of the n-th time that a part of a step is done; else it is done without a result.
    table: BTreeMap<(String, Part, u32), Outcome>,
}

impl Scripted {
    fn with(mut self, step: &str, part: Part, time: u32, outcome: Outcome) -> Self {
        self.table.insert((step.to_owned(), part, time), outcome);
        self
    }

    fn times(&self, step: &str) -> u32 {
        self.done.lock().expect("no panic").get(&(step.to_owned(), Part::Work)).copied().unwrap_or(0)
    }
}

impl Executor for Scripted {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let key = (job.execution.place.step.to_string(), job.effect.part);
        let feedback = job.execution.feedback.clone();
        self.feedback.lock().expect("no panic").push((key.0.clone(), feedback));
        let mut done = self.done.lock().expect("no panic");
        let time = done.entry(key.clone()).or_default();
        *time += 1;
        let scripted = self.table.get(&(key.0, key.1, *time)).cloned();
        let outcome = scripted.unwrap_or_else(|| match job.effect.part {
            Part::Work => Outcome::done(None, Vec::new(), Usage::default()),
            Part::Check => Outcome::Judged { passed: true, reasons: Vec::new(), usage: Usage::default() },
        });
        Box::pin(std::future::ready(outcome))
    }
}

fn step(id: &str, after: &[&str], kind: PlanKind) -> PlanStep {
    PlanStep::new(StepId::new(id), after.iter().map(|id| StepId::new(id)).collect(), kind)
}

fn work(id: &str, after: &[&str]) -> PlanStep {
    step(id, after, PlanKind::Step)
}

fn choice(options: &[(&str, ChoiceAction)]) -> PlanKind {
    let option = |(label, action): &(&str, ChoiceAction)| {
        let (label, action) = ((*label).into(), action.clone());
        ChoiceOption { label, action }
    };
    let options = options.iter().map(option).collect();
    PlanKind::Gate(Choice { prompt: "Continue?".into(), options, ..Choice::default() })
}

fn plan(steps: Vec<PlanStep>, bodies: &[(&str, Body)]) -> Plan {
    let bodies = bodies.iter().map(|(id, body)| (StepId::new(id), Arc::new(body.clone()))).collect();
    Plan { steps, bodies, ..Plan::default() }
}

fn is(path: &str, op: Op, value: Value) -> Expr {
    Expr::Test(Test::Is(path.into(), op, value))
}

fn done_with(output: Value, context: Value) -> Outcome {
    let Value::Object(context) = context else { panic!("an object") };
    Outcome::Done { output: Some(output), artifacts: Vec::new(), context, usage: Usage::default() }
}

fn incomplete(why: &str) -> Outcome {
    Outcome::Judged { passed: false, reasons: vec![why.into()], usage: Usage::default() }
}

/// A run on an engine.
struct Running {
    home: Home,
    engine: Engine,
    run: RunId,
}

impl Running {
    async fn start(plan: Plan, executor: Arc<Scripted>) -> Self {
        let home = Home::new();
        let engine = home.engine_with(executor);
        let (command, run) = start_plan(plan);
        engine.submit(Actor::person("ann"), None, command).await.expect("started");
        Self { home, engine, run }
    }

    async fn state(&self) -> RunState {
        let loaded = self.engine.view(StreamId::Run(self.run)).await.expect("readable");
        match &loaded.state {
            State::Run(state) => RunState::clone(state),
            State::Home(_) | State::Pipeline(_) | State::Journal(_) => panic!("a run"),
        }
    }

    async fn submit(&self, actor: Actor, command: RunCommand) -> Result<Submitted, SubmitError> {
        self.engine.submit(actor, None, Command::Run(self.run, command)).await
    }

    async fn until(&self, wanted: impl Fn(&RunState) -> bool) {
        self.home.until(&self.engine, self.run, wanted).await;
    }

    /// Answers the open gate of a kind as a person does who has seen it.
    async fn answer(&self, kind: AskKind, option: &str, feedback: Option<&str>) {
        self.until(|state| state.gates.values().any(|gate| gate.ask.kind() == kind)).await;
        let state = self.state().await;
        let (id, gate) = state.gates.iter().find(|(_, gate)| gate.ask.kind() == kind).expect("a gate");
        let mut answer = Answer::new(Target::Gate(*id), kind, option);
        (answer.digest, answer.feedback) = (Some(gate.digest), feedback.map(Text::from));
        self.submit(Actor::person("ann"), RunCommand::Answer(answer)).await.expect("answered");
    }

    /// An agent hands in notes at a node.
    async fn hand_in(
        &self,
        node: u32,
        attempt: u32,
        notes: &str,
        context: Value,
    ) -> Result<Submitted, SubmitError> {
        let Value::Object(context) = context else { panic!("an object") };
        let output = Some(json!({"notesMarkdown": notes}));
        let advance = Advance { node: NodeNo(node), attempt, output, context };
        self.submit(Actor::agent("coder"), RunCommand::Advance(advance)).await
    }

    /// The tables and the chain of hashes agree with the log, and another process folds the same state.
    async fn agrees(&self) {
        let log = self.home.open();
        let tables = doctor::check_tables(&*log, false, &|_| {}).await.expect("checked");
        assert_eq!(tables.wrong, Vec::<String>::new());
        let chain = audit::verify(&*log, &|_| {}).await.expect("verified");
        assert_eq!(chain.wrong, Vec::<String>::new());
        let other = self.home.idle_engine();
        let loaded = other.run(self.run).await.expect("read").expect("a run");
        let State::Run(state) = &loaded.state else { panic!("a run") };
        assert_eq!(**state, self.state().await);
    }
}

#[tokio::test(start_paused = true)]
async fn phases_with_a_gap_check_a_repeat_and_a_skip() {
    let mut draft = Body::command(["any"]);
    draft.checks = vec![Check::Gap(Gap { message: Some("incomplete".into()), ..Gap::default() })];
    draft.policy.on_check = OnCheck { then: AfterCheck::Retry, retries: 1, at_last: AfterCheck::Ask };
    let any = Body::command(["any"]);
    let asked = choice(&[
        ("Publish", ChoiceAction::Continue),
        ("Redraft", ChoiceAction::Repeat(StepId::new("draft"))),
        ("Skip the announcement", ChoiceAction::Skip(vec![StepId::new("announce")])),
    ]);
    let steps = vec![
        work("plan", &[]),
        work("draft", &["plan"]),
        step("draft-gate", &["draft"], asked),
        work("announce", &["draft-gate"]),
        work("end", &["announce"]),
    ];
    let plan =
        plan(steps, &[("plan", any.clone()), ("draft", draft), ("announce", any.clone()), ("end", any)]);
    let executor = Scripted::default();
    // The gap check fails for all that it may, asks, and fails once more after a person's retry.
    let executor =
        (1..=3).fold(executor, |all, time| all.with("draft", Part::Check, time, incomplete("no notes")));
    let executor = Arc::new(executor);
    let running = Running::start(plan, executor.clone()).await;
    running.answer(AskKind::Guidance, "retry", None).await;
    running.answer(AskKind::Guidance, "accept", None).await;
    assert_eq!(executor.times("draft"), 3);
    running.answer(AskKind::Choice, "Redraft", Some("shorter, please")).await;
    running.until(|state| state.gates.values().any(|gate| gate.ask.kind() == AskKind::Choice)).await;
    let state = running.state().await;
    let (_, again) = state.executions().filter(|(_, e)| &*e.place.step.0 == "draft").last().expect("a visit");
    assert_eq!(again.place.visit, 2);
    let told =
        executor.feedback.lock().expect("no panic").iter().rev().find(|(step, _)| step == "draft").cloned();
    assert_eq!(told.map(|(_, feedback)| feedback), Some(vec![Text::from("shorter, please")]));
    running.answer(AskKind::Choice, "Skip the announcement", None).await;
    running.until(|state| state.status == RunStatus::Completed).await;
    assert_eq!((executor.times("plan"), executor.times("announce"), executor.times("end")), (1, 0, 1));
    running.agrees().await;
}

#[tokio::test(start_paused = true)]
async fn a_gap_that_a_person_stops_ends_the_run() {
    let mut draft = Body::command(["any"]);
    draft.checks = vec![Check::Gap(Gap::default())];
    draft.policy.on_check = OnCheck { then: AfterCheck::Ask, retries: 1, ..OnCheck::default() };
    let plan = plan(vec![work("draft", &[])], &[("draft", draft)]);
    let executor = Scripted::default().with("draft", Part::Check, 1, incomplete("no notes"));
    let running = Running::start(plan, Arc::new(executor)).await;
    running.answer(AskKind::Guidance, "stop", None).await;
    assert_eq!(running.state().await.status, RunStatus::Failed);
    running.agrees().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_nodes_with_a_wide_group_a_snapshot_and_a_pause() {
    let members: Vec<PlanStep> = (0..40).map(|n| work(&format!("m{n}"), &[])).collect();
    let mut bodies: Vec<(String, Body)> =
        members.iter().map(|member| (member.id.to_string(), Body::command(["any"]))).collect();
    let saved = SnapshotSpec { trigger: "phase_boundary".into(), ..SnapshotSpec::default() };
    bodies.push(("first".to_owned(), Body::command(["any"])));
    bodies.push(("last".to_owned(), Body::command(["any"])));
    bodies.push(("save".to_owned(), Body::new(Work::Snapshot(saved))));
    let asked = choice(&[
        ("Continue", ChoiceAction::Continue),
        ("Pause", ChoiceAction::Pause),
        ("Abort", ChoiceAction::Abort),
    ]);
    let steps = vec![
        work("first", &[]),
        step("group", &["first"], PlanKind::Group(members)),
        work("save", &["group"]),
        step("CP-01", &["save"], asked),
        work("last", &["CP-01"]),
    ];
    let bodies: Vec<(&str, Body)> = bodies.iter().map(|(id, body)| (&**id, body.clone())).collect();
    let mut plan = plan(steps, &bodies);
    plan.parallel = 7;
    // One member fails for good, and the run continues without it.
    let failed = Failure::new("broken", "it broke");
    let failed = Outcome::Failed { failure: failed, artifacts: Vec::new(), usage: Usage::default() };
    let executor = Arc::new(Scripted::default().with("m5", Part::Work, 1, failed));
    let running = Running::start(plan, executor.clone()).await;
    running.answer(AskKind::Failed, "skip", None).await;
    running.answer(AskKind::Choice, "Pause", None).await;
    running.until(|state| state.status == RunStatus::Paused).await;
    let state = running.state().await;
    let is_snapshot = |node: &holdpoint_core::state::run::Node| matches!(node.kind, NodeKind::Snapshot(_));
    assert_eq!(state.graph.nodes(0).filter(|(_, node)| is_snapshot(node)).count(), 1);
    running
        .submit(Actor::person("ann"), RunCommand::Resume { decides: true, max: None })
        .await
        .expect("resumed");
    running.until(|state| state.status == RunStatus::Completed).await;
    assert_eq!((executor.times("m39"), executor.times("last")), (1, 1));
    running.agrees().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_blocks_forks_and_saves() {
    let mut outside = Body::new(Work::Outside(Task { prompt: "do it".into() }));
    outside.checks = vec![Check::Notes(Criteria { min_length: 3, ..Criteria::default() })];
    let steps = vec![work("a", &[]), work("b", &["a"]), work("c", &["b"])];
    let plan = plan(steps, &[("a", outside.clone()), ("b", outside.clone()), ("c", outside)]);
    let running = Running::start(plan, Arc::default()).await;
    running.hand_in(0, 1, "no", json!({})).await.expect("refused, and recorded");
    let again = running.hand_in(0, 1, "no", json!({})).await.expect("the same again");
    assert_eq!(again.receipt.map(|receipt| receipt.last), None, "nothing is written");
    running.hand_in(1, 1, "the first notes", json!({"way": 1})).await.expect("taken");
    let output = json!({"notesMarkdown": "before the change"});
    let save = TakeSnapshot { node: NodeNo(2), output, tags: Vec::new() };
    running.submit(Actor::agent("coder"), RunCommand::TakeSnapshot(save)).await.expect("saved");
    running.hand_in(2, 1, "the second notes", json!({})).await.expect("taken");
    // Two processes hand in the same at the same time: it counts once.
    let other = running.home.idle_engine();
    let fork = |engine: Engine| {
        let advance = Advance {
            node: NodeNo(2),
            attempt: 2,
            output: Some(json!({"notesMarkdown": "another second"})),
            context: Map::from_iter([("way".to_owned(), json!(2))]),
        };
        let command = Command::Run(running.run, RunCommand::Advance(advance));
        async move { engine.submit(Actor::agent("coder"), None, command).await }
    };
    let (one, two) = tokio::join!(fork(running.engine.clone()), fork(other));
    let wrote = [one, two].map(|sent| sent.expect("taken or in effect").receipt.is_some());
    assert_eq!(wrote.iter().filter(|wrote| **wrote).count(), 1, "{wrote:?}");
    let state = running.state().await;
    assert_eq!(state.graph.branches().count(), 2);
    let led = state.acks.get(&(NodeNo(2), AckKey::Advance(2))).map(|ack| ack.to);
    let Some(AckTo::Node(tip)) = led else { panic!("{led:?}") };
    running.hand_in(tip.0, 1, "the end", json!({})).await.expect("taken");
    assert_eq!(running.state().await.status, RunStatus::Completed);
    // The other branch can still be continued: that opens the run again.
    let head = running.state().await.graph.branch(holdpoint_core::BranchNo(0)).expect("a branch").head;
    running.hand_in(head.0, 1, "the other end", json!({})).await.expect("taken");
    assert_eq!(running.state().await.status, RunStatus::Completed);
    let unknown = running.hand_in(99, 1, "nowhere", json!({})).await;
    assert!(
        matches!(unknown, Err(SubmitError::Rejected(Rejection::NotFound { what: "node", .. }))),
        "{unknown:?}"
    );
    running.agrees().await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_with_snapshots_recovers_and_reaches_its_limit() {
    let until = is("nodes.check.exit", Op::Equals, json!(0));
    let spec = SnapshotSpec { trigger: "iteration".into(), tree: true, ..SnapshotSpec::default() };
    let body = vec![work("try", &[]), work("check", &["try"]), work("save", &["check"])];
    let repeated = Loop {
        over: Over::Until(until),
        max: 2,
        at_limit: AtLimit::Pause,
        whole: true,
        ..Loop::times(body, 1)
    };
    let mut last = work("last", &["loop"]);
    last.when =
        Some(Condition { expr: is("nodes.check.exit", Op::Equals, json!(0)), on_error: OnError::Skip });
    let steps = vec![step("loop", &[], PlanKind::Loop(repeated)), last];
    let any = Body::command(["any"]);
    let bodies = [
        ("try", any.clone()),
        ("check", any.clone()),
        ("save", Body::new(Work::Snapshot(spec))),
        ("last", any),
    ];
    let tree = Digest::of(b"{}");
    let captured = Outcome::Captured { tree, usage: Usage::default() };
    let mut executor = Scripted::default();
    for time in 1..=5 {
        let exit = if time == 5 { 0 } else { 1 };
        executor = executor.with("check", Part::Work, time, done_with(json!({"exit": exit}), json!({})));
        executor = executor.with("save", Part::Work, time, captured.clone());
    }
    let executor = Arc::new(executor);
    let home = Home::new();
    let engine = home.engine_with(executor.clone());
    let kept = engine.keep(Box::new(&b"{}"[..]), 2).await.expect("a tree");
    assert_eq!(kept.0, tree);
    let (command, run) = start_plan(plan(steps, &bodies));
    engine.submit(Actor::person("ann"), None, command).await.expect("started");
    let running = Running { home, engine, run };
    running.until(|state| state.status == RunStatus::Paused).await;
    let person = || Actor::person("ann");
    let low = running.submit(person(), RunCommand::Resume { decides: false, max: Some(2) }).await;
    assert!(matches!(low, Err(SubmitError::Rejected(Rejection::Invalid(_)))), "{low:?}");
    // Back to the end of the first pass, and undone again.
    let state = running.state().await;
    let snapshots: Vec<NodeNo> = state
        .graph
        .nodes(0)
        .filter(|(_, node)| matches!(node.kind, NodeKind::Snapshot(_)))
        .map(|(n, _)| n)
        .collect();
    assert_eq!(snapshots.len(), 2);
    let recovered = running.submit(person(), RunCommand::Recover(snapshots[0])).await.expect("recovered");
    assert_eq!(running.state().await.status, RunStatus::Paused);
    let recovery = recovered.names.rollback.expect("a recovery");
    running.submit(person(), RunCommand::UndoRecovery(recovery)).await.expect("undone");
    assert_eq!(executor.times("try"), 2);
    running.submit(person(), RunCommand::Recover(snapshots[0])).await.expect("recovered");
    running.submit(person(), RunCommand::Resume { decides: false, max: Some(9) }).await.expect("resumed");
    running.until(|state| state.status != RunStatus::InProgress || !state.gates.is_empty()).await;
    let state = running.state().await;
    if let Some((id, gate)) = state.gates.iter().next() {
        // What a recovery continues with starts by hand.
        let mut answer = Answer::new(Target::Gate(*id), AskKind::Begin, "start");
        answer.digest = Some(gate.digest);
        running.submit(person(), RunCommand::Answer(answer)).await.expect("started");
    }
    running.until(|state| state.status == RunStatus::Completed).await;
    assert_eq!(executor.times("last"), 1);
    running.agrees().await;
}
