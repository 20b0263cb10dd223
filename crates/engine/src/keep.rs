//! Keeping bytes before a command names them: uploads, outputs of work, edits.
//!
//! Invariant: when this answers, the bytes are durable, whatever their size.

use std::collections::BTreeSet;
use std::io::{self, Cursor};
use std::sync::PoisonError;

use holdpoint_core::state::run::{AskKind, RunState};
use holdpoint_core::{Answer, Command, Digest, RunCommand, State, StreamId, Target};
use holdpoint_store::{Append, BlobError, SmallBlob, Stored};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::{Engine, SubmitError};

/// Content up to this size is held in memory while it is compared with its name.
const HELD: u64 = 4 * 1024 * 1024;

impl Engine {
    /// The bytes with a name, as they are read.
    pub async fn blob(&self, digest: Digest) -> Result<Box<dyn AsyncRead + Send + Unpin>, SubmitError> {
        Ok(self.inner.parts.blobs.get(digest).await?)
    }

    /// The bytes with a name, after all of them were compared with it: for receivers that use what they got before the end.
    pub async fn whole_blob(&self, digest: Digest) -> Result<Box<dyn AsyncRead + Send + Unpin>, SubmitError> {
        match self.compared(digest).await {
            Ok(Some(held)) => Ok(Box::new(Cursor::new(held))),
            Ok(None) => self.blob(digest).await,
            Err(error) => {
                self.noticed_blob(&error);
                Err(error.into())
            }
        }
    }

    /// Compares a blob with its name; small content is answered.
    async fn compared(&self, digest: Digest) -> Result<Option<Vec<u8>>, BlobError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => BlobError::Corrupt(digest),
            _ => BlobError::Io(error.to_string()),
        };
        let mut content = self.inner.parts.blobs.get(digest).await?;
        let mut held = Vec::new();
        (&mut content).take(HELD).read_to_end(&mut held).await.map_err(failed)?;
        let rest = tokio::io::copy(&mut content, &mut tokio::io::sink()).await.map_err(failed)?;
        Ok(if rest == 0 { Some(held) } else { None })
    }

    /// The blobs that this engine found damaged when it read them: nothing is served from them, or approved.
    pub fn damaged_blobs(&self) -> BTreeSet<Digest> {
        self.inner.damaged_blobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn noticed_blob(&self, error: &BlobError) {
        if let BlobError::Corrupt(digest) = error {
            let mut damaged = self.inner.damaged_blobs.lock().unwrap_or_else(PoisonError::into_inner);
            if damaged.insert(*digest) {
                tracing::error!(%error, "a blob is damaged; it is not served");
            }
        }
    }

    /// Refuses an answer that accepts outputs which cannot be read as they were shown: the rules see their names only.
    pub(crate) async fn check_accepted(&self, command: &Command) -> Result<(), SubmitError> {
        let Command::Run(id, RunCommand::Answer(answer)) = command else { return Ok(()) };
        if !matches!(
            (answer.kind, &*answer.option),
            (AskKind::Result, "approve") | (AskKind::Guidance, "accept")
        ) {
            return Ok(());
        }
        let loaded = self.view(StreamId::Run(*id)).await?;
        let State::Run(run) = &loaded.state else { return Ok(()) };
        for digest in accepted(run, answer) {
            if let Err(error) = self.compared(digest).await {
                self.noticed_blob(&error);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Takes in bytes, at most `limit` of them, and says what they are called and how many they are. Small
    /// ones stand in the database and share a commit with whatever else waits for one.
    pub async fn keep(
        &self,
        bytes: Box<dyn AsyncRead + Send + Unpin>,
        limit: u64,
    ) -> Result<(Digest, u64), SubmitError> {
        let (digest, bytes) = match self.inner.parts.blobs.put(bytes, limit).await? {
            Stored::Durable(digest, size) => return Ok((digest, size)),
            Stored::Small(digest, bytes) => (digest, bytes),
        };
        let size = bytes.len() as u64;
        self.keep_small(vec![SmallBlob { digest, bytes }]).await?;
        Ok((digest, size))
    }

    /// Keeps small blobs, which share a commit with whatever else waits for one.
    pub async fn keep_small(&self, blobs: Vec<SmallBlob>) -> Result<(), SubmitError> {
        let append = Append { blobs, ..Append::default() };
        self.log().append(append).await.map(drop).map_err(|refused| self.refused(refused))
    }
}

/// The outputs that an answer accepts as they are: those that the person changes are not among them.
fn accepted(run: &RunState, answer: &Answer) -> Vec<Digest> {
    let x = match answer.target {
        Target::Of(x) => Some(x),
        Target::Gate(gate) => run.gates.get(&gate).and_then(|gate| gate.x),
    };
    let Some(execution) = x.and_then(|x| run.execution(x)) else { return Vec::new() };
    let outputs = execution.artifacts.iter().map(|output| &output.made);
    let kept = outputs.filter(|made| !answer.edits.iter().any(|edit| edit.name == made.name));
    kept.map(|made| made.digest).collect()
}
