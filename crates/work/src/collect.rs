//! Taking in what work has made: the files in its staging folder, looked at before they count.
//!
//! Invariant: only ordinary files that nobody else has a name for are taken, and none beyond the limit.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_core::commands::record_outcome::Collected;
use holdpoint_core::definition::Format;
use holdpoint_core::paths::{is_plain_name, staged_name};
use holdpoint_core::plan::body::OutputSpec;
use holdpoint_store::SMALL_BLOB;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, fstat, openat};
use serde_json::Value;

use super::formats::parses;
use super::stop::Stop;
use holdpoint_engine::WorkContext;

/// How many files one execution may hand in.
const MOST_FILES: usize = 1000;
/// How many bytes of outputs travel with the outcome.
const SENT_ALONG: usize = 1024 * 1024;

/// Something that was handed in.
struct Found {
    name: String,
    format: String,
    content: Content,
}

/// What it holds. Files are read one after the other: all of them together need not fit into memory.
enum Content {
    /// A file in the staging folder.
    Staged(Arc<OwnedFd>, String),
    /// A value that a script returned.
    Returned(Vec<u8>),
}

/// What was read of a file.
enum Taken {
    /// All of it.
    Bytes(Vec<u8>),
    /// A large one, which is kept as it is read.
    File(File),
}

/// Collects the declared outputs, and whatever else stands in the staging folder. `returned` fills what a script
/// did not write.
pub(crate) async fn collect(
    desk: &WorkContext,
    staging: &Path,
    declared: &[OutputSpec],
    returned: Option<&Value>,
    limit: u64,
) -> Result<Vec<Collected>, Stop> {
    let (folder, wanted) = (staging.to_owned(), declared.to_vec());
    let read = tokio::task::spawn_blocking(move || look(&folder, &wanted, limit, Care::Refuse)).await;
    let mut found = read.map_err(|cause| Stop::new("workspace", cause.to_string()))??;
    fill(&mut found, declared, returned);
    let collected = keep(desk, found, declared, limit, Care::Refuse).await?;
    let missing: Vec<&str> = declared
        .iter()
        .filter(|artifact| collected.iter().all(|made| *made.name != *artifact.name))
        .map(|artifact| &*artifact.name)
        .collect();
    if missing.is_empty() {
        return Ok(collected);
    }
    // The rules say the same; said here, it stands in the log of the work as well.
    let message = format!("declared artifacts were not made: {}", missing.join(", "));
    Err(Stop { artifacts: collected, ..Stop::new("missing_artifacts", message) })
}

/// What stands in the staging folder of work that has failed, as far as it can be taken: it is kept to be looked at.
pub(crate) async fn salvage(
    desk: &WorkContext,
    staging: &Path,
    declared: &[OutputSpec],
    limit: u64,
) -> Vec<Collected> {
    let (folder, wanted) = (staging.to_owned(), declared.to_vec());
    let read =
        tokio::task::spawn_blocking(move || look(&folder, &wanted, limit, Care::TakeWhatIsThere)).await;
    let Ok(Ok(found)) = read else { return Vec::new() };
    keep(desk, found, &[], limit, Care::TakeWhatIsThere).await.unwrap_or_default()
}

/// Names what was found, and reads what is declared as its format says. Small outputs are committed with the outcome, as far
/// as they are not too many; others are durable when this answers. The files stay as they are: after the commit the tree
/// gives them their names. Work that is cut off before it would otherwise find half of what it made.
async fn keep(
    desk: &WorkContext,
    found: Vec<Found>,
    declared: &[OutputSpec],
    limit: u64,
    care: Care,
) -> Result<Vec<Collected>, Stop> {
    let mut collected = Vec::with_capacity(found.len());
    let mut room = SENT_ALONG;
    for Found { name, format, content } in found {
        let spec = declared.iter().find(|spec| *spec.name == *name).cloned();
        let taken = tokio::task::spawn_blocking(move || take(content, spec.as_ref(), limit)).await;
        let taken = match taken.map_err(|cause| Stop::new("workspace", cause.to_string()))? {
            Err(_) if care == Care::TakeWhatIsThere => continue,
            taken => taken?,
        };
        let (name, format) = (name.into(), format.into());
        let (digest, size, bytes) = match taken {
            Taken::Bytes(bytes) if bytes.len() <= SMALL_BLOB && bytes.len() <= room => {
                room -= bytes.len();
                (Digest::of(&bytes), bytes.len() as u64, Some(bytes.into()))
            }
            Taken::Bytes(bytes) => {
                let (digest, size) = desk.keep(bytes).await?;
                (digest, size, None)
            }
            Taken::File(file) => {
                let (digest, size) = desk.keep_file(file, limit).await?;
                (digest, size, None)
            }
        };
        collected.push(Collected { name, format, digest, size, bytes });
    }
    Ok(collected)
}

/// Reads what was handed in, as far as it has to be in memory: to be looked at, or because it is small.
fn take(content: Content, spec: Option<&OutputSpec>, limit: u64) -> Result<Taken, Stop> {
    let (bytes, file) = match content {
        Content::Returned(bytes) => (bytes, None),
        Content::Staged(folder, name) => {
            let (file, size) = open(&folder, &name, limit)?;
            if spec.is_none() && size > SMALL_BLOB as u64 {
                return Ok(Taken::File(file));
            }
            let mut bytes = Vec::new();
            (&file).take(limit + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > limit {
                return Err(too_large(&name, limit));
            }
            (bytes, Some(file))
        }
    };
    if let Some(spec) = spec {
        parses(spec.format, &bytes)
            .map_err(|why| Stop::new("invalid_artifact", format!("`{}` {why}", spec.file_name())))?;
    }
    Ok(match file {
        Some(file) if bytes.len() > SMALL_BLOB => Taken::File(file),
        Some(_) | None => Taken::Bytes(bytes),
    })
}

/// What becomes of a file that cannot be an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Nothing is taken.
    Refuse,
    /// It is left where it is.
    TakeWhatIsThere,
}

fn look(staging: &Path, declared: &[OutputSpec], limit: u64, care: Care) -> Result<Vec<Found>, Stop> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = Arc::new(openat(CWD, staging, flags, Mode::empty()).map_err(std::io::Error::from)?);
    let mut names = Vec::new();
    let mut buffer = Vec::with_capacity(8192);
    let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(std::io::Error::from)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    if care == Care::TakeWhatIsThere {
        names.truncate(MOST_FILES);
    }
    if names.len() > MOST_FILES {
        let message = format!("{} files were handed in, at most {MOST_FILES} are taken", names.len());
        return Err(Stop::new("too_many_artifacts", message));
    }
    let mut found: Vec<Found> = Vec::new();
    for name in names {
        let long = |a: &&OutputSpec| {
            a.artifact.is_some_and(|id| name == staged_name(&a.name, id, a.format.extension()))
        };
        let known = declared.iter().find(|a| a.file_name() == name).or_else(|| declared.iter().find(long));
        let taken = |name: &str| found.iter().any(|other| other.name == name);
        let (output, format) = match known {
            Some(artifact) => (artifact.name.to_string(), artifact.format.extension().to_owned()),
            None => match name.rsplit_once('.') {
                Some((stem, format)) if is_plain_name(stem) && is_plain_name(&name) => {
                    let is_free = !taken(stem) && declared.iter().all(|artifact| &*artifact.name != stem);
                    (if is_free { stem.to_owned() } else { format!("{stem}_{format}") }, format.to_owned())
                }
                Some(_) | None if care == Care::TakeWhatIsThere => continue,
                Some(_) | None => {
                    let message = format!(
                        "`{name}` in artifacts_staging is no name for an artifact: name and extension"
                    );
                    return Err(Stop::new("invalid_artifact", message));
                }
            },
        };
        if taken(&output) && care == Care::TakeWhatIsThere {
            continue;
        }
        if taken(&output) {
            let message =
                format!("`{output}` was handed in twice; leave one file of that name in artifacts_staging");
            return Err(Stop::new("invalid_artifact", message));
        }
        match open(&folder, &name, limit) {
            Err(_) if care == Care::TakeWhatIsThere => continue,
            // So many files cannot all be open: it is opened again, and looked at again, when its turn comes.
            opened => drop(opened?),
        }
        found.push(Found { name: output, format, content: Content::Staged(folder.clone(), name) });
    }
    Ok(found)
}

fn open(folder: &OwnedFd, name: &str, limit: u64) -> Result<(File, u64), Stop> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(std::io::Error::from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(wrong(name, "is not an ordinary file; only those can be outputs"));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty()).map_err(std::io::Error::from)?);
    // Looked at again: it may have been swapped since.
    let stat = fstat(&file).map_err(std::io::Error::from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
        return Err(wrong(name, "has another name elsewhere; write a copy"));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > limit {
        return Err(too_large(name, limit));
    }
    Ok((file, size))
}

fn wrong(name: &str, what: &str) -> Stop {
    Stop::new("invalid_artifact", format!("`{name}` in artifacts_staging {what}"))
}

fn too_large(name: &str, limit: u64) -> Stop {
    wrong(name, &format!("is larger than {limit} bytes (limits.max_file_size_mb)"))
}

/// A returned value becomes the one JSON output that was not written, or several by their names.
fn fill(found: &mut Vec<Found>, declared: &[OutputSpec], returned: Option<&Value>) {
    let Some(value) = returned.filter(|value| !value.is_null()) else { return };
    let missing: Vec<&OutputSpec> = declared
        .iter()
        .filter(|a| a.format == Format::Json && !found.iter().any(|file| *file.name == *a.name))
        .collect();
    let all_named = missing.len() > 1 && missing.iter().all(|a| value.get(&*a.name).is_some());
    for artifact in &missing {
        let part =
            if all_named { value.get(&*artifact.name) } else { Some(value).filter(|_| missing.len() == 1) };
        let Some(bytes) = part.and_then(|part| serde_json::to_vec_pretty(part).ok()) else { continue };
        let format = artifact.format.extension().to_owned();
        let content = Content::Returned(bytes);
        found.push(Found { name: artifact.name.to_string(), format, content });
    }
}
