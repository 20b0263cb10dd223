//! What rules are told by the outside, beside the states and plans: verdicts that are deterministic.

use serde_json::Value;

use crate::definition::DEFAULT_RETRY_DELAY;
use crate::plan::Evaluated;

/// What a command is decided with.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Evaluates what people wrote as conditions.
    pub evaluator: &'a dyn Evaluator,
    /// Knows what agents can be given.
    pub offers: &'a dyn Offers,
}

/// Evaluates expressions and schemas: deterministic, without effects. Every verdict ends up in an event, so
/// that folding never evaluates.
pub trait Evaluator: Send + Sync {
    /// What a JavaScript expression comes to, or why it comes to nothing.
    fn expression(&self, source: &str, variables: &[(&'static str, Value)]) -> Result<Evaluated, String>;

    /// Whether a JavaScript expression can be read at all; else what is wrong with it.
    fn expression_syntax(&self, source: &str) -> Result<(), String>;

    /// Whether a form's value satisfies its field's `validation`.
    fn field(&self, validation: &str, value: &Value) -> Verdict;

    /// Whether a value satisfies a JSON Schema.
    fn schema(&self, schema: &Value, value: &Value) -> Verdict;

    /// Whether a field's `validation` can be read at all; else what is wrong with it.
    fn field_syntax(&self, validation: &str) -> Result<(), String>;

    /// Whether a JSON Schema can be used at all; else what is wrong with it.
    fn schema_syntax(&self, schema: &Value) -> Result<(), String>;
}

/// What an evaluation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Satisfied.
    Yes,
    /// Not satisfied, with sentences that say why.
    No(Vec<String>),
    /// Could not be evaluated.
    Broken(String),
}

/// Knows what agents can be given where the work is done.
pub trait Offers: Send + Sync {
    /// The servers of tools that are configured; none: nobody knows.
    fn servers(&self) -> Option<Vec<ToolServer>>;

    /// Whether a model can search the web by itself, or the usual one where none is named; none: nobody knows.
    fn searches(&self, model: Option<&str>) -> Option<bool>;

    /// How often a step may be tried again by itself at most; none: nobody knows.
    fn most_retries(&self) -> Option<u64> {
        None
    }

    /// How many seconds a step waits before it is tried again, where its definition does not say.
    fn retry_delay_seconds(&self) -> u32 {
        DEFAULT_RETRY_DELAY
    }

    /// How many minutes a step may take at most; none: nobody knows.
    fn longest_minutes(&self) -> Option<u64> {
        None
    }
}

/// A server of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServer {
    /// What it is called.
    pub name: String,
    /// The tools that may be used, once they are known.
    pub tools: Option<Vec<String>>,
}

/// Where nobody knows what agents can be given.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingKnown;

impl Offers for NothingKnown {
    fn servers(&self) -> Option<Vec<ToolServer>> {
        None
    }

    fn searches(&self, _: Option<&str>) -> Option<bool> {
        None
    }
}
