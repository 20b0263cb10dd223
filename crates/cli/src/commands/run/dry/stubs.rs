//! Reading a file of stubs: by checkpoint what its work makes, one or one per attempt.
//!
//! ```yaml
//! Draft:
//!   - artifacts: {draft: too short}
//!     verdict: {passed: false, reasons: [say for whom]}
//!   - artifacts: {draft: "# A draft for the board"}
//! Totals: {error: the server is down}
//! ```

use std::path::Path;

use holdpoint_work::Stubs;
use serde_json::Value;

use crate::problem::Problem;
use crate::table::text_of;

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;
const HINT: &str = "write it like `Checkpoint name: {artifacts: {name: text}}`; `says`, `error`, `verdict` and `tokens` \
                    can stand beside `artifacts`";

/// Reads stubs.
pub fn read(file: &Path) -> Result<Stubs, Problem> {
    let name = file.display();
    let bad = |why: String| Problem::bad_input("stubs_invalid", format!("`{name}`: {why}"), HINT);
    if std::fs::metadata(file).is_ok_and(|facts| facts.len() > LARGEST) {
        return Err(bad("it is larger than 4 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| {
        let message = format!("`{name}` cannot be read: {error}");
        Problem::bad_input("file_unreadable", message, "check the path and its rights")
    })?;
    if text.trim().is_empty() {
        return Ok(Stubs::default());
    }
    serde_saphyr::from_str(&text).map_err(|error| bad(error.without_snippet().to_string()))
}

/// A stub for what is not there was meant for something else.
pub fn check(stubs: &Stubs, pipeline: &Value) -> Result<(), Problem> {
    let checkpoints: Vec<&Value> = pipeline["checkpoints"].as_array().into_iter().flatten().collect();
    let names: Vec<String> = checkpoints.iter().map(|each| text_of(&each["checkpoint_name"])).collect();
    for name in stubs.names() {
        let Some(at) = names.iter().position(|known| known == name) else {
            return Err(unknown("checkpoint of the pipeline", name, &names));
        };
        let outputs = checkpoints[at]["output"]["artifacts"].as_array();
        let outputs: Vec<String> = outputs.into_iter().flatten().map(|each| text_of(&each["name"])).collect();
        for artifact in stubs.artifacts(name) {
            if !outputs.iter().any(|known| known == artifact) {
                return Err(unknown(&format!("output of “{name}”"), artifact, &outputs));
            }
        }
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: &[String]) -> Problem {
    let hint = match crate::text::nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    };
    Problem::bad_input("stubs_invalid", format!("there are stubs for “{name}”, which is no {what}"), hint)
}
