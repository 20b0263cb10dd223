//! Where words go: data to stdout, talk and errors to stderr; with `--json` data and errors as JSON to stdout.

use std::io::{self, Write};

use serde::Serialize;

use crate::problem::{Failure, Problem};
use crate::text;

/// The two streams of the process and how it was asked to use them.
pub struct Output<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    json: bool,
    quiet: bool,
    color: bool,
}

impl<'a> Output<'a> {
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, json: false, quiet: false, color: false }
    }

    pub fn json(self, json: bool) -> Self {
        Self { json, ..self }
    }

    pub fn color(self, color: bool) -> Self {
        Self { color, ..self }
    }

    pub fn quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    pub fn is_json(&self) -> bool {
        self.json
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints text as it is.
    pub fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Prints one JSON value on a line of its own.
    pub fn value(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        self.out.write_all(b"\n")?;
        self.flush()
    }

    /// Tells people something that no program needs.
    pub fn say(&mut self, line: &str) {
        if !self.quiet {
            // Talk that nobody can hear is no reason to fail.
            let _ = writeln!(self.err, "{}", text::line(line));
        }
    }

    /// Tells what went wrong.
    pub fn problem(&mut self, problem: &Problem) {
        let Problem { code, message, hint, .. } = problem;
        let (message, hint) = (text::line(message), text::line(hint));
        // Where not even this can be written the exit code has to tell.
        let _ = if self.json {
            let error = Told { error: Error { code, message, hint } };
            let error = serde_json::to_string(&error).expect("only text");
            writeln!(self.out, "{error}").and_then(|()| self.out.flush())
        } else if self.color {
            writeln!(self.err, "\u{1b}[1;31merror:\u{1b}[0m {message}\n\u{1b}[1;36mhint:\u{1b}[0m {hint}")
        } else {
            writeln!(self.err, "error: {message}\nhint: {hint}")
        };
    }

    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

#[derive(Serialize)]
struct Told<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'a str,
    message: String,
    hint: String,
}
