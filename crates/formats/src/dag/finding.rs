//! What is wrong with a file, or doubtful in it, and the list in which it is collected.

use std::collections::HashMap;

use serde::Serialize;

use super::places;
use crate::problem::Place;

/// The most findings that are kept of each severity.
const MOST: usize = 1_000;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be compiled.
    Error,
    /// The file compiles, perhaps not as it was meant.
    Warning,
}

/// The file that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The node list, DAG or template.
    Source,
    /// The intent file.
    Intent,
}

/// One thing that is wrong or doubtful. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// For programs; never changes its meaning.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// A JSON pointer into the file.
    pub pointer: String,
    /// The line, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The file.
    #[serde(skip)]
    pub origin: Origin,
}

impl Finding {
    /// An error at a place that is known already.
    pub(super) fn placed(code: &'static str, message: String, place: Option<Place>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message,
            pointer: String::new(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            origin: Origin::Source,
        }
    }
}

/// Findings in the order in which they were found.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    errors: usize,
    warnings: usize,
}

impl Findings {
    /// Adds an error about the source.
    pub fn error(&mut self, code: &'static str, pointer: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Error, Origin::Source, code, pointer.into(), message.into());
    }

    /// Adds a warning about the source.
    pub fn warn(&mut self, code: &'static str, pointer: impl Into<String>, message: impl Into<String>) {
        self.add(Severity::Warning, Origin::Source, code, pointer.into(), message.into());
    }

    /// Adds anything.
    pub fn add(
        &mut self,
        severity: Severity,
        origin: Origin,
        code: &'static str,
        pointer: String,
        message: String,
    ) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= MOST {
            self.all.push(Finding { severity, code, message, pointer, line: None, column: None, origin });
        }
    }

    /// Adds a finding that has its place.
    pub fn push(&mut self, finding: Finding) {
        self.errors += 1;
        self.all.push(finding);
    }

    /// Whether anything is wrong.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// All findings with their places, errors first. Reads the files again, and only if there is anything to
    /// look for.
    pub fn located(mut self, source: &str, intent: Option<&str>) -> Vec<Finding> {
        for (origin, text) in [(Origin::Source, Some(source)), (Origin::Intent, intent)] {
            let wanted = |finding: &&mut Finding| finding.origin == origin && finding.line.is_none();
            let pointers: Vec<String> =
                self.all.iter_mut().filter(wanted).map(|finding| finding.pointer.clone()).collect();
            let (Some(text), false) = (text, pointers.is_empty()) else { continue };
            let found: HashMap<String, Place> = places::find(text, &pointers);
            for finding in self.all.iter_mut().filter(wanted) {
                if let Some(place) = found.get(&finding.pointer) {
                    finding.line = Some(place.line);
                    finding.column = Some(place.column);
                }
            }
        }
        self.all.sort_by_key(|finding| {
            (finding.severity == Severity::Warning, finding.origin, finding.line, finding.column)
        });
        self.all
    }
}
