//! The state of an execution's journal: whose it is and how much it holds.

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::Stamp;
use super::run::{EffectId, Part};
use crate::event::{Entry, Usage};
use crate::{ExecNo, PipelineId, RunId, SessionId, StepId, Version};

/// The state of a journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalState {
    /// The execution that it belongs to.
    pub owner: Option<(RunId, ExecNo)>,
    /// The pipeline that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineId>,
    /// The session that the run belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Where the part of each piece of work begins.
    #[serde(default, with = "super::run::pairs")]
    pub parts: OrdMap<EffectId, Version>,
    /// How many entries there are.
    #[serde(default)]
    pub version: Version,
    /// The step that the execution visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Lines of output so far.
    pub lines: u32,
    /// Messages so far.
    pub messages: u32,
    /// Tool results so far.
    pub tools: u32,
    /// What the messages cost together.
    pub usage: Usage,
    /// How long work was done, in thousandths of a second.
    #[serde(default)]
    pub took: u64,
    /// How many rows of what was spent there are.
    #[serde(default)]
    pub spendings: u32,
}

impl JournalState {
    /// The piece of work that began last: nothing else may write.
    pub fn present(&self) -> Option<EffectId> {
        self.parts.iter().max_by_key(|(_, version)| **version).map(|(effect, _)| *effect)
    }

    /// Folds one entry in.
    pub fn apply(&mut self, _stamp: &Stamp<'_>, entry: &Entry) {
        self.version = Version(self.version.0 + 1);
        match entry {
            Entry::Opened { run, x, pipeline, step, session } => {
                self.owner = Some((*run, *x));
                (self.pipeline, self.step, self.session) = (*pipeline, step.clone(), *session);
            }
            Entry::Took { ms } => {
                self.took = self.took.saturating_add(*ms);
                self.spendings += 1;
            }
            Entry::Log { .. } => self.lines += 1,
            Entry::Message { usage, .. } => {
                self.messages += 1;
                self.usage = self.usage.plus(*usage);
                self.spendings += u32::from(!usage.is_zero());
            }
            Entry::ToolResult { .. } => self.tools += 1,
            Entry::Began { revision, attempt, check } => {
                let part = if *check { Part::Check } else { Part::Work };
                let x = self.owner.map_or(ExecNo(0), |(_, x)| x);
                let effect = EffectId { x, revision: *revision, attempt: *attempt, part };
                self.parts.insert(effect, self.version);
            }
            Entry::Pinned { .. } | Entry::Calling { .. } => {}
        }
    }
}
