//! Where questions are answered: by workers, or in this process where there is no program to start as one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::js::{self, Answer, Question};
use crate::worker::{Lost, Pool, Reply, Request};
use crate::{ExprError, Limit, Limits, schema, watch};

/// What a schema may take for each MiB of a value beside the usual time: it has to be read first.
const TIME_PER_MIB: Duration = Duration::from_millis(250);

/// Where questions are answered.
#[derive(Clone, Debug, Default)]
pub enum Place {
    /// On a thread of this process, which cannot be stopped.
    #[default]
    Here,
    /// In another process.
    Workers(Arc<Pool>),
}

impl Place {
    /// By workers, which are this program.
    pub fn workers(program: PathBuf) -> Self {
        Self::Workers(Arc::new(Pool::new(program)))
    }

    /// What an expression comes to.
    pub fn expression(&self, question: Question) -> Result<Answer, ExprError> {
        let time = question.time();
        let Self::Workers(pool) = self else { return watch::in_time(time, move || js::answer(&question)) };
        match pool.ask(&Request::Expression(question), time).map_err(why)? {
            Reply::Expression(answer) => answer,
            Reply::Ready | Reply::Schema(_) => Err(why(mixed_up())),
        }
    }

    /// What is wrong with a value, or with the schema only.
    pub fn schema(
        &self,
        limits: &Limits,
        schema: &Value,
        value: Option<&Value>,
    ) -> Result<Vec<String>, String> {
        let Self::Workers(pool) = self else {
            return match value {
                Some(value) => schema::check_value(schema, value),
                None => schema::check_schema(schema).map(|()| Vec::new()),
            };
        };
        let (schema, value) = (schema.to_string(), value.map(Value::to_string));
        let size = schema.len() + value.as_ref().map_or(0, String::len);
        let time = limits.time + TIME_PER_MIB * u32::try_from(size >> 20).unwrap_or(u32::MAX);
        match pool.ask(&Request::Schema { schema, value, seconds: time.as_secs() }, time) {
            Ok(Reply::Schema(wrong)) => wrong,
            Ok(Reply::Ready | Reply::Expression(_)) => Err(why(mixed_up()).to_string()),
            Err(lost) => Err(why(lost).to_string()),
        }
    }
}

fn mixed_up() -> Lost {
    Lost::Gone("answered another question".to_owned())
}

fn why(lost: Lost) -> ExprError {
    match lost {
        Lost::Busy => ExprError::Limit(Limit::Busy),
        Lost::Late => ExprError::Limit(Limit::Time),
        Lost::Gone(why) => ExprError::Worker(why),
    }
}
