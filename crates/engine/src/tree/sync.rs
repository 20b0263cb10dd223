//! Writing a pipeline's files: take its lock, read the newest states, compare, write, and record what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use holdpoint_core::commands::record_drift::RecordDrift;
use holdpoint_core::state::{PipelineState, RunState};
use holdpoint_core::tree::{self, Keep, Wanted};
use holdpoint_core::{
    Actor, Command, Digest, PipelineCommand, PipelineId, RunId, State, StreamId, Timestamp, Version,
};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::runtime::Handle;

use super::apply::{Applied, How, Unit, apply};
use super::folder::Folder;
use super::lines::Kept;
use super::manifest::{Found, Manifest};
use super::place::{apart, blocking};
use super::{Options, Tree, TreeError};
use crate::Engine;

/// The unit of the pipeline itself; a run's is named after the run.
pub(super) const PIPELINE: &str = "pipeline";

/// What of a pipeline is to be looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// The pipeline itself.
    pub pipeline: bool,
    /// These runs.
    pub runs: BTreeSet<RunId>,
    /// Whether also to look at what is said to be written already.
    pub again: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Synced {
    /// What somebody had changed.
    pub found: Found,
    /// What was not as the log says.
    pub behind: Vec<String>,
    /// How many files were looked at.
    pub files: u64,
    /// Whether something could not be written now.
    pub failed: bool,
}

impl Synced {
    fn add(&mut self, applied: Applied) {
        self.found.folder = applied.found.folder.or(self.found.folder.take());
        self.found.files.extend(applied.found.files);
        self.behind.extend(applied.behind);
        self.files += applied.files;
        self.failed |= applied.failed;
    }
}

/// One unit, as it is handed to a thread that may block.
struct Job {
    root: Arc<Folder>,
    name: String,
    wanted: Wanted,
    documents: BTreeMap<String, Vec<u8>>,
    manifest: Manifest,
    stamp: Digest,
    about: Option<Digest>,
    now: Timestamp,
    how: How,
}

/// Reads a blob on a thread that may block, piece by piece.
struct Bridge {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    handle: Handle,
}

impl io::Read for Bridge {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.handle.block_on(self.reader.read(into))
    }
}

/// What the places of runs, and what they tell of their pipeline, follow from.
fn about(state: &PipelineState) -> Digest {
    let ended = (state.rollback_count as usize).saturating_sub(state.archives.len());
    Digest::of_json(&(state.definition_version, &*state.name, ended))
}

/// What a unit is written from: its own state, what that wants, and what it tells of its pipeline.
fn stamp(version: Version, wanted: &Wanted, about: Digest) -> Digest {
    Digest::of(format!("{} {about} {wanted:?}", version.0).as_bytes())
}

impl Engine {
    /// Looks at a part of a pipeline's files, and makes them like what the log says.
    pub(super) async fn sync(
        &self,
        tree: &Tree,
        id: PipelineId,
        part: Part,
        how: How,
    ) -> Result<Synced, TreeError> {
        // Whoever holds the lock reads the newest states, so nobody writes older ones over them.
        let held = tree.lock(id).await?;
        let loaded = self.view(StreamId::Pipeline(id)).await?;
        let State::Pipeline(state) = &loaded.state else { return Ok(Synced::default()) };
        if state.created_at.is_none() {
            return Ok(Synced::default());
        }
        let mut synced = Synced::default();
        let Some(root) = tree.root(id, state.deleted_at.is_some(), !how.dry).await? else {
            synced.behind.push("the folder is missing".to_owned());
            return Ok(synced);
        };
        let mut told = Vec::new();
        let manifest = self.manifest(&root, PIPELINE).await?;
        let mut runs = part.runs;
        if manifest.about != Some(about(state)) {
            runs.extend(state.every_run());
        }
        for run in runs {
            let applied = self.sync_run(tree, &root, state, run, part.again, how).await?;
            note(&mut told, run.to_string(), &applied);
            synced.add(applied);
        }
        if part.pipeline || manifest.about != Some(about(state)) {
            let applied =
                self.sync_pipeline(&root, id, state, loaded.version, manifest, part.again, how).await?;
            note(&mut told, PIPELINE.to_owned(), &applied);
            synced.add(applied);
        }
        if !how.dry {
            let Options { log_bytes, log_backups, .. } = *tree.options();
            let kept = Kept { bytes: log_bytes, backups: log_backups };
            self.write_lines(id, root.clone(), kept).await?;
            self.record_found(id, &root, &synced.found, told).await?;
        }
        drop(held);
        Ok(synced)
    }

    #[allow(clippy::too_many_arguments)] // all of them come from one place
    async fn sync_pipeline(
        &self,
        root: &Arc<Folder>,
        id: PipelineId,
        state: &PipelineState,
        version: Version,
        manifest: Manifest,
        again: bool,
        how: How,
    ) -> Result<Applied, TreeError> {
        let wanted = tree::pipeline(state);
        let stamp = stamp(version, &wanted, about(state));
        if manifest.stamp == Some(stamp) && !again {
            return Ok(Applied::default());
        }
        let known = manifest.clone();
        let standing = root.clone();
        let needed = move |path: &str| how.hash || !is_standing(&standing, &known, path);
        let documents = self.pipeline_files(id, &wanted, needed).await?;
        let (root, name, about) = (root.clone(), PIPELINE.to_owned(), Some(about(state)));
        let now = self.now();
        self.carry_out(Job { root, name, wanted, documents, manifest, stamp, about, now, how }).await
    }

    async fn sync_run(
        &self,
        tree: &Tree,
        root: &Arc<Folder>,
        pipeline: &PipelineState,
        run: RunId,
        again: bool,
        how: How,
    ) -> Result<Applied, TreeError> {
        let loaded = self.view(StreamId::Run(run)).await?;
        let State::Run(state) = &loaded.state else { return Ok(Applied::default()) };
        let now = self.now();
        let keep = Keep { clean_up: tree.options().clean_up, errors_since: tree.options().errors_since(now) };
        let wanted = tree::run(pipeline, state, keep);
        let stamp = stamp(loaded.version, &wanted, about(pipeline));
        let manifest = self.manifest(root, &run.to_string()).await?;
        if manifest.stamp == Some(stamp) && !again {
            return Ok(Applied::default());
        }
        let state: &RunState = state;
        let documents = self.run_files(run, state, &wanted).await?;
        let (root, name) = (root.clone(), run.to_string());
        self.carry_out(Job { root, name, wanted, documents, manifest, stamp, about: None, now, how }).await
    }

    async fn manifest(&self, root: &Arc<Folder>, unit: &str) -> Result<Manifest, TreeError> {
        let (root, unit) = (root.clone(), unit.to_owned());
        Ok(blocking(move || Manifest::load(&root, &unit)).await?.unwrap_or_default())
    }

    async fn carry_out(&self, job: Job) -> Result<Applied, TreeError> {
        let blobs = self.inner.parts.blobs.clone();
        let handle = Handle::current();
        let applied = apart(move || {
            let open = |digest: Digest| -> io::Result<Box<dyn io::Read>> {
                let reader = handle.block_on(blobs.get(digest)).map_err(io::Error::other)?;
                Ok(Box::new(Bridge { reader, handle: handle.clone() }))
            };
            let Job { root, name, wanted, documents, manifest, stamp, about, now, how } = &job;
            let unit =
                Unit { root, name, wanted, documents, blobs: &open, stamp: *stamp, about: *about, now: *now };
            apply(&unit, manifest.clone(), *how)
        });
        Ok(applied.await?)
    }

    /// Records what was found, and then forgets it: a crash in between records it twice rather than never.
    async fn record_found(
        &self,
        id: PipelineId,
        root: &Arc<Folder>,
        found: &Found,
        told: Vec<String>,
    ) -> Result<(), TreeError> {
        if found.is_empty() {
            return Ok(());
        }
        let folder = found.folder.as_deref().map(Into::into);
        let drift = RecordDrift { folder, files: found.files.clone() };
        let command = Command::Pipeline(id, PipelineCommand::RecordDrift(drift));
        Box::pin(self.submit(Actor::system(), None, command)).await?;
        tracing::warn!(pipeline = %id, files = found.files.len(), "files were not as the log says");
        let root = root.clone();
        let forget = blocking(move || {
            for unit in &told {
                if let Some(mut manifest) = Manifest::load(&root, unit)? {
                    manifest.found = Found::default();
                    manifest.save(&root, unit)?;
                }
            }
            Ok(())
        });
        Ok(forget.await?)
    }
}

fn note(told: &mut Vec<String>, unit: String, applied: &Applied) {
    if !applied.found.is_empty() {
        told.push(unit);
    }
}

/// Whether a file stands as it was written, by its size and time.
fn is_standing(root: &Folder, manifest: &Manifest, path: &str) -> bool {
    let known = manifest.files.get(path);
    let found = root.look(path).ok().flatten();
    known.zip(found).is_some_and(|(written, meta)| written.stands(&meta))
}
