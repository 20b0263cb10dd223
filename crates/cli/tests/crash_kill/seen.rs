//! What the log says, row by row, and whether it may say that after what it said before.

use std::collections::{HashMap, HashSet};

use holdpoint_core::chain::{Header, link};
use holdpoint_core::event::{FailureKind, RunEvent};
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::{ExecutionState, RunStatus};
use holdpoint_core::{
    ActorKind, CommandId, Digest, Event, ExecNo, RunId, Stamp, State, StreamId, Timestamp, Version, due,
    event, evolve,
};
use holdpoint_store::Row;

/// The part of a command's name that says which process gave it; 0 for all that do not name themselves.
pub fn process(command: CommandId) -> u32 {
    let bytes = command.0.as_bytes();
    let tagged = bytes[6..9] == [0x70, 0, 0x80];
    if tagged { u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) } else { 0 }
}

/// The execution whose work a process starts in place of one that ended, or gives up because that happened too often.
fn taken_over(event: &Event) -> Option<ExecNo> {
    match event {
        Event::Run(RunEvent::AttemptRestarted { x }) => Some(*x),
        Event::Run(
            RunEvent::AttemptFailed { x, failure, .. } | RunEvent::ExecutionFailed { x, failure, .. },
        ) if failure.kind == FailureKind::RestartedTooOften => Some(*x),
        _ => None,
    }
}

/// Everything read so far.
#[derive(Default)]
pub struct Seen {
    pub last: u64,
    streams: HashMap<StreamId, Stream>,
    /// Blobs that events name.
    pub blobs: Vec<Digest>,
    /// From which processes work was taken over, in order.
    pub takeovers: Vec<u32>,
}

struct Stream {
    version: Version,
    head: Digest,
    state: State,
    /// The process that holds the run's work, as far as the log tells.
    owner: Option<u32>,
    /// The present revision and attempt of each execution.
    attempts: HashMap<ExecNo, (u32, u32)>,
    /// Which process started the work of an execution's present attempt again, after another one was cut off.
    restarted: HashMap<ExecNo, u32>,
    /// Attempts that have an outcome.
    settled: HashSet<(ExecNo, u32, u32)>,
}

impl Seen {
    /// Takes in the next row.
    pub fn row(&mut self, row: &Row) -> Result<(), String> {
        let place = format!("{} at version {}", row.stream, row.first.0);
        if row.seq.0 != self.last + 1 {
            return Err(format!("{place}: position {} follows {}", row.seq.0, self.last));
        }
        self.last = row.last_seq().0;
        let stream = self.streams.entry(row.stream).or_insert_with(|| Stream {
            version: Version(0),
            head: Digest::ZERO,
            state: State::empty(row.stream),
            owner: None,
            attempts: HashMap::new(),
            restarted: HashMap::new(),
            settled: HashSet::new(),
        });
        stream.link(row).map_err(|what| format!("{place}: {what}"))?;
        let events = event::decode(row.stream.kind(), &row.bytes).map_err(|e| format!("{place}: {e}"))?;
        stream.settle(row, &events).map_err(|what| format!("{place}: {what}"))?;
        let before = (stream.owes(row.at), stream.in_flight());
        let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
        for event in &events {
            evolve(&mut stream.state, &stamp, event);
        }
        self.takeovers.extend(stream.own(row, &events, before));
        self.blobs.extend(events.iter().filter_map(named));
        Ok(())
    }

    /// Runs that still owe something.
    pub fn busy(&self) -> usize {
        self.runs().filter(|(_, run)| due(run, Timestamp(0)).is_some()).count()
    }

    /// Runs that nobody will ever move, though they have not ended.
    pub fn stuck(&self) -> Vec<String> {
        self.runs()
            .filter(|(_, run)| run.exists() && run.gone.is_none() && run.status == RunStatus::InProgress)
            .filter(|(_, run)| !waits_for_somebody(run))
            .map(|(id, run)| format!("run {id}: {:?}", run.executions().collect::<Vec<_>>()))
            .collect()
    }

    fn runs(&self) -> impl Iterator<Item = (RunId, &RunState)> {
        self.streams.iter().filter_map(|(id, stream)| match (id, &stream.state) {
            (StreamId::Run(id), State::Run(run)) => Some((*id, &**run)),
            _ => None,
        })
    }
}

/// Whether a person has something to do in a run.
fn waits_for_somebody(run: &RunState) -> bool {
    !run.gates.is_empty() || run.executions().any(|(_, e)| matches!(e.state, ExecutionState::Pending))
}

/// A blob that an event names.
fn named(event: &Event) -> Option<Digest> {
    match event {
        Event::Run(RunEvent::Made { plan, .. }) => Some(*plan),
        Event::Run(RunEvent::ArtifactMade { made, .. }) => Some(made.digest),
        _ => None,
    }
}

/// The execution whose work an event settles, when the system wrote it.
fn settles(event: &Event) -> Option<ExecNo> {
    match event {
        Event::Run(
            RunEvent::WorkDone { x, .. }
            | RunEvent::ExecutionCompleted { x, .. }
            | RunEvent::AttemptFailed { x, .. }
            | RunEvent::ExecutionFailed { x, .. },
        ) => Some(*x),
        _ => None,
    }
}

impl Stream {
    /// The row must follow the one before it.
    fn link(&mut self, row: &Row) -> Result<(), String> {
        if row.first.0 != self.version.0 + 1 || row.prev != self.head {
            return Err(format!("does not follow version {}", self.version.0));
        }
        let header = Header {
            stream: row.stream,
            first: row.first,
            count: row.count,
            at: row.at,
            actor: &row.actor,
            command: row.command,
        };
        if link(row.prev, &header, &row.bytes) != row.hash {
            return Err("is not what its hash says".to_owned());
        }
        self.version = row.last();
        self.head = row.hash;
        Ok(())
    }

    /// An attempt has one outcome, recorded while it is owed, by the process that holds the run's work.
    fn settle(&mut self, row: &Row, events: &[Event]) -> Result<(), String> {
        let mut here = HashSet::new();
        for event in events {
            if let Event::Run(RunEvent::AttemptBegan { x, revision, attempt, .. }) = event {
                self.attempts.insert(*x, (*revision, *attempt));
                self.restarted.remove(x);
            }
            if let Some(x) = taken_over(event) {
                self.restarted.insert(x, process(row.command));
            }
            let Some(x) = settles(event).filter(|_| row.actor.kind == ActorKind::System) else { continue };
            // The events of one row about one execution are one outcome.
            if !here.insert(x) {
                continue;
            }
            let (revision, attempt) = self.attempts.get(&x).copied().unwrap_or_default();
            if !self.settled.insert((x, revision, attempt)) {
                return Err(format!("{x} revision {revision} attempt {attempt} has a second outcome"));
            }
            let State::Run(run) = &self.state else { continue };
            if !run.owed.keys().any(|owed| owed.x == x) {
                return Err(format!("{x} has an outcome that was not owed"));
            }
            // Work that nobody has started changes hands without a mark; work that was started does not.
            let owner = self.restarted.get(&x).copied();
            if let Some(owner) = owner.filter(|owner| *owner != process(row.command)) {
                let by = process(row.command);
                return Err(format!("{x} was settled by process {by:x}, but {owner:x} held its work"));
            }
        }
        Ok(())
    }

    fn owes(&self, at: Timestamp) -> bool {
        matches!(&self.state, State::Run(run) if due(run, at).is_some())
    }

    /// Whether work was handed out that has no outcome yet; timers are not.
    fn in_flight(&self) -> bool {
        matches!(&self.state, State::Run(run) if !run.owed.is_empty())
    }

    /// Who holds the run's work after a row; from whom, if it was taken over.
    fn own(&mut self, row: &Row, events: &[Event], before: (bool, bool)) -> Option<u32> {
        let (owed_before, in_flight_before) = before;
        let by = Some(process(row.command));
        let restarted = events.iter().any(|e| matches!(e, Event::Run(RunEvent::AttemptRestarted { .. })));
        // Only the process that holds the run fires its timers and settles its work.
        let acted = row.actor.kind == ActorKind::System;
        let held = self.owner;
        if !self.owes(row.at) {
            self.owner = None;
        } else if restarted || acted || (!owed_before && self.owner.is_none()) {
            self.owner = by;
        } else if !in_flight_before && self.owner != by {
            // While only a timer was waited for, this process may have taken the run over: its next act tells.
            self.owner = None;
        }
        held.filter(|_| restarted && held != self.owner)
    }
}
