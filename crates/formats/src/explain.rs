//! What a reader of typed values says, in words for people: with the place, and with the nearest known name.

use holdpoint_core::definition::Fault;
use serde_path_to_error::Segment;

use crate::tree::escaped;

/// What is wrong, and where: a pointer and a sentence.
pub fn explain(error: &serde_path_to_error::Error<serde_json::Error>) -> Fault {
    let mut pointer = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => pointer += &["/", &index.to_string()].concat(),
            Segment::Map { key } => pointer += &["/", &escaped(key)].concat(),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let message = error.inner().to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if let Some(field) = quoted(message).first().filter(|_| message.starts_with("missing field ")) {
        return Fault::at(format!("{pointer}/{}", escaped(field)), format!("`{field}` is required"));
    }
    Fault::at(pointer, suggest_unknown_keys(message))
}

/// A reader's message with the nearest known name, where it is about an unknown one.
pub fn suggest_unknown_keys(message: &str) -> String {
    let names = quoted(message);
    let Some((wrong, known)) = names.split_first() else { return expected(message) };
    if message.starts_with("unknown field ") {
        return unknown_key(wrong, known);
    }
    if message.starts_with("unknown variant ") {
        let listed = listed(known);
        return match nearest(wrong, known) {
            Some(best) => format!("`{wrong}` is none of {listed}; did you mean `{best}`?"),
            None => format!("`{wrong}` is none of {listed}"),
        };
    }
    expected(message)
}

/// What is said of a key that is none of the known ones.
pub fn unknown_key(wrong: &str, known: &[&str]) -> String {
    match nearest(wrong, known) {
        Some(best) => format!("unknown key `{wrong}`; did you mean `{best}`?"),
        None if known.is_empty() => format!("unknown key `{wrong}`; there are no keys here"),
        None => format!("unknown key `{wrong}`; known are {}", listed(known)),
    }
}

/// `invalid type: A, expected B` the other way round: what is wanted comes first.
fn expected(message: &str) -> String {
    let found = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    match found.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, wanted)) => format!("{} is expected, not {}", plain(wanted), plain(found)),
        None => message.to_owned(),
    }
}

/// A type in the words of the document instead of the program's.
fn plain(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "a sequence" | "sequence" => "a list",
        "a map" | "map" => "an object",
        _ if wanted.starts_with("struct ") => "an object",
        _ => wanted,
    }
}

fn listed(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What stands between backticks.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// The candidate that is most like the word, if one is like it at all.
fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = |candidate: &str| strsim::damerau_levenshtein(&word, candidate);
    let allowed = (word.chars().count() / 3).clamp(1, 4);
    candidates.iter().copied().min_by_key(|best| far(best)).filter(|best| far(best) <= allowed)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use holdpoint_core::definition::CheckpointDefinition;
    use serde_json::{Value, json};

    use super::*;

    fn check(value: &Value) -> String {
        let text = value.to_string();
        let mut reader = serde_json::Deserializer::from_str(&text);
        let read: Result<CheckpointDefinition, _> = serde_path_to_error::deserialize(&mut reader);
        let fault = explain(&read.expect_err("a fault"));
        format!("{}: {}\n", fault.pointer, fault.message)
    }

    #[test]
    fn readers_are_understood() {
        let retry = json!({"max_auto_retries": 1, "on_failure": "pause_pipline"});
        let shown = [
            check(&json!({"checkpoint_nmae": "A"})),
            check(&json!({"zzz": "A"})),
            check(&json!({"execution": {"mode": "script", "retry_config": retry}})),
            check(&json!({"execution": {"mode": "script", "retry_config": {"on_failure": 1}}})),
            check(&json!({"inputs": {}})),
            check(&json!({"checkpoint_name": 7})),
            check(&json!({"execution": {"mode": "script", "retry_config": {"max_auto_retries": -1}}})),
            check(&json!({"output": {"artifacts": [{"name": "a", "format": "pdf"}]}})),
            check(&json!([])),
        ];
        expect![[r#"
            /checkpoint_nmae: unknown key `checkpoint_nmae`; did you mean `checkpoint_name`?
            /zzz: unknown key `zzz`; known are `checkpoint_name`, `checkpoint_description`, `dependencies`, `inputs`, `execution`, `human_interaction`, `output`, `instructions`
            /execution/retry_config/on_failure: `pause_pipline` is none of `rollback_checkpoint`, `pause_pipeline`; did you mean `pause_pipeline`?
            /execution/retry_config/on_failure: expected value
            /inputs/include_previous_version: `include_previous_version` is required
            /checkpoint_name: a string is expected, not integer `7`
            /execution/retry_config/max_auto_retries: a whole number from 0 is expected, not integer `-1`
            /output/artifacts/0/format: `pdf` is none of `json`, `md`, `mmd`, `txt`, `py`, `html`, `csv`
            : invalid length 0, expected struct CheckpointDefinition with 8 elements
        "#]].assert_eq(&shown.concat());
    }
}
