//! The evaluator of a home without an expression engine: it says so instead of guessing.

use holdpoint_core::facts::{Evaluator, Verdict};
use holdpoint_core::plan::Evaluated;
use serde_json::Value;

/// Evaluates nothing: every condition and schema is answered as one that could not be evaluated, so that
/// nothing passes a check that was not made.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainEvaluator;

impl Evaluator for PlainEvaluator {
    fn expression(&self, _source: &str, _variables: &[(&'static str, Value)]) -> Result<Evaluated, String> {
        Err("this program has no expression engine".to_owned())
    }

    fn expression_syntax(&self, _source: &str) -> Result<(), String> {
        Ok(())
    }

    fn field(&self, _validation: &str, _value: &Value) -> Verdict {
        Verdict::Broken("this program has no expression engine".to_owned())
    }

    fn schema(&self, _schema: &Value, _value: &Value) -> Verdict {
        Verdict::Broken("this program has no schema checker".to_owned())
    }

    // What cannot be read here may well be read by a program that has the engine.
    fn field_syntax(&self, _validation: &str) -> Result<(), String> {
        Ok(())
    }

    fn schema_syntax(&self, _schema: &Value) -> Result<(), String> {
        Ok(())
    }
}
