//! How much a sandbox holds, and which one an admin asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much is enforced. Found out by trying, never taken from the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Namespaces, Landlock, seccomp, limits and, for a server that is root, another user.
    Full,
    /// The same without namespaces: other files are refused rather than absent.
    Restricted,
    /// Limits only, because an admin said that something outside confines the server.
    External,
    /// Nothing holds, and nothing runs.
    None,
}

impl Level {
    /// The word in answers and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Restricted => "restricted",
            Self::External => "external",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an admin asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The best that holds here.
    #[default]
    Auto,
    /// Never namespaces.
    Restricted,
    /// No confinement: the server runs in a machine that is given up as a whole.
    External,
}
