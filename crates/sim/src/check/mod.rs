//! What must hold, checked on the whole log after a world has come to rest.
//!
//! The checks keep their own books from the events alone, beside the rules that they judge. Numbers like
//! I11 name the invariant.

mod attempts;
mod clients;
mod gates;
mod journals;
mod nodes;
mod record;
mod rest;
mod rollbacks;
mod runs;

use std::collections::BTreeMap;

use holdpoint_core::state::RunState;
use holdpoint_core::{Event, RunId, Seq, Stamp, State, StreamId, event, evolve};
use holdpoint_engine::clock::Clock as _;
use holdpoint_store::{EventLog, Row, StoreError};

use crate::client::Town;
use crate::scenery::lock;

/// One row with its events.
pub struct Entry {
    /// The row.
    pub row: Row,
    /// Its events.
    pub events: Vec<Event>,
}

/// One event of a run, between the states around it.
pub struct Moment<'a> {
    /// The run.
    pub run: RunId,
    /// The row that the event stands in.
    pub entry: &'a Entry,
    /// The run before.
    pub before: &'a RunState,
    /// The run after.
    pub after: &'a RunState,
    /// All states, as they are before the row.
    pub states: &'a BTreeMap<StreamId, State>,
}

/// What a check finds.
pub type Found = Vec<String>;

/// Checks everything.
pub async fn all(town: &Town) -> Result<Found, StoreError> {
    let mut mirror = town.mirror.lock().await;
    mirror.sync().await?;
    let entries = read(mirror.log()).await?;
    let mut found = record::chain(mirror.log()).await?;
    found.extend(record::tables(mirror.log()).await?);
    found.extend(record::folds(mirror.log(), &entries).await?);
    found.extend(record::blobs(mirror.log(), &entries).await);
    found.extend(record::acks(&lock(&town.journal).acks, &entries));
    found.extend(journals::in_their_parts(&entries, &town.scenery.all_said()));
    found.extend(rollbacks::whole(&entries));
    found.extend(rest::at_rest(&mirror, town.scenery.clock.now(), &town.scenery.working()));
    let asked = lock(&town.journal).approvals.clone();
    found.extend(walk(&entries, &mirror, &asked));
    Ok(found)
}

/// Reads the whole log.
pub async fn read(log: &dyn EventLog) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    let mut after = Seq(0);
    loop {
        let rows = log.read_all(after, 1_000).await?;
        let Some(last) = rows.last() else { return Ok(entries) };
        after = last.last_seq();
        for row in rows {
            let events = event::decode(row.stream.kind(), &row.bytes)
                .map_err(|cause| StoreError::Corrupt(cause.to_string()))?;
            entries.push(Entry { row, events });
        }
    }
}

/// Goes through all events in order with the books that the checks keep.
fn walk(
    entries: &[Entry],
    mirror: &crate::mirror::Mirror,
    approvals: &[(holdpoint_core::GateId, Option<holdpoint_core::Digest>)],
) -> Found {
    let mut states: BTreeMap<StreamId, State> = BTreeMap::new();
    let mut attempts = attempts::Attempts::default();
    let mut gates = gates::Gates::new(mirror);
    let mut numbers = runs::Numbers::default();
    let mut fronts = nodes::Fronts::default();
    let mut found = Vec::new();
    for entry in entries {
        let stream = entry.row.stream;
        let mut state = states.get(&stream).cloned().unwrap_or_else(|| State::empty(stream));
        attempts.begin_row();
        gates.begin_row();
        let row = &entry.row;
        let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
        let at_first = state.clone();
        for event in &entry.events {
            let before = state.clone();
            evolve(&mut state, &stamp, event);
            match (stream, event, &before, &state) {
                (StreamId::Run(run), Event::Run(event), State::Run(before), State::Run(after)) => {
                    let moment = Moment { run, entry, before, after, states: &states };
                    found.extend(attempts.see(&moment, event));
                    found.extend(gates.see(&moment, event));
                    found.extend(runs::transitions(&moment, event));
                    found.extend(rollbacks::nothing_lost(&moment, event));
                }
                (StreamId::Pipeline(pipeline), Event::Pipeline(event), ..) => {
                    found.extend(numbers.see(pipeline, event));
                }
                _ => {}
            }
        }
        if let (State::Run(before), State::Run(after)) = (&at_first, &state) {
            found.extend(clients::calls_count_once(entry, before, after));
            found.extend(fronts.see(before.id(), before, after, row.seq));
        }
        states.insert(stream, state);
    }
    found.extend(gates.sent(approvals));
    found.extend(fronts.at_last(&states));
    found
}
