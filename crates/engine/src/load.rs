//! Loading a stream: the saved fold, then the rows behind it.

use std::sync::Arc;

use holdpoint_core::{Digest, FOLD_CODE, LoadedPlan, Stamp, State, StreamId, Version, evolve};
use holdpoint_store::{EventLog, Row, SavedFold, StoreError};

/// How many rows are read at once.
const PAGE: u32 = 500;

/// A stream's state at a version. Never changed: a commit puts a new one in its place.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The state.
    pub state: State,
    /// How many events are folded in.
    pub version: Version,
    /// The hash of the last row.
    pub head: Digest,
    /// The plan of a run.
    pub plan: Option<Arc<LoadedPlan>>,
}

/// How large the saved fold is, and what stands behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// The bytes of the rows behind the fold.
    pub tail: u64,
    /// The bytes of the fold.
    pub fold: u64,
}

impl Loaded {
    /// A stream without events.
    pub fn empty(stream: StreamId) -> Self {
        Self { state: State::empty(stream), version: Version(0), head: Digest::ZERO, plan: None }
    }

    /// Folds a row in, if it is what was written behind the rows before it.
    pub(crate) fn fold(&mut self, row: &Row) -> Result<(), StoreError> {
        if row.first.0 != self.version.0 + 1 || row.prev != self.head {
            return Err(row.corrupt("the row does not follow the one before it"));
        }
        let events = row.events()?;
        let stamp = Stamp { at: row.at, actor: &row.actor, command: row.command };
        for event in &events {
            evolve(&mut self.state, &stamp, event);
        }
        self.version = row.last();
        self.head = row.hash;
        Ok(())
    }
}

/// Loads a stream from the store.
pub(crate) async fn load(log: &dyn EventLog, stream: StreamId) -> Result<(Loaded, Sizes), StoreError> {
    let saved = log.fold(stream).await?.filter(|fold| fold.code == FOLD_CODE);
    let fold = saved.as_ref().map_or(0, |fold| fold.bytes.len() as u64);
    let mut loaded = saved.as_ref().and_then(decode).unwrap_or_else(|| Loaded::empty(stream));
    let tail = catch_up(log, stream, &mut loaded).await?;
    Ok((loaded, Sizes { tail, fold }))
}

/// Folds in what came since; says how many bytes that was.
pub(crate) async fn catch_up(
    log: &dyn EventLog,
    stream: StreamId,
    loaded: &mut Loaded,
) -> Result<u64, StoreError> {
    let mut bytes = 0;
    loop {
        let rows = log.read(stream, loaded.version, PAGE).await?;
        for row in &rows {
            loaded.fold(row)?;
            bytes += row.bytes.len() as u64;
        }
        if rows.len() < PAGE as usize {
            return Ok(bytes);
        }
    }
}

/// A saved fold that cannot be read is ignored: the log has everything.
fn decode(fold: &SavedFold) -> Option<Loaded> {
    let state: State = serde_json::from_slice(&fold.bytes).ok()?;
    Some(Loaded { state, version: fold.version, head: fold.hash, plan: None })
}

/// Encodes a state for keeping.
pub(crate) fn encode(stream: StreamId, loaded: &Arc<Loaded>) -> Result<SavedFold, StoreError> {
    let bytes = serde_json::to_vec(&loaded.state)
        .map_err(|cause| StoreError::Corrupt(format!("the fold of {stream} cannot be written: {cause}")))?;
    Ok(SavedFold { stream, version: loaded.version, hash: loaded.head, code: FOLD_CODE, bytes })
}
