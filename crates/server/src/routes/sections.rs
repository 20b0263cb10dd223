//! Changing a part of something: the sections that are given replace those that stand, the rest stays.
//!
//! Members that cannot be changed may be sent along as they are, so that what was read can be sent back.

use holdpoint_formats::unknown_key;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::extract::from_value;
use crate::problem::Problem;

/// What stands, with the given sections in their places, and only the sections that can be written.
pub(super) fn replace(
    standing: &Value,
    given: Map<String, Value>,
    writable: &[&str],
) -> Result<Map<String, Value>, Problem> {
    let mut errors = Vec::new();
    let mut sections = Map::new();
    for name in writable {
        if let Some(value) = standing.get(*name) {
            sections.insert((*name).to_owned(), value.clone());
        }
    }
    for (name, value) in given {
        if writable.contains(&name.as_str()) {
            sections.insert(name, value);
        } else if let Some(fixed) = standing.get(&name) {
            if *fixed != value {
                errors.push((
                    pointer(&name),
                    "cannot be changed; leave it out, or send it as it is".to_owned(),
                ));
            }
        } else {
            errors.push((pointer(&name), unknown_key(&name, writable)));
        }
    }
    if errors.is_empty() { Ok(sections) } else { Err(Problem::invalid_fields(errors)) }
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Reads sections as a type; what does not fit is named by its pointer.
pub(super) fn read<T: DeserializeOwned>(sections: Map<String, Value>) -> Result<T, Problem> {
    from_value(Value::Object(sections))
}
