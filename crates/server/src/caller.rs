//! The one who calls, and the only way from a request to the engine's `submit`.
//!
//! Whoever writes a route asks for a [`Caller`]: it looks with [`Caller::look`] and changes things with
//! [`Caller::submit`], which asks the one table of permissions first. What lies outside the caller's scope is
//! not there.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdpoint_core::commands::start_run::Source;
use holdpoint_core::event::{Origin, Role};
use holdpoint_core::permission::Rights;
use holdpoint_core::state::home::Token;
use holdpoint_core::{
    Actor, Assurance, Command, Digest, ExecutionId, Level, PipelineCommand, PipelineId, RunId, State, TokenId,
};
use holdpoint_engine::{Answered, Engine, IdemKey, Reply, Settled, SubmitError};

use crate::app::App;
use crate::idempotency::Idempotent;
use crate::problem::{Code, Problem};

/// How long an answer waits for the files.
const FILES: Duration = Duration::from_millis(250);

/// Who calls, and what they may do.
#[derive(Debug, Clone)]
pub struct Caller {
    actor: Actor,
    rights: Rights,
    token: Option<TokenId>,
    assurance: Assurance,
}

/// A client says with this header that its answer was written before the question existed. It can only lower the level.
const ASSURANCE: &str = "holdpoint-assurance";

impl Caller {
    /// A caller that the process itself vouches for, such as the user at the terminal.
    pub fn known(actor: Actor, role: Role) -> Self {
        let rights = Rights::everywhere(role, actor.kind);
        Self { actor, rights, token: None, assurance: Assurance::default() }
    }

    /// The holder of a token.
    pub(crate) fn holding(id: TokenId, token: &Token) -> Self {
        let assurance = Assurance::default();
        Self { actor: token.actor(), rights: token.rights(), token: Some(id), assurance }
    }

    /// Who it is in the log.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// What they may do, and where.
    pub fn rights(&self) -> &Rights {
        &self.rights
    }

    /// The token that they hold; none inside the process.
    pub fn token(&self) -> Option<TokenId> {
        self.token
    }

    /// Refuses who may not even look.
    pub fn look(&self) -> Result<(), Problem> {
        self.require(Role::Viewer)
    }

    /// Refuses who does not have a role: asked first by routes that look something up before they submit.
    pub fn require(&self, role: Role) -> Result<(), Problem> {
        Ok(self.rights.require(role)?)
    }

    /// Refuses what lies outside the caller's scope, as if it were not there.
    pub fn see(
        &self,
        what: &'static str,
        id: impl std::fmt::Display,
        pipeline: Option<PipelineId>,
    ) -> Result<(), Problem> {
        if self.rights.sees(pipeline) { Ok(()) } else { Err(Problem::missing(what, id)) }
    }

    /// Refuses a run outside the caller's scope, as if it were not there.
    pub async fn see_run(&self, app: &App, run: RunId) -> Result<(), Problem> {
        self.see_in(app, run, "run", run).await
    }

    /// Refuses what belongs to a run outside the caller's scope, as if it were not there: by the name that was asked for.
    pub async fn see_in(
        &self,
        app: &App,
        run: RunId,
        what: &'static str,
        id: impl std::fmt::Display,
    ) -> Result<(), Problem> {
        if self.rights.pipelines.is_empty() {
            return Ok(());
        }
        let pipeline = pipeline_of(app.engine()?, run).await?;
        self.see(what, id, pipeline.flatten())
    }

    /// Refuses a filter that names something outside the caller's scope, as if it were not there.
    pub async fn see_filter(
        &self,
        app: &App,
        pipeline: Option<PipelineId>,
        run: Option<RunId>,
        execution: Option<ExecutionId>,
    ) -> Result<(), Problem> {
        if let Some(pipeline) = pipeline {
            self.see("pipeline", pipeline, Some(pipeline))?;
        }
        if let Some(run) = run {
            self.see_run(app, run).await?;
        }
        if let Some(execution) = execution {
            let (run, _) = app.engine()?.locate_execution(execution).await?;
            self.see_in(app, run, "execution", execution).await?;
        }
        Ok(())
    }

    /// Carries out a command in the caller's name, if they may give it, and answers what `render` makes of the states
    /// after it. A request that came before is answered as it was then.
    #[allow(clippy::disallowed_methods)] // the one place: the table of permissions was asked
    pub async fn submit<R>(
        &self,
        app: &App,
        key: Idempotent,
        command: Command,
        render: R,
    ) -> Result<Answered, Problem>
    where
        R: Fn(&Settled<'_>) -> Result<Reply, SubmitError> + Send + Sync,
    {
        let engine = app.engine()?;
        self.may(engine, &command).await?;
        let (actor, assurance) = (self.actor.clone(), self.assurance);
        let answered = engine.answer(actor, assurance, self.key(key)?, command, &render).await?;
        if let Some(receipt) = answered.receipt.as_ref().filter(|_| answered.files) {
            // A client that reads outputs after the answer finds them. What takes longer follows: the log has it, and the
            // next start would write it.
            engine.files_settled(receipt.last, FILES).await;
        }
        Ok(answered)
    }

    /// Refuses a command that the caller may not give, first by the role alone, so that it makes no difference whether
    /// what the command names lies outside the caller's scope or does not exist.
    async fn may(&self, engine: &Engine, command: &Command) -> Result<(), Problem> {
        Rights { pipelines: Vec::new(), ..self.rights.clone() }.check(command, None)?;
        if self.rights.pipelines.is_empty() {
            return Ok(());
        }
        for (what, id, concerns) in concerns(command) {
            let pipeline = match concerns {
                Concerns::Pipeline(pipeline) => Some(pipeline),
                Concerns::Run(run) => pipeline_of(engine, run).await?.flatten(),
                Concerns::Everything => {
                    self.rights.check(command, None)?;
                    continue;
                }
            };
            self.see(what, id, pipeline)?;
        }
        Ok(())
    }

    /// The answer to the same request when it came before. Asked first by routes that look at what stands now before
    /// they know their command.
    pub async fn told_before(&self, app: &App, key: &Idempotent) -> Result<Option<Answered>, Problem> {
        let Some(key) = self.key(key.clone())? else { return Ok(None) };
        Ok(app.engine()?.replied(&self.actor, &key).await?)
    }

    /// The key as the store keeps it. A stored reply shows what its first caller may see, so two tokens of one person that
    /// are limited to different pipelines never share one.
    fn key(&self, key: Idempotent) -> Result<Option<IdemKey>, Problem> {
        let Some(mut key) = key.into_key()? else { return Ok(None) };
        let mut pipelines = self.rights().pipelines.clone();
        if !pipelines.is_empty() {
            pipelines.sort_unstable();
            key.operation = format!("{} of {}", key.operation, Digest::of_json(&pipelines)).into();
        }
        Ok(Some(key))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let nobody = || Problem::new(Code::Unauthenticated, "nobody is signed in");
        let mut caller = parts.extensions.get::<Self>().cloned().ok_or_else(nobody)?;
        if parts.headers.get(ASSURANCE).is_some_and(|level| level == Level::Prepared.name()) {
            caller.assurance = Assurance::PREPARED;
        }
        Ok(caller)
    }
}

/// What a command concerns.
enum Concerns {
    Everything,
    Pipeline(PipelineId),
    Run(RunId),
}

/// Everything that a command names, by the names that its sender used.
fn concerns(command: &Command) -> Vec<(&'static str, String, Concerns)> {
    let pipeline = |id: &PipelineId| ("pipeline", id.to_string(), Concerns::Pipeline(*id));
    let run = |id: &RunId| ("run", id.to_string(), Concerns::Run(*id));
    let everything = || ("home", String::new(), Concerns::Everything);
    match command {
        Command::Home(_) | Command::Pipeline(_, PipelineCommand::Create(_)) => vec![everything()],
        Command::Pipeline(id, _) => vec![pipeline(id)],
        Command::StartRun(start) => match &start.source {
            Source::Pipeline(id) => vec![pipeline(id)],
            Source::Plan { .. } => vec![everything()],
        },
        Command::Run(id, _) | Command::WriteJournal { run: id, .. } => vec![run(id)],
        Command::RollBack(command) => [&command.source].into_iter().chain(&command.target).map(run).collect(),
        Command::UndoRollback { pipeline, rollback } => {
            vec![("rollback", rollback.to_string(), Concerns::Pipeline(*pipeline))]
        }
    }
}

/// The pipeline of a run, if it is one of a pipeline; nothing at all where there is no such run.
#[allow(clippy::option_option)] // the two absences are a run without a pipeline, and no run
async fn pipeline_of(engine: &Engine, run: RunId) -> Result<Option<Option<PipelineId>>, Problem> {
    let loaded = engine.run(run).await?;
    Ok(loaded.and_then(|loaded| match &loaded.state {
        State::Run(state) => Some(match &state.origin {
            Some(Origin::Pipeline { pipeline, .. }) => Some(*pipeline),
            Some(Origin::File { .. }) | None => None,
        }),
        State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
    }))
}
