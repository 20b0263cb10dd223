//! What the reference says is what the server does: its pages are written from the code.
//!
//! `UPDATE_EXPECT=1` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use holdpoint_server::{Code, openapi};
use serde_json::Value;

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = reference().join("errors");
    let mut known = BTreeSet::from(["README.md".to_owned()]);
    let mut index = "# Error codes\n\nEvery refusal is `application/problem+json` with one of these codes, which never \
                     change their meaning.\nThe pages are written from the code's own list.\n\n| code | status | when |\n|---|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        let about = code.about();
        let page = format!(
            "# `{}`\n\n{} ({})\n\n**When.** {}\n\n**What to do.** {}\n",
            about.code, about.title, about.status, about.when, about.remedy
        );
        let file = format!("{}.md", about.code);
        expect_file![folder.join(&file)].assert_eq(&page);
        writeln!(index, "| [`{}`]({file}) | {} | {} |", about.code, about.status.as_u16(), about.when)
            .expect("text grows");
        known.insert(file);
    }
    expect_file![folder.join("README.md")].assert_eq(&index);
    let found = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").file_name());
    let found: BTreeSet<String> = found.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(found, known);
}

/// All operations: area, path, method, description.
fn operations() -> Vec<(&'static str, &'static str, &'static str, &'static Value)> {
    let paths = openapi()["paths"].as_object().expect("paths");
    let mut all = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().expect("methods") {
            let area = operation["tags"][0].as_str().unwrap_or_else(|| panic!("{method} {path} has no area"));
            all.push((area, path.as_str(), method.as_str(), operation));
        }
    }
    all.sort_by_key(|(area, path, method, _)| (*area, *path, *method));
    all
}

#[test]
fn the_description_is_the_one_that_is_kept() {
    let mut text = serde_json::to_string_pretty(openapi()).expect("a document");
    text.push('\n');
    expect_file![reference().join("openapi.json")].assert_eq(&text);
    let mut names = BTreeSet::new();
    for (_, path, method, operation) in operations() {
        let name = operation["operationId"].as_str().expect("a name");
        assert!(names.insert(name), "{method} {path}: {name} is the name of another one");
        assert!(operation["summary"].is_string(), "{method} {path} says nothing about itself");
    }
}

#[test]
fn the_page_of_the_api_names_every_path() {
    let mut page = "# The HTTP API\n\nWritten from the code's own description, which the server also answers at \
         `GET /api/openapi.json` ([openapi.json](openapi.json)).\nSend `Authorization: Bearer hp_…`. A refusal is \
         `application/problem+json` with one of these [codes](errors/README.md).\nEvery POST takes `Idempotency-Key`. \
         Lists are `{items, next_cursor}` and take `limit` and `cursor`.\n"
        .to_owned();
    let mut before = "";
    for (area, path, method, operation) in operations() {
        if area != before {
            writeln!(page, "\n## {area}").expect("text grows");
            before = area;
        }
        let (method, summary) = (method.to_uppercase(), operation["summary"].as_str().unwrap_or_default());
        write!(page, "\n### `{method} {path}`\n\n{summary}\n").expect("text grows");
        if let Some(more) = operation["description"].as_str().filter(|more| *more != summary) {
            write!(page, "\n{more}\n").expect("text grows");
        }
        describe(&mut page, operation);
    }
    expect_file![reference().join("api.md")].assert_eq(&page);
}

fn describe(page: &mut String, operation: &Value) {
    let mut lines = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let text = |name: &str| parameter[name].as_str().unwrap_or_default();
        if text("name") != "Idempotency-Key" {
            let line =
                format!("- {} `{}`: {}", text("in"), text("name"), text("description").replace('\n', " "));
            lines.push(line.trim_end_matches([' ', ':']).to_owned());
        }
    }
    for (kind, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        lines.push(format!("- body `{kind}`: {}", shape(&content["schema"])));
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let content = response["content"].as_object().into_iter().flatten();
        match content.map(|(kind, content)| format!("`{kind}`, {}", shape(&content["schema"]))).next() {
            _ if status == "default" => {}
            Some(content) => lines.push(format!("- answers {status}: {content}")),
            None => lines.push(format!("- answers {status}")),
        }
    }
    if !lines.is_empty() {
        write!(page, "\n{}\n", lines.join("\n")).expect("text grows");
    }
}

/// What a schema is, in a word.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return format!("`{name}`");
    }
    match schema["type"].as_str() {
        Some("array") => format!("a list of {}", shape(&schema["items"])),
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields: Vec<String> = fields.map(|(name, _)| format!("`{name}`")).collect();
            if fields.is_empty() {
                "an object".to_owned()
            } else {
                format!("an object with {}", fields.join(", "))
            }
        }
        Some(other) => other.to_owned(),
        None => "any of several".to_owned(),
    }
}
