//! What agents may do: each tool's description for a model, and the doing of those that need only files.

mod beneath;
mod files;

pub use files::{FileLimits, Files};

use serde_json::json;

use crate::model::ToolSpec;

/// The name of the tool for files.
pub const FILE_OPERATIONS: &str = "file_operations";
/// The name of the tool for code.
pub const CODE_EXECUTION: &str = "code_execution";
/// The name of the provider's own tool for searching.
pub const WEB_SEARCH: &str = "web_search";

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// For the model to read.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether files may have changed.
    pub wrote: bool,
}

impl Done {
    /// Something to read.
    pub fn ok(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: false, wrote: false }
    }

    /// A refusal, or a failure.
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: true, wrote: false }
    }
}

/// The tool for files, as a model is told of it.
pub fn file_operations() -> ToolSpec {
    let text = |about: &str| json!({"type": "string", "description": about});
    ToolSpec {
        name: FILE_OPERATIONS.to_owned(),
        description: "Lists, reads, writes, edits and deletes files. Folders: `workspace/` for notes and drafts, \
                      `artifacts_staging/` for finished outputs, `inputs/` for what you are given (read-only). A bare \
                      name that is a declared output goes to `artifacts_staging/`, any other to `workspace/`."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "operation": {"type": "string", "enum": ["list", "read", "write", "edit", "delete"]},
                "path": text("a path in one of the folders; for `list` a folder, or nothing for all"),
                "content": text("for `write`: all of the file"),
                "old_text": text("for `edit`: the text to replace, which must occur exactly once"),
                "new_text": text("for `edit`: what stands there instead"),
            },
            "required": ["operation"],
            "additionalProperties": false,
        }),
    }
}

/// The tool for code, as a model is told of it.
pub fn code_execution(network: bool) -> ToolSpec {
    let reach = if network { "with" } else { "without" };
    ToolSpec {
        name: CODE_EXECUTION.to_owned(),
        description: format!(
            "Runs Python 3 code in a sandbox {reach} network. Its working folder is `workspace/`; the environment \
             variables HOLDPOINT_WORKSPACE, HOLDPOINT_STAGING and HOLDPOINT_INPUTS name the folders. What it prints \
             comes back."
        ),
        input_schema: json!({
            "type": "object",
            "properties": {"code": {"type": "string", "description": "the program"}},
            "required": ["code"],
            "additionalProperties": false,
        }),
    }
}
