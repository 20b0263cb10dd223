//! Answers that were prepared in a file: a map from a checkpoint's name to an answer, or to a list of answers, one
//! per question. They are used up in their order and recorded as prepared.
//!
//! ```yaml
//! Goals:
//!   - fields: {goal: Ship it, weeks: 6}
//!   - reject: Say for whom
//!   - fields: {goal: Ship it to ten users}
//!   - approve: true
//! Plan: {input: "yes"}
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Said;
use crate::problem::Problem;
use crate::table::text_of;

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// One answer. What does not fit the question is refused when the question comes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    approve: Option<bool>,
    #[serde(default)]
    reject: Option<String>,
    #[serde(default)]
    fields: Option<Map<String, Value>>,
    #[serde(default)]
    files: BTreeMap<String, PathBuf>,
    #[serde(default)]
    input: Option<String>,
    /// The label of an option or its number from 1; `approve` and `reject` for approvals.
    #[serde(default)]
    option: Option<Value>,
    #[serde(default)]
    feedback: Option<String>,
}

/// The answers of a file that are not used up.
#[derive(Debug, Default)]
pub struct Prepared {
    left: BTreeMap<String, VecDeque<Answer>>,
}

impl Prepared {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, Problem> {
        let name = file.display();
        let bad = |why: String| {
            let hint = "write it like `Checkpoint name: {approve: true}`, or a list of such answers";
            Problem::bad_input("answers_invalid", format!("`{name}`: {why}"), hint)
        };
        let size = std::fs::metadata(file).map_or(0, |facts| facts.len());
        if size > LARGEST {
            return Err(bad("it is larger than 4 MiB".to_owned()));
        }
        let text = std::fs::read_to_string(file).map_err(|error| {
            let message = format!("`{name}` cannot be read: {error}");
            Problem::bad_input("file_unreadable", message, "check the path and its rights")
        })?;
        Self::parse(&text).map_err(bad)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let all: BTreeMap<String, Value> =
            serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())?;
        let read = |(name, value): (String, Value)| {
            let answers = match value {
                Value::Array(_) => serde_json::from_value(value),
                one => serde_json::from_value(one).map(|answer| VecDeque::from([answer])),
            };
            answers.map(|answers| (name.clone(), answers)).map_err(|cause| format!("“{name}”: {cause}"))
        };
        Ok(Self { left: all.into_iter().map(read).collect::<Result<_, _>>()? })
    }

    /// The names that no checkpoint has.
    pub fn unknown<'a>(&'a self, known: &[String]) -> Option<&'a str> {
        self.left.keys().find(|name| !known.contains(name)).map(String::as_str)
    }

    /// The next answer to what an execution asks.
    pub fn next(&mut self, execution: &Value) -> Result<Option<Said>, Problem> {
        let name = text_of(&execution["checkpoint_name"]);
        let Some(answer) = self.left.get_mut(&name).and_then(VecDeque::pop_front) else { return Ok(None) };
        let kind = text_of(&execution["waiting_for"]["kind"]);
        answer.fit(&kind, &execution["waiting_for"]).map(Some).ok_or_else(|| {
            let message = format!("the prepared answer for “{name}” does not fit what is asked ({kind})");
            Problem::bad_input(
                "answer_does_not_fit",
                message,
                "change the file; the run waits, and `holdpoint resume` goes on",
            )
        })
    }
}

impl Answer {
    fn fit(self, kind: &str, waiting: &Value) -> Option<Said> {
        match kind {
            "form" => {
                let files = self.files.into_iter().collect::<Vec<_>>();
                self.fields
                    .or_else(|| (!files.is_empty()).then(Map::new))
                    .map(|fields| Said::Fields(fields, files))
            }
            "script_input" | "guidance" | "budget" => self.input.or(self.feedback).map(Said::Text),
            "choice" => {
                let options = waiting["options"].as_array()?;
                let picked = match self.option? {
                    Value::Number(number) => {
                        options.get(usize::try_from(number.as_u64()?).ok()?.checked_sub(1)?)?.clone()
                    }
                    label => label,
                };
                Some(Said::Option(text_of(&picked)))
            }
            _ => {
                let word = self.option.as_ref().and_then(Value::as_str).map(str::to_ascii_lowercase);
                match (self.approve, word.as_deref(), self.reject) {
                    (_, _, Some(why)) => Some(Said::No(why)),
                    (Some(true), _, None) | (None, Some("approve"), None) => Some(Said::Yes),
                    (Some(false), _, None) | (None, Some("reject"), None) => {
                        Some(Said::No(self.feedback.unwrap_or_default()))
                    }
                    (None, _, None) => None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(name: &str, kind: &str) -> Value {
        json!({"checkpoint_name": name, "waiting_for": {"kind": kind, "options": ["Go on", "Stop"]}})
    }

    #[test]
    fn answers_are_used_up_in_their_order() {
        let text = "A:\n  - fields: {goal: x}\n  - reject: shorter\n  - {option: approve}\nB: {input: hello}\nC: {option: 2}\n";
        let mut prepared = Prepared::parse(text).expect("it is right");
        let mut next = |name, kind| prepared.next(&asked(name, kind)).expect("it fits");
        assert!(matches!(next("A", "form"), Some(Said::Fields(fields, _)) if fields["goal"] == "x"));
        assert_eq!(next("A", "approve_complete"), Some(Said::No("shorter".to_owned())));
        assert_eq!(next("A", "approve_complete"), Some(Said::Yes));
        assert_eq!(next("A", "approve_complete"), None);
        assert_eq!(next("B", "guidance"), Some(Said::Text("hello".to_owned())));
        assert_eq!(next("C", "choice"), Some(Said::Option("Stop".to_owned())));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut prepared = Prepared::parse("A: {input: hello}\n").expect("it is right");
        assert_eq!(prepared.unknown(&["B".to_owned()]), Some("A"));
        let problem = prepared.next(&asked("A", "form")).expect_err("a form has fields");
        assert_eq!(problem.code, "answer_does_not_fit");
        assert!(Prepared::parse("A: {aprove: true}\n").is_err());
        assert!(Prepared::parse("- A\n").is_err());
    }
}
