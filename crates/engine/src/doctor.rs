//! Checking the tables against the log, and writing them again from it.

use holdpoint_core::rows::RowChange;
use holdpoint_core::{Seq, Stamp, State, StreamId, Version, event, evolve, project};
use holdpoint_store::{Diff, EventLog, Query, StoreError};

/// How many rows or streams are read at once.
const PAGE: u32 = 1_000;

/// What a check of the tables found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Streams looked at.
    pub streams: u64,
    /// Rows compared.
    pub rows: u64,
    /// Rows that differ from what the log says, the first hundred in words.
    pub wrong: Vec<String>,
    /// Whether they were written again.
    pub repaired: bool,
}

/// Makes the tables of every stream anew from the log and compares; with `repair`, writes what differs.
pub async fn check_tables(
    log: &dyn EventLog,
    repair: bool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Tables, StoreError> {
    let mut found = Tables::default();
    let mut after = None;
    loop {
        let page = log.query(Query::Streams { after, limit: PAGE }).await?;
        let Some(last) = page.streams.last() else { break };
        after = Some(*last);
        for stream in &page.streams {
            let diff = check_stream(log, *stream, repair).await?;
            found.streams += 1;
            found.rows += diff.rows;
            found.repaired |= repair && !diff.wrong.is_empty();
            let room = 100usize.saturating_sub(found.wrong.len());
            found.wrong.extend(diff.wrong.into_iter().take(room));
            progress(found.streams);
        }
    }
    Ok(found)
}

/// Makes the tables of every journal anew from the log: a newer program knows more of them than an older one wrote.
pub async fn refresh_journals(log: &dyn EventLog) -> Result<u64, StoreError> {
    let (mut streams, mut after) = (0, None);
    loop {
        let page = log.query(Query::Streams { after, limit: PAGE }).await?;
        let Some(last) = page.streams.last() else { return Ok(streams) };
        after = Some(*last);
        for stream in page.streams.iter().filter(|stream| matches!(stream, StreamId::Journal(_))) {
            check_stream(log, *stream, true).await?;
            streams += 1;
        }
    }
}

async fn check_stream(log: &dyn EventLog, stream: StreamId, repair: bool) -> Result<Diff, StoreError> {
    // A stream that moves while it is compared is compared again.
    for _ in 0..5 {
        let (changes, version) = replay(log, stream, repair).await?;
        let diff = log.rebuild(stream, changes.clone(), false).await?;
        if diff.wrong.is_empty() {
            return Ok(diff);
        }
        if log.read(stream, version, 1).await?.is_empty() {
            if repair {
                log.rebuild(stream, changes, true).await?;
            }
            return Ok(diff);
        }
    }
    Ok(Diff::default())
}

/// The changes of tables that a stream's events make, one after another.
async fn replay(
    log: &dyn EventLog,
    stream: StreamId,
    repair: bool,
) -> Result<(Vec<(Seq, Vec<RowChange>)>, Version), StoreError> {
    let mut state = State::empty(stream);
    let mut changes = Vec::new();
    let mut version = Version(0);
    loop {
        let rows = log.read(stream, version, PAGE).await?;
        for row in &rows {
            // Nothing is written from a damaged row. For a look it will do: what is wrong with the log is told elsewhere.
            let events = if repair {
                row.events()?
            } else {
                event::decode(stream.kind(), &row.bytes).map_err(|cause| row.corrupt(cause.to_string()))?
            };
            let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
            let before = state.clone();
            for event in &events {
                evolve(&mut state, &stamp, event);
            }
            let projected = project(stream, &before, &state, &stamp, &events);
            changes.extend(projected.into_iter().zip(0u64..).map(|(c, i)| (Seq(row.seq.0 + i), c)));
            version = row.last();
        }
        if rows.len() < PAGE as usize {
            return Ok((changes, version));
        }
    }
}
