//! What the doctor found, as text for people and as JSON for programs.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::text;

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ok,
    /// Worth a look; nothing is lost.
    Warn,
    Fail,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    name: &'static str,
    state: State,
    text: String,
    hint: Option<String>,
    /// What is wrong in particular.
    findings: Vec<String>,
    /// The same in numbers.
    data: Map<String, Value>,
}

impl Check {
    pub fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, state: State::Ok, text: text.into(), hint: None, findings: Vec::new(), data: Map::new() }
    }

    pub fn warn(name: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: State::Warn, hint: Some(hint.into()), ..Self::ok(name, text) }
    }

    pub fn fail(name: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { state: State::Fail, hint: Some(hint.into()), ..Self::ok(name, text) }
    }

    /// Says it in a number or a word as well.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.to_owned(), value.into());
        self
    }

    pub fn findings(mut self, findings: Vec<String>) -> Self {
        self.findings = findings;
        self
    }
}

/// Checks that belong together.
#[derive(Clone, Debug)]
pub struct Section {
    name: &'static str,
    checks: Vec<Check>,
}

impl Section {
    pub fn new(name: &'static str) -> Self {
        Self { name, checks: Vec::new() }
    }

    pub fn add(&mut self, check: Check) {
        self.checks.push(check);
    }
}

/// Everything that was looked at.
#[derive(Clone, Debug, Default)]
pub struct Report {
    sections: Vec<Section>,
}

impl Report {
    pub fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    pub fn failed(&self) -> usize {
        self.count(State::Fail)
    }

    fn count(&self, state: State) -> usize {
        self.sections.iter().flat_map(|section| &section.checks).filter(|check| check.state == state).count()
    }

    /// A line per check under the name of its section, then a sum.
    pub fn as_text(&self) -> String {
        let width =
            |section: &Section| section.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        let width = self.sections.iter().map(width).max().unwrap_or(0);
        let mut page = String::new();
        for section in &self.sections {
            let _ = writeln!(page, "{}", section.name);
            for Check { name, state, text, hint, findings, .. } in &section.checks {
                let _ = writeln!(page, "  {:<4}  {name:<width$}  {}", state.word(), text::line(text));
                for more in findings.iter().map(|finding| text::line(finding)) {
                    let _ = writeln!(page, "  {:<4}  {:<width$}  - {more}", "", "");
                }
                if let Some(hint) = hint {
                    let _ = writeln!(page, "  {:<4}  {:<width$}  hint: {}", "", "", text::line(hint));
                }
            }
        }
        let _ = match (self.failed(), self.count(State::Warn)) {
            (0, 0) => writeln!(page, "all is well"),
            (0, warnings) => writeln!(page, "nothing failed; {warnings} to look at"),
            (failed, warnings) => writeln!(page, "{failed} failed; {warnings} to look at"),
        };
        page
    }

    pub fn as_json(&self, home: &Path) -> Value {
        let sections: Map<String, Value> = self
            .sections
            .iter()
            .map(|section| {
                let checks: Vec<Value> = section.checks.iter().map(as_json).collect();
                (section.name.to_owned(), checks.into())
            })
            .collect();
        json!({
            "ok": self.failed() == 0,
            "failed": self.failed(),
            "warnings": self.count(State::Warn),
            "home": home.to_string_lossy(),
            "sections": sections,
        })
    }
}

fn as_json(check: &Check) -> Value {
    let Check { name, state, text, hint, findings, data } = check;
    let mut value = json!({"check": name, "state": state.code(), "text": text});
    if let Some(hint) = hint {
        value["hint"] = hint.as_str().into();
    }
    if !findings.is_empty() {
        value["findings"] = json!(findings);
    }
    if !data.is_empty() {
        value["data"] = data.clone().into();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_on_its_line() {
        let mut section = Section::new("blobs");
        section.add(Check::fail("x", "a\nok b", "c\u{1b}[2J").findings(vec!["d\ne".to_owned()]));
        let mut report = Report::default();
        report.add(section);
        assert_eq!(report.as_text().lines().count(), 5);
        assert!(!report.as_text().contains('\u{1b}'));
    }
}
