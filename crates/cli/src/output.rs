//! Where words go: data to stdout, talk and errors to stderr; with `--json` data and errors as JSON to stdout.

use std::io::{self, Write};

use serde::Serialize;

use crate::problem::{Failure, Found, Problem};
use crate::text;

/// The most lines about one file.
pub const MOST_FINDINGS: usize = 20;

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
        let Problem { code, message, hint, findings, .. } = problem;
        let (message, hint) = (text::line(message), text::line(hint));
        // Where not even this can be written the exit code has to tell.
        let _ = if self.json {
            let error = Told { error: Error { code, message, hint, findings } };
            let error = serde_json::to_string(&error).expect("only text");
            writeln!(self.out, "{error}").and_then(|()| self.out.flush())
        } else {
            let (error, hinted) = if self.color {
                ("\u{1b}[1;31merror:\u{1b}[0m", "\u{1b}[1;36mhint:\u{1b}[0m")
            } else {
                ("error:", "hint:")
            };
            let mut lines: Vec<String> =
                findings.iter().take(MOST_FINDINGS).map(|found| text::line(&found.to_string())).collect();
            if lines.is_empty() {
                lines.push(message);
            }
            let lines: String = lines.iter().map(|line| format!("{error} {line}\n")).collect();
            writeln!(self.err, "{lines}{hinted} {hint}")
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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    findings: &'a [Found],
}
