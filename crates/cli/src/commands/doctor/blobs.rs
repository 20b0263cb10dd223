//! The blobs: every one that is still needed must be there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_engine::clock::{Clock as _, SystemClock};
use holdpoint_engine::retention;
use holdpoint_store::{BlobError, BlobStore as _};
use holdpoint_store_sqlite::SqliteLog;
use holdpoint_store_sqlite::blobs::LocalBlobs;

use super::report::{Check, Section};
use crate::commands::audit::RESTORE;
use crate::home::Home;
use crate::progress::Progress;
use crate::text::{many, size};

/// How many missing blobs are named.
const MAX_FOUND: usize = 100;

pub async fn look(home: &Home, log: &Arc<SqliteLog>, deep: bool, quiet: bool) -> Section {
    let mut section = Section::new("blobs");
    let folder = home.path().join("blobs");
    match LocalBlobs::open(&folder, log.clone()) {
        Ok(blobs) => section.add(match retention::needed(&**log, &blobs, SystemClock.now()).await {
            Ok(names) => present(&blobs, &BTreeSet::from_iter(names), deep, quiet).await,
            Err(error) => Check::fail("named", format!("the log cannot be read: {error}"), RESTORE),
        }),
        Err(error) => {
            let hint = "look at the folder `blobs` of the home";
            section.add(Check::fail("named", error.to_string(), hint));
        }
    }
    let (files, bytes) = on_disk(&folder);
    let text = format!("{}, {}", many(files, "file", "files"), size(bytes));
    section.add(Check::ok("files", text).with("files", files).with("bytes", bytes));
    section
}

async fn present(blobs: &LocalBlobs, names: &BTreeSet<Digest>, deep: bool, quiet: bool) -> Check {
    let progress = Progress::new("blobs", quiet);
    let mut wrong = Vec::new();
    let mut bytes = 0;
    for (done, name) in (0u64..).zip(names) {
        progress.tell(done);
        match read(blobs, *name, deep).await {
            Ok(read) => bytes += read,
            Err(error) if wrong.len() < MAX_FOUND => wrong.push(error.to_string()),
            Err(_) => {}
        }
    }
    drop(progress);
    let count = names.len() as u64;
    let how = if deep { "there and whole" } else { "there" };
    let check = if wrong.is_empty() {
        let read = if deep { format!(", {}", size(bytes)) } else { String::new() };
        Check::ok("named", format!("{} {how}{read}", many(count, "is", "are")))
    } else {
        let text = format!("{} of {count} cannot be read", wrong.len());
        Check::fail("named", text, "copy the blobs from a backup of the home into its folder `blobs`")
            .findings(wrong)
    };
    check.with("named", count).with("deep", deep)
}

/// Opens a blob, and reads it to its end when told; reading compares it with its name.
async fn read(blobs: &LocalBlobs, name: Digest, deep: bool) -> Result<u64, BlobError> {
    let mut content = blobs.get(name).await?;
    if !deep {
        return Ok(0);
    }
    let read = tokio::io::copy(&mut content, &mut tokio::io::sink()).await;
    read.map_err(|error| BlobError::Io(format!("{name}: {error}")))
}

/// How many blob files there are, and their bytes.
fn on_disk(folder: &Path) -> (u64, u64) {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let shelves = entries(folder).filter(|shelf| shelf.file_name().len() == 2);
    let files = shelves.flat_map(|shelf| entries(&shelf.path()).collect::<Vec<_>>());
    files
        .filter_map(|file| file.metadata().ok())
        .fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()))
}
