//! `holdpoint backup`: writes a home into one file, also while servers use it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use holdpoint_engine::clock::{Clock as _, SystemClock};
use serde_json::json;

use crate::backup::{self, Content, DATABASE, Header, Manifest, Skipped, Writer};
use crate::commands::audit::LACKS_TAIL;
use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::progress::Progress;
use crate::text::{many, size};
use crate::wiring;

/// Write a backup of the home into one file
///
/// Servers and runs go on meanwhile. The file has the database, the outputs, the keys, the settings and the scripts;
/// keep it as secret as the home. It is read again and checked before the command ends. `holdpoint restore` makes a
/// home from it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let file = context.resolve(&args.file)?;
    if file.symlink_metadata().is_ok() {
        let message = format!("`{}` exists already", args.file.display());
        return Err(
            Problem::failed("file_exists", message, "name another file, or move this one away").into()
        );
    }
    if is_inside(&file, home.path()) {
        let message = format!("`{}` is inside the home", args.file.display());
        return Err(Problem::usage(
            "file_in_home",
            message,
            "name a file elsewhere: what is in the home is lost with it",
        )
        .into());
    }
    let quiet = context.output.is_quiet();
    let log = wiring::look_at(&home)?;
    let partial = beside(&file, "partial")?;
    let _partial = Remove(partial.clone());
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |error: io::Error| cannot_write(&file, &error);
    // The copy of the database is beside the file: that disk has to hold it anyway.
    let copy = tempfile::Builder::new().prefix(".holdpoint-backup-").tempdir_in(folder).map_err(cannot)?;
    let header = Header::new(SystemClock.now());
    let database = copy.path().join("state.db");
    // First the database and then the blobs: a blob is durable before an event names it.
    wiring::wait(log.copy_to(database.clone()))?.map_err(|error| wiring::cannot_read(&home, &error))?;
    let checked = wiring::wait(backup::check(copy.path(), &home.path().join("blobs"), quiet))?;
    let mut content = checked.map_err(|error| wiring::cannot_read(&home, &error))?;
    if log.lacks_tail() {
        content.wrong.insert(0, LACKS_TAIL.to_owned());
    }
    let (manifest, skipped) = write(&home, &database, &partial, header, &content, quiet).map_err(cannot)?;
    let read_again = backup::verify(&partial).map_err(cannot)?;
    if read_again != manifest {
        return Err(cannot(io::Error::other("it reads differently from what was written")).into());
    }
    // Nothing is overwritten, whatever was made there meanwhile.
    fs::hard_link(&partial, &file).and_then(|()| File::open(folder)?.sync_all()).map_err(cannot)?;
    drop(copy);
    tell(&file, &manifest, &content, &skipped, context)
}

/// Writes the archive.
fn write(
    home: &Home,
    database: &Path,
    partial: &Path,
    header: Header,
    content: &Content,
    quiet: bool,
) -> io::Result<(Manifest, Skipped)> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(partial)?;
    let mut writer = Writer::new(file, &header)?;
    writer.add_file(DATABASE, database)?;
    let (files, skipped) = backup::home_files(home.path())?;
    let progress = Progress::new("files", quiet);
    for (done, path) in (0..).zip(&files) {
        progress.tell(done);
        let name = path.to_str().unwrap_or_default();
        match writer.add_file(name, &home.path().join(path)) {
            // What nothing needs any more may be removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            written => written?,
        }
    }
    let (events, runs_due) = (content.events, content.runs_due);
    let manifest = writer.finish(|entries| Manifest { header, events, runs_due, entries })?;
    Ok((manifest, skipped))
}

fn tell(
    file: &Path,
    manifest: &Manifest,
    content: &Content,
    skipped: &Skipped,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    let bytes = fs::metadata(file).map(|meta| meta.len()).unwrap_or_default();
    if context.output.is_json() {
        context.output.value(&json!({
            "file": file.display().to_string(),
            "bytes": bytes,
            "events": manifest.events,
            "blobs": content.blobs,
            "entries": manifest.entries.len(),
            "runs_due": manifest.runs_due,
            "created_at": manifest.header.created_at,
            "skipped": skipped,
            "wrong": content.wrong,
            "ok": content.wrong.is_empty(),
        }))?;
    } else {
        let events = many(manifest.events, "event", "events");
        let blobs = many(content.blobs, "blob", "blobs");
        context.output.say(&format!("wrote {}: {events}, {blobs}, {}; checked", file.display(), size(bytes)));
        for what in skipped {
            context.output.say(&format!("left out: {what}"));
        }
    }
    if content.wrong.is_empty() {
        return Ok(Exit::Done);
    }
    if context.output.is_json() {
        return Ok(Exit::Failed);
    }
    let message = format!("the home is damaged, and so is its backup: {}", content.wrong.join("; "));
    Err(Problem::failed(
        "home_damaged",
        message,
        "`holdpoint doctor --deep` says what is wrong; keep earlier backups",
    )
    .into())
}

/// Whether a file would be made in a folder, whatever the path is written like.
fn is_inside(file: &Path, folder: &Path) -> bool {
    let parent = file.parent().and_then(|parent| parent.canonicalize().ok());
    parent.zip(folder.canonicalize().ok()).is_some_and(|(parent, folder)| parent.starts_with(folder))
}

/// A name beside a file, for what is not whole yet.
pub fn beside(file: &Path, what: &str) -> Result<PathBuf, Problem> {
    let name = file.file_name().ok_or_else(|| {
        Problem::usage("bad_path", format!("`{}` names no file", file.display()), "name a file")
    })?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.{what}", std::process::id()));
    Ok(file.with_file_name(hidden))
}

fn cannot_write(file: &Path, error: &io::Error) -> Problem {
    let message = format!("the backup `{}` cannot be written: {error}", file.display());
    match error.kind() {
        io::ErrorKind::StorageFull => {
            Problem::failed("disk_full", message, "name a file on a disk with more room")
        }
        _ => Problem::failed("backup_failed", message, "look at the disk and at the rights of the folder"),
    }
}

/// Removes what is not whole when the command ends.
struct Remove(PathBuf);

impl Drop for Remove {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
