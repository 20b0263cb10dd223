//! The evaluator that rules are decided with.

use std::path::PathBuf;

use holdpoint_core::facts::{Evaluator, Verdict};
use holdpoint_core::plan::Evaluated;
use serde_json::Value;

use crate::place::Place;
use crate::{Limits, field, js};

/// Evaluates the rules of forms and the schemas of artifacts for the engine.
#[derive(Clone, Debug, Default)]
pub struct RealEvaluator {
    limits: Limits,
    place: Place,
}

impl RealEvaluator {
    /// With other limits than the usual ones.
    pub fn with(limits: Limits) -> Self {
        Self { limits, place: Place::Here }
    }

    /// With processes that do the work and can be killed. The program calls
    /// [`helper_main`](crate::helper_main) when its first argument is
    /// [`HELPER_COMMAND`](crate::HELPER_COMMAND).
    #[must_use]
    pub fn in_workers(self, program: PathBuf) -> Self {
        Self { place: Place::workers(program), ..self }
    }
}

impl RealEvaluator {
    fn ask(
        &self,
        source: &str,
        variables: &[(&'static str, Value)],
        want: js::Want,
    ) -> Result<js::Answer, String> {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value)).collect();
        let question = js::Question::new(&self.limits, source, &variables, want);
        question.and_then(|question| self.place.expression(question)).map_err(|error| error.to_string())
    }
}

impl Evaluator for RealEvaluator {
    fn expression(&self, source: &str, variables: &[(&'static str, Value)]) -> Result<Evaluated, String> {
        let answer = self.ask(source, variables, js::Want::Json)?;
        Ok(Evaluated { holds: answer.truthy, value: answer.value })
    }

    fn expression_syntax(&self, source: &str) -> Result<(), String> {
        self.ask(source, &[], js::Want::Syntax).map(drop)
    }

    fn field(&self, validation: &str, value: &Value) -> Verdict {
        field::verdict(&self.place, &self.limits, validation, value)
    }

    fn schema(&self, schema: &Value, value: &Value) -> Verdict {
        match self.place.schema(&self.limits, schema, Some(value)) {
            Ok(wrong) if wrong.is_empty() => Verdict::Yes,
            Ok(wrong) => Verdict::No(wrong),
            Err(why) => Verdict::Broken(why),
        }
    }

    fn field_syntax(&self, validation: &str) -> Result<(), String> {
        field::check_rule(&self.place, &self.limits, validation).map_err(|error| error.to_string())
    }

    fn schema_syntax(&self, schema: &Value) -> Result<(), String> {
        self.place.schema(&self.limits, schema, None).map(drop)
    }
}
