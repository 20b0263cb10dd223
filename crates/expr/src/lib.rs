//! JavaScript expressions, rules of form fields and JSON Schemas: deterministic, with limits, fresh for every
//! question.
//!
//! An expression sees the values that it is given and nothing else: no clock, randomness, file, network,
//! module or other expression's leftovers. Whatever it does, the caller gets an answer, and in time.

mod error;
mod evaluator;
mod field;
mod js;
mod limits;
mod place;
mod schema;
mod watch;
mod worker;

pub use error::{ExprError, Limit};
pub use evaluator::RealEvaluator;
pub use limits::Limits;
pub use schema::{check_schema, check_value};
pub use worker::{HELPER_COMMAND, helper_main};

use std::path::PathBuf;

use place::Place;
use serde_json::Value;

/// Evaluates expressions, each in an engine of its own that is thrown away afterwards.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    limits: Limits,
    place: Place,
}

impl Expressions {
    /// With other limits than the usual ones.
    pub fn with(limits: Limits) -> Self {
        Self { limits, place: Place::Here }
    }

    /// With processes that do the work and can be killed; see [`RealEvaluator::in_workers`].
    #[must_use]
    pub fn in_workers(self, program: PathBuf) -> Self {
        Self { place: Place::workers(program), ..self }
    }

    /// What an expression comes to, as JSON; `undefined` is null.
    pub fn evaluate(&self, source: &str, variables: &[(&str, &Value)]) -> Result<Value, ExprError> {
        self.ask(source, variables, js::Want::Json).map(|answer| answer.value)
    }

    /// Whether what an expression comes to counts as true in JavaScript.
    ///
    /// A function, a promise or `NaN` is an error and neither: it is a mistake, and nobody should pass by one.
    pub fn holds(&self, source: &str, variables: &[(&str, &Value)]) -> Result<bool, ExprError> {
        self.ask(source, variables, js::Want::Truth).map(|answer| answer.truthy)
    }

    /// Whether something is one JavaScript expression. Nothing is run.
    pub fn check_syntax(&self, source: &str) -> Result<(), ExprError> {
        self.ask(source, &[], js::Want::Syntax).map(drop)
    }

    fn ask(
        &self,
        source: &str,
        variables: &[(&str, &Value)],
        want: js::Want,
    ) -> Result<js::Answer, ExprError> {
        self.place.expression(js::Question::new(&self.limits, source, variables, want)?)
    }
}

#[cfg(test)]
mod tests;
