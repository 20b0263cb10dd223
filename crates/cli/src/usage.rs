//! Wrong usage, told in the two lines of every other error, with a guess at what was meant.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::output::Output;
use crate::problem::{Exit, Failure, Problem};

/// Whether errors are wanted as JSON. Known before the arguments are understood, since they may not be.
pub fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// The command that the arguments name, as it is typed, as far as there is one.
pub fn named(arguments: &[OsString], root: &Command) -> String {
    let mut names = vec![root.get_name()];
    let mut command = root;
    for argument in arguments.iter().skip(1) {
        if let Some(inner) = command.find_subcommand(argument) {
            names.push(inner.get_name());
            command = inner;
        }
    }
    names.join(" ")
}

/// Prints help and version, and turns everything else into a problem of the command that was `named`.
pub fn explain(error: &clap::Error, named: &str, output: &mut Output<'_>) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.data(&error.render().to_string())?;
            Ok(Exit::Done)
        }
        kind => {
            let (message, hint) = told(kind, error, named);
            Err(Problem::usage("usage", message, hint).into())
        }
    }
}

fn told(kind: ErrorKind, error: &clap::Error, named: &str) -> (String, String) {
    let part = |kind| error.get(kind).and_then(first);
    let instead = |kind| part(kind).map(|guess| format!("did you mean `{guess}`?"));
    let help = format!("`{named} --help` shows what is possible");
    match kind {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            (format!("`{named}` needs the name of a command"), help)
        }
        ErrorKind::InvalidSubcommand => {
            let name = part(ContextKind::InvalidSubcommand).unwrap_or_default();
            (
                format!("there is no command `{name}`"),
                instead(ContextKind::SuggestedSubcommand).unwrap_or(help),
            )
        }
        ErrorKind::UnknownArgument => {
            let name = part(ContextKind::InvalidArg).unwrap_or_default();
            let kind = if name.starts_with('-') { "an option" } else { "an argument" };
            (format!("`{name}` is not {kind} here"), instead(ContextKind::SuggestedArg).unwrap_or(help))
        }
        ErrorKind::InvalidValue => {
            let (value, argument) = (part(ContextKind::InvalidValue), part(ContextKind::InvalidArg));
            let argument = argument.unwrap_or_default();
            let message = match value.filter(|value| !value.is_empty()) {
                Some(value) => format!("`{value}` is not possible for {argument}"),
                None => format!("{argument} needs a value"),
            };
            let possible = error.get(ContextKind::ValidValue).map(all).filter(|all| !all.is_empty());
            let possible = possible.map(|possible| format!("possible are {possible}"));
            (message, instead(ContextKind::SuggestedValue).or(possible).unwrap_or(help))
        }
        ErrorKind::ValueValidation => {
            let value = part(ContextKind::InvalidValue).unwrap_or_default();
            let argument = part(ContextKind::InvalidArg).unwrap_or_default();
            let why = std::error::Error::source(error).map(|why| format!(": {why}")).unwrap_or_default();
            (format!("`{value}` is not possible for {argument}{why}"), help)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = error.get(ContextKind::InvalidArg).map(all).unwrap_or_default();
            (format!("{missing} is missing"), help)
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            (first.strip_prefix("error: ").unwrap_or(first).to_owned(), help)
        }
    }
}

fn first(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        ContextValue::StyledStrs(texts) => texts.first().map(ToString::to_string),
        _ => None,
    }
}

fn all(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(texts) => texts.join(", "),
        other => first(other).unwrap_or_default(),
    }
}
