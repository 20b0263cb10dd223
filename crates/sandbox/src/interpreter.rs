//! Finds the Python that scripts are run with, and the folders that belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::SandboxError;

/// A Python and its installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// The interpreter itself; never a shim that looks for one.
    pub program: PathBuf,
    /// Its installation, or the virtual environment.
    pub prefix: PathBuf,
    /// The installation that a virtual environment builds on; else the same.
    pub base_prefix: PathBuf,
    /// Its version, such as `3.11.7`.
    pub version: String,
}

impl Interpreter {
    /// The `python3` of the server's own search path. It is asked outside the sandbox, in isolated mode and from
    /// the root folder, so that no file of a workspace takes part.
    pub fn find() -> Result<Self, SandboxError> {
        Self::ask(Path::new("python3"))
            .or_else(|first| Self::ask(Path::new("/usr/bin/python3")).map_err(|_| first))
    }

    /// The same for one that is named.
    pub fn ask(program: &Path) -> Result<Self, SandboxError> {
        const QUESTION: &str = "import json, sys; print(json.dumps({'program': sys.executable, 'prefix': sys.prefix, \
             'base_prefix': sys.base_prefix, 'version': '.'.join(map(str, sys.version_info[:3]))}))";
        let output = Command::new(program)
            .args(["-I", "-c", QUESTION])
            .current_dir("/")
            .output()
            .map_err(|error| SandboxError::NoPython(error.to_string()))?;
        let found: Result<Self, _> = serde_json::from_slice(&output.stdout);
        // One that was found without a search path cannot say where it is.
        if found.as_ref().is_ok_and(|found| !found.program.is_absolute()) {
            return Err(SandboxError::NoPython(format!("{} does not say where it is", program.display())));
        }
        found.map_err(|_| {
            SandboxError::NoPython(format!(
                "{} answered {}",
                program.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            ))
        })
    }

    /// What must be readable to run it. A prefix that holds a home or the whole machine is left out: it would
    /// hand in more than an installation.
    pub fn folders(&self) -> Vec<PathBuf> {
        let home = std::env::home_dir();
        let mut folders: Vec<PathBuf> = [&self.prefix, &self.base_prefix]
            .into_iter()
            .filter(|folder| folder.components().count() > 1)
            .filter(|folder| home.as_ref().is_none_or(|home| !home.starts_with(folder)))
            .cloned()
            .collect();
        folders.dedup();
        folders
    }
}
