//! Removing blobs that nothing refers to, and what crashes left behind.
//!
//! A file is removed only if it is old and unreferenced while nobody can put it anew: both are looked at
//! again under the folder's lock, right before. A small blob is removed by the writer, which also renews them: an append
//! that carries one comes before the removal, and then it is not old, or after it, and then it is written again.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use holdpoint_core::{Digest, Timestamp};
use holdpoint_store::{BlobError, StoreError, Swept};

use super::folder::Folder;
use super::{SmallBlobs, blocking, failed};

/// How long a temporary file is left alone.
const TEMP_AGE: Duration = Duration::from_hours(24);
/// How many small blobs are looked at, and removed in one piece of the writer's work.
const BATCH: u32 = 256;

/// Removes (or, when `dry`, only counts) old blobs that nothing refers to. Temporary files are not counted.
pub(super) async fn sweep(
    folder: Arc<Folder>,
    referenced: &(dyn Fn(&Digest) -> bool + Send + Sync),
    older: Timestamp,
    dry: bool,
) -> Result<Swept, BlobError> {
    let older = time(older);
    let here = Arc::clone(&folder);
    let candidates = blocking(move || {
        if !dry {
            remove_old_temps(&here).map_err(failed)?;
        }
        older_than(&here, older).map_err(failed)
    })
    .await?;
    let mut swept = Swept::default();
    for digest in candidates.into_iter().filter(|digest| !referenced(digest)) {
        let here = Arc::clone(&folder);
        let found = blocking(move || {
            let lock = here.own().map_err(failed)?;
            Ok(still_old(&here, digest, older).map_err(failed)?.map(|size| (lock, size)))
        })
        .await?;
        let Some((lock, size)) = found.filter(|_| !referenced(&digest)) else { continue };
        swept.blobs += 1;
        swept.bytes += size;
        if !dry {
            let here = Arc::clone(&folder);
            blocking(move || {
                let removed = remove(&here.path(digest)).map_err(failed);
                drop(lock);
                removed
            })
            .await?;
        }
    }
    Ok(swept)
}

/// Removes (or, when `dry`, only counts) old small blobs that nothing refers to.
pub(super) async fn small(
    table: &dyn SmallBlobs,
    referenced: &(dyn Fn(&Digest) -> bool + Send + Sync),
    older: Timestamp,
    dry: bool,
) -> Result<Swept, BlobError> {
    let failed = |error: StoreError| BlobError::Io(error.to_string());
    let (mut swept, mut after) = (Swept::default(), None);
    loop {
        let page = table.old(older, after, BATCH).await.map_err(failed)?;
        let Some((last, _)) = page.last() else { return Ok(swept) };
        after = Some(*last);
        let unwanted: Vec<_> = page.into_iter().filter(|(digest, _)| !referenced(digest)).collect();
        let found = if dry || unwanted.is_empty() {
            Swept { blobs: unwanted.len() as u64, bytes: unwanted.iter().map(|(_, size)| size).sum() }
        } else {
            let digests = unwanted.into_iter().map(|(digest, _)| digest).collect();
            table.remove(digests, older).await.map_err(failed)?
        };
        swept.blobs += found.blobs;
        swept.bytes += found.bytes;
    }
}

/// Blob files that were last put before a time. Anything else in the folder is none of ours.
fn older_than(folder: &Folder, older: SystemTime) -> io::Result<Vec<Digest>> {
    let mut found = Vec::new();
    for first in 0..=u8::MAX {
        for (name, meta) in files(&folder.shelf(first))? {
            let Ok(digest) = name.parse::<Digest>() else { continue };
            let ours = digest.0[0] == first && digest.to_string() == name;
            if ours && meta.modified()? < older {
                found.push(digest);
            }
        }
    }
    Ok(found)
}

fn still_old(folder: &Folder, digest: Digest, older: SystemTime) -> io::Result<Option<u64>> {
    match fs::symlink_metadata(folder.path(digest)) {
        Ok(meta) if meta.modified()? < older => Ok(Some(meta.len())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove_old_temps(folder: &Folder) -> io::Result<()> {
    let now = SystemTime::now();
    for (name, meta) in files(&folder.tmp())? {
        if now.duration_since(meta.modified()?).is_ok_and(|age| age > TEMP_AGE) {
            remove(&folder.tmp().join(name))?;
        }
    }
    Ok(())
}

/// The plain files of a folder, by name; none when there is no folder.
fn files(path: &Path) -> io::Result<Vec<(String, Metadata)>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        match (entry.file_name().into_string(), entry.metadata()) {
            (Ok(name), Ok(meta)) if meta.is_file() => files.push((name, meta)),
            (_, Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(files)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn time(at: Timestamp) -> SystemTime {
    let micros = Duration::from_micros(at.0.unsigned_abs());
    let moved = if at.0 < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(micros)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(micros)
    };
    moved.unwrap_or(SystemTime::UNIX_EPOCH)
}
