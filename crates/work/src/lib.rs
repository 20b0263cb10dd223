//! Does the work that runs owe: scripts, agents, and the checks of what they made.
//!
//! [`Worker`] is the engine's executor. It reads the states of runs, never documents made for people.
//!
//! Invariant: what was said and done is in the execution's journal, with the run's fence, before it is used.

mod agents;
mod code;
mod collect;
mod formats;
mod judge;
mod machine;
mod noted;
mod offered;
mod preview;
mod purse;
mod recording;
mod rehearsal;
mod room;
mod script;
mod shorten;
mod stop;
mod summaries;
mod table;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;

use holdpoint_agents::mcp;
use holdpoint_agents::model::Model;
use holdpoint_core::ExecutionId;
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{FailureKind, Level};
use holdpoint_core::plan::body::Work;
use holdpoint_core::state::run::EffectKind;
use holdpoint_sandbox::Limits;
use holdpoint_store::BoxFuture;

use holdpoint_engine::documents::context::RenderedContext;
use holdpoint_engine::executor::{BuiltIn, Executor, Job};
use holdpoint_engine::work_context::log_line;
use holdpoint_engine::{Engine, SubmitError, WorkContext};
pub use machine::{Found, Machine};
use purse::Purse;
use recording::Played;
pub use recording::Recording;
pub use rehearsal::{ANSWER_TOKENS, PriceOf, Rehearsal, Stub, Stubs};
use room::{GivenFiles, Room};
use stop::Stop;
use summaries::Summaries;

/// Does the work of checkpoints.
#[derive(Clone)]
pub struct Worker {
    machine: Machine,
    model: Arc<dyn Model>,
    settings: Arc<Settings>,
    summaries: Arc<Summaries>,
    recording: Option<Arc<Recording>>,
    rehearsal: Option<Arc<Rehearsal>>,
}

/// What work may use.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The largest output.
    pub file_bytes: u64,
    /// Folders from which scripts may be run by absolute paths.
    pub script_folders: Vec<PathBuf>,
    /// How much code may use.
    pub limits: Limits,
    /// The model that answers where a definition names none.
    pub default_model: String,
    /// How many tokens an answer may have.
    pub max_tokens: u64,
    /// How free answers are.
    pub temperature: f64,
    /// How many tokens a question may have.
    pub max_context: u64,
    /// How many calls of tools one turn may have.
    pub tool_calls_per_turn: u32,
    /// Servers of tools.
    pub servers: Vec<mcp::Server>,
    /// What those offered when they were first seen.
    pub pins: mcp::Pins,
    /// Where summaries are kept for all processes of a home.
    pub summaries: PathBuf,
}

impl Worker {
    /// A worker with what this machine has.
    pub fn new(machine: Machine, model: Arc<dyn Model>, settings: Settings) -> Self {
        let summaries = Arc::new(Summaries::new(settings.summaries.clone()));
        Self { machine, model, settings: Arc::new(settings), summaries, recording: None, rehearsal: None }
    }

    /// Plays the answers of models from a recorded run; scripts and tools are run again.
    #[must_use]
    pub fn replaying(self, recording: Recording) -> Self {
        Self { recording: Some(Arc::new(recording)), ..self }
    }

    /// Makes up what models answer and scripts make; neither is reached.
    #[must_use]
    pub fn rehearsing(self, rehearsal: Rehearsal) -> Self {
        Self { rehearsal: Some(Arc::new(rehearsal)), ..self }
    }

    /// What the desk's work said when it was recorded.
    async fn played(&self, desk: &WorkContext) -> Result<Option<Arc<Played>>, Stop> {
        let Some(recording) = &self.recording else { return Ok(None) };
        let execution = desk.execution().await?;
        Ok(execution.map(|execution| recording.played(&execution, &desk.effect)))
    }

    /// What the desk's work is given.
    async fn given(&self, desk: &WorkContext) -> Result<GivenFiles, Stop> {
        let mut given = GivenFiles::read(desk).await?;
        if let (Some(recording), Some(execution)) = (&self.recording, desk.execution().await?) {
            recording.give(&execution, &mut given);
        }
        Ok(given)
    }

    async fn work(&self, job: &Job) -> Result<Outcome, Stop> {
        let purse = Purse::of(&job.body);
        let done = match (job.kind, &job.body.work) {
            (EffectKind::DoWork, Work::Script(script)) => match purse.look(&job.desk).await? {
                Some(_) => Err(Stop::new(FailureKind::OverBudget, "a budget is used up")),
                None => self.script(job, script).await,
            },
            (EffectKind::DoWork, Work::Agents(agents)) => self.agentic(job, agents, &purse).await,
            (EffectKind::DoWork, Work::Command(_)) => return Ok(BuiltIn.run(job.clone()).await),
            (EffectKind::DoWork, Work::Snapshot(_)) => {
                return Err(Stop::new("no_executor", "this program has no folder to capture"));
            }
            (EffectKind::DoWork, Work::Form(_) | Work::Outside(_)) => {
                return Err(Stop::new("no_executor", "a person or a client does this work"));
            }
            (EffectKind::Judge, _) => self.judge(job, &purse).await,
        };
        job.desk.say_last([purse.took()]);
        match (done, purse.emptied()) {
            // Nothing has failed: the work goes on from its journal when more may be spent.
            (Err(stop), Some(reached)) if stop.failure.kind == FailureKind::OverBudget => {
                Ok(Outcome::OverBudget(reached))
            }
            (mut done, _) => {
                if let (Err(stop), EffectKind::DoWork) = (&mut done, job.kind)
                    && stop.artifacts.is_empty()
                    && let Ok(room) = Room::of(&job.desk)
                {
                    let declared = &job.body.outputs;
                    let limit = self.settings.file_bytes;
                    stop.artifacts = collect::salvage(&job.desk, &room.staging, declared, limit).await;
                }
                if let Ok(Outcome::Judged { passed: false, reasons, .. }) = &done {
                    let text = format!("the outputs did not pass their checks: {}", reasons.join("; "));
                    job.desk.say_last([log_line(Level::Error, &text, None)]);
                }
                if let Err(stop) = &done
                    && stop.failure.trace.is_none()
                {
                    // Whoever reads the log of a failure finds its reason there; a trace says it already.
                    job.desk.say_last([log_line(Level::Error, &stop.failure.message, None)]);
                }
                done
            }
        }
    }
}

impl Executor for Worker {
    fn preview(
        &self,
        engine: Engine,
        execution: ExecutionId,
    ) -> BoxFuture<'static, Result<Vec<RenderedContext>, SubmitError>> {
        let budget = shorten::budget(self.settings.max_context);
        Box::pin(async move { preview::preview(&engine, execution, budget).await })
    }

    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let worker = self.clone();
        Box::pin(async move { worker.work(&job).await.unwrap_or_else(Into::into) })
    }
}
