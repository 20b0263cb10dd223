//! The rule of a form's field: `/pattern/flags`, or an expression over `value`.

use holdpoint_core::facts::Verdict;
use serde_json::Value;

use crate::js::{Answer, Question, Want};
use crate::place::Place;
use crate::{ExprError, Limits};

/// Whether a rule can be read.
pub fn check_rule(place: &Place, limits: &Limits, rule: &str) -> Result<(), ExprError> {
    ask(place, limits, &source(rule), &Value::Null, Want::Syntax).map(drop)
}

/// Whether a value satisfies a rule. Text that an expression comes to is what is wrong with the value.
pub fn verdict(place: &Place, limits: &Limits, rule: &str, value: &Value) -> Verdict {
    match ask(place, limits, &source(rule), value, Want::Truth) {
        Ok(answer) => match answer.value {
            Value::String(wrong) if !wrong.trim().is_empty() => Verdict::No(vec![wrong]),
            Value::String(_) => Verdict::No(Vec::new()),
            _ if answer.truthy => Verdict::Yes,
            _ => Verdict::No(Vec::new()),
        },
        Err(error) => Verdict::Broken(error.to_string()),
    }
}

fn ask(place: &Place, limits: &Limits, source: &str, value: &Value, want: Want) -> Result<Answer, ExprError> {
    place.expression(Question::new(limits, source, &[("value", value)], want)?)
}

/// A rule as an expression. A pattern keeps its place, so that errors point at it.
fn source(rule: &str) -> String {
    if is_pattern(rule) { format!("{}.test(String(value))", rule.trim_end()) } else { rule.to_owned() }
}

/// Whether a rule is one regular expression and nothing else.
fn is_pattern(rule: &str) -> bool {
    let Some(rest) = rule.trim().strip_prefix('/') else { return false };
    let (mut escaped, mut class) = (false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            // An empty pattern would be the beginning of a comment.
            '/' if !class => return at > 0 && rest[at + 1..].chars().all(|flag| flag.is_ascii_lowercase()),
            _ => {}
        }
    }
    false
}
