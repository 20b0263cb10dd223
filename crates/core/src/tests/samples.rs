//! One event of every kind with every field set.
//!
//! A field that is added to an event must be given a value here; tests of storage and of blobs look at all of them.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::assurance::{Assurance, Level};
use crate::budget::{Amounts, Budget, Measure, Reached, Scope};
use crate::definition::{Fault, PipelineConfig};
use crate::event::{
    Blocker, Content, Drift, Drifted, Entry, Event, Failure, HomeEvent, Level as LogLevel, LoopEnd, Made,
    MessageRole, Origin, PauseReason, PipelineEvent, Place, Role, RollbackRecord, RollbackType, RunEvent,
    SkipReason, TriggeredBy, Usage, Warning,
};
use crate::plan::{Choice, ChoiceAction, ChoiceOption};
use crate::state::run::{Ask, AskKind, FrontChange, FrontDelta, Layer, Part, Return, Round, Var};
use crate::testing::{form, pipeline_id, run_id};
use crate::{
    ArtifactId, ArtifactRecordId, BranchNo, CheckpointId, Digest, ExecNo, GateId, NodeNo, RollbackId, Seq,
    SessionId, SnapshotId, StepId, Timestamp, TokenId,
};

/// All of them.
pub(super) fn all() -> Vec<Event> {
    let home = home().into_iter().map(Event::Home);
    let pipeline = pipeline().into_iter().map(Event::Pipeline);
    let run = run_begins().into_iter().chain(run_works()).chain(run_walks()).chain(run_ends());
    home.chain(pipeline).chain(run.map(Event::Run)).chain(journal().into_iter().map(Event::Journal)).collect()
}

fn id(n: u128) -> Uuid {
    Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0001_0000 + n)
}

fn gate() -> GateId {
    GateId(id(1))
}

fn digest() -> Digest {
    Digest::of(b"sample")
}

const X: ExecNo = ExecNo(1);

fn usage() -> Usage {
    Usage {
        calls: 1,
        input_tokens: 2,
        output_tokens: 3,
        cache_read_tokens: 4,
        cache_write_tokens: 5,
        cost_micros: 6,
    }
}

fn failure() -> Failure {
    Failure { kind: "script_error".into(), message: "it broke".into(), trace: Some("line 3".into()) }
}

fn delta() -> FrontDelta {
    let step = StepId::new("draft");
    let round = Round { iteration: 2, of: Some(4), max: 4, left: 3 };
    let way = Return { gate: StepId::new("good"), feedback: Some("shorter".into()) };
    let var = Var { value: json!({"name": "bridges"}).into(), layer: Layer::Critical };
    FrontDelta {
        made: vec![ExecNo(3)],
        reached: vec![place()],
        done: vec![place()],
        changes: vec![
            FrontChange::Join(step.clone(), Some(1)),
            FrontChange::Round(step.clone(), Some(round)),
            FrontChange::Items(step.clone(), Some(json!(["a"]).into())),
            FrontChange::Visit(step.clone(), Some(2)),
            FrontChange::Return(step.clone(), Some(way)),
            FrontChange::Skip(step, true),
            FrontChange::Context("topic".into(), Some(var)),
        ],
    }
}

fn place() -> Place {
    Place { step: StepId::new("draft"), path: vec![(StepId::new("loop"), 2)], visit: 3 }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

fn home() -> Vec<HomeEvent> {
    let token = TokenId(id(2));
    let (name, role, expires) = ("ann".into(), Role::Approver, Some(Timestamp(9)));
    vec![
        HomeEvent::Made { store: id(3) },
        HomeEvent::TokenIssued {
            token,
            name,
            role,
            secret: digest(),
            expires,
            agent: true,
            pipelines: vec![crate::PipelineId(id(10))],
        },
        HomeEvent::TokenRevoked { token },
        HomeEvent::Sealed { upto: Seq(7), streams: 2, heads: digest() },
    ]
}

fn pipeline() -> Vec<PipelineEvent> {
    let checkpoint = CheckpointId(id(4));
    let config = PipelineConfig { auto_advance: true, budgets: Some(budgets()) };
    let warnings = vec![Fault::at("/execution", "somebody should know")];
    let (name, description) = ("Research", Some("What it is for".into()));
    let rollback = RollbackId(id(5));
    vec![
        PipelineEvent::Made {
            name: name.into(),
            description: description.clone(),
            config: PipelineConfig::default(),
        },
        PipelineEvent::Changed { name: "More research".into(), description, config },
        PipelineEvent::CheckpointAdded {
            checkpoint,
            position: 0,
            definition: Arc::new(form("Draft")),
            warnings: warnings.clone(),
        },
        PipelineEvent::CheckpointChanged { checkpoint, definition: Arc::new(form("Outline")), warnings },
        PipelineEvent::Reordered { order: vec![checkpoint] },
        PipelineEvent::RunOpened { run: run_id(1), number: 1 },
        PipelineEvent::RunClosed { run: run_id(1) },
        PipelineEvent::RunReopened { run: run_id(1) },
        PipelineEvent::RolledBack(RollbackRecord {
            rollback,
            level: RollbackType::RunLevel,
            source: (run_id(2), 2),
            target: (run_id(1), 1),
            checkpoint: Some((checkpoint, 0)),
            removed_runs: vec![(run_id(2), 2)],
            next_number: 3,
            triggered_by: TriggeredBy::UserRequest,
            reason: Some("a wrong turn".into()),
        }),
        PipelineEvent::BudgetRaised { by: Amounts::of(Measure::Tokens, 1000) },
        PipelineEvent::RollbackUndone { rollback },
        PipelineEvent::ArchiveEnded { rollback },
        PipelineEvent::DriftRepaired {
            folder: Some(".drift/20251009T080000Z".into()),
            files: vec![Drifted { path: "runs/v1/run_info.json".into(), how: Drift::Changed }],
            count: 1,
        },
        PipelineEvent::CheckpointRemoved { checkpoint },
        PipelineEvent::Deleted {},
        PipelineEvent::Restored {},
    ]
}

fn run_begins() -> Vec<RunEvent> {
    let pipeline = Origin::Pipeline {
        pipeline: pipeline_id(),
        definition_version: 2,
        number: 2,
        previous: Some((run_id(1), 1)),
    };
    let file = Origin::File { title: "Plan".into(), session: SessionId(id(6)) };
    vec![
        RunEvent::Made { origin: file, plan: digest(), total: 4 },
        RunEvent::Made { origin: pipeline, plan: digest(), total: 4 },
        RunEvent::Began {},
        RunEvent::ExecutionMade {
            x: X,
            branch: BranchNo(1),
            place: place(),
            position: 1,
            name: Some("Draft".into()),
            body: Some(digest()),
            max_attempts: 3,
            max_revisions: 2,
            held: true,
            feedback: Some("shorter".into()),
            outside: true,
        },
        RunEvent::StepSkipped { branch: BranchNo(1), place: place(), why: SkipReason::Choice },
        asked(Ask::Begin),
        asked(Ask::Start),
        RunEvent::Rejected {
            x: X,
            gate: gate(),
            digest: digest(),
            assurance: Assurance::PREPARED,
            of: AskKind::Start,
            feedback: Some("not yet".into()),
        },
        RunEvent::Approved {
            x: X,
            gate: gate(),
            digest: digest(),
            assurance: Assurance::PREPARED,
            of: AskKind::Start,
            edited: true,
        },
    ]
}

fn asked(ask: Ask) -> RunEvent {
    let (minimum, expires) = (Level::Terminal, Some(Timestamp(9)));
    RunEvent::Asked { x: X, gate: gate(), ask, digest: digest(), minimum, expires }
}

fn run_works() -> Vec<RunEvent> {
    let deadline = Some(Timestamp(9));
    let (gate, digest, assurance) = (gate(), digest(), Assurance::PREPARED);
    let made = Made {
        record: ArtifactRecordId(id(8)),
        artifact: ArtifactId(id(9)),
        name: "report".into(),
        format: "txt".into(),
        digest,
        size: 6,
    };
    let (output, reasons) = (Some(json!({"found": 3})), vec!["too short".into()]);
    vec![
        RunEvent::AttemptBegan { x: X, revision: 1, attempt: 2, deadline },
        asked(Ask::Form),
        RunEvent::Submitted {
            x: X,
            gate,
            digest,
            assurance,
            fields: object(json!({"answer": "yes"})),
            text: Some("this one".into()),
            deadline,
        },
        asked(Ask::Input),
        RunEvent::AttemptRestarted { x: X },
        RunEvent::NoteQueued { x: X, text: "mind the gap".into() },
        RunEvent::AttemptFailed { x: X, failure: failure(), retry_at: Timestamp(8), usage: usage() },
        RunEvent::ArtifactMade { x: X, made },
        RunEvent::WorkDone {
            x: X,
            judge: true,
            output: output.clone(),
            usage: usage(),
            context: object(json!({"topic": "bridges"})),
        },
        RunEvent::Checked { x: X, passed: false, reasons, usage: usage() },
        asked(Ask::Guidance),
        asked(Ask::Budget(reached(), Part::Check)),
        RunEvent::BudgetRaised {
            x: X,
            gate,
            digest,
            assurance,
            scope: Scope::Run,
            by: Amounts::of(Measure::Cost, 5_000_000),
            deadline: Some(crate::Timestamp(7)),
        },
        asked(Ask::Result),
        RunEvent::ApprovalGiven { x: X, gate, digest, assurance },
        RunEvent::RevisionAsked { x: X, gate, digest, assurance, feedback: "shorter".into() },
        RunEvent::ArtifactPromoted { x: X, record: ArtifactRecordId(id(8)) },
        RunEvent::ExecutionCompleted { x: X, output, usage: usage() },
        RunEvent::ExecutionFailed { x: X, failure: failure(), usage: usage() },
        asked(Ask::Failed),
        RunEvent::PassedOver { x: X },
        RunEvent::RetryGranted { x: X, gate, digest, assurance, revision: true },
    ]
}

fn run_walks() -> Vec<RunEvent> {
    let (branch, step) = (BranchNo(1), StepId::new("draft"));
    let option = |label: &str, action| ChoiceOption { label: label.into(), action };
    let choice = Arc::new(Choice {
        prompt: "Good?".into(),
        options: vec![
            option("on", ChoiceAction::Continue),
            option("again", ChoiceAction::Repeat(step.clone())),
            option("without", ChoiceAction::Skip(vec![step.clone()])),
            option("later", ChoiceAction::Pause),
            option("stop", ChoiceAction::Abort),
        ],
        minimum: Level::Terminal,
        expires: Some(60),
    });
    let (minimum, expires) = (Level::Terminal, Some(Timestamp(9)));
    vec![
        RunEvent::GateAsked {
            gate: gate(),
            branch,
            place: place(),
            choice,
            digest: digest(),
            minimum,
            expires,
        },
        RunEvent::GateAnswered {
            gate: gate(),
            digest: digest(),
            assurance: Assurance::PREPARED,
            option: "again".into(),
            feedback: Some("why".into()),
        },
        RunEvent::FrontMoved { branch, delta: delta() },
        RunEvent::LoopEnded { branch, place: place(), why: LoopEnd::Count },
        RunEvent::Warned { branch, place: place(), what: Warning::Condition("it threw".into()) },
        RunEvent::Forked { branch, from: NodeNo(1) },
        handed_in(Content::Inline(json!({"notesMarkdown": "well"}))),
        handed_in(Content::Stored(digest(), 9_000)),
        RunEvent::Blocked { x: X, at: NodeNo(1), attempt: 2, why: vec![blocker()], changes: true },
        RunEvent::SnapshotTaken {
            at: NodeNo(1),
            snapshot: SnapshotId(id(11)),
            trigger: "manual".into(),
            tags: vec!["good".into()],
            tree: Some(digest()),
            output: Some(Content::Stored(digest(), 9_000)),
        },
        RunEvent::Reopened {},
    ]
}

fn handed_in(output: Content) -> RunEvent {
    let context = object(json!({"topic": "bridges", "draft": null}));
    RunEvent::HandedIn { x: X, at: NodeNo(1), attempt: 2, output: Some(output), context }
}

fn blocker() -> Blocker {
    let about = Some(json!({"kind": "output_contract"}));
    Blocker { code: "INVALID_REQUIRED_OUTPUT".into(), message: "it has no points".into(), about }
}

fn run_ends() -> Vec<RunEvent> {
    let (rollback, archive, reason) = (RollbackId(id(5)), ".archived/", Some("enough".into()));
    vec![
        RunEvent::PauseAsked {},
        RunEvent::PauseDropped {},
        RunEvent::Paused { reason: PauseReason::StepFailed },
        RunEvent::Resumed {},
        RunEvent::Completed {},
        RunEvent::Failed { reason: reason.clone() },
        RunEvent::Aborted { reason },
        RunEvent::RolledBack {
            branch: BranchNo(1),
            from: NodeNo(1),
            retires: BranchNo(0),
            rollback,
            archive: archive.into(),
        },
        RunEvent::Recovered { branch: BranchNo(1), from: NodeNo(1), retires: BranchNo(0), rollback },
        RunEvent::Undone { rollback },
        RunEvent::RunRemoved { rollback, archive: archive.into() },
        RunEvent::RunRestored { rollback },
    ]
}

fn reached() -> Reached {
    Reached { scope: Scope::Run, measure: Measure::Cost, limit: 2_000_000, spent: 2_000_001 }
}

fn budgets() -> crate::definition::Budgets {
    let budget = Budget { tokens: Some(1000), cost_usd: Some(2.5), minutes: Some(10.0) };
    crate::definition::Budgets { run: Some(budget), pipeline: Some(budget) }
}

fn journal() -> Vec<Entry> {
    let agent = Some("critic".into());
    vec![
        Entry::Opened {
            run: run_id(1),
            x: X,
            pipeline: Some(crate::testing::pipeline_id()),
            step: Some(crate::StepId::new("draft")),
            session: Some(SessionId(id(8))),
        },
        Entry::Took { ms: 1500 },
        Entry::Log { level: LogLevel::Warning, text: "slow".into(), details: Some(json!({"ms": 900})) },
        Entry::Began { revision: 1, attempt: 2, check: true },
        Entry::Pinned { name: "report.py".into(), digest: digest() },
        Entry::Calling { key: "critic/1/1/c1".into(), tool: "notes__add".into(), agent: "critic".into() },
        Entry::Message {
            agent: agent.clone(),
            role: MessageRole::Assistant,
            content: json!("done"),
            usage: usage(),
            key: Some("critic/1/1".into()),
            about: Some(json!({"stop": "end_turn"})),
            more: Some(digest()),
            hidden: true,
            notes: 2,
        },
        Entry::ToolResult {
            call: "c1".into(),
            content: json!("ok"),
            workspace: Some(digest()),
            key: Some("critic/1/1/c1".into()),
            tool: Some("file_operations".into()),
            agent,
            error: true,
            more: Some(Digest::of(b"more")),
            hidden: true,
        },
    ]
}
