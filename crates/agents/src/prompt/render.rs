//! The three documented forms of what an agent is given: Markdown, XML and JSON.

use holdpoint_core::definition::ContentFormat;
use serde_json::{Value, json};

use super::fence::fenced;
use super::{Material, MaterialFile, MaterialKind, Shortened};

/// How given files are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub format: ContentFormat,
    pub paths: bool,
    pub contents: bool,
}

impl Style {
    /// The first message: what is given before the task, the task, what is given after it.
    pub fn message(self, before: &[&Material], task: &str, after: &[&Material]) -> String {
        match self.format {
            ContentFormat::Markdown => {
                let task = format!("=== YOUR TASK ===\n{task}");
                let all = [self.context(before), task, self.context(after)];
                all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
            }
            ContentFormat::Xml => {
                let task = format!("<task>{}</task>", escaped(task));
                let all = [self.context(before), task, self.context(after)];
                all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
            }
            ContentFormat::Json => {
                let all: Vec<&Material> = before.iter().chain(after).copied().collect();
                let mut object = self.object(&all);
                object["task"] = json!(task);
                pretty(&object)
            }
        }
    }

    /// Only what is given.
    pub fn context(self, materials: &[&Material]) -> String {
        if materials.is_empty() {
            return String::new();
        }
        match self.format {
            ContentFormat::Markdown => {
                let sections = materials.iter().map(|material| self.section(material));
                sections.collect::<Vec<_>>().join("\n\n")
            }
            ContentFormat::Xml => {
                let elements: String = materials.iter().map(|material| self.element(material)).collect();
                format!("<context>{elements}</context>")
            }
            ContentFormat::Json => pretty(&self.object(materials)),
        }
    }

    fn section(self, material: &Material) -> String {
        let kind = match material.kind {
            MaterialKind::Previous => "PREVIOUS VERSION",
            MaterialKind::Referenced => "REFERENCED OUTPUT",
        };
        let mut text = format!("=== {kind}: Checkpoint {} from v{} ===", material.number, material.version);
        if let Some(why) = &material.missing {
            text.push_str(&format!("\nThere is no output: {why}."));
        }
        for (n, file) in material.files.iter().enumerate() {
            text.push_str(if n == 0 { "\n" } else { "\n\n" });
            text.push_str(&format!("File: {}", file.name));
            if self.paths {
                text.push_str(&format!("\nPath: {}", file.path));
            }
            if let Some(how) = &file.shortened {
                text.push_str(&format!("\nNote: {}", said(how)));
            }
            if self.shows(file) {
                text.push_str(&format!("\n\nContent:\n{}", fenced(language(&file.format), &file.content)));
            }
        }
        text
    }

    fn element(self, material: &Material) -> String {
        let name = match material.kind {
            MaterialKind::Previous => "previous_version",
            MaterialKind::Referenced => "referenced_output",
        };
        let mut files = String::new();
        if let Some(why) = &material.missing {
            files.push_str(&format!("<missing>{}</missing>", escaped(why)));
        }
        for file in &material.files {
            let path = if self.paths { format!(" path=\"{}\"", escaped(&file.path)) } else { String::new() };
            let note =
                file.shortened.as_ref().map_or_else(String::new, |how| format!(" note=\"{}\"", said(how)));
            let content = if self.shows(file) { escaped(&file.content) } else { String::new() };
            files.push_str(&format!("<file name=\"{}\"{path}{note}>{content}</file>", escaped(&file.name)));
        }
        format!(
            "<{name} checkpoint=\"{}\" version=\"{}\">{files}</{name}>",
            material.number, material.version
        )
    }

    fn object(self, materials: &[&Material]) -> Value {
        let of = |kind: MaterialKind| -> Vec<Value> {
            let wanted = materials.iter().filter(|material| material.kind == kind);
            wanted.flat_map(|material| self.entries(material)).collect()
        };
        json!({
            "previous_version": of(MaterialKind::Previous),
            "referenced_outputs": of(MaterialKind::Referenced),
        })
    }

    fn entries(self, material: &Material) -> Vec<Value> {
        let (checkpoint, version) = (material.number, material.version);
        if let Some(why) = &material.missing {
            return vec![json!({"checkpoint": checkpoint, "version": version, "missing": why})];
        }
        let entry = |file: &MaterialFile| {
            let mut entry = json!({"checkpoint": checkpoint, "version": version, "name": file.name});
            if self.paths {
                entry["path"] = json!(file.path);
            }
            if self.shows(file) {
                entry["content"] = json!(file.content);
            }
            if let Some(how) = &file.shortened {
                entry["note"] = json!(said(how));
            }
            entry
        };
        material.files.iter().map(entry).collect()
    }

    fn shows(self, file: &MaterialFile) -> bool {
        self.contents && file.shortened != Some(Shortened::PathOnly)
    }
}

fn said(how: &Shortened) -> &'static str {
    match how {
        Shortened::Summarised => "this is a summary made by a model; the file has all of it",
        Shortened::Extracted => "these are its headings, first and last lines; the file has all of it",
        Shortened::PathOnly => "the content did not fit; read the file",
    }
}

fn language(format: &str) -> &str {
    match format {
        "md" => "markdown",
        "py" => "python",
        "mmd" => "mermaid",
        "txt" => "text",
        other => other,
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
