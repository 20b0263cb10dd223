//! What a person says to a question, and how it is sent. Questions come from `waiting_for` of an execution.

mod ask;
mod prepared;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::client::{Api, Body};
use crate::problem::Problem;
use crate::table::text_of;
pub use ask::{Asker, Unanswered, is_terminal};
pub use prepared::Prepared;

/// What a person says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Yes,
    No(String),
    Fields(Map<String, Value>, Vec<(String, PathBuf)>),
    Text(String),
    Option(String),
    /// Yes, with these outputs changed: their names and texts.
    Changed(Vec<(String, String)>),
}

/// Sends an answer; `digest` is that of what was looked at, else the present one is taken.
pub fn send(api: &Api, execution: &Value, said: Said, digest: Option<&str>) -> Result<Value, Problem> {
    let waiting = &execution["waiting_for"];
    let id = text_of(&execution["execution_id"]);
    let at = |action: &str| format!("/api/executions/{id}/{action}");
    let digest = digest.map_or_else(|| waiting["digest"].clone(), Value::from);
    match said {
        // Yes to a step that waits for nothing else starts it, or tries it again. The answer names the gate, so that one
        // that comes too late does not start another step.
        Said::Yes => match text_of(&waiting["kind"]).as_str() {
            option @ ("start" | "retry") => {
                let gate = text_of(&waiting["gate_id"]);
                api.post(&format!("/api/gates/{gate}/answer"), json!({"option": option, "digest": digest}))?;
                api.get(&format!("/api/executions/{id}"))
            }
            _ => api.post(&at("approve"), json!({"digest": digest})),
        },
        Said::Changed(edits) => {
            let edits: Vec<Value> =
                edits.iter().map(|(name, text)| json!({"artifact_name": name, "content": text})).collect();
            api.post(&at("approve-complete"), json!({"digest": digest, "edits": edits}))
        }
        Said::No(why) if why.trim().is_empty() => api.post(&at("reject"), json!({"digest": digest})),
        Said::No(why) => api.post(&at("reject"), json!({"feedback": why, "digest": digest})),
        Said::Text(text) => api.post(&at("submit"), json!({"user_input": text, "digest": digest})),
        Said::Option(label) => {
            let gate = text_of(&waiting["gate_id"]);
            api.post(&format!("/api/gates/{gate}/answer"), json!({"option": label, "digest": digest}))
        }
        Said::Fields(fields, files) if files.is_empty() => {
            api.post(&at("submit"), json!({"fields": fields, "digest": digest}))
        }
        Said::Fields(fields, files) => {
            let (kind, body) = multipart(&fields, &files, &text_of(&digest))?;
            api.call("POST", &at("submit"), Body::Bytes(kind, body))
        }
    }
}

/// The value that the form's field wants.
pub fn typed(waiting: &Value, name: &str, text: &str) -> Value {
    let fields = waiting["form"]["input_fields"].as_array();
    let field = fields.into_iter().flatten().find(|field| field["name"] == name || field["field_id"] == name);
    let kind = field.map(|field| text_of(&field["type"])).unwrap_or_default();
    match (kind.as_str(), text.trim().to_lowercase().as_str()) {
        ("boolean", "y" | "yes" | "true") => true.into(),
        ("boolean", "n" | "no" | "false") => false.into(),
        ("number" | "boolean", _) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        (_, _) => text.into(),
    }
}

const BOUNDARY: &str = "holdpoint-7f0c3f3a9b1d4c55";

/// A multipart body: the fields as JSON, and a part per file.
fn multipart(
    fields: &Map<String, Value>,
    files: &[(String, PathBuf)],
    digest: &str,
) -> Result<(&'static str, Vec<u8>), Problem> {
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"digest\"\r\n\r\n{digest}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"fields\"\r\nContent-Type: application/json\r\n\r\n{}\r\n",
        Value::Object(fields.clone())
    )
    .into_bytes();
    for (name, path) in files {
        let bytes = std::fs::read(path).map_err(|error| {
            let message = format!("`{}` cannot be read: {error}", path.display());
            Problem::bad_input("file_unreadable", message, "check the path and its rights")
        })?;
        let filename = path.file_name().unwrap_or_else(|| Path::new("file").as_os_str()).to_string_lossy();
        let quoted = |text: &str| text.replace(['"', '\r', '\n', '\\'], "_");
        body.extend(format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: application/octet-stream\r\n\r\n",
            quoted(name),
            quoted(&filename)
        ).into_bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    Ok(("multipart/form-data; boundary=holdpoint-7f0c3f3a9b1d4c55", body))
}

/// What an answer on the command line looks like, for the question of an execution.
pub fn options_of(waiting: &Value) -> Vec<String> {
    let list = |name: &str| waiting[name].as_array().cloned().unwrap_or_default();
    match text_of(&waiting["kind"]).as_str() {
        "approve_start" => vec!["--approve".to_owned(), "--reject \"why\"".to_owned()],
        "approve_complete" => {
            vec!["--approve".to_owned(), "--reject \"what should be different\"".to_owned()]
        }
        "budget" => vec!["--input 1000".to_owned(), "--input stop".to_owned()],
        "script_input" | "guidance" => vec!["--input \"your answer\"".to_owned()],
        "choice" => list("options")
            .iter()
            .map(|option| format!("--option {}", crate::text::quoted(&text_of(option))))
            .collect(),
        "form" => {
            let fields = waiting["form"]["input_fields"].as_array().cloned().unwrap_or_default();
            let wanted = fields.iter().filter(|field| field["required"] == true);
            let flag = |field: &Value| {
                let name = text_of(&field["name"]);
                let flag = if field["type"] == "file" { "--file" } else { "--field" };
                format!("{flag} {}", crate::text::quoted(&format!("{name}=…")))
            };
            let mut flags: Vec<String> = wanted.map(flag).collect();
            if flags.is_empty() {
                flags = fields.iter().take(1).map(flag).collect();
            }
            vec![flags.join(" ")]
        }
        _ => vec!["--approve".to_owned()],
    }
}
