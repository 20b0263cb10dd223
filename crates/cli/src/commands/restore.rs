//! `holdpoint restore`: makes a home from a backup.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use holdpoint_engine::tree::CheckFiles;
use serde_json::json;

use super::backup::beside;
use crate::backup::{self, Content, Manifest, Reader};
use crate::context::Context;
use crate::home::{Found, Home};
use crate::problem::{Exit, Failure, Problem};
use crate::progress::Progress;
use crate::text::{many, size};
use crate::wiring;

/// Make a home from a backup
///
/// Everything is checked before the home is there: a file that was cut off or changed makes no home. The files of
/// pipelines are written again from the log.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that `holdpoint backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    if !matches!(home.found(), Found::Flag | Found::Variable) {
        let message = "the new home is not named";
        return Err(
            Problem::usage("home_unknown", message, "name a folder that does not exist: --home NEW").into()
        );
    }
    let file = context.resolve(&args.file)?;
    let path = home.path();
    if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
        let message = format!("`{}` exists already", path.display());
        return Err(
            Problem::failed("home_exists", message, "name a folder that does not exist: --home NEW").into()
        );
    }
    let quiet = context.output.is_quiet();
    let cannot = |error: io::Error| cannot_restore(&args.file, path, &error);
    let partial = Partial(beside(path, "restoring")?);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(cannot)?;
    }
    DirBuilder::new().mode(0o700).create(&partial.0).map_err(cannot)?;
    let progress = Progress::new("files", quiet);
    let mut done = 0;
    let reader = Reader::open(&file).map_err(cannot)?;
    let read = reader.read(|name, content| {
        done += 1;
        progress.tell(done);
        keep(&partial.0.join(name), content)
    });
    let manifest = read.map_err(cannot)?;
    drop(progress);
    let checked = wiring::wait(backup::check(&partial.0.join("db"), &partial.0.join("blobs"), quiet))?;
    let content = checked.map_err(|error| wiring::cannot_read(&home, &error))?;
    if content.events != manifest.events {
        let message =
            format!("the log has {} and not {}", many(content.events, "event", "events"), manifest.events);
        return Err(cannot(io::Error::new(io::ErrorKind::InvalidData, message)).into());
    }
    // An empty folder may be there; anything else is not replaced.
    fs::rename(&partial.0, path).map_err(cannot)?;
    home.create()?;
    sync(path).map_err(cannot)?;
    let written = write_files(&home, context)?;
    tell(&home, &manifest, &content, written, context)
}

/// Writes a file for its owner only.
fn keep(path: &Path, content: &mut dyn Read) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    io::copy(content, &mut file)?;
    file.sync_all()
}

fn sync(home: &Path) -> io::Result<()> {
    for folder in [home, &home.join("db"), &home.join("blobs")] {
        File::open(folder)?.sync_all()?;
    }
    match home.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

/// Writes the files of pipelines again, and answers how many there are.
fn write_files(home: &Home, context: &Context<'_, '_>) -> Result<u64, Problem> {
    let files = context.settings(home, &[])?.settings.files;
    let log = wiring::look_at(home)?;
    let engine = wiring::looking_engine(home, &log, &files)?;
    let report = wiring::wait(engine.check_files(CheckFiles { repair: true, deep: false }))?;
    let report = report.map_err(|error| {
        let message =
            format!("the files of pipelines in `{}` cannot be written: {error}", home.path().display());
        Problem::failed(
            "files_not_written",
            message,
            "the home is whole otherwise: `holdpoint doctor --repair` tries again",
        )
    })?;
    Ok(report.files)
}

fn tell(
    home: &Home,
    manifest: &Manifest,
    content: &Content,
    files: u64,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    if context.output.is_json() {
        context.output.value(&json!({
            "home": home.path().display().to_string(),
            "events": manifest.events,
            "blobs": content.blobs,
            "files": files,
            "runs_due": manifest.runs_due,
            "created_at": manifest.header.created_at,
            "wrong": content.wrong,
            "ok": content.wrong.is_empty(),
        }))?;
    } else {
        let bytes = manifest.entries.values().map(|entry| entry.size).sum();
        let events = many(manifest.events, "event", "events");
        let when = &manifest.header.created_at;
        context.output.say(&format!(
            "restored {}: {events}, {}, as of {when}",
            home.path().display(),
            size(bytes)
        ));
        if manifest.runs_due > 0 {
            let runs = many(manifest.runs_due, "run goes", "runs go");
            context
                .output
                .say(&format!("{runs} on when a server starts on this home; stop the old one first"));
        }
    }
    if content.wrong.is_empty() {
        return Ok(Exit::Done);
    }
    if context.output.is_json() {
        return Ok(Exit::Failed);
    }
    let message = format!("the home was damaged when it was backed up: {}", content.wrong.join("; "));
    Err(Problem::failed(
        "home_damaged",
        message,
        "`holdpoint doctor --deep` says what is wrong; try an earlier backup",
    )
    .into())
}

fn cannot_restore(file: &Path, home: &Path, error: &io::Error) -> Problem {
    let (file, home) = (file.display(), home.display());
    match error.kind() {
        io::ErrorKind::NotFound => Problem::failed(
            "backup_missing",
            format!("there is no file `{file}`"),
            "check the path for typing errors",
        ),
        io::ErrorKind::Unsupported => Problem::failed(
            "backup_newer",
            format!("`{file}` cannot be read: {error}"),
            "use the version of holdpoint that wrote it, or a newer one",
        ),
        io::ErrorKind::StorageFull => Problem::failed(
            "disk_full",
            format!("`{home}` cannot be made: {error}"),
            "name a home on a disk with more room: --home NEW",
        ),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
            Problem::bad_input(
                "backup_damaged",
                format!("`{file}` is no whole backup: {error}"),
                "copy the file again, or use an earlier backup; no home was made",
            )
        }
        _ => Problem::failed(
            "restore_failed",
            format!("`{home}` cannot be made from `{file}`: {error}"),
            "look at the disk and at the rights of the folder",
        ),
    }
}

/// A home that is not whole yet; removed unless it was given its name.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
