//! One question to a fresh JavaScript engine.
//!
//! The engine has no host objects at all. What reads the clock or chance, makes code from text or puts work
//! off is taken out before the expression is read. The expression stands in a function whose parameters are
//! the variables, so that neither can reach the other's names.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::function::Args;
use rquickjs::{CaughtError, Context, Ctx, Function, Runtime, Type, Value as JsValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::worker::text;
use crate::{ExprError, Limit, Limits};

/// What is wanted of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Want {
    /// That it can be read; it is not run.
    Syntax,
    /// Whether it holds, and its text, if it comes to one.
    Truth,
    /// All of what it comes to.
    Json,
}

/// What an expression came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Whether JavaScript counts it as true.
    pub truthy: bool,
    /// What it is, as far as it was wanted.
    #[serde(with = "text")]
    pub value: Value,
}

/// A question that fits the limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    limits: Limits,
    source: String,
    names: Vec<String>,
    values: Vec<String>,
    want: Want,
}

impl Question {
    /// Checks sizes and names.
    pub fn new(
        limits: &Limits,
        source: &str,
        variables: &[(&str, &Value)],
        want: Want,
    ) -> Result<Self, ExprError> {
        if source.len() > limits.source {
            return Err(ExprError::Limit(Limit::Source(limits.source)));
        }
        if source.trim().is_empty() {
            return Err(syntax(1, 1, "an expression is required"));
        }
        if let Some(at) = source.find('\0') {
            let column = source[..at].chars().count() as u32 + 1;
            return Err(syntax(1, column, "a NUL character"));
        }
        let names: Vec<_> = variables.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert!(names.iter().all(|name| is_name(name)), "variables have plain names: {names:?}");
        let values: Vec<_> = variables.iter().map(|(_, value)| value.to_string()).collect();
        if values.iter().map(String::len).sum::<usize>() > limits.variables {
            return Err(ExprError::Limit(Limit::Variables(limits.variables)));
        }
        Ok(Self { limits: limits.clone(), source: source.to_owned(), names, values, want })
    }

    /// How long it may take.
    pub fn time(&self) -> Duration {
        self.limits.time
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What there is beside the language itself. `Promise` is there because the syntax needs it; nothing that is
/// put off is ever done.
type Parts = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::MapSet,
    intrinsic::Promise,
);

/// Takes out what an expression must not have.
const PRELUDE: &str = "(() => {
  'use strict';
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  for (const kind of kinds) {
    const prototype = Object.getPrototypeOf(kind);
    Object.defineProperty(prototype, 'constructor', { value: undefined, configurable: false, writable: false });
  }
  delete Math.random;
  const gone = ['eval', 'Function', 'Promise', 'queueMicrotask', 'BigInt', 'Date', 'performance'];
  for (const name of gone) delete globalThis[name];
})()";

/// Asks.
pub fn answer(question: &Question) -> Result<Answer, ExprError> {
    let limits = &question.limits;
    let memory = || ExprError::Limit(Limit::Memory(limits.memory));
    let runtime = Runtime::new().map_err(|_| memory())?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let stopped = Rc::new(Cell::new(None));
    runtime.set_interrupt_handler(Some(counter(limits, stopped.clone())));
    let context = Context::custom::<Parts>(&runtime).map_err(|_| memory())?;
    let answer = context.with(|ctx| {
        let found = ask(&ctx, question);
        found.map_err(|failure| match failure {
            Failure::Plain(error) => error,
            Failure::Unread(error) => unread(explain(&ctx, error, limits, stopped.get()), &question.source),
            Failure::Engine(error) => explain(&ctx, error, limits, stopped.get()),
        })
    });
    // What an expression puts off would never be done, and nobody would notice.
    if answer.is_ok() && runtime.is_job_pending() {
        return Err(ExprError::NoValue("work for later".into()));
    }
    answer
}

/// Stops the engine after so many steps, or when the time is over.
fn counter(limits: &Limits, stopped: Rc<Cell<Option<Limit>>>) -> Box<dyn FnMut() -> bool> {
    let (mut left, begun, time) = (limits.steps, Instant::now(), limits.time);
    Box::new(move || {
        if left == 0 {
            stopped.set(Some(Limit::Steps));
        } else if begun.elapsed() > time {
            stopped.set(Some(Limit::Time));
        }
        left = left.saturating_sub(1);
        stopped.get().is_some()
    })
}

enum Failure {
    /// Known already.
    Plain(ExprError),
    /// While the expression was read.
    Unread(rquickjs::Error),
    /// While it was run.
    Engine(rquickjs::Error),
}

impl From<rquickjs::Error> for Failure {
    fn from(error: rquickjs::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<ExprError> for Failure {
    fn from(error: ExprError) -> Self {
        Self::Plain(error)
    }
}

fn ask(ctx: &Ctx<'_>, question: &Question) -> Result<Answer, Failure> {
    ctx.eval::<(), _>(PRELUDE)?;
    // Only what stands between round and between square brackets alike is one expression: what closes the
    // one kind early is no match for the other.
    let names = question.names.join(",");
    let source = &question.source;
    read(ctx, format!("({names}) => [\n{source}\n]"))?;
    let function = read(ctx, format!("({names}) => (\n{source}\n)"))?;
    if question.want == Want::Syntax {
        return Ok(Answer::default());
    }
    let mut arguments = Args::new(ctx.clone(), question.values.len());
    for value in &question.values {
        arguments.push_arg(ctx.json_parse(value.as_str())?)?;
    }
    let value: JsValue<'_> = function.call_arg(arguments)?;
    let truthy = truth(&value)?;
    let value = match question.want {
        Want::Truth if !value.is_string() => Value::Null,
        Want::Syntax | Want::Truth | Want::Json => json(ctx, value, question.limits.result)?,
    };
    Ok(Answer { truthy, value })
}

fn read<'js>(ctx: &Ctx<'js>, source: String) -> Result<Function<'js>, Failure> {
    let mut options = EvalOptions::default();
    options.filename = Some(FILE.to_owned());
    let read: JsValue<'js> = ctx.eval_with_options(source, options).map_err(Failure::Unread)?;
    read.into_function().ok_or_else(|| syntax(1, 1, "this is not one expression").into())
}

/// What is wrong with the text itself. What ends too early is said to be wrong at its end, not behind it.
fn unread(error: ExprError, source: &str) -> ExprError {
    let (last, rest) = (source.lines().count() as u32, source.lines().last().unwrap_or_default());
    match error {
        ExprError::Syntax { line, .. } if line > last => {
            syntax(last, rest.chars().count() as u32 + 1, "the expression ends too early")
        }
        // The engine does not say where in the text a pattern stands.
        ExprError::Threw(message) => match message.strip_prefix("SyntaxError: ") {
            Some(message) => syntax(1, 1, message),
            None => ExprError::Threw(message),
        },
        error @ (ExprError::Syntax { .. }
        | ExprError::Limit(_)
        | ExprError::NoValue(_)
        | ExprError::Worker(_)) => error,
    }
}

/// What the engine calls the expression in its messages.
const FILE: &str = "expression";

fn truth(value: &JsValue<'_>) -> Result<bool, ExprError> {
    Ok(match value.type_of() {
        Type::Uninitialized | Type::Undefined | Type::Null => false,
        Type::Bool => value.as_bool().unwrap_or_default(),
        Type::Int => value.as_int().is_some_and(|number| number != 0),
        Type::Float => match value.as_float() {
            Some(number) if number.is_finite() => number != 0.0,
            Some(_) | None => return Err(ExprError::NoValue("NaN or Infinity".into())),
        },
        Type::String => value.as_string().is_some_and(|text| !is_empty(text)),
        Type::Array | Type::Object | Type::Exception => true,
        Type::Function | Type::Constructor => return Err(ExprError::NoValue("a function".into())),
        Type::Promise => return Err(ExprError::NoValue("a promise".into())),
        Type::BigInt => return Err(ExprError::NoValue("a big integer".into())),
        Type::Symbol | Type::Proxy | Type::Module | Type::Unknown => {
            return Err(ExprError::NoValue("something that JSON has no word for".into()));
        }
    })
}

/// Text that cannot be read as Unicode is not empty.
fn is_empty(text: &rquickjs::String<'_>) -> bool {
    text.to_string().is_ok_and(|text| text.is_empty())
}

fn json<'js>(ctx: &Ctx<'js>, value: JsValue<'js>, limit: usize) -> Result<Value, Failure> {
    let Some(text) = ctx.json_stringify(value)? else { return Ok(Value::Null) };
    let text = text.to_string()?;
    let too_large = || Failure::Plain(ExprError::Limit(Limit::Result(limit)));
    if text.len() > limit {
        return Err(too_large());
    }
    // The engine escapes what is no Unicode; reading refuses it, and what lies too deep.
    serde_json::from_str(&text).map_err(|error| {
        if error.to_string().contains("recursion") {
            too_large()
        } else {
            ExprError::NoValue("broken text".into()).into()
        }
    })
}

/// What an exception of the engine means.
fn explain(ctx: &Ctx<'_>, error: rquickjs::Error, limits: &Limits, stopped: Option<Limit>) -> ExprError {
    let caught = CaughtError::from_error(ctx, error);
    if let Some(limit) = stopped {
        return ExprError::Limit(limit);
    }
    let exception = match caught {
        CaughtError::Exception(exception) => exception,
        // The engine throws null when there is no room left for an error.
        CaughtError::Value(value) if value.is_null() => {
            return ExprError::Limit(Limit::Memory(limits.memory));
        }
        CaughtError::Value(value) => return ExprError::Threw(shown(ctx, value)),
        CaughtError::Error(error) => return ExprError::Threw(short(&error.to_string())),
    };
    let message = exception.message().unwrap_or_default();
    let name: String = exception.get("name").unwrap_or_default();
    match (name.as_str(), message.as_str()) {
        ("InternalError", "out of memory") => ExprError::Limit(Limit::Memory(limits.memory)),
        ("RangeError", "Maximum call stack size exceeded") | ("InternalError", "stack overflow") => {
            ExprError::Limit(Limit::Stack)
        }
        ("SyntaxError", _) => match position(&exception.stack().unwrap_or_default()) {
            Some((line, column)) => syntax(line, column, &short(&message)),
            None => ExprError::Threw(short(&format!("SyntaxError: {message}"))),
        },
        _ => ExprError::Threw(short(&format!("{name}: {message}"))),
    }
}

fn syntax(line: u32, column: u32, message: &str) -> ExprError {
    ExprError::Syntax { line, column, message: message.to_owned() }
}

/// Where the reader stopped. The expression begins on the second line of what is read.
fn position(stack: &str) -> Option<(u32, u32)> {
    let place = stack.lines().next()?.trim().strip_prefix("at ")?.strip_prefix(FILE)?.strip_prefix(':')?;
    let (line, column) = place.split_once(':')?;
    Some((line.parse::<u32>().ok()?.saturating_sub(1).max(1), column.parse().ok()?))
}

/// A thrown value in words.
fn shown<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> String {
    let text = ctx.json_stringify(value).ok().flatten().and_then(|text| text.to_string().ok());
    short(&text.unwrap_or_else(|| "something that cannot be shown".to_owned()))
}

/// Messages are for people: nobody reads more.
fn short(message: &str) -> String {
    const MOST: usize = 200;
    let mut text: String = message.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if message.chars().count() > MOST {
        text.push('…');
    }
    text
}
