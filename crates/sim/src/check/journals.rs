//! What work has written down stands in its own part of its journal, in order, once it was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_core::event::Entry as Written;
use holdpoint_core::state::run::{EffectId, Part};
use holdpoint_core::{Event, ExecNo, ExecutionId, StreamId};

use super::{Entry, Found};
use crate::executor::LAST_WORDS;
use crate::scenery::{Said, show};

/// Checks all journals: I31, no line of one attempt stands in the part of another; I32, nothing acknowledged is missing;
/// I33, what work says last is committed with its outcome, or not at all.
pub fn in_their_parts(entries: &[Entry], said: &[Said]) -> Found {
    let mut found = Vec::new();
    let is_run = |entry: &&Entry| matches!(entry.row.stream, StreamId::Run(_));
    let on_runs: BTreeSet<_> = entries.iter().filter(is_run).map(|entry| entry.row.command).collect();
    let mut journals: BTreeMap<ExecutionId, Journal> = BTreeMap::new();
    for entry in entries {
        let StreamId::Journal(execution) = entry.row.stream else { continue };
        let journal = journals.entry(execution).or_default();
        for event in &entry.events {
            let Event::Journal(event) = event else { continue };
            found.extend(journal.see(event));
            if let Written::Log { text, .. } = event
                && text.ends_with(LAST_WORDS)
                && !on_runs.contains(&entry.row.command)
            {
                found.push(format!("I33: `{text}` was written without its outcome"));
            }
        }
    }
    let mut next: BTreeMap<(ExecutionId, u64), usize> = BTreeMap::new();
    for said in said {
        let lines = journals.get(&said.execution).map_or(&[][..], |journal| &journal.lines);
        let from = next.entry((said.execution, said.token)).or_default();
        match lines[*from..].iter().position(|line| *line == said.text) {
            Some(at) => *from += at + 1,
            None => {
                found.push(format!("I32: `{}` was acknowledged and is not there, or not in order", said.text))
            }
        }
    }
    found
}

/// One journal as it is read.
#[derive(Default)]
struct Journal {
    x: Option<ExecNo>,
    part: Option<EffectId>,
    lines: Vec<String>,
}

impl Journal {
    fn see(&mut self, entry: &Written) -> Option<String> {
        match entry {
            Written::Opened { x, .. } => self.x = Some(*x),
            Written::Began { revision, attempt, check } => {
                let part = if *check { Part::Check } else { Part::Work };
                let x = self.x.unwrap_or(ExecNo(0));
                self.part = Some(EffectId { x, revision: *revision, attempt: *attempt, part });
            }
            Written::Log { text, .. } => {
                self.lines.push(text.to_string());
                let own = self.part.map(show).unwrap_or_default();
                return (!text.starts_with(&format!("{own} ")))
                    .then(|| format!("I31: `{text}` stands in the part of {own}"));
            }
            Written::Took { .. }
            | Written::Pinned { .. }
            | Written::Message { .. }
            | Written::Calling { .. }
            | Written::ToolResult { .. } => {}
        }
        None
    }
}
