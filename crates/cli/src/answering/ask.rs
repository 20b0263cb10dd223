//! Putting a question on the terminal. The first answer decides: a question that was answered elsewhere meanwhile is
//! withdrawn, and nothing that was typed for it reaches the next one.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Said, typed};
use crate::client::{Api, Body, Waiter, Woken};
use crate::output::Output;
use crate::problem::{Failure, Problem};
use crate::table::text_of;
use crate::{terminal, text};

/// How many lines of an output are shown.
const LINES: usize = 8;
/// The largest output whose first lines are shown.
const LARGEST: u64 = 1024 * 1024;
/// How long a question that replaces a withdrawn one is shown before it takes input: a person who was about to press
/// Enter has read by then that the question is another one.
const SETTLE: Duration = Duration::from_millis(700);

/// Why there is no answer.
pub enum Unanswered {
    /// Somebody else has answered.
    Elsewhere,
    /// The command is to end.
    Interrupted,
    /// The person leaves it for later, or the input has ended.
    Later,
    Failed(Failure),
}

impl From<Problem> for Unanswered {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem.into())
    }
}

impl From<std::io::Error> for Unanswered {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Asks one person at one terminal.
pub struct Asker<'a> {
    pub api: &'a Api,
    pub waiter: &'a mut Waiter,
    /// Whether the question replaces one that was withdrawn while the person was asked.
    pub replaces: bool,
}

/// Whether somebody sits there.
pub fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl Asker<'_> {
    /// Asks what an execution waits for.
    pub fn ask(&mut self, execution: &Value, output: &mut Output<'_>) -> Result<Said, Unanswered> {
        let waiting = &execution["waiting_for"];
        terminal::discard()?;
        if self.replaces {
            output.say("A new question. What you typed for the one before was discarded.");
        }
        output.say(&text_of(&waiting["question"]));
        for reason in waiting["reasons"].as_array().into_iter().flatten() {
            output.say(&format!("  - {}", text_of(reason)));
        }
        match text_of(&waiting["kind"]).as_str() {
            "form" => self.form(execution, output),
            "script_input" => Ok(Said::Text(self.text(execution, output, "your answer")?)),
            "guidance" => self.guidance(execution, output),
            "budget" => Ok(Said::Text(self.text(execution, output, "an amount, or stop")?)),
            "choice" => {
                let options = waiting["options"].as_array();
                let labels: Vec<String> = options.into_iter().flatten().map(text_of).collect();
                let picked = self.pick(execution, output, &labels)?;
                Ok(Said::Option(labels[picked].clone()))
            }
            "approve_complete" => {
                self.show(execution, output)?;
                self.approval(execution, output, "approve", "send back, with what should be different")
            }
            "approve_start" => self.approval(execution, output, "start it", "not now, with a reason"),
            "retry" => self.yes(execution, output, "try again"),
            _ => self.yes(execution, output, "start it"),
        }
    }

    fn approval(
        &mut self,
        execution: &Value,
        output: &mut Output<'_>,
        yes: &str,
        no: &str,
    ) -> Result<Said, Unanswered> {
        let options = [yes, no, "decide later"].map(str::to_owned);
        match self.pick(execution, output, &options)? {
            0 => Ok(Said::Yes),
            1 => Ok(Said::No(self.text(execution, output, "feedback")?)),
            _ => Err(Unanswered::Later),
        }
    }

    fn yes(&mut self, execution: &Value, output: &mut Output<'_>, yes: &str) -> Result<Said, Unanswered> {
        let options = [yes, "decide later"].map(str::to_owned);
        match self.pick(execution, output, &options)? {
            0 => Ok(Said::Yes),
            _ => Err(Unanswered::Later),
        }
    }

    fn guidance(&mut self, execution: &Value, output: &mut Output<'_>) -> Result<Said, Unanswered> {
        let options = ["try again, with guidance", "accept the result as it is", "stop", "decide later"];
        match self.pick(execution, output, &options.map(str::to_owned))? {
            0 => Ok(Said::Text(self.text(execution, output, "guidance")?)),
            1 => Ok(Said::Option("accept".to_owned())),
            2 => Ok(Said::Option("stop".to_owned())),
            _ => Err(Unanswered::Later),
        }
    }

    /// A line with something in it.
    fn text(
        &mut self,
        execution: &Value,
        output: &mut Output<'_>,
        question: &str,
    ) -> Result<String, Unanswered> {
        loop {
            let said = self.line(execution, question)?;
            if !said.is_empty() {
                return Ok(said);
            }
            output.say("an empty line is no answer");
        }
    }

    /// One of several, by its number or its name.
    fn pick(
        &mut self,
        execution: &Value,
        output: &mut Output<'_>,
        options: &[String],
    ) -> Result<usize, Unanswered> {
        for (number, option) in options.iter().enumerate() {
            output.say(&format!("  {}) {option}", number + 1));
        }
        loop {
            let said = self.line(execution, &format!("1 to {}", options.len()))?;
            let number = said.parse::<usize>().ok().filter(|number| (1..=options.len()).contains(number));
            let named = || options.iter().position(|option| option.eq_ignore_ascii_case(&said));
            match number.map(|number| number - 1).or_else(named) {
                Some(picked) => return Ok(picked),
                None if said.is_empty() => output.say("an empty line is no answer"),
                None => output.say("that is not one of them"),
            }
        }
    }

    fn form(&mut self, execution: &Value, output: &mut Output<'_>) -> Result<Said, Unanswered> {
        let waiting = &execution["waiting_for"];
        output.say(&text_of(&waiting["form"]["instructions"]));
        let (mut fields, mut files) = (Map::new(), Vec::new());
        let mut has_typed = false;
        for field in waiting["form"]["input_fields"].as_array().into_iter().flatten() {
            let name = text_of(&field["name"]);
            let default = field.get("default").filter(|value| !value.is_null()).map(text_of);
            let required = field["required"] == true && default.is_none();
            let extra = match &default {
                Some(default) => format!(" [{default}]"),
                None if required => " (required)".to_owned(),
                None => String::new(),
            };
            let extra = if field["type"] == "boolean" { format!("{extra} (yes or no)") } else { extra };
            let options = field["options"].as_array().map(|all| all.iter().map(text_of).collect::<Vec<_>>());
            if let Some(options) = options.filter(|options| !options.is_empty()) {
                output.say(&format!("  one of: {}", options.join(", ")));
            }
            let said = loop {
                let said = self.line(execution, &format!("{}{extra}", text_of(&field["label"])))?;
                if !said.is_empty() || !required {
                    break said;
                }
            };
            if said.is_empty() {
                continue;
            }
            has_typed = true;
            if field["type"] == "file" {
                files.push((name, said.into()));
            } else {
                let value = typed(waiting, &name, &said);
                fields.insert(name, value);
            }
        }
        if !has_typed {
            output.say("You typed nothing: the defaults are sent, if there are any.");
            let options = ["send", "decide later"].map(str::to_owned);
            if self.pick(execution, output, &options)? != 0 {
                return Err(Unanswered::Later);
            }
        }
        Ok(Said::Fields(fields, files))
    }

    /// What was filled in, and the outputs: their path, size and first lines.
    fn show(&self, execution: &Value, output: &mut Output<'_>) -> Result<(), Problem> {
        for (name, value) in execution["form_data"].as_object().into_iter().flatten() {
            output.say(&format!("  {name}: {}", text_of(value)));
        }
        for artifact in execution["artifacts_generated"].as_array().into_iter().flatten() {
            let size = artifact["size_bytes"].as_u64().unwrap_or(0);
            output.say(&format!("  {} ({})", text_of(&artifact["file_path"]), text::size(size)));
            if size > LARGEST {
                continue;
            }
            let id = text_of(&artifact["artifact_record_id"]);
            let bytes = self.api.send("GET", &format!("/api/artifacts/{id}/download"), Body::None)?.bytes;
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            let lines = text.lines().count();
            for line in text.lines().take(LINES) {
                output.say(&format!("  | {line}"));
            }
            if lines > LINES {
                output.say(&format!("  | … {} more", text::many((lines - LINES) as u64, "line", "lines")));
            }
        }
        Ok(())
    }

    /// One line from the terminal.
    fn line(&mut self, execution: &Value, question: &str) -> Result<String, Unanswered> {
        if std::mem::take(&mut self.replaces) {
            if !self.api.pass(self.waiter, SETTLE) {
                return Err(Unanswered::Interrupted);
            }
            terminal::discard()?;
        }
        let mut err = std::io::stderr();
        write!(err, "{}: ", text::line(question))?;
        err.flush()?;
        loop {
            match self.api.wait(self.waiter, true) {
                Woken::Line(Some(said)) => return Ok(said),
                Woken::Line(None) => return Err(Unanswered::Later),
                Woken::Interrupted => return Err(Unanswered::Interrupted),
                Woken::Changed if self.is_answered(execution)? => {
                    writeln!(err)?;
                    // The command may end now, and a half-typed line would become one of the shell's.
                    terminal::discard()?;
                    return Err(Unanswered::Elsewhere);
                }
                Woken::Changed => {}
            }
        }
    }

    /// Whether what was asked is not asked any more.
    fn is_answered(&self, execution: &Value) -> Result<bool, Problem> {
        let id = text_of(&execution["execution_id"]);
        let now = self.api.get(&format!("/api/executions/{id}"))?;
        let same = |name: &str| now["waiting_for"][name] == execution["waiting_for"][name];
        Ok(!(same("kind") && same("gate_id") && same("digest")))
    }
}
