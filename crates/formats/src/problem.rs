//! What is wrong with a file, and where.

use std::collections::BTreeMap;
use std::fmt;

use holdpoint_core::definition::Fault;
use serde::Serialize;

/// One thing that is wrong with a file. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A JSON pointer into the file.
    pub pointer: String,
    /// One sentence.
    pub message: String,
    /// The line, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

/// A line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// Where in the text everything stands, by pointer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places(pub BTreeMap<String, Place>);

impl Places {
    /// A fault with its place: that of the nearest thing around it that is there.
    pub fn locate(&self, fault: Fault) -> Problem {
        let mut pointer = fault.pointer.as_str();
        let place = loop {
            match (self.0.get(pointer), pointer.rfind('/')) {
                (Some(place), _) => break Some(*place),
                (None, Some(end)) => pointer = &pointer[..end],
                (None, None) => break None,
            }
        };
        Problem {
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            pointer: fault.pointer,
            message: fault.message,
        }
    }
}
