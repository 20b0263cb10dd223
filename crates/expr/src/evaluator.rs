//! The evaluator that rules are decided with.

use holdpoint_core::facts::{Evaluator, Verdict};
use serde_json::Value;

use crate::{Limits, field, schema};

/// Evaluates the rules of forms and the schemas of artifacts for the engine.
#[derive(Clone, Debug, Default)]
pub struct RealEvaluator {
    limits: Limits,
}

impl RealEvaluator {
    /// With other limits than the usual ones.
    pub fn with(limits: Limits) -> Self {
        Self { limits }
    }
}

impl Evaluator for RealEvaluator {
    fn field(&self, validation: &str, value: &Value) -> Verdict {
        field::verdict(&self.limits, validation, value)
    }

    fn schema(&self, schema: &Value, value: &Value) -> Verdict {
        match schema::check_value(schema, value) {
            Ok(wrong) if wrong.is_empty() => Verdict::Yes,
            Ok(wrong) => Verdict::No(wrong),
            Err(why) => Verdict::Broken(why),
        }
    }

    fn field_syntax(&self, validation: &str) -> Result<(), String> {
        field::check_rule(&self.limits, validation).map_err(|error| error.to_string())
    }

    fn schema_syntax(&self, schema: &Value) -> Result<(), String> {
        schema::check_schema(schema)
    }
}
