//! What does not have to be kept any longer: archives of old rollbacks, folders of old failures, and bytes that
//! nothing names.
//!
//! Everything can be looked at before it is removed. Outputs, messages and pins stay as long as the log has the event
//! that names them; the files of unfinished work stay until that work ends.

mod needed;

use holdpoint_core::rows::Table;
use holdpoint_core::state::PipelineState;
use holdpoint_core::{
    Actor, Command, Digest, PipelineCommand, PipelineId, RollbackId, State, StreamId, Timestamp,
};
use holdpoint_store::{Query, Swept};

pub use needed::needed;

use crate::tree::{Options, Place, TreeError};
use crate::{Engine, SubmitError};

/// How many pipelines are read at once.
const PAGE: u32 = 1_000;
/// Bytes are left alone for this long: whoever put them may be about to name them.
const GRACE_SECONDS: u64 = 24 * 60 * 60;

/// What goes, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Folders.
    pub folders: Vec<GcFolder>,
    /// How many blobs that nothing names, and their bytes on disk.
    pub blobs: Swept,
    /// What could not be removed.
    pub failed: Vec<String>,
}

/// A folder that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcFolder {
    /// What it is.
    pub kind: GcKind,
    /// The pipeline.
    pub pipeline: PipelineId,
    /// Where, inside the pipeline's folder.
    pub path: String,
    /// The bytes of the files in it.
    pub bytes: u64,
    /// Since when.
    pub since: Timestamp,
}

/// What a folder that goes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcKind {
    /// The archive of a rollback, which cannot be undone afterwards.
    Archive,
    /// What is left of an execution that has failed for good.
    Error,
}

impl GcKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Error => "error",
        }
    }
}

impl Engine {
    /// Removes what does not have to be kept any longer; with `dry_run`, only says what that is.
    pub async fn gc(&self, dry_run: bool) -> Result<GcReport, TreeError> {
        let mut report = GcReport::default();
        if let Some(options) = self.inner.parts.files.clone() {
            let mut before = None;
            loop {
                let query = Query::List { table: Table::Pipeline, by: None, before, limit: PAGE };
                let records = self.query(query).await?.records;
                let Some(last) = records.last() else { break };
                before = Some(last.seq);
                for record in &records {
                    let StreamId::Pipeline(id) = record.stream else { continue };
                    self.gc_pipeline(id, &options, dry_run, &mut report).await?;
                }
            }
        }
        report.blobs = self.gc_blobs(dry_run).await?;
        Ok(report)
    }

    async fn gc_pipeline(
        &self,
        id: PipelineId,
        options: &Options,
        dry_run: bool,
        report: &mut GcReport,
    ) -> Result<(), TreeError> {
        let loaded = self.view(StreamId::Pipeline(id)).await?;
        let State::Pipeline(state) = &loaded.state else { return Ok(()) };
        let Some(place) = self.place_of(id, state.deleted_at.is_some()).await? else { return Ok(()) };
        let now = self.now();
        let mut going: Vec<GcFolder> = Vec::new();
        for (kind, path, since) in old_archives(&place, state, options, now)
            .await?
            .into_iter()
            .chain(old_errors(&place, options, now).await?)
        {
            let Some(bytes) = place.size(&path).await? else { continue };
            going.push(GcFolder { kind, pipeline: id, path, bytes, since });
        }
        if !dry_run {
            self.end_archives(id, state, options, now).await?;
            for folder in &going {
                if let Err(error) = place.remove(&folder.path).await {
                    report.failed.push(format!("{id}/{}: {error}", folder.path));
                }
            }
        }
        report.folders.extend(going);
        Ok(())
    }

    /// Records that archives are over, before their files go: what cannot be undone any more says so.
    async fn end_archives(
        &self,
        id: PipelineId,
        state: &PipelineState,
        options: &Options,
        now: Timestamp,
    ) -> Result<(), SubmitError> {
        for (rollback, archive) in &state.archives {
            if archive.at < options.archives_since(now) {
                let command = Command::Pipeline(id, PipelineCommand::EndArchive(*rollback));
                self.submit(Actor::system(), None, command).await?;
            }
        }
        Ok(())
    }

    async fn gc_blobs(&self, dry_run: bool) -> Result<Swept, SubmitError> {
        let now = self.now();
        let older = Timestamp(now.0.saturating_sub_unsigned(GRACE_SECONDS * 1_000_000));
        let needed = needed(self.log(), &*self.inner.parts.blobs, now).await?;
        let is_needed = |digest: &Digest| needed.contains(digest);
        Ok(self.inner.parts.blobs.sweep(&is_needed, older, dry_run).await?)
    }
}

/// Archives whose time is over, also those that are recorded as over and were not removed: their folders are what is left of them.
async fn old_archives(
    place: &Place,
    state: &PipelineState,
    options: &Options,
    now: Timestamp,
) -> Result<Vec<(GcKind, String, Timestamp)>, TreeError> {
    let since = options.archives_since(now);
    let mut old = Vec::new();
    for name in place.names(".archived").await? {
        let Some((id, at)) = name.strip_prefix("rollback_").and_then(|rest| rest.split_once('_')) else {
            continue;
        };
        let (Ok(rollback), Some(time)) = (id.parse::<RollbackId>(), Timestamp::from_compact(at)) else {
            continue;
        };
        let is_over = match state.archives.get(&rollback) {
            Some(archive) => archive.at < since,
            None => state.archive_ended(rollback).is_some(),
        };
        if is_over {
            let at = state.archives.get(&rollback).map_or(time, |archive| archive.at);
            old.push((GcKind::Archive, format!(".archived/{name}"), at));
        }
    }
    Ok(old)
}

/// Folders of executions that failed too long ago, by the time in their names.
async fn old_errors(
    place: &Place,
    options: &Options,
    now: Timestamp,
) -> Result<Vec<(GcKind, String, Timestamp)>, TreeError> {
    let since = options.errors_since(now).compact();
    let mut old = Vec::new();
    for name in place.names(".errored").await? {
        let Some(at) = name.strip_prefix("exec_").and_then(|rest| rest.get(37..)) else { continue };
        let Some(time) = Timestamp::from_compact(at) else { continue };
        if at < since.as_str() {
            old.push((GcKind::Error, format!(".errored/{name}"), time));
        }
    }
    Ok(old)
}
