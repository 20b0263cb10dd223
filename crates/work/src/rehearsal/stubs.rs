//! Stubs: what somebody wants a rehearsal to have made, by checkpoint and attempt.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The stubs of a rehearsal: by the checkpoint's name one, or one per attempt, of which the last goes on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, Value>")]
pub struct Stubs(BTreeMap<String, Vec<Stub>>);

impl TryFrom<BTreeMap<String, Value>> for Stubs {
    type Error = String;

    fn try_from(all: BTreeMap<String, Value>) -> Result<Self, String> {
        let read = |(name, value): (String, Value)| {
            let stubs = match value {
                Value::Array(_) => serde_json::from_value(value),
                Value::Null => Ok(Vec::new()),
                one => serde_json::from_value(one).map(|stub| vec![stub]),
            };
            stubs.map(|stubs| (name.clone(), stubs)).map_err(|cause| format!("“{name}”: {cause}"))
        };
        all.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// What one attempt makes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stub {
    /// Outputs by their names: text, or a value that is written as JSON.
    #[serde(default)]
    pub artifacts: BTreeMap<String, Value>,
    /// What agents say.
    #[serde(default)]
    pub says: Option<String>,
    /// The attempt fails, and why.
    #[serde(default)]
    pub error: Option<String>,
    /// What the check says.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// How many tokens each answer has.
    #[serde(default)]
    pub tokens: Option<u64>,
}

/// What a check says: whether outputs pass, and why.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct Verdict {
    pub(super) passed: bool,
    pub(super) reasons: Vec<String>,
}

impl TryFrom<Value> for Verdict {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let passed = value.as_bool().or(value["passed"].as_bool());
        let passed = passed.ok_or("a verdict is true, false, or {passed: false, reasons: [why]}")?;
        let reasons = value["reasons"].as_array().into_iter().flatten();
        let mut reasons: Vec<String> = reasons.filter_map(Value::as_str).map(str::to_owned).collect();
        // A check that fails has reasons.
        if reasons.is_empty() && !passed {
            reasons.push("the stub says so".to_owned());
        }
        Ok(Self { passed, reasons })
    }
}

impl Stubs {
    /// The checkpoints that have stubs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The outputs that a checkpoint's stubs name.
    pub fn artifacts(&self, checkpoint: &str) -> impl Iterator<Item = &str> {
        let stubs = self.0.get(checkpoint).into_iter().flatten();
        stubs.flat_map(|stub| stub.artifacts.keys().map(String::as_str))
    }

    /// The stub of an attempt, counted from 0.
    pub(super) fn of(&self, checkpoint: &str, attempt: usize) -> Stub {
        let stubs = self.0.get(checkpoint);
        stubs.and_then(|stubs| stubs.get(attempt).or(stubs.last())).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Stubs, String> {
        serde_json::from_value(value.clone()).map_err(|cause| cause.to_string())
    }

    #[test]
    fn each_attempt_takes_the_next_and_the_last_goes_on() {
        let stubs =
            read(&json!({"A": [{"says": "one"}, {"says": "two"}], "B": {"verdict": false}, "C": null}));
        let stubs = stubs.expect("stubs");
        let said = |attempt| stubs.of("A", attempt).says.unwrap_or_default();
        assert_eq!((said(0), said(1), said(7)), ("one".to_owned(), "two".to_owned(), "two".to_owned()));
        let verdict = stubs.of("B", 0).verdict.expect("a verdict");
        assert!(!verdict.passed && !verdict.reasons.is_empty());
        assert!(stubs.of("C", 0).says.is_none() && stubs.of("D", 0).says.is_none());
    }

    #[test]
    fn what_is_wrong_is_said_by_its_name() {
        let wrong = |value: Value| read(&value).map(drop).expect_err("it is wrong");
        expect!["“A”: unknown field `artefacts`, expected one of `artifacts`, `says`, `error`, `verdict`, `tokens`"]
            .assert_eq(&wrong(json!({"A": {"artefacts": {}}})));
        expect!["“A”: a verdict is true, false, or {passed: false, reasons: [why]}"]
            .assert_eq(&wrong(json!({"A": {"verdict": "no"}})));
    }
}
