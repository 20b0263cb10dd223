//! Settings: what can be set, where each value comes from, and the typed result.
//!
//! From the weakest to the strongest: defaults, the user's file, the project's, the home's, environment
//! variables, flags. Every value keeps its origin, every fault names its place, and a name that does not exist is
//! an error, never ignored.

mod files;
mod keys;
mod layers;
mod model;
pub mod trust;
mod variables;

pub use layers::{Entry, Flag, Loaded, load};
pub use model::{Files, Limits, LogFormat, LogLevel, Logging, Secret, Settings, ToolServer};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    Default,
    File { path: String, line: usize, column: usize },
    Variable { name: String },
    Flag { name: &'static str },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Self::Variable { name } => f.write_str(name),
            Self::Flag { name } => f.write_str(name),
        }
    }
}
