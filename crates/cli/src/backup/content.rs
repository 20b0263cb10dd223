//! Whether a database and the blobs that belong to it are whole.

use std::path::Path;
use std::sync::Arc;

use holdpoint_engine::clock::{Clock as _, SystemClock};
use holdpoint_engine::{audit, retention};
use holdpoint_store::{BlobError, BlobStore as _, StoreError};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};

use crate::progress::Progress;

/// How many missing blobs are named.
const MAX_FOUND: usize = 20;

/// What a database and its blobs are.
pub struct Content {
    /// How many events the log has.
    pub events: u64,
    /// How many runs have work due.
    pub runs_due: u64,
    /// How many blobs are needed.
    pub blobs: u64,
    /// What is wrong: rows of the log that were changed, blobs that are missing.
    pub wrong: Vec<String>,
}

/// Checks every row of the log, and that every blob that it needs is there and whole.
pub async fn check(db: &Path, blobs: &Path, quiet: bool) -> Result<Content, StoreError> {
    let log = Arc::new(SqliteLog::open(db, Options { short: true, ..Options::default() })?);
    let progress = Progress::new("events checked", quiet);
    let report = audit::verify(&*log, &|events| progress.tell(events)).await?;
    let mut content = Content { events: report.events, runs_due: 0, blobs: 0, wrong: report.wrong };
    let store = LocalBlobs::open(blobs, log.clone()).map_err(|error| StoreError::Io(error.to_string()))?;
    for digest in retention::needed(&*log, &store, SystemClock.now()).await? {
        content.blobs += 1;
        // Only reading to the end compares a blob with its name.
        let read = match store.get(digest).await {
            Ok(mut bytes) => match tokio::io::copy(&mut bytes, &mut tokio::io::sink()).await {
                Ok(_) => Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    Err(BlobError::Corrupt(digest))
                }
                Err(error) => Err(BlobError::Io(error.to_string())),
            },
            Err(error) => Err(error),
        };
        match read {
            Ok(()) => {}
            Err(error @ (BlobError::Missing(_) | BlobError::Corrupt(_))) => {
                if content.wrong.len() < MAX_FOUND {
                    content.wrong.push(error.to_string());
                }
            }
            Err(error) => return Err(StoreError::Io(error.to_string())),
        }
    }
    content.runs_due = log.holders().await?.iter().map(|holder| holder.runs).sum();
    Ok(content)
}
