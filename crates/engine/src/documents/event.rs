//! Events as the outside sees them: documented types, ids of what they concern, and a sentence.

use std::collections::HashMap;
use std::sync::Arc;

use holdpoint_core::event::{
    Entry, Event, HomeEvent, PipelineEvent, RunEvent, Warning, stored_kinds, wire_type,
};
use holdpoint_core::state::run::{Ask, AskKind, RunState};
use holdpoint_core::{
    CheckpointId, ExecNo, ExecutionId, PipelineId, RollbackId, RunId, Seq, State, StreamId, Timestamp,
};
use holdpoint_store::{EventFilter, Query, Row};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::Time;
use super::history::ActorDocument;
use super::lists::{Bounds, Listed, Position};
use crate::live::{Recorded, recorded};
use crate::{Engine, Loaded, SubmitError};

/// How many rows of the log are read at once.
const PAGE: u32 = 200;
/// How many rows are looked through for one page at most.
const LOOKED_THROUGH: usize = 20_000;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct EventDocument {
    /// Its position in the log.
    pub seq: u64,
    /// Its id, which never changes.
    pub event_id: String,
    /// What happened: `run.started`, `execution.completed`, …
    pub event_type: &'static str,
    /// When.
    pub timestamp: Time,
    /// Who.
    pub actor: ActorDocument,
    /// The pipeline that it concerns.
    pub pipeline_id: Option<PipelineId>,
    /// The run that it concerns.
    pub run_id: Option<RunId>,
    /// The execution that it concerns.
    pub execution_id: Option<ExecutionId>,
    /// The checkpoint that it concerns.
    pub checkpoint_id: Option<CheckpointId>,
    /// The rollback that it concerns.
    pub rollback_id: Option<RollbackId>,
    /// What happened, in a sentence.
    pub description: String,
    /// More.
    #[schema(value_type = Object)]
    pub metadata: Value,
    /// The hash of the log's row that it stands in, which covers the rows before it.
    pub hash: String,
}

/// Which events are wanted; all given conditions hold.
#[derive(Clone, Debug, Default)]
pub struct EventsWanted {
    /// Of these types; empty: of any.
    pub types: Vec<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// Of one pipeline and its runs.
    pub pipeline: Option<PipelineId>,
    /// Of one run.
    pub run: Option<RunId>,
    /// Of one execution.
    pub execution: Option<ExecutionId>,
    /// By the actor with this name.
    pub actor: Option<String>,
}

/// What is known about runs while a page of events is made.
#[derive(Default)]
pub struct Known(HashMap<RunId, Option<Arc<Loaded>>>);

/// Whether there is such a type.
pub fn is_event_type(name: &str) -> bool {
    !stored_kinds(name).is_empty()
}

impl Engine {
    /// Events, newest first.
    pub async fn event_documents(
        &self,
        wanted: &EventsWanted,
        bounds: Bounds,
    ) -> Result<Listed<EventDocument>, SubmitError> {
        let kinds: Vec<&'static str> = wanted.types.iter().flat_map(|name| stored_kinds(name)).collect();
        let sources = self.sources(wanted, &kinds).await?;
        let mut known = Known::default();
        let mut items = Vec::new();
        let mut before = bounds.after.map(|after| Seq(after.seq));
        let mut looked = 0;
        loop {
            let page = self.newest(&sources, before).await?;
            looked += page.len();
            for row in &page {
                for each in recorded(row)?.iter().rev() {
                    let shown = bounds.after.is_none_or(|after| each.seq.0 < after.seq);
                    if !shown || !kinds.is_empty() && !kinds.contains(&each.event.kind()) {
                        continue;
                    }
                    let Some(document) = self.event_document(each, &mut known).await? else { continue };
                    let of_execution =
                        wanted.execution.is_none_or(|wanted| document.execution_id == Some(wanted));
                    let of_pipeline =
                        wanted.pipeline.is_none_or(|wanted| document.pipeline_id == Some(wanted));
                    if of_execution && of_pipeline {
                        items.push(document);
                    }
                }
                before = Some(row.seq);
                if items.len() > bounds.limit as usize {
                    break;
                }
            }
            if items.len() > bounds.limit as usize {
                items.truncate(bounds.limit as usize);
                let next = items.last().map(|last| Position { seq: last.seq, n: 0 });
                return Ok(Listed { items, next });
            }
            if page.len() < PAGE as usize {
                return Ok(Listed { items, next: None });
            }
            if looked >= LOOKED_THROUGH {
                return Ok(Listed { items, next: before.map(|before| Position { seq: before.0, n: 0 }) });
            }
        }
    }

    /// Where in the log the wanted events stand. What agents said stands in journals: those of a run go by their
    /// session, those of a pipeline by what they hold.
    async fn sources(
        &self,
        wanted: &EventsWanted,
        kinds: &[&'static str],
    ) -> Result<Vec<EventFilter>, SubmitError> {
        let all = EventFilter {
            kinds: kinds.to_vec(),
            session: wanted.pipeline.map(Into::into),
            since: wanted.since,
            until: wanted.until,
            actor: wanted.actor.clone(),
            ..EventFilter::default()
        };
        let run = match (wanted.execution, wanted.run) {
            (Some(execution), _) => Some(self.locate_execution(execution).await?.0),
            (None, run) => run,
        };
        if run.is_none() && wanted.pipeline.is_none() {
            return Ok(vec![all]);
        }
        let shown = Entry::KINDS.iter().filter(|(_, outside)| outside.is_some()).map(|(kind, _)| *kind);
        let (said, done): (Vec<_>, Vec<_>) = match kinds {
            [] => (shown.collect(), Vec::new()),
            some => {
                let shown: Vec<_> = shown.collect();
                some.iter().copied().partition(|kind| shown.contains(kind))
            }
        };
        let mut sources = Vec::new();
        if kinds.is_empty() || !done.is_empty() {
            sources.push(EventFilter { kinds: done, stream: run.map(StreamId::Run), ..all.clone() });
        }
        if !said.is_empty() {
            let stream = wanted.execution.map(StreamId::Journal);
            let session = run.filter(|_| stream.is_none()).map(Into::into);
            sources.push(EventFilter { kinds: said, stream, session, ..all });
        }
        Ok(sources)
    }

    /// A page of rows from several places, newest first.
    async fn newest(&self, sources: &[EventFilter], before: Option<Seq>) -> Result<Vec<Row>, SubmitError> {
        let mut rows = Vec::new();
        for filter in sources {
            let query = Query::Events { filter: filter.clone(), before, limit: PAGE };
            rows.extend(self.query(query).await?.rows);
        }
        if sources.len() > 1 {
            // Each place gave its newest rows, so the newest of all are among them; no row stands in two.
            rows.sort_by_key(|row| std::cmp::Reverse(row.seq));
            rows.truncate(PAGE as usize);
        }
        Ok(rows)
    }

    /// An event as the outside sees it; nothing, where it is internal.
    pub async fn event_document(
        &self,
        event: &Recorded,
        known: &mut Known,
    ) -> Result<Option<EventDocument>, SubmitError> {
        let Some(event_type) = wire_type(event.event.kind()) else { return Ok(None) };
        let metadata = metadata(&event.event);
        let (run, x) = match event.stream {
            StreamId::Run(run) => {
                let x = metadata.get("execution_number").and_then(Value::as_u64);
                (Some(run), x.and_then(|x| u32::try_from(x).ok()).map(ExecNo))
            }
            StreamId::Journal(_) => match &self.view(event.stream).await?.state {
                State::Journal(journal) => journal.owner.unzip(),
                State::Home(_) | State::Pipeline(_) | State::Run(_) => (None, None),
            },
            StreamId::Home | StreamId::Pipeline(_) => (None, None),
        };
        let source = match run {
            Some(run) => self.known_run(run, known).await?,
            None => None,
        };
        let state = source.as_ref().and_then(|loaded| match &loaded.state {
            State::Run(state) => Some(&**state),
            State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
        });
        let execution = state.zip(x).and_then(|(run, x)| run.graph.any_execution(x));
        let pipeline = match event.stream {
            StreamId::Pipeline(pipeline) => Some(pipeline),
            StreamId::Run(_) | StreamId::Journal(_) => state.and_then(RunState::pipeline),
            StreamId::Home => None,
        };
        let rollback = metadata.get("rollback").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let checkpoint = metadata.get("checkpoint").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let name = execution.and_then(|e| e.name.as_deref());
        Ok(Some(EventDocument {
            seq: event.seq.0,
            event_id: event_id(event),
            event_type,
            timestamp: event.at.into(),
            actor: (&event.actor).into(),
            pipeline_id: pipeline,
            run_id: run,
            execution_id: execution.map(|e| e.id),
            checkpoint_id: execution.and_then(|e| e.place.step.checkpoint()).or(checkpoint),
            rollback_id: rollback,
            description: describe(&event.event, name, event_type),
            metadata: Value::Object(metadata),
            hash: event.hash.checksum(),
        }))
    }

    async fn known_run(&self, run: RunId, known: &mut Known) -> Result<Option<Arc<Loaded>>, SubmitError> {
        if let Some(found) = known.0.get(&run) {
            return Ok(found.clone());
        }
        let found = self.run(run).await?;
        known.0.insert(run, found.clone());
        Ok(found)
    }
}

/// The same id that the table of events shows.
pub(super) fn event_id(event: &Recorded) -> String {
    let hex = event.hash.to_string();
    format!("{}-{}-8{}-8{}-{:012x}", &hex[..8], &hex[8..12], &hex[12..15], &hex[15..18], event.seq.0)
}

/// What an event carries, in words: short names of storage are spelled out.
fn metadata(event: &Event) -> Map<String, Value> {
    let value = match event {
        Event::Home(event) => serde_json::to_value(event),
        Event::Pipeline(event) => serde_json::to_value(event),
        Event::Run(event) => serde_json::to_value(event),
        Event::Journal(entry) => serde_json::to_value(entry),
    };
    let Ok(Value::Object(outer)) = value else { return Map::new() };
    let Some(Value::Object(mut body)) = outer.into_iter().next().map(|(_, body)| body) else {
        return Map::new();
    };
    // What a conversation keeps to itself is in no event that people see.
    if body.get("hidden") == Some(&Value::Bool(true)) {
        body.retain(|name, _| name != "content" && name != "more");
    }
    let spelled = |(name, value): (String, Value)| {
        let name = match name.as_str() {
            "x" => "execution_number",
            "r" => "revision_iteration",
            "a" => "attempt_number",
            "by" => "deadline",
            "i" => "position",
            "n" => "name",
            "s" => "step",
            "p" => "path",
            "v" => "visit",
            "b" => "branch",
            "c" => "children",
            "ma" => "max_attempts",
            "mr" => "max_revisions",
            "out" => "output",
            // Only the hash of a secret is known, and that is nobody's business.
            "secret" => return None,
            other => return Some((other.to_owned(), value)),
        };
        Some((name.to_owned(), value))
    };
    body.into_iter().filter_map(spelled).collect()
}

/// What happened, in a sentence.
fn describe(event: &Event, name: Option<&str>, event_type: &str) -> String {
    let step = name.map_or_else(|| "a step".to_owned(), |name| format!("“{name}”"));
    match event {
        Event::Home(HomeEvent::Made { .. }) => "The home was made.".to_owned(),
        Event::Home(HomeEvent::TokenIssued { name, .. }) => format!("A token was made for {name}."),
        Event::Home(HomeEvent::TokenRevoked { .. }) => "A token was withdrawn.".to_owned(),
        Event::Home(HomeEvent::Sealed { upto, .. }) => format!("The log was sealed up to {}.", upto.0),
        Event::Pipeline(event) => of_pipeline(event),
        Event::Run(event) => of_run(event, &step),
        Event::Journal(Entry::Message { agent, .. }) => {
            format!("{} spoke.", agent.as_deref().unwrap_or("The model"))
        }
        Event::Journal(Entry::ToolResult { .. }) => "A tool answered.".to_owned(),
        Event::Journal(
            Entry::Opened { .. }
            | Entry::Began { .. }
            | Entry::Took { .. }
            | Entry::Pinned { .. }
            | Entry::Calling { .. }
            | Entry::Log { .. },
        ) => event_type.replace(['.', '_'], " "),
    }
}

fn of_pipeline(event: &PipelineEvent) -> String {
    match event {
        PipelineEvent::Made { name, .. } => format!("Pipeline “{name}” was made."),
        PipelineEvent::Changed { name, .. } => format!("Pipeline “{name}” was changed."),
        PipelineEvent::Deleted {} => "The pipeline was put away.".to_owned(),
        PipelineEvent::Restored {} => "The pipeline was brought back.".to_owned(),
        PipelineEvent::CheckpointAdded { definition, position, .. } => {
            format!("Checkpoint “{}” was added at position {position}.", definition.checkpoint_name)
        }
        PipelineEvent::CheckpointChanged { definition, .. } => {
            format!("Checkpoint “{}” was changed.", definition.checkpoint_name)
        }
        PipelineEvent::CheckpointRemoved { .. } => "A checkpoint was taken out.".to_owned(),
        PipelineEvent::Reordered { .. } => "The checkpoints were put in another order.".to_owned(),
        PipelineEvent::RunOpened { number, .. } => format!("Run v{number} was made."),
        PipelineEvent::RunClosed { .. } => "A run ended.".to_owned(),
        PipelineEvent::RunReopened { .. } => "A run that had ended goes on.".to_owned(),
        PipelineEvent::RolledBack(record) => {
            format!("Rolled back from v{} to v{}.", record.source.1, record.target.1)
        }
        PipelineEvent::BudgetRaised { .. } => "The budget of all runs together was raised.".to_owned(),
        PipelineEvent::RollbackUndone { .. } => "A rollback was undone.".to_owned(),
        PipelineEvent::ArchiveEnded { .. } => "The archive of a rollback was removed.".to_owned(),
        PipelineEvent::DriftRepaired { .. } => {
            "Files that were changed by hand were written again.".to_owned()
        }
    }
}

fn asked(ask: &Ask, step: &str) -> String {
    match ask {
        Ask::Begin => format!("{step} waits to be started."),
        Ask::Start => format!("{step} waits for approval to start."),
        Ask::Form => format!("The form of {step} waits to be filled in."),
        Ask::Input => format!("{step} waits for input."),
        Ask::Guidance => format!("{step} waits for guidance."),
        Ask::Budget(reached, _) => {
            let (scope, limit) = (reached.scope.name(), reached.measure.words(reached.limit));
            format!("{step} waits: the budget of the {scope} is used up ({limit}).")
        }
        Ask::Result => format!("The result of {step} waits for approval."),
        Ask::Choice(choice) => format!("A choice is asked for: {}", choice.prompt),
        Ask::Failed => format!("{step} waits: try it again, roll back, or give the run up."),
        Ask::Blocked => format!("{step} waits: its output was refused too often."),
    }
}

fn warning(step: &str, what: &Warning) -> String {
    match what {
        Warning::Condition(why) => format!("The condition of “{step}” cannot be evaluated: {why}"),
        Warning::NoItems(why) => format!("{why}."),
        Warning::LimitReached(passes) => {
            format!("Loop “{step}” ended after {passes} passes, which is its limit.")
        }
        Warning::OutputTooLarge(bytes) => {
            format!("The output of “{step}” is too large for the context: {bytes} bytes of JSON.")
        }
    }
}

fn of_run(event: &RunEvent, step: &str) -> String {
    match event {
        RunEvent::Made { .. } => "The run was made.".to_owned(),
        RunEvent::Began {} => "The run started.".to_owned(),
        RunEvent::ExecutionMade { name, .. } => match name {
            Some(name) => format!("“{name}” was reached."),
            None => format!("{step} was reached."),
        },
        RunEvent::StepSkipped { .. } => "A step was left out.".to_owned(),
        RunEvent::Asked { ask, .. } => asked(ask, step),
        RunEvent::Approved { edited: true, .. } => format!("The result of {step} was changed and approved."),
        RunEvent::Approved { of: AskKind::Start, .. } => format!("The start of {step} was approved."),
        RunEvent::Approved { of: AskKind::Guidance, .. } => {
            format!("The result of {step} was accepted although it did not pass its check.")
        }
        RunEvent::Approved { .. } => format!("The result of {step} was approved."),
        RunEvent::Rejected { of: AskKind::Start, .. } => format!("The start of {step} was rejected."),
        RunEvent::Rejected { .. } => format!("{step} was stopped."),
        RunEvent::AttemptBegan { attempt, .. } => format!("Attempt {attempt} of {step} began."),
        RunEvent::AttemptRestarted { .. } => {
            format!("{step} was started again: the process that worked on it had ended.")
        }
        RunEvent::Submitted { text: None, .. } => format!("The form of {step} was filled in."),
        RunEvent::Submitted { .. } => format!("{step} was given its input."),
        RunEvent::ArtifactMade { made, .. } => format!("{step} made “{}”.", made.name),
        RunEvent::WorkDone { .. } => format!("The work of {step} is done."),
        RunEvent::Checked { passed: true, .. } => format!("The result of {step} passed its check."),
        RunEvent::Checked { passed: false, .. } => format!("The result of {step} did not pass its check."),
        RunEvent::BudgetRaised { scope, .. } => {
            format!("The budget of the {} was raised, and {step} goes on.", scope.name())
        }
        RunEvent::ApprovalGiven { .. } => format!("{step} was approved by one of those who must."),
        RunEvent::RevisionAsked { .. } => format!("A change of the result of {step} was asked for."),
        RunEvent::ArtifactPromoted { .. } => format!("An artifact of {step} was promoted."),
        RunEvent::ExecutionCompleted { .. } => format!("{step} is completed."),
        RunEvent::AttemptFailed { failure, .. } => {
            format!("An attempt of {step} failed: {}", failure.message)
        }
        RunEvent::ExecutionFailed { failure, .. } => format!("{step} has failed: {}", failure.message),
        RunEvent::PassedOver { .. } => {
            format!("The run continues without the result of {step}, which failed.")
        }
        RunEvent::RetryGranted { .. } => format!("{step} is tried once more."),
        RunEvent::NoteQueued { .. } => format!("A note was left for {step}."),
        RunEvent::GateAsked { choice, .. } => format!("A choice is asked for: {}", choice.prompt),
        RunEvent::GateAnswered { option, .. } => format!("The choice is “{option}”."),
        RunEvent::FrontMoved { .. } => "The run moved on.".to_owned(),
        RunEvent::LoopEnded { .. } => "A loop finished.".to_owned(),
        RunEvent::Warned { place, what, .. } => warning(&place.step.0, what),
        RunEvent::Forked { .. } => "The run was forked.".to_owned(),
        RunEvent::HandedIn { .. } => format!("The result of {step} was handed in."),
        RunEvent::Blocked { changes: true, .. } => format!("A person wants the result of {step} changed."),
        RunEvent::Blocked { .. } => format!("The result of {step} was refused."),
        RunEvent::SnapshotTaken { .. } => "A snapshot was taken.".to_owned(),
        RunEvent::Reopened {} => "The run is in progress again.".to_owned(),
        RunEvent::PauseAsked {} => "The run will pause when the present step ends.".to_owned(),
        RunEvent::PauseDropped {} => "The run will not pause, after all.".to_owned(),
        RunEvent::Paused { .. } => "The run is paused.".to_owned(),
        RunEvent::Resumed {} => "The run goes on.".to_owned(),
        RunEvent::Completed {} => "The run is completed.".to_owned(),
        RunEvent::Failed { .. } => "The run was declared failed.".to_owned(),
        RunEvent::Aborted { .. } => "The run was ended.".to_owned(),
        RunEvent::RolledBack { .. } => "Executions and their artifacts were archived.".to_owned(),
        RunEvent::Recovered { .. } => "The run was recovered from a snapshot.".to_owned(),
        RunEvent::RunRemoved { .. } => "The run and its artifacts were archived.".to_owned(),
        RunEvent::Undone { .. } | RunEvent::RunRestored { .. } => {
            "What a rollback had archived is restored.".to_owned()
        }
    }
}
