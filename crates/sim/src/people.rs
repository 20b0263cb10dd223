//! Simulated people: they look at the home and give orders that make sense, that come too late, or that make
//! none.

use std::sync::Arc;

use holdpoint_core::command::{Answer, Command, Edit, HomeCommand, PipelineCommand, RunCommand, Target};
use holdpoint_core::commands::add_checkpoint::AddCheckpoint;
use holdpoint_core::commands::advance::Advance;
use holdpoint_core::commands::create_pipeline::CreatePipeline;
use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::commands::record_drift::RecordDrift;
use holdpoint_core::commands::record_outcome::{Outcome, RecordOutcome};
use holdpoint_core::commands::roll_back::{RollBack, Target as Goal};
use holdpoint_core::commands::start_run::{Source, StartRun};
use holdpoint_core::commands::take_snapshot::TakeSnapshot;
use holdpoint_core::commands::update_checkpoint::UpdateCheckpoint;
use holdpoint_core::commands::update_pipeline::UpdatePipeline;
use holdpoint_core::definition::PipelineConfig;
use holdpoint_core::event::{Drift, Drifted, Role, RollbackType, Usage};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{AskKind, EffectId, ExecutionState, Gate, Part, RunStatus};
use holdpoint_core::{Actor, Digest, ExecNo, GateId, NodeNo, PipelineId, RollbackId, RunId};
use holdpoint_store::SMALL_BLOB;
use serde_json::{Map, json};

use crate::clock::SimIds;
use crate::mirror::Mirror;
use crate::rng::Rng;
use crate::stock;

/// Something that somebody wants done.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Who.
    pub actor: Actor,
    /// What.
    pub command: Command,
    /// Bytes that must be kept before, by whoever sends it.
    pub attached: Option<Arc<[u8]>>,
}

impl Intent {
    /// The order in a few words.
    pub fn describe(&self) -> String {
        let words = match &self.command {
            Command::StartRun(StartRun { run, source: Source::Pipeline(pipeline), .. }) => {
                format!("run {run} of {pipeline}")
            }
            Command::StartRun(StartRun { run, source: Source::Plan { plan, .. }, .. }) => {
                format!("run {run} of a plan of {}", plan.steps.len())
            }
            Command::Run(run, RunCommand::Answer(answer)) => {
                format!("{run} Answer {:?} {:?} {}", answer.target, answer.kind, answer.option)
            }
            Command::Run(run, command) => format!("{run} {command:?}"),
            Command::Pipeline(pipeline, PipelineCommand::AddCheckpoint(_)) => {
                format!("{pipeline} AddCheckpoint")
            }
            Command::Pipeline(pipeline, PipelineCommand::UpdateCheckpoint(update)) => {
                format!("{pipeline} UpdateCheckpoint {}", update.checkpoint)
            }
            command => format!("{command:?}"),
        };
        format!("{} wants {words}", self.actor.name)
    }
}

/// Everybody who gives orders in one world.
pub struct People {
    rng: Rng,
    ids: Arc<SimIds>,
    pipelines: Vec<PipelineId>,
    runs: Vec<RunId>,
    /// Digests that were shown at some time.
    seen: Vec<Digest>,
    /// Whether people write much.
    talkative: bool,
}

impl People {
    /// Nobody has done anything yet.
    pub fn new(mut rng: Rng, ids: Arc<SimIds>) -> Self {
        let talkative = rng.percent(20);
        Self { rng, ids, pipelines: Vec::new(), runs: Vec::new(), seen: Vec::new(), talkative }
    }

    /// What it takes to begin: the home, pipelines with checkpoints.
    pub fn beginning(&mut self) -> Vec<Intent> {
        let mut intents = vec![order(Command::Home(HomeCommand::Create))];
        for n in 0..self.rng.below(3) {
            let id = PipelineId(self.ids.mint());
            self.pipelines.push(id);
            let config = PipelineConfig { auto_advance: self.rng.percent(60), budgets: None };
            let create = CreatePipeline { name: format!("P{n}").into(), description: None, config };
            intents.push(order(Command::Pipeline(id, PipelineCommand::Create(create))));
            for _ in 0..self.rng.between(1, 4) {
                intents.push(order(self.add_checkpoint(id)));
            }
        }
        for _ in 0..self.rng.between(1, 3) {
            intents.push(order(self.start_run()));
        }
        intents
    }

    /// What somebody wants next.
    pub fn next(&mut self, mirror: &Mirror) -> Intent {
        let mut attached = None;
        let command = match self.rng.below(100) {
            0..57 => self.about_run(mirror, &mut attached),
            57..62 => self.as_client(mirror),
            62..72 => Some(self.start_run()),
            72..74 => self.report_late(mirror),
            74..82 => self.go_back(mirror),
            82..86 => self.undo(mirror),
            86..95 => self.about_pipeline(mirror),
            95..97 => Some(self.about_home()),
            _ => Some(self.nonsense()),
        };
        let command = command.unwrap_or_else(|| self.start_run());
        let actor = match self.rng.below(20) {
            _ if matches!(command, Command::Run(_, RunCommand::RecordOutcome(_))) => Actor::system(),
            0 => Actor::agent("model"),
            1..6 => Actor::person("bob"),
            6..10 => Actor::person("eve"),
            _ => Actor::person("ann"),
        };
        Intent { actor, command, attached }
    }

    fn start_run(&mut self) -> Command {
        // Now and then somebody uses an id again.
        let again = self.rng.percent(5).then(|| self.rng.pick(&self.runs).copied()).flatten();
        let run = again.unwrap_or_else(|| RunId(self.ids.mint()));
        self.runs.push(run);
        let pipeline = self.rng.pick(&self.pipelines).copied().filter(|_| self.rng.percent(65));
        let source = if let Some(pipeline) = pipeline {
            Source::Pipeline(pipeline)
        } else {
            let plan = Arc::new(stock::plan(&mut self.rng));
            Source::Plan { plan, title: "plan".into(), session: None }
        };
        Command::StartRun(StartRun { run, source, start: self.rng.percent(90) })
    }

    fn some_run<'m>(&mut self, mirror: &'m Mirror) -> Option<(RunId, &'m RunState)> {
        // Runs that still move are the ones that people look at most.
        for _ in 0..4 {
            let run = *self.rng.pick(&self.runs)?;
            if let Some(state) = mirror.run(run).filter(|state| state.status.is_active()) {
                return Some((run, state));
            }
        }
        let run = *self.rng.pick(&self.runs)?;
        Some((run, mirror.run(run)?))
    }

    fn about_run(&mut self, mirror: &Mirror, attached: &mut Option<Arc<[u8]>>) -> Option<Command> {
        let (run, state) = self.some_run(mirror)?;
        let gates: Vec<(GateId, Arc<Gate>)> =
            state.gates.iter().map(|(id, gate)| (*id, gate.clone())).collect();
        if !gates.is_empty() && self.rng.percent(75) {
            let (id, gate) = self.rng.pick(&gates)?.clone();
            return Some(Command::Run(run, self.answer(state, id, &gate, attached)));
        }
        if state.executions().any(|(_, e)| e.outside) && self.rng.percent(70) {
            return Some(Command::Run(run, self.client_call(state)));
        }
        let all: Vec<ExecNo> = state.executions().map(|(x, _)| x).collect();
        let failed: Vec<ExecNo> = standing(state, |state| state == ExecutionState::Failed);
        let working: Vec<ExecNo> = standing(state, |state| matches!(state, ExecutionState::Working(_)));
        let any = self.rng.pick(&all).copied().unwrap_or(ExecNo(1));
        let command = match self.rng.below(100) {
            0..30 if state.status == RunStatus::NotStarted => RunCommand::Begin,
            0..30 => {
                let x = state.to_start().unwrap_or(any);
                RunCommand::Answer(Answer::of(x, AskKind::Begin, "start"))
            }
            30..38 => RunCommand::Pause,
            38..58 => {
                let max = self.rng.percent(30).then(|| self.rng.between(1, 8) as u32);
                RunCommand::Resume { decides: self.rng.percent(50), max }
            }
            58..80 => {
                let x = self.rng.pick(&failed).copied().unwrap_or(any);
                RunCommand::Answer(Answer::of(x, AskKind::Failed, "retry"))
            }
            80..86 => RunCommand::Cancel(self.rng.pick(&working).copied().unwrap_or(any)),
            86..90 => RunCommand::QueueNote { x: any, text: "be quick".into() },
            90..95 => RunCommand::Abort(None),
            _ => RunCommand::Fail(Some("enough".into())),
        };
        Some(Command::Run(run, command))
    }

    fn answer(
        &mut self,
        state: &RunState,
        id: GateId,
        gate: &Gate,
        attached: &mut Option<Arc<[u8]>>,
    ) -> RunCommand {
        self.seen.push(gate.digest);
        let (kind, x) = (gate.ask.kind(), gate.x.unwrap_or(ExecNo(1)));
        // Half of the answers name the gate, as one face does, and half the execution, as the others do.
        let by_gate = gate.x.is_none() || self.rng.percent(50);
        let target = if by_gate { Target::Gate(id) } else { Target::Of(x) };
        let digest = self.digest(Some(gate.digest));
        let answer = |option: &str| Answer { digest, ..Answer::new(target, kind, option) };
        let answer = match kind {
            AskKind::Begin => answer("start"),
            AskKind::Start => answer(if self.rng.percent(80) { "approve" } else { "reject" }),
            AskKind::Result if self.rng.percent(75) => {
                Answer { edits: self.edits(state, x, attached), ..answer("approve") }
            }
            AskKind::Result => {
                let feedback = self.rng.percent(95).then(|| "more".into());
                Answer { feedback, ..answer("revise") }
            }
            AskKind::Form => self.form(answer("submit")),
            AskKind::Input => Answer { feedback: Some("that one".into()), ..answer("submit") },
            AskKind::Guidance => {
                let option = ["retry", "retry", "retry", "accept", "stop"][self.rng.below(5) as usize];
                Answer { feedback: Some("that one".into()), ..answer(option) }
            }
            AskKind::Budget => answer(if self.rng.percent(85) { "raise" } else { "stop" }),
            AskKind::Choice => answer(
                ["on", "on", "on", "again", "skip", "later", "end", "what?"][self.rng.below(8) as usize],
            ),
            AskKind::Blocked => answer(["retry", "retry", "accept", "abort"][self.rng.below(4) as usize]),
            AskKind::Failed => {
                answer(["retry", "retry", "retry", "retry", "skip", "abort"][self.rng.below(6) as usize])
            }
        };
        RunCommand::Answer(answer)
    }

    /// Now and then a person changes an output in approving.
    fn edits(&mut self, state: &RunState, x: ExecNo, attached: &mut Option<Arc<[u8]>>) -> Vec<Edit> {
        let shown = state.execution(x).and_then(|e| e.artifacts.first());
        let Some(shown) = shown.filter(|_| self.rng.percent(15)) else { return Vec::new() };
        let bytes = vec![b'a' + (self.rng.below(26) as u8); SMALL_BLOB + 1 + x.0 as usize];
        let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
        *attached = Some(bytes.into());
        vec![Edit { name: shown.made.name.clone(), digest, size }]
    }

    /// The digest that is shown now, or one that was shown before, or none.
    fn digest(&mut self, shown: Option<Digest>) -> Option<Digest> {
        match self.rng.below(100) {
            0..15 => self.rng.pick(&self.seen).copied(),
            15..20 => None,
            _ => shown,
        }
    }

    fn form(&mut self, empty: Answer) -> Answer {
        let mut fields = Map::new();
        let answer = match self.rng.below(20) {
            0 => json!(7),
            // Larger than what travels with an append; two of them are worth a saved fold.
            n if n < if self.talkative { 16 } else { 2 } => json!("long ".repeat(SMALL_BLOB / 4)),
            _ => json!(format!("answer {}", self.rng.below(5))),
        };
        fields.insert("answer".to_owned(), answer);
        Answer { fields, ..empty }
    }

    /// A client of some run with work for one, whatever became of the run.
    fn as_client(&mut self, mirror: &Mirror) -> Option<Command> {
        let has_work = |state: &RunState| state.graph.all_executions().any(|(_, e)| e.outside);
        let runs: Vec<_> = mirror.runs().filter(|(_, state)| has_work(state)).collect();
        let (run, state) = *self.rng.pick(&runs)?;
        Some(Command::Run(run, self.client_call(state)))
    }

    /// A call of a client: mostly from the newest node of a branch, now and then from an older one or once more.
    fn client_call(&mut self, state: &RunState) -> RunCommand {
        let heads: Vec<NodeNo> = state.live_branches().map(|(_, branch)| branch.head).collect();
        let any = NodeNo(self.rng.below(u64::from(state.graph.node_count().max(1))) as u32);
        let head = self.rng.pick(&heads).copied().unwrap_or(any);
        // A client whose result was refused continues from the refusal.
        let leaf =
            state.graph.nodes(0).map(|(n, _)| n).last().filter(|n| state.graph.anchor(*n) == Some(head));
        let node = match self.rng.below(10) {
            0 | 1 => any,
            2..5 => leaf.unwrap_or(head),
            _ => head,
        };
        match self.rng.below(100) {
            0..8 => {
                let output = json!({ "notesMarkdown": format!("snapshot {}", self.rng.below(3)) });
                return RunCommand::TakeSnapshot(TakeSnapshot { node, output, tags: vec!["sim".into()] });
            }
            8..10 => return RunCommand::MarkCritical { node, keys: stock::KEYS.map(Into::into).to_vec() },
            10..14 => return RunCommand::Recover(node),
            14..18 => {
                let undone = state.live_branches().filter_map(|(_, branch)| branch.cause.rollback()).last();
                let rollback = undone.unwrap_or_else(|| RollbackId(self.ids.mint()));
                return RunCommand::UndoRecovery(rollback);
            }
            _ => {}
        }
        let next = state.next_attempt(node);
        let attempt = if self.rng.percent(85) { next } else { self.rng.below(u64::from(next) + 2) as u32 };
        let notes = ["", "short", "long enough", "long enough", "good work"][self.rng.below(5) as usize];
        let size = if self.rng.percent(5) { SMALL_BLOB } else { 1 };
        let output = Some(json!({ "notesMarkdown": notes, "more": "x".repeat(size) }));
        let key = self.rng.pick(&stock::KEYS).copied().filter(|_| self.rng.percent(40));
        let context = key.map(|key| (key.to_owned(), stock::left(&mut self.rng, key))).into_iter().collect();
        RunCommand::Advance(Advance { node, attempt, output, context })
    }

    fn go_back(&mut self, mirror: &Mirror) -> Option<Command> {
        let somewhere = |state: &RunState| state.pipeline().is_some() && state.completed > 0;
        let far: Vec<RunId> =
            mirror.runs().filter(|(_, state)| somewhere(state)).map(|(run, _)| run).collect();
        let source = *self.rng.pick(&far)?;
        let state = mirror.run(source)?;
        let pipeline = mirror.pipeline(state.pipeline()?)?;
        let earlier: Vec<RunId> = pipeline.runs.values().map(|entry| entry.run).collect();
        let done: Vec<u32> = state
            .executions()
            .filter(|(_, e)| e.state == ExecutionState::Completed)
            .map(|(_, e)| e.position)
            .collect();
        let first = done.iter().min().copied().unwrap_or(0);
        let position = self.rng.pick(&done).copied().filter(|_| self.rng.percent(50)).unwrap_or(first);
        let (level, target) = if self.rng.percent(60) {
            (RollbackType::CheckpointLevel, None)
        } else {
            (RollbackType::RunLevel, self.rng.pick(&earlier).copied())
        };
        let checkpoint = Goal::Position(position);
        Some(Command::RollBack(RollBack { level, source, target, checkpoint, reason: None }))
    }

    /// A worker that was thought dead reports on work that is long over.
    fn report_late(&mut self, mirror: &Mirror) -> Option<Command> {
        let (run, state) = self.some_run(mirror)?;
        let over = standing(state, |state| match state {
            ExecutionState::AwaitingComplete | ExecutionState::Completed | ExecutionState::Failed => true,
            ExecutionState::Pending | ExecutionState::AwaitingStart | ExecutionState::Working(_) => false,
        });
        let x = *self.rng.pick(&over)?;
        let execution = state.execution(x)?;
        let (revision, attempt) = (execution.revision, execution.attempt);
        let effect = EffectId { x, revision, attempt, part: Part::Work };
        let outcome = Outcome::done(None, Vec::new(), Usage::default());
        Some(Command::Run(
            run,
            RunCommand::RecordOutcome(RecordOutcome { effect, outcome, entries: Vec::new() }),
        ))
    }

    fn undo(&mut self, mirror: &Mirror) -> Option<Command> {
        let pipeline = *self.rng.pick(&self.pipelines)?;
        let state = mirror.pipeline(pipeline)?;
        let known = state.rollback_rows.keys().next().copied();
        let rollback = state.rollbacks.last().map(|record| record.rollback).or(known)?;
        Some(Command::UndoRollback { pipeline, rollback })
    }

    fn about_pipeline(&mut self, mirror: &Mirror) -> Option<Command> {
        let id = *self.rng.pick(&self.pipelines)?;
        let state = mirror.pipeline(id)?;
        let mut order: Vec<_> = state.order.iter().copied().collect();
        let checkpoint = self.rng.pick(&order).copied();
        let command = match self.rng.below(100) {
            0..35 => {
                let definition = stock::checkpoint(&mut self.rng, "changed");
                PipelineCommand::UpdateCheckpoint(UpdateCheckpoint { checkpoint: checkpoint?, definition })
            }
            35..50 => return Some(self.add_checkpoint(id)),
            50..60 => PipelineCommand::RemoveCheckpoint(checkpoint?),
            60..70 => {
                order.reverse();
                PipelineCommand::Reorder(order)
            }
            70..80 => {
                let config = Some(PipelineConfig { auto_advance: self.rng.percent(50), budgets: None });
                PipelineCommand::Update(UpdatePipeline { config, ..UpdatePipeline::default() })
            }
            80..86 => PipelineCommand::Delete,
            // Found by somebody who looks after the files, whoever that is here.
            86..88 => {
                let files = vec![Drifted { path: "runs/v1/run_info.json".into(), how: Drift::Deleted }];
                PipelineCommand::RecordDrift(RecordDrift { folder: None, files })
            }
            88..90 => PipelineCommand::EndArchive(*state.archives.keys().next()?),
            _ => PipelineCommand::Restore,
        };
        Some(Command::Pipeline(id, command))
    }

    fn add_checkpoint(&mut self, id: PipelineId) -> Command {
        let name = format!("C{}", self.rng.below(100));
        let definition = stock::checkpoint(&mut self.rng, &name);
        Command::Pipeline(id, PipelineCommand::AddCheckpoint(AddCheckpoint { definition, position: None }))
    }

    fn about_home(&mut self) -> Command {
        let name = format!("token {}", self.rng.below(3));
        let secret = Digest::of(self.ids.mint().as_bytes());
        let token = IssueToken::new(&name, Role::Admin, secret);
        Command::Home(HomeCommand::IssueToken(token))
    }

    fn nonsense(&mut self) -> Command {
        let (run, pipeline) = (RunId(self.ids.mint()), PipelineId(self.ids.mint()));
        match self.rng.below(4) {
            0 => Command::Run(run, RunCommand::Begin),
            1 => {
                let answer = Answer::of(ExecNo(99), AskKind::Start, "approve");
                Command::Run(run, RunCommand::Answer(answer))
            }
            2 => Command::Pipeline(pipeline, PipelineCommand::Delete),
            _ => {
                let source = Source::Pipeline(pipeline);
                Command::StartRun(StartRun { run, source, start: true })
            }
        }
    }
}

fn order(command: Command) -> Intent {
    Intent { actor: Actor::person("ann"), command, attached: None }
}

fn standing(state: &RunState, wanted: impl Fn(ExecutionState) -> bool) -> Vec<ExecNo> {
    state.executions().filter(|(_, e)| wanted(e.state)).map(|(x, _)| x).collect()
}
