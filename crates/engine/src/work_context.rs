//! What an executor has of the engine while it does one piece of work: the journal of the execution, the bytes that events
//! name, the run as it is now, and what may still be spent.
//!
//! Invariant: what was written here is durable before it is used, and the next owner of the work reads it back.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::budget::Amounts;
use holdpoint_core::event::{Entry, Level};
use holdpoint_core::state::run::{EffectId, Execution, Part};
use holdpoint_core::{Command, Digest, Event, ExecutionId, PipelineId, RunId, State, StreamId, Version};
use holdpoint_store::{BlobError, Fence, Query, Row, SpentBy, SpentFilter};
use serde_json::Value;
use tokio::io::AsyncSeekExt as _;

use crate::runner::{Backoff, is_transient};
use crate::{Engine, SubmitError};

/// Content beyond this stands beside the log.
const LARGE: usize = 16 * 1024;
/// How much of it is shown in the log.
const SHOWN: usize = 2 * 1024;
/// How many rows are read at once.
const PAGE: u32 = 500;

/// The engine as one piece of work sees it.
#[derive(Clone)]
pub struct WorkContext {
    /// The engine that owes the work.
    pub engine: Engine,
    /// The run.
    pub run: RunId,
    /// Which part of which attempt.
    pub effect: EffectId,
    /// The execution.
    pub execution: ExecutionId,
    /// The run's pipeline, if it has one.
    pub pipeline: Option<PipelineId>,
    /// The lease under which the work is done.
    pub fence: Fence,
    /// What is committed with the outcome.
    pub(crate) last: Arc<Mutex<Vec<Entry>>>,
}

impl std::fmt::Debug for WorkContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkContext")
            .field("run", &self.run)
            .field("effect", &self.effect)
            .finish_non_exhaustive()
    }
}

impl WorkContext {
    /// What this very work has written before it was cut off; begins to write, if it has not.
    pub async fn open(&self) -> Result<Vec<Entry>, SubmitError> {
        let begin = Entry::Began {
            revision: self.effect.revision,
            attempt: self.effect.attempt,
            check: self.effect.part == Part::Check,
        };
        let stream = StreamId::Journal(self.execution);
        let part = match &self.engine.view(stream).await?.state {
            State::Journal(journal) => journal.parts.get(&self.effect).copied(),
            State::Home(_) | State::Pipeline(_) | State::Run(_) => None,
        };
        let Some(part) = part else { return self.write(vec![begin]).await.map(|()| Vec::new()) };
        let mut ours = None;
        let mut next = Some(Version(part.0.saturating_sub(1)));
        while let Some(after) = next {
            let page = self.engine.journal_page(self.execution, after).await?;
            for entry in page.entries {
                match (&entry, &mut ours) {
                    (Entry::Began { .. }, _) => ours = (entry == begin).then(Vec::new),
                    (_, Some(ours)) => ours.push(entry),
                    (_, None) => {}
                }
            }
            next = page.next;
        }
        Ok(ours.unwrap_or_default())
    }

    /// Writes entries; when this answers they are durable. A store that refuses for a while makes the work wait.
    pub async fn write(&self, entries: Vec<Entry>) -> Result<(), SubmitError> {
        let entries = self.take_last().into_iter().chain(entries).collect();
        let (run, execution, effect) = (self.run, self.execution, self.effect);
        let command = Command::WriteJournal { run, execution, effect, entries };
        let mut pause = Backoff::default();
        loop {
            let command = command.clone();
            match self.engine.submit_fenced(self.fence, command).await {
                Ok(_) => return Ok(()),
                Err(cause) if is_transient(&cause) => tokio::time::sleep(pause.next()).await,
                Err(cause) => return Err(cause),
            }
        }
    }

    /// Keeps entries for the commit of the outcome. A crash before it loses them with the outcome, so nothing may use them.
    pub fn say_last(&self, entries: impl IntoIterator<Item = Entry>) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).extend(entries);
    }

    /// What was kept for the commit of the outcome.
    pub(crate) fn take_last(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes one line of the log.
    pub async fn log(&self, level: Level, text: &str, details: Option<Value>) -> Result<(), SubmitError> {
        self.write(vec![log_line(level, text, details)]).await
    }

    /// Makes content fit the log: what is too large is kept beside it, and named.
    pub async fn fit(&self, content: Value) -> Result<(Value, Option<Digest>), SubmitError> {
        let bytes = content.to_string().into_bytes();
        if bytes.len() <= LARGE {
            return Ok((content, None));
        }
        let shown = String::from_utf8_lossy(&bytes[..SHOWN]).into_owned();
        let (digest, size) = self.keep(bytes).await?;
        Ok((serde_json::json!({"shortened": true, "size": size, "begin": shown}), Some(digest)))
    }

    /// All of some content, as it was before it was made to fit.
    pub async fn whole(&self, content: Value, more: Option<Digest>) -> Result<Value, SubmitError> {
        self.engine.whole(content, more).await
    }

    /// Keeps bytes. A store that refuses for a while makes the work wait.
    pub async fn keep(&self, bytes: Vec<u8>) -> Result<(Digest, u64), SubmitError> {
        let (limit, bytes) = (bytes.len() as u64, Arc::<[u8]>::from(bytes));
        let mut pause = Backoff::default();
        loop {
            match self.engine.keep(Box::new(std::io::Cursor::new(bytes.clone())), limit).await {
                Err(cause) if is_transient(&cause) => tokio::time::sleep(pause.next()).await,
                kept => return kept,
            }
        }
    }

    /// Keeps a file from its beginning, without holding it in memory. A store that refuses for a while makes the work wait.
    pub async fn keep_file(&self, file: std::fs::File, limit: u64) -> Result<(Digest, u64), SubmitError> {
        let failed = |cause: std::io::Error| SubmitError::Blob(BlobError::Io(cause.to_string()));
        let mut file = tokio::fs::File::from_std(file);
        let mut pause = Backoff::default();
        loop {
            file.rewind().await.map_err(failed)?;
            let again = file.try_clone().await.map_err(failed)?;
            match self.engine.keep(Box::new(again), limit).await {
                Err(cause) if is_transient(&cause) => tokio::time::sleep(pause.next()).await,
                kept => return kept,
            }
        }
    }

    /// The bytes with a name.
    pub async fn bytes(&self, digest: Digest) -> Result<Vec<u8>, SubmitError> {
        self.engine.bytes(digest).await
    }

    /// The folder of the pipeline's files; none: the engine keeps no files, or the run has no pipeline.
    pub fn pipeline_folder(&self) -> Option<PathBuf> {
        let folder = &self.engine.tree()?.options().folder;
        Some(folder.join(self.pipeline?.to_string()))
    }

    /// What work has cost so far: that of one run, or of a whole pipeline.
    pub async fn spent(
        &self,
        pipeline: Option<PipelineId>,
        run: Option<RunId>,
    ) -> Result<Amounts, SubmitError> {
        let filter = SpentFilter { pipeline, run, since: None, until: None, by: SpentBy::All, limit: 1 };
        let page = self.engine.log().query(Query::Spent(filter)).await?;
        Ok(page.spent.first().map(|sum| Amounts::spent(&sum.usage, sum.took_ms)).unwrap_or_default())
    }

    /// The execution as it is now.
    pub async fn execution(&self) -> Result<Option<Arc<Execution>>, SubmitError> {
        let loaded = self.engine.view(StreamId::Run(self.run)).await?;
        let State::Run(run) = &loaded.state else { return Ok(None) };
        Ok(run.execution(self.effect.x).cloned())
    }
}

/// A line of the log.
pub fn log_line(level: Level, text: &str, details: Option<Value>) -> Entry {
    Entry::Log { level, text: text.into(), details }
}

/// Some entries of a journal.
#[derive(Debug)]
pub struct JournalPage {
    /// The entries, in their order.
    pub entries: Vec<Entry>,
    /// Where the next page begins; none: this was the last one.
    pub next: Option<Version>,
}

impl Engine {
    /// The entries of an execution's journal after a version, a page of rows at a time.
    pub async fn journal_page(&self, id: ExecutionId, after: Version) -> Result<JournalPage, SubmitError> {
        let rows = self.log().read(StreamId::Journal(id), after, PAGE).await?;
        let mut entries = Vec::new();
        for row in &rows {
            for recorded in crate::live::recorded(row)? {
                if let Event::Journal(entry) = recorded.event {
                    entries.push(entry);
                }
            }
        }
        let is_last = rows.len() < PAGE as usize;
        Ok(JournalPage { entries, next: rows.last().filter(|_| !is_last).map(Row::last) })
    }

    /// All of some content of a journal.
    pub async fn whole(&self, content: Value, more: Option<Digest>) -> Result<Value, SubmitError> {
        let Some(digest) = more else { return Ok(content) };
        let bytes = self.bytes(digest).await?;
        Ok(serde_json::from_slice(&bytes).unwrap_or(content))
    }
}
