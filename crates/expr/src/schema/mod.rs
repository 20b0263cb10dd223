//! JSON Schemas: what they may contain, and what is wrong with a value.
//!
//! A schema refers to nothing outside itself, its patterns are matched in linear time, and how much work it
//! makes with a value is counted before the work is done.

mod shape;
mod weigh;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// The most sentences about one value.
const MAX_SENTENCES: usize = 20;

/// The longest sentence, in characters.
const MAX_SENTENCE: usize = 300;

/// Whether a schema can be used. The sentence says where it cannot.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    shape::check(schema)?;
    weigh::check(schema, &Value::Null)?;
    compile(schema).map(drop)
}

/// What is wrong with a value, a sentence each and none when it satisfies the schema.
///
/// Fails when the schema cannot be used, or would take too long with this value.
pub fn check_value(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    shape::check(schema)?;
    weigh::check(schema, value)?;
    let validator = compile(schema)?;
    Ok(validator.iter_errors(value).take(MAX_SENTENCES).map(|error| sentence(&error)).collect())
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(1 << 20).dfa_size_limit(1 << 20);
    let options =
        jsonschema::options().offline().with_pattern_options(patterns).should_validate_formats(true);
    options.build(schema).map_err(|error| match error.instance_path().as_str() {
        "" => cut(&error.to_string()),
        path => cut(&format!("{path}: {error}")),
    })
}

fn sentence(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    // Values can be long; the pointer says which one is meant.
    let message =
        if error.instance().to_string().len() > 60 { error.masked().to_string() } else { error.to_string() };
    cut(&if path.is_empty() { message } else { format!("{path}: {message}") })
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_SENTENCE {
        return text.to_owned();
    }
    text.chars().take(MAX_SENTENCE).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
