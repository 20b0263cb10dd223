//! What there is to run: which format a file has, or whose name it is. A new format is a variant here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::commands::pipeline::apply;
use crate::context::Context;
use crate::problem::Problem;

/// What is run.
#[derive(Debug)]
pub enum Source {
    /// A pipeline of the home or the server, by its name or id.
    Known(String),
    /// A file that defines a pipeline, and its bytes.
    Pipeline(PathBuf, Vec<u8>),
}

impl Source {
    /// Finds out what somebody means. A file counts before a name.
    pub fn find(word: &str, context: &Context<'_, '_>) -> Result<Self, Problem> {
        let path = context.resolve(Path::new(word))?;
        if !path.is_file() && !looks_like_a_file(word) {
            return Ok(Self::Known(word.to_owned()));
        }
        let bytes = apply::read(&path)?;
        if is_pipeline(&bytes) {
            return Ok(Self::Pipeline(path, bytes));
        }
        let message = format!("`{word}` is not in a format that can be run");
        let hint = "accepted are pipeline files (YAML or JSON with `pipeline_name` and `checkpoints`), and names or \
                    ids of pipelines";
        Err(Problem::bad_input("format_unknown", message, hint))
    }
}

fn looks_like_a_file(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    word.contains('/') || matches!(extension, "yaml" | "yml" | "json")
}

/// A file whose faults are to be told by whoever reads pipelines: it names one, or cannot be read at all.
fn is_pipeline(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match serde_saphyr::from_str::<Value>(text) {
        Ok(value) => value.get("pipeline_name").is_some() || value.get("checkpoints").is_some(),
        Err(_) => text.contains("pipeline_name"),
    }
}

/// The checkpoints of a pipeline file as they are written; none where the file cannot be read.
pub fn checkpoints(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let read = serde_saphyr::from_str::<Value>(text).unwrap_or_default();
    read["checkpoints"].as_array().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipeline_is_known_by_its_keys() {
        assert!(is_pipeline(b"pipeline_name: a\n"));
        assert!(is_pipeline(b"{\"pipeline_name\": \"a\", \"checkpoints\": []}"));
        assert!(is_pipeline(b"pipeline_name: [\n"));
        assert!(!is_pipeline(b"phases: []\n"));
        assert!(!is_pipeline(b"\xff"));
        assert!(
            looks_like_a_file("a.yaml") && looks_like_a_file("./a") && !looks_like_a_file("Weekly report")
        );
    }
}
