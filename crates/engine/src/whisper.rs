//! What agents say while they say it: heard by whoever listens in this process, and kept nowhere. The whole
//! message follows in the journal.

use std::sync::Arc;

use holdpoint_agents::model::Delta;
use holdpoint_core::{ExecutionId, PipelineId, RunId};
use tokio::sync::broadcast;

use crate::Engine;
use crate::work::Desk;

/// How many pieces a listener may be behind before it misses some.
const BEHIND: usize = 1024;

/// A piece of something that an agent is saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whisper {
    /// The pipeline.
    pub pipeline: Option<PipelineId>,
    /// The run.
    pub run: RunId,
    /// The execution.
    pub execution: ExecutionId,
    /// Who speaks.
    pub agent: Arc<str>,
    /// What is said.
    pub text: Arc<str>,
    /// Whether it is a thought.
    pub thinking: bool,
    /// Whether what was heard so far of this message is void.
    pub again: bool,
}

/// The channel of whispers.
pub(crate) struct Whispers(broadcast::Sender<Whisper>);

impl Default for Whispers {
    fn default() -> Self {
        Self(broadcast::channel(BEHIND).0)
    }
}

impl Engine {
    /// Hears what agents of this process say from now on.
    pub fn whispers(&self) -> broadcast::Receiver<Whisper> {
        self.inner.whispers.0.subscribe()
    }

    pub(crate) fn whisper(&self, desk: &Desk, agent: &str, delta: Delta) {
        let (text, thinking, again) = match delta {
            Delta::Text(text) => (text, false, false),
            Delta::Thinking(text) => (text, true, false),
            Delta::Again => (String::new(), false, true),
            // That is in the log.
            Delta::Waits { .. } => return,
        };
        // Nobody has to listen.
        let _ = self.inner.whispers.0.send(Whisper {
            pipeline: desk.pipeline,
            run: desk.run,
            execution: desk.execution,
            agent: agent.into(),
            text: text.into(),
            thinking,
            again,
        });
    }
}
