//! Conditions of a plan: expressions over a run's context, and how their verdicts are reached.
//!
//! A verdict is reached while a command is decided and ends up in an event, so that folding never evaluates. A test
//! needs no worker process: it is evaluated here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StepId;
use crate::context::{NODES, Scope};
use crate::event::Text;
use crate::facts::Evaluator;

/// How many tests a condition may hold, and how deep they may be nested.
const MOST_TESTS: usize = 1_000;
const DEEPEST_TEST: usize = 32;
/// How large a pattern of `matches` may become when it is compiled.
const PATTERN_SIZE: usize = 1 << 20;

/// Something that is evaluated over a run's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A JavaScript expression over `context`, `nodes` and `loop`.
    Js(Text),
    /// A test.
    Test(Test),
}

/// A test of context values. A `var` is a path with dots into the context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// The value counts as true. Where a value is wanted, the value itself.
    Var(Text),
    /// The value compares.
    Is(Text, Op, Value),
    /// All hold; none at all holds.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
}

/// How a test compares a value with a given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Equal; text is trimmed and compared without case, and a number equals its text.
    Equals,
    /// Not equal.
    NotEquals,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Equal to a member of the given list.
    In,
    /// The text has the given text in it, or the list has an equal member.
    Contains,
    /// The text starts with the given one.
    StartsWith,
    /// The text ends with the given one.
    EndsWith,
    /// The text matches the given regular expression.
    Matches,
}

/// Whether a step is entered when it is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// What must hold.
    pub expr: Expr,
    /// What happens when it cannot be evaluated.
    #[serde(default, skip_serializing_if = "OnError::is_skip")]
    pub on_error: OnError,
}

/// What happens to a step whose condition cannot be evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// It is skipped.
    #[default]
    Skip,
    /// It is entered.
    Enter,
}

impl OnError {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    fn is_skip(&self) -> bool {
        *self == Self::Skip
    }
}

/// What an expression came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Whether it counts as true.
    pub holds: bool,
    /// What it is.
    pub value: Value,
}

impl From<bool> for Evaluated {
    fn from(holds: bool) -> Self {
        Self { holds, value: Value::Bool(holds) }
    }
}

impl Expr {
    /// Evaluates the expression, or says why it cannot be evaluated.
    pub fn evaluate(&self, evaluator: &dyn Evaluator, scope: &Scope<'_>) -> Result<Evaluated, String> {
        match self {
            Self::Js(source) => evaluator.expression(source, &scope.variables()),
            Self::Test(Test::Var(path)) => {
                let value = scope.get(path).unwrap_or_default();
                Ok(Evaluated { holds: is_truthy(&value), value })
            }
            Self::Test(test) => test.holds(scope).map(Into::into),
        }
    }

    /// Whether the expression can be read at all; else what is wrong with it.
    pub fn check(&self, evaluator: &dyn Evaluator) -> Result<(), String> {
        match self {
            Self::Js(source) => evaluator.expression_syntax(source),
            Self::Test(test) => test.check(1, &mut 0),
        }
    }

    /// Adds the steps whose output the expression names; `None` stands for all of them.
    pub(super) fn named_steps(&self, named: &mut BTreeSet<Option<StepId>>) {
        match self {
            Self::Js(source) => steps_in_script(source, named),
            Self::Test(test) => test.named_steps(named),
        }
    }
}

impl Test {
    /// Whether the test holds, or why that cannot be said.
    fn holds(&self, scope: &Scope<'_>) -> Result<bool, String> {
        match self {
            Self::Var(path) => Ok(scope.get(path).is_some_and(|value| is_truthy(&value))),
            Self::Is(path, op, wanted) => op.holds(path, &scope.get(path).unwrap_or_default(), wanted),
            Self::All(tests) => {
                tests.iter().try_fold(true, |all, test| if all { test.holds(scope) } else { Ok(false) })
            }
            Self::Any(tests) => {
                tests.iter().try_fold(false, |any, test| if any { Ok(true) } else { test.holds(scope) })
            }
            Self::Not(test) => test.holds(scope).map(|holds| !holds),
        }
    }

    fn check(&self, depth: usize, count: &mut usize) -> Result<(), String> {
        *count += 1;
        if depth > DEEPEST_TEST || *count > MOST_TESTS {
            return Err(format!("at most {MOST_TESTS} tests, nested {DEEPEST_TEST} deep"));
        }
        match self {
            Self::Is(_, Op::Matches, wanted) => pattern(wanted).map(drop),
            Self::Is(_, Op::In, Value::Array(_)) | Self::Var(_) => Ok(()),
            Self::Is(_, Op::In, _) => Err("`in` needs a list".to_owned()),
            Self::Is(_, Op::Gt | Op::Gte | Op::Lt | Op::Lte, wanted) if number(wanted).is_none() => {
                Err(format!("{wanted} is no number to compare with"))
            }
            Self::Is(..) => Ok(()),
            Self::All(tests) | Self::Any(tests) => {
                tests.iter().try_for_each(|test| test.check(depth + 1, count))
            }
            Self::Not(test) => test.check(depth + 1, count),
        }
    }

    fn named_steps(&self, named: &mut BTreeSet<Option<StepId>>) {
        match self {
            Self::Var(path) | Self::Is(path, _, _) => {
                let step = path.strip_prefix(NODES).map(|rest| rest.split('.').next().unwrap_or(rest));
                named.extend(step.map(|step| Some(StepId::new(step))));
            }
            Self::All(tests) | Self::Any(tests) => tests.iter().for_each(|test| test.named_steps(named)),
            Self::Not(test) => test.named_steps(named),
        }
    }
}

impl Op {
    fn holds(self, path: &str, value: &Value, wanted: &Value) -> Result<bool, String> {
        let compared = |holds: fn(f64, f64) -> bool| match (number(value), number(wanted)) {
            (Some(value), Some(wanted)) => Ok(holds(value, wanted)),
            (None, _) => Err(format!("`{path}` is {}, and no number to compare", kind(value))),
            (_, None) => Err(format!("{wanted} is no number to compare with")),
        };
        let texts = |holds: fn(&str, &str) -> bool| match (value, wanted) {
            (Value::String(value), Value::String(wanted)) => Ok(holds(value, wanted)),
            (Value::Null, _) => Ok(false),
            (_, _) => Err(format!("`{path}` is {}, and not text", kind(value))),
        };
        match self {
            Self::Equals => Ok(are_equal(value, wanted)),
            Self::NotEquals => Ok(!are_equal(value, wanted)),
            Self::Gt => compared(|value, wanted| value > wanted),
            Self::Gte => compared(|value, wanted| value >= wanted),
            Self::Lt => compared(|value, wanted| value < wanted),
            Self::Lte => compared(|value, wanted| value <= wanted),
            Self::In => {
                let Value::Array(members) = wanted else { return Err("`in` needs a list".to_owned()) };
                Ok(members.iter().any(|member| are_equal(value, member)))
            }
            Self::Contains => {
                let Value::Array(members) = value else {
                    return texts(|value, wanted| value.contains(wanted));
                };
                Ok(members.iter().any(|member| are_equal(member, wanted)))
            }
            Self::StartsWith => texts(|value, wanted| value.starts_with(wanted)),
            Self::EndsWith => texts(|value, wanted| value.ends_with(wanted)),
            Self::Matches => match value {
                Value::String(value) => pattern(wanted).map(|pattern| pattern.is_match(value)),
                Value::Null => Ok(false),
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    Err(format!("`{path}` is {}, and not text", kind(value)))
                }
            },
        }
    }
}

fn pattern(wanted: &Value) -> Result<regex::Regex, String> {
    let Value::String(source) = wanted else { return Err(format!("{wanted} is no regular expression")) };
    // Agents and files write these: a small pattern can become a very large program.
    let built = regex::RegexBuilder::new(source).size_limit(PATTERN_SIZE).build();
    built.map_err(|error| format!("`{source}` is no regular expression: {error}"))
}

/// A number, or text that is one.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Equal as people mean it: `"Yes "` equals `"yes"`, `"3"` equals 3, and `true` equals `"yes"` and 1.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            one.trim().to_lowercase() == other.trim().to_lowercase()
        }
        (Value::Bool(flag), other) | (other, Value::Bool(flag)) => as_flag(other) == Some(*flag),
        (Value::Number(_), Value::Number(_) | Value::String(_)) | (Value::String(_), Value::Number(_)) => {
            number(one).is_some() && number(one) == number(other)
        }
        (_, _) => one == other,
    }
}

fn as_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" => Some(false),
            _ => None,
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "not set",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The steps that a script names after `nodes`. One that names them in another way may mean any.
fn steps_in_script(source: &str, named: &mut BTreeSet<Option<StepId>>) {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    for (at, word) in source.match_indices("nodes") {
        let rest = &source[at + word.len()..];
        // A longer word, or a member of something else, is not `nodes`.
        let before = source[..at].chars().next_back();
        if rest.starts_with(is_name) || before.is_some_and(|c| is_name(c) || c == '.') {
            continue;
        }
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.')).unwrap_or(rest);
        let step = match rest.trim_start().strip_prefix('[') {
            Some(inside) => quoted(inside.trim_start()),
            None => Some(rest.split(|c: char| !is_name(c)).next().unwrap_or_default()),
        };
        named.insert(step.filter(|step| !step.is_empty()).map(StepId::new));
    }
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::run::Front;
    use crate::testing::Lenient;

    fn scope(values: &Value) -> Front {
        let mut front = Front::default();
        for (key, value) in values.as_object().expect("an object") {
            front.set_context(key, value.clone());
        }
        front
    }

    fn holds(test: Value, values: &Value) -> Result<bool, String> {
        let expr = Expr::Test(serde_json::from_value(test).expect("a test"));
        expr.check(&Lenient)?;
        let front = scope(values);
        expr.evaluate(&Lenient, &Scope::of(&front, Vec::new())).map(|found| found.holds)
    }

    #[test]
    fn values_compare_as_people_mean_it() {
        let values =
            json!({"severity": " High ", "points": "7", "ready": "yes", "tags": ["A", 2], "a": {"b": 3}});
        let is = |path: &str, op: &str, wanted: Value| holds(json!({"is": [path, op, wanted]}), &values);
        assert_eq!(is("severity", "equals", json!("high")), Ok(true));
        assert_eq!(is("points", "equals", json!(7)), Ok(true));
        assert_eq!(is("points", "gte", json!(7)), Ok(true));
        assert_eq!(is("ready", "equals", json!(true)), Ok(true));
        assert_eq!(is("missing", "equals", json!(null)), Ok(true));
        assert_eq!(is("missing", "not_equals", json!("x")), Ok(true));
        assert_eq!(is("a.b", "lt", json!(4)), Ok(true));
        assert_eq!(is("points", "in", json!([1, 7])), Ok(true));
        assert_eq!(is("tags", "contains", json!("a")), Ok(true));
        assert_eq!(is("severity", "starts_with", json!(" H")), Ok(true));
        assert_eq!(is("severity", "ends_with", json!("h")), Ok(false));
        assert_eq!(is("severity", "matches", json!("^ H.+ $")), Ok(true));
        assert_eq!(holds(json!({"all": []}), &values), Ok(true));
        assert_eq!(
            holds(json!({"any": [{"var": "missing"}, {"not": {"var": "missing"}}]}), &values),
            Ok(true)
        );
    }

    #[test]
    fn what_cannot_be_compared_is_an_error() {
        let values = json!({"word": "many"});
        let is = |op: &str, wanted: Value| holds(json!({"is": ["word", op, wanted]}), &values);
        assert_eq!(is("gt", json!(3)), Err("`word` is text, and no number to compare".to_owned()));
        assert_eq!(is("gt", json!("x")), Err("\"x\" is no number to compare with".to_owned()));
        assert_eq!(is("in", json!("many")), Err("`in` needs a list".to_owned()));
        assert!(is("matches", json!("(")).is_err());
        assert!(is("matches", json!("(a{500}){500}")).is_err(), "a pattern that grows beyond its limit");
    }

    #[test]
    fn only_steps_that_are_named_are_found() {
        let named = |source: &str| {
            let mut found = BTreeSet::new();
            Expr::Js(source.into()).named_steps(&mut found);
            found
                .into_iter()
                .map(|step| step.map_or("*".to_owned(), |step| step.to_string()))
                .collect::<Vec<_>>()
        };
        assert_eq!(named("nodes.check.exit === 0"), ["check"]);
        assert_eq!(named("nodes?.check?.exit === 0 && nodes['N-001'].ok"), ["N-001", "check"]);
        assert_eq!(named("context.nodes.x + subnodes.y + nodesize"), [""; 0]);
        assert_eq!(named("nodes[context.which].ok"), ["*"]);
        assert_eq!(named("Object.keys(nodes).length"), ["*"]);
        let mut found = BTreeSet::new();
        let test = Test::Is("nodes.check.exit".into(), Op::Equals, json!(0));
        Expr::Test(test).named_steps(&mut found);
        assert_eq!(found, BTreeSet::from([Some(StepId::new("check"))]));
    }
}
