//! What the process finds around it: its variables and its working folder, read once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// The environment of a process. An empty variable counts as one that is not set.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    variables: BTreeMap<OsString, OsString>,
    folder: Option<PathBuf>,
}

impl Surroundings {
    pub fn current() -> Self {
        Self { variables: std::env::vars_os().collect(), folder: std::env::current_dir().ok() }
    }

    #[cfg(test)]
    pub fn of(variables: &[(&str, &str)], folder: &Path) -> Self {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, folder: Some(folder.to_owned()) }
    }

    pub fn variable(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that has to be text.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let Some(value) = self.variable(name) else { return Ok(None) };
        let unreadable = || {
            let message = format!("the environment variable {name} is not UTF-8 text");
            Problem::usage("bad_variable", message, "set it again, or unset it")
        };
        value.to_str().map(Some).ok_or_else(unreadable)
    }

    /// The names of all variables that are set, as far as they are text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().filter(|(_, value)| !value.is_empty()).filter_map(|(name, _)| name.to_str())
    }

    /// The working folder, if it still exists.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The first that `wanted` accepts, from the working folder upwards.
    pub fn upwards(&self, name: &str, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        self.folder()?.ancestors().map(|folder| folder.join(name)).find(|path| wanted(path))
    }

    /// A folder of the user by the XDG rules: relative values of the variable count for nothing.
    pub fn user_folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| Some(Path::new(self.variable("HOME")?).join(below_home)))
    }

    pub fn wants_color(&self, stream: &impl IsTerminal) -> bool {
        stream.is_terminal()
            && self.variable("NO_COLOR").is_none()
            && self.variable("TERM").is_some_and(|terminal| terminal != "dumb")
    }
}
