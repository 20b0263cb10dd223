//! Telling a person who watches how far a long look has come.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often it is told.
const EVERY: Duration = Duration::from_millis(100);

/// A line on the terminal that counts up, and is gone at the end. Without a terminal it says nothing.
pub struct Progress {
    what: &'static str,
    told: Option<Mutex<Told>>,
}

struct Told {
    at: Instant,
    width: usize,
}

impl Progress {
    /// Counts `what`.
    pub fn new(what: &'static str, quiet: bool) -> Self {
        let watched = !quiet && std::io::stderr().is_terminal();
        Self { what, told: watched.then(|| Mutex::new(Told { at: Instant::now(), width: 0 })) }
    }

    /// Tells the count, unless it was told just now.
    pub fn tell(&self, count: u64) {
        let Some(told) = &self.told else { return };
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.at.elapsed() < EVERY {
            return;
        }
        let line = format!("{count} {}", self.what);
        *told = Told { at: Instant::now(), width: line.len().max(told.width) };
        // Talk that nobody can hear is no reason to fail.
        let _ = write!(std::io::stderr(), "\r{line}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(told) = &self.told else { return };
        let width = told.lock().unwrap_or_else(PoisonError::into_inner).width;
        if width > 0 {
            let _ = write!(std::io::stderr(), "\r{:width$}\r", "");
        }
    }
}

/// A line on the terminal that is written over and over, and is gone when something else is said. Without a terminal
/// there is none.
pub struct Live {
    shown: Option<usize>,
}

impl Live {
    pub fn new(quiet: bool) -> Self {
        Self { shown: (!quiet && std::io::stderr().is_terminal()).then_some(0) }
    }

    /// Shows a line in place of the one before.
    pub fn show(&mut self, line: &str) {
        self.clear();
        if let Some(width) = &mut self.shown {
            // A line that wraps could not be taken back.
            let line: String = crate::text::line(line).chars().take(78).collect();
            *width = line.chars().count();
            let _ = write!(std::io::stderr(), "{line}");
        }
    }

    /// Takes the line back.
    pub fn clear(&mut self) {
        if let Some(width) = self.shown.as_mut().filter(|width| **width > 0) {
            let _ = write!(std::io::stderr(), "\r{:width$}\r", "", width = *width);
            *width = 0;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}
