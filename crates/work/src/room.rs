//! The folders that work happens in: its workspace, the place for its outputs, and what it is given.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use holdpoint_core::inputs::GivenFrom;
use holdpoint_core::paths::temp_folder;
use holdpoint_core::{ExecNo, RunId};
use serde_json::{Value, json};

use super::stop::Stop;
use holdpoint_engine::Engine;
use holdpoint_engine::WorkContext;
use holdpoint_engine::given::GivenSource;

/// The folders of one execution.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub base: PathBuf,
    pub workspace: PathBuf,
    pub staging: PathBuf,
    /// Read-only for the work.
    pub inputs: PathBuf,
    /// The pipeline's scripts.
    pub scripts: PathBuf,
}

/// One file that work is given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The checkpoint's number for people, from 1.
    pub number: u32,
    pub version: u32,
    pub checkpoint: String,
    pub name: String,
    pub format: String,
    /// Its name in `inputs`.
    pub file: String,
    /// Where it stands inside the pipeline's folder.
    pub path: String,
    pub bytes: Vec<u8>,
    pub summarise: bool,
}

/// What becomes of outputs of this run that do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are an error.
    Refuse,
    /// They are left out.
    LeaveOut,
}

/// Everything that work is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenFiles {
    pub previous: Vec<Given>,
    /// Whether outputs of the version before were wanted and there are none: why.
    pub no_previous: Option<(u32, String)>,
    pub referenced: Vec<Given>,
}

impl Room {
    /// The folders of the desk's execution, made if they are missing.
    pub fn of(desk: &WorkContext) -> Result<Self, Stop> {
        let nowhere = || Stop::new("workspace", "this engine keeps no files, so there is nowhere to work");
        let pipeline = desk.pipeline_folder().ok_or_else(nowhere)?;
        let pipeline = std::path::absolute(&pipeline)?;
        let base = pipeline.join(temp_folder(desk.execution));
        let room = Self {
            workspace: base.join("workspace"),
            staging: base.join("artifacts_staging"),
            inputs: base.join("inputs"),
            scripts: pipeline.join("scripts"),
            base,
        };
        for folder in [&room.workspace, &room.staging, &room.inputs, &room.scripts] {
            make(folder)?;
        }
        Ok(room)
    }

    /// Gives work that is started again folders of its own, which are empty. A copy of it that still runs, because its
    /// process was only stopped, keeps the old ones: it reaches folders and not names, and so never these.
    pub fn reset(&self, epoch: u64) -> io::Result<()> {
        let left = self.base.join(format!(".left_{epoch}"));
        make(&left)?;
        for name in ["workspace", "artifacts_staging", "inputs", "run"] {
            // What an earlier start under this epoch has left is in the way of what this one leaves.
            absent_is_fine(std::fs::remove_dir_all(left.join(name)))?;
            absent_is_fine(std::fs::rename(self.base.join(name), left.join(name)))?;
        }
        for folder in [&self.workspace, &self.staging, &self.inputs] {
            make(folder)?;
        }
        // A copy may write there at this moment; then the folder goes with the execution's.
        let _ = std::fs::remove_dir_all(&left);
        Ok(())
    }

    /// Puts files into `inputs`, and nothing else.
    pub async fn furnish(&self, given: &GivenFiles) -> Result<(), Stop> {
        tokio::fs::remove_dir_all(&self.inputs).await?;
        make(&self.inputs)?;
        for file in given.previous.iter().chain(&given.referenced) {
            tokio::fs::write(self.inputs.join(&file.file), &file.bytes).await?;
        }
        Ok(())
    }
}

/// Writes a file into a folder that foreign code could write to: whatever it left under that name is replaced, and no
/// link is followed.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::fs::File::options().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes what an earlier attempt had left, so that it is not taken for this one's.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder)?;
    make(folder)
}

pub(super) fn make(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

impl GivenFiles {
    /// Reads what the desk's execution is given. An output of this run that does not exist is an error.
    pub async fn read(desk: &WorkContext) -> Result<Self, Stop> {
        Self::of(&desk.engine, desk.run, desk.effect.x, Missing::Refuse).await
    }

    /// Reads what an execution is given.
    pub async fn of(engine: &Engine, run: RunId, x: ExecNo, missing: Missing) -> Result<Self, Stop> {
        let mut all = Self::default();
        for source in engine.given(run, x).await? {
            match (&source.found, source.from) {
                (Some(_), GivenFrom::PreviousRun) => all.previous.extend(files(engine, &source).await?),
                (Some(_), GivenFrom::ThisRun) => all.referenced.extend(files(engine, &source).await?),
                (None, GivenFrom::PreviousRun) => {
                    all.no_previous = Some((source.version().unwrap_or(0), source.why_missing()));
                }
                (None, GivenFrom::ThisRun) if missing == Missing::Refuse => {
                    let (step, why) = (&source.step, source.why_missing());
                    return Err(Stop::new(
                        "missing_input",
                        format!("checkpoint {step} is referred to, but {why}"),
                    ));
                }
                (None, GivenFrom::ThisRun) => {}
            }
        }
        Ok(all)
    }

    /// The files as scripts and tools are told of them.
    pub fn told(&self, room: &Room) -> Value {
        let told = |given: &Given| {
            json!({
                "checkpoint": given.checkpoint,
                "version": given.version,
                "name": given.name,
                "format": given.format,
                "path": room.inputs.join(&given.file),
            })
        };
        json!({
            "previous_version": self.previous.iter().map(told).collect::<Vec<_>>(),
            "referenced_outputs": self.referenced.iter().map(told).collect::<Vec<_>>(),
        })
    }
}

async fn files(engine: &Engine, source: &GivenSource) -> Result<Vec<Given>, Stop> {
    let mut files = Vec::new();
    for (output, path) in source.files() {
        files.push(Given {
            number: source.position().unwrap_or(0) + 1,
            version: source.version().unwrap_or(1),
            checkpoint: source.name().unwrap_or_default(),
            name: output.made.name.to_string(),
            format: output.made.format.to_string(),
            file: path.rsplit('/').next().unwrap_or_default().to_owned(),
            path,
            bytes: engine.bytes(output.made.digest).await?,
            summarise: source.summarise,
        });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Room, make};

    #[test]
    fn a_copy_that_still_runs_keeps_its_own_folders() {
        let home = tempfile::tempdir().expect("a folder");
        let base = home.path().to_owned();
        let room = Room {
            workspace: base.join("workspace"),
            staging: base.join("artifacts_staging"),
            inputs: base.join("inputs"),
            scripts: base.join("scripts"),
            base,
        };
        make(&room.staging).expect("made");
        let mut old = std::fs::File::create(room.staging.join("report.txt")).expect("made");
        room.reset(2).expect("reset");
        old.write_all(b"the line of a copy").expect("written somewhere");
        assert!(room.workspace.is_dir() && room.inputs.is_dir());
        assert_eq!(std::fs::read_dir(&room.staging).expect("a folder").count(), 0);
        room.reset(2).expect("reset once more");
    }
}
