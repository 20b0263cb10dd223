//! Looking at the whole tree: at a start, and when somebody asks for it.
//!
//! What stands with the size and the time that it was written with is as it was written; only what does not is
//! compared with the log. A deep look compares everything, by content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use holdpoint_core::event::Drifted;
use holdpoint_core::rows::Table;
use holdpoint_core::state::PipelineState;
use holdpoint_core::{PipelineId, RunId, State, StreamId};
use holdpoint_store::Query;

use super::apply::How;
use super::folder::Folder;
use super::manifest::{Manifest, stands};
use super::place::blocking;
use super::sync::{PIPELINE, Part, Synced};
use super::{Tree, TreeError};
use crate::Engine;

/// How many pipelines are listed at once.
const PAGE: u32 = 500;
/// How many faults are told in words.
const MAX_TOLD: usize = 100;

/// How to look at the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckFiles {
    /// Whether what is wrong is made right.
    pub repair: bool,
    /// Whether everything is compared with the log, by content.
    pub deep: bool,
}

/// What a look at the tree found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesReport {
    /// Pipelines looked at.
    pub pipelines: u64,
    /// Files looked at.
    pub files: u64,
    /// How many things were not as the log says.
    pub wrong: u64,
    /// The first hundred of them, in words.
    pub told: Vec<String>,
    /// What somebody had changed, with the pipeline whose file it is.
    pub drifted: Vec<(PipelineId, Drifted)>,
    /// Where it was put, in the folder of its pipeline.
    pub aside: Vec<(PipelineId, String)>,
    /// What could not be looked at or made right.
    pub failed: Vec<String>,
}

impl FilesReport {
    /// Whether everything is as the log says.
    pub fn is_clean(&self) -> bool {
        self.wrong == 0 && self.drifted.is_empty() && self.failed.is_empty()
    }

    fn add(&mut self, pipeline: PipelineId, synced: Synced) {
        self.files += synced.files;
        self.wrong += synced.behind.len() as u64;
        let room = MAX_TOLD.saturating_sub(self.told.len());
        self.told.extend(synced.behind.into_iter().take(room).map(|what| format!("{pipeline}: {what}")));
        self.drifted.extend(synced.found.files.into_iter().map(|file| (pipeline, file)));
        self.aside.extend(synced.found.folder.map(|folder| (pipeline, folder)));
    }
}

impl Engine {
    /// Compares the files of all pipelines with the log; with `repair`, makes them like it.
    pub async fn check_files(&self, check: CheckFiles) -> Result<FilesReport, TreeError> {
        let mut report = FilesReport::default();
        let Some(tree) = self.tree() else { return Ok(report) };
        let late = if check.deep { BTreeMap::new() } else { self.late(tree).await? };
        let mut before = None;
        loop {
            let query = Query::List { table: Table::Pipeline, by: None, before, limit: PAGE };
            let records = self.query(query).await?.records;
            let Some(last) = records.last() else { return Ok(report) };
            before = Some(last.seq);
            for record in &records {
                let StreamId::Pipeline(id) = record.stream else { continue };
                report.pipelines += 1;
                let late = late.get(&id).cloned();
                if let Err(error) = self.check_pipeline(tree, id, check, late, &mut report).await {
                    report.failed.push(format!("{id}: {error}"));
                }
            }
        }
    }

    async fn check_pipeline(
        &self,
        tree: &Tree,
        id: PipelineId,
        check: CheckFiles,
        late: Option<Part>,
        report: &mut FilesReport,
    ) -> Result<(), TreeError> {
        let loaded = self.view(StreamId::Pipeline(id)).await?;
        let State::Pipeline(state) = &loaded.state else { return Ok(()) };
        let part = if check.deep {
            Some(Part { pipeline: true, runs: state.every_run().collect(), again: true })
        } else {
            self.suspicious(tree, id, state, report).await?
        };
        let Some(part) = joined(part, late.map(|late| Part { again: true, ..late })) else { return Ok(()) };
        let how = How { hash: check.deep, dry: !check.repair };
        let synced = self.sync(tree, id, part, how).await?;
        if synced.failed {
            report.failed.push(format!("{id}: {}", synced.behind.join("; ")));
        }
        report.add(id, synced);
        Ok(())
    }

    /// The parts of a pipeline that are not as they were written, if there are any.
    async fn suspicious(
        &self,
        tree: &Tree,
        id: PipelineId,
        state: &PipelineState,
        report: &mut FilesReport,
    ) -> Result<Option<Part>, TreeError> {
        let held = tree.lock(id).await?;
        let runs: BTreeSet<RunId> = state.every_run().collect();
        let Some(root) = tree.root(id, state.deleted_at.is_some(), false).await? else {
            return Ok(Some(Part { pipeline: true, runs, again: true }));
        };
        let (part, files) = blocking(move || look(&root, runs)).await?;
        drop(held);
        report.files += files;
        Ok((part.pipeline || !part.runs.is_empty()).then_some(part))
    }
}

/// What stands wrong and what was not written yet, together.
fn joined(one: Option<Part>, other: Option<Part>) -> Option<Part> {
    let (Some(mut one), Some(other)) = (one.clone(), other.clone()) else { return one.or(other) };
    one.pipeline |= other.pipeline;
    one.runs.extend(other.runs);
    Some(one)
}

fn look(root: &Arc<Folder>, runs: BTreeSet<RunId>) -> std::io::Result<(Part, u64)> {
    let (mut part, mut files) = (Part { again: true, ..Part::default() }, 0);
    let units: BTreeMap<String, Option<RunId>> = runs
        .into_iter()
        .map(|run| (run.to_string(), Some(run)))
        .chain([(PIPELINE.to_owned(), None)])
        .collect();
    for (unit, run) in units {
        let right = match Manifest::load(root, &unit)? {
            Some(manifest) => stands(root, &manifest, &mut files)?,
            None => false,
        };
        match run {
            _ if right => {}
            Some(run) => drop(part.runs.insert(run)),
            None => part.pipeline = true,
        }
    }
    Ok((part, files))
}
