//! Which runs want attention, who holds them, and under which epoch.
//!
//! Promises: an epoch only grows and survives everything; a row that does not change is not written.

use std::collections::HashMap;

use holdpoint_core::{RunId, StreamId, Timestamp};
use holdpoint_planted::{Bug, planted};
use holdpoint_store::{Claimed, Fence, Lease, WorkChange};
use rusqlite::{Connection, OptionalExtension as _, params};
use uuid::Uuid;

use crate::batch::Books;
use crate::owners::{Living, Witness};

/// A row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    due: Option<i64>,
    owner: Option<i64>,
    epoch: u64,
}

/// Rows that were read or written since another connection last committed.
pub(crate) type Entries = HashMap<i64, Option<Entry>>;

impl Books {
    /// The epoch that a fence is refused with, or nothing when it holds.
    pub(crate) fn fenced(&mut self, conn: &Connection, fence: &Fence) -> rusqlite::Result<Option<u64>> {
        if planted(Bug::SqliteDropEpochCheck) {
            return Ok(None);
        }
        Ok(match self.entry(conn, fence.run)? {
            Some(entry) if entry.epoch == fence.epoch && entry.owner == Some(self.owner.number()) => None,
            Some(entry) => Some(entry.epoch),
            None => Some(0),
        })
    }

    /// Writes a change of when a run wants attention.
    pub(crate) fn change(&mut self, conn: &Connection, change: &WorkChange) -> rusqlite::Result<()> {
        let before = self.entry(conn, change.run)?;
        if before.is_none() && change.due.is_none() {
            return Ok(());
        }
        let mut entry = before.unwrap_or_default();
        entry.due = change.due.map(|due| due.0);
        if entry.due.is_none() {
            entry.owner = None;
        } else if change.take && entry.owner.is_none() {
            self.owner.register(conn)?;
            entry.owner = Some(self.owner.number());
            entry.epoch += 1;
        }
        if before == Some(entry) {
            return Ok(());
        }
        let run = self.stream_id(conn, StreamId::Run(change.run))?;
        self.write_entry(conn, run, entry)
    }

    /// The lease that this owner holds on a run.
    pub(crate) fn lease(&mut self, conn: &Connection, run: RunId) -> rusqlite::Result<Option<Lease>> {
        let entry = self.entry(conn, run)?.filter(|entry| entry.owner == Some(self.owner.number()));
        Ok(entry.map(|entry| Lease { run, epoch: entry.epoch }))
    }

    /// Takes over runs that are due and that no live owner holds, the longest due first.
    pub(crate) fn claim(
        &mut self,
        conn: &Connection,
        now: Timestamp,
        limit: u32,
        only: Option<RunId>,
    ) -> rusqlite::Result<Vec<Claimed>> {
        let mut found = Vec::new();
        let mut living = Living::default();
        let mut statement = conn.prepare_cached(
            "SELECT w.run, s.uuid, w.due, w.owner, w.epoch FROM work w JOIN stream s ON s.id = w.run
             WHERE w.due <= ?1 AND w.owner IS NOT ?2 AND (?3 IS NULL OR s.uuid = ?3) ORDER BY w.due, s.uuid",
        )?;
        let mut rows =
            statement.query(params![now.0, self.owner.number(), only.map(|run| run.0.into_bytes())])?;
        while let Some(row) = if found.len() < limit as usize { rows.next()? } else { None } {
            let (due, owner, epoch) = (row.get(2)?, row.get(3)?, row.get::<_, i64>(4)? as u64);
            if let Some(owner) = owner
                && living.knows(conn, &self.owner, owner)?
            {
                continue;
            }
            let run = RunId(Uuid::from_bytes(row.get(1)?));
            found.push((row.get(0)?, run, Entry { due, owner, epoch }));
        }
        if !found.is_empty() {
            self.owner.beat(conn)?;
        }
        found
            .into_iter()
            .map(|(id, run, entry)| {
                let abandoned = entry.owner.is_some();
                let entry = Entry { owner: Some(self.owner.number()), epoch: entry.epoch + 1, ..entry };
                self.write_entry(conn, id, entry)?;
                Ok(Claimed { lease: Lease { run, epoch: entry.epoch }, abandoned })
            })
            .collect()
    }

    /// Says that this owner is alive; all leases that it holds.
    pub(crate) fn beat(&mut self, conn: &Connection) -> rusqlite::Result<Vec<Lease>> {
        self.owner.beat(conn)?;
        conn.prepare_cached(
            "SELECT s.uuid, w.epoch FROM work w JOIN stream s ON s.id = w.run WHERE w.owner = ? ORDER BY s.uuid",
        )?
        .query_map([self.owner.number()], |row| {
            Ok(Lease { run: RunId(Uuid::from_bytes(row.get(0)?)), epoch: row.get::<_, i64>(1)? as u64 })
        })?
        .collect()
    }

    fn entry(&mut self, conn: &Connection, run: RunId) -> rusqlite::Result<Option<Entry>> {
        let Some(id) = self.known_stream(conn, StreamId::Run(run))? else { return Ok(None) };
        if let Some(entry) = self.entries.get(&id) {
            return Ok(*entry);
        }
        let entry = conn
            .prepare_cached("SELECT due, owner, epoch FROM work WHERE run=?")?
            .query_row([id], |row| {
                Ok(Entry { due: row.get(0)?, owner: row.get(1)?, epoch: row.get::<_, i64>(2)? as u64 })
            })
            .optional()?;
        self.entries.insert(id, entry);
        Ok(entry)
    }

    fn write_entry(&mut self, conn: &Connection, run: i64, entry: Entry) -> rusqlite::Result<()> {
        conn.prepare_cached("INSERT OR REPLACE INTO work VALUES(?, ?, ?, ?)")?.execute(params![
            run,
            entry.due,
            entry.owner,
            entry.epoch as i64
        ])?;
        self.entries.insert(run, Some(entry));
        Ok(())
    }
}

/// Whether a claim would find a run. Most find none: looking here first keeps them out of the writer, which would open a
/// transaction four times a second in every process.
pub(crate) fn is_claimable(
    conn: &Connection,
    witness: &Witness,
    claimer: i64,
    now: Timestamp,
    only: Option<RunId>,
) -> rusqlite::Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT DISTINCT owner FROM work WHERE due <= ?1 AND owner IS NOT ?2
         AND (?3 IS NULL OR run = (SELECT id FROM stream WHERE uuid = ?3))",
    )?;
    let mut owners = statement.query(params![now.0, claimer, only.map(|run| run.0.into_bytes())])?;
    while let Some(row) = owners.next()? {
        match row.get::<_, Option<i64>>(0)? {
            Some(owner) if witness.lives(conn, owner)? => {}
            Some(_) | None => return Ok(true),
        }
    }
    Ok(false)
}
